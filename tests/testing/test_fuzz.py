"""Fuzzed databases keep the constraints of whatever schema they are for; SQLite itself is asked."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.sql.affinity import affinity, stored
from sqljury.sql.tree import Facts
from sqljury.testing.cells import sources
from sqljury.testing.fuzz import fuzz
from sqljury.testing.shape import Rows
from sqljury.testing.store import write_database
from sqljury.types import Cell, Column, ForeignKey, Schema, Table

TYPES = ("INTEGER", "INT", "TEXT", "VARCHAR(20)", "REAL", "NUMERIC(8, 2)", "DATE", "BOOLEAN", "")


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Tables with keys of one or two columns; foreign keys to any of them, the table itself and later ones too."""
    count = draw(st.integers(1, 4))
    bare = [_table(draw, number) for number in range(count)]
    tables = []
    for table in bare:
        keys = []
        for target in draw(st.lists(st.sampled_from(bare), max_size=2)):
            wanted = draw(st.sampled_from([target.primary_key, *target.unique_keys]))
            names = [column.name for column in table.columns]
            own = draw(st.lists(st.sampled_from(names), min_size=len(wanted), max_size=len(wanted), unique=True))
            keys.append(ForeignKey(tuple(own), target.name, wanted))
        likely = (table.primary_key,) if draw(st.booleans()) else ()  # keys that were inferred are kept all the same
        primary = () if likely else table.primary_key
        tables.append(Table(table.name, table.columns, primary, tuple(dict.fromkeys(keys)), table.unique_keys, likely))
    return Schema("fuzzed", "sqlite", tuple(tables))


def _table(draw: st.DrawFn, number: int) -> Table:
    names = [f"t{number} c{at}" for at in range(draw(st.integers(2, 4)))]
    columns = tuple(Column(name, draw(st.sampled_from(TYPES)), draw(st.booleans())) for name in names)
    size = draw(st.integers(1, 2))
    unique = draw(st.lists(st.sampled_from([(names[-1],), tuple(names[-2:])]), max_size=1))
    return Table(
        f"t {number}", columns, tuple(names[:size]), (), tuple(key for key in unique if key != tuple(names[:size]))
    )


@settings(max_examples=150, deadline=None)
@given(schemas(), st.integers(0, 5))
def test_every_constraint_is_kept(schema: Schema, seed: int) -> None:
    rows = fuzz(schema, sources(schema, nulls=True), str(seed))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "fuzzed.sqlite"
        write_database(file, schema, rows)  # SQLite would refuse rows that break a key or NOT NULL
        with contextlib.closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            for table in schema.tables:
                held = connection.execute(f'SELECT * FROM "{table.name}"').fetchall()
                assert sorted(map(repr, held)) == sorted(map(repr, rows[table.name]))


def cyclic(*, required: bool) -> Schema:
    def one(name: str, other: str) -> Table:
        columns = (Column("id", "INTEGER"), Column("other", "INTEGER", not_null=required), Column("self", "INTEGER"))
        keys = (ForeignKey(("other",), other, ("id",)), ForeignKey(("self",), name, ("id",)))
        return Table(name, columns, ("id",), keys)

    return Schema("cycle", "sqlite", (one("a", "b"), one("b", "a")))


@pytest.mark.parametrize("required", [False, True])
def test_cycles_are_filled_not_emptied(required: bool) -> None:
    schema = cyclic(required=required)
    for seed in range(20):
        rows = fuzz(schema, sources(schema), str(seed))
        ids = {name: {row[0] for row in held} for name, held in rows.items()}
        assert len(ids["a"]) >= 3
        assert len(ids["b"]) >= 3
        assert {row[1] for row in rows["a"]} <= ids["b"] | {None}
        assert any(row[1] is not None for row in rows["a"])


def test_composite_keys_refer_as_a_whole() -> None:
    parent = Table("p", (Column("x", "INT"), Column("y", "TEXT")), ("x", "y"))
    columns = (Column("id", "INTEGER"), Column("x", "INT"), Column("y", "TEXT"))
    child = Table("c", columns, ("id",), (ForeignKey(("x", "y"), "p", ("x", "y")),))
    schema = Schema("s", "sqlite", (child, parent))
    rows = fuzz(schema, sources(schema), "0")
    assert rows["c"]
    assert {row[1:] for row in rows["c"]} <= set(rows["p"])


def test_equal_seeds_make_equal_rows() -> None:
    schema = cyclic(required=True)
    drawn = sources(schema)

    def made(seed: str) -> Rows:
        return fuzz(schema, drawn, seed)

    assert made("1") == made("1")
    assert made("1") != made("2")


def test_constants_and_their_near_misses_are_drawn() -> None:
    schema = Schema("s", "sqlite", (Table("t", (Column("Age", "INT"), Column("kind", "TEXT"))),))
    drawn = sources(schema, facts=Facts({"age": (30,), "kind": ("dog",)}, frozenset()))
    assert set(drawn["t", "Age"].known) == {29, 30, 31}
    rows = [row for seed in range(5) for row in fuzz(schema, drawn, str(seed))["t"]]
    assert {29, 30, 31} <= {row[0] for row in rows}
    assert "dog" in {row[1] for row in rows}
    assert None not in {cell for row in rows for cell in row}


@pytest.mark.parametrize("declared", TYPES)
@pytest.mark.parametrize("value", [None, 3, 3.0, 3.25, "3", " 3 ", "3.0", "3x", "", "1_0", "inf", 2**70, b"3", "1e3"])
def test_stored_is_what_sqlite_stores(declared: str, value: Cell) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f'CREATE TABLE t (c "{declared}")' if declared else "CREATE TABLE t (c)")
        written = float(value) if value == 2**70 and isinstance(value, int) else value
        connection.execute("INSERT INTO t VALUES (?)", (written,))
        (kept,) = connection.execute("SELECT c FROM t").fetchone()
    ours = stored(value, affinity(declared))
    assert ours == kept
    assert type(ours) is type(kept)
