"""What a metric is given: a pair of queries, and all that is known of the database they are about."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from sqljury.db.base import Runs
from sqljury.metrics import esm_plus as plus
from sqljury.metrics.esm import ForeignKeys
from sqljury.metrics.execution import LIMITS, Rules, run_gold
from sqljury.metrics.spider import Names, Query, parse_or_empty
from sqljury.metrics.suite import Trial, Tried
from sqljury.metrics.ves import EFFORT, Effort
from sqljury.types import Limits, QueryFailure, Result, Schema

MAX_CELLS: Final = 1_000_000
"""Cells of results that are kept for each database."""

PATIENCE: Final = 10
"""One pair's queries may take this many times the limit of one together: many variants of one may be tried."""


class Score(NamedTuple):
    """What a metric says of a pair: 0 or 1, or a grade; and in a few words why it is not 1.

    ``differs`` names the clauses that are not the same, for metrics that compare clauses; ``tried`` is what a built
    suite says of a prediction that is right on the given data.
    """

    value: float
    reason: str = ""
    differs: tuple[str, ...] = ()
    tried: Tried | None = None


class Remembered:
    """A database that gives the same result again without running the query again, while memory for that lasts.

    ``spent`` is the seconds that queries really ran since it was set to 0; past ``patience`` further ones fail.
    """

    def __init__(self, database: Runs, before: Callable[[], None] = lambda: None, max_cells: int = MAX_CELLS) -> None:
        self.database = database
        self.spent = 0.0
        self.patience = float("inf")
        self._before = before
        self._max_cells = max_cells
        self._results: OrderedDict[tuple[str, Limits], Result] = OrderedDict()
        self._cells = 0

    def execute(self, sql: str, limits: Limits = LIMITS) -> Result:
        """Run one query, or give its result of before; ``before`` is called ahead of each that is run."""
        key = (sql, limits)
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        if self.spent > self.patience:
            return Result(
                error=QueryFailure("limit", f"stopped, for queries before it took {self.spent:.0f} s; ask for less")
            )
        self._before()
        result = self.database.execute(sql, limits)
        self.spent += result.seconds
        self._keep(key, result)
        return result

    def again(self, sql: str, limits: Limits = LIMITS) -> Result:
        """Run one query whether or not its result is known, and outside of ``patience``: for what measures time."""
        self._before()
        return self.database.execute(sql, limits)

    def _keep(self, key: tuple[str, Limits], result: Result) -> None:
        self._results[key] = result
        self._cells += _cells(result)
        while self._cells > self._max_cells:
            _, dropped = self._results.popitem(last=False)
            self._cells -= _cells(dropped)


def _cells(result: Result) -> int:
    # An empty result takes space too.
    return 16 + len(result.rows) * max(len(result.columns), 1)


@dataclass(frozen=True, slots=True)
class Target:
    """A database as metrics see it.

    ``databases`` holds the one of the dataset first, then those beside it; ``trials`` are those of a built suite.
    """

    schema: Schema
    names: Names
    keys: ForeignKeys
    facts: plus.Facts
    databases: tuple[Remembered, ...]
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What can be set for metrics: whether EXE plugs gold's values in, a query's limits, how to time, ESM+'s own.

    With ``placeholders`` the word ``value`` in a prediction stands for a value, as published programs have it.
    """

    plug_values: bool = False
    placeholders: bool = True
    limits: Limits = LIMITS
    effort: Effort = EFFORT
    esm_plus: plus.Options = plus.PUBLISHED


@dataclass(frozen=True)
class Case:
    """A gold query and a predicted one on their database; what several metrics need is worked out once."""

    gold_sql: str
    predicted_sql: str
    target: Target
    options: Options = field(default_factory=Options)

    @property
    def executed_sql(self) -> str:
        """The prediction as EXE runs it: the word ``value``, which stands for each value in some models, is 1.

        The published program replaces it within names too, so that right queries on a column ``value`` fail.
        """
        return self.predicted_sql.replace(" value ", " 1 ") if self.options.placeholders else self.predicted_sql

    @property
    def read_sql(self) -> str:
        """The prediction as ESM reads it: ``value`` is 1 wherever these letters stand, in lower case.

        A column ``market_value`` is then unknown, and ``avg(value)`` is no average of it (ESM+ paper, A.1, item 8).
        """
        return self.predicted_sql.replace("value", "1") if self.options.placeholders else self.predicted_sql

    @cached_property
    def gold(self) -> Query:
        """The gold query in Spider's structure, empty where Spider's parser cannot read it."""
        return parse_or_empty(self.gold_sql, self.target.names)

    @cached_property
    def predicted(self) -> Query:
        """The prediction in Spider's structure, empty where Spider's parser cannot read it."""
        return parse_or_empty(self.read_sql.strip(), self.target.names)

    def gold_result(self, rules: Rules, number: int = 0) -> Result:
        """What gold returns on one of the databases; raises ``DatasetError`` as ``run_gold`` does."""
        return run_gold(self.target.databases[number], self.gold_sql, rules, self.options.limits)
