"""``sqljury ask``: one question, one database, one answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import show
from sqljury.cli.groups import SessionOptions, grouped
from sqljury.cli.options import EvidenceOption, ExamplesOption
from sqljury.cli.terminal import interruptible, table_file


class Output(StrEnum):
    """The forms an answer can be printed in."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    SQL = "sql"


@contextmanager
def _traced(file: Path | None) -> Iterator[None]:
    """Write the page of the trace of the block to a file, also where the block fails; nothing without one."""
    if file is None:
        yield
        return
    from sqljury import traces
    from sqljury.experiments.report import trace

    with table_file(file, trace.BEGINS) as page:
        try:
            with traces.kept() as spans:
                yield
        finally:
            if page is not None:
                page.write(trace.html(spans))


@grouped
def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain language.")],
    options: SessionOptions,
    evidence: EvidenceOption = "",
    output: Annotated[Output, typer.Option(help="The output format.")] = Output.TABLE,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The number of rows to print; by default 50 in a table, otherwise all.")
    ] = None,
    defuse: Annotated[
        bool,
        typer.Option(
            "--defuse-formulas", help="With --output csv, escape texts that a spreadsheet would run as formulas."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the steps of the query, its effects on rows, all candidates, repairs and the cost.",
        ),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Show rows on which the answer and its strongest rival differ.")
    ] = False,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Give no answer (exit code 9) if its confidence is lower; 0 accepts every answer. By default, "
            "only questions that the schema cannot answer get no answer.",
        ),
    ] = None,
    examples: ExamplesOption = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML page that shows where the time went; see docs/traces.md."),
    ] = None,
) -> None:
    """Answer a question: write several queries, run and compare them, and show the best."""
    from sqljury.api import Session
    from sqljury.errors import AbstainedError, InputError
    from sqljury.language.orders import check_question
    from sqljury.types import Question

    if defuse and output is not Output.CSV:
        raise InputError("--defuse-formulas is for --output csv; add that, or leave it out")
    check_question(Question(question, evidence))
    arguments = options.arguments(examples=examples)
    with (
        _traced(trace),
        show.progress() as report,
        interruptible() as cancel,
        Session(**arguments, min_confidence=min_confidence, progress=report, cancel=cancel) as session,
        show.tried(report, explain, session.database.dialect),
    ):
        answer = session.ask(question, evidence=evidence, verify=verify)
    answer = show.answer(answer, output.value, limit, explain, defuse=defuse)
    if answer.abstention is not None:
        more = " See the queries with --explain." if answer.abstention.kind == "unsure" and not explain else ""
        raise AbstainedError(f"{answer.abstention}{more}")
