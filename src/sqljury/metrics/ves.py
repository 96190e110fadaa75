"""How fast a right prediction runs beside gold: BIRD's VES and its successor R-VES.

VES (Li et al. 2023, "Can LLM Already Serve as a Database Interface?", section 4) is the root of gold's time over the
prediction's; R-VES, of BIRD's mini-dev, puts that ratio into steps first, which takes out most of the noise. A wrong
prediction has 0; a file's score is 100 times the mean.

The published programs divide single runs and take the mean without outliers. Here both are run once unmeasured, then in
turns, each first every other time, and the medians are divided: what else the machine does meets both alike. The same
query has the ratio 1 and is not run: R-VES takes a quarter away just below 1, so noise would decide.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import contextmanager
from itertools import count
from math import sqrt
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from sqljury.types import Limits, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

REWARDS: Final = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
"""From the least ratio of gold's time over the prediction's to its reward, as published for R-VES."""


class Timing(NamedTuple):
    """Median seconds of each query over ``repeats`` runs, 0 where both are one query; ``error`` where one failed.

    There are no times without runs.
    """

    gold: float
    predicted: float
    repeats: int
    error: str | None = None

    @property
    def ratio(self) -> float:
        """Gold's time over the prediction's: above 1 the prediction is faster; 1 for one query, 0 where one failed."""
        if self.error is not None:
            return 0.0
        return self.gold / self.predicted if self.repeats else 1.0


class Effort(NamedTuple):
    """How long to measure a pair: ``repeats`` runs each, none begun after ``seconds``, but 3 at least.

    Quick queries are run on until both together took ``least`` seconds, at most ten times as often.
    """

    repeats: int = 31
    seconds: float = 10.0
    least: float = 0.0


EFFORT: Final = Effort(least=0.1)


def time_pair(
    run: Callable[[str, Limits], Result], gold_sql: str, predicted_sql: str, effort: Effort, limits: Limits
) -> Timing:
    """Run both in turns and take the medians of ``Result.seconds``; ``run`` must really run a query each time.

    Queries that differ in nothing but a semicolon at the end and the space around them are not run.
    """
    if _bare(gold_sql) == _bare(predicted_sql):
        return Timing(0.0, 0.0, 0)
    return measure(lambda sql: _seconds(run(sql, limits)), gold_sql, predicted_sql, effort)


def measure(seconds: Callable[[str], float | str], gold_sql: str, predicted_sql: str, effort: Effort) -> Timing:
    """The same with any clock: ``seconds`` runs a query and returns what it took, or why it failed."""
    times: dict[str, list[float]] = {"gold": [], "predicted": []}
    queries = {"gold": gold_sql, "predicted": predicted_sql}
    start = monotonic()
    with _no_collection():
        for turn in count():
            for name in ("gold", "predicted") if turn % 2 else ("predicted", "gold"):
                taken = seconds(queries[name])
                if isinstance(taken, str):
                    return Timing(0.0, 0.0, 0, taken)
                times[name] += [taken] * (turn > 0)  # the first turn fills the caches
            spent = monotonic() - start
            enough = turn >= effort.repeats and (spent >= effort.least or turn >= 10 * effort.repeats)
            if enough or (turn >= 3 and spent > effort.seconds):
                break
    return Timing(median(times["gold"]), median(times["predicted"]), turn)


def ves(ratio: float) -> float:
    """The score of one right prediction from its ratio of times; has no upper bound."""
    return sqrt(ratio)


def reward(ratio: float) -> float:
    """What R-VES gives for a ratio of times, 0.25 to 1.25; 0 for the ratio 0 of a wrong prediction."""
    return next(worth for least, worth in REWARDS if ratio >= least) if ratio > 0 else 0.0


def r_ves(ratio: float) -> float:
    """The score of one right prediction: the root of its reward, as the published program sums it."""
    return sqrt(reward(ratio))


def _bare(sql: str) -> str:
    return sql.strip().rstrip("; \t\r\n")


def _seconds(result: Result) -> float | str:
    return str(result.error) if result.error is not None else max(result.seconds, 1e-9)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Python's garbage collector would strike one of the two."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
