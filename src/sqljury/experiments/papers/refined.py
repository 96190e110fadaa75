"""Figures from runs whose answers were refined by tests (``sqljury bench refine``; TS-SQL, sections 4.3 and 4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sqljury.bench import refining, stored
from sqljury.bench.refining import By
from sqljury.errors import InputError
from sqljury.evaluation import run_folder
from sqljury.experiments.mistakes import corrections
from sqljury.experiments.papers.inputs import Inputs, share
from sqljury.experiments.papers.registry import Figure, Grid, Row
from sqljury.experiments.report import labels

WAYS: Final[Mapping[By, str]] = {
    "tests": "by tests",
    "prompt": "by a prompt alone",
    "errors": "by errors",
    "result": "by its result",
}
"""How answers are refined, in words."""


def before_after(inputs: Inputs) -> Grid:
    """EX after each way to refine, by hardness, below that before (TS-SQL, Tables 4 and 5, Figure 4)."""
    rows: dict[str, Row] = {}
    summaries = list(_summaries(inputs))
    named = dict.fromkeys(level for _, summary in summaries for level in summary["hardness"])
    levels = (*named, "all")
    for label, summary in summaries:
        parts = {**summary["hardness"], "all": summary}
        for name, side in ((f"before: {label.partition(', ')[0]}", "before"), (label, "after")):
            rows.setdefault(name, tuple(share(parts[level][side]) if level in parts else None for level in levels))
    return Grid(levels, rows, _notes(inputs))


def boundaries(inputs: Inputs) -> Grid:
    """Queries corrected and misled, and how often tests are right of queries (TS-SQL, section 4.4.3, Figure 5).

    A test is right of a query if it passes a right one or fails a wrong one.
    """
    rows: dict[str, Row] = {}
    for label, summary in _summaries(inputs):
        right, wrong = summary["verdicts"]["right"], summary["verdicts"]["wrong"]
        judged = sum(verdict[key] for verdict in (right, wrong) for key in ("passed", "failed"))
        accuracy = Figure(round(100 * (right["passed"] + wrong["failed"]) / judged, 1)) if judged else None
        rows[label] = (Figure(summary["corrected"]), Figure(summary["misled"]), accuracy, share(summary["after"]))
        for keep, outcome in summary["kept"].items():  # Algorithm 1 returns the last query
            counts = (Figure(outcome["corrected"]), Figure(outcome["misled"]), None, share(outcome["after"]))
            rows[f"{label}, keep = {keep}"] = counts
    return Grid(("corrected", "misled", "tests right, %", "EX after"), rows, _notes(inputs))


def tokens(inputs: Inputs) -> Grid:
    """Tokens read and written for a question, for the test and for refinement (TS-SQL, Table 6)."""
    rows: dict[str, Row] = {}
    for label, summary in _summaries(inputs):
        cost = summary["cost"]
        parts = [cost[step]["tokens"] for step in refining.STEPS]
        rows[label] = (Figure(sum(parts)), *map(Figure, parts))
    return Grid(("Token Cost per SQL Query", "test", "refinement"), rows, _notes(inputs))


def error_types(inputs: Inputs) -> Grid:
    """Wrong queries of each type before and after, and those corrected and misled (TS-SQL, Figure 6)."""
    rows: dict[str, Row] = {}
    for label, folder, data in _refined(inputs):
        prefix = "" if len(inputs.runs) == 1 else f"{label}: "
        for kind in corrections(stored.load(folder, data, inputs.processes).questions):
            counts = (kind["before"], kind["after"], len(kind["corrected"]), len(kind["misled"]))
            rows[prefix + kind["label"]] = tuple(map(Figure, counts))
    return Grid(("before", "after", "corrected", "misled"), rows, _notes(inputs))


def _summaries(inputs: Inputs) -> Iterator[tuple[str, dict[str, Any]]]:
    """What refinement came to in each run, by its label."""
    for label, folder, data in _refined(inputs):
        yield label, refining.summary(folder, data, inputs.processes)


def _refined(inputs: Inputs) -> Iterator[tuple[str, Path, Path]]:
    """Each run and its dataset, labelled by its way to refine, and where two have the same by its folder too."""
    known: set[str] = set()
    for folder, name in zip(inputs.runs, labels(inputs.runs), strict=True):
        described = run_folder.described(folder)
        way = described.get("refined")
        if not isinstance(way, dict):
            raise InputError(f"{folder}: is not a refined run; make one with `sqljury bench refine {folder} --out DIR`")
        data = inputs.data or run_folder.data_of(folder)
        label = label_of(way, described["recipe"]["name"])
        label = f"{label}, {name}" if label in known else label
        known.add(label)
        yield label, folder, data
        inputs.stop_if_cancelled()


def label_of(way: dict[str, Any], recipe: str) -> str:
    """A run by what it refined and how: ``way`` is that of its settings, ``recipe`` the name of the whole recipe."""
    parts = [str(way.get("recipe", recipe)), WAYS.get(way.get("by", "tests"), "")]
    parts += [recipe.partition("+")[2]] if way.get("by") == "tests" else []
    parts += [f"without {way['without']}"] if way.get("without") else []
    parts += [f"{way['share']:.0%} of the rows"] if way.get("share") else []
    parts += [f"voting {way['voting']}"] if way.get("voting") else []
    parts += [f"from the query as {way['start']}"] if way.get("start") not in (None, "", "answer") else []
    return ", ".join(part for part in parts if part)


def _notes(inputs: Inputs) -> tuple[str, ...]:
    counts = (f"{folder.name}: {len(run_folder.records(folder))} answers" for folder in inputs.runs)
    return tuple(counts)
