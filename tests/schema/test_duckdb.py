from __future__ import annotations

import time
from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.db.readonly import check
from sqljury.db.schemas import MAX_SCHEMAS
from sqljury.errors import EmptyDatabaseError
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.schema.samples import sample
from sqljury.sql.text import RESERVED, quote_name
from sqljury.types import Column, ForeignKey, Table

duckdb = pytest.importorskip("duckdb")

NASTY = """
CREATE TYPE mood AS ENUM ('happy', 'it''s ok', 'a, b)');
CREATE TABLE Author (id INTEGER PRIMARY KEY, "full name" VARCHAR NOT NULL, mail TEXT UNIQUE, größe REAL, m mood);
CREATE TABLE book (isbn TEXT, author INT REFERENCES AUTHOR (ID), "order" INT, price DECIMAL(10, 2),
    net DECIMAL(12, 4) GENERATED ALWAYS AS (price / 2), UNIQUE (isbn, author), CHECK (price > 0));
CREATE TABLE edition (isbn TEXT, number INT, PRIMARY KEY (number, isbn));
CREATE TABLE copy (shelf INT, isbn TEXT, number INT, "odd, name" INT, FOREIGN KEY (number, isbn) REFERENCES edition);
CREATE UNIQUE INDEX copy_whole ON copy (shelf);
CREATE UNIQUE INDEX copy_odd ON copy ("odd, name");
CREATE UNIQUE INDEX copy_expression ON copy (lower(isbn));
CREATE INDEX copy_plain ON copy (isbn);
CREATE TABLE "odd ""name"" */ x" ("a""b" INT, "select" TEXT);
CREATE TABLE node (id INT PRIMARY KEY, parent INT REFERENCES node);
CREATE VIEW cheap AS SELECT isbn, price * 2 AS double FROM book WHERE price < 9;
CREATE TABLE gone (a INT); CREATE VIEW broken AS SELECT a FROM gone; DROP TABLE gone;
CREATE VIEW outside AS SELECT 1 AS a;
CREATE SCHEMA "Second Hand"; CREATE TABLE "Second Hand".book (id INT PRIMARY KEY);
CREATE TABLE "Second Hand".sale (book INT REFERENCES "Second Hand".book (id));
COMMENT ON TABLE book IS 'all books'; COMMENT ON COLUMN book.price IS 'in euro'; COMMENT ON VIEW cheap IS 'cheap';
INSERT INTO Author VALUES (1, 'Ann', 'a@x', 1.5, 'happy');
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schema") / "nasty.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(NASTY)
    return path


@pytest.fixture(scope="module")
def tables(path: Path) -> dict[str, Table]:
    with connect(path) as db:
        return {table.name: table for table in introspect(db).tables}


def test_what_is_listed(path: Path, tables: dict[str, Table]) -> None:
    expected = {"Author", "book", "edition", "copy", 'odd "name" */ x', "node", "cheap", "outside"}
    assert set(tables) == expected
    assert {name for name, table in tables.items() if table.kind == "view"} == {"cheap", "outside"}
    with connect(path) as db:
        schema = introspect(db)
        assert (schema.name, schema.dialect) == ("nasty", "duckdb")
        assert introspect(db) == schema


def test_columns(tables: dict[str, Table]) -> None:
    assert tables["Author"].columns == (
        Column("id", "INTEGER", not_null=True, unique=True),
        Column("full name", "VARCHAR", not_null=True),
        Column("mail", "VARCHAR", unique=True),
        Column("größe", "FLOAT"),
        Column("m", "ENUM", values=("happy", "it's ok", "a, b)")),
    )
    book = {column.name: column for column in tables["book"].columns}
    assert book["price"] == Column("price", "DECIMAL(10,2)", comment="in euro")
    assert book["net"].generated
    assert [column.name for column in tables['odd "name" */ x'].columns] == ['a"b', "select"]


def test_keys(tables: dict[str, Table]) -> None:
    assert tables["Author"].primary_key == ("id",)
    assert tables["edition"].primary_key == ("number", "isbn")
    assert tables["book"].primary_key == ()
    assert tables["book"].unique_keys == (("isbn", "author"),)
    assert tables["book"].comment == "all books"
    assert ("shelf",) in tables["copy"].unique_keys
    assert [column.name for column in tables["copy"].columns if column.unique] in (["shelf"], ["shelf", "odd, name"])
    assert tables["book"].foreign_keys == (ForeignKey(("author",), "Author", ("id",)),)
    assert tables["copy"].foreign_keys == (ForeignKey(("number", "isbn"), "edition", ("number", "isbn")),)
    assert tables["node"].foreign_keys == (ForeignKey(("parent",), "node", ("id",)),)


def test_views(tables: dict[str, Table]) -> None:
    assert tables["cheap"].comment == "cheap"
    assert tables["cheap"].definition.startswith("CREATE VIEW cheap AS SELECT")
    assert [column.name for column in tables["cheap"].columns] == ["isbn", "double"]


def test_schemas(path: Path) -> None:
    with connect(path, ["Second Hand"]) as db:
        names = {table.name: table for table in introspect(db).tables}
        assert set(names) == {"book", "sale"}
        assert names["sale"].foreign_keys == (ForeignKey(("book",), "book", ("id",)),)
        assert db.execute("SELECT * FROM book").columns == ("id",)
    with connect(path, ["main", "Second Hand"]) as db:
        names = {table.name: table for table in introspect(db).tables}
        sale = names["Second Hand.sale"]
        assert sale.schema == "Second Hand"
        assert sale.foreign_keys == (ForeignKey(("book",), "Second Hand.book", ("id",), "Second Hand"),)
        assert names["book"].schema == ""


def test_what_the_model_sees_can_be_queried(path: Path) -> None:
    with connect(path, ["main", "Second Hand"]) as db:
        schema = introspect(db)
        samples = sample(db, schema, views=True)
        assert [result.error for result in samples.values()] == [None] * len(schema.tables)
        assert '"Second Hand".book' in render(schema, samples)


def test_a_database_without_tables(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "e.duckdb")).close()
    with connect(tmp_path / "e.duckdb") as db, pytest.raises(EmptyDatabaseError, match="has no table"):
        introspect(db)


def test_tables_in_other_schemas_are_told_of(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "e.duckdb")) as db:
        many = [f"CREATE SCHEMA s{number}; CREATE TABLE s{number}.t (a INT);" for number in range(MAX_SCHEMAS + 1)]
        db.execute(f"CREATE SCHEMA bare; {''.join(many)}")
    for schemas, where in (((), "its default schema"), (("bare",), "schema bare")):
        with connect(tmp_path / "e.duckdb", schemas) as db, pytest.raises(EmptyDatabaseError) as caught:
            introspect(db)
        assert f"in {where}; choose a schema that has some with --schema: s0, s1, " in str(caught.value)


def test_a_thousand_tables_take_seconds_at_most(tmp_path: Path) -> None:
    path = tmp_path / "wide.duckdb"
    columns = ", ".join(f"c{number} TEXT" for number in range(19))
    with duckdb.connect(str(path)) as connection:
        connection.execute("BEGIN")
        for number in range(1000):
            connection.execute(f"CREATE TABLE t{number} (id INTEGER, {columns})")
        connection.execute("COMMIT")
    start = time.perf_counter()
    with connect(path) as db:
        assert sum(len(table.columns) for table in introspect(db).tables) == 20_000
    assert time.perf_counter() - start < 10


def test_every_keyword_works_as_a_name_once_written_by_quote_name() -> None:
    with duckdb.connect() as connection:
        words = {row[0] for row in connection.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()}
        connection.execute("CREATE TABLE u (b INT); INSERT INTO u VALUES (1)")
        for word in sorted(words | RESERVED):
            name = quote_name(word, "duckdb")
            connection.execute(f'CREATE TABLE "{word}" ("{word}" INT, b INT); INSERT INTO "{word}" VALUES (5, 1)')
            sql = f"SELECT {name}, t.{name} FROM {name} AS t WHERE {name} = 5 GROUP BY {name} ORDER BY {name} DESC"
            for query, expected in ((sql, (5, 5)), (f"SELECT {name} FROM {name} JOIN u ON {name}.b = u.b", (5,))):
                check(query, "duckdb")
                assert connection.execute(query).fetchall() == [expected], query
            connection.execute(f'DROP TABLE "{word}"')
