"""Small databases by random selection: rows of the user's tables, referenced rows with those that refer to them.

Li & Xie 2024, section 2.1, "Random Selection", and section 4.2.3, where numbers that have to be added up or sorted
become small ones.
"""

from __future__ import annotations

import random
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.metrics.suite.fuzz import Rows
from sqljury.testcases.origin import Origin
from sqljury.types import Row, TestCase

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
