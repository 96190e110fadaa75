"""One pair in full: what each metric says of it and why, and how ESM+ came to its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqljury.evaluation.judge import Evaluation
from sqljury.metrics.esm_plus import Facts, Options, Side, deciding_rules, esm_plus
from sqljury.metrics.esm_plus.rules import MEANINGS


def explain(index: int, evaluation: Evaluation, facts: Facts) -> dict[str, Any]:
    """The one pair of an evaluation, its scores with their reasons, and the rewriting behind ESM+; ready for JSON.

    ``index`` is the pair's place in its file, from 0. The strict mode's rewriting is there where it was asked for.
    """
    (judged,), options = evaluation.judged, evaluation.options.esm_plus
    titles = {metric.name: metric.title for metric in evaluation.metrics}
    gold, predicted = judged.pair.gold, judged.pair.prediction.sql
    found: dict[str, Any] = {
        "index": index,
        "id": gold.id,
        "place": gold.place,
        "database": gold.db_id,
        "hardness": judged.hardness,
        "fault": judged.fault,
        "gold": gold.sql,
        "predicted": predicted,
        "metrics": {
            name: {
                "title": titles[name],
                "score": None if score is None else score.value,
                "reason": "gold cannot be run" if score is None else score.reason,
            }
            for name, score in judged.scores.items()
        },
        "esm_plus": rewriting(gold.sql, predicted, facts, options),
    }
    if "esm_plus_strict" in judged.scores:
        found["esm_plus_strict"] = rewriting(gold.sql, predicted, facts, replace(options, strict=True))
    return found


def rewriting(gold: str, predicted: str, facts: Facts, options: Options) -> dict[str, Any]:
    """Both queries as the rules leave them, the rules that fired, and those without which there were no match."""
    match = esm_plus(gold, predicted, facts, options)
    return {
        "matches": match.matches,
        "gold": _side(match.gold),
        "predicted": _side(match.predicted),
        "differs": list(match.differs),
        "deciding": list(deciding_rules(gold, predicted, facts, options)),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "sql": side.sql,
        "error": side.error,
        "fired": [
            {"rule": fired.rule, "meaning": MEANINGS[fired.rule], "assumptions": list(fired.assumptions)}
            for fired in side.fired
        ],
    }
