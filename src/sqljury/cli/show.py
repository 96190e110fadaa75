"""Answers on stdout, progress on stderr; evidence and tests below a table, or else on stderr."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from sqljury.cli import terminal
from sqljury.cli.terminal import text
from sqljury.types import Answer, Candidate, Cell, Choice, Cost, Result, Row, Tried, serialize

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from sqljury.context import Progress

TABLE_ROWS = 50
"""Rows shown of an answer in a table, by default."""
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


def answer(found: Answer, output: str, limit: int | None, explain: bool, *, defuse: bool = False) -> None:
    """Print an answer as ``table``, ``json``, ``csv`` or ``sql``; ``limit`` cuts its rows.

    ``defuse`` is for ``csv``: cells that a spreadsheet would run as formulas are escaped.
    """
    if limit is not None and len(found.rows) > limit and output != "table":
        found = replace(found, rows=found.rows[:limit], truncated=True)
    if output == "json":
        print(terminal.to_json(found.to_dict()))
    elif output == "csv":
        _csv(found, defuse)
    elif output == "sql":
        _sql(found)
    else:
        _table(found, limit or TABLE_ROWS)
    if found.verified is not None and output != "json":
        verification(found, stderr=output != "table")
    if explain:
        stderr = output != "table"
        if found.linked:
            terminal.show("", terminal.clean(f"Tables shown: {', '.join(found.linked)}"), stderr=stderr)
        evidence(
            found.candidates, found.cost, stderr=stderr, choice=found.choice, steps=found.steps, dialect=found.dialect
        )


def _sql(found: Answer) -> None:
    """Print the query with a semicolon: unchanged for another program, with escapes on a terminal."""
    if not terminal.at_terminal():
        print(serialize.statement(found.sql))
        return
    print(serialize.statement(serialize.query(found.sql, found.dialect)))
    terminal.say_escapes(found.sql, found.dialect)


_FORMULA: Final = re.compile(r"[\s\ufeff\u200b-\u200f\u2060]*[=+@\-\t\r\n＝＋－＠−]|[\t\r\n]")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _defused(cell: Any) -> Any:
    """A cell with an apostrophe before it if a spreadsheet would run it as a formula, as OWASP advises."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _csv(found: Answer, defuse: bool) -> None:
    """Print header and rows; NULL is empty, a blob is ``0x`` and its digits.

    Cells are cut and cleaned on a terminal only. With ``defuse`` every text is quoted too: a program with
    another separator must not find a cell inside a text.
    """
    for row in (found.columns, *found.rows):
        if terminal.at_terminal():
            cells = ["" if cell is None else text(cell) for cell in row]
        else:
            cells = ["" if cell is None else f"0x{cell.hex()}" if isinstance(cell, bytes) else cell for cell in row]
        line = io.StringIO()  # a csv writer quotes only the line ends that it knows
        if defuse:
            csv.writer(line, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC).writerow(map(_defused, cells))
        else:
            csv.writer(line, lineterminator="\r\n").writerow(cells)
        print(line.getvalue().removesuffix("\r\n"))


def evidence(
    candidates: Sequence[Candidate],
    cost: Cost | None,
    *,
    stderr: bool = False,
    choice: Choice | None = None,
    steps: Sequence[tuple[str, Cost]] = (),
    dialect: str = "",
) -> None:
    """Print every candidate with its group and repairs, how the answer was chosen, and the cost."""
    from rich.text import Text

    table = _plain_table("Candidates")
    for title in ("#", "group", "logprob", "rows"):
        table.add_column(title, justify="right")
    table.add_column("by")
    table.add_column("query", overflow="fold")
    for number, candidate in enumerate(candidates, 1):
        table.add_row(
            f"{number}{'*' if choice is not None and choice.index == number - 1 else ''}",
            "-" if candidate.group is None else str(candidate.group + 1),
            "-" if candidate.logprob is None else f"{candidate.logprob:.1f}",
            str(len(candidate.result.rows)) if candidate.result.ok else "error",
            candidate.generator,
            Text("\n".join(map(terminal.clean, _history(candidate, dialect)))),
        )
    terminal.show("", table, stderr=stderr)
    if choice is not None and choice.index is not None:
        refined = any(fix.by == "tests" for fix in candidates[choice.index].fixes)
        how = f"{choice.selector}, then refined by tests" if refined else choice.selector
        terminal.show(f"* chosen by {how}{_scores(choice)}", stderr=stderr)
    if choice is not None and choice.comparisons:
        _comparisons(choice, stderr=stderr)
    if choice is not None and choice.tests:
        passes(choice, stderr=stderr)
    if len(steps) > 1:
        _steps(steps, stderr=stderr)
    if cost is not None:
        terminal.show("", _cost_line(cost), stderr=stderr)


def _scores(choice: Choice) -> str:
    """Why votes decided, or the groups' scores from one prompt; comparisons and tests have their own tables."""
    if choice.note:
        return f"; {choice.note}"
    if choice.comparisons or choice.tests or len(choice.scores) < 2 or choice.selector == "consistency":
        return ""
    return "; by group: " + ", ".join(f"{number} {score:.0%}" for number, score in enumerate(choice.scores, 1))


