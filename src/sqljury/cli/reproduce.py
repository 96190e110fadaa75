"""``sqljury reproduce``: a table of the papers, the paper's figures beside ours."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.terminal import interruptible, table_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sqljury.experiments.papers.inputs import Inputs
    from sqljury.experiments.papers.registry import Entry


def reproduce(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="A table, such as esm+/table2; without it, all are listed.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, with database/ (and tables.json).")] = None,
    pred: Annotated[
        list[Path] | None, typer.Option(help="A prediction file, or a folder of them with gold.txt; repeatable.")
    ] = None,
    run: Annotated[list[Path] | None, typer.Option(help="A folder of `sqljury bench`; repeatable.")] = None,
    expected: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A file of benchmarks/expect.py; repeatable.")
    ] = None,
    gold: Annotated[Path | None, typer.Option(help="Gold queries for --pred, where they are not beside it.")] = None,
    suite: Annotated[Path | None, typer.Option(help="The folder of `sqljury suite build`.")] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(help="A folder of files NAME.tsv with the verdicts of the published metric programs on --pred."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Make the run in --run with this model, for tables that need only one run."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The number of questions drawn from each file and run.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A Markdown file to which the comparison is written too.")] = None,
    page: Annotated[bool, typer.Option("--page", help="Print the page of all tables, docs/papers.md.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="The number of processes that judge queries.")] = 1,
) -> None:
    """Compute a table of the papers from files and runs, and print it beside the paper's figures."""
    from sqljury.errors import CancelledError, InputError
    from sqljury.experiments.papers.inputs import Inputs
    from sqljury.experiments.papers.page import BEGINS, comparison
    from sqljury.experiments.papers.registry import find
    from sqljury.experiments.papers.reproduce import refuse_missing
    from sqljury.experiments.papers.reproduce import reproduce as computed

    files = (*(pred or ()), *(run or ()), *(expected or ()))
    if table is None:
        if files or data or gold or suite or verdicts or model or (out and not page):
            raise InputError("no table is named; `sqljury reproduce` lists them")
        _print_all(out, page)
        return
    if page:
        raise InputError("--page prints all tables; leave out the table")
    inputs = Inputs(data, tuple(pred or ()), tuple(run or ()), tuple(expected or ()), gold, suite, verdicts, limit)
    refuse_missing(find(table), inputs)
    with table_file(out, BEGINS, (data, *files, gold, suite, verdicts)) as file:  # before the long work
        if model is not None:
            _make(find(table), inputs, model)
        with interruptible() as cancel:

            def stop_if_cancelled() -> None:
                if cancel.is_set():
                    raise CancelledError("stopped")

            settled = replace(inputs, processes=processes, stop_if_cancelled=stop_if_cancelled)
            text = terminal.clean_lines(comparison(*computed(table, settled)))
        if file is not None:
            file.write(text + "\n")
    terminal.show(text)


def _make(entry: Entry, inputs: Inputs, model: str) -> None:
    """Run the commands that make the entry's run, with this model; what is there is continued.

    Raises ``InputError`` for an entry whose commands do not make one run, and what the commands raise.
    """
    from typer.main import get_command

    from sqljury.cli import app
    from sqljury.errors import InputError

    if not entry.makes_run or len(inputs.runs) != 1 or inputs.data is None:
        commands = "; ".join(entry.makes) or "nothing"
        raise InputError(
            f"--model is for tables that need only one --run, made from --data; {entry.id} is made by: {commands}"
        )
    filled = {"SPIDER_DIR": str(inputs.data), "RUN_DIR": str(inputs.runs[0])}
    for command in entry.makes:
        words = [filled.get(word, word.replace("SPIDER_DIR", filled["SPIDER_DIR"])) for word in shlex.split(command)]
        if inputs.limit is not None and "--limit" in words:
            words[words.index("--limit") + 1] = str(inputs.limit)
        terminal.note(shlex.join([*words, "--model", model]))
        group = get_command(app)
        with group.make_context("sqljury", [*words[1:], "--model", model]) as context:
            group.invoke(context)


def _print_all(out: Path | None, whole: bool) -> None:
    """The list of all tables, or the whole page, into a file where one is named."""
    from sqljury.experiments.papers.page import BEGINS, page

    if not whole:
        terminal.show(*_listed())
        return
    with table_file(out, BEGINS) as file:
        if file is None:
            print(page(), end="")
        else:
            file.write(page())


def _listed() -> Iterator[RenderableType]:
    """Every table with its status and what it needs."""
    from rich.table import Table

    from sqljury.experiments.papers.registry import PLACEHOLDERS, papers

    for paper in papers():
        listed = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for head in (paper.title, "", "needs"):
            listed.add_column(head, overflow="fold")
        for entry in paper.entries:
            needs = " ".join(f"--{option} {PLACEHOLDERS[option]}" for option in entry.needs)
            listed.add_row(f"{entry.id}  {entry.shows}", entry.status, needs)
        yield from (listed, "")
