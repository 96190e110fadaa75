"""How far the figures of repeated runs vary: EX, EXE, ESM and ESM+ with mean and variance (ESM+ paper, section 5.2)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.pairs import Pair, Prediction
from sqljury.engines.databases import Databases, of_run
from sqljury.errors import DatasetError
from sqljury.evaluation import run_folder
from sqljury.evaluation.judge import evaluate
from sqljury.evaluation.run_folder import Record
from sqljury.evaluation.targets import Targets
from sqljury.evaluation.verdicts import Work
from sqljury.metrics.execution import LIMITS
from sqljury.metrics.registry import named

METRICS: Final = ("ex", "exe-keep-distinct", "esm", "esm+")


def repeats(runs: Sequence[Path], data: Path, processes: int = 1) -> dict[str, Any]:
    """Figures of runs of the same questions, ready for JSON: percentages by run, their mean, variance and deviation.

    ``variance`` is that of the percentages, in squared points, as estimated from this sample of runs; ``deviation`` is
    its root. A question counts where every metric has a score in every run. Foreign keys are those of ``tables.json``
    in ``data``, if it is there. Raises ``DatasetError`` for runs of other questions, and where none can be judged.
    """
    described = [run_folder.described(run) for run in runs]
    records = [{record["id"]: record for record in run_folder.records(run)} for run in runs]
    asked = [{id_: (record["question"], record["gold"]) for id_, record in answers.items()} for answers in records]
    for run, questions in zip(runs, asked, strict=True):
        if questions != asked[0] or not questions:
            raise DatasetError(f"{run}: its questions are not those of {runs[0]}; finish both with the same command")
    with of_run(described[0], data, runs[0]) as databases:
        scores, titles = [], dict[str, str]()
        for answers in records:
            columns, titles = _scores([answers[id_] for id_ in asked[0]], databases, data, processes)
            scores.append(columns)
    kept = [
        at
        for at in range(len(asked[0]))
        if all(columns[name][at] is not None for columns in scores for name in columns)
    ]
    ids = list(asked[0])
    if not kept:
        raise DatasetError(f"{runs[0]}: none of its questions can be judged; does --data name the dataset's folder?")
    return {
        "seeds": [settings["seed"] for settings in described],
        "runs": [str(run) for run in runs],
        "questions": len(kept),
        "faults": [(ids[at], "no score by every metric") for at in range(len(ids)) if at not in set(kept)],
        "metrics": [
            {"metric": name, "title": title, **spread([_percent(columns[name], kept) for columns in scores])}
            for name, title in titles.items()
        ],
    }


def spread(percent: Sequence[float]) -> dict[str, Any]:
    """Percentages with their mean, sample variance and standard deviation."""
    variance = statistics.variance(percent)
    figures = {"mean": statistics.fmean(percent), "variance": variance, "deviation": variance**0.5}
    return {
        "percent": [round(value, 2) for value in percent],
        **{name: round(value, 3) for name, value in figures.items()},
    }


Columns = dict[str, list[float | None]]


def _scores(
    records: Sequence[Record], databases: Databases, data: Path, processes: int
) -> tuple[Columns, dict[str, str]]:
    """By metric the scores of one run's answers, and the metrics' titles."""
    work = [Work.of(record, databases, LIMITS) for record in records]
    tables = data / "tables.json"
    targets = Targets(
        {item.db_id: (databases.target(item.db_id),) for item in work}, tables if tables.is_file() else None
    )
    pairs = [Pair(item.asked, Prediction(item.id, record["sql"])) for item, record in zip(work, records, strict=True)]
    evaluation = evaluate(pairs, targets, named(METRICS), processes=processes)
    return {metric.name: evaluation.column(metric.name) for metric in evaluation.metrics}, evaluation.titles


def _percent(scores: Sequence[float | None], kept: Sequence[int]) -> float:
    return 100 * sum(scores[at] or 0.0 for at in kept) / len(kept)
