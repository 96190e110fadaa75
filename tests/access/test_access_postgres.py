"""Access rules on a real PostgreSQL whose owner made functions, operators, casts and types that read what is denied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from access_shop import CANARY, leaks
from test_access_attacks import lines

import servers
from servers import Server
from sqljury.access.catalog import Catalog
from sqljury.access.check import Checker, Rules
from sqljury.access.guard import Guarded, guard
from sqljury.access.rules import Access
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import InputError, QueryRefusedError
from sqljury.schema.introspect import introspect
from sqljury.types import Column, Schema, Table

ATTACKS, PLAIN = lines("access_attacks_postgres.sql"), lines("access_plain_postgres.sql")
DENIED = Access(deny=("customer.ssn", "customer.mood", "customer.code", "secret", "parent.pin"))
HIDDEN_VIEWS = ("m_spy", *(f"v_{name}" for name in ("spy", "over", "attr", "op", "cast", "domain", "outer", "from")))


@pytest.fixture(scope="module")
def server(postgres_server: Server) -> Server:
    script = (Path(__file__).parent / "access_shop_postgres.sql").read_text(encoding="utf-8")
    servers.in_postgres(postgres_server, "postgres", "CREATE DATABASE access")
    servers.in_postgres(postgres_server, "access", script)
    return postgres_server


@pytest.fixture(scope="module")
def db(server: Server) -> Iterator[Database]:
    with connect(servers.postgres_url(server, "access", "access_reader", "access-pass")) as opened:
        yield opened


@pytest.fixture(scope="module")
def guarded(db: Database) -> Guarded:
    return rules(db, DENIED)


def rules(db: Database, access: Access) -> Guarded:
    found = guard(db, introspect(db), access)
    assert isinstance(found, Guarded)
    return found


def columns(guarded: Guarded) -> dict[str, list[str]]:
    return {table.name: [column.name for column in table.columns] for table in guarded.schema.tables}


@pytest.mark.parametrize("sql", ATTACKS)
def test_an_attack_is_refused(guarded: Database, sql: str) -> None:
    result = guarded.execute(sql)
    assert str(result.error or "").startswith("refused: "), result
    assert not leaks(str(result.error)) or CANARY in sql


def test_most_attacks_show_something_denied_without_rules(db: Database) -> None:
    assert len(set(ATTACKS)) >= 120
    assert sum(leaks(str(db.execute(sql).rows).replace("Canary", CANARY)) for sql in ATTACKS) >= 70


@pytest.mark.parametrize("sql", PLAIN)
def test_an_ordinary_query_gives_what_it_gives_without_rules(db: Database, guarded: Database, sql: str) -> None:
    expected, result = db.execute(sql), guarded.execute(sql)
    assert expected.error is None
    assert (result.error, result.columns, result.rows) == (None, expected.columns, expected.rows)
    assert not leaks(result)


def test_views_that_run_code_of_the_owner_are_hidden(guarded: Guarded) -> None:
    shown = columns(guarded)
    assert not {"v_names", "v_xml", *HIDDEN_VIEWS} & shown.keys()
    assert {"v_plain", "m_plain"} <= shown.keys()
    assert shown["gen"] == ["id"]  # the other column is made by such code


def test_a_view_that_runs_code_of_the_owner_is_masked(db: Database) -> None:
    found = rules(db, Access(mask=("customer.ssn",)))
    assert all(found.masked(view, "n") for view in HIDDEN_VIEWS)
    assert not found.masked("m_plain", "n")


@pytest.mark.parametrize(
    ("deny", "measure", "parent", "child"),
    [
        ("measure", None, "id note pin", "id note pin extra"),
        ("measure_2024", None, "id note pin", "id note pin extra"),
        ("hr.measure_2025", None, "id note pin", "id note pin extra"),
        ("hr.*", None, "id note pin", "id note pin extra"),
        ("measure_2024.value", ["day"], "id note pin", "id note pin extra"),
        ("parent.pin", ["day", "value"], "id note", "id note extra"),
        ("child.pin", ["day", "value"], "id note", "id note extra"),
        ("child.extra", ["day", "value"], "id note pin", "id note pin"),
        ("child", ["day", "value"], None, None),
    ],
)
def test_what_is_denied_of_a_partition_is_denied_of_its_parent_and_the_reverse(
    db: Database, deny: str, measure: list[str] | None, parent: str | None, child: str | None
) -> None:
    found = rules(db, Access(deny=(deny,)))
    shown = columns(found)
    assert shown.get("measure") == measure
    assert shown.get("parent") == (parent.split() if parent else None)
    assert shown.get("child") == (child.split() if child else None)
    for sql in ("SELECT value FROM measure_2024", "SELECT value FROM hr.measure_2025", "SELECT 1 FROM ONLY parent"):
        assert str(found.execute(sql).error or "").startswith("refused: ")


def test_denying_a_table_and_its_partitions_by_name_works(db: Database) -> None:
    found = rules(db, Access(deny=("measure", "measure_2024", "hr.measure_2025")))
    assert "measure" not in columns(found)
    assert rules(db, Access(mask=("measure_2024.value",))).masked("measure", "value")
    with pytest.raises(InputError, match="matches no table"):
        rules(db, Access(allow=("measure_2024",)))


def test_the_schema_that_names_are_looked_up_in_is_the_servers(server: Server) -> None:
    """Or ``public.customer`` would be read by the rules of another schema's table."""
    script = "CREATE SCHEMA app; CREATE VIEW app.customer AS SELECT id, name FROM public.customer;"
    tables = "CREATE TABLE app.note (a int); CREATE TABLE app.pet (a int);"
    grants = "GRANT USAGE ON SCHEMA app TO app_reader; GRANT SELECT ON ALL TABLES IN SCHEMA app, public TO app_reader;"
    role = "CREATE ROLE app_reader LOGIN PASSWORD 'app'; ALTER ROLE app_reader SET search_path = app, public;"
    servers.in_postgres(server, "access", f"{script} {tables} {role} {grants}")
    with connect(servers.postgres_url(server, "access", "app_reader", "app")) as opened:
        assert opened.schemas == ("app", "public")  # both have tables
        found = rules(opened, Access(deny=("note", "public.customer")))
        for sql in ("SELECT id FROM public.customer", "SELECT ssn FROM public.customer", "SELECT id FROM customer"):
            assert str(found.execute(sql).error or "").startswith("refused: ")
    with connect(servers.postgres_url(server, "access", "app_reader", "app"), ("app",)) as opened:
        found = rules(opened, Access(deny=("note",)))
        for sql in ("SELECT id FROM public.customer", "SELECT ssn FROM public.customer"):
            assert str(found.execute(sql).error or "").startswith("refused: ")


