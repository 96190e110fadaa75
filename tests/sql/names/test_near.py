from __future__ import annotations

import pytest

from sqljury.sql.names.near import after_table, is_name_of, near_columns, near_tables
from sqljury.types import Column, ForeignKey, Schema, Table


def table(name: str, columns: str, *keys: ForeignKey) -> Table:
    return Table(name, tuple(map(Column, columns.split())), foreign_keys=keys)


PAPER = table("papers", "paper_id title page_count venue_name", ForeignKey(("home",), "university", ("uid",)))
LOG = table(
    "problem_log", "problem_log_id log_entry_fix log_entry_date Destroyed_by_Employee_ID PROF_OFFICE DPhone month"
)


@pytest.mark.parametrize(
    ("name", "table", "wanted"),
    [
        ("titel", PAPER, ["title"]),
        ("pid", PAPER, ["paper_id"]),
        ("id", PAPER, ["paper_id"]),
        ("papers_title", PAPER, ["title"]),
        ("vname", PAPER, ["venue_name"]),
        ("university_id", PAPER, ["home"]),
        ("log_entry_id", LOG, ["problem_log_id"]),
        ("employee_id", LOG, ["Destroyed_by_Employee_ID"]),
        ("emp_office", LOG, ["PROF_OFFICE"]),
        ("phone", LOG, ["DPhone"]),
        ("month_name", LOG, ["month"]),
        ("last_name", table("owner", "owner_id first_name"), []),
        ("start_date", table("stay", "stay_id end_date"), []),
        ("customer_name", table("orders", "order_id customer_id"), []),
        ("", PAPER, []),
        ("zz", table("empty", ""), []),
    ],
)
def test_columns(name: str, table: Table, wanted: list[str]) -> None:
    assert [near.column for near in near_columns(name, table)][:1] == wanted


def test_the_question_prefers_a_column_with_its_words() -> None:
    moves = table("moves", "no made_by_employee_id sent_by_employee_id")
    for word in ("made", "sent"):
        best = near_columns("employee_id", moves, f"Who {word} them?")[0]
        assert best.column == f"{word}_by_employee_id"


def test_names_that_begin_with_a_table_or_an_alias() -> None:
    airline = table("airlines", "id name")
    assert after_table("airline_name", "a", airline) == "name"
    assert after_table("airlinesName", "a", airline) == "name"
    assert after_table("T2name", "T2", airline) == "name"
    assert after_table("T2_country", "T2", airline) is None
    assert after_table("plan_name", "T2", table("billing_plan", "id name")) == "name"
    assert after_table("product_id", "T2", table("order_product", "id order_id prod_id qty")) is None


def test_tables() -> None:
    schema = Schema("s", "sqlite", (table("Problem_Log", "id"), table("enroll", "id"), table("film_text", "id")))
    assert near_tables("problem_logs", schema) == ["Problem_Log"]
    assert near_tables("enrollment", schema) == ["enroll"]
    assert near_tables("film", schema) == ["film_text"]
    assert near_tables("warehouse", schema) == []
    apps = Schema("s", "sqlite", (table("accounts_team", "id"), table("accounts_team_members", "id")))
    assert near_tables("tickets_team", apps) == ["accounts_team"]
    assert near_tables("room_type", Schema("s", "sqlite", (table("payment_type", "id name"),))) == []


@pytest.mark.parametrize(
    ("column", "thing", "named"),
    [
        ("country_code", "countries", True),
        ("countryISO", "country", True),
        ("product_desc", "product", True),
        ("country", "country", False),
        ("home_country_code", "country", False),
        ("country_id", "country", False),
    ],
)
def test_a_column_with_the_name_or_code_of_a_thing(column: str, thing: str, named: bool) -> None:
    assert is_name_of(column, thing) is named
