"""Small databases for people to read: who passed which test, and the rows on which two queries differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqljury.cli import terminal
from sqljury.cli.terminal import text
from sqljury.types import Answer, Cell, Choice, Result, Row, Tried
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

ROWS = 10
"""Shown of one table of a test, or of one result."""

ORIGINS = {
    "drawn": "drawn from the database, with small numbers where queries sort or add up",
    "real": "from the database itself",
    "mutated": "from the database, changed to make the queries differ",
    "fuzzed": "made up",
    "written": "written by the model",
}

SAID = {"model": "the model", "code": "the program that the model wrote"}


def passes(choice: Choice, *, stderr: bool) -> None:
    """A row for each test: where its rows come from, what was expected, and which groups passed."""
    from sqljury.stages.select import TESTING

    table = _plain_table("Tests")
    for title in ("#", "rows"):
        table.add_column(title, justify="right")
    groups = max(len(test.queries) for test in choice.tests)
    for title in ("made", "expected", "by", *(f"group {number + 1}" for number in range(groups))):
        table.add_column(title, overflow="fold")
    for number, test in enumerate(choice.tests, 1):
        expected = "nobody said" if test.case.expected is None else _in_line(test.case.expected)
        sure = "" if test.case.sureness == 1 else f", {test.case.sureness:.0%} sure"
        table.add_row(
            str(number), str(test.case.size), test.how, expected, f"{test.by}{sure}", *map(_verdict, test.passed)
        )
    if choice.selector in TESTING:
        table.add_row("", "", "", "", "score", *(f"{score:g}" for score in choice.scores))
    terminal.show("", table, stderr=stderr)


def verification(found: Answer, *, stderr: bool) -> None:
    """What speaks for the answer against its strongest rival: some rows, and what either query returns there."""
    from rich.text import Text

    verified = found.verified
    assert verified is not None
    terminal.show("", _headline(found), stderr=stderr)
    if verified.test is None:
        return
    rows(verified.test, stderr=stderr)
    for name, query, result, passed in zip(
        ("answer", "rival"), verified.test.queries, verified.test.results, verified.test.passed, strict=True
    ):
        terminal.show("", f"The {name} returns there{judged(passed)}:", stderr=stderr)
        shown = Text(written.one_line(query, found.dialect))
        terminal.show(_indented(shown), table_of(result), stderr=stderr)
    expectation(verified.test, stderr=stderr)


def expectation(test: Tried, *, stderr: bool = False) -> None:
    """What is expected of a test, by whom; nothing where nobody said."""
    if test.case.expected is None:
        return
    by = SAID.get(test.by, "the tests")
    share = "" if test.case.sureness == 1 else f" ({test.case.sureness:.0%} of its opinions)"
    terminal.show("", f"Before it saw any query, {by} expected{share}:", table_of(test.case.expected), stderr=stderr)


def _headline(found: Answer) -> str:
    verified = found.verified
    assert verified is not None
    if verified.rival is None:
        running = sum(one.group is not None for one in found.candidates)
        if running == 1:
            return "Nothing to compare: only one query runs; recipes that write more give it rivals."
        return f"Nothing to compare: all {running} queries that run return the same."
    votes = sum(one.group == verified.rival for one in found.candidates)
    other = f"its strongest rival ({votes} candidate{'' if votes == 1 else 's'})"
    if verified.test is not None:
        size = verified.test.case.size
        made = ORIGINS.get(verified.test.how, "made for this")
        return f"Verify by eye: on {size} row{'' if size == 1 else 's'} {made}, the answer differs from {other}."
    query = next(one.sql for one in found.candidates if one.group == verified.rival)
    named = f"{other}, {written.one_line(query, found.dialect)}"
    if verified.outcome == "untried":
        return f"Not held against {named}: small databases are SQLite's, and {terminal.clean(verified.why)}"
    return f"No rows were found on which the answer differs from {named}. They may mean the same."


def rows(test: Tried, *, stderr: bool = False) -> None:
    """The tables of a test, one below the other; those without rows by name."""
    empty = []
    for table, own in zip(test.case.schema.tables, test.case.rows, strict=True):
        if not own:
            empty.append(text(table.name))
            continue
        shown = _plain_table(text(table.name))
        _fill(shown, [column.name for column in table.columns], own)
        terminal.show("", _indented(shown), stderr=stderr)
    if empty:
        terminal.show("", f"  without rows: {', '.join(empty)}", stderr=stderr)


def table_of(result: Result) -> RenderableType:
    """A result as a table, or in words where it has no rows."""
    if not result.rows:
        return "  no rows" if result.ok else f"  error: {terminal.clean(str(result.error))}"
    table = _plain_table("")
    names = result.columns if any(result.columns) else ()
    table.show_header = bool(names)
    _fill(table, names or ("",) * len(result.rows[0]), result.rows)
    if result.truncated:
        table.add_row("... and more than were fetched")
    return _indented(table)


def _indented(shown: RenderableType) -> RenderableType:
    from rich.padding import Padding

    return Padding(shown, (0, 0, 0, 2), expand=False)


def _fill(table: Table, names: Sequence[str], rows: Sequence[Row]) -> None:
    from rich.text import Text

    for place, name in enumerate(names):
        numeric = bool(rows) and all(row[place] is None or isinstance(row[place], int | float) for row in rows)
        table.add_column(Text(text(name)), justify="right" if numeric else "left", overflow="fold")
    for row in rows[:ROWS]:
        table.add_row(*[Text(text(cell)) for cell in row])
    if len(rows) > ROWS:
        table.add_row(f"... {len(rows) - ROWS} more")


def _plain_table(title: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    named = Text(title) if title else None
    return Table(title=named, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))


def _in_line(result: Result) -> str:
    """The first rows of a result in a cell of a table."""
    rows = [", ".join(_short(cell) for cell in row) for row in result.rows[:2]]
    more = ["..."] if len(result.rows) > len(rows) else []
    return "; ".join((*rows, *more)) or "no rows"


def _short(cell: Cell) -> str:
    shown = text(cell)
    return shown if len(shown) <= 20 else f"{shown[:17]}..."


def _verdict(passed: bool | None) -> str:
    return {True: "passed", False: "failed", None: "-"}[passed]


def judged(passed: bool | None) -> str:
    """What follows what a query returns."""
    return {True: " what is expected", False: ", which is not expected", None: ""}[passed]
