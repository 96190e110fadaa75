"""Figures from prediction files and from the answers of runs, judged by metrics."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqljury.datasets.reading import Document
from sqljury.errors import DatasetError
from sqljury.evaluation.findings import MetricFindings
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.scores import findings
from sqljury.experiments.accumulate import accumulate
from sqljury.experiments.papers.inputs import Inputs, System, systems
from sqljury.experiments.papers.registry import Figure, Grid, Row
from sqljury.metrics import agreement
from sqljury.metrics.esm_plus.rules import MEANINGS

PAPER_METRICS: Final = {"EXE": "exe_keep_distinct", "ESM": "esm", "ESM+": "esm_plus"}
"""The metrics of the ESM+ paper's Tables 2 and 3: DISTINCT counts, ESM as published."""


def three_metrics(inputs: Inputs) -> Grid:
    """EXE, ESM and ESM+ of each system (ESM+ paper, Table 2); with verdicts, how often they are those published."""
    rows: dict[str, Row] = {}
    notes = []
    for system in systems(inputs):
        evaluation = system.judged(inputs, list(PAPER_METRICS.values()))
        metrics = findings(evaluation).metrics
        rows[system.label] = tuple(percent(metrics[name]) for name in PAPER_METRICS.values())
        notes.append(_counted(system, evaluation))
        if inputs.verdicts is not None and (inputs.verdicts / f"{system.label}.tsv").is_file():
            notes.append(as_published(system, evaluation, inputs.verdicts / f"{system.label}.tsv"))
    return Grid(tuple(PAPER_METRICS), rows, tuple(notes))


def as_published(system: System, evaluation: Evaluation, file: Path) -> str:
    """How often each metric says what the published programs said: a TSV file with ``index`` and a column a metric.

    Raises ``DatasetError`` for a file without a line of one of the queries.
    """
    lines = {line["index"]: line for line in csv.DictReader(Document.of(file).lines, delimiter="\t")}
    counts = []
    for metric in evaluation.metrics:
        same = 0
        for pair, score in zip(system.pairs, evaluation.column(metric.name), strict=True):
            published = lines.get(pair.gold.id, {}).get(metric.name)
            if published not in ("0", "1"):
                raise DatasetError(f"{file}: has no verdict {metric.name} of query {pair.gold.id}; give another folder")
            same += score is not None and int(score) == int(published)
        counts.append(f"{metric.title} {same}")
    return f"{system.label}: as the published programs say, of {len(system.pairs)}: {', '.join(counts)}"


def dialogues(inputs: Inputs) -> Grid:
    """The same by question and by whole dialogue (ESM+ paper, Table 3); raises ``DatasetError`` for no dialogues."""
    rows: dict[str, Row] = {}
    for system in systems(inputs):
        metrics = findings(system.judged(inputs, list(PAPER_METRICS.values()))).metrics
        cells: list[Figure | None] = []
        for name in PAPER_METRICS.values():
            whole = metrics[name].interactions
            if whole is None:
                raise DatasetError(f"{system.label}: gold has no dialogues; give CoSQL's gold with --gold")
            cells += [percent(metrics[name]), Figure(round(whole.percent, 1))]
        rows[system.label] = tuple(cells)
    return Grid(tuple(f"{name} {level}" for name in PAPER_METRICS for level in ("Q", "I")), rows)


def metric_errors(inputs: Inputs) -> Grid:
    """False positives and negatives of each metric in percent of the queries (ESM+ paper, Table 4).

    The truth is EXE with DISTINCT kept, or with a suite the same on its databases too, so that EXE has errors as well.
    """
    names = {"EXE": "exe_keep_distinct", "ESM": "esm_values", "ESM+": "esm_plus"}
    truth = "exe_keep_distinct" if inputs.suite is None else "suite_keep_distinct"
    rows: dict[str, Row] = {}
    title = ""
    for system in systems(inputs):
        evaluation = system.judged(inputs, list(dict.fromkeys((*names.values(), truth))))
        title = evaluation.titles[truth]
        cells: list[Figure | None] = []
        for name in names.values():
            errors = agreement.errors(evaluation.column(name), evaluation.column(truth))
            cells += [None, None] if name == truth else [Figure(round(100 * value, 1)) for value in errors]
        rows[system.label] = tuple(cells)
    return Grid(tuple(f"{name} {kind}" for name in names for kind in ("FP", "FN")), rows, (f"truth: {title}",))


def rules_accumulated(inputs: Inputs) -> Grid:
    """False negatives of ESM+ in percent as its rules are switched on, against EXE (ESM+ paper, Figure 7)."""
    columns: list[str] = []
    steps: dict[str, list[Figure | None]] = {}
    for system in systems(inputs):
        evaluation = system.judged(inputs, ["exe_keep_distinct", "esm"])
        for step in accumulate(evaluation, system.targets(inputs), inputs.processes).steps:
            steps.setdefault(step.label, []).append(Figure(round(step.percent, 1)))
        columns.append(system.label)
    return Grid(tuple(columns), {label: tuple(cells) for label, cells in steps.items()})


def rules(_: Inputs) -> Grid:
    """The equivalence rules by number (ESM+ paper, Table 1)."""
    return Grid((), {f"{number}. {meaning}": () for number, meaning in MEANINGS.items()})


def accuracy(inputs: Inputs) -> Grid:
    """EX of each prediction file and run, DISTINCT kept and dropped."""
    rows: dict[str, Row] = {}
    notes = []
    for system in systems(inputs):
        evaluation = system.judged(inputs, ["ex", "exe"])
        metrics = findings(evaluation).metrics
        rows[system.label] = (percent(metrics["ex"]), percent(metrics["exe"]))
        notes.append(_counted(system, evaluation))
    return Grid(("EX", "EX, DISTINCT dropped"), rows, tuple(notes))


def by_corrected_gold(inputs: Inputs) -> Grid:
    """EX by the dataset's gold queries and by corrected ones (``--gold``; TS-SQL, Table 2).

    ``lost`` and ``won`` count the questions that are right only by the one, only by the other (Table 7).
    """
    original, modified = list(systems(replace(inputs, gold=None))), list(systems(inputs))
    rows: dict[str, Row] = {}
    for first, second in zip(original, modified, strict=True):
        evaluations = [system.judged(inputs, ["ex"]) for system in (first, second)]
        before, after = (evaluation.column("ex") for evaluation in evaluations)
        changes = [(bool(old), bool(new)) for old, new in zip(before, after, strict=True)]
        rows[first.label] = (
            *(percent(findings(evaluation).metrics["ex"]) for evaluation in evaluations),
            Figure(changes.count((True, False))),
            Figure(changes.count((False, True))),
        )
    return Grid(("EX", "EX (modified)", "lost", "won"), rows)


def percent(metric: MetricFindings) -> Figure:
    """A metric's mean with its interval."""
    return Figure(round(metric.percent, 1), round(metric.low, 1), round(metric.high, 1))


def _counted(system: System, evaluation: Evaluation) -> str:
    left_out = sum(judged.left_out for judged in evaluation.judged)
    return f"{system.label}: {len(system.pairs)} questions" + (f", {left_out} of them left out" if left_out else "")
