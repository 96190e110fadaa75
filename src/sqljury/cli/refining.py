"""``sqljury bench refine``: the answers of a run, refined by tests, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqljury.cli import terminal
from sqljury.cli.eval_options import TextForm
from sqljury.cli.options import BatchOption, CacheOption, ModelOption, opening
from sqljury.cli.terminal import interruptible
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sqljury.evaluation.run_folder import Record


class By(StrEnum):
    """What the model is told of its query."""

    TESTS = "tests"
    PROMPT = "prompt"
    ERRORS = "errors"
    RESULT = "result"


class Without(StrEnum):
    """The agents of TS-SQL."""

    DATA = "data"
    INSPECTION = "inspection"
    CODE = "code"


class Voting(StrEnum):
    """How the programs' results are combined."""

    MAJORITY = "majority"
    SELECTION = "selection"


class Start(StrEnum):
    """The query that refinement begins with."""

    ANSWER = "answer"
    REPAIRED = "repaired"
    WRITTEN = "written"


def refine(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The folder of a run, finished or not.")],
    out: Annotated[Path, typer.Option(help="The folder of the refined run; an unfinished one there is continued.")],
    recipe: Annotated[str, typer.Option(help="The recipe whose [tests] and [refine] are used.")] = "tssql",
    by: Annotated[
        By,
        typer.Option(
            help="The way to refine: by tests, or by plain self-correction with a prompt, errors or the result."
        ),
    ] = By.TESTS,
    without: Annotated[Without | None, typer.Option(help="The agent to leave out (Table 4 of the paper).")] = None,
    share: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="With --without data: the share of each table's rows to test on, 0.1 for Figure 4."
        ),
    ] = 0.0,
    voting: Annotated[
        Voting | None,
        typer.Option(help="How the programs' results are combined; by default as in the recipe (Figure 5)."),
    ] = None,
    start: Annotated[
        Start,
        typer.Option(
            help="The query to begin with: the answer, the answer before repairs by the model (repaired), or as it"
            " was written."
        ),
    ] = Start.ANSWER,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The number of answers, drawn by the run's seed; all by default.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the run.")] = None,
    model: ModelOption = None,
    cache: CacheOption = False,
    batch: BatchOption = 1,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries at the end.")] = 1,
    output: Annotated[TextForm, typer.Option(help="The output format.")] = TextForm.TABLE,
) -> None:
    """Refine a run's answers by tests (TS-SQL); write a new run, and print figures before and after."""
    from sqljury import recipes
    from sqljury.bench import refining
    from sqljury.bench.run import Controls
    from sqljury.errors import InputError
    from sqljury.evaluation import run_folder as folder

    if (without or voting) and by is not By.TESTS:
        raise InputError("--without and --voting are for the agents of the tests; they need --by tests")
    if share and without is not Without.DATA:
        raise InputError("--share is for tests on the user's rows; add --without data")
    where = data or folder.data_of(run_dir)
    way = refining.Way(
        by=by.value,
        without=without.value if without else "",
        start=start.value,
        voting=voting.value if voting else None,
        limit=limit,
        share=share,
    )

    def say(done: int, total: int, line: Record | None) -> None:
        if line is not None:
            terminal.note(f"{done}/{total} {_outcome(line)}"[:160])
        elif done:
            terminal.note(f"{out} has {done} of {total} answers; continuing")

    with interruptible() as cancel:
        opened = opening(model, cache=cache, together=batch)
        tested = recipes.load(recipe)
        refining.refine(run_dir, out, where, opened(), tested, way, Controls(say, cancel, opened), batch)
    summary = refining.summary(out, where, processes)
    if output is TextForm.JSON:
        print(terminal.to_json({"run": folder.described(out), **summary}))
    else:
        terminal.show(*_tables(summary))


def _outcome(line: Record) -> str:
    if line["fault"]:
        return f"not refined: {line['fault']}"
    what = "kept" if line["sql"] == line["before"] else "rewritten"
    tests = f"{line['passed']} of {line['counted']} tests passed, " if line["counted"] else ""
    rounds = f"{line['rounds']} round{'' if line['rounds'] == 1 else 's'}"
    return f"{tests}{what} after {rounds}: {written.one_line(line['sql'])}"


def _tables(summary: dict[str, Any]) -> Iterator[RenderableType]:
    """Before and after by hardness, what changed, what tests said, and what it cost."""
    from sqljury.cli.eval_tables import left_out

    shares = terminal.figures("questions", "number", "before, %", "after, %")
    for name, both in (*summary["hardness"].items(), ("all", summary)):
        before, after = both["before"], both["after"]
        if before["total"]:
            shares.add_row(name, str(before["total"]), f"{before['percent']:.1f}", f"{after['percent']:.1f}")
    yield shares
    yield (
        f"\n{summary['corrected']} corrected, {summary['misled']} misled, {summary['changed']} changed in all; "
        f"the model was asked again for {summary['asked']} of {summary['questions']}"
    )
    if summary["kept"]:
        ways = {"better": "one that does better", "last": "the last one"}
        kept = terminal.figures("\nthe query kept", "\nafter, %", "\ncorrected", "\nmisled", "\nchanged")
        for name, row in summary["kept"].items():
            mark = " (this run)" if name == summary["keep"] else ""
            counts = (str(row[key]) for key in ("corrected", "misled", "changed"))
            kept.add_row(f"{ways[name]}{mark}", f"{row['after']['percent']:.1f}", *counts)
        yield kept
    if any(count for row in summary["verdicts"].values() for name, count in row.items() if name != "silent"):
        tests = terminal.figures("\nthe query was", "\npassed", "\nfailed", "\nnothing said")
        for name, row in summary["verdicts"].items():
            tests.add_row(name, *(str(row[key]) for key in ("passed", "failed", "silent")))
        yield tests
    costs = terminal.figures("\na question", "\ncalls", "\ntokens", "\nof these computed", "\nseconds")
    for step, cost in summary["cost"].items():
        costs.add_row(step, f"{cost['calls']:g}", *(f"{cost[key]:,.1f}" for key in ("tokens", "computed", "seconds")))
    yield costs
    if summary["not_refined"]:
        yield f"\n{summary['not_refined']} could not be refined"
    yield from left_out(summary["faults"], summary["questions"])
