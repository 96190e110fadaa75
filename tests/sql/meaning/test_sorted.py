"""The order of rows that a question asks for, on the loans of a museum."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE courier (id INTEGER PRIMARY KEY, first_nm TEXT, last_nm TEXT);
CREATE TABLE loan (id INTEGER PRIMARY KEY, loan_no TEXT, kind TEXT, courier_id INTEGER REFERENCES courier,
  started TEXT, late INTEGER, fee INTEGER);
INSERT INTO courier VALUES (1, 'Ada', 'Zweig'), (2, 'Bert', 'Young'), (3, 'Cora', 'Abt');
INSERT INTO loan VALUES (1, 'L9', 'print', 1, '2024-03-01', 1, 150), (2, 'L8', 'print', 1, '2023-04-01', 1, 150),
  (3, 'L7', 'oil', 2, '2022-05-01', 0, 20), (4, 'L5', 'oil', 2, '2024-05-01', 1, 10),
  (5, 'L6', 'oil', 3, '2022-07-01', 0, 100);
"""
KINDS = "SELECT kind, COUNT(*), SUM(fee) FROM loan GROUP BY kind"
SHARES = "SELECT kind, COUNT(*) AS n, ROUND(100.0 * SUM(late) / COUNT(*), 1) FROM loan GROUP BY kind"
SHARE = "100.0 * SUM(late) / COUNT(*)"
COURIERS = (
    "SELECT c.first_nm, c.last_nm, COUNT(*) FROM courier AS c JOIN loan AS l ON l.courier_id = c.id "
    "GROUP BY c.id, c.first_nm, c.last_nm"
)
YEARS = "SELECT STRFTIME('%Y', started), COUNT(*) FROM loan GROUP BY STRFTIME('%Y', started)"
IN_YEARS = "SELECT kind, STRFTIME('%Y', started), SUM(fee) FROM loan GROUP BY kind, STRFTIME('%Y', started)"
LOANS = "SELECT fee, kind FROM loan"
STARTS = "SELECT kind, started, fee FROM loan"
TWO = "SELECT kind, SUM(fee), SUM(late) FROM loan GROUP BY kind"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Share of late loans: kind, number and percentage to one decimal, highest percentage first",
            f"{SHARES} ORDER BY 2 DESC",
            f"{SHARES} ORDER BY {SHARE} DESC",
        ),
        (
            "Kind, number of loans and percentage of late ones, lowest share first",
            f"{SHARES} ORDER BY n",
            f"{SHARES} ORDER BY {SHARE}",
        ),
        (
            "Kind, number of loans, total fee, highest total first",
            f"{KINDS} ORDER BY 2 DESC",
            f"{KINDS} ORDER BY SUM(fee) DESC",
        ),
        ("Kind, number of loans, fees, highest first", f"{KINDS} ORDER BY kind", f"{KINDS} ORDER BY SUM(fee) DESC"),
        (
            "Couriers and their number of loans, busiest first",
            f"{COURIERS} ORDER BY SUM(l.fee) DESC",
            f"{COURIERS} ORDER BY COUNT(*) DESC",
        ),
        (
            "Couriers and how many loans they had, most first, then by last name",
            f"{COURIERS} ORDER BY COUNT(*) DESC, c.first_nm, c.last_nm",
            f"{COURIERS} ORDER BY COUNT(*) DESC, c.last_nm",
        ),
        (
            "Loan number and start of loans of oil paintings, by loan number",
            "SELECT loan_no, started FROM loan WHERE kind = 'oil'",
            "SELECT loan_no, started FROM loan WHERE kind = 'oil' ORDER BY loan_no",
        ),
        (
            "Kind of each loan and last name of its courier, by courier last name",
            "SELECT l.kind, c.last_nm FROM loan AS l JOIN courier AS c ON c.id = l.courier_id WHERE l.late = 0",
            "SELECT l.kind, c.last_nm FROM loan AS l JOIN courier AS c ON c.id = l.courier_id WHERE l.late = 0 "
            "ORDER BY c.last_nm",
        ),
        (
            "First and last names of couriers, sorted by last name, then first name",
            "SELECT first_nm, last_nm FROM courier",
            "SELECT first_nm, last_nm FROM courier ORDER BY last_nm, first_nm",
        ),
        (
            "Kind, start and fee of loans, sorted by kind, then by fee",
            f"{STARTS} ORDER BY kind, started, fee",
            f"{STARTS} ORDER BY kind, fee",
        ),
        (
            "Kind, start and fee of loans, sorted by loan kind, then by fee",
            "SELECT kind AS loan_kind, started AS loan_start, fee FROM loan ORDER BY loan_kind, loan_start, fee",
            "SELECT kind AS loan_kind, started AS loan_start, fee FROM loan ORDER BY loan_kind, fee",
        ),
    ],
)
def test_rows_come_in_the_order_of_the_question(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


def test_periods_come_one_after_another(answered: Answered) -> None:
    sql = "SELECT year, COUNT(*) FROM (SELECT 3000 - id AS year FROM loan) GROUP BY -year, year"
    assert answered(SCHEMA, "How many loans in each year?", sql).sql == f"{sql} ORDER BY year"


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("The two kinds with the most loans, highest fee first", f"{KINDS} ORDER BY COUNT(*) DESC LIMIT 2"),
        ("Kind, fees and number of late loans, most expensive first", f"{TWO} ORDER BY SUM(fee) DESC"),
        ("Kind, fees and number of late loans, largest difference first", f"{TWO} ORDER BY SUM(fee) - SUM(late) DESC"),
        ("Couriers, most loans first, then by the newest loan first", f"{COURIERS} ORDER BY COUNT(*) DESC, c.first_nm"),
        ("Couriers, most loans first, then by age", f"{COURIERS} ORDER BY COUNT(*) DESC, c.first_nm"),
        ("Couriers, most loans first, then by name", f"{COURIERS} ORDER BY COUNT(*) DESC, c.first_nm"),
        ("Fees by kind, in order of name", TWO),
        ("Couriers and their number of loans, highest fees first", f"{COURIERS} ORDER BY SUM(l.fee) DESC"),
        ("Kinds by fee, then by kind, newest first", f"{KINDS} ORDER BY SUM(fee), kind DESC"),
        ("Fees of each kind and year, highest first", f"{IN_YEARS} ORDER BY kind, SUM(fee) DESC"),
        ("Kind, loans and fees, sorted by loans, highest first", f"{KINDS} ORDER BY 2 DESC"),
        ("Couriers, largest surplus of loans first", f"{COURIERS} ORDER BY COUNT(*) - SUM(l.late) DESC"),
        ("How many loans started in each year?", f"{YEARS} ORDER BY 1 DESC"),
        ("Kind and fees, highest first in spring, lowest first in autumn", f"{KINDS} ORDER BY kind"),
        ("Kind, start and fee of loans, sorted by kind, start, then by fee", f"{STARTS} ORDER BY kind, started, fee"),
        ("Kind, start and fee of loans, ordered by kind and start, then fee", f"{STARTS} ORDER BY 1, started, 3"),
    ],
)
def test_orders_that_are_not_clear_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ORDER BY MAX(fee) DESC", "ORDER BY SUM(fee) DESC"),
        ("ORDER BY 4 DESC, kind", "ORDER BY SUM(fee) DESC, kind"),
        ("", "ORDER BY SUM(fee) DESC"),
    ],
)
def test_a_maximum_that_was_written_for_the_order_goes(answered: Answered, order: str, expected: str) -> None:
    sql = f"SELECT kind, COUNT(*), SUM(fee), MAX(fee) FROM loan GROUP BY kind {order}".strip()
    found = answered(SCHEMA, "Kind, number of loans and total fee, highest total first", sql)
    assert found.sql == f"{KINDS} {expected}"


