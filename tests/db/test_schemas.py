"""Schemas that nobody named: which are asked about, and that queries on them run, on every engine that has schemas."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import servers
from servers import Server
from sqljury import FakeModel, ask, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.schemas import MAX_SCHEMAS, MAX_TABLES, Listed, SchemaWarning, choose
from sqljury.errors import DatabaseNotFoundError, InputError
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.sql.names.bind import rebindings
from sqljury.sql.parse import exp, parse_one
from sqljury.sql.resolve import find_table


@contextmanager
def warned() -> Iterator[list[str]]:
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield texts
    texts += [str(one.message) for one in found if issubclass(one.category, SchemaWarning)]


@pytest.mark.parametrize(
    ("path", "others", "chosen"),
    [
        ([("public", 3)], [("sales", 2)], ()),  # the default one has tables
        ([("me", 0), ("public", 3)], [("sales", 2)], ("public",)),
        ([("sales", 1), ("empty", 0), ("public", 3)], [], ("sales", "public")),
        ([("public", 0)], [], ()),
        ([("public", 0)], [("sales", 1000)], ("sales",)),
        ([], [("a", 1), ("b", 2)], ("a", "b")),
        ([("public", 0)], [(f"s{number}", 1) for number in range(MAX_SCHEMAS + 1)], ()),
        ([("public", 0)], [("a", MAX_TABLES), ("b", 1)], ()),
    ],
)
def test_which_are_chosen(path: Listed, others: Listed, chosen: tuple[str, ...]) -> None:
    with warned() as texts:
        assert choose("x://y", path, lambda: others) == chosen
    beside_the_path = bool(chosen) and not any(tables for _, tables in path)
    assert len(texts) == beside_the_path


PREPARE = """
CREATE SCHEMA trade; CREATE SCHEMA archive;
CREATE TABLE trade.customer (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE trade.orders (id INT PRIMARY KEY, customer_id INT REFERENCES trade.customer (id), total INT);
CREATE TABLE archive.orders (id INT PRIMARY KEY, total INT, closed_on DATE);
INSERT INTO trade.customer VALUES (1, 'Ada'); INSERT INTO trade.orders VALUES (1, 1, 20), (2, 1, 30);
INSERT INTO archive.orders VALUES (7, 5, '2020-01-01');
"""


@pytest.fixture(params=["postgresql", "duckdb", "mariadb"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database that has no table in its default schema, and tables of one name in two others."""
    if request.param == "duckdb":
        import duckdb

        with duckdb.connect(str(tmp_path / "two.duckdb")) as connection:
            connection.execute(PREPARE)
        yield str(tmp_path / "two.duckdb")
    elif request.param == "postgresql":
        server: Server = request.getfixturevalue("postgres_server")
        servers.in_postgres(server, "postgres", "DROP DATABASE IF EXISTS two", "CREATE DATABASE two")
        servers.in_postgres(server, "two", PREPARE)
        yield servers.postgres_url(server, "two")
    else:
        server = request.getfixturevalue("mariadb_server")
        names = ("archive", "trade")
        statements = PREPARE.replace("CREATE SCHEMA", "CREATE DATABASE").strip().split(";")[:-1]
        drop = [f"DROP DATABASE IF EXISTS {name}" for name in reversed(names)]
        rights = ["DROP USER IF EXISTS two_reader", "CREATE USER two_reader IDENTIFIED BY 'two'"]
        rights += [f"GRANT SELECT ON {name}.* TO two_reader" for name in names]
        servers.in_mariadb(server, *drop, *statements, *rights)
        yield servers.mysql_url(server, "", "two_reader", "two")
        servers.in_mariadb(server, *drop)


def test_tables_of_one_name_are_found_and_told_apart(two: str) -> None:
    with warned() as texts, connect(two) as db:
        assert db.schemas == ("archive", "trade")
        schema = introspect(db)
        assert {table.name for table in schema.tables} == {"orders", "trade.customer", "trade.orders"}
        for form in ("ddl", "compact", "mschema"):
            text = render(schema, form=form)  # type: ignore[arg-type]
            assert "archive.orders" in text
            assert "trade.orders" in text
        assert "REFERENCES trade.customer(id)" in render(schema)
        totals = [("orders", 5), ("archive.orders", 5), ("trade.orders", 50)]
        assert [db.execute(f"SELECT sum(total) FROM {name}").rows[0][0] for name, _ in totals] == [5, 5, 50]
    [text] = texts
    assert "asking about archive (1 table), trade (2 tables); --schema names others" in text
    assert servers.ADMIN_PASSWORD not in text


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT sum(total) FROM trade.orders", [(50,)]),
        ("SELECT sum(total) FROM archive.orders", [(5,)]),
        ("SELECT name FROM customer", [("Ada",)]),  # without its schema
        (
            "SELECT customer.name FROM customer JOIN trade.orders ON orders.customer_id = customer.id LIMIT 1",
            [("Ada",)],
        ),
    ],
)
def test_answers(two: str, sql: str, rows: list[tuple[object, ...]]) -> None:
    model = FakeModel(sql)
    answer = ask("How much?", two, recipe="fast", model=model)
    assert [tuple(row) for row in answer.rows] == rows


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_access_rules_reach_the_other_schemas(two: str) -> None:
    with connect(two) as db:
        guarded = guard(db, introspect(db), Access(deny=("trade.orders.total", "trade.customer")))
        assert {table.name for table in introspect(guarded).tables} == {"orders", "trade.orders"}
        assert guarded.execute("SELECT id FROM trade.orders").ok
        assert guarded.execute("SELECT total FROM archive.orders").ok
        for sql in (
            "SELECT total FROM trade.orders",
            "SELECT name FROM trade.customer",
            "SELECT name FROM customer",
            "SELECT * FROM trade.orders",
        ):
            assert guarded.execute(sql).error_kind == "refused", sql
        bare = guard(db, introspect(db), Access(deny=("trade.orders",)))
        assert not bare.execute(
            "SELECT name FROM customer"
        ).ok  # a name without its schema is not followed: fails closed
        [repaired] = rebindings("SELECT customer.name FROM customer", introspect(bare))
        assert bare.execute(repaired).rows == (("Ada",),)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_mean_what_the_engine_takes_them_for(two: str) -> None:
    with connect(two) as db:
        schema = introspect(db)

    def meant(name: str) -> str:
        node = parse_one(f"SELECT 1 FROM {name}", schema.dialect).find(exp.Table)
        table = find_table(schema, node)
        return "" if table is None else table.name

    names = ("orders", "archive.orders", "trade.orders", "customer", "trade.customer", "nothing")
    assert list(map(meant, names)) == ["orders", "orders", "trade.orders", "trade.customer", "trade.customer", ""]
    assert rebindings("SELECT customer.name FROM trade.customer", schema) == []  # nothing is wrong with it
    assert rebindings("SELECT id FROM archive.orders", schema) == []


