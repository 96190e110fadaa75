"""Predictions that are right on the given data and wrong on a built suite, each with the database that shows it."""

from __future__ import annotations

from typing import Any

from sqljury.evaluation.findings import to_json
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.scores import faults


def lucky(evaluation: Evaluation) -> dict[str, Any]:
    """Counts, and every prediction that the suite rejects; ready for JSON.

    The evaluation is by one metric of a suite, ``suite`` or ``suite_keep_distinct``. ``untested`` counts the right
    ones that could not be tried: on no database of the suite is gold's answer settled. ``gold`` has what is wrong with
    gold queries, ``gold_fails`` counts those that nothing can be judged by.
    """
    (metric,) = evaluation.metrics
    scores = [judged.scores[metric.name] for judged in evaluation.judged]
    tried = [None if score is None else score.tried for score in scores]
    rejected = [
        {
            "index": index,
            "id": judged.pair.gold.id,
            "db_id": judged.pair.gold.db_id,
            "counterexample": str(outcome.counterexample),
            "reason": outcome.reason,
            "gold": judged.pair.gold.sql,
            "predicted": judged.pair.prediction.sql,
        }
        for index, (judged, outcome) in enumerate(zip(evaluation.judged, tried, strict=True))
        if outcome is not None and outcome.counterexample is not None
    ]
    return {
        "queries": len(scores),
        "gold_fails": sum(score is None for score in scores),
        "gold": to_json(faults(evaluation)),
        "correct": sum(outcome is not None for outcome in tried),
        "rejected": len(rejected),
        "untested": sum(outcome is not None and not outcome.tried for outcome in tried),
        "counterexamples": rejected,
    }
