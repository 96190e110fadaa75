"""A report on runs: figures, charts and every question, as one HTML page, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.bench import stored
from sqljury.bench.costs import costs
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import run_folder
from sqljury.evaluation.run_folder import Record
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
    named twice, and ``DatasetError`` for runs that share no question, and for those that mean different ones by an id.
    """
    if not 1 <= len(runs) <= MOST_RUNS:
        raise InputError(f"give 1 to {MOST_RUNS} runs; {len(runs)} are named")
    for index, run in enumerate(runs):
        if run.resolve() in [other.resolve() for other in runs[:index]]:
            raise InputError(f"{run} is named twice; give different runs")
    records = [{record["id"]: record for record in run_folder.records(run)} for run in runs]
    _refuse_other_questions(runs, records)
    loaded = [stored.load(run, data or run_folder.data_of(run, there=False), processes) for run in runs]
    spent = [costs(run, price) for run in runs]
    comparisons = [compared(loaded[0], other) for other in loaded[1:]]
    if None in comparisons:
        other = runs[1 + comparisons.index(None)]
        raise DatasetError(f"{other}: shares no question with {runs[0]}; report on runs of the same dataset")
    return {
        "sqljury_report": 1,
        "runs": [
            {"label": label, **figures(run, answers, cost)}
            for label, run, answers, cost in zip(labels(runs), loaded, records, spent, strict=True)
        ],
        "compared": comparisons,
        "questions": questions(loaded, records, spent),
    }


def _refuse_other_questions(runs: Sequence[Path], records: Sequence[Mapping[str, Record]]) -> None:
    """Raise ``DatasetError`` where runs have different questions by the same id: questions are matched by their ids."""
    known: dict[str, tuple[Path, tuple[str, ...]]] = {}
    for run, answers in zip(runs, records, strict=True):
        for id_, record in answers.items():
            # gold of a run on another engine is a translation
            asks = (record["db_id"], record["question"], record.get("source_gold") or record["gold"])
            first, before = known.setdefault(id_, (run, asks))
            if asks != before:
                raise DatasetError(
                    f"{run} asks something else as {id_!r} than {first}; report on runs of the same questions, and "
                    "give those of your own files an 'id' each"
                )


def labels(runs: Sequence[Path]) -> list[str]:
    """A short name for each run: that of its folder, with a number where several have it."""
    return told_apart([run.resolve().name for run in runs])


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, with their places where several are the same."""
    return [f"{name} ({index + 1})" if names.count(name) > 1 else name for index, name in enumerate(names)]
