"""Execution accuracy: a prediction is right when it returns what the gold query returns on the same database.

Three settings of one definition (Zhong et al. 2020; Spider's leaderboard; ESM+ paper, section 2.2):

``EX``
    The queries as written. What `sqljury eval` reports first, since a user sees DISTINCT or its absence.
``EXE``
    What the published test-suite program answers by default: DISTINCT is taken out of both queries first. It comes
    from models that could not predict it; published leaderboard figures are made with it.
``EXE_KEEP_DISTINCT``
    The same with DISTINCT kept, as section 5.3 of the ESM+ paper recommends.

Each may be asked of one database or of a test suite, several databases of one schema: then a prediction is right when
it is right on all. With ``plug_values`` it is also right with gold's values for its own, see ``metrics/plug.py``.

Execution accuracy as BIRD defines it (Li et al. 2023, "Can LLM Already Serve as a Database Interface?").

Otherwise than in Spider's semantics the rows are a set, so neither their order nor how often each comes counts, and the
columns must come in gold's order. The queries are run as written.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.db.base import Runs
from sqljury.errors import DatasetError, QueryLimitError
from sqljury.metrics.plug import plugged
from sqljury.sql.compare import same_result
from sqljury.sql.scan import length_fault, orders, text_fault, without_distinct
from sqljury.types import Limits, Result, Row

LIMITS: Final = Limits(seconds=60.0, rows=1_000_000, bytes=1024**3)
"""For one query under evaluation; wide, because a result that is cut can seldom be compared."""

_SHOWN: Final = 500
"""Characters of a gold query that a message quotes."""

_SPLIT_OPERATORS: Final = (("> =", ">="), ("< =", "<="), ("! =", "!="))
_CURRENT_YEAR: Final = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """How queries are treated before they are compared.

    Without ``keep_distinct`` DISTINCT is taken out of both. ``order_anywhere`` lets the order of rows count as soon as
    the gold query's text has "order by" anywhere, as the published program does; else only its own ORDER BY counts.
    With ``plug_values`` gold's values are tried in the prediction.
    """

    keep_distinct: bool = True
    order_anywhere: bool = False
    plug_values: bool = False

    def ordered(self, gold_sql: str) -> bool:
        """Whether the order of rows counts for this gold query."""
        return "order by" in gold_sql.lower() if self.order_anywhere else orders(gold_sql)

    def variants(self, gold_sql: str, predicted_sql: str) -> Iterable[str]:
        """The queries of which one must be right, prepared, the prediction as written first."""
        predicted = self.prepare(predicted_sql)
        return plugged(self.prepare(gold_sql), predicted) if self.plug_values else (predicted,)

    def prepare(self, sql: str) -> str:
        """The query that is run: split operators joined, YEAR(CURDATE()) read as 2020, the year of the program.

        One that is too long to be run is left as it is.
        """
        if length_fault(sql):
            return sql
        for apart, joined in _SPLIT_OPERATORS:
            sql = sql.replace(apart, joined)
        return _CURRENT_YEAR.sub("2020", sql if self.keep_distinct else without_distinct(sql))


EX: Final = Rules()
EXE: Final = Rules(keep_distinct=False, order_anywhere=True)
EXE_KEEP_DISTINCT: Final = Rules(order_anywhere=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a prediction is right, and in a few words why not."""

    correct: bool
    reason: str = ""


def execution_match(
    database: Runs, gold_sql: str, predicted_sql: str, rules: Rules = EX, limits: Limits = LIMITS
) -> Outcome:
    """Run both queries and compare what they return.

    Raises ``DatasetError`` as ``run_gold`` does. To keep gold's result for several predictions, call ``run_gold``
    once and ``judge`` for each.
    """
    return suite_match((database,), gold_sql, predicted_sql, rules, limits)


def suite_match(
    databases: Sequence[Runs], gold_sql: str, predicted_sql: str, rules: Rules = EX, limits: Limits = LIMITS
) -> Outcome:
    """Whether one variant of the prediction returns what gold returns on every one of these databases.

    The reason given is that of the prediction as written. Raises ``DatasetError`` as ``run_gold`` does.
    """
    first: Outcome | None = None
    for sql in rules.variants(gold_sql, predicted_sql):
        outcome = _on_all(databases, gold_sql, sql, rules, limits)
        if outcome.correct:
            return outcome
        first = first or outcome
    return first or Outcome(False, "no query")


def run_gold(database: Runs, sql: str, rules: Rules = EX, limits: Limits = LIMITS) -> Result:
    """The whole result of a gold query; raises ``DatasetError`` when it fails or a limit cuts it."""
    if fault := text_fault(sql):
        raise DatasetError(f"no prediction can be judged by gold: {fault}")
    result = database.execute(rules.prepare(sql), limits)
    shown = sql if len(sql) <= _SHOWN else f"{sql[:_SHOWN]} ..."
    if result.error is not None:
        raise DatasetError(
            f"the gold query fails, so no prediction can be judged by it: {result.error}; query: {shown}"
        )
    if result.truncated:
        message = f"the gold query returns more than {limits.rows} rows; raise Limits.rows to judge by it"
        raise DatasetError(f"{message}; query: {shown}")
    return result


def _on_all(databases: Sequence[Runs], gold_sql: str, sql: str, rules: Rules, limits: Limits) -> Outcome:
    for number, database in enumerate(databases):
        gold = run_gold(database, gold_sql, rules, limits)
        outcome = judge(gold, database.execute(sql, limits), rules.ordered(gold_sql))
        if not outcome.correct:
            where = f" (database {number + 1} of {len(databases)})" if len(databases) > 1 else ""
            return Outcome(False, outcome.reason + where)
    return Outcome(True)


def judge(gold: Result, predicted: Result, ordered: bool) -> Outcome:
    """Compare a prediction's result with gold's whole one; one that failed or cannot be compared is wrong."""
    if predicted.error is not None:
        return Outcome(False, str(predicted.error))
    try:
        if same_result(gold, predicted, ordered):
            return Outcome(True)
    except QueryLimitError as error:
        return Outcome(False, str(error))
    if len(gold.rows) != len(predicted.rows) or predicted.truncated:
        more = "more than " if predicted.truncated else ""
        return Outcome(False, f"{more}{len(predicted.rows)} rows where gold has {len(gold.rows)}")
    return Outcome(False, "other rows, or another order of them, than gold" if ordered else "other rows than gold")


def judge_as_set(gold: Result, predicted: Result) -> Outcome:
    """Compare a prediction's result with gold's whole one; one that failed or was cut by a limit is wrong."""
    if predicted.error is not None:
        return Outcome(False, str(predicted.error))
    if predicted.truncated:
        return Outcome(False, f"more than {len(predicted.rows)} rows, too many to compare")
    ours, theirs = _distinct(gold.rows), _distinct(predicted.rows)
    if ours == theirs:
        return Outcome(True)
    missing, extra = len(ours - theirs), len(theirs - ours)
    return Outcome(False, f"of {len(ours)} distinct rows {missing} are missing, {extra} are too many")


def _distinct(rows: tuple[Row, ...]) -> set[Hashable]:
    # Cells of other engines may be lists, which no set can hold.
    try:
        return set(rows)
    except TypeError:
        return {repr(row) for row in rows}
