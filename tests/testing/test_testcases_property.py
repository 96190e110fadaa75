"""Whatever the schema: every generated database keeps all constraints of the user's own CREATE TABLE statements."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.sql.affinity import affinity, stored
from sqljury.testing.cells import sources
from sqljury.testing.draw import Origin, random_case, read_origin
from sqljury.testing.fuzz import fuzz
from sqljury.testing.mutate import Mutator
from sqljury.testing.separate import Search, separate
from sqljury.testing.trial import Trial
from sqljury.types import TestCase

KINDS = {
    "INTEGER": "BETWEEN 0 AND 50",
    "REAL": "> 0.5",
    "TEXT": "IN ('red', 'green', 'it''s')",
    "VARCHAR(20)": "<> ''",
    "DATE": ">= '2000-01-01'",
    "": "IS NOT 7",
}
KEYS = ("INTEGER", "TEXT")


@st.composite
def definitions(draw: st.DrawFn) -> tuple[str, ...]:
    """CREATE TABLE statements: keys of one or two columns, foreign keys to any, the table itself and later ones too."""
    count = draw(st.integers(1, 3))
    widths = [draw(st.integers(2, 4)) for _ in range(count)]
    keys = [draw(st.integers(1, 2)) for _ in range(count)]
    types = [
        [draw(st.sampled_from(KEYS if at < key or draw(st.booleans()) else sorted(KINDS))) for at in range(width)]
        for width, key in zip(widths, keys, strict=True)
    ]
    return tuple(_definition(draw, number, types, keys) for number in range(count))


def _definition(draw: st.DrawFn, number: int, types: list[list[str]], keys: list[int]) -> str:
    own, lines = types[number], []
    for at, type_ in enumerate(own):
        required = " NOT NULL" if at < keys[number] or draw(st.booleans()) else ""
        check = f' CHECK ("c{at}" {KINDS[type_]})' if draw(st.integers(0, 2)) == 0 else ""
        lines.append(f'"c{at}" {type_}{required}{check}')
    lines.append("PRIMARY KEY (" + ", ".join(f'"c{at}"' for at in range(keys[number])) + ")")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f'UNIQUE ("c{len(own) - 1}")')
    for target in draw(st.lists(st.integers(0, len(types) - 1), max_size=2)):
        # Columns of another type refer too, but SQLite 3.40 then refuses rows in which its own check sees no fault.
        places: list[int] = []
        for wanted in types[target][: keys[target]]:
            able = [at for at, type_ in enumerate(own) if type_ == wanted and at not in places]
            places += draw(st.permutations(able))[:1]
        if len(places) < keys[target]:
            continue
        refs = ", ".join(f'"c{at}"' for at in range(keys[target]))
        own_names = ", ".join(f'"c{at}"' for at in places)
        lines.append(f'FOREIGN KEY ({own_names}) REFERENCES "t {target}" ({refs})')
    return f'CREATE TABLE "t {number}" ({", ".join(lines)})'


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(definitions(), st.integers(0, 9))
def test_every_constraint_is_kept(statements: tuple[str, ...], seed: int) -> None:
    queries = [f'SELECT * FROM "t {number}"' for number in range(len(statements))]
    queries += [f'SELECT "c0" FROM "t {number}" WHERE "c1" > 5' for number in range(len(statements))]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "own.sqlite"
        filled(file, statements, seed)
        with connect(file) as db:
            origin = read_origin(db, introspect(db), queries, seed=str(seed))
    keeps(statements, origin.shape.case(origin.pool))
    for number in range(3):
        keeps(statements, random_case(origin, str(number)))
    for case in mutants(origin, seed):
        keeps(statements, case)
    for case in separate(origin, queries, Search(tries=150, seed=str(seed))).cases:
        keeps(statements, case)


def filled(file: Path, statements: tuple[str, ...], seed: int) -> None:
    """A user's database; some tables are empty, and some rows refer to none, as in real ones."""
    rng = random.Random(seed)
    with contextlib.closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    with connect(file) as db:
        schema = introspect(db)
    rows = fuzz(schema, sources(schema, nulls=True), str(seed))
    with contextlib.closing(sqlite3.connect(file)) as connection:
        for table in schema.tables:
            marks = ", ".join("?" * len(table.columns))
            kept = [row for row in rows[table.name] if rng.random() < 0.7] if rng.random() < 0.8 else []
            connection.executemany(f'INSERT OR IGNORE INTO "{table.name}" VALUES ({marks})', kept)
        connection.commit()


def mutants(origin: Origin, seed: int) -> list[TestCase]:
    mutator, found = Mutator(origin, random.Random(seed)), []
    with Trial(origin.shape, []) as trial:
        rows = trial.mended(origin.pool)
        for _ in range(10):
            rows = trial.mended(mutator.changed(rows))
            found.append(origin.shape.case(rows))
    return found


def keeps(statements: tuple[str, ...], case: TestCase) -> None:
    """The user's own tables take the rows, foreign keys enforced, and give them back as they are."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        for statement in statements:
            connection.execute(statement)
        connection.execute("BEGIN")
        connection.execute("PRAGMA defer_foreign_keys = ON")
        for name, rows in case.tables.items():
            for row in rows:
                connection.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', row)
        connection.execute("COMMIT")
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for table, rows in zip(case.schema.tables, case.rows, strict=True):
            held = connection.execute(f'SELECT * FROM "{table.name}"').fetchall()
            into = [affinity(column.type) for column in table.columns]
            assert sorted(map(repr, held)) == sorted(repr(tuple(map(stored, row, into))) for row in rows)


def test_the_check_of_constraints_can_fail() -> None:
    statements = ('CREATE TABLE "t 0" ("c0" INTEGER PRIMARY KEY, "c1" INTEGER REFERENCES "t 0" ("c0"))',)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "own.sqlite"
        filled(file, statements, 0)
        with connect(file) as db:
            schema = introspect(db)
    try:
        keeps(statements, TestCase(schema, (((1, 2),),)))
    except sqlite3.IntegrityError:
        return
    raise AssertionError("a row that refers to none was taken")
