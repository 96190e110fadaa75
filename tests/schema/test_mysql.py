from __future__ import annotations

from collections.abc import Iterator

import pytest
from server_schemas import MYSQL

import servers
from servers import Server
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.db.readonly import check
from sqljury.errors import DatabaseError, DatabaseNotFoundError, EmptyDatabaseError
from sqljury.schema.introspect import introspect
from sqljury.schema.samples import sample
from sqljury.sql.text import quote_name
from sqljury.types import Column, ForeignKey, Table


@pytest.fixture(scope="module")
def server(mariadb_server: Server) -> Server:
    servers.in_mariadb(mariadb_server, *MYSQL)
    return mariadb_server


def opened(server: Server, *schemas: str) -> Database:
    return connect(servers.mysql_url(server, "library", "schema_reader", "schema-pass"), schemas)


@pytest.fixture(scope="module")
def tables(server: Server) -> Iterator[dict[str, Table]]:
    with opened(server) as db:
        yield {table.name: table for table in introspect(db).tables}


def test_what_is_listed(tables: dict[str, Table]) -> None:
    # no sequence, no broken view, nothing that may not be read
    assert sorted(tables) == ["Odd `table", "author", "book", "cheap", "measure", "partly"]
    kinds = {name: table.kind for name, table in tables.items() if table.kind != "table"}
    assert kinds == {"measure": "partitioned table", "cheap": "view"}
    assert tables["measure"].partition_by == "RANGE (year(`day`))"
    assert {table.schema for table in tables.values()} == {""}


def test_columns(tables: dict[str, Table]) -> None:
    assert tables["author"].columns == (
        Column("id", "int(11)", not_null=True, unique=True),
        Column("full name", "varchar(40)", not_null=True),
        Column("feeling", "enum", values=("sad", "it's fine", "a,b")),
        Column("flags", "set", values=("x", "y")),
        Column("größe", "double", comment="in metres"),
        Column("married", "tinyint(1)"),
    )
    assert tables["author"].comment == "who writes"
    assert tables["cheap"].comment == ""
    assert [column.name for column in tables["book"].columns if column.generated] == ["net", "gross"]
    assert tables["partly"].columns == (Column("open", "int(11)", not_null=True, unique=True),)
    assert [column.name for column in tables["Odd `table"].columns] == ["select", "a`b"]


def test_keys(tables: dict[str, Table]) -> None:
    assert tables["author"].primary_key == ("id",)
    assert tables["author"].unique_keys == (("full name", "größe"),)
    assert tables["book"].unique_keys == (("price",),)
    assert tables["partly"].unique_keys == ()
    assert tables["book"].foreign_keys == (
        ForeignKey(("author",), "author", ("id",)),
        ForeignKey(("editor",), "author", ("id",)),
    )


def test_views(tables: dict[str, Table]) -> None:
    assert tables["cheap"].definition.startswith("CREATE VIEW `cheap` AS select")


def test_several_schemas(server: Server) -> None:
    with opened(server, "sales", "library") as db:
        found = {table.name: table for table in introspect(db).tables}
        assert list(found)[:2] == ["copy", "edition"]
        assert found["edition"].foreign_keys == (ForeignKey(("isbn",), "library.book", ("isbn",), "library"),)
        assert found["copy"].foreign_keys == (ForeignKey(("number", "isbn"), "edition", ("number", "isbn")),)
        assert found["library.book"].schema == "library"
        assert db.execute("SELECT count(*) FROM edition").ok
        assert all(result.ok for result in sample(db, introspect(db), views=True).values())


def test_schemas_that_are_not_there(server: Server) -> None:
    with pytest.raises(DatabaseNotFoundError, match="nowhere"):
        opened(server, "library", "nowhere")
    with pytest.raises(DatabaseError, match="nowhere"):
        opened(server, "nowhere")


def test_a_database_without_tables(server: Server) -> None:
    servers.in_mariadb(server, "CREATE DATABASE bare")
    with connect(servers.mysql_url(server, "bare")) as db, pytest.raises(EmptyDatabaseError) as caught:
        introspect(db)
    assert "has no table to ask about in its default schema; choose" in str(caught.value)
    assert "library" in str(caught.value).partition("--schema: ")[2]


def test_every_keyword_works_as_a_name_once_written_by_quote_name(server: Server) -> None:
    servers.in_mariadb(server, "CREATE DATABASE words")
    listed = servers.in_mariadb(server, "SELECT lower(word) FROM information_schema.keywords")
    words = sorted({str(word) for (word,) in listed if str(word).isidentifier()})
    assert len(words) > 600
    names = [quote_name(word, "mysql") for word in words]
    columns = ", ".join(f"{name} int" for name in names)
    servers.in_mariadb(server, "USE words", f"CREATE TABLE t ({columns}) ENGINE=MyISAM")
    with connect(servers.mysql_url(server, "words")) as db:
        for name in names:
            sql = f"SELECT {name}, {name}.{name} FROM t AS {name} WHERE {name} = 5 GROUP BY {name} ORDER BY {name} DESC"
            check(sql, "mysql")
            assert db.execute(sql).error is None, sql
