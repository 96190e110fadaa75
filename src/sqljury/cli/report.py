"""``sqljury report``: runs as one HTML page, as Markdown or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sqljury.cli import terminal
from sqljury.cli.options import PriceOption, PricesOption, prices_of
from sqljury.cli.terminal import interruptible, table_file


class Form(StrEnum):
    """The forms of a report."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN_DIR...", help="The folders of runs; the others are compared with the first."),
    ],
    out: Annotated[Path, typer.Option(help="The file to write; an earlier report is replaced.")],
    form: Annotated[Form, typer.Option("--format", help="A page, Markdown, or all figures as JSON.")] = Form.HTML,
    data: Annotated[Path | None, typer.Option(help="The dataset's folder, if it has moved since the runs.")] = None,
    price: PriceOption = None,
    prices: PricesOption = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge queries.")] = 1,
) -> None:
    """Write a report on runs: accuracy, costs, selectors, confidence, and every question with its candidates."""
    import json

    from sqljury.experiments import report as reports
    from sqljury.experiments.report import page, text

    begins = {Form.HTML: page.BEGINS, Form.MARKDOWN: text.BEGINS, Form.JSON: '{"sqljury_report": '}[form]
    with ExitStack() as stack:
        file = stack.enter_context(table_file(out, begins, (data, *runs)))  # before the long work
        stack.enter_context(interruptible())
        figures = reports.report(runs, data, processes, prices_of(prices, price))
        writers: dict[Form, Callable[[dict[str, Any]], str]]
        writers = {Form.HTML: page.html, Form.MARKDOWN: text.markdown, Form.JSON: json.dumps}
        shown = writers[form](figures)
        if file is not None:
            # files with errors hold characters that have no bytes in UTF-8
            file.write(shown.encode("utf-8", "replace").decode("utf-8"))
    terminal.note(
        f"{len(figures['questions'])} questions of {len(runs)} {'run' if len(runs) == 1 else 'runs'} in {out}"
    )
