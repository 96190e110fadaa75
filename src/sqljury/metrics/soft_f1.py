"""Soft F1, of BIRD's mini-dev: partial credit for results that hold some of gold's cells.

The definition is the published program's. Repeated rows are dropped; then rows are paired by place, so their order
counts, and within a pair it only matters which values each row holds. A row without partner counts as one whole miss.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from sqljury.sql.compare import distinct
from sqljury.types import Result, Row


class _Shares(NamedTuple):
    """Of the cells of a pair of rows, in gold's columns: in both, in the prediction only, in gold only."""

    both: float
    predicted_only: float
    gold_only: float


def soft_f1(gold: Result, predicted: Result) -> float:
    """From 0 to 1; two empty results score 1, a failed or cut one 0."""
    if not gold.ok or not predicted.ok or predicted.truncated:
        return 0.0
    if not gold.rows and not predicted.rows:
        return 1.0
    pairs = zip_longest(distinct(gold.rows).values(), distinct(predicted.rows).values())
    shares = [_shares(ours, theirs) for ours, theirs in pairs]
    both, predicted_only, gold_only = (sum(column) for column in zip(*shares, strict=True))
    # The harmonic mean of both / (both + predicted_only) and both / (both + gold_only).
    return 2 * both / (2 * both + predicted_only + gold_only) if both else 0.0


def _shares(gold: Row | None, predicted: Row | None) -> _Shares:
    if gold is None:
        return _Shares(0.0, 1.0, 0.0)
    if predicted is None:
        return _Shares(0.0, 0.0, 1.0)
    matched = sum(value in gold for value in predicted)
    missing = sum(value not in predicted for value in gold)
    return _Shares(matched / len(gold), (len(predicted) - matched) / len(gold), missing / len(gold))
