"""What written queries are worth: each is run on its question's database and compared with the gold query."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import SqljuryError
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.types import Limits, Result

RIGHT: Final = 1.0
WRONG: Final = 0.0
FAILED: Final = -0.25
"""For a query that does not run: of two wrong queries the one that runs is better, but being right is what counts."""

LIMITS: Final = Limits(seconds=2.0, rows=20_000)
"""Of a written query. A slower one counts as failed."""
OPEN: Final = 64
"""Databases that a process keeps open."""


class GoldQuery(NamedTuple):
    """A question's gold query and the file of its database."""

    database: str
    sql: str


class Court:
    """Processes that run queries, for as long as a training lasts; close it at the end."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._pool = self._started()

    def rewards(self, written: Sequence[tuple[GoldQuery, Sequence[str]]]) -> list[list[float]]:
        """The reward of each query of each question.

        All 0 for questions whose gold query fails or returns nothing, since equality would say little, and for those
        whose queries end the process that runs them.
        """
        futures = [self._pool.submit(rewards_of, gold, tuple(queries)) for gold, queries in written]
        found: list[list[float]] = []
        broken = False
        for future, (gold, queries) in zip(futures, written, strict=True):
            try:
                if broken:
                    future = self._pool.submit(rewards_of, gold, tuple(queries))
                found.append(future.result())
            except BrokenProcessPool:
                self._pool, broken = self._started(), True
                found.append([WRONG] * len(queries))
        return found

    def close(self) -> None:
        """End all processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        # Forking is not safe once torch has threads.
        return ProcessPoolExecutor(self._processes, multiprocessing.get_context("spawn"))


def rewards_of(gold: GoldQuery, queries: Sequence[str]) -> list[float]:
    """The rewards of queries for one question, in their order; all 0 where gold fails or returns nothing."""
    expected = _gold_result(gold)
    if expected is None:
        return [WRONG] * len(queries)
    ordered = EX.ordered(gold.sql)
    known = {query: _reward(gold.database, query, expected, ordered) for query in dict.fromkeys(queries)}
    return [known[query] for query in queries]


def _reward(database: str, query: str, expected: Result, ordered: bool) -> float:
    if not query.strip():
        return FAILED
    result = _opened(database).execute(query, LIMITS)
    if result.error is not None:
        return FAILED
    return RIGHT if judge(expected, result, ordered).correct else WRONG


@lru_cache(maxsize=4096)
def _gold_result(gold: GoldQuery) -> Result | None:
    try:
        result = run_gold(_opened(gold.database), gold.sql, limits=LIMITS)
    except SqljuryError:
        return None
    says_something = any(value not in (None, 0) for row in result.rows for value in row)
    return result if says_something else None


@lru_cache(maxsize=OPEN)
def _opened(database: str) -> Database:
    return connect(database)
