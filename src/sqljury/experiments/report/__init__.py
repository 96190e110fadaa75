"""A report on runs: figures, charts and every question, as one HTML page, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.bench import stored
from sqljury.bench.costs import costs
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import run_folder
from sqljury.experiments.report.figures import compared, figures
from sqljury.experiments.report.questions import questions
from sqljury.llm.ledger import Price
from sqljury.llm.prices import Prices

MOST_RUNS: Final = 6
"""Runs in one report: it shows them side by side."""


def report(
    runs: Sequence[Path], data: Path | None = None, processes: int = 1, price: Price | Prices | None = None
) -> dict[str, Any]:
    """All figures and questions of these runs, ready for JSON; the first is what the others are compared with.

    Queries are judged on the databases of the dataset in ``data``, by default where each run had it, unless that was
    done before. Raises what ``stored.load`` and ``costs`` raise, ``InputError`` for too many runs and for one that is
    named twice, and ``DatasetError`` for runs that share no question.
    """
    if not 1 <= len(runs) <= MOST_RUNS or len({run.resolve() for run in runs}) < len(runs):
        raise InputError(f"give 1 to {MOST_RUNS} different runs; {len(runs)} are named")
    loaded = [stored.load(run, data or run_folder.data_of(run), processes) for run in runs]
    records = [{record["id"]: record for record in run_folder.records(run)} for run in runs]
    spent = [costs(run, price) for run in runs]
    comparisons = [compared(loaded[0], other) for other in loaded[1:]]
    if None in comparisons:
        other = runs[1 + comparisons.index(None)]
        raise DatasetError(f"{other}: shares no question with {runs[0]}; report on runs of the same dataset")
    return {
        "sqljury_report": 1,
        "runs": [
            {"label": label, **figures(run, own, cost)}
            for label, run, own, cost in zip(labels(runs), loaded, records, spent, strict=True)
        ],
        "compared": comparisons,
        "questions": questions(loaded, records, spent),
    }


def labels(runs: Sequence[Path]) -> list[str]:
    """A short name for each run: that of its folder, with a number where several have it."""
    names = [run.resolve().name for run in runs]
    return [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]
