"""Names of tables and columns as far as keys are told by them."""

from __future__ import annotations

from sqljury.keys.names import relation, without_namespaces
from sqljury.types import Column, Schema, Table


def schema(tables: dict[str, str]) -> Schema:
    return Schema(
        "s", "sqlite", tuple(Table(name, tuple(map(Column, columns.split()))) for name, columns in tables.items())
    )


def test_the_name_of_an_application_is_no_part_of_a_tables_name() -> None:
    framework = {"tickets_ticket": "id", "tickets_ticket_tags": "id ticket_id tag_id", "tickets_tag": "id"}
    called = without_namespaces(schema({**framework, "billing_plan": "id"}))
    assert called == {
        "tickets_ticket": "ticket",
        "tickets_ticket_tags": "ticket_tag",
        "tickets_tag": "tag",
        "billing_plan": "billing_plan",  # nothing tells that it is an application's
    }
    assert relation("ticket_id", called["tickets_ticket"], "id") == "owner"


def test_a_first_word_that_belongs_to_the_name_stays() -> None:
    orders = {"orders": "id", "order_items": "order_id", "order_notes": "order_id"}
    assert set(without_namespaces(schema(orders)).values()) == set(orders)
    regular = {"regular_orders": "regular_order_id", "regular_order_items": "regular_order_id item_id"}
    assert set(without_namespaces(schema(regular)).values()) == set(regular)
    users = {"user_profile": "user_id bio", "user_session": "id user_id", "account": "id user_id"}
    assert set(without_namespaces(schema(users)).values()) == set(users)


def test_a_row_that_another_row_was_merged_into() -> None:
    assert relation("merged_into_id", "ticket", "id", same_table=True, identifies=True) == "parent"


def test_a_role_is_of_persons_and_in_a_table_of_other_things_no_row_of_it() -> None:
    assert relation("assignee_id", "user", "id", identifies=True) == "person"
    assert relation("assignee_id", "ticket", "id", same_table=True, identifies=True) == ""
    assert relation("manager_id", "employee", "id", same_table=True, identifies=True) == "parent"