def _comparisons(choice: Choice, *, stderr: bool) -> None:
    """Print for each group its score and its probability against each other group, shown first and shown last."""
    table = _plain_table("Comparisons")
    numbers = sorted({number for pair in choice.comparisons for number in (pair.first, pair.second)})
    for title in ("group", "score", *(f"against {number + 1}" for number in numbers)):
        table.add_column(title, justify="right")
    probabilities = {
        (pair.first, pair.second): (pair.first_shown_first, pair.first_shown_second) for pair in choice.comparisons
    }
    probabilities |= {
        (second, first): (1 - last, 1 - shown) for (first, second), (shown, last) in probabilities.items()
    }
    for number, score in zip(numbers, choice.scores, strict=True):
        against = (probabilities.get((number, other)) for other in numbers)
        cells = ("" if pair is None else f"{pair[0]:.0%}, {pair[1]:.0%}" for pair in against)
        table.add_row(str(number + 1), f"{score:.2f}", *cells)
    terminal.show("", table, stderr=stderr)


def _steps(steps: Sequence[tuple[str, Cost]], *, stderr: bool) -> None:
    """Print a row for each step that called the model."""
    table = _plain_table("Steps")
    table.add_column("step")
    for title in ("seconds", "calls", "read", "cached", "written"):
        table.add_column(title, justify="right")
    for step, cost in steps:
        read = cost.prompt_tokens - cost.cached_tokens
        counts = (cost.calls, read, cost.cached_tokens, cost.completion_tokens)
        table.add_row(step, f"{cost.seconds:.1f}", *(f"{count:,}" for count in counts))
    terminal.show("", table, stderr=stderr)


_REPAIRS = {
    "schema": "names bound to the schema",
    "dialect": "written in the database's dialect",
    "values": "values as the database has them",
    "meaning": "rewritten as the question means it",
    "model": "rewritten by the model",
    "tests": "rewritten by the model",
}


def _history(candidate: Candidate, dialect: str) -> list[str]:
    """The query, its texts before each repair, and its error."""
    lines = [serialize.one_line(candidate.sql, dialect) or "(no query)"]
    for fix in candidate.fixes:
        lines.append(f"  {_REPAIRS[fix.by]} after: {fix.reason}")
        lines.append(f"  before: {serialize.one_line(fix.before, dialect)}")
    if candidate.result.error:
        lines.append(f"  error: {candidate.result.error}")
    return lines


def _cost_line(cost: Cost) -> str:
    money = f", ${cost.usd:.4f}" if cost.usd else ""
    return (
        f"Cost: {cost.seconds:.1f} s, {cost.calls} call{'s' if cost.calls != 1 else ''}, "
        f"{cost.prompt_tokens:,} prompt tokens ({cost.cached_tokens:,} cached), "
        f"{cost.completion_tokens:,} written{money}"
    )


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
    terminal.show(f"{total}{cut}.{_agreement(found)}")
    if found.remarks:
        opening = "Note: " if found.rows else "Nothing found; "
        terminal.show(terminal.clean(f"{opening}{'; '.join(found.remarks)}."))


def _agreement(found: Answer) -> str:
    """The share of candidates that agree; empty for a single candidate."""
    if found.confidence is None:
        return ""
    count = len(found.candidates)
    votes = round(found.confidence * count)
    return f" Confidence {found.confidence:.0%}: {votes} of {count} candidates agree{'s' if votes == 1 else ''}."


def passes(choice: Choice, *, stderr: bool) -> None:
    """Print a row for each test: the origin of its rows, the expected result, and which groups passed."""
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
        terminal.show(_indented(shown), table_of(result), stderr=stderr)
    expectation(verified.test, stderr=stderr)


def expectation(test: Tried, *, stderr: bool = False) -> None:
    """Print the expected result of a test and its author; nothing where there is none."""
    if test.case.expected is None:
        return
    by = AUTHORS.get(test.by, "the tests")
    share = "" if test.case.sureness == 1 else f" ({test.case.sureness:.0%} of its opinions)"
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
    other = f"its strongest rival ({votes} candidate{'' if votes == 1 else 's'})"
    if verified.test is not None:
        size = verified.test.case.size
        made = ORIGINS.get(verified.test.how, "made for this")
        return f"Verify by eye: on {size} row{'' if size == 1 else 's'} {made}, the answer differs from {other}."
    query = next(candidate.sql for candidate in answer.candidates if candidate.group == verified.rival)
    named = f"{other}, {serialize.one_line(query, answer.dialect)}"
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
        shown = _plain_table(text(table.name))
        _fill(shown, [column.name for column in table.columns], table_rows)
        terminal.show("", _indented(shown), stderr=stderr)
    if empty:
        terminal.show("", f"  without rows: {', '.join(empty)}", stderr=stderr)


def table_of(result: Result) -> RenderableType:
    """A result as a table, or a line of text where it has no rows."""
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

    for index, name in enumerate(names):
        numeric = bool(rows) and all(row[index] is None or isinstance(row[index], int | float) for row in rows)
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
    """The first rows of a result, for a cell of a table."""
    rows = [", ".join(_short(cell) for cell in row) for row in result.rows[:2]]
    more = ["..."] if len(result.rows) > len(rows) else []
    return "; ".join((*rows, *more)) or "no rows"


def _short(cell: Cell) -> str:
    shown = text(cell)
    return shown if len(shown) <= 20 else f"{shown[:17]}..."


def _verdict(passed: bool | None) -> str:
    return {True: "passed", False: "failed", None: "-"}[passed]


def judged(passed: bool | None) -> str:
    """The end of the sentence about what a query returns."""
    return {True: " what is expected", False: ", which is not expected", None: ""}[passed]
