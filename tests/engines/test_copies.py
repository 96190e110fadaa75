"""Databases of a benchmark copied to each engine: rows, types, keys, and gold that gives the same result."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from servers import ADMIN_PASSWORD, Server, in_mariadb, in_postgres, mysql_url, postgres_url
from sqljury.datasets import spider
from sqljury.db.connect import connect
from sqljury.engines import checked
from sqljury.engines.databases import Databases, Engine
from sqljury.engines.homes import Postgres
from sqljury.engines.source import read
from sqljury.errors import DatabaseError, DatasetError, InputError
from sqljury.schema.introspect import introspect
from sqljury.types import ForeignKey

pytestmark = pytest.mark.filterwarnings("ignore::sqljury.db.server.AdministratorWarning")


@pytest.fixture(params=["duckdb", "postgresql", "mysql"])
def engine(request: pytest.FixtureRequest) -> tuple[str, str]:
    """An engine with the URL of a server of it."""
    if request.param == "postgresql":
        return request.param, postgres_url(request.getfixturevalue("postgres_server"), "postgres")
    if request.param == "mysql":
        return request.param, mysql_url(request.getfixturevalue("mariadb_server"), "information_schema")
    return request.param, ""


def test_a_copy_has_the_rows_types_and_keys_and_gold_holds(
    engine: tuple[str, str], dataset: Path, tmp_path: Path
) -> None:
    examples = spider.load(dataset, "dev")
    with Databases(dataset, Engine(engine[0]), tmp_path / "databases", engine[1]) as databases:
        kept = checked.prepared(examples, databases, tmp_path)
        found = {one.gold: one for one in checked.read(tmp_path)}
        outcomes = {gold: one.outcome for gold, one in found.items() if not one.kept}
        refused = "refused" if engine[0] != "mysql" else "different"
        assert outcomes == {
            "SELECT kind, max(age), petid FROM pet": refused,
            "SELECT nothing FROM pet": "source",
        }
        assert [one.id for one in kept] == [one.id for one in examples if one.gold_sql not in outcomes]
        assert {one.source_gold: one.hardness for one in kept}["SELECT count(*) FROM pet"] == "easy"
        assert any("division" in one.repairs for one in found.values())
        with connect(databases.lazy("pets")) as db:
            tables = {table.name: table for table in introspect(db).tables}
            assert set(tables) == {"Owner", "pet", "old_pets"}
            assert [column.name for column in tables["Owner"].columns] == ["ID", "Full Name", "Born", "Email"]
            assert tables["Owner"].primary_key == ("ID",)
            assert tables["Owner"].unique_keys == (("Email",),)
            assert tables["Owner"].columns[1].not_null
            assert tables["pet"].foreign_keys == (ForeignKey(("owner_id",), "Owner", ("ID",)),)
            mark = "`" if engine[0] == "mysql" else '"'
            owner, pet = (f"{mark}{name}{mark}" for name in ("Owner", "pet"))
            assert sorted(db.execute(f"SELECT * FROM {owner}").rows) == [
                (1, "Ann", "1980-02-03", "a@b"),
                (2, "Bob", None, None),
                (3, "Żuk", "2001-12-31", None),
            ]
            row = db.execute(f"SELECT * FROM {pet}").rows[0]
            assert row == (1, 1, "Dog", 3, 2.5, "2020-01-01 10:00:00", 1, b"\x00\xff", 1)
        changes = databases.sources["shop"].changes
        assert changes["columns whose values do not fit the declared type"] == 2  # stock, and a code that is too long
        assert changes["foreign keys that rows violate"] == 1


def test_keys_are_stripped(engine: tuple[str, str], dataset: Path, tmp_path: Path) -> None:
    with Databases(dataset, Engine(engine[0], strip_keys=True), tmp_path, engine[1]) as databases:
        with connect(databases.lazy("pets")) as db:
            tables = introspect(db).tables
        assert len(tables) == 3
        for table in tables:
            assert (table.primary_key, table.unique_keys, table.foreign_keys) == ((), (), ())
        assert tables[0].columns[1].not_null or engine[0] != "duckdb"


def test_sqlite_without_keys_keeps_everything_else(dataset: Path, tmp_path: Path) -> None:
    original = dataset / "database" / "pets" / "pets.sqlite"
    with Databases(dataset, Engine(strip_keys=True), tmp_path) as databases:
        examples = checked.prepared(spider.load(dataset, "dev"), databases, tmp_path)
        assert [one.gold_sql for one in examples] == [one.gold_sql for one in spider.load(dataset, "dev")]
        with connect(databases.lazy("pets")) as copy, connect(original) as file:
            ours, theirs = introspect(copy), introspect(file)
            assert ours.name == theirs.name == "pets"
            for mine, table in zip(ours.tables, theirs.tables, strict=True):
                assert (mine.primary_key, mine.unique_keys, mine.foreign_keys) == ((), (), ())
                declared = [(one.name, one.type, one.not_null, one.comment) for one in table.columns]
                assert [(one.name, one.type, one.not_null, one.comment) for one in mine.columns] == declared
                query = f'SELECT * FROM "{table.name}"'
                assert copy.execute(query).rows == file.execute(query).rows
    with Databases(dataset, Engine(strip_keys=True), tmp_path) as again:  # the file of before
        made = Path(again.target("pets"))
        before = made.stat().st_mtime_ns
        assert Path(again.target("pets")).stat().st_mtime_ns == before


def test_a_file_is_copied_again_once_the_dataset_has_changed(dataset: Path, tmp_path: Path) -> None:
    file = tmp_path / "database" / "shop" / "shop.sqlite"
    file.parent.mkdir(parents=True)
    file.write_bytes((dataset / "database" / "shop" / "shop.sqlite").read_bytes())
    for rows in (3, 4):
        with (
            Databases(tmp_path, Engine("duckdb"), tmp_path / "run") as databases,
            connect(databases.lazy("shop")) as db,
        ):
            assert db.execute("SELECT count(*) FROM sale").rows == ((rows,),)
        with sqlite3.connect(file) as connection:
            connection.execute("INSERT INTO sale VALUES (9, 'a', '2012')")
        connection.close()


def test_what_was_checked_is_not_checked_again(dataset: Path, tmp_path: Path) -> None:
    examples = spider.load(dataset, "dev")
    with Databases(dataset, Engine("duckdb"), tmp_path) as databases:
        first = checked.prepared(examples, databases, tmp_path)
    with Databases(dataset, Engine("duckdb"), tmp_path) as databases:
        again = checked.prepared(examples, databases, tmp_path)
        assert databases.sources == {}  # nothing was opened
    assert [(one.id, one.gold_sql, one.hardness) for one in again] == [
        (one.id, one.gold_sql, one.hardness) for one in first
    ]


def test_a_given_server_keeps_its_own_and_loses_the_copies(
    postgres_server: Server, mariadb_server: Server, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its password comes from the environment, since a URL on the command line shows in the list of processes."""

    def postgres() -> set[str]:
        return {name for (name,) in in_postgres(postgres_server, "postgres", "SELECT datname FROM pg_database")}

    def mysql() -> set[str]:
        return {name for (name,) in in_mariadb(mariadb_server, "SHOW DATABASES")}

    for variable in ("PGPASSWORD", "MYSQL_PWD"):
        monkeypatch.setenv(variable, ADMIN_PASSWORD)
    urls = (
        f"postgresql://boss@127.0.0.1:{postgres_server.port}/postgres",
        f"mysql://boss@127.0.0.1:{mariadb_server.port}/information_schema",
    )
    for name, url, listed in zip(("postgresql", "mysql"), urls, (postgres, mysql), strict=True):
        before = listed()
        with Databases(dataset, Engine(name), tmp_path, url) as databases:
            with connect(databases.lazy("shop")) as db:
                assert db.execute("SELECT count(*) FROM sale").rows == ((3,),)
            made = listed() - before
            assert [one.startswith("sqljury_bench_") and one.endswith("_shop") for one in made] == [True]
        assert listed() == before


