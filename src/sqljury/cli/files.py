"""The body of ``sqljury eval --gold``: read the files, judge, print; what is wrong with gold comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rich.console import Console

from sqljury.cli import eval_tables, terminal
from sqljury.cli.terminal import table_file
from sqljury.datasets.formats import read_golds, read_pairs
from sqljury.datasets.pairs import database_files, read_labels
from sqljury.datasets.reading import Document
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import scores
from sqljury.evaluation.agree import reference, with_labels
from sqljury.evaluation.explain import explain
from sqljury.evaluation.findings import Findings, Provenance, to_json
from sqljury.evaluation.judge import Evaluation, Judged, check, evaluate
from sqljury.evaluation.page import page
from sqljury.evaluation.scores import faults, findings
from sqljury.evaluation.targets import Targets
from sqljury.experiments.accumulate import accumulate
from sqljury.metrics import esm_plus
from sqljury.metrics.case import Options
from sqljury.metrics.registry import Metric, named
from sqljury.testing.store import MANIFEST
from sqljury.types import Limits

if TYPE_CHECKING:
    from sqljury.datasets.pairs import Gold, Pair
    from sqljury.parallel.crew import Crew

LISTED = 20


class Paths(NamedTuple):
    """The files of an evaluation, None where one is not given."""

    gold: Path
    pred: Path | None = None
    against: Path | None = None
    tables: Path | None = None
    labels: Path | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """Where everything is that an evaluation reads."""

    gold: Document
    pred: Document | None
    against: Document | None
    db_dir: Path
    tables: Document | None
    suite: Path | None
    labels: Document | None
    gold_format: str | None
    pred_format: str | None

    @classmethod
    def read(
        cls, paths: Paths, db_dir: Path, suite: Path | None, gold_format: str | None, pred_format: str | None
    ) -> Self:
        """Read each file, once; raises ``DatasetError`` for one that cannot be read."""
        gold, *others = paths
        pred, against, tables, labels = (None if file is None else Document.of(file) for file in others)
        return cls(Document.of(gold), pred, against, db_dir, tables, suite, labels, gold_format, pred_format)

    def pairs(self, pred: Document) -> list[Pair]:
        """Gold beside one file of predictions."""
        return read_pairs(self.gold, pred, self.gold_format, self.pred_format)

    def evaluate(self, pairs: Sequence[Pair], settings: Settings) -> Evaluation:
        """Pairs, judged."""
        return evaluate(
            pairs,
            self.targets([pair.gold for pair in pairs]),
            settings.metrics,
            options=settings.options,
            processes=settings.processes,
        )

    def targets(self, golds: Sequence[Gold]) -> Targets:
        """The databases that the queries name, with all that metrics need to know of them."""
        return Targets(self.databases(golds), self.tables, self.suite)

    def databases(self, golds: Sequence[Gold]) -> dict[str, tuple[Path, ...]]:
        """The files of each database that the queries name, but of those that are not there."""
        return database_files(self.db_dir, golds, all_there=False)

    def read_from(self, golds: Sequence[Gold]) -> list[Path]:
        """All files that are read, and the folders of which every file may be."""
        documents = (self.gold, self.pred, self.against, self.tables, self.labels)
        folders = dict.fromkeys(file.parent for files in self.databases(golds).values() for file in files)
        inputs = [document.file for document in documents if document is not None]
        return [*inputs, *folders, *([] if self.suite is None else [self.suite])]

    def provenance(self, golds: Sequence[Gold]) -> Provenance:
        """Hashes of all files as they were read; those of the databases are taken now, so before judging."""
        suite = None if self.suite is None else self.suite / MANIFEST
        files = (self.gold, self.pred, self.against, self.tables, suite, self.labels)
        return scores.provenance([file for file in files if file is not None], self.databases(golds))


@dataclass(frozen=True, slots=True)
class Settings:
    """What to judge by."""

    metrics: tuple[Metric, ...]
    options: Options
    processes: int | Crew
    seed: int

    @classmethod
    def of(
        cls,
        metrics: str,
        keep_distinct: bool,
        plug_value: bool,
        disable_rules: str,
        timeout: float,
        processes: int,
        seed: int,
    ) -> Self:
        """From the words of the command line; raises ``InputError`` for one that is not understood."""
        names = [metric.name for metric in named(name for name in metrics.split(",") if name.strip())]
        if not names:
            raise InputError("no metric is named; give some with --metrics, as in --metrics exe,esm+")
        if keep_distinct:
            names = list(dict.fromkeys(f"{name}_keep_distinct" if name in ("exe", "suite") else name for name in names))
        try:
            disabled = frozenset(int(number) for number in disable_rules.split(",") if number.strip())
        except ValueError:
            raise InputError(f"--disable-rules {disable_rules!r}: give numbers with commas between") from None
        limits = Limits(timeout, Options().limits.rows, Options().limits.bytes)
        options = Options(plug_values=plug_value, limits=limits, esm_plus=esm_plus.Options(disabled=disabled))
        return cls(named(names), options, processes, seed)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to print, and where else to write; JSON and HTML have all that there is."""

    output: str = "table"
    per_query: Path | None = None
    partial: bool = False
    agreement: bool = False
    accumulate: bool = False


