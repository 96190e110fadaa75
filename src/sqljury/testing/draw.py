"""What small databases are made from, and small databases by random selection of the user's rows.

Li & Xie 2024, section 2.1. Rows are read through the database as the user gave it, so that access rules hold: masked
columns are never read, their cells are made up.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from sqljury.access.guard import skip
from sqljury.db.base import Database
from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.schema.samples import sample_rows
from sqljury.sql.affinity import affinity, stored
from sqljury.sql.parse import exp, parse_one
from sqljury.sql.resolve import column_names, used
from sqljury.sql.text import quote_name, quote_table
from sqljury.sql.translate import in_sqlite
from sqljury.sql.tree import DIALECT, Facts, facts_of, tree_of
from sqljury.testing.cells import ColumnKey, Source, fresh, sources
from sqljury.testing.fuzz import fuzz
from sqljury.testing.shape import Checks, Rows, Shape, checks_of, read_checks
from sqljury.types import Cell, Limits, Row, Schema, Table, TestCase

POOL: Final = 200
"""Rows that are read of a table at first; rows that queries name or that others refer to come on top."""

SAMPLED: Final = 5_000
"""Rows that are read of a table where a share of its rows is wanted."""

MTS: Final = 5
"""Rows a table is filled up to (the paper's maximum table size); rows that others refer to may go beyond."""

MATCHING: Final = 10
COMMON: Final = 5
"""Values that columns which may be joined have in common where rows are made up."""

SMALLEST: Final = 1
LARGEST: Final = 10
MAX_READS: Final = 40
LIMITS: Final = Limits(seconds=1.0, rows=POOL, bytes=4 * 1024 * 1024)
_ROUNDS: Final = 3
_MENDS: Final = 4


@dataclass(frozen=True, slots=True)
class Origin:
    """Where small databases come from, for one set of queries.

    ``pool`` is a database that keeps every constraint. ``constants`` are the values that the queries compare a column
    with, ``measured`` the columns with numbers that they aggregate or sort, keys left out.
    """

    shape: Shape
    pool: Rows
    sources: Mapping[ColumnKey, Source]
    constants: Mapping[ColumnKey, tuple[Cell, ...]]
    measured: frozenset[ColumnKey]

    def take(self, taken: dict[str, dict[Row, None]], table: str, row: Row) -> None:
        """Add a row of the pool to those taken, with all that it refers to, over however many tables."""
        waiting = [(table, row)]
        while waiting:
            name, child = waiting.pop()
            if child in taken[name]:
                continue
            taken[name][child] = None
            for link in self.shape.links_of[name]:
                wanted = link.wanted(child)
                if wanted is None or any(link.offered(parent) == wanted for parent in taken[link.parent]):
                    continue
                parent = next(parent for parent in self.pool[link.parent] if link.offered(parent) == wanted)
                waiting.append((link.parent, parent))


def read_origin(
    db: Database,
    schema: Schema,
    queries: Sequence[str],
    checks: Checks | None = None,
    *,
    seed: str = "",
    most: int = POOL,
) -> Origin:
    """Read what these queries need of the user's database, the first ``most`` rows of each table and some more.

    Only tables and columns that one of ``queries``, in the schema's dialect, uses are taken, with their keys (section
    4.3). ``checks`` are the conditions on rows, by default those that can be read. Tables without rows are fuzzed.
    Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    part = used(schema, queries)
    shape = Shape(part, checks_of(part, read_checks(db, schema) if checks is None else checks))
    texts = [text for text in (in_sqlite(sql, schema) for sql in queries) if text is not None]
    trees, facts = _trees(shape, column_names(part), texts)
    raw = _Reader(db, shape, most).pool(facts_of(trees))
    samples = {
        (name, column.name): list(dict.fromkeys(row[index] for row in raw[name]))
        for name, index, column in shape.columns()
    }
    rng = random.Random(f"{seed}|origin")  # noqa: S311 - no secret
    return _origin(shape, trees, sources(shape.schema, samples, facts), _unmasked(db, shape, raw, rng), rng)


def fuzzed_origin(db: Database, schema: Schema, queries: Sequence[str], *, seed: str = "") -> Origin:
    """An origin for these queries without a row of the user's (Li & Xie 2024, section 2.1, "Fuzzing").

    As ``read_origin`` otherwise; of the database only conditions on rows are read.
    """
    part = used(schema, queries)
    shape = Shape(part, checks_of(part, read_checks(db, schema)))
    return made_up(shape, [text for sql in queries if (text := in_sqlite(sql, schema)) is not None], {}, seed)


def made_up(shape: Shape, queries: Sequence[str], values: Mapping[ColumnKey, Sequence[Cell]], seed: str) -> Origin:
    """An origin without a row of the user's: random cells, constants of ``queries``, and ``values`` by column.

    ``queries`` are in SQLite's dialect. Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    trees, facts = _trees(shape, column_names(shape.schema), queries)
    rng = random.Random(f"{seed}|made up")  # noqa: S311 - no secret
    drawn = sources(shape.schema, _common(shape, facts, values, rng), facts)
    return _origin(shape, trees, drawn, {name: [] for name in shape.tables}, rng)


def _trees(shape: Shape, names: Collection[str], queries: Sequence[str]) -> tuple[list[exp.Expr], Facts]:
    """The trees of those queries that can be parsed, and facts of them and of the CHECK constraints."""
    trees = [tree for tree in (tree_of(text, names) for text in queries) if tree is not None]
    checks = [parse_one(text, DIALECT) for conditions in shape.checks.values() for text in conditions]
    return trees, facts_of([*trees, *checks])


def _origin(
    shape: Shape, trees: Sequence[exp.Expr], drawn: Mapping[ColumnKey, Source], rows: Rows, rng: random.Random
) -> Origin:
    pool = _consistent(shape, rows, drawn, rng)
    return Origin(shape, pool, drawn, _constants(shape, drawn, facts_of(trees)), _measured(shape, pool, trees))


def _common(
    shape: Shape, facts: Facts, values: Mapping[ColumnKey, Sequence[Cell]], rng: random.Random
) -> dict[ColumnKey, list[Cell]]:
    """The values with some made-up ones, the same for columns of one name and columns that a query compares.

    Rows then meet in joins by columns without a declared foreign key, and tie.
    """
    pools: dict[str, list[Cell]] = {}
    for (_, column), source in sources(shape.schema).items():
        pools.setdefault(column.lower(), [fresh(rng, source.kind) for _ in range(COMMON)])
    for first, second in sorted(sorted(pair) for pair in facts.linked):
        if first in pools and second in pools:
            pools[second] = pools[first]
    return {
        (name, column.name): [*values.get((name, column.name), ()), *pools[column.name.lower()]]
        for name, _, column in shape.columns()
    }


class _Reader:
    """Reads the rows of one database that a pool is made of; cells of masked columns are NULL."""

    def __init__(self, db: Database, shape: Shape, most: int) -> None:
        self._db = db
        self._shape = shape
        self._most = most
        self._reads = 0
        masked = skip(db)
        self._open = {
            name: [column.name for column in table.columns if not masked(name, column.name)]
            for name, table in shape.tables.items()
        }

    def pool(self, facts: Facts) -> Rows:
        """The first rows of each table, those that hold a constant of the queries, and those that these refer to."""
        pool = {name: self._first(table) for name, table in self._shape.tables.items()}
        large = {name for name, rows in pool.items() if len(rows) >= self._most}
        for name, _, column in self._shape.columns():
            if name in large:
                for value in facts.constants.get(column.name.lower(), ()):
                    pool[name] += self._where(self._shape.tables[name], [{column.name: value}], MATCHING)
        for _ in range(_ROUNDS):
            self._parents(pool)
        return {name: list(dict.fromkeys(rows)) for name, rows in pool.items()}

    def _first(self, table: Table) -> list[Row]:
        rows = sample_rows(self._db, table, self._most).rows
        masked = [index for index, column in enumerate(table.columns) if column.name not in self._open[table.name]]
        return [tuple(None if index in masked else cell for index, cell in enumerate(row)) for row in rows]

    def _parents(self, pool: Rows) -> None:
        wanted: dict[str, list[dict[str, Cell]]] = {}
        for link, index in self._shape.lost(pool):
            table = self._shape.tables[link.parent]
            names = [table.columns[ref].name for ref in link.refs]
            cells = link.wanted(pool[link.child][index]) or ()
            wanted.setdefault(link.parent, []).append(dict(zip(names, cells, strict=True)))
        for name, conditions in wanted.items():
            pool[name] = pool[name] + self._where(self._shape.tables[name], conditions[:POOL], POOL)

    def _where(self, table: Table, conditions: Sequence[Mapping[str, Cell]], most: int) -> list[Row]:
        """Rows for which one of the conditions, each some columns with their values, holds."""
        names = self._open[table.name]
        if self._reads >= MAX_READS or not names or any(not {*cells} <= {*names} for cells in conditions):
            return []
        self._reads += 1
        dialect = self._db.dialect
        texts = [
            " AND ".join(f"{quote_name(name, dialect)} = {_literal(cell, dialect)}" for name, cell in cells.items())
            for cells in conditions
        ]
        listed = ", ".join(quote_name(name, dialect) for name in names)
        source = quote_table(table.name, table.schema, dialect)
        sql = f"SELECT {listed} FROM {source} WHERE {' OR '.join(texts)} LIMIT {int(most)}"  # noqa: S608
        rows = (dict(zip(names, row, strict=True)) for row in self._db.execute(sql, LIMITS).rows)
        return [tuple(row.get(column.name) for column in table.columns) for row in rows]


def _literal(cell: Cell, dialect: str) -> str:
    return exp.Literal.string("").sql() if isinstance(cell, bytes) else exp.convert(cell).sql(dialect=dialect)


def _unmasked(db: Database, shape: Shape, pool: Rows, rng: random.Random) -> Rows:
    """The rows with cells made up where the column is masked."""
    masked, rows = skip(db), {}
    for name, table in shape.tables.items():
        bare = sources(Schema(name, "sqlite", (Table(name, table.columns),)))
        kinds = {
            index: bare[name, column.name].kind
            for index, column in enumerate(table.columns)
            if masked(name, column.name)
        }
        rows[name] = [
            tuple(fresh(rng, kinds[index]) if index in kinds else cell for index, cell in enumerate(row))
            for row in pool[name]
        ]
    return rows


def _consistent(shape: Shape, pool: Rows, drawn: Mapping[ColumnKey, Source], rng: random.Random) -> Rows:
    """A database from these rows: rows that break a constraint are mended or removed, empty tables are fuzzed."""
    fuzzed = fuzz(shape.schema, drawn, str(rng.random()))
    affinities = {name: [affinity(column.type) for column in table.columns] for name, table in shape.tables.items()}
    rows = {
        name: [tuple(map(stored, row, affinities[name])) for row in pool[name] or fuzzed[name]] for name in shape.tables
    }
    with MemoryDatabase(shape.statements()) as scratch:
        mended = _mended(shape, rows, scratch, rng)
        if not all(mended.values()):
            mended = _mended(shape, {name: [*mended[name], *fuzzed[name]] for name in mended}, scratch, rng)
    return mended


def _mended(shape: Shape, rows: Rows, scratch: MemoryDatabase, rng: random.Random) -> Rows:
    """Give rows whose parent is missing another, at last NULL, or remove them: real data may break its keys."""
    parents_first = shape.children_first()[::-1]
    for number in range(_MENDS):
        scratch.fill(rows, skip=True)
        rows = scratch.rows()
        for link, index in sorted(shape.lost(rows), key=lambda lost: parents_first.index(lost[0].child)):
            held, parents = rows[link.child], rows[link.parent]
            if number < _MENDS - 1 and parents:
                held[index] = link.pointed(held[index], rng.choice(parents))
            elif optional := shape.optional(link.child).intersection(link.columns):
                held[index] = tuple(None if at == min(optional) else cell for at, cell in enumerate(held[index]))
    scratch.fill(rows, skip=True)
    return shape.closed(scratch.rows())


def _constants(shape: Shape, drawn: Mapping[ColumnKey, Source], facts: Facts) -> dict[ColumnKey, tuple[Cell, ...]]:
    """What the queries compare columns with, and its near misses."""
    constants = {}
    for name, _, column in shape.columns():
        if compared := facts.constants.get(column.name.lower(), ()):
            known = drawn[name, column.name].known
            near = tuple(value for value in known if value in compared or _near(value, compared))
            constants[name, column.name] = near
    return constants


def _near(value: Cell, constants: Sequence[Cell]) -> bool:
    for constant in constants:
        if isinstance(constant, int | float) and value in (constant - 1, constant, constant + 1):
            return True
        if isinstance(constant, str) and isinstance(value, str) and constant and constant in value:
            return True
    return False


def _measured(shape: Shape, pool: Rows, trees: Sequence[exp.Expr]) -> frozenset[ColumnKey]:
    """Columns that the queries aggregate or sort, that hold numbers and belong to no key (section 4.2.3)."""
    names = {
        column.name.lower()
        for tree in trees
        for node in tree.find_all(exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Ordered)
        for column in node.find_all(exp.Column)
    }
    keys = {(name, index) for name in shape.tables for index in shape.key_columns(name)}
    keys |= {(link.parent, ref) for link in shape.links for ref in link.refs}
    measured = set()
    for name, index, column in shape.columns():
        cells = [row[index] for row in pool[name] if row[index] is not None]
        numbers = bool(cells) and all(isinstance(cell, int | float) for cell in cells)
        if column.name.lower() in names and (name, index) not in keys and numbers:
            measured.add((name, column.name))
    return frozenset(measured)


def select(origin: Origin, seed: str, size: int = MTS) -> Rows:
    """Up to ``size`` random rows of each table, referencing tables first, each with the rows it refers to.

    Equal for equal arguments. Every constraint holds because it holds for ``origin.pool`` and parents are taken along.
    Li & Xie 2024, section 2.1, "Random Selection".
    """
    rng = random.Random(f"{seed}|select")  # noqa: S311 - no secret
    taken: dict[str, dict[Row, None]] = {name: {} for name in origin.shape.tables}
    for name in origin.shape.children_first():
        pool = origin.pool[name]
        for row in rng.sample(pool, min(size, len(pool))):
            if len(taken[name]) >= size:
                break
            origin.take(taken, name, row)
    return {name: list(rows) for name, rows in taken.items()}


def select_share(origin: Origin, seed: str, share: float) -> Rows:
    """This share of the rows of each table's pool at random, at least one, with the rows that they refer to.

    TS-SQL, Figure 4, which puts a tenth of the database in the place of written test data.
    """
    rng = random.Random(f"{seed}|share")  # noqa: S311 - no secret
    taken: dict[str, dict[Row, None]] = {name: {} for name in origin.shape.tables}
    for name in origin.shape.children_first():
        pool = origin.pool[name]
        for row in rng.sample(pool, min(ceil(share * len(pool)), len(pool))):
            origin.take(taken, name, row)
    return {name: list(rows) for name, rows in taken.items()}


def small_numbers(origin: Origin, rows: Rows, seed: str) -> Rows:
    """The rows with integers of 1 to 10 in the measured columns; NULL stays, and so do keys (section 4.2.3)."""
    rng = random.Random(f"{seed}|numbers")  # noqa: S311 - no secret
    small = {}
    for name, table in origin.shape.tables.items():
        measured = {index for index, column in enumerate(table.columns) if (name, column.name) in origin.measured}
        small[name] = [
            tuple(
                rng.randint(SMALLEST, LARGEST) if index in measured and cell is not None else cell
                for index, cell in enumerate(row)
            )
            for row in rows[name]
        ]
    return small


def random_case(origin: Origin, seed: str, size: int = MTS, *, numbers: bool = True) -> TestCase:
    """One small database by random selection, with small numbers unless a constraint forbids them."""
    rows = select(origin, seed, size)
    with MemoryDatabase(origin.shape.statements()) as scratch:
        changed = small_numbers(origin, rows, seed)
        return origin.shape.case(changed if numbers and scratch.fill(changed) else rows)