@pytest.mark.parametrize(
    "question",
    [
        "Total fee per kind: kind, number of loans, sum of fees, largest sum first.",
        "Kind, number of loans and fees, highest total amount first",
        "Kind, number of loans and fees, with the lowest sum of fees first, then by kind",
        "Kind, number of loans and fees (largest total first)",
    ],
)
@pytest.mark.parametrize(
    ("extreme", "order"), [("MAX(l.fee)", "MAX(l.fee)"), ("MAX(fee) AS largest", "largest"), ("MAX(L.Fee)", "4")]
)
def test_words_may_stand_before_first(answered: Answered, question: str, extreme: str, order: str) -> None:
    kinds = KINDS.replace("SUM(fee)", "SUM(l.fee)").replace("loan", "loan AS l")
    down = "" if "lowest" in question else " DESC"
    sql = kinds.replace(" FROM", f", {extreme} FROM") + f" ORDER BY {order}{down}"
    found = answered(SCHEMA, question, sql).sql
    assert found.removesuffix(", kind") == f"{kinds} ORDER BY SUM(l.fee){down}"


def test_a_minimum_of_a_group_goes(answered: Answered) -> None:
    sql = COURIERS.replace("COUNT(*)", "COUNT(*), MIN(c.first_nm) AS first") + " ORDER BY COUNT(*) DESC, 4"
    found = answered(SCHEMA, "Couriers: first name, last name and number of loans, most first", sql)
    assert found.sql == f"{COURIERS} ORDER BY COUNT(*) DESC"