def test_the_search_path_of_a_role(postgres_server: Server) -> None:
    servers.in_postgres(postgres_server, "postgres", "DROP DATABASE IF EXISTS led", "CREATE DATABASE led")
    script = f"""{PREPARE} CREATE TABLE public.note (id INT); CREATE SCHEMA bare;
        DROP ROLE IF EXISTS led; CREATE ROLE led LOGIN PASSWORD 'led';
        GRANT USAGE ON SCHEMA trade, archive, bare TO led;
        GRANT SELECT ON ALL TABLES IN SCHEMA trade, public TO led;
        ALTER ROLE led SET search_path = bare, trade, public, pg_catalog"""
    servers.in_postgres(postgres_server, "led", script)
    with warned() as texts, connect(servers.postgres_url(postgres_server, "led", "led", "led")) as db:
        assert db.schemas == ("trade", "public")  # the first that has tables is the default one
        assert [table.name for table in introspect(db).tables] == ["customer", "orders", "public.note"]
        assert db.execute("SELECT customer.name FROM customer, note").ok
    assert texts == []
    with connect(servers.postgres_url(postgres_server, "led", "led", "led"), ("public",)) as db:
        assert [table.name for table in introspect(db).tables] == ["note"]


def test_a_server_without_a_database_to_choose(mariadb_server: Server) -> None:
    many = [f"many_{number}" for number in range(MAX_SCHEMAS + 1)]
    made = [text for name in many for text in (f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (a INT)")]
    servers.in_mariadb(mariadb_server, *made)
    with pytest.raises(DatabaseNotFoundError, match=r"names no database, and there are .*many_0.*; write mysql://"):
        connect(servers.mysql_url(mariadb_server, ""))
    servers.in_mariadb(mariadb_server, *(f"DROP DATABASE {name}" for name in many))


def test_a_table_that_is_allowed_without_its_schema_is_one_of_the_default_schema(two: str) -> None:
    with warned(), connect(two) as db, pytest.raises(InputError, match="leave no table"):
        introspect(guard(db, introspect(db), Access(allow=("customer",))))
