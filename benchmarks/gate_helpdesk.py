"""A database of `gate.py` that no rule was made for: a help desk sold as a service, tables as a web framework names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_END: Final = datetime(2025, 3, 31, 18)
_FIRST: Final = (
    *("Aaron", "Bianca", "Cedric", "Daria", "Emil", "Fiona", "Gavin", "Hana", "Isaac", "Jana", "Kofi", "Lena", "Marco"),
    *("Nadia", "Oscar", "Priya", "Rafael", "Selma", "Tariq", "Uma", "Viktor", "Wanda", "Yusuf"),
)
_LAST: Final = (
    *("Adeyemi", "Bauer", "Chen", "Dubois", "Eriksen", "Fontaine", "Garcia", "Haddad", "Ito", "Jansson", "Kowalski"),
    *("Lopez", "Moretti", "Novak", "Okafor", "Patel", "Quist", "Romero", "Silva", "Tanaka", "Ueda", "Vance", "Weber"),
)
_STEMS: Final = (
    *("Acorn", "Birchwood", "Cascade", "Drift", "Ember", "Flint", "Glacier", "Harbor", "Indigo", "Juniper", "Keystone"),
    *("Lumen", "Maple", "Northstar", "Onyx", "Pinecrest", "Quartz", "Ridge", "Summit", "Tidal", "Umber", "Vertex"),
    *("Willow", "Zephyr"),
)
_FORMS: Final = ("Labs", "Logistics", "Health", "Media", "Foods", "Systems")
_INDUSTRIES: Final = ("Software", "Retail", "Healthcare", "Education", "Manufacturing", "Finance")
_COUNTRIES: Final = ("United States",) * 3 + ("Canada", "Germany", "France", "Brazil", "Japan")
_STAFF: Final[Sequence[Row]] = (
    ("Ruth Calloway", "Director of Support", None),
    ("Dominic Ferrara", "Support Manager", 1),
    ("Aisha Rahman", "Support Manager", 1),
    ("Peter Holm", "Head of Customer Success", 1),
    ("Laura Stein", "Support Engineer", 2),
    ("Miguel Santos", "Support Engineer", 2),
    ("Grace Obi", "Support Agent", 2),
    ("Tom Whitfield", "Support Agent", 2),
    ("Nina Petrova", "Support Agent", 2),
    ("Owen Gallagher", "Support Agent", 3),
    ("Sakura Mori", "Support Agent", 3),
    ("Ben Arnold", "Support Agent", 3),
    ("Chloe Martin", "Support Agent", 3),
    ("Ivan Horvat", "Support Engineer", 3),
    ("Elif Demir", "Support Agent", 3),
    ("Jack Thornton", "Billing Specialist", 3),
    ("Maria Bianchi", "Billing Specialist", 3),
    ("Samir Nasser", "Account Manager", 4),
    ("Helen Brooks", "Account Manager", 4),
    ("Lukas Brandt", "Account Manager", 4),
    ("Zoe Palmer", "Technical Writer", 4),
    ("Henry Adler", "Technical Writer", 4),
    ("Rachel Dunn", "Support Agent", 2),
    ("Carlos Vega", "Support Engineer", 2),
)
_TEAMS: Final[Sequence[Row]] = (
    (1, "Frontline", 2),
    (2, "Technical Escalations", 5),
    (3, "Billing Support", 16),
    (4, "Enterprise Care", 3),
    (5, "Weekend Crew", 10),
    (6, "Onboarding", None),
)
_MEMBERS: Final = (
    (1, (7, 8, 9, 10, 11, 12, 13, 15, 23)),
    (2, (5, 6, 14, 24)),
    (3, (16, 17, 8)),
    (4, (5, 11, 14, 9)),
    (5, (10, 12, 13, 6)),
)
_PRIORITIES: Final[Sequence[Row]] = ((1, "Low", 1440), (2, "Normal", 480), (3, "High", 120), (4, "Urgent", 30))
_TAGS: Final = (
    *("bug", "login", "invoice", "refund", "feature-request", "api", "mobile", "integration", "performance", "export"),
    *("password-reset", "sso", "upgrade", "cancellation", "email-delivery", "permissions", "onboarding", "vip"),
    *("data-loss", "gdpr", "legacy-import", "beta"),
)
_TOPICS: Final = (
    *("Cannot log in", "Invoice is wrong", "Export takes forever", "API returns 500", "Reset my password"),
    *("How do I add an agent?", "App crashes on start", "Emails are not delivered", "Upgrade our plan", "SSO setup"),
    *("Missing data in report", "Cancel my account", "Webhook not firing", "Slow dashboard", "Change billing address"),
)
_BODIES: Final = (
    *("Thanks, we are looking into it.", "Could you send a screenshot?", "This is fixed now.", "Any news on this?"),
    *("Escalated to engineering.", "It works again, thank you!", "Customer called twice.", "Please try again now."),
)
_SECTIONS: Final = ("Getting Started", "Billing", "Integrations", "Troubleshooting", "Security", "Reporting")
_PLANS: Final[Sequence[Row]] = (
    (1, "free", "Free", 0, 2, True),
    (2, "starter", "Starter", 19, 5, True),
    (3, "team", "Team", 49, 20, True),
    (4, "business", "Business", 89.5, 100, True),
    (5, "enterprise", "Enterprise", 149, None, True),
    (6, "legacy-pro", "Legacy Pro", 39.5, 15, False),
    (7, "nonprofit", "Nonprofit", 9.5, 10, False),
)


def write_helpdesk(file: Path) -> None:
    """The help desk, by seeded chance."""
    chance = Chance(67)
    organizations = _organizations(chance)
    users = _users(chance, organizations)
    tickets = _tickets(chance)
    articles = _articles(chance)
    subscriptions = _subscriptions(chance, organizations)
    members = [(team, user) for team, people in _MEMBERS for user in people]
    write(
        file,
        HERE / "helpdesk.sql",
        {
            "accounts_organization": organizations,
            "accounts_user": users,
            "accounts_team": _TEAMS,
            "accounts_team_members": [(n, *member) for n, member in enumerate(members, 1)],
            "tickets_priority": _PRIORITIES,
            "tickets_ticket": tickets,
            "tickets_comment": _comments(chance, tickets),
            "tickets_tag": [(n, tag, chance.pick(("red", "blue", "green", None))) for n, tag in enumerate(_TAGS, 1)],
            "tickets_ticket_tags": _ticket_tags(chance, tickets),
            "tickets_rating": _ratings(chance, tickets),
            "kb_article": articles,
            "kb_vote": _votes(chance, articles, users),
            "billing_plan": _PLANS,
            "billing_subscription": subscriptions,
            "billing_invoice": _invoices(chance, subscriptions),
        },
    )


def _later(chance: Chance, start: datetime, hours: int) -> datetime:
    """A minute within these hours after the start, but not after the data's end."""
    return min(start + timedelta(minutes=chance.between(10, hours * 60)), _END)


