"""One pair in full: the score and the reason of each metric, and how ESM+ came to its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqljury.evaluation.judge import Evaluation
from sqljury.metrics.esm_plus import Facts, Options, Side, deciding_rules, esm_plus
from sqljury.metrics.esm_plus.rules import MEANINGS


@dataclass(frozen=True, slots=True)
class ExplainedScore:
    """One metric's score, None where gold cannot be run, and the reason for it."""

    title: str
    score: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class FiredRule:
    """A rule of ESM+ that changed a query, and what it assumed of the schema."""

    rule: int
    meaning: str
    assumptions: Sequence[str]


@dataclass(frozen=True, slots=True)
class RewrittenQuery:
    """A query after the rules; ``error`` says why it cannot be judged."""

    sql: str
    error: str
    fired: Sequence[FiredRule]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Both queries after the rules; without any one of the ``deciding`` rules they would not match."""

    matches: bool
    gold: RewrittenQuery
    predicted: RewrittenQuery
    differs: Sequence[str]
    deciding: Sequence[int]


@dataclass(frozen=True, slots=True)
class Explanation:
    """All there is to say of a pair; ``index`` is its number in the file, from 0."""

    index: int
    id: str
    place: str
    database: str
    hardness: str
    fault: str
    gold: str
    predicted: str
    metrics: Mapping[str, ExplainedScore]
    esm_plus: Rewriting
    esm_plus_strict: Rewriting | None = field(default=None, metadata={"left_out_if_none": True})


def explain(index: int, evaluation: Evaluation, facts: Facts) -> Explanation:
    """Explain the only pair of an evaluation; strict mode's rewriting is there where the evaluation has that metric."""
    (judged,), options = evaluation.judged, evaluation.options.esm_plus
    gold, predicted = judged.pair.gold, judged.pair.prediction.sql
    strict = replace(options, strict=True)
    return Explanation(
        index=index,
        id=gold.id,
        place=gold.place,
        database=gold.db_id,
        hardness=judged.hardness,
        fault=judged.fault,
        gold=gold.sql,
        predicted=predicted,
        metrics={
            name: ExplainedScore(evaluation.titles[name], None, "gold cannot be run")
            if score is None
            else ExplainedScore(evaluation.titles[name], score.value, score.reason)
            for name, score in judged.scores.items()
        },
        esm_plus=_rewriting(gold.sql, predicted, facts, options),
        esm_plus_strict=_rewriting(gold.sql, predicted, facts, strict) if "esm_plus_strict" in judged.scores else None,
    )


def _rewriting(gold: str, predicted: str, facts: Facts, options: Options) -> Rewriting:
    match = esm_plus(gold, predicted, facts, options)
    deciding = deciding_rules(gold, predicted, facts, options)
    return Rewriting(match.matches, _side(match.gold), _side(match.predicted), match.differs, deciding)


def _side(side: Side) -> RewrittenQuery:
    fired = [FiredRule(fired.rule, MEANINGS[fired.rule], fired.assumptions) for fired in side.fired]
    return RewrittenQuery(side.sql, side.error, fired)
