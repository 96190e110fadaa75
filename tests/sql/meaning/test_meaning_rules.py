"""Rules of meaning on the text of queries: what is rewritten, what is left alone, and that nothing is lost.

The files have a question, a query and the query that is expected, ``-`` where it is to stay as it is; a question that
starts with ``failed`` is asked about a query that the engine refuses.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqljury.language.cues import extreme, ratio
from sqljury.language.money import amounts, main_unit
from sqljury.language.times import Period, Span, bound, named_period, relative
from sqljury.sql.meaning import FOR_ERRORS, RULES, Asked, Change, Rewriter
from sqljury.sql.meaning.base import Times
from sqljury.sql.meaning.named import names_for_keys
from sqljury.sql.parse import exp, read_query, write
from sqljury.sql.translate import restrictions
from sqljury.types import Column, ForeignKey, Question, Row, Schema, Table

HERE = Path(__file__).parent
ORDERS = {
    "id": "INTEGER",
    "customer_id": "INTEGER",
    "amount": "INTEGER",
    "price": "REAL",
    "paid": "INTEGER",
    "open": "INTEGER",
    "year": "INTEGER",
    "placed": "TIMESTAMP",
    "shipped": "DATE",
    "settled": "VARCHAR(5)",
    "flag": "BOOLEAN",
    "created_at": "INTEGER",
    "changed_ms": "BIGINT",
    "seen_us": "BIGINT",
    "date_key": "INTEGER",
    "fee_ct": "INTEGER",
    "shippingCents": "INTEGER",
    "tip_pence": "NUMERIC(12, 0)",
    "order_ct": "INTEGER",
    "per_cent": "INTEGER",
    "net_cents": "DECIMAL(10, 2)",
    "cost_cents": "INTEGER",
    "quantity": "INTEGER",
    "toll": "INTEGER",
    **dict.fromkeys(("billed", "ended", "signed", "called"), "TEXT"),
}
COMMENTS = {"toll": "toll in cents (divide by 100 for euros)"}
CUSTOMER = {
    "id": "INTEGER",
    "name": "TEXT",
    "age": "INTEGER",
    "city": "TEXT",
    "gender": "TEXT",
    "land": "character(10)",
}
VALUES: dict[str, tuple[Any, ...]] = {
    "placed": ("2023-01-31 10:30:00", "2023-02-01 00:00:00"),
    "shipped": ("2023-01-31", "2023-02-01"),
    "settled": ("Y", "N"),
    "paid": (0, 1),
    "gender": ("F", "M"),
    "fee_ct": (250, 1050),
    "cost_cents": (2.5, 10.99),
}
TIMES: dict[str, Times] = {
    "created_at": "seconds",
    "changed_ms": "milliseconds",
    "seen_us": "microseconds",
    "date_key": "days",
}
FORMS = {"billed": "DD.MM.YYYY", "ended": "M/D/YYYY", "signed": "DD-Mon-YY", "called": "DD.MM.YYYY HH:MI"}
STORED = {"city": ("Lisbon", "100%_Lisbon", "m", "M", "k"), "name": ("ANN", "Ann"), "land": ("USA",)}


class Content:
    """Answers for the database with the values above; a probe finds a NULL, and half as many different as counted.

    No row has 90000.
    """

    def values(self, table: Table, column: str) -> tuple[Any, ...]:
        return VALUES.get(column, ())

    def times(self, table: Table, column: str) -> Times:
        return TIMES.get(column, "")

    def day_form(self, table: Table, column: str) -> str:
        return FORMS.get(column, "")

    def codes(self, _table: Table, _column: str) -> dict[str, str]:
        return {}

    def spellings(self, table: Table, column: str, text: str) -> tuple[str, ...] | None:
        return tuple(stored for stored in STORED.get(column, ()) if stored.lower() == text.lower())

    def rows(self, sql: str) -> tuple[Row, ...] | None:
        if "90000" in sql:
            return ()
        return ((2, 1),) if "COUNT(DISTINCT" in sql else ((None,),)


def schema(dialect: str) -> Schema:
    tables = (("orders", ORDERS), ("customer", CUSTOMER))
    return Schema(
        "shop",
        dialect,
        tuple(
            Table(
                name,
                tuple(
                    Column(column, kind, column == "id", comment=COMMENTS.get(column, ""))
                    for column, kind in columns.items()
                ),
                ("id",),
            )
            for name, columns in tables
        ),
    )


def cases() -> list[Any]:
    blocks = [
        (path.stem, *block.split("\n"))
        for path in sorted(HERE.glob("*.txt"))
        for block in path.read_text(encoding="utf-8").strip().split("\n\n")
    ]
    return [pytest.param(*block, id=f"{block[0]}-{number}") for number, block in enumerate(blocks)]


def rewritten(sql: str, dialect: str, question: str) -> str:
    failed = question.startswith("failed ")
    asked = Asked(Question(question.removeprefix("failed ")), schema(dialect), Content(), failed)
    query = Rewriter(sql, asked)
    for rule in FOR_ERRORS if failed else RULES:
        written = query.rewrite(rule)
        if written is not None and written.change.sure:
            sql = written.sql
            query = Rewriter(sql, asked)
    return sql


@pytest.mark.parametrize(("dialect", "question", "before", "expected"), cases())
def test_pairs(dialect: str, question: str, before: str, expected: str) -> None:
    after = rewritten(before, dialect, question)
    assert after == (before if expected == "-" else expected)
    old, new = read_query(before, dialect), read_query(after, dialect)
    assert old is not None
    assert new is not None
    assert write(new, dialect) == after or expected == "-"
    lost = restrictions(old) - restrictions(new)
    assert not lost, f"{lost} lost"
    assert rewritten(after, dialect, question) == after, "a second time nothing changes"


@pytest.mark.parametrize(("dialect", "question", "sql", "_"), cases())
def test_a_rule_that_does_not_apply_leaves_the_tree_as_it_is(dialect: str, question: str, sql: str, _: str) -> None:
    asked = Asked(
        Question(question.removeprefix("failed ")), schema(dialect), Content(), question.startswith("failed ")
    )
    for rule in RULES:
        tree = read_query(sql, dialect)
        assert tree is not None
        before = repr(tree)
        change = rule(tree, asked)
        assert (change is not None and change.sure) or repr(tree) == before, rule.__name__


@pytest.mark.parametrize(
    ("dialect", "order"),
    [
        ("mysql", "CASE WHEN age IS NULL THEN 1 ELSE 0 END, age ASC"),
        ("sqlite", "age ASC NULLS LAST"),
        ("postgres", "age ASC"),
        ("duckdb", "age ASC"),
    ],
)
def test_the_least_row_of_a_group_is_not_null(dialect: str, order: str) -> None:
    sql = "SELECT city, MIN(age) FROM customer GROUP BY city"
    after = rewritten(sql, dialect, "Who is the youngest customer in each city?")
    assert f"RANK() OVER (PARTITION BY city ORDER BY {order}) AS rank_in_group" in after
    assert after.endswith("AS ranked WHERE rank_in_group = 1")
    assert read_query(after, dialect) is not None


def test_fixed_dates_that_cannot_be_counted_are_doubted() -> None:
    asked = Asked(Question("How many orders were placed this week?"), schema("sqlite"), Content())
    sql = "SELECT COUNT(*) FROM orders WHERE shipped BETWEEN '2023-10-02' AND '2023-10-08'"
    [written] = [one for rule in RULES if (one := Rewriter(sql, asked).rewrite(rule)) is not None]
    assert written.sql == sql
    assert not written.change.sure
    assert written.change.reason.startswith('"this week" is counted from the day')
    assert "2023-10-02" in written.change.reason


def test_a_query_that_cannot_be_written_again_exactly_is_left_alone() -> None:
    asked = Asked(Question("How many orders were placed in the last 30 days?"), schema("mysql"), Content(), failed=True)
    sql = "SELECT COUNT(*) FROM orders WHERE shipped >= DATE('now', '-30 day')"  # the parser drops an argument
    assert all(Rewriter(sql, asked).rewrite(rule) is None for rule in RULES)
    assert Rewriter("SELEC nothing", asked).rewrite(RULES[0]) is None


def test_a_rule_that_fails_leaves_the_query_alone() -> None:
    def fails(tree: exp.Query, asked: Asked) -> Change | None:
        raise OverflowError("date value out of range")

    asked = Asked(Question("How many orders?"), schema("sqlite"), Content())
    assert Rewriter("SELECT COUNT(*) FROM orders", asked).rewrite(fails) is None


def test_rules_after_one_that_applied_or_failed_see_the_query_as_it_was() -> None:
    def spoils(tree: exp.Query, asked: Asked) -> Change | None:
        tree.selects[0].replace(exp.Literal.number(1))
        raise ValueError("in the midst of it")

    def limits(tree: exp.Query, asked: Asked) -> Change | None:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        return Change("for this test")

    asked = Asked(Question("How many orders?"), schema("sqlite"), Content())
    query = Rewriter("SELECT COUNT(*) FROM orders", asked)
    written = [query.rewrite(rule) for rule in (spoils, limits, limits)]
    assert [one and one.sql for one in written] == [None, *["SELECT COUNT(*) FROM orders LIMIT 1"] * 2]


@pytest.mark.parametrize(
    ("question", "span"),
    [
        ("Orders of the last 30 days", Span("rolling", 30, "day", "last 30 days")),
        ("Orders over the past three months", Span("rolling", 3, "month", "past three months")),
        ("Signups in the past year", Span("rolling", 1, "year", "in the past year")),
        ("How many orders this year?", Span("calendar", 0, "year", "this year")),
        ("What was sold yesterday?", Span("calendar", 1, "day", "yesterday")),
        ("Sales of last month", Span("calendar", 1, "month", "last month")),
        ("Revenue year to date", Span("calendar", 0, "year", "year to date")),
        ("Which are the last 3 orders?", None),
        ("How many guests came on the last day?", None),
        ("Who left in the last year of the contract?", None),
        ("Compare this month to last month", None),
        ("What is today's special?", None),
    ],
)
def test_times_counted_from_today(question: str, span: Span | None) -> None:
    assert relative(question) == span


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Orders of last year", ""),
        ("Orders from last month", ""),
        ("Orders placed by Ann last year", ""),
        ("Orders since last year", "since"),
        ("Orders since the beginning of this year", "since"),
        ("Orders from last year on", "since"),
        ("Orders of last year or later", "since"),
        ("Orders before this year", "other"),
        ("Orders up to yesterday", "other"),
        ("Orders after last month's end", "other"),
        ("Orders since the end of last month", "other"),
    ],
)
def test_times_that_begin_or_end_with_one_counted_from_today(question: str, expected: str) -> None:
    span = relative(question)
    assert span is not None
    assert bound(question, span) == expected


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("invoices dated March 2024", Period(2024, 3)),
        ("invoices of march, 2024", Period(2024, 3)),
        ("fees in Sept. of 2024, late or not", Period(2024, 9)),
        ("invoices in 3/2024", Period(2024, 3)),
        ("invoices of 2024-12", Period(2024, 12)),
        ("March 2024: is March 2024 over?", Period(2024, 3)),
        ("more than 5 invoices in 2024", Period(2024, 0)),
        ("invoices of 1 March 2024", None),
        ("invoices of 1. March 2024", None),
        ("invoices of the twenty-first of March 2024", None),
        ("invoices of the last day of March 2024", None),
        ("invoices of March 1, 2024", None),
        ("invoices of March 1st 2024", None),
        ("invoices of 01/03/2024", None),
        ("invoices of 01.03.2024", None),
        ("invoices of 2024-03-01", None),
        ("invoices of 20240301", None),
        ("invoices of March 2024, on the 1st", None),
        ("invoices by March 2024", None),
        ("invoices since March 2024", None),
        ("prices valid in March 2024", None),
        ("invoices of Monday in March 2024", None),
        ("invoices of early 2024", None),
        ("invoices of Q1 2024", None),
        ("invoices of 2023 and 2024", None),
        ("invoices of 2023/2024", None),
        ("invoices of January and March 2024", None),
        ("invoices of $2024", None),
        ("invoices of March", None),
    ],
)
def test_months_and_years_that_a_question_names(question: str, period: Period | None) -> None:
    assert named_period(question) == period


def test_amounts_of_a_question() -> None:
    def given(question: str) -> set[str]:
        return set(map(str, amounts(question)))

    assert given("fees of more than 50 euros") == {"50"}
    assert given("fees between 5 and 1,000.50 EUR") == {"5", "1000.50"}
    assert given("fees of $5 to $7") == {"5", "7"}
    assert given("fees of 5€") == {"5"}
    assert amounts("3 orders of 0.5 dollars") == {Decimal("0.5")}
    assert given("3 orders of 50 cents, 2 dollars in all") == set()
    assert given("2 million dollars, $3 million") == set()
    assert main_unit("the fees in euros")
    assert main_unit("the fees in € for orders of more than 50 euros")
    assert main_unit("How many dollars were paid?")
    assert main_unit("the cost in euros and the overrun in percent")
    assert not main_unit("orders of more than 50 euros")
    assert not main_unit("the fees in euros and cents")
    assert not main_unit("the fees in thousands of euros")
    assert not main_unit("the weight in pounds")
    assert not main_unit("the fees of European orders")


def test_cues() -> None:
    assert ratio("What % of orders is paid?")
    assert ratio("orders per customer")
    assert not ratio("How many orders?")
    assert not ratio("the average number of completed weeks, in full weeks")
    assert ratio("What percentage of orders is completed?")
    assert extreme("the youngest customer")
    assert not extreme("customers by age")


USERS = Table("users", (Column("id"), Column("full_name"), Column("job_title")), ("id",))
TICKETS = Table(
    "tickets",
    (Column("id"), Column("assignee_id"), Column("status")),
    ("id",),
    (ForeignKey(("assignee_id",), "users", ("id",)),),
)
JOINED = "FROM tickets AS t JOIN users AS u ON t.assignee_id = u.id"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Who has more than 3 tickets? Name and number of tickets.",
            f"SELECT t.assignee_id, COUNT(*) {JOINED} GROUP BY t.assignee_id HAVING COUNT(*) > 3",
            f"SELECT u.full_name, COUNT(*) {JOINED} GROUP BY t.assignee_id, u.full_name HAVING COUNT(*) > 3",
        ),
        ("Which ids do the people named there have?", f"SELECT t.assignee_id {JOINED}", "-"),
        ("Name and job of each assignee", f"SELECT t.assignee_id, u.job_title {JOINED}", "-"),
        ("Names of the assignees", "SELECT t.assignee_id FROM tickets AS t", "-"),
        ("The number of the user named Smith", f"SELECT t.assignee_id {JOINED}", "-"),
        ("Names and counts", f"SELECT t.assignee_id, COUNT(*) {JOINED} GROUP BY 1", "-"),
        ("Names", f"SELECT t.assignee_id {JOINED.replace('JOIN', 'LEFT JOIN')} WHERE u.id IS NULL", "-"),
    ],
)
def test_names_in_the_place_of_the_keys_that_lead_to_them(question: str, sql: str, expected: str) -> None:
    asked = Asked(Question(question), Schema("desk", "sqlite", (USERS, TICKETS)), Content())
    written = Rewriter(sql, asked).rewrite(names_for_keys)
    assert (written.sql if written is not None else "-") == expected


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        block.split("\n")
        for block in (HERE / "replaced" / "sqlite.txt").read_text(encoding="utf-8").strip().split("\n\n")
    ],
)
def test_what_takes_the_place_of_a_limit_and_of_distinct(question: str, before: str, expected: str) -> None:
    assert rewritten(before, "sqlite", question) == expected
    assert rewritten(expected, "sqlite", question) == expected, "a second time nothing changes"
