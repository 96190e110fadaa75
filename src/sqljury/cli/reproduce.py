"""``sqljury reproduce``: a table of the papers, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.terminal import interruptible, table_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sqljury.experiments.papers.registry import Entry, Grid


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
        Path | None, typer.Option(help="A folder of NAME.tsv with what the published metric programs say of --pred.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The number of questions drawn of each file and run.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A Markdown file to which the comparison is written too.")] = None,
    page: Annotated[bool, typer.Option("--page", help="Print the page of all tables, docs/papers.md.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="The number of processes that judge queries.")] = 1,
) -> None:
    """Compute a table of the papers from files and runs, and print it beside the paper's figures."""
    from sqljury.errors import CancelledError, InputError
    from sqljury.experiments.papers import page as pages
    from sqljury.experiments.papers.inputs import Inputs
    from sqljury.experiments.papers.registry import find
    from sqljury.experiments.papers.reproduce import METHODS, refuse_missing

    files = (*(pred or ()), *(run or ()), *(expected or ()))
    if table is None:
        if files or data or gold or suite or verdicts or (out and not page):
            raise InputError("no table is named; `sqljury reproduce` lists them")
        with table_file(out, pages.BEGINS) as file:
            if not page:
                terminal.show(*_listed())
            elif file is None:
                print(pages.page(), end="")
            else:
                file.write(pages.page())
        return
    if page:
        raise InputError("--page prints all tables; leave out the name of one")
    entry = find(table)
    with table_file(out, pages.BEGINS, (data, *files, gold, suite, verdicts)) as file, interruptible() as cancel:

        def stop_if_cancelled() -> None:
            if cancel.is_set():
                raise CancelledError("stopped")

        inputs = Inputs(
            data,
            tuple(pred or ()),
            tuple(run or ()),
            tuple(expected or ()),
            gold,
            suite,
            verdicts,
            limit,
            processes,
            stop_if_cancelled,
        )
        refuse_missing(entry, inputs)
        grid = METHODS[entry.method](inputs)
        if file is not None:
            file.write(terminal_safe(pages.comparison(entry, grid)))
    terminal.show(*_compared(entry, grid))


def terminal_safe(text: str) -> str:
    """The text without characters that could steer a terminal; its lines stay."""
    return terminal.clean_lines(text) + "\n"


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


def _compared(entry: Entry, grid: Grid) -> Iterator[RenderableType]:
    """The comparison as it is in Markdown: it reads well as text."""
    from sqljury.experiments.papers.page import comparison

    yield terminal.clean_lines(comparison(entry, grid))
