"""The festival database of `gate.py`: an organiser of music and theatre festivals, without keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from gate_data import HERE, Chance, Row, write


def records(text: str) -> list[Row]:
    """The rows of a text, split at semicolons, and their cells, split at commas: digits are numbers, a dash is None."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.strip().split(";")]
    return [tuple(None if cell == "-" else int(cell) if cell.isdigit() else cell for cell in row) for row in rows]


TODAY: Final = date(2025, 2, 28)
GIVEN: Final = [
    "Amelie",
    "Anton",
    "Astrid",
    "Bastian",
    "Carla",
    "Dario",
    "Edda",
    "Emil",
    "Franziska",
    "Gregor",
    "Hanna",
    "Ida",
    "Jakob",
    "Johanna",
    "Karim",
    "Lena",
    "Leon",
    "Magda",
    "Marek",
    "Nadia",
    "Nils",
    "Olivia",
    "Oskar",
    "Paula",
    "Rafael",
    "Rosa",
    "Samuel",
    "Selma",
    "Theo",
    "Vera",
]
SURNAMES: Final = [
    "Albrecht",
    "Bauer",
    "Bianchi",
    "Czerny",
    "Dietrich",
    "Eder",
    "Ferrari",
    "Frank",
    "Haas",
    "Hofer",
    "Horvat",
    "Jung",
    "Kaiser",
    "Kern",
    "Kovacs",
    "Lindner",
    "Maurer",
    "Moser",
    "Novak",
    "Pichler",
    "Reiter",
    "Rossi",
    "Sailer",
    "Schuster",
    "Steiner",
    "Thaler",
    "Urban",
    "Vogel",
    "Wagner",
    "Winkler",
]
CITIES: Final = records("""Bregenz, Austria; Graz, Austria; Vienna, Austria; Linz, Austria; Trieste, Italy;
    Hamburg, Germany; Rostock, Germany; Munich, Germany; Zurich, Switzerland; Bolzano, Italy; Maribor, Slovenia""")
# Name, kind, city, month and day of the first day, days, first and last year, budget, orders an edition, director.
FESTIVALS: Final = records("""Lakeside Jazz Days, music, Bregenz, 7, 4, 4, 2022, 2025, 185000, 56, 2;
    Castle Stage Festival, theatre, Salzburg, 8, 8, 6, 2022, 2025, 240000, 47, 3; Old Town Street Theatre, theatre,
    Graz, 5, 16, 3, 2022, 2024, 64000, 24, 3; Northern Folk Meeting, music, Rostock, 6, 13, 3, 2022, 2025, 98000, 33, 4;
    Harbour Sounds, music, Hamburg, 9, 5, 3, 2023, 2024, 150000, 51, 4""")
MOTTOS: Final = ("Water and Brass", "Close to Home", "Masks", "The Long Night", "Open Doors", "New Voices")
VENUES: Final = records("""Festival Park, Bregenz, 1998, 2400, 1; Old Boathouse, Bregenz, 1911, 850, 0;
    Castle Courtyard, Salzburg, -, 3100, 0; Kleines Haus, Salzburg, 1926, 1250, 1; Main Square, Graz, -, -, 1;
    Dom im Berg, Graz, 2000, 1400, 1; Shipyard Meadow, Rostock, -, 900, 1; St. Nicholas Church, Rostock, 1312, 600, 0;
    Quay 52, Hamburg, 1967, 1900, 1; Fish Hall, Hamburg, 1896, 2200, 1; Posthof, Linz, 1984, 1600, 1""")
STAGES: Final = records("""FP-MAIN, 1, Lake Stage, 3200, 0; FP-TENT, 1, Big Tent, 900, 1; OB-CLUB, 2, Club, 180, 1;
    CC-YARD, 3, Courtyard Stage, 1100, 0; CC-VAULT, 3, Vault, 120, 1; KH-HALL, 4, Great Hall, 420, 1;
    KH-STUDIO, 4, Studio, 90, 1; MS-MAIN, 5, Square Stage, 1500, 0; DB-CAVE, 6, Mountain Hall, 500, 1;
    SM-MEADOW, 7, Meadow Stage, 2000, 0; SM-BARN, 7, Barn, 350, 1; SN-NAVE, 8, Nave, 380, 1; Q52-DOCK, 9, Dock Stage,
    2600, 0; Q52-CRANE, 9, Crane Stage, 700, 0; FH-HALL, 10, Auction Hall, 1400, 1; PH-MAIN, 11, Main Hall, 650, 1""")
