"""Small databases as tables, with what queries return there, and what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqljury.cli import terminal
from sqljury.cli.terminal import text
from sqljury.types import Answer, Result, Row, Tried, serialize

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

ROWS = 10
"""Rows shown of one table of a test, or of one result."""

ORIGINS = {
    "drawn": "drawn from the database, with small numbers where queries sort or add up",
    "real": "from the database itself",
    "mutated": "from the database, changed to make the queries differ",
    "fuzzed": "made up",
    "written": "written by the model",
}

AUTHORS = {"model": "the model", "code": "the program that the model wrote"}


def verification(answer: Answer, *, stderr: bool) -> None:
    """Print rows on which the answer and its strongest rival differ, and what either query returns there."""
    from rich.text import Text

    verified = answer.verified
    assert verified is not None
    terminal.show("", _headline(answer), stderr=stderr)
    if verified.test is None:
        return
    rows(verified.test, stderr=stderr)
    for name, query, result, passed in zip(
        ("answer", "rival"), verified.test.queries, verified.test.results, verified.test.passed, strict=True
    ):
        terminal.show("", f"The {name} returns there{judged(passed)}:", stderr=stderr)
        shown = Text(serialize.one_line(query, answer.dialect))
        terminal.show(terminal.indented(shown), table_of(result), stderr=stderr)
    expectation(verified.test, stderr=stderr)


def expectation(test: Tried, *, stderr: bool = False) -> None:
    """Print the expected result of a test and its author; nothing where there is none."""
    if test.case.expected is None:
        return
    by = AUTHORS.get(test.by, "the tests")
    share = "" if test.case.confidence == 1 else f" ({test.case.confidence:.0%} of its opinions)"
    terminal.show("", f"Before it saw any query, {by} expected{share}:", table_of(test.case.expected), stderr=stderr)


def _headline(answer: Answer) -> str:
    verified = answer.verified
    assert verified is not None
    if verified.rival is None:
        running = sum(candidate.group is not None for candidate in answer.candidates)
        if running == 1:
            return "Nothing to compare: only one query runs; recipes that write more give it rivals."
        return f"Nothing to compare: all {running} queries that run return the same."
    votes = sum(candidate.group == verified.rival for candidate in answer.candidates)
    rival = f"its strongest rival ({votes} candidate{'' if votes == 1 else 's'})"
    if verified.test is not None:
        size = verified.test.case.size
        made = ORIGINS.get(verified.test.how, "made for this")
        return f"Verify by eye: on {size} row{'' if size == 1 else 's'} {made}, the answer differs from {rival}."
    query = next(candidate.sql for candidate in answer.candidates if candidate.group == verified.rival)
    named = f"{rival}, {serialize.one_line(query, answer.dialect)}"
    if verified.outcome == "untried":
        return f"Not held against {named}: small databases are SQLite's, and {terminal.clean(verified.why)}"
    return f"No rows were found on which the answer differs from {named}. They may mean the same."


def rows(test: Tried, *, stderr: bool = False) -> None:
    """Print the tables of a test; those without rows by name."""
    empty = []
    for table, table_rows in zip(test.case.schema.tables, test.case.rows, strict=True):
        if not table_rows:
            empty.append(text(table.name))
            continue
        shown = terminal.plain_table(text(table.name))
        _fill(shown, [column.name for column in table.columns], table_rows)
        terminal.show("", terminal.indented(shown), stderr=stderr)
    if empty:
        terminal.show("", f"  without rows: {', '.join(empty)}", stderr=stderr)


def table_of(result: Result) -> RenderableType:
    """A result as a table, or a line of text where it has no rows."""
    if not result.rows:
        return "  no rows" if result.ok else f"  error: {terminal.clean(str(result.error))}"
    table = terminal.plain_table("")
    names = result.columns if any(result.columns) else ()
    table.show_header = bool(names)
    _fill(table, names or ("",) * len(result.rows[0]), result.rows)
    if result.truncated:
        table.add_row("... and more than were fetched")
    return terminal.indented(table)


def _fill(table: Table, names: Sequence[str], rows: Sequence[Row]) -> None:
    from rich.text import Text

    for index, name in enumerate(names):
        numeric = bool(rows) and all(row[index] is None or isinstance(row[index], int | float) for row in rows)
        table.add_column(Text(text(name)), justify="right" if numeric else "left", overflow="fold")
    for row in rows[:ROWS]:
        table.add_row(*[Text(text(cell)) for cell in row])
    if len(rows) > ROWS:
        table.add_row(f"... {len(rows) - ROWS} more")


def judged(passed: bool | None) -> str:
    """The end of the sentence about what a query returns."""
    return {True: " what is expected", False: ", which is not expected", None: ""}[passed]
