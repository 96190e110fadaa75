"""All that an evaluation found, as one value: what JSON holds and what the page is made from."""

from __future__ import annotations

from typing import Any

from sqljury.bench import scores
from sqljury.bench.agree import REFERENCES, agree
from sqljury.bench.evaluation import Evaluation
from sqljury.metrics import agreement


def findings(evaluation: Evaluation, against: Evaluation | None = None, seed: int = 0) -> dict[str, Any]:
    """The summary, gold's faults first; slices, agreement where an execution metric is there, and the comparison."""
    slices = {metric.name: scores.slices(evaluation, metric.name) for metric in evaluation.metrics}
    found = {
        **scores.summary(evaluation, seed),
        "slices": {
            name: {by: {key: part._asdict() for key, part in parts.items()} for by, parts in kinds.items()}
            for name, kinds in slices.items()
        },
        "settings": _settings(evaluation, seed),
        "against": {} if against is None else comparisons(against, evaluation, seed),
    }
    if {metric.name for metric in evaluation.metrics} & set(REFERENCES):
        found["agreement"] = agree(evaluation)
    return found


def comparisons(first: Evaluation, second: Evaluation, seed: int = 0) -> dict[str, Any]:
    """The second file against the first by each metric; wins and losses are places, counted from 0."""
    groups = [one.pair.gold.db_id for one in second.judged]
    found = {}
    for metric in second.metrics:
        result = agreement.compare(first.column(metric.name), second.column(metric.name), groups, seed)
        found[metric.name] = {"title": metric.title, **result._asdict(), "interval": list(result.interval)}
    return found


def _settings(evaluation: Evaluation, seed: int) -> dict[str, Any]:
    options = evaluation.options
    return {
        "plug_values": options.plug_values,
        "seconds_a_query": options.limits.seconds,
        "disabled_rules": sorted(options.esm_plus.disabled),
        "seed": seed,
    }