OFFERS: Final = (("Day ticket", 18, 900), ("Festival pass", 44, 500), ("Reduced", 12, 300), ("VIP pass", 90, 40))
LEVELS: Final = (("main", 30, 60), ("partner", 10, 25), ("partner", 10, 25), ("supporter", 2, 8))
# A star marks a soloist.
MUSIC: Final = [
    "The Blue Herons",
    "Marta Lindqvist*",
    "Nachtzug",
    "Salt & Copper",
    "Kamelia Orkestar",
    "Tomas Brennan*",
    "Hollow Pine",
    "Oyster Bay Rovers",
    "Fjordklang",
    "The Paper Lanterns",
    "Ines Carvalho*",
    "Zwirn",
    "Low Tide Ensemble",
    "Grandmother's Radio",
    "Lumen",
    "Bora Bora Brass",
    "Aoife Kinsella*",
    "Stadtmusikanten",
    "Nordwind",
    "Sofia Petrakis*",
    "Rust and Roses",
    "Kasimir Wolff*",
    "Black Birch",
    "Anouk Delacroix*",
    "Septemberkinder",
    "Polka Dots",
    "The Ferrymen",
    "Yara Haddad*",
    "Tin Whistle Club",
    "Kraut & Rye",
]
THEATRE: Final = [
    "Theater Sturmvogel",
    "Compagnie du Fil",
    "Teatro Lucerna",
    "Red Door Players",
    "Puppenwerk",
    "Stelzenvolk",
    "The Night Porters",
    "Ensemble Kreide",
    "Glass Eye Theatre",
    "Teatr Mewa",
    "Burgbuehne",
    "Ophelia's Brothers",
    "Circo Mirabelle",
    "Mime & Co",
    "Schattenwurf",
    "Komodie am Fluss",
    "Nina Castellan*",
    "Figurentheater Anker",
    "Lantern Lane Company",
    "Volta Vertical",
]
COMPANIES: Final = records("""Raiffeisen Seebank, banking; Alpquell Mineral Water, beverages; Nordlicht Energie, energy;
    Brauerei Hirschtal, beverages; Hansekontor Insurance, insurance; Radio Vierklang, media; Stadtwerke Graz, energy;
    Kurier am Morgen, media; Elbe Logistics, transport; Westbahn Reisen, transport; Confiserie Mozart, food""")
SUPPLIERS: Final = records("""Klangraum Audio, sound, Vienna; Donau Sound Rental, sound, Linz;
    Lichtblick GmbH, lighting, Munich; Spotline Services, lighting, Hamburg; Alpen Catering, catering, Innsbruck;
    Kombuese, catering, Hamburg; Adler Security, security, Salzburg; Sauber & Partner, sanitation, Vienna;
    Buehnenbau Kofler, stage building, Bolzano; Truss Brothers, stage building, Hamburg; Fork & Friends, catering, Graz;
    Druckerei Stamm, printing, Graz; Seehotel Krone, lodging, Bregenz; Plakat Union, printing, Vienna""")
STAFF: Final = records("""Regina, Falkner, managing director, -; Matthias, Oberhauser, artistic director, 1;
    Ilse, Brunner, artistic director, 1; Henrik, Petersen, artistic director, 1; Sandra, Wolf, head of finance, 1;
    Tobias, Kremer, booker, 2; Yasmin, Aydin, booker, 2; Clemens, Strobl, booker, 3; Wiebke, Hansen, booker, 4;
    Doris, Gasser, accountant, 5; Philipp, Lang, volunteer coordinator, 1; Maja, Kos, volunteer coordinator, 11;
    Uwe, Thiessen, technical manager, 1; Laura, Prinz, ticketing manager, 5""")


