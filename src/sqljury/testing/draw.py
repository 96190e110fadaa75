"""What small databases are made from: a bounded part of the user's rows that can stand alone, and values for cells.

Li & Xie 2024, section 2.1. Rows are read through the database as the user gave it, so that access rules hold: masked
columns are never read, their cells are made up.

Small databases by random selection: rows of the user's tables, referenced rows with those that refer to them.

Li & Xie 2024, section 2.1, "Random Selection", and section 4.2.3, where numbers that have to be added up or sorted
become small ones.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sqljury.access.guard import skip
from sqljury.db.base import Database
from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.schema.samples import sample_rows
from sqljury.sql.affinity import affinity, stored
from sqljury.sql.resolve import used
from sqljury.sql.text import quote_name, quote_table
from sqljury.sql.translate import in_sqlite
from sqljury.sql.tree import Facts, column_names, facts_of, tree_of
from sqljury.testing.cells import Source, fresh, sources
from sqljury.testing.fuzz import Rows, fuzz
from sqljury.testing.shape import Checks, Shape, of_part, read_checks, tree
from sqljury.types import Cell, Limits, Row, Schema, Table, TestCase

POOL: Final = 200
"""Rows that are read of a table at first; some more that queries name or that others refer to."""

MATCHING: Final = 10
COMMON: Final = 5
"""Values that columns which may be joined have in common where rows are made up."""

MAX_READS: Final = 40
LIMITS: Final = Limits(seconds=1.0, rows=POOL, bytes=4 * 1024 * 1024)
_ROUNDS: Final = 3
_MENDS: Final = 4


@dataclass(frozen=True, slots=True)
class Origin:
    """Where small databases come from, for one set of queries.

    ``pool`` is a database of its own, with every constraint kept. ``constants`` are by table and column the values that
    the queries compare it with, ``measured`` the columns with numbers that they aggregate or sort, keys left out.
    """

    shape: Shape
    pool: Rows
    sources: Mapping[tuple[str, str], Source]
    constants: Mapping[tuple[str, str], tuple[Cell, ...]]
    measured: frozenset[tuple[str, str]]

    def take(self, taken: dict[str, dict[Row, None]], table: str, row: Row) -> None:
        """Add a row of the pool to those taken, with all that it refers to, over however many tables."""
        waiting = [(table, row)]
        while waiting:
            name, own = waiting.pop()
            if own in taken[name]:
                continue
            taken[name][own] = None
            for link in self.shape.links_of[name]:
                wanted = link.wanted(own)
                if wanted is None or any(link.offered(parent) == wanted for parent in taken[link.parent]):
                    continue
                parent = next(one for one in self.pool[link.parent] if link.offered(one) == wanted)
                waiting.append((link.parent, parent))


def read_origin(
    db: Database, schema: Schema, queries: Sequence[str], checks: Checks | None = None, *, seed: str = ""
) -> Origin:
    """Read what these queries need of the user's database, at most some hundred rows of each table.

    Only tables and columns that one of ``queries``, in the schema's dialect, uses are taken, with their keys (section
    4.3). ``checks`` are the conditions on rows, by default those that can be read. Tables without rows are fuzzed.
    Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    part = used(schema, queries)
    shape = Shape(part, of_part(read_checks(db, schema) if checks is None else checks, part))
    texts = [text for text in (in_sqlite(sql, schema) for sql in queries) if text is not None]
    trees = [one for one in (tree_of(text, column_names(part)) for text in texts) if one is not None]
    facts = facts_of([*trees, *(tree(one) for conditions in shape.checks.values() for one in conditions)])
    raw = _Reader(db, shape).pool(facts_of(trees))
    drawn = sources(shape.schema, _samples(shape, raw), facts)
    rng = random.Random(f"{seed}|origin")  # noqa: S311 - no secret
    pool = _standing(shape, _unmasked(db, shape, raw, rng), drawn, rng)
    return Origin(shape, pool, drawn, _constants(shape, drawn, facts_of(trees)), _measured(shape, pool, trees))