def test_what_cannot_be_is_said(dataset: Path, tmp_path: Path) -> None:
    for name, url, words in (
        ("postgresql", "mysql://u@h/x", "give a URL with postgresql:// or postgres://"),
        ("duckdb", "mysql://u:secret@h/x", "leave the server out"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            Databases(dataset, Engine(name), tmp_path, url)
        assert "secret" not in str(caught.value)
    with pytest.raises(DatasetError, match="no engine 'oracle'"):
        Engine.of({"engine": "oracle"})
    databases = Databases(dataset, Engine("duckdb"), tmp_path)
    with databases, pytest.raises(DatasetError, match="no database 'nothing'"):
        databases.target("nothing")
    databases = Databases(dataset, Engine("postgresql"), tmp_path, "postgresql://u@127.0.0.1:1/x")
    with databases, pytest.raises(DatabaseError, match="pets: cannot be copied to postgresql"):
        databases.target("pets")


def test_no_file_outside_the_folder_is_taken_for_a_copy(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "other.duckdb").touch()
    (tmp_path / "other.json").write_text('{"of": []}')
    with Databases(dataset, Engine("duckdb"), tmp_path / "databases") as databases:
        for name in ("../other", str(tmp_path / "other")):
            with pytest.raises(DatasetError, match="there is no database"):
                databases.target(name)


def test_a_database_that_was_there_stays_as_it_is(postgres_server: Server, dataset: Path, tmp_path: Path) -> None:
    in_postgres(postgres_server, "postgres", "CREATE DATABASE bench_kept")
    url = postgres_url(postgres_server, "postgres")
    source = read(dataset / "database" / "shop" / "shop.sqlite")
    home = Postgres(url)
    home._prefix = "bench_"
    with pytest.raises(DatabaseError, match="kept: cannot be copied to postgresql"):
        home.make("kept", source, lambda _: None)
    home.close()
    elsewhere = Postgres(f"{url}?dbname=bench_kept")
    with pytest.raises(DatabaseError, match="leave dbname and service out"):
        elsewhere.make("shop", source, lambda _: None)
    elsewhere.close()
    names = {name for (name,) in in_postgres(postgres_server, "postgres", "SELECT datname FROM pg_database")}
    assert "bench_kept" in names
    assert not any(name.startswith("sqljury_bench_") for name in names)
    assert in_postgres(postgres_server, "bench_kept", "SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []
