"""What written queries are worth: each is run on its question's database and compared with the gold query."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import SqljuryError
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.train.examples import Encoded
from sqljury.types import Limits, Result

RIGHT: Final = 1.0
WRONG: Final = 0.0
FAILED: Final = -0.25
"""For a query that does not run: of two wrong queries the one that runs is better, but being right is what counts."""

LIMITS: Final = Limits(seconds=2.0, rows=20_000)
"""Of a written query. A slower one counts as failed."""
OPEN: Final = 64
"""Databases that a process keeps open."""
KNOWN: Final = 256
"""Results of gold queries that a process keeps."""


class GoldQuery(NamedTuple):
    """A question's gold query and the file of its database."""

    database: str
    sql: str


class PolicyQuestion(NamedTuple):
    """A question's id, the prompt as tokens, and the gold query that answers are compared with."""

    id: str
    prompt: list[int]
    gold: GoldQuery


@dataclass(frozen=True, slots=True)
class Group:
    """A prompt, the answers to it, and the reward of each."""

    prompt: list[int]
    answers: list[list[int]]
    rewards: list[float]

    def learned(self) -> list[Encoded]:
        """Each different answer once, weighed by how much better than the mean it is; none where all are alike."""
        mean = sum(self.rewards) / len(self.rewards)
        weights: dict[tuple[int, ...], float] = {}
        for answer, reward in zip(self.answers, self.rewards, strict=True):
            key = tuple(answer)
            weights[key] = weights.get(key, 0.0) + reward - mean
        if len(set(self.rewards)) == 1:
            return []
        return [
            Encoded(self.prompt + list(answer), [0] * len(self.prompt) + [1] * len(answer), weight)
            for answer, weight in weights.items()
            if weight
        ]


class RewardProcesses:
    """Processes that run queries, for as long as a training lasts; close it at the end."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._pool, self._broken = self._started(), False

    def rewards(self, written: Sequence[tuple[GoldQuery, Sequence[str]]]) -> list[list[float]]:
        """The reward of each query of each question.

        All 0 for questions whose gold query fails or returns nothing, since equality would say little, and for those
        whose queries end the process that runs them.
        """
        futures = [self._submitted(*pair) for pair in written]
        known = [self._result(future) for future in futures]
        # A process that ends takes what is run beside it along: each of these is run again, alone.
        return [
            rewards or self._result(self._submitted(*pair)) or [WRONG] * len(pair[1])
            for rewards, pair in zip(known, written, strict=True)
        ]

    def close(self) -> None:
        """End all processes, once the queries that run now have ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, gold: GoldQuery, queries: Sequence[str]) -> Future[list[float]] | None:
        """None where a process has ended meanwhile."""
        if self._broken:
            self._pool.shutdown(wait=False)
            self._pool, self._broken = self._started(), False
        try:
            return self._pool.submit(rewards_of, gold, tuple(queries))
        except BrokenProcessPool:
            self._broken = True
            return None

    def _result(self, future: Future[list[float]] | None) -> list[float] | None:
        try:
            return future.result() if future else None
        except BrokenProcessPool:
            self._broken = True
            return None

    def _started(self) -> ProcessPoolExecutor:
        # Forking is not safe once torch has threads.
        return ProcessPoolExecutor(self._processes, multiprocessing.get_context("spawn"), _begin)


def _begin() -> None:
    """Begin a process: Ctrl-C is the parent's to handle, and the process ends if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


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


@lru_cache(maxsize=KNOWN)
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
