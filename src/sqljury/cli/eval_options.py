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
    Path | None,
    typer.Argument(metavar="[RUN_DIR]", help="A folder of `sqljury bench`; without it, give --gold and --pred."),
]
Data = Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")]
Gold = Annotated[Path | None, typer.Option(help="Gold queries: SQL TAB db_id, dev.json, BIRD JSON, JSONL.")]
Pred = Annotated[Path | None, typer.Option(help="Predictions, in any of the formats of --gold except dev.json.")]
Against = Annotated[Path | None, typer.Option(help="Another prediction file to compare --pred with.")]
DbDir = Annotated[Path | None, typer.Option(help="The folder of <db_id>/<db_id>.sqlite.")]
Tables = Annotated[Path | None, typer.Option(help="Spider's tables.json; its foreign keys are used.")]
Suite = Annotated[Path | None, typer.Option(help="The folder of `sqljury suite build`; for the metric suite.")]
Labels = Annotated[Path | None, typer.Option(help="A TSV file of manual judgements, with the columns index and right.")]
Metrics = Annotated[
    str, typer.Option(help="The metrics, separated by commas, such as ex, exe, esm, esm+, esm+strict, ves.")
]
Check = Annotated[bool, typer.Option("--check", help="Judge gold against itself, and list every query below 100 %.")]
KeepDistinct = Annotated[bool, typer.Option("--keep-distinct", help="For exe and suite: keep DISTINCT in queries.")]
PlugValue = Annotated[bool, typer.Option("--plug-value", help="For exe: put gold's values into predictions.")]
DisableRules = Annotated[str, typer.Option(help="For esm+: the numbers of rules to disable, separated by commas.")]
Partial = Annotated[bool, typer.Option("--partial", help="Print partial match by clause; needs esm.")]
Agreement = Annotated[
    bool,
    typer.Option("--agreement", help="Print the agreement of metrics, and pairs that EXE accepts and ESM+ rejects."),
]
AccumulateRules = Annotated[
    bool,
    typer.Option("--accumulate-rules", help="Count false negatives while the rules of ESM+ are enabled one by one."),
]
Explain = Annotated[int | None, typer.Option(metavar="N", help="Show every step for the pair with this index, from 0.")]
GoldFormat = Annotated[
    str | None, typer.Option(help="The format of --gold: lines, bird, dev or jsonl; detected by default.")
]
PredFormat = Annotated[
    str | None, typer.Option(help="The format of --pred: lines, bird or jsonl; detected by default.")
]
Timeout = Annotated[
    float, typer.Option(callback=_seconds, help="The time limit of one query, in seconds, a day at most.")
]
Processes = Annotated[
    int,
    typer.Option(
        min=1,
        help="The number of processes, or of workers on --cluster; ves and r-ves use one process of this machine.",
    ),
]
Seed = Annotated[int, typer.Option(help="The seed of the bootstrap intervals.")]
PerQuery = Annotated[Path | None, typer.Option(help="A TSV file with one line for each question.")]
Output = Annotated[Form, typer.Option(help="The output format.")]