def draw(chance: Chance, items: Sequence[Any], count: int) -> list[Any]:
    """So many different items in random order, or all."""
    left = list(items)
    return [left.pop(chance.between(0, len(left) - 1)) for _ in range(min(count, len(left)))]


def maybe(chance: Chance, percent: int, value: Any) -> Any:
    """The value, or None when chance is against it."""
    return value if chance.between(1, 100) <= percent else None


def plan_editions(chance: Chance) -> list[Row]:
    """One row a festival and year, in the order of the years."""
    rows: list[Row] = []
    for year in range(2022, 2026):
        for name, kind, city, month, day, days, first, last, budget, _, director in FESTIVALS:
            start, motto = date(year, month, day), maybe(chance, 65, chance.pick(MOTTOS))
            plus = 1500 * (chance.between(0, 8) + 4 * (year - 2022))
            status = "planned" if start > TODAY else "cancelled" if city == "Rostock" and year == 2022 else "finished"
            money = None if city == "Rostock" and status == "planned" else budget + plus
            if first <= year <= last:
                end = start + timedelta(days=days - 1)
                rows.append((len(rows) + 1, name, kind, city, start, end, motto, money, status, director))
    return rows


def find_performers(chance: Chance) -> list[Row]:
    """The acts, music first."""
    rows: list[Row] = []
    lands = [
        "Austria",
        "Austria",
        "Germany",
        "Germany",
        "Germany",
        "Ireland",
        "Italy",
        "France",
        "Sweden",
        "Poland",
        "Greece",
    ]
    for name in (*MUSIC, *THEATRE):
        music, solo = name in MUSIC, name.endswith("*")
        act = "solo artist" if solo else "band" if music else chance.pick(("theatre company", "street act"))
        genre = chance.pick(("jazz jazz folk folk indie klezmer" if music else "drama comedy puppetry circus").split())
        size = 1 if solo else chance.between(2, 9)
        email = maybe(chance, 70, f"booking@{''.join(filter(str.isalpha, name.lower()))}.example")
        founded = maybe(chance, 80, chance.between(1978, 2021))
        rows.append((len(rows) + 1, name.rstrip("*"), act, genre, chance.pick(lands), size, founded, email))
    return rows


