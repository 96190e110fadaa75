"""Lines of evidence: told apart, chosen by the question, and what they demand."""

from __future__ import annotations

import pytest

from sqljury.language.instructions import concerning, demands, expanded, instructions

GLOSSARY = """Glossary:
- PMCS = per month customer signups
- always filter names with ILIKE
2) revenue means price times quantity without returned orders
* Net revenue = revenue - refunds
A senior is older than 60
A long trip lasts more than 3600 seconds
A customer is active if they ordered in the last 90 days
Wines with fewer than 500 cases are rare
Cancelled lessons do not count: leave out the status 'Cancelled'
F stands for female
When asked for employees, leave out those who left
"""


def texts(question: str, evidence: str = GLOSSARY) -> list[str]:
    return [one.text for one in concerning(instructions(evidence), question)]


def test_lines_are_told_apart() -> None:
    given = {one.text: (one.term, one.is_rule) for one in instructions(GLOSSARY)}
    assert given == {
        "PMCS = per month customer signups": ("PMCS", False),
        "always filter names with ILIKE": ("", True),
        "revenue means price times quantity without returned orders": ("revenue", False),
        "Net revenue = revenue - refunds": ("Net revenue", False),
        "A senior is older than 60": ("senior", False),
        "A long trip lasts more than 3600 seconds": ("", False),
        "A customer is active if they ordered in the last 90 days": ("active", False),
        "Wines with fewer than 500 cases are rare": ("rare", False),
        "Cancelled lessons do not count: leave out the status 'Cancelled'": ("", True),
        "F stands for female": ("F", False),
        "When asked for employees, leave out those who left": ("", True),
    }


@pytest.mark.parametrize(
    ("line", "term", "meaning"),
    [
        ("open means status = 3", "open", "status = 3"),
        ("\"active\" means status = 'A'", "active", "status = 'A'"),
        ("closed means status != 3", "closed", "status != 3"),
        ("female refers to gender = 'F'", "female", "gender = 'F'"),
        ("over 10 refers to `Low Grade` = 9", "over 10", "`Low Grade` = 9"),
        ("open is status = 3", "open", "status = 3"),
        ("an open order is `order status` <> 'done'", "open order", "`order status` <> 'done'"),
        ("mean salary = AVG(salary)", "mean salary", "AVG(salary)"),
        ("the mean salary = AVG(salary)", "mean salary", "AVG(salary)"),
        ("sample means by group = AVG(x)", "sample means by group", "AVG(x)"),
        ("share is = 3", "share is", "3"),
        ("status is needed in every answer", "", ""),
    ],
)
def test_a_sign_in_a_meaning_does_not_end_the_term(line: str, term: str, meaning: str) -> None:
    [read] = instructions(line)
    assert (read.term, read.meaning) == (term, meaning)
    assert read.is_rule == (not term)


def test_semicolons_separate_but_not_within_quotes_and_brackets() -> None:
    assert [one.text for one in instructions("A1 = the first month; late = 'a; b c'; x = f(a; b c)")] == [
        "A1 = the first month",
        "late = 'a; b c'",
        "x = f(a; b c)",
    ]
    assert len(instructions("\n".join(f"a{number} = {number}" for number in range(900)))) == 200
    assert instructions(" \n\n") == ()


@pytest.mark.parametrize(
    ("question", "first", "others"),
    [
        ("What was the PMCS in 2020?", ["PMCS = per month customer signups"], 2),
        (
            "Net revenue by seniors",
            [
                "Net revenue = revenue - refunds",
                "revenue means price times quantity without returned orders",
                "A senior is older than 60",
            ],
            2,
        ),
        ("How long are long trips?", ["A long trip lasts more than 3600 seconds"], 2),
        ("How many female students?", ["F stands for female"], 2),
        ("Which employees earn most?", [], 3),
    ],
)
def test_terms_of_the_question_come_first_and_rules_always(question: str, first: list[str], others: int) -> None:
    found = texts(question)
    assert found[: len(first)] == first
    assert len(found) == len(first) + others
    assert "always filter names with ILIKE" in found


def test_acronyms_are_spelt_out_once() -> None:
    given = instructions("PMCS = per month customer signups.\nPPM = price / distance\nrevenue means the price paid")
    asked = "Which PMCS, PMCS2 and PPM and revenue?"
    assert expanded(asked, given) == "Which PMCS (per month customer signups), PMCS2 and PPM and revenue?"
    assert expanded("PMCS, per month customer signups", given) == "PMCS, per month customer signups"


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("always filter names with ILIKE", "ignore_case", True),
        ("Compare cities case-insensitively", "ignore_case", True),
        ("match titles regardless of case", "case_of", {"title"}),
        ("Never use ILIKE on codes", "ignore_case", False),
        ("Round money to two decimals", "decimals", 2),
        ("Round ages to whole numbers", "decimals", 0),
        ("Amounts: round them to cents", "decimals", 2),
        ("Show at most 20 rows unless asked otherwise", "limit", 20),
        ("Lists are limited to five rows", "limit", 5),
        ("at most 3 people per room", "limit", None),
        ("Never show duplicates", "distinct", True),
    ],
)
def test_demands(line: str, field: str, value: object) -> None:
    assert getattr(demands(instructions(line)), field) == value
