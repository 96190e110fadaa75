"""The examples that come with the package: they run, on every engine's parser, and say what they seem to say."""

from __future__ import annotations

import sqlite3
from collections import Counter
from decimal import Decimal
from importlib.resources import files

import pytest
import sqlglot

from sqljury.datasets.pool import Shot, default
from sqljury.sql import skeleton
from sqljury.stages.generate import fewshot as similar
from sqljury.types import Column, Schema, Table

FOLDER = files("sqljury.stages.generate") / "examples"
SHOTS = default().shots
DATABASES = sorted({shot.database for shot in SHOTS})


@pytest.fixture(scope="module", params=DATABASES)
def database(request: pytest.FixtureRequest) -> tuple[str, sqlite3.Connection]:
    """One of the databases with its rows; what refers to a row that is not there is refused."""
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA foreign_keys = on")
    connection.executescript((FOLDER / f"{request.param}.sql").read_text(encoding="utf-8"))
    return request.param, connection


def of(name: str) -> list[Shot]:
    return [shot for shot in SHOTS if shot.database == name]


def test_there_are_enough() -> None:
    assert len(SHOTS) >= 240
    assert len(DATABASES) == 10
    assert len({shot.question.casefold() for shot in SHOTS}) == len(SHOTS)


def test_each_query_runs_and_finds_something(database: tuple[str, sqlite3.Connection]) -> None:
    name, connection = database
    for shot in of(name):
        rows = connection.execute(shot.sql).fetchall()
        assert rows, shot
        assert any(cell not in (None, 0) for row in rows for cell in row), shot


def test_another_engine_finds_the_same(database: tuple[str, sqlite3.Connection]) -> None:
    duckdb = pytest.importorskip("duckdb")
    name, connection = database
    other = duckdb.connect()
    other.execute((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    for shot in of(name):
        found = [sorted(map(plain, one.execute(shot.sql).fetchall())) for one in (connection, other)]
        assert found[0] == found[1], shot


def plain(row: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(f"{float(cell):.4f}" if isinstance(cell, int | float | Decimal) else str(cell) for cell in row)


def test_every_dialect_parses_them() -> None:
    for shot in SHOTS:
        for dialect in ("sqlite", "duckdb", "postgres", "mysql"):
            assert isinstance(sqlglot.parse_one(shot.sql, dialect=dialect), sqlglot.exp.Query), shot
        assert '"' not in shot.sql  # a text to some engines, a name to others


def test_what_is_selected_beside_aggregates_is_grouped() -> None:
    """SQLite takes any column there; the other engines do not."""
    for shot in SHOTS:
        for select in sqlglot.parse_one(shot.sql, dialect="sqlite").find_all(sqlglot.exp.Select):
            grouped = {one.sql() for one in group.expressions} if (group := select.args.get("group")) else set()
            plain = {
                column.sql()
                for one in select.expressions
                if not one.find(sqlglot.exp.AggFunc)
                for column in one.find_all(sqlglot.exp.Column)
            }
            aggregates = any(one.find(sqlglot.exp.AggFunc) for one in select.expressions)
            assert plain <= grouped or not (grouped or aggregates), shot


@pytest.mark.parametrize(
    "pattern",
    [
        "count ( distinct",
        " like ",
        " between ",
        " limit ",
        " having ",
        "left join",
        "join _ join _ join",
        "not in ( select",
        " except ",
        " intersect ",
        " union ",
        "> ( select avg",
        "> ( select max",
        "= ( select min",
        "case when",
        "100 * ",
        "is null",
        "in ( _ )",
        "from ( select",
    ],
)
def test_what_analysts_ask_for_is_there(pattern: str) -> None:
    assert any(pattern.replace("100", skeleton.MASK) in f" {skeleton.read(shot.sql).form} " for shot in SHOTS)


def test_no_form_crowds_out_the_others() -> None:
    forms = Counter(skeleton.read(shot.sql).form for shot in SHOTS)
    assert len(forms) >= 90
    assert max(forms.values()) <= len(SHOTS) // 10


def test_they_help_with_a_question_of_another_database() -> None:
    schema = Schema("zoo", "sqlite", (Table("cage", (Column("cage_id"),)), Table("lion", (Column("name"),))))
    found = similar.index(default()).choose("Which cages have no lion in them?", schema, 3)
    assert any("NOT IN" in shot.sql for shot in found)