@pytest.mark.parametrize(
    "question",
    [
        "Kind, number of loans, total fee and the highest fee, highest total first",
        "Kind, number of loans, fees and the maximum fee, most loans first",
        "Kind, number of loans, total fee and the dearest one",
        "Kind, number of loans, total fee and latest fee, most loans first",
        "Kind, number of loans, total fee and the peak, most loans first",
        "Kind, loans, fees and the highest fee in the first quarter",
    ],
)
def test_a_maximum_that_is_asked_for_stays(answered: Answered, question: str) -> None:
    sql = "SELECT kind, COUNT(*), SUM(fee), MAX(fee) FROM loan GROUP BY kind ORDER BY COUNT(*) DESC, SUM(fee) DESC"
    assert "MAX(fee)" in answered(SCHEMA, question, sql).sql


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("Kinds and fees of all loans, alphabetically", LOANS, f"{LOANS} ORDER BY kind"),
        (
            "Kind, number of loans and fees, in alphabetical order.",
            f"{KINDS} ORDER BY 3 DESC",
            f"{KINDS} ORDER BY kind",
        ),
        ("List the loans alphabetically", LOANS, f"{LOANS} ORDER BY kind"),
        ("Fees and kinds, alphabetical; leave out nothing", LOANS, f"{LOANS} ORDER BY kind"),
    ],
)
def test_alphabetical_is_by_the_first_text(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Number of loans of each kind, in reverse alphabetical order", f"{KINDS} ORDER BY kind DESC"),
        ("Couriers, alphabetically", f"{COURIERS} ORDER BY c.last_nm, c.first_nm"),
        ("Couriers, alphabetically", f"{COURIERS} ORDER BY LOWER(c.last_nm)"),
        ("Couriers, alphabetically", f"{COURIERS} ORDER BY c.last_nm COLLATE NOCASE"),
        ("Couriers, alphabetically", f"{COURIERS} ORDER BY c.last_nm || c.first_nm"),
        (
            "Number of loans of each kind and fees, highest first, then alphabetically",
            f"{KINDS} ORDER BY SUM(fee) DESC",
        ),
        ("Which kinds have an alphabetical code?", KINDS),
        (
            "First by last name, then by first name, and lastly by number of loans",
            f"{COURIERS} ORDER BY c.last_nm, c.first_nm, COUNT(*)",
        ),
        ("Starts of loans, alphabetically", "SELECT started, fee FROM loan"),
    ],
)
def test_other_orders_than_alphabetical_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


def test_an_extreme_that_leaves_one_row_is_left_out(answered: Answered) -> None:
    sql = "SELECT loan_no, fee, MIN(fee) FROM loan WHERE kind = 'oil' ORDER BY fee"
    expected = "SELECT loan_no, fee FROM loan WHERE kind = 'oil' ORDER BY fee"
    assert answered(SCHEMA, "Loans of oil paintings with their fee, lowest fee first", sql).sql == expected
    assert answered(SCHEMA, "The loan of an oil painting with the lowest fee", sql).sql == sql
