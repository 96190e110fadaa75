"""How metrics agree query by query, their errors against execution, and what execution accepts and ESM+ refuses.

The ESM+ paper counts errors against a judgement by hand (section 5.3, Table 4). Without one, the labels are what an
execution metric says: a false negative is then an upper bound, for execution accepts some wrong queries by luck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from sqljury.errors import InputError
from sqljury.evaluation.findings import Agreement, Confused, MetricErrors, Refused, RefusedPair
from sqljury.evaluation.judge import Evaluation
from sqljury.metrics import agreement
from sqljury.metrics.case import Case, Score
from sqljury.metrics.registry import Metric

BY_HAND: Final = "right"
"""The column of judgements by hand."""

REFERENCES: Final = (BY_HAND, "exe_keep_distinct", "exe", "ex", "ex_bird", "suite_keep_distinct", "suite")
"""The columns that can be the labels, the best first: DISTINCT counts, as in the paper's Table 4.

The suite comes last, for it also refuses what is right only by facts that the schema does not declare.
"""

_LISTED: Final = ("esm_plus", "esm_plus_strict", "suite", "suite_keep_distinct")
"""The metrics whose refusals are listed one by one."""


def reference(metrics: Iterable[str]) -> str:
    """Which of these metrics stands for the truth; raises ``InputError`` where none of them is of execution."""
    names = set(metrics)
    for name in REFERENCES:
        if name in names:
            return name
    known = ", ".join(REFERENCES[1:])
    raise InputError(f"there is nothing to agree with; add one of {known} to --metrics, or --labels")


def with_labels(evaluation: Evaluation, labels: Sequence[float | None]) -> Evaluation:
    """The evaluation with a judgement by hand of each pair as one more column, None where nobody judged.

    A pair that is left out stays so: without its database no metric can be held against the judgement.
    """
    judged = tuple(
        replace(pair, scores={**pair.scores, BY_HAND: None if label is None or pair.left_out else Score(label)})
        for pair, label in zip(evaluation.judged, labels, strict=True)
    )
    by_hand = Metric(BY_HAND, "by hand", _by_hand)
    return replace(evaluation, metrics=(*evaluation.metrics, by_hand), judged=judged)


def _by_hand(_: Case) -> Score:
    raise NotImplementedError("judgements by hand are read from a file")


def agree(evaluation: Evaluation) -> Agreement:
    """Confusions of all pairs of metrics, their errors in percent, and the queries that ESM+ or the suite alone refuse.

    Graded metrics are left out; raises ``InputError`` as ``reference`` does.
    """
    names = [metric.name for metric in evaluation.metrics if not metric.graded]
    labels = reference(evaluation.titles)
    return Agreement(
        reference=labels,
        confusion=[_confusion(evaluation, *pair) for pair in combinations(names, 2)],
        errors={name: _errors(evaluation, name, labels) for name in names},
        refused={name: refused(evaluation, name, labels) for name in names if name in _LISTED},
    )


def refused(evaluation: Evaluation, metric: str, labels: str) -> Refused:
    """The queries that ``labels`` accepts and ``metric`` refuses, with the clauses in which they differ, and counts."""
    pairs = []
    clauses: Counter[str] = Counter()
    for index in agreement.confusion(evaluation.column(metric), evaluation.column(labels)).second_only:
        judged = evaluation.judged[index]
        score = judged.scores[metric]
        assert score is not None
        clauses.update(score.differs or ("not read",))
        gold, prediction = judged.pair
        pairs.append(RefusedPair(index, gold.db_id, score.reason, gold.sql, prediction.sql))
    return Refused(dict(clauses.most_common()), pairs)


def _confusion(evaluation: Evaluation, first: str, second: str) -> Confused:
    cells = agreement.confusion(evaluation.column(first), evaluation.column(second))
    both, first_only, second_only, neither = map(len, cells)
    return Confused(
        metrics=(first, second),
        first=evaluation.titles[first],
        second=evaluation.titles[second],
        both=both,
        first_only=first_only,
        second_only=second_only,
        neither=neither,
        agreement=round(100 * cells.agreement, 4),
        kappa=None if cells.kappa is None else round(cells.kappa, 3),
    )


def _errors(evaluation: Evaluation, metric: str, labels: str) -> MetricErrors:
    errors = agreement.errors(evaluation.column(metric), evaluation.column(labels))
    return MetricErrors(
        round(100 * errors.false_positives, 4), round(100 * errors.false_negatives, 4), evaluation.titles[metric]
    )
