"""``sqljury eval``: how good the answers of a run, or the predictions in a file, are."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sqljury.bench.report import Verdict


METRICS = "ex,exe,esm,esm+"


class Output(StrEnum):
    """The forms a report can be printed in."""

    TABLE = "table"
    JSON = "json"
    HTML = "html"


def evaluate(
    run_dir: Annotated[
        Path | None, typer.Argument(metavar="[RUN_DIR]", help="A folder that `sqljury bench` wrote; or give --gold.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")] = None,
    gold: Annotated[Path | None, typer.Option(help="Gold queries: SQL TAB db_id, dev.json, BIRD JSON, JSONL.")] = None,
    pred: Annotated[Path | None, typer.Option(help="Predictions, in any of these formats but dev.json.")] = None,
    against: Annotated[Path | None, typer.Option(help="Another prediction file to compare --pred with.")] = None,
    db_dir: Annotated[Path | None, typer.Option(help="The folder of <db_id>/<db_id>.sqlite.")] = None,
    tables: Annotated[Path | None, typer.Option(help="Spider's tables.json; its foreign keys are used.")] = None,
    metrics: Annotated[
        str, typer.Option(help="Names with commas between, among them esm+, esm+strict, ves.")
    ] = METRICS,
    check: Annotated[bool, typer.Option("--check", help="Judge gold by itself; anything but 100 % is named.")] = False,
    keep_distinct: Annotated[bool, typer.Option("--keep-distinct", help="For exe: leave DISTINCT in.")] = False,
    plug_value: Annotated[
        bool, typer.Option("--plug-value", help="For exe: try gold's values in predictions.")
    ] = False,
    disable_rules: Annotated[str, typer.Option(help="For esm+: numbers of rules with commas between.")] = "",
    partial: Annotated[bool, typer.Option("--partial", help="Print partial match by clause; needs esm.")] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print how metrics agree, and what EXE accepts and ESM+ refuses.")
    ] = False,
    accumulate_rules: Annotated[
        bool, typer.Option("--accumulate-rules", help="Count false negatives as the rules of ESM+ are switched on.")
    ] = False,
    explain: Annotated[int | None, typer.Option(metavar="N", help="Show all of one pair, counted from 0.")] = None,
    gold_format: Annotated[str | None, typer.Option(help="lines, bird, dev or jsonl; else detected.")] = None,
    pred_format: Annotated[str | None, typer.Option(help="lines, bird or jsonl; else detected.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one query may run.")] = 60.0,
    processes: Annotated[int, typer.Option(min=1, help="How many to use; one for ves and r-ves in any case.")] = 1,
    seed: Annotated[int, typer.Option(help="Seeds the bootstrap of the intervals.")] = 0,
    per_query: Annotated[Path | None, typer.Option(help="Write a line a question to this TSV file.")] = None,
    output: Annotated[Output, typer.Option(help="How to print the report.")] = Output.TABLE,
) -> None:
    """Judge predictions: a run's folder, or a file of them beside one of gold queries."""
    from sqljury.errors import InputError

    if run_dir is not None and gold is not None:
        raise InputError("both a run's folder and --gold are given; give one of them")
    if output is Output.HTML and (run_dir is not None or check or explain is not None):
        raise InputError(
            "--output html is for files of predictions; give --gold and --pred, without --check or --explain"
        )
    if run_dir is not None:
        _evaluate_run(run_dir, data, per_query, output)
        return
    if gold is None or db_dir is None or (pred is None and not check):
        raise InputError("nothing to judge; give a run's folder, or --gold, --pred (or --check) and --db-dir")
    from sqljury.cli.files import Files, Settings, Wanted, check_gold, explain_pair, judge_files

    files = Files(gold, pred, against, db_dir, tables, gold_format, pred_format)
    settings = Settings.of(metrics, keep_distinct, plug_value, disable_rules, timeout, processes, seed)
    if check:
        check_gold(files, settings)
    elif explain is not None:
        explain_pair(files, settings, explain, as_json=output is Output.JSON)
    else:
        judge_files(files, settings, Wanted(output.value, per_query, partial, agreement, accumulate_rules))


def _evaluate_run(run_dir: Path, data: Path | None, per_query: Path | None, output: Output) -> None:
    """Execution accuracy of a run, overall, by hardness, and after each step of the pipeline."""
    from sqljury.bench import report, run
    from sqljury.errors import DatasetError

    described = run.described(run_dir)
    records = run.records(run_dir)
    if not records:
        raise DatasetError(f"{run_dir} has no answers yet; continue it with `sqljury bench`")
    verdicts = report.judge_run(records, data or Path(described["dataset"]["data"]))
    if per_query is not None:
        _write_tsv(verdicts, per_query)
    figures = report.summary(verdicts)
    if output is Output.JSON:
        print(json.dumps({"run": described, **figures}, indent=2, ensure_ascii=False))
    else:
        _print(described, figures)


def _write_tsv(verdicts: list[Verdict], file: Path) -> None:
    lines = ["\t".join(("id", "db_id", "hardness", "ex", "exe", "seconds", "reason"))]
    lines += [
        "\t".join((v.id, v.db_id, v.hardness, str(int(v.right)), str(int(v.exe)), f"{v.seconds:.2f}", _line(v.reason)))
        for v in verdicts
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(verdicts)} lines in {file}", file=sys.stderr)


def _line(text: str) -> str:
    return " ".join(text.split())


def _print(described: dict[str, Any], figures: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    dataset = described["dataset"]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("execution accuracy", "right", "of", "%", "95 % interval"):
        table.add_column(title, justify="left" if title == "execution accuracy" else "right")
    for name, shares in (
        ("all", {"EX": figures["ex"], "EX, DISTINCT dropped": figures["exe"]}),
        ("by hardness", figures["hardness"]),
        ("by step", figures["steps"]),
    ):
        table.add_section()
        table.add_row(f"[bold]{name}[/bold]")
        for label, share in shares.items():
            low, high = share["low"], share["high"]
            row = (str(share["right"]), str(share["total"]), f"{share['percent']:.1f}", f"{low:.1f} - {high:.1f}")
            table.add_row(f"  {label}", *row)
    console = Console(highlight=False)
    console.print(
        f"{dataset['name']} {dataset['split']}, {figures['questions']} questions, "
        f"recipe {described['recipe']['name']}, model {described['model']}, seed {described['seed']}\n"
    )
    console.print(table)
    seconds, tokens, runs = figures["seconds"], figures["tokens"], figures["executable"]
    console.print(
        f"\nseconds a question: mean {seconds['mean']:.1f}, median {seconds['median']:.1f}, max {seconds['max']:.1f}; "
        f"tokens computed a question: mean {tokens['mean']:,.0f}"
        f"\ncandidates that run as written: {runs['percent']:.1f} % of {runs['total']}"
    )
