"""``sqljury eval``: how good the answers of a run are."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sqljury.bench.report import Verdict


class Output(StrEnum):
    """The forms a report can be printed in."""

    TABLE = "table"
    JSON = "json"


def evaluate(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A folder that `sqljury bench` wrote.")],
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")] = None,
    per_query: Annotated[Path | None, typer.Option(help="Write a line a question to this TSV file.")] = None,
    output: Annotated[Output, typer.Option(help="How to print the report.")] = Output.TABLE,
) -> None:
    """Judge a run by execution accuracy, overall, by hardness, and after each step of the pipeline."""
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