def _organizations(chance: Chance) -> list[Row]:
    return [
        (
            *(n, f"{_STEMS[n % 24]} {_FORMS[(n + n // 24) % 6]}", chance.pick(_INDUSTRIES), chance.pick(_COUNTRIES)),
            *(chance.between(0, 9) > 0, chance.pick((18, 18, 19, 20, None)), chance.moment(date(2020, 2, 1), 1700)),
        )
        for n in range(1, 111)
    ]


def _users(chance: Chance, organizations: Sequence[Row]) -> list[Row]:
    """The staff, who belong to no organization, and the organizations' people; some never logged in."""
    rows: list[Row] = []
    for n, (name, title, chief) in enumerate(_STAFF, 1):
        joined = chance.moment(date(2018, 1, 8), 2100) if n > 4 else datetime(2017, 5 + n, 3 + n, 9)
        email = f"{name.split()[0]}@deskly.example".lower()
        seen = _END - timedelta(hours=7 * n) if n != 23 else None
        rows.append((n, email, name, None, True, n != 13, title, chief, joined, seen))
    for n in range(25, 305):
        organization = organizations[(n * n + 3 * n) % 97] if n > 60 else organizations[n - 25]
        name = f"{_FIRST[n % 23]} {_LAST[(n * 2 + n // 23) % 23]}"
        joined = _later(chance, organization[6], 5000)
        seen = _later(chance, joined, 12000) if chance.between(0, 8) else None
        email = f"{name.replace(' ', '.')}@{organization[1].replace(' ', '')}.example".lower()
        title = chance.pick(("Owner", "Administrator", "Member", "Member", None))
        rows.append((n, email, name, organization[0], False, chance.between(0, 9) > 0, title, None, joined, seen))
    return rows


