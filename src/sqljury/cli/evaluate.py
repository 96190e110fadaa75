"""``sqljury eval``: how good the answers of a run, or the predictions in a file, are."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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
    from sqljury.cli.evaluate_run import evaluate_run
    from sqljury.errors import InputError

    if run_dir is not None and gold is not None:
        raise InputError("both a run's folder and --gold are given; give one of them")
    if output is Output.HTML and (run_dir is not None or check or explain is not None):
        raise InputError(
            "--output html is for files of predictions; give --gold and --pred, without --check or --explain"
        )
    if run_dir is not None:
        evaluate_run(run_dir, data, per_query, as_json=output is Output.JSON)
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
