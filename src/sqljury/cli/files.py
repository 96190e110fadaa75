"""The body of ``sqljury eval --gold``: reads the files, judges, prints; what is wrong with gold comes first."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.table import Table

from sqljury.bench import scores
from sqljury.bench.evaluation import Evaluation, check, evaluate, imperfect
from sqljury.datasets.folders import database_files
from sqljury.datasets.formats import read_golds, read_pairs
from sqljury.errors import DatasetError, InputError
from sqljury.metrics import agreement
from sqljury.metrics.case import Options
from sqljury.metrics.match import plus
from sqljury.metrics.registry import named
from sqljury.types import Limits

if TYPE_CHECKING:
    from sqljury.datasets.pairs import Gold

SHOWN_FAULTS = 10
LISTED = 20


@dataclass(frozen=True, slots=True)
class Files:
    """Where everything is that an evaluation reads."""

    gold: Path
    pred: Path | None
    against: Path | None
    db_dir: Path
    tables: Path | None
    gold_format: str | None
    pred_format: str | None

    def evaluate(self, pred: Path, settings: Settings) -> Evaluation:
        """One file of predictions, judged."""
        pairs = read_pairs(self.gold, pred, self.gold_format, self.pred_format)
        databases = database_files(self.db_dir, [pair.gold for pair in pairs])
        return evaluate(
            pairs,
            databases,
            settings.metrics,
            tables=self.tables,
            options=settings.options,
            processes=settings.processes,
        )

    def provenance(self, golds: Sequence[Gold]) -> dict[str, Any]:
        """Hashes of all files that were read."""
        files = [file for file in (self.gold, self.pred, self.against, self.tables) if file is not None]
        return scores.provenance(files, database_files(self.db_dir, golds))


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
            names = list(dict.fromkeys("exe_keep_distinct" if name == "exe" else name for name in names))
        try:
            disabled = frozenset(int(number) for number in disable_rules.split(",") if number.strip())
        except ValueError:
            raise InputError(f"--disable-rules {disable_rules!r}: give numbers with commas between") from None
        limits = Limits(timeout, Options().limits.rows, Options().limits.bytes)
        options = Options(plug_values=plug_value, limits=limits, esm_plus=plus.Options(disabled=disabled))
        return cls(tuple(names), options, processes, seed)


def judge_files(files: Files, settings: Settings, per_query: Path | None, *, as_json: bool, partial: bool) -> None:
    """Judge the predictions, beside another file of them where one is given, and print the report.

    JSON has all there is to say; the table shows partial match only where ``partial``.
    """
    assert files.pred is not None
    found = files.evaluate(files.pred, settings)
    other = None if files.against is None else files.evaluate(files.against, settings)
    if per_query is not None:
        scores.write_tsv(found, per_query)
        print(f"{len(found.judged)} lines in {per_query}", file=sys.stderr)
    report = scores.summary(found, settings.seed)
    comparison = {} if other is None else _comparisons(other, found, settings.seed)
    sources = files.provenance([one.pair.gold for one in found.judged])
    if as_json:
        parts = {metric.name: scores.slices(found, metric.name) for metric in found.metrics}
        slices = {
            name: {by: {key: part._asdict() for key, part in found_parts.items()} for by, found_parts in kinds.items()}
            for name, kinds in parts.items()
        }
        whole = {**report, "slices": slices, "against": comparison, "provenance": sources}
        print(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    _print_faults(console, report["gold"])
    _print_scores(console, report)
    for name, part in comparison.items():
        _print_comparison(console, name, part)
    if partial:
        _print_partial(console, report.get("partial", {}))
    console.print(f"\n{report['queries']} queries in {report['seconds']:.1f} s; {_hashes(sources)}")


def check_gold(files: Files, settings: Settings) -> None:
    """Judge gold by itself; raises ``DatasetError`` after naming what is not 100 %."""
    golds = read_golds(files.gold, files.gold_format)
    databases = database_files(files.db_dir, golds)
    found = check(
        golds,
        databases,
        settings.metrics,
        tables=files.tables,
        options=settings.options,
        processes=settings.processes,
    )
    console = Console(highlight=False)
    _print_faults(console, scores.summary(found, settings.seed)["gold"])
    wrong = imperfect(found)
    for one in wrong[:LISTED]:
        reasons = "; ".join(
            f"{name}: {'cannot be judged' if score is None else score.reason or f'{score.value:g}'}"
            for name, score in one.scores.items()
            if score is None or score.value < 1
        )
        console.print(f"{one.pair.gold.place}: {reasons}", markup=False)
    names = ", ".join(metric.title for metric in found.metrics)
    if wrong:
        raise DatasetError(f"{len(wrong)} of {len(golds)} gold queries do not match themselves by {names}; see above")
    console.print(f"{len(golds)} gold queries match themselves by {names}; {_hashes(files.provenance(golds))}")


def _hashes(sources: dict[str, Any]) -> str:
    files = [f"{Path(file).name} {digest[:12]}" for file, digest in sources["files"].items()]
    databases = f"{len(sources['databases'])} databases {sources['all_databases'][:12]}"
    return f"SHA-256: {', '.join([*files, databases])}"


def _comparisons(first: Evaluation, second: Evaluation, seed: int) -> dict[str, Any]:
    groups = [one.pair.gold.db_id for one in second.judged]
    found = {}
    for metric in second.metrics:
        result = agreement.compare(first.column(metric.name), second.column(metric.name), groups, seed)
        found[metric.name] = {**result._asdict(), "interval": list(result.interval)}
    return found


def _print_faults(console: Console, faults: list[dict[str, Any]]) -> None:
    if not faults:
        return
    empty = [fault for fault in faults if fault["fault"] == "the gold query returns nothing"]
    failing = [fault for fault in faults if fault not in empty]
    for fault in failing[:SHOWN_FAULTS]:
        console.print(f"{fault['place']}: {fault['fault']}", markup=False)
    if len(failing) > SHOWN_FAULTS:
        console.print(f"and {len(failing) - SHOWN_FAULTS} more gold queries that fail")
    if empty:
        places = ", ".join(fault["id"] for fault in empty[:SHOWN_FAULTS])
        more = ", ..." if len(empty) > SHOWN_FAULTS else ""
        console.print(f"{len(empty)} gold queries return nothing, as many wrong ones do: {places}{more}", markup=False)
    console.print()


def _print_scores(console: Console, report: dict[str, Any]) -> None:
    levels = list(dict.fromkeys(level for found in report["metrics"].values() for level in found["hardness"]))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("metric")
    for title in ("%", "95 % interval", "of", *levels):
        table.add_column(title, justify="right")
    for found in report["metrics"].values():
        cells = [f"{found['hardness'][level]['percent']:.1f}" if level in found["hardness"] else "" for level in levels]
        interval = f"{found['low']:.1f} - {found['high']:.1f}"
        table.add_row(found["title"], f"{found['percent']:.1f}", interval, str(found["judged"]), *cells)
        if "interactions" in found:
            whole = found["interactions"]
            table.add_row("  whole dialogues", f"{whole['percent']:.1f}", "", str(whole["interactions"]))
    console.print(table)


def _print_partial(console: Console, clauses: dict[str, Any]) -> None:
    """As Spider's program prints them, a block for each of the three shares."""
    for share in ("precision", "recall", "f1"):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(f"\npartial match, {share}")
        levels = list(next(iter(clauses.values()), {}))
        for level in levels:
            table.add_column(f"\n{level}", justify="right")
        for clause, found in clauses.items():
            table.add_row(clause, *(f"{found[level][share]:.3f}" for level in levels))
        console.print(table)


def _print_comparison(console: Console, name: str, part: dict[str, Any]) -> None:
    low, high = part["interval"]
    console.print(
        f"\n{name}: {100 * part['difference']:+.2f} points against the other file, 95 % interval {100 * low:+.2f} to "
        f"{100 * high:+.2f}; {len(part['wins'])} won, {len(part['losses'])} lost, McNemar p = {part['p']:.3g}"
    )
    for title in ("wins", "losses"):
        places = ", ".join(map(str, part[title][:LISTED])) + (", ..." if len(part[title]) > LISTED else "")
        console.print(f"  {title}: {places or 'none'}")