def _tickets(chance: Chance) -> list[Row]:
    """A deleted ticket was spam: nobody took it. A merged one is closed, and points to an earlier ticket."""
    rows: list[Row] = []
    weights = (5, 5, 6, 7, 7, 7, 8, 8, 9, 10, 10, 11, 11, 11, 11, 12, 13, 14, 15, 16, 16, 17, 24)
    starts = sorted(chance.moment(date(2023, 7, 1), 638) for _ in range(880))
    for n, start in enumerate(starts, 1):
        requester = 25 + chance.between(0, 259) * chance.between(30, 100) // 100
        subject, channel = chance.pick(_TOPICS), chance.pick(("email", "email", "email", "web", "web", "chat", "phone"))
        priority = chance.pick((1, 1, 2, 2, 2, 2, 3, 3, 4))
        if chance.between(0, 17) == 0:
            gone = _later(chance, start, 72)
            status = chance.pick(("new", "new", "open"))
            rows.append((n, subject, requester, None, None, priority, status, channel, None, None, start, None, gone))
            continue
        recent = start > datetime(2025, 1, 15)
        states = ("new", "open", "open", "pending", "solved", "solved") if recent else ("closed",) * 9 + ("open",)
        status = chance.pick(states)
        if not recent and chance.between(0, 5) == 0:
            status = chance.pick(("solved", "pending"))
        assignee = None if status == "new" or chance.between(0, 24) == 0 else chance.pick(weights)
        teams = [team for team, people in _MEMBERS if assignee in people]
        team = chance.pick(teams) if teams else chance.pick((1, 1, 3, None))
        merged = None
        if status == "closed" and n > 40 and chance.between(0, 11) == 0:
            merged = n - chance.between(1, 30)
            merged = None if rows[merged - 1][8] or rows[merged - 1][12] else merged
        target = _PRIORITIES[priority - 1][2]
        reply = None
        if assignee and not merged and (status != "open" or chance.between(0, 2)):
            reply = target * chance.between(5, 150) // 100 * chance.pick((1, 1, 1, 2)) * (8 + assignee % 5) // 10 + 1
        solved = _later(chance, start + timedelta(minutes=reply or 30), 90) if status in ("solved", "closed") else None
        rows.append(
            (
                *(n, subject, requester, assignee, team, priority, status, channel, merged, reply),
                *(start, solved, None),
            )
        )
    return rows


def _comments(chance: Chance, tickets: Sequence[Row]) -> list[Row]:
    """Requester and assignee write by turns; an internal comment is always by staff."""
    rows: list[Row] = []
    for ticket in tickets:
        if ticket[12] or ticket[6] == "new":
            continue
        moment = ticket[10]
        for turn in range(chance.pick((0, 1, 2, 2, 3, 3, 4, 5))):
            if moment == _END:
                break
            moment = _later(chance, moment, 30)
            internal = turn % 2 == 0 and chance.between(0, 3) == 0
            helper = ticket[3] or 2
            if internal and chance.between(0, 2) == 0:
                helper = chance.pick((2, 3, 5, 14))
            author = ticket[2] if turn % 2 else helper
            rows.append((len(rows) + 1, ticket[0], author, chance.pick(_BODIES), internal, moment))
    return rows


