"""Execution accuracy as BIRD defines it (Li et al. 2023, "Can LLM Already Serve as a Database Interface?").

Otherwise than in Spider's semantics the rows are a set, so neither their order nor how often each comes counts, and the
columns must come in gold's order. The queries are run as written.
"""

from __future__ import annotations

from collections.abc import Hashable

from sqljury.metrics.execution import Outcome
from sqljury.types import Result, Row


def judge_as_set(gold: Result, predicted: Result) -> Outcome:
    """Compare a prediction's result with gold's whole one; one that failed or was cut by a limit is wrong."""
    if predicted.error is not None:
        return Outcome(False, predicted.error)
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
