"""How metrics agree query by query, their errors against execution, and what execution accepts and ESM+ refuses.

The ESM+ paper counts errors against a judgement by hand (section 5.3, Table 4). Without one, the labels here are what
an execution metric says: a false negative is then an upper bound, for execution accepts some wrong queries by luck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any, Final

from sqljury.bench.evaluation import Evaluation
from sqljury.errors import InputError
from sqljury.metrics import agreement

REFERENCES: Final = ("exe_keep_distinct", "exe", "ex", "ex_bird")
"""The metrics that can be the labels, the best first: DISTINCT counts, as in the paper's Table 4."""

_LISTED: Final = ("esm_plus", "esm_plus_strict")
"""The metrics whose refusals are listed one by one."""


def reference(metrics: Iterable[str]) -> str:
    """Which of these metrics stands for the truth; raises ``InputError`` where none of them is of execution."""
    names = set(metrics)
    for name in REFERENCES:
        if name in names:
            return name
    raise InputError(f"there is nothing to agree with; add one of {', '.join(REFERENCES)} to --metrics")


def agree(evaluation: Evaluation) -> dict[str, Any]:
    """Confusions of all pairs of metrics, each one's errors in percent, and the queries that ESM+ alone refuses.

    Ready for JSON. Graded metrics are left out; raises ``InputError`` as ``reference`` does.
    """
    names = [metric.name for metric in evaluation.metrics if not metric.graded]
    titles = {metric.name: metric.title for metric in evaluation.metrics}
    labels = reference(titles)
    return {
        "reference": labels,
        "confusion": [_confusion(evaluation, *pair, titles) for pair in combinations(names, 2)],
        "errors": {name: _errors(evaluation, name, labels) | {"title": titles[name]} for name in names},
        "refused": {name: refused(evaluation, name, labels) for name in names if name in _LISTED},
    }


def refused(evaluation: Evaluation, metric: str, labels: str) -> dict[str, Any]:
    """The queries that ``labels`` accepts and ``metric`` refuses, with the clauses in which they differ, and counts."""
    places = agreement.confusion(evaluation.column(metric), evaluation.column(labels)).second_only
    pairs = []
    clauses: Counter[str] = Counter()
    for place in places:
        one = evaluation.judged[place]
        score = one.scores[metric]
        assert score is not None
        clauses.update(score.differs or ("not read",))
        gold = one.pair.gold
        pairs.append(
            {
                "index": place,
                "database": gold.db_id,
                "reason": score.reason,
                "gold": gold.sql,
                "predicted": one.pair.prediction.sql,
            }
        )
    return {"clauses": dict(clauses.most_common()), "pairs": pairs}


def _confusion(evaluation: Evaluation, first: str, second: str, titles: dict[str, str]) -> dict[str, Any]:
    found = agreement.confusion(evaluation.column(first), evaluation.column(second))
    return {
        "first": titles[first],
        "second": titles[second],
        **{cell: len(places) for cell, places in found._asdict().items()},
        "agreement": round(100 * found.agreement, 2),
        "kappa": round(found.kappa, 3),
    }


def _errors(evaluation: Evaluation, metric: str, labels: str) -> dict[str, Any]:
    found = agreement.errors(evaluation.column(metric), evaluation.column(labels))
    return {
        "false_positives": round(100 * found.false_positives, 2),
        "false_negatives": round(100 * found.false_negatives, 2),
    }
