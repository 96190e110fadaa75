"""Answers on stdout, progress on stderr; candidates and tests below a table, or else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from sqljury.cli import candidate_tables, case_tables, explanation, terminal
from sqljury.cli.terminal import text
from sqljury.errors import NoAnswerError
from sqljury.types import Answer, serialize
from sqljury.types.answer import in_words
from sqljury.types.csv_lines import csv_line

if TYPE_CHECKING:
    from sqljury.context import Progress

TABLE_ROWS = 50
"""Rows shown of an answer in a table, by default."""

SHARED: Final = {
    "schema": "A service got the schema and nothing of the content",
    "values": "A service may have got values of columns, no rows",
    "rows": "A service may have got rows of the database",
}
"""What models outside of this process got, in words."""


class progress:  # noqa: N801 - reads as a phrase where it is used
    """A status line on stderr with the current step; silent where stderr is not a terminal."""

    def __init__(self) -> None:
        self._status = terminal.console(stderr=True).status("starting") if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __call__(self, at: Progress) -> None:
        from rich.text import Text

        if self._status:
            step = f"{at.step} ({at.done}/{at.total})" if at.total > 1 else at.step
            self._status.update(Text(terminal.clean(step)))  # a step may contain a table name

    def close(self) -> None:
        """Remove the line."""
        if self._status:
            self._status.stop()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


@contextmanager
def tried(report: progress, explain: bool, dialect: str = "") -> Iterator[None]:
    """Where no candidate runs, print the candidates to stderr before the error, if ``explain``."""
    try:
        yield
    except NoAnswerError as error:
        report.close()
        if explain:
            candidate_tables.evidence(error.candidates, error.cost, stderr=True, dialect=dialect)
        raise


def answer(answer: Answer, output: str, limit: int | None, explain: bool, *, defuse: bool = False) -> Answer:
    """Print an answer as ``table``, ``json``, ``csv`` or ``sql``; ``limit`` cuts its rows.

    Returns the answer that was printed: by the reading that the user chose, where there was a choice.

    ``defuse`` is for ``csv``: cells that a spreadsheet would run as formulas are escaped.
    """
    if limit is not None and len(answer.rows) > limit and output != "table":
        answer = replace(answer, rows=answer.rows[:limit], truncated=True)
    if limit is not None and output == "json":
        answer = replace(answer, readings=tuple(reading.first(limit) for reading in answer.readings))
    if output == "table":
        answer = explanation.chosen(answer)
    if output == "json":
        print(terminal.to_json(answer.to_dict()))
    elif answer.abstained:
        pass  # nothing that a program or a reader could take for the answer
    elif output == "csv":
        _csv(answer, defuse)
    elif output == "sql":
        _sql(answer)
    else:
        _table(answer, limit or TABLE_ROWS)
    if output != "json":
        explanation.readings(answer, stderr=output != "table")
    if answer.verified is not None and output != "json":
        case_tables.verification(answer, stderr=output != "table")
    if explain:
        stderr = output != "table"
        if answer.explanation is not None:
            explanation.explanation(answer.explanation, stderr=stderr)
        if answer.linked:
            terminal.show("", terminal.clean(f"Tables shown: {', '.join(answer.linked)}"), stderr=stderr)
        if answer.privacy is not None:
            terminal.show("", f"{SHARED[answer.privacy]} (privacy = {answer.privacy}).", stderr=stderr)
        candidate_tables.evidence(
            answer.candidates,
            answer.cost,
            stderr=stderr,
            choice=answer.choice,
            steps=answer.steps,
            dialect=answer.dialect,
        )
    return answer


def _sql(answer: Answer) -> None:
    """Print the query with a semicolon: unchanged for another program, with escapes on a terminal."""
    if not terminal.at_terminal():
        print(serialize.statement(answer.sql))
        return
    print(serialize.statement(serialize.query(answer.sql, answer.dialect)))
    terminal.say_escapes(answer.sql, answer.dialect)


def _csv(answer: Answer, defuse: bool) -> None:
    """Print header and rows; cells are cut and cleaned on a terminal only."""
    for row in (answer.columns, *answer.rows):
        shown = [text(cell) if isinstance(cell, str | bytes) else cell for cell in row]
        cells = shown if terminal.at_terminal() else row
        print(csv_line(cells, defuse=defuse))


def _table(answer: Answer, limit: int) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = answer.rows[:limit]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(answer.columns):
        numeric = all(row[index] is None or isinstance(row[index], (int, float)) for row in shown)
        table.add_column(Text(text(name)), justify="right" if numeric and shown else "left", overflow="fold")
    for row in shown:
        table.add_row(*[Text(text(cell)) for cell in row])
    terminal.show_query(answer.sql, answer.dialect)
    terminal.show(table)
    total = f"{len(answer.rows):,}{'+' if answer.truncated else ''} row{'' if len(answer.rows) == 1 else 's'}"
    cut = f", the first {len(shown)} shown" if len(shown) < len(answer.rows) else ""
    terminal.show(f"{total}{cut}.{_confidence(answer)}")
    if answer.remarks:
        opening = "Note: " if answer.rows else "Nothing found; "
        terminal.show(terminal.clean(f"{opening}{'; '.join(answer.remarks)}."))


def _confidence(answer: Answer) -> str:
    """How likely the answer is to be right, as a number and in words, and how many candidates agree."""
    confidence = (
        "" if answer.confidence is None else f" {in_words(answer.confidence).capitalize()} ({answer.confidence:.0%})."
    )
    if answer.agreement is None:
        return confidence
    count = len(answer.candidates)
    votes = round(answer.agreement * count)
    return f"{confidence} {votes} of {count} candidates agree{'s' if votes == 1 else ''}."