def book(chance: Chance, editions: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The bookings of the editions, and the slots of the confirmed ones."""
    bookings, slots = list[Row](), list[Row]()
    for edition, _, kind, city, start, end, _, _, state, director in editions:
        acts = range(1, len(MUSIC) - 1) if kind == "music" else range(len(MUSIC) + 1, len(MUSIC) + len(THEATRE))
        stages = [stage for stage in STAGES if VENUES[stage[1] - 1][1] == city]
        days = [start + timedelta(days=day) for day in range((end - start).days + 1)]
        free = [(stage, day, hour) for stage in stages for day in days for hour in (15, 17, 19, 21)]
        for act in sorted(draw(chance, acts, chance.between(9, 16))):
            status = chance.pick((state if state == "cancelled" else "confirmed",) * 7 + ("declined", "cancelled"))
            asked, wait = chance.day(start - timedelta(days=300), 120), timedelta(days=chance.between(3, 80))
            status, answer = ("requested", None) if asked + wait > TODAY else (status, asked + wait)
            fee, travel = 50 * chance.between(12, 60 + 30 * (act % 5)), maybe(chance, 60, 10 * chance.between(8, 140))
            booker = chance.pick({2: (6, 7), 3: (8, 8, 7), 4: (9, 9, 6)}[director])
            bookings.append((len(bookings) + 1, edition, act, booker, fee, travel, status, asked, answer))
            shows = 1 if kind == "music" else chance.between(1, 3)
            for place, day, hour in draw(chance, free, shows if status == "confirmed" else 0):
                free.remove((place, day, hour))
                begin = datetime.combine(day, time(hour)) + timedelta(minutes=15 * chance.between(0, 2))
                finish = begin + timedelta(minutes=5 * chance.between(9, 16))
                check = maybe(chance, 75, begin - timedelta(minutes=30 * chance.between(3, 8)))
                heads = maybe(chance, 93, place[3] * chance.between(22, 100) // 100) if state == "finished" else None
                slots.append((len(slots) + 1, len(bookings), place[0], begin, finish, check, heads))
    return bookings, slots


def sell(chance: Chance, editions: Sequence[Row], visitors: Sequence[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """The ticket types of the editions, the orders in the order of time and their tickets."""
    types, orders, tickets = list[Row](), list[Row](), list[Row]()
    baskets: list[tuple[datetime, Row, list[Row]]] = []
    for edition in editions:
        base, opening, first = edition[7] or 98000, edition[4] - timedelta(days=200), len(types)
        for label, share, quota in OFFERS:
            if label != "VIP pass" or base > 120000:
                price = share * (100 + base // 4000) // 50 / 2
                types.append((len(types) + 1, edition[0], label, price, quota + 10 * chance.between(0, 6), opening))
        usual = {festival[0]: festival[9] for festival in FESTIVALS}[edition[1]]
        for moment in [chance.moment(opening, 199) for _ in range(usual + chance.between(-7, 7))]:
            wanted = [chance.pick(types[first:]) if chance.between(0, 2) else types[first]] * chance.between(1, 3)
            extra = [chance.pick(types[first:])] if chance.between(0, 3) == 0 else []
            baskets.append((moment, edition, wanted + extra))
    for moment, edition, wishes in sorted(baskets, key=lambda basket: basket[0]):
        if moment.date() >= TODAY:
            break
        known = [person[0] for person in visitors[:-25] if person[8] <= moment.date()]
        buyer = known[chance.between(0, chance.between(0, len(known) - 1))]
        status = "refunded" if edition[8] == "cancelled" else chance.pick(("paid",) * 12 + ("cancelled", "refunded"))
        status = chance.pick(("paid", "pending")) if moment.date() > TODAY - timedelta(days=21) else status
        channel = chance.pick(("web", "web", "web", "app", "app", "box office"))
        method = chance.pick(("cash", "card") if channel == "box office" else ("card", "card", "paypal", "transfer"))
        promo = maybe(chance, 14, chance.pick(("EARLY5", "FRIENDS5")))
        wait = timedelta(minutes=chance.between(1, 4000) if method == "transfer" else 2)
        paid_at = moment + wait if status in ("paid", "refunded") else None
        orders.append((len(orders) + 1, buyer, moment, channel, method, promo, status, paid_at))
        for offer in wishes:
            gates = chance.day(edition[4], (edition[5] - edition[4]).days)
            scan = maybe(chance, 88, datetime.combine(gates, time(14)) + timedelta(minutes=chance.between(0, 420)))
            scan = scan if (status, edition[8]) == ("paid", "finished") else None
            tickets.append((len(tickets) + 1, len(orders), offer[0], offer[3] - (5 if promo else 0), scan))
    return types, orders, tickets


def fill_shifts(chance: Chance, editions: Sequence[Row], volunteers: Sequence[Row]) -> list[Row]:
    """The shifts of the volunteers at the finished editions."""
    rows, tasks = list[Row](), ("entrance", "bar", "backstage", "info desk", "clean-up", "car park")
    for edition in [edition for edition in editions if edition[8] == "finished"]:
        crew = [person[0] for person in volunteers[:-6] if person[6] < edition[4]]
        for _ in range(chance.between(18, 36)):
            person = crew[chance.between(0, chance.between(0, len(crew) - 1))]
            day = chance.day(edition[4], (edition[5] - edition[4]).days)
            begin, lead = datetime.combine(day, time(chance.between(8, 20))), chance.pick((11, 12, 12, 13))
            what = (chance.pick(tasks), begin, chance.between(6, 14) / 2, int(chance.between(1, 100) < 92))
            rows.append((len(rows) + 1, person, edition[0], lead, *what))
    return rows


def money(chance: Chance, editions: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The sponsorships and the expenses of the editions."""
    deals, costs = list[Row](), list[Row]()
    for edition, _, _, _, start, _, _, _, state, _ in editions:
        for company, industry in draw(chance, COMPANIES, chance.between(2, 5)):
            level, low, high = chance.pick(LEVELS)
            agreed, amount = chance.day(start - timedelta(days=260), 90), 500 * chance.between(low, high)
            received = maybe(chance, 85, chance.day(agreed + timedelta(days=14), 50))
            received = received if received and received < TODAY and state != "cancelled" else None
            deals.append((len(deals) + 1, edition, company, industry, level, amount, agreed, received))
        for _ in range({"finished": chance.between(14, 22), "cancelled": 5, "planned": 3}[state]):
            billed = min(chance.day(start - timedelta(days=60), 94), chance.day(TODAY - timedelta(days=40), 30))
            paid = maybe(chance, 90, chance.day(billed + timedelta(days=5), 40))
            paid, due = paid if paid and paid <= TODAY else None, billed + timedelta(days=30)
            supplier, number = chance.between(1, len(SUPPLIERS) - 2), f"{billed.year}-{chance.between(1000, 9999)}"
            sum_due, approver = chance.between(800, 26000) / 4, maybe(chance, 88, chance.pick((5, 5, 13, 1)))
            costs.append((len(costs) + 1, edition, supplier, number, sum_due, billed, due, paid, approver))
    return deals, costs


def write_festival(file: Path) -> None:
    """The whole database."""
    chance = Chance(77)
    visitors, volunteers, suppliers, staff = list[Row](), list[Row](), list[Row](), list[Row]()
    people = draw(chance, [(given, surname) for given in GIVEN for surname in SURNAMES], 330)
    days = sorted(chance.day(date(2021, 9, 1), 20 if at < 60 else 1230) for at in range(260))
    for day, (given, surname) in zip(days, people[:260], strict=True):
        email, born = f"{given}.{surname}@mail.example".lower(), chance.day(date(1948, 1, 1), 21000)
        about = (maybe(chance, 90, email), *chance.pick(CITIES), maybe(chance, 75, born), chance.between(0, 1), day)
        visitors.append((len(visitors) + 1, given, surname, *about))
    for day in sorted(chance.day(date(2022, 1, 10), 80 if at < 40 else 1100) for at in range(70)):
        phone, born = f"+43 660 {chance.between(1000000, 9999999)}", chance.day(date(1962, 1, 1), 15700)
        about = (maybe(chance, 80, phone), born, maybe(chance, 90, chance.pick(["S", "M", "M", "L", "L", "XL"])), day)
        volunteers.append((len(volunteers) + 1, *people[260 + len(volunteers)], *about))
    for firm in SUPPLIERS:
        email, stars = f"office@{firm[0].split()[0].lower()}.example", maybe(chance, 85, chance.between(2, 5))
        suppliers.append((len(suppliers) + 1, *firm, maybe(chance, 80, email), stars))
    for *who, boss in STAFF:
        pay = 50 * chance.between(54, 90) + (1800 if len(staff) < 5 else 0)
        staff.append((len(staff) + 1, *who, chance.day(date(2014, 2, 1), 2800), pay, boss))
    editions, venues = plan_editions(chance), [(at + 1, *venue) for at, venue in enumerate(VENUES)]
    filled = {"staff": staff, "edition": editions, "venue": venues, "stage": STAGES}
    filled |= {"visitor": visitors, "supplier": suppliers, "volunteer": volunteers}
    filled["performer"], filled["volunteer_shift"] = find_performers(chance), fill_shifts(chance, editions, volunteers)
    filled["booking"], filled["slot"] = book(chance, editions)
    filled["ticket_type"], filled["ticket_order"], filled["ticket"] = sell(chance, editions, visitors)
    filled["sponsorship"], filled["expense"] = money(chance, editions)
    write(file, HERE / "festival.sql", filled)
