"""The options of ``sqljury eval``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

METRICS = "ex,exe,esm,esm+"


class Form(StrEnum):
    """The forms a report can be printed in."""

    TABLE = "table"
    JSON = "json"
    HTML = "html"


class TextForm(StrEnum):
    """The same without the page."""

    TABLE = "table"
    JSON = "json"


DAY = 86_400.0


def _seconds(value: float) -> float:
    # A plain maximum would let "nan" through, which is neither less nor more than anything.
    if not 0.1 <= value <= DAY:
        raise typer.BadParameter(f"{value:g} is not in the range of 0.1 to {DAY:g} seconds")
    return value


RunDir = Annotated[
    Path | None, typer.Argument(metavar="[RUN_DIR]", help="A folder that `sqljury bench` wrote; or give --gold.")
]
Data = Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")]
Gold = Annotated[Path | None, typer.Option(help="Gold queries: SQL TAB db_id, dev.json, BIRD JSON, JSONL.")]
Pred = Annotated[Path | None, typer.Option(help="Predictions, in any of these formats but dev.json.")]
Against = Annotated[Path | None, typer.Option(help="Another prediction file to compare --pred with.")]
DbDir = Annotated[Path | None, typer.Option(help="The folder of <db_id>/<db_id>.sqlite.")]
Tables = Annotated[Path | None, typer.Option(help="Spider's tables.json; its foreign keys are used.")]
Suite = Annotated[Path | None, typer.Option(help="The folder of `sqljury suite build`; for the metric suite.")]
Labels = Annotated[
    Path | None, typer.Option(help="A TSV file of judgements by hand, with the columns index and right.")
]
Metrics = Annotated[str, typer.Option(help="Names with commas between, among them esm+, esm+strict, ves.")]
Check = Annotated[bool, typer.Option("--check", help="Judge gold by itself; anything but 100 % is named.")]
KeepDistinct = Annotated[bool, typer.Option("--keep-distinct", help="For exe and suite: leave DISTINCT in.")]
PlugValue = Annotated[bool, typer.Option("--plug-value", help="For exe: try gold's values in predictions.")]
DisableRules = Annotated[str, typer.Option(help="For esm+: numbers of rules with commas between.")]
Partial = Annotated[bool, typer.Option("--partial", help="Print partial match by clause; needs esm.")]
Agreement = Annotated[
    bool, typer.Option("--agreement", help="Print how metrics agree, and what EXE accepts and ESM+ refuses.")
]
AccumulateRules = Annotated[
    bool, typer.Option("--accumulate-rules", help="Count false negatives as the rules of ESM+ are switched on.")
]
Explain = Annotated[int | None, typer.Option(metavar="N", help="Show all of one pair, counted from 0.")]
GoldFormat = Annotated[str | None, typer.Option(help="lines, bird, dev or jsonl; else detected.")]
PredFormat = Annotated[str | None, typer.Option(help="lines, bird or jsonl; else detected.")]
Timeout = Annotated[float, typer.Option(callback=_seconds, help="Seconds that one query may run, a day at most.")]
Processes = Annotated[int, typer.Option(min=1, help="How many to use; one for ves and r-ves in any case.")]
Seed = Annotated[int, typer.Option(help="Seeds the bootstrap of the intervals.")]
PerQuery = Annotated[Path | None, typer.Option(help="Write a line a question to this TSV file.")]
Output = Annotated[Form, typer.Option(help="How to print the report.")]
