"""Days written as 31.01.2024 and the like: sorted, compared and taken apart as days; each result worked out by hand."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.sql.meaning import dates_made
from sqljury.sql.parse import exp, read_query

DAYS = ("2023-12-31", "2024-01-05", "2024-02-10", "2024-11-02", "2025-03-01", "2024-06-30")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
FORMS = (
    *("{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{m:02}/{d:02}/{y}", "{m}/{d}/{y}", "{d:02}-{m:02}-{y}"),
    *(
        "{d:02} {mon} {y}",
        "{d:02}-{mon}-{yy}",
        "{mon} {d:02}, {y}",
        "{y}/{m:02}/{d:02}",
        "{y}{m:02}{d:02}",
        "{y}-{m}-{d}",
    ),
)


def written(day: str, form: str) -> str:
    y, m, d = map(int, day.split("-"))
    return form.format(y=y, yy=f"{y % 100:02}", m=m, mon=MONTHS[m - 1], d=d)


def script(form: str) -> str:
    rows = ", ".join(f"({n}, '{written(day, form)}', '{written('2024-03-01', form)}')" for n, day in enumerate(DAYS, 1))
    return (
        "CREATE TABLE payment (id INTEGER PRIMARY KEY, paid_on TEXT, due_on TEXT);"
        f"INSERT INTO payment VALUES {rows}, (7, NULL, '{written('2024-12-24', form)}');"
    )


QUERIES = [
    ("Payments since 2024", "SELECT id FROM payment WHERE paid_on >= '2024-01-01'", {2, 3, 4, 5, 6}),
    ("Payments after 2024", "SELECT id FROM payment WHERE paid_on > '2024'", {5}),
    ("Payments in 2024", "SELECT id FROM payment WHERE paid_on LIKE '2024%'", {2, 3, 4, 6}),
    ("Payments in 2024", "SELECT id FROM payment WHERE STRFTIME('%Y', paid_on) = '2024'", {2, 3, 4, 6}),
    ("Payments in 2024", "SELECT id FROM payment WHERE SUBSTR(paid_on, 1, 4) = '2024'", {2, 3, 4, 6}),
    ("Payments in 2024", "SELECT id FROM payment WHERE paid_on BETWEEN '2024-01-01' AND '2024-12-31'", {2, 3, 4, 6}),
    ("Payments of February 2024", "SELECT id FROM payment WHERE paid_on LIKE '2024-02%'", {3}),
    ("Payments on 2024-11-02", "SELECT id FROM payment WHERE paid_on = '2024-11-02'", {4}),
    ("Payments not on 2024-11-02", "SELECT id FROM payment WHERE paid_on <> '2024-11-02'", {1, 2, 3, 5, 6}),
    ("Payments on either day", "SELECT id FROM payment WHERE paid_on IN ('2024-11-02', '2025-03-01')", {4, 5}),
    ("Payments a month ago or older", "SELECT id FROM payment WHERE paid_on < DATE('2024-03-05', '-1 month')", {1, 2}),
    ("The latest payment", "SELECT id FROM payment ORDER BY paid_on DESC LIMIT 1", {5}),
    ("The latest payment", "SELECT id, paid_on AS day FROM payment ORDER BY day DESC LIMIT 1", {5}),
    ("The latest payment", "SELECT id FROM payment WHERE paid_on = (SELECT MAX(paid_on) FROM payment)", {5}),
    ("The first payments", "SELECT id FROM payment WHERE paid_on IN (SELECT MIN(paid_on) FROM payment)", {1}),
    ("The latest payment", "SELECT MAX(paid_on) FROM payment", {"2025-03-01"}),
    (
        "Payments by year",
        "SELECT STRFTIME('%Y', paid_on), COUNT(*) FROM payment WHERE id < 7 GROUP BY 1",
        {"2023", "2024", "2025"},
    ),
    (
        "Payments of the last day",
        "SELECT p.id FROM payment AS p"
        " JOIN (SELECT MIN(paid_on) AS day FROM payment WHERE id = 5) AS m ON p.paid_on = m.day",
        {5},
    ),
    ("Late payments", "SELECT id FROM payment WHERE paid_on > due_on", {4, 5, 6}),
]


@pytest.mark.parametrize(("question", "sql", "found"), QUERIES)
@pytest.mark.parametrize("form", FORMS)
def test_days_in_texts_are_days(answered: Answered, form: str, question: str, sql: str, found: set[int]) -> None:
    answer = answered(script(form), question, sql)
    if form.startswith("{y}") and "{m:02}" in form:  # texts that sort as they are
        found = {written("2025-03-01", form)} if found == {"2025-03-01"} else found
        found = {2, 3, 4, 5, 6} if "> '2024'" in sql else found
    assert {row[0] for row in answer.rows} == found, answer.sql


SALES = """
CREATE TABLE sale (id INTEGER PRIMARY KEY, client TEXT, sold_on TEXT, at TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 299)
INSERT INTO sale SELECT i, 'Ann', '11/' || (15 + i % 5) || '/2023', '20231101' FROM n;
INSERT INTO sale VALUES (300, 'Ben', '1/5/2024', '20240105'), (301, 'Cem', '2/17/2024', '20240217');
"""


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("The latest sale", "SELECT id FROM sale ORDER BY sold_on DESC LIMIT 1", ((301,),)),
        ("The day of sale 300", "SELECT MAX(sold_on) FROM sale WHERE id = 300", (("2024-01-05",),)),
        # Texts that sort as they are: '2024' is below all days of 2024.
        ("Sales until 2023", "SELECT COUNT(*) FROM sale WHERE at <= '2024'", ((299,),)),
        ("Sales newer than 2023", "SELECT COUNT(*) FROM sale WHERE at > '2024'", ((2,),)),
        ("Sales on 2024-02-17", "SELECT id FROM sale WHERE at = '2024-02-17'", ((301,),)),
        # The constant of an extreme has the column's own form.
        (
            "Clients with one day of sale, 1/5/2024",
            "SELECT client FROM sale GROUP BY client HAVING MAX(sold_on) = '1/5/2024' AND MIN(sold_on) = '1/5/2024'",
            (("Ben",),),
        ),
    ],
)
def test_forms_of_all_texts(answered: Answered, question: str, sql: str, rows: tuple[tuple[object, ...], ...]) -> None:
    answer = answered(SALES, question, sql)
    assert answer.rows == rows, answer.sql


def test_a_column_with_empty_texts_stays(answered: Answered) -> None:
    sql = "SELECT MAX(paid_on) FROM payment"
    made = script("{d:02}.{m:02}.{y}") + "INSERT INTO payment VALUES (8, '', '01.01.2024')"
    assert answered(made, "The latest payment", sql).sql == sql


@pytest.mark.parametrize("form", FORMS)
def test_the_explanation_says_the_day_of_the_column(answered: Answered, form: str) -> None:
    answer = answered(script(form), "Payments on 2024-11-02", "SELECT id FROM payment WHERE paid_on = '2024-11-02'")
    assert answer.explanation is not None
    steps = [step.text for step in answer.explanation.steps]
    assert "Keeps rows where the day in paid_on is '2024-11-02'." in steps, steps


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        ("postgres", "TO_DATE(day, 'DD.MM.YYYY')"),
        ("mysql", "STR_TO_DATE(day, '%d.%m.%Y')"),
        ("duckdb", "CAST(TRY_STRPTIME(day, '%d.%m.%Y') AS DATE)"),
    ],
)
def test_dates_of_servers(dialect: str, written: str) -> None:
    made = dates_made.of_text(exp.column("day"), "DD.MM.YYYY", dialect)
    assert made is not None
    assert made.sql(dialect=dialect) == written
    read = read_query(f"SELECT {written} FROM t", dialect)
    assert isinstance(read, exp.Select)
    assert dates_made.source(read.selects[0]) == exp.column("day")
    assert dates_made.source(exp.column("day")) is None


@pytest.mark.parametrize(
    ("question", "pattern", "found"),
    [
        ("Payments in January 2024", "01.%.2024", {2}),
        ("Payments in January 2024", "%-01-2024", {2}),
        ("Payments on the first of any month of 2024", "01.%.2024", set()),
        ("Payments in January 2024", "%.01.2024", {2}),
    ],
)
def test_a_pattern_with_the_month_in_a_wrong_place(
    answered: Answered, question: str, pattern: str, found: set[int]
) -> None:
    answer = answered(script("{d:02}.{m:02}.{y}"), question, f"SELECT id FROM payment WHERE paid_on LIKE '{pattern}'")
    assert {row[0] for row in answer.rows} == found, answer.sql