def made_up(
    shape: Shape, queries: Sequence[str], values: Mapping[tuple[str, str], Sequence[Cell]], seed: str
) -> Origin:
    """An origin without a row of the user's: random cells, constants of ``queries``, and ``values`` by column.

    ``queries`` are in SQLite's words. Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    trees = [one for one in (tree_of(text, column_names(shape.schema)) for text in queries) if one is not None]
    facts = facts_of([*trees, *(tree(one) for conditions in shape.checks.values() for one in conditions)])
    rng = random.Random(f"{seed}|made up")  # noqa: S311 - no secret
    drawn = sources(shape.schema, _common(shape, facts, values, rng), facts)
    pool = _standing(shape, {name: [] for name in shape.tables}, drawn, rng)
    return Origin(shape, pool, drawn, _constants(shape, drawn, facts_of(trees)), _measured(shape, pool, trees))


def _common(
    shape: Shape, facts: Facts, values: Mapping[tuple[str, str], Sequence[Cell]], rng: random.Random
) -> dict[tuple[str, str], list[Cell]]:
    """The values with some made-up ones, the same for columns of one name and columns that a query compares.

    Rows then meet in joins by columns of which no foreign key is declared, and tie.
    """
    pools: dict[str, list[Cell]] = {}
    for (_, column), source in sources(shape.schema).items():
        pools.setdefault(column.lower(), [fresh(rng, source.kind) for _ in range(COMMON)])
    for one, other in sorted(sorted(pair) for pair in facts.linked):
        if one in pools and other in pools:
            pools[other] = pools[one]
    return {
        (name, column.name): [*values.get((name, column.name), ()), *pools[column.name.lower()]]
        for name, table in shape.tables.items()
        for column in table.columns
    }


class _Reader:
    """Reads the rows of one database that a pool is made of; cells of masked columns are NULL."""

    def __init__(self, db: Database, shape: Shape) -> None:
        self._db = db
        self._shape = shape
        self._reads = 0
        masked = skip(db)
        self._open = {
            name: [column.name for column in table.columns if not masked(name, column.name)]
            for name, table in shape.tables.items()
        }

    def pool(self, facts: Facts) -> Rows:
        """The first rows of each table, those that hold a constant of the queries, and those that these refer to."""
        pool = {name: self._first(table) for name, table in self._shape.tables.items()}
        for name, table in self._shape.tables.items():
            if len(pool[name]) >= POOL:
                for column in table.columns:
                    for value in facts.constants.get(column.name.lower(), ()):
                        pool[name] += self._where(table, [{column.name: value}], MATCHING)
        for _ in range(_ROUNDS):
            self._parents(pool)
        return {name: list(dict.fromkeys(rows)) for name, rows in pool.items()}

    def _first(self, table: Table) -> list[Row]:
        own = self._open[table.name]
        rows = sample_rows(self._db, table, POOL).rows
        places = [at for at, column in enumerate(table.columns) if column.name not in own]
        return [tuple(None if at in places else cell for at, cell in enumerate(row)) for row in rows]

    def _parents(self, pool: Rows) -> None:
        wanted: dict[str, list[dict[str, Cell]]] = {}
        for link, at in self._shape.lost(pool):
            table = self._shape.tables[link.parent]
            names = [table.columns[ref].name for ref in link.refs]
            cells = link.wanted(pool[link.child][at]) or ()
            wanted.setdefault(link.parent, []).append(dict(zip(names, cells, strict=True)))
        for name, conditions in wanted.items():
            pool[name] = pool[name] + self._where(self._shape.tables[name], conditions[:POOL], POOL)

    def _where(self, table: Table, conditions: Sequence[Mapping[str, Cell]], most: int) -> list[Row]:
        """Rows of which one of the conditions, each some columns with their values, holds."""
        own = self._open[table.name]
        if self._reads >= MAX_READS or not own or any(name not in own for one in conditions for name in one):
            return []
        self._reads += 1
        dialect = self._db.dialect
        texts = [
            " AND ".join(f"{quote_name(name, dialect)} = {_literal(cell, dialect)}" for name, cell in one.items())
            for one in conditions
        ]
        listed = ", ".join(quote_name(name, dialect) for name in own)
        source = quote_table(table.name, table.schema, dialect)
        sql = f"SELECT {listed} FROM {source} WHERE {' OR '.join(texts)} LIMIT {int(most)}"  # noqa: S608
        found = (dict(zip(own, row, strict=True)) for row in self._db.execute(sql, LIMITS).rows)
        return [tuple(row.get(column.name) for column in table.columns) for row in found]


def _literal(cell: Cell, dialect: str) -> str:
    return exp.Literal.string("").sql() if isinstance(cell, bytes) else exp.convert(cell).sql(dialect=dialect)


def _samples(shape: Shape, pool: Rows) -> dict[tuple[str, str], list[Cell]]:
    return {
        (name, column.name): list(dict.fromkeys(row[at] for row in pool[name]))
        for name, table in shape.tables.items()
        for at, column in enumerate(table.columns)
    }


def _unmasked(db: Database, shape: Shape, pool: Rows, rng: random.Random) -> Rows:
    """The rows with cells made up where the column is masked."""
    masked, found = skip(db), {}
    for name, table in shape.tables.items():
        bare = sources(Schema(name, "sqlite", (Table(name, table.columns),)))
        closed = {at: bare[name, one.name].kind for at, one in enumerate(table.columns) if masked(name, one.name)}
        found[name] = [
            tuple(fresh(rng, closed[at]) if at in closed else cell for at, cell in enumerate(row)) for row in pool[name]
        ]
    return found


def _standing(shape: Shape, pool: Rows, drawn: Mapping[tuple[str, str], Source], rng: random.Random) -> Rows:
    """A database from these rows: what breaks a constraint is mended, else taken away; empty tables are fuzzed."""
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
    """Rows that refer to none get a parent, at last NULL, or go; for real data does not always keep its keys."""
    parents_first = shape.children_first()[::-1]
    for number in range(_MENDS):
        scratch.fill(rows, skip=True)
        rows = scratch.rows()
        for link, at in sorted(shape.lost(rows), key=lambda found: parents_first.index(found[0].child)):
            held, parents = rows[link.child], rows[link.parent]
            if number < _MENDS - 1 and parents:
                held[at] = link.pointed(held[at], rng.choice(parents))
            elif optional := shape.optional(link.child).intersection(link.columns):
                held[at] = tuple(None if place == min(optional) else cell for place, cell in enumerate(held[at]))
    scratch.fill(rows, skip=True)
    return shape.closed(scratch.rows())


def _constants(
    shape: Shape, drawn: Mapping[tuple[str, str], Source], facts: Facts
) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """What the queries compare columns with, and its near misses: those of a source are its last."""
    found = {}
    for name, table in shape.tables.items():
        for column in table.columns:
            own = facts.constants.get(column.name.lower(), ())
            if own:
                known = drawn[name, column.name].known
                found[name, column.name] = tuple(value for value in known if value in own or _near(value, own))
    return found


def _near(value: Cell, constants: Sequence[Cell]) -> bool:
    for one in constants:
        if isinstance(one, int | float) and value in (one - 1, one, one + 1):
            return True
        if isinstance(one, str) and isinstance(value, str) and one and one in value:
            return True
    return False


def _measured(shape: Shape, pool: Rows, trees: Sequence[exp.Expr]) -> frozenset[tuple[str, str]]:
    """Columns that the queries aggregate or sort, that hold numbers and are of no key (section 4.2.3)."""
    names = {
        column.name.lower()
        for one in trees
        for node in one.find_all(exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Ordered)
        for column in node.find_all(exp.Column)
    }
    found = set()
    for name, table in shape.tables.items():
        keys = {at for key in shape.keys(name) for at in key}
        keys |= {at for link in shape.links if link.child == name for at in link.columns}
        keys |= {at for link in shape.links if link.parent == name for at in link.refs}
        for at, column in enumerate(table.columns):
            cells = [row[at] for row in pool[name] if row[at] is not None]
            numbers = bool(cells) and all(isinstance(cell, int | float) for cell in cells)
            if column.name.lower() in names and at not in keys and numbers:
                found.add((name, column.name))
    return frozenset(found)


MTS: Final = 5
"""Rows a table is filled up to (the paper's maximum table size); rows that others refer to may go beyond."""

SMALLEST: Final = 1
LARGEST: Final = 10


def select(origin: Origin, seed: str, size: int = MTS) -> Rows:
    """Rows drawn table by table, referencing tables first, each with the rows it refers to, then filled up to ``size``.

    Equal for equal arguments. Every constraint holds because it holds for ``origin.pool``, whatever rows are taken, as
    long as their parents are.
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


def small_numbers(origin: Origin, rows: Rows, seed: str) -> Rows:
    """The rows with integers of 1 to 10 in the measured columns; NULL stays, and so do keys (section 4.2.3)."""
    rng = random.Random(f"{seed}|numbers")  # noqa: S311 - no secret
    found = {}
    for name, table in origin.shape.tables.items():
        places = {at for at, column in enumerate(table.columns) if (name, column.name) in origin.measured}
        found[name] = [
            tuple(
                rng.randint(SMALLEST, LARGEST) if at in places and cell is not None else cell
                for at, cell in enumerate(row)
            )
            for row in rows[name]
        ]
    return found


def random_case(origin: Origin, seed: str, size: int = MTS, *, numbers: bool = True) -> TestCase:
    """One small database by random selection, with small numbers unless told otherwise or a constraint forbids them."""
    rows = select(origin, seed, size)
    with MemoryDatabase(origin.shape.statements()) as scratch:
        changed = small_numbers(origin, rows, seed)
        return origin.shape.case(changed if numbers and scratch.fill(changed) else rows)