def test_functions_that_stand_before_built_in_ones_are_not_called(server: Server) -> None:
    script = """
        CREATE SCHEMA front; CREATE FUNCTION front.length(text) RETURNS text LANGUAGE sql STABLE AS
            'SELECT max(ssn) FROM public.customer';
        CREATE ROLE front_reader LOGIN PASSWORD 'front'; GRANT USAGE ON SCHEMA front, public TO front_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA public TO front_reader;
        ALTER ROLE front_reader SET search_path = front, public, pg_catalog;
        CREATE FUNCTION pg_catalog.reverse(text, text) RETURNS text LANGUAGE sql STABLE AS
            'SELECT max(ssn) FROM public.customer';
    """
    servers.in_postgres(server, "access", script)
    with connect(servers.postgres_url(server, "access", "front_reader", "front"), ("public",)) as opened:
        found = rules(opened, DENIED)
        for sql in ("SELECT length(note) FROM orders", "SELECT reverse(note, 'x') FROM orders"):
            result = found.execute(sql)
            assert not leaks(result.rows)
            assert result.ok or str(result.error or "").startswith("refused: ")
        assert found.execute("SELECT reverse(name) FROM customer WHERE id = 1").rows == (("nnA",),)
    with connect(servers.postgres_url(server, "access", "front_reader", "front")) as opened:
        assert CANARY in str(opened.execute("SELECT length('x')").rows)


@pytest.mark.parametrize(
    ("condition", "operator"),
    [
        *(("id = name", "="), ("id IN (name)", "="), ("id NOT IN (SELECT name FROM pet)", "="), ("id IN (7)", "=")),
        *(
            ("id IS NOT DISTINCT FROM name", "="),
            ("CASE id WHEN name THEN true END", "="),
            ("nullif(id, name) = 1", "="),
        ),
        *(("id LIKE name", "~~"), ("id NOT LIKE 'x' ESCAPE '!'", "!~~"), ("id ILIKE name", "~~*")),
        *(("id SIMILAR TO name", "~"), ("id BETWEEN name AND name", ">="), ("id NOT BETWEEN name AND name", ">")),
        *(("id != name", "<>"), ("id +@ name", "+@"), ("id !~ name", "!~"), ("(id)=@name", "=@")),
    ],
)
def test_an_operator_of_the_owner_is_not_run_by_a_keyword(server: Server, condition: str, operator: str) -> None:
    """PostgreSQL looks up ``=`` for IN, and so on, and takes the owner's if its types fit better."""
    script = f"""
        CREATE SCHEMA word; CREATE TABLE word.pet (id int, name text); INSERT INTO word.pet VALUES (1, 'x');
        CREATE FUNCTION word.leak(int, text) RETURNS boolean LANGUAGE sql STABLE
            AS 'SELECT EXISTS (SELECT 1 FROM public.secret)';
        CREATE OPERATOR word.{operator} (LEFTARG = int, RIGHTARG = text, FUNCTION = word.leak);
    """
    servers.in_postgres(server, "access", script)
    try:
        with connect(servers.postgres_url(server, "access"), ("word",)) as opened:
            found = rules(opened, Access(allow=("pet",)))
            result = found.execute(f"SELECT id FROM pet WHERE {condition}")
            assert f"an operator {operator} was made" in str(result.error), result
            plain = "SELECT DISTINCT id, CASE WHEN name IS NULL THEN 1 END AS n, '= ~~ IN' AS t FROM pet"
            assert found.execute(plain).rows == ((1, None, "= ~~ IN"),)
    finally:
        servers.in_postgres(server, "access", "DROP SCHEMA word CASCADE")


@pytest.mark.parametrize("join", ["JOIN pet p USING (id)", "NATURAL JOIN (SELECT id FROM pet) p"])
def test_a_join_by_names_runs_no_operator_of_the_owner(join: str) -> None:
    schema = Schema("shop", "postgres", tuple(Table(name, (Column("id"),)) for name in ("customer", "pet")))
    sql = f"SELECT customer.id FROM customer {join}"
    Checker(Rules(schema, {"customer": ["id"], "pet": ["id"]}, "public")).check(sql)
    catalog = Catalog(operators=frozenset({"="}))
    with pytest.raises(QueryRefusedError, match="an operator = was made"):
        Checker(Rules(schema, {"customer": ["id"], "pet": ["id"]}, "public", catalog)).check(sql)
