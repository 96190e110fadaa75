"""Names of tables and columns as far as keys are told by them."""

from __future__ import annotations

from sqljury.keys.names import Entity, entities, relation, without_namespaces
from sqljury.types import Column, Schema, Table

TICKET = Entity(("ticket",))
EMPLOYEE = Entity(("employee",), persons=True)


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
    assert relation("ticket_id", entities(schema(framework))["tickets_ticket"], "id") == "owner"


def test_a_first_word_that_belongs_to_the_name_stays() -> None:
    orders = {"orders": "id", "order_items": "order_id", "order_notes": "order_id"}
    assert set(without_namespaces(schema(orders)).values()) == set(orders)
    regular = {"regular_orders": "regular_order_id", "regular_order_items": "regular_order_id item_id"}
    assert set(without_namespaces(schema(regular)).values()) == set(regular)
    users = {"user_profile": "user_id bio", "user_session": "id user_id", "account": "id user_id"}
    assert set(without_namespaces(schema(users)).values()) == set(users)


def test_a_row_that_another_row_was_merged_into() -> None:
    assert relation("merged_into_id", TICKET, "id", within=TICKET, identifies=True) == "parent"
    assert relation("replaces_id", TICKET, "id", within=TICKET, identifies=True) == "parent"


def test_a_column_called_like_the_key_of_its_own_table_in_a_role_is_another_row() -> None:
    assert relation("mgr_emp_no", Entity(("emp",)), "emp_no", within=Entity(("emp",)), identifies=True) == "role"
    own = Entity(("emp",))
    assert relation("mgr_emp_no", own, "emp_no", within=own, identifies=True) == "parent"
    assert relation("corrects_ticket", TICKET, "id", within=TICKET, identifies=True) == "parent"


def test_a_role_is_of_persons_and_in_a_table_of_other_things_no_row_of_it() -> None:
    assert relation("assignee_id", EMPLOYEE, "id", identifies=True) == "person"
    assert relation("approved_by", EMPLOYEE, "id", identifies=True) == "person"
    assert relation("assignee_id", TICKET, "id", within=TICKET, identifies=True) == ""
    assert relation("manager_id", EMPLOYEE, "id", within=EMPLOYEE, identifies=True) == "person"


def test_suppliers_may_be_among_all_partners() -> None:
    assert relation("supplier_id", Entity(("partner",)), "id", identifies=True) == "person"
    assert relation("approved_by", Entity(("partner",)), "id", identifies=True) == ""


def test_a_table_of_persons_is_told_by_its_columns() -> None:
    tables = {
        "wrk_mst": "wrk_no fst_nm lst_nm hall",
        "patient": "Id FirstName LastName",
        "pupils": "id date_of_birth",
        "users": "id email",
        "team_members": "id team_id user_id",
        "firms": "id name city",
    }
    persons = [name for name, entity in entities(schema(tables)).items() if entity.persons]
    assert persons == ["wrk_mst", "patient", "pupils", "users"]


def test_a_word_that_is_the_name_of_a_table_means_no_other() -> None:
    both = entities(schema({"ward": "id name", "ward_stay": "id ward_id", "nurse": "id home_ward_id"}))
    assert relation("home_ward_id", both["ward"], "id", within=both["nurse"], identifies=True) == "role"
    assert relation("home_ward_id", both["ward_stay"], "id", within=both["nurse"], identifies=True) == ""


def test_the_last_word_of_one_tables_name_is_enough() -> None:
    tables = entities(schema({"customer_order": "id", "payment": "id order_id", "status_change": "id"}))
    assert relation("order_id", tables["customer_order"], "id", within=tables["payment"], identifies=True) == "owner"
    assert relation("status_id", tables["status_change"], "id", within=tables["payment"], identifies=True) == "part"


def test_a_measure_abbreviates_no_table() -> None:
    assert relation("discount_pct", Entity(("product",)), "id", identifies=True) == ""
    assert relation("feedback_score", Entity(("scholarship",)), "id", identifies=True) == ""
    assert relation("dept", Entity(("department",)), "id", identifies=True) == "abbreviation"


def test_equal_times_of_creation_relate_nothing() -> None:
    assert relation("created_at", TICKET, "created_at", within=EMPLOYEE) == ""


def test_a_number_of_things_is_none_of_them() -> None:
    assert relation("max_guests", Entity(("guest",), persons=True), "id", identifies=True) == ""
    assert relation("number_of_rooms", Entity(("room",)), "id", identifies=True) == ""
    assert relation("max_guest_id", Entity(("guest",), persons=True), "id", identifies=True) == "role"
    assert relation("host_guest", Entity(("guest",), persons=True), "id", identifies=True) == "role entity"


def test_letters_of_several_words_abbreviate_no_table_without_an_identifier() -> None:
    members = Entity(("staff", "member"), persons=True)
    assert relation("stars", members, "id", identifies=True) == ""
    assert relation("stfmbr_id", members, "id", identifies=True) == "abbreviation"
    assert relation("staff", members, "id", identifies=True) != ""