def _ticket_tags(chance: Chance, tickets: Sequence[Row]) -> list[Row]:
    """Up to three tags; the last two are never used."""
    rows: list[Row] = []
    for ticket in tickets:
        if ticket[12]:
            continue
        count = chance.pick((0, 1, 1, 1, 2, 2, 3))
        tags = sorted({1 + chance.between(0, 19) * chance.between(10, 100) // 100 for _ in range(count)})
        rows += [(len(rows) + place, ticket[0], tag) for place, tag in enumerate(tags, 1)]
    return rows


def _ratings(chance: Chance, tickets: Sequence[Row]) -> list[Row]:
    """Of some solved tickets; a slow first reply costs points."""
    rows: list[Row] = []
    for ticket in tickets:
        if not ticket[11] or ticket[8] or chance.between(0, 9) > 4:
            continue
        slow = ticket[9] is not None and ticket[9] > _PRIORITIES[ticket[5] - 1][2]
        score = chance.pick((1, 2, 2, 3, 4, 5) if slow else (2, 3, 4, 4, 5, 5, 5))
        words = ("Not helpful", "Took too long") if score < 3 else ("Great support", "Quick answer", "Fine")
        feedback = chance.pick(words) if chance.between(0, 2) == 0 else None
        rows.append((len(rows) + 1, ticket[0], score, feedback, _later(chance, ticket[11], 96)))
    return rows


def _articles(chance: Chance) -> list[Row]:
    verbs = ("Set up", "Troubleshoot", "Understand", "Export", "Customize", "Secure")
    nouns = ("your account", "invoices", "webhooks", "single sign-on", "email channels", "dashboards", "API keys")
    things = (*nouns, "agent roles", "tags and views", "the mobile app", "business hours", "macros", "audit logs")
    rows: list[Row] = []
    for n in range(1, 79):
        status = chance.pick(("published", "published", "published", "published", "draft", "archived"))
        published = chance.moment(date(2021, 3, 1), 1380) if status != "draft" else None
        views = chance.between(40, 9600) if published else 0
        gone = chance.moment(date(2024, 12, 10), 100) if chance.between(0, 12) == 0 else None
        title = f"{verbs[n % 6]} {things[n % 13]}"
        author = chance.pick((21, 21, 21, 22, 22, 5, 6, 9, 14))
        rows.append((n, title, author, chance.pick(_SECTIONS), status, views, published, gone))
    return rows


def _votes(chance: Chance, articles: Sequence[Row], users: Sequence[Row]) -> list[Row]:
    """Readers of published articles; who is not logged in has no user."""
    rows: list[Row] = []
    for article in articles:
        if not article[6]:
            continue
        good = chance.between(3, 9)
        for _ in range(chance.between(0, 22)):
            moment = _later(chance, article[6], 2000)
            reader = chance.pick(users[24:])[0] if chance.between(0, 2) else None
            rows.append((len(rows) + 1, article[0], reader, chance.between(0, 9) < good, moment))
    return rows


def _subscriptions(chance: Chance, organizations: Sequence[Row]) -> list[Row]:
    """Up to three subscriptions of an organization, one after another; some organizations never had any."""
    rows: list[Row] = []
    for organization in organizations:
        if organization[0] % 9 == 0:
            continue
        start = _later(chance, organization[6], 1500)
        plan = chance.pick((1, 2, 2, 3, 3, 6, 7))
        count = chance.pick((1, 1, 2, 2, 3))
        for place in range(1, count + 1):
            end = start + timedelta(minutes=chance.between(90, 420) * 1440 + chance.between(0, 1400))
            ends = (place < count or not organization[4] or chance.between(0, 6) == 0) and end < _END
            cap = _PLANS[plan - 1][4] or 160
            seats = chance.between(1, cap)
            cycle = chance.pick(("monthly", "monthly", "yearly"))
            rows.append((len(rows) + 1, organization[0], plan, seats, cycle, start, end if ends else None))
            if not ends:
                break
            start = end + timedelta(minutes=chance.between(5, 60 * 24 * 20))
            plan = min(plan + 1, 5) if plan < 6 and chance.between(0, 4) else chance.pick((2, 3, 4))
            if start > _END:
                break
    return rows


def _invoices(chance: Chance, subscriptions: Sequence[Row]) -> list[Row]:
    """Of the paid plans, one each quarter or year from 2023 on."""
    rows: list[Row] = []
    for sub in subscriptions:
        months = 12 if sub[4] == "yearly" else 3
        cents = round(_PLANS[sub[2] - 1][3] * 100) * sub[3] * months
        moment = sub[5]
        while cents and moment < (sub[6] or _END):
            due = moment + timedelta(days=30)
            status = chance.pick(("paid", "paid", "paid", "paid", "paid", "paid", "paid", "void", "open"))
            if due > _END - timedelta(days=20) and status == "paid":
                status = chance.pick(("paid", "open", "draft"))
            paid = moment + timedelta(minutes=chance.between(600, 58000)) if status == "paid" else None
            paid = min(paid, _END) if paid else None
            if moment.year >= 2023:
                discount = chance.pick((0, 0, 0, 10))
                amount = cents * (100 - discount) // 100
                number = f"INV-{moment.year}-{len(rows) + 1:05d}"
                rows.append((len(rows) + 1, sub[0], number, status, amount, moment, due, paid))
            moment += timedelta(days=91 if months == 3 else 365)
    return rows