def judge_files(files: Files, settings: Settings, wanted: Wanted) -> None:
    """Judge the predictions, beside another file of them where one is given, and print the report."""
    assert files.pred is not None
    pairs = files.pairs(files.pred)
    golds = [pair.gold for pair in pairs]
    labels = None if files.labels is None else read_labels(files.labels, len(pairs))
    if labels is None and (wanted.agreement or wanted.accumulate):
        reference(metric.name for metric in settings.metrics)
    if wanted.partial and not any(metric.name == "esm" for metric in settings.metrics):
        raise InputError("--partial is partial match of ESM; add esm to --metrics")
    others = None if files.against is None else files.pairs(files.against)
    with table_file(wanted.per_query, scores.TABLE_BEGINS, files.read_from(golds)) as table:
        provenance = files.provenance(golds)
        evaluation = files.evaluate(pairs, settings)
        evaluation.refuse_if_nothing_judged()
        other = None if others is None else files.evaluate(others, settings)
        if labels is not None:
            evaluation = with_labels(evaluation, labels)
        if table is not None:
            table.write(scores.tsv(evaluation))
    if wanted.per_query is not None:
        terminal.note(f"{len(pairs)} lines in {wanted.per_query}")
    rules = accumulate(evaluation, files.targets(golds), settings.processes) if wanted.accumulate else None
    report = replace(findings(evaluation, other, settings.seed), accumulated_rules=rules, provenance=provenance)
    against = "" if files.against is None else files.against.file.name
    if wanted.output == "json":
        print(terminal.to_json(to_json(report)))
    elif wanted.output == "html":
        print(page(evaluation, report, f"{files.pred.file.name} on {files.gold.file.name}", against), end="")
    else:
        _print(eval_tables.console(), terminal.cleaned(report), wanted, terminal.clean(against))


def _print(console: Console, report: Findings, wanted: Wanted, against: str) -> None:
    eval_tables.print_faults(console, report.gold)
    eval_tables.print_metrics(console, report)
    for part in report.against.values():
        eval_tables.print_comparison(console, part, against)
    if wanted.partial:
        eval_tables.print_partial(console, report.partial or {})
    if wanted.agreement and report.agreement is not None:
        eval_tables.print_agreement(console, report.agreement)
    if report.accumulated_rules is not None:
        eval_tables.print_accumulated(console, report.accumulated_rules)
    assert report.provenance is not None
    left_out = f", {report.left_out} of them left out," if report.left_out else ""
    hashes = eval_tables.hashes(report.provenance)
    console.print(f"\n{report.queries} queries{left_out} in {report.seconds:.1f} s; {hashes}")


def explain_pair(files: Files, settings: Settings, index: int, as_json: bool) -> None:
    """Judge one pair, counted from 0, and print all there is to say of it; raises ``InputError`` for no pair."""
    assert files.pred is not None
    pairs = files.pairs(files.pred)
    if not 0 <= index < len(pairs):
        raise InputError(
            f"--explain {index}: {files.gold} has no such pair; they are counted from 0 to {len(pairs) - 1}"
        )
    evaluation = files.evaluate([pairs[index]], settings)
    evaluation.refuse_if_nothing_judged()
    gold = pairs[index].gold
    targets = files.targets([gold])
    try:
        explanation = explain(index, evaluation, targets.target(gold.db_id).facts)
    finally:
        targets.close()
    if as_json:
        print(terminal.to_json(to_json(explanation)))
    else:
        eval_tables.print_pair(eval_tables.console(), terminal.cleaned(explanation))


def check_gold(files: Files, settings: Settings, as_json: bool) -> None:
    """Judge gold by itself; raises ``DatasetError`` after naming what is not 100 %."""
    golds = read_golds(files.gold, files.gold_format)
    provenance = files.provenance(golds)
    evaluation = check(
        golds, files.targets(golds), settings.metrics, options=settings.options, processes=settings.processes
    )
    if timed := ", ".join(metric.title for metric in settings.metrics if metric.timed):
        terminal.note(f"{timed} is left out: gold timed against itself says nothing")
    wrong, names = evaluation.imperfect, ", ".join(evaluation.titles.values())
    if as_json:
        report = {
            "queries": len(golds),
            "metrics": list(evaluation.titles),
            "gold": to_json(faults(evaluation)),
            "mismatches": [_mismatch(judged) for judged in wrong],
            "provenance": to_json(provenance),
        }
        print(terminal.to_json(report))
    else:
        console = eval_tables.console()
        eval_tables.print_faults(console, terminal.cleaned(faults(evaluation)))
        for judged in wrong[:LISTED]:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in _mismatch(judged)["metrics"].items())
            console.print(terminal.clean(f"{judged.pair.gold.place}: {reasons}"))
        if not wrong:
            console.print(f"{len(golds)} gold queries match themselves by {names}; {eval_tables.hashes(provenance)}")
    if wrong:
        where = "" if as_json else "; see above"
        raise DatasetError(f"{len(wrong)} of {len(golds)} gold queries do not match themselves by {names}{where}")


def _mismatch(judged: Judged) -> dict[str, Any]:
    """Why a gold query does not match itself, by metric."""
    gold = judged.pair.gold
    reasons = {
        name: "cannot be judged" if score is None else score.reason or f"{score.value:g}"
        for name, score in judged.scores.items()
        if score is None or score.value < 1
    }
    return {"id": gold.id, "place": gold.place, "gold": gold.sql, "metrics": reasons}
