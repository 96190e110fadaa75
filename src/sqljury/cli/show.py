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


def answer(found: Answer, output: str, limit: int | None, explain: bool, *, defuse: bool = False) -> Answer:
    """Print an answer as ``table``, ``json``, ``csv`` or ``sql``; ``limit`` cuts its rows.

    Returns the answer that was printed: by the reading that the user chose, where there was a choice.

    ``defuse`` is for ``csv``: cells that a spreadsheet would run as formulas are escaped.
    """
    if limit is not None and len(found.rows) > limit and output != "table":
        found = replace(found, rows=found.rows[:limit], truncated=True)
    if limit is not None and output == "json":
        found = replace(found, readings=tuple(reading.first(limit) for reading in found.readings))
    if output == "table":
        found = explanation.chosen(found)
    if output == "json":
        print(terminal.to_json(found.to_dict()))
    elif found.abstained:
        pass  # nothing that a program or a reader could take for the answer
    elif output == "csv":
        _csv(found, defuse)
    elif output == "sql":
        _sql(found)
    else:
        _table(found, limit or TABLE_ROWS)
    if output != "json":
        explanation.readings(found, stderr=output != "table")
    if found.verified is not None and output != "json":
        case_tables.verification(found, stderr=output != "table")
    if explain:
        stderr = output != "table"
        if found.explanation is not None:
            explanation.explanation(found.explanation, stderr=stderr)
        if found.linked:
            terminal.show("", terminal.clean(f"Tables shown: {', '.join(found.linked)}"), stderr=stderr)
        if found.privacy is not None:
            terminal.show("", f"{SHARED[found.privacy]} (privacy = {found.privacy}).", stderr=stderr)
        candidate_tables.evidence(
            found.candidates, found.cost, stderr=stderr, choice=found.choice, steps=found.steps, dialect=found.dialect
        )
    return found


def _sql(found: Answer) -> None:
    """Print the query with a semicolon: unchanged for another program, with escapes on a terminal."""
    if not terminal.at_terminal():
        print(serialize.statement(found.sql))
        return
    print(serialize.statement(serialize.query(found.sql, found.dialect)))
    terminal.say_escapes(found.sql, found.dialect)


def _csv(found: Answer, defuse: bool) -> None:
    """Print header and rows; cells are cut and cleaned on a terminal only."""
    for row in (found.columns, *found.rows):
        shown = [text(cell) if isinstance(cell, str | bytes) else cell for cell in row]
        cells = shown if terminal.at_terminal() else row
        print(csv_line(cells, defuse=defuse))


def _table(found: Answer, limit: int) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = found.rows[:limit]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(found.columns):
        numeric = all(row[index] is None or isinstance(row[index], (int, float)) for row in shown)
        table.add_column(Text(text(name)), justify="right" if numeric and shown else "left", overflow="fold")
    for row in shown:
        table.add_row(*[Text(text(cell)) for cell in row])
    terminal.show_query(found.sql, found.dialect)
    terminal.show(table)
    total = f"{len(found.rows):,}{'+' if found.truncated else ''} row{'' if len(found.rows) == 1 else 's'}"
    cut = f", the first {len(shown)} shown" if len(shown) < len(found.rows) else ""
    terminal.show(f"{total}{cut}.{_confidence(found)}")
    if found.remarks:
        opening = "Note: " if found.rows else "Nothing found; "
        terminal.show(terminal.clean(f"{opening}{'; '.join(found.remarks)}."))


def _confidence(found: Answer) -> str:
    """How likely the answer is to be right, as a number and in words, and how many candidates agree."""
    confidence = (
        "" if found.confidence is None else f" {in_words(found.confidence).capitalize()} ({found.confidence:.0%})."
    )
    if found.agreement is None:
        return confidence
    count = len(found.candidates)
    votes = round(found.agreement * count)
    return f"{confidence} {votes} of {count} candidates agree{'s' if votes == 1 else ''}."
