"""The body of ``sqljury eval --gold``: reads the files, judges, prints; what is wrong with gold comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console

from sqljury.bench import scores
from sqljury.bench.accumulate import accumulate
from sqljury.bench.agree import reference, with_labels
from sqljury.bench.evaluation import Evaluation, check, evaluate, imperfect
from sqljury.bench.explain import explain
from sqljury.bench.findings import findings
from sqljury.bench.page import page
from sqljury.bench.targets import Targets
from sqljury.cli import eval_tables, terminal
from sqljury.datasets.folders import database_files
from sqljury.datasets.formats import read_golds, read_pairs
from sqljury.datasets.labels import read_labels
from sqljury.errors import DatasetError, InputError
from sqljury.metrics.case import Options
from sqljury.metrics.match import plus
from sqljury.metrics.registry import named
from sqljury.metrics.suite.store import MANIFEST
from sqljury.types import Limits

if TYPE_CHECKING:
    from sqljury.datasets.pairs import Gold, Pair

LISTED = 20


@dataclass(frozen=True, slots=True)
class Files:
    """Where everything is that an evaluation reads."""

    gold: Path
    pred: Path | None
    against: Path | None
    db_dir: Path
    tables: Path | None
    suite: Path | None
    labels: Path | None
    gold_format: str | None
    pred_format: str | None

    def pairs(self, pred: Path) -> list[Pair]:
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
        """The files of each database that the queries name."""
        return database_files(self.db_dir, golds)

    def provenance(self, golds: Sequence[Gold]) -> dict[str, Any]:
        """Hashes of all files that were read."""
        suite = None if self.suite is None else self.suite / MANIFEST
        files = (self.gold, self.pred, self.against, self.tables, suite, self.labels)
        return scores.provenance([file for file in files if file is not None], self.databases(golds))


@dataclass(frozen=True, slots=True)
class Settings:
    """What to judge by."""

    metrics: tuple[str, ...]
    options: Options
    processes: int
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
        options = Options(plug_values=plug_value, limits=limits, esm_plus=plus.Options(disabled=disabled))
        return cls(tuple(names), options, processes, seed)


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
    labels = None if files.labels is None else read_labels(files.labels, len(pairs))
    if labels is None and (wanted.agreement or wanted.accumulate):
        reference(settings.metrics)
    found = files.evaluate(pairs, settings)
    other = None if files.against is None else files.evaluate(files.pairs(files.against), settings)
    golds = [pair.gold for pair in pairs]
    labelled = found if labels is None else with_labels(found, labels)
    if wanted.per_query is not None:
        scores.write_tsv(labelled, wanted.per_query)
        terminal.note(f"{len(pairs)} lines in {wanted.per_query}")
    report = findings(labelled, other, settings.seed)
    if wanted.accumulate:
        report["accumulated_rules"] = accumulate(labelled, files.targets(golds), settings.processes)
    report["provenance"] = files.provenance(golds)
    if wanted.output == "json":
        print(terminal.to_json(report))
    elif wanted.output == "html":
        title = f"{files.pred.name} on {files.gold.name}"
        print(page(labelled, report, title, "" if files.against is None else files.against.name), end="")
    else:
        _print(eval_tables.console(), terminal.cleaned(report), wanted)


def _print(console: Console, report: dict[str, Any], wanted: Wanted) -> None:
    eval_tables.print_faults(console, report["gold"])
    eval_tables.print_metrics(console, report)
    for name, part in report["against"].items():
        eval_tables.print_comparison(console, name, part)
    if wanted.partial:
        eval_tables.print_partial(console, report.get("partial", {}))
    if wanted.agreement:
        eval_tables.print_agreement(console, report["agreement"])
    if wanted.accumulate:
        eval_tables.print_accumulated(console, report["accumulated_rules"])
    sources = eval_tables.hashes(report["provenance"])
    console.print(f"\n{report['queries']} queries in {report['seconds']:.1f} s; {sources}")


def explain_pair(files: Files, settings: Settings, index: int, as_json: bool) -> None:
    """Judge one pair, counted from 0, and print all there is to say of it; raises ``InputError`` for no pair."""
    assert files.pred is not None
    pairs = files.pairs(files.pred)
    if not 0 <= index < len(pairs):
        raise InputError(
            f"--explain {index}: {files.gold} has no such pair; they are counted from 0 to {len(pairs) - 1}"
        )
    evaluation = files.evaluate([pairs[index]], settings)
    gold = pairs[index].gold
    targets = files.targets([gold])
    try:
        found = explain(index, evaluation.judged[0], targets.target(gold.db_id).facts, settings.options.esm_plus)
    finally:
        targets.close()
    if as_json:
        print(terminal.to_json(found))
    else:
        eval_tables.print_pair(eval_tables.console(), terminal.cleaned(found))


def check_gold(files: Files, settings: Settings) -> None:
    """Judge gold by itself; raises ``DatasetError`` after naming what is not 100 %."""
    golds = read_golds(files.gold, files.gold_format)
    found = check(
        golds,
        files.targets(golds),
        settings.metrics,
        options=settings.options,
        processes=settings.processes,
    )
    console = eval_tables.console()
    eval_tables.print_faults(console, terminal.cleaned(scores.summary(found, settings.seed)["gold"]))
    wrong = imperfect(found)
    for one in wrong[:LISTED]:
        reasons = "; ".join(
            f"{name}: {'cannot be judged' if score is None else score.reason or f'{score.value:g}'}"
            for name, score in one.scores.items()
            if score is None or score.value < 1
        )
        console.print(terminal.clean(f"{one.pair.gold.place}: {reasons}"), markup=False)
    names = ", ".join(metric.title for metric in found.metrics)
    if wrong:
        raise DatasetError(f"{len(wrong)} of {len(golds)} gold queries do not match themselves by {names}; see above")
    console.print(
        f"{len(golds)} gold queries match themselves by {names}; {eval_tables.hashes(files.provenance(golds))}"
    )
