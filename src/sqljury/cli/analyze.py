"""``sqljury bench ... --analyze``: what the candidates of a finished run hold, and what choosing makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sqljury.cli import terminal
from sqljury.cli.terminal import interruptible, table_file
from sqljury.errors import InputError

if TYPE_CHECKING:
    from sqljury.bench.stored import StoredRun


class Analysis(StrEnum):
    """What can be asked of a run."""

    BOUNDS = "bounds"
    ABLATION = "ablation"
    OVERLAP = "overlap"
    ERRORS = "errors"


JSON_BEGINS: Final = '{\n  "sqljury_analysis": '

AnalyzeOption = Annotated[
    list[Analysis] | None,
    typer.Option(help="An analysis to print of the finished run; repeatable. See docs/benchmarks.md."),
]
StopShares = Annotated[
    list[float] | None,
    typer.Option(
        min=0, max=1, help="For ablation: the share of agreeing candidates at which writing stops; repeatable."
    ),
]
StopLeast = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=256,
        help="For ablation: the smallest number of candidates before writing stops; by default that of the recipe.",
    ),
]
Parts = Annotated[
    list[int] | None,
    typer.Option("--part", min=1, help="The number of a recipe part to analyse alone, with votes; repeatable."),
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="A JSON file to which the analyses are written too.")
]
Processes = Annotated[int, typer.Option(min=1, help="Processes that run queries for analyses.")]


@dataclass(frozen=True)
class Wanted:
    """What of a run is to be analysed, and how; raises ``InputError`` for options that do not go together."""

    analyses: Sequence[Analysis]
    stop_shares: Sequence[float]
    stop_least: int | None
    parts: Sequence[int]
    json_file: Path | None
    processes: int

    def __post_init__(self) -> None:
        if self.parts and not self.analyses:
            raise InputError("--part is for analyses; name one with --analyze")
        if self.json_file is not None and not self.analyses:
            raise InputError("--json is for analyses; name one with --analyze")
        for option, given in (("share", self.stop_shares), ("least", self.stop_least)):
            if given and Analysis.ABLATION not in self.analyses:
                raise InputError(f"--stop-{option} is for --analyze ablation; add that, or leave out --stop-{option}")


def print_analyses(run_dir: Path, data: Path, wanted: Wanted) -> None:
    """Judge what has not been judged yet, then print the analyses, each once, and write them to the JSON file."""
    from sqljury.bench import stored
    from sqljury.cli import analyze_tables

    with ExitStack() as stack:
        inputs = (data, *(run_dir / name for name in ("run.json", "answers.jsonl", "verdicts.jsonl", "run.lock")))
        file = stack.enter_context(table_file(wanted.json_file, JSON_BEGINS, inputs))  # before the long work
        stack.enter_context(interruptible())
        run = stored.load(run_dir, data, wanted.processes)
        run = run.only({number - 1 for number in wanted.parts}) if wanted.parts else run
        analyses = {name.value: _figures(name, run, wanted) for name in dict.fromkeys(wanted.analyses)}
        whole = {"sqljury_analysis": 1, "run": run.described, "questions": len(run.questions), "faults": run.faults}
        whole["parts"] = sorted(set(wanted.parts)) or None
        if file is not None:
            file.write(json.dumps({**whole, **analyses}, indent=2) + "\n")
    terminal.show(*analyze_tables.heading(run))
    for name, figures in analyses.items():
        terminal.show(*analyze_tables.TABLES[name](figures))


def _figures(name: Analysis, run: StoredRun, wanted: Wanted) -> dict[str, Any]:
    from sqljury.experiments.ablation import STOP_SHARES, ablation
    from sqljury.experiments.bounds import bounds, overlap
    from sqljury.experiments.mistakes import mistakes

    if name is Analysis.BOUNDS:
        return bounds(run)
    if name is Analysis.ERRORS:
        return mistakes(run)
    if name is Analysis.OVERLAP:
        return overlap(run)
    return ablation(run, tuple(wanted.stop_shares or STOP_SHARES), stop_least=wanted.stop_least)
