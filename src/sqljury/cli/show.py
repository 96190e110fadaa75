"""What is shown: answers on stdout, progress on stderr, the evidence below a table or else on stderr."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from sqljury.cli import show_tests, terminal
from sqljury.cli.terminal import text
from sqljury.types import Answer, Candidate, Choice, Cost
from sqljury.types import serialize as written

if TYPE_CHECKING:
    from sqljury.context import Progress

TABLE_ROWS = 50


class progress:  # noqa: N801 - reads as a phrase where it is used
    """A line on stderr that says what is being done; silent where stderr is no terminal."""

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
            self._status.update(Text(terminal.clean(step)))  # it may name a table, which may hold anything

    def close(self) -> None:
        """Take the line away; whatever is printed next stands alone."""
        if self._status:
            self._status.stop()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


def answer(found: Answer, output: str, limit: int | None, explain: bool, *, defuse: bool = False) -> None:
    """Print an answer as ``table``, ``json``, ``csv`` or ``sql``; ``limit`` cuts its rows.

    ``defuse`` is for ``csv``: no cell is a formula to a spreadsheet.
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
        show_tests.verification(found, stderr=output != "table")
    if explain:
        stderr = output != "table"
        if found.linked:
            terminal.show("", terminal.clean(f"Tables shown: {', '.join(found.linked)}"), stderr=stderr)
        evidence(
            found.candidates, found.cost, stderr=stderr, choice=found.choice, steps=found.steps, dialect=found.dialect
        )


def _sql(found: Answer) -> None:
    """The query with a semicolon: as it is for another program, all of it visible for a person."""
    if not terminal.at_terminal():
        print(written.statement(found.sql))
        return
    print(written.statement(written.query(found.sql, found.dialect)))
    terminal.say_escapes(found.sql, found.dialect)


_FORMULA: Final = re.compile(r"[\s\ufeff\u200b-\u200f\u2060]*[=+@\-\t\r\n＝＋－＠−]|[\t\r\n]")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _defused(cell: Any) -> Any:
    """A cell that a spreadsheet would run, as text: with an apostrophe before it, as OWASP advises. Numbers stay."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _csv(found: Answer, defuse: bool) -> None:
    """Header and rows; NULL is nothing, a blob ``0x`` and its digits. Cells are cut or cleaned for a terminal only.

    Where formulas are defused, every text is quoted too: what takes another separator must not begin a cell within it.
    """
    for row in (found.columns, *found.rows):
        if terminal.at_terminal():
            cells = ["" if cell is None else text(cell) for cell in row]
        else:
            cells = ["" if cell is None else f"0x{cell.hex()}" if isinstance(cell, bytes) else cell for cell in row]
        line = io.StringIO()  # a writer quotes the line ends that it knows
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
    """Print every candidate with its group, what was repaired, how it was chosen, and what it all cost."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Candidates", title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
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
            Text("\n".join(map(terminal.clean, _story(candidate, dialect)))),
        )
    terminal.show("", table, stderr=stderr)
    if choice is not None and choice.index is not None:
        refined = any(fix.by == "tests" for fix in candidates[choice.index].fixes)
        how = f"{choice.selector}, then refined by tests" if refined else choice.selector
        terminal.show(f"* chosen by {how}{_judged(choice)}", stderr=stderr)
    if choice is not None and choice.comparisons:
        _comparisons(choice, stderr=stderr)
    if choice is not None and choice.tests:
        show_tests.passes(choice, stderr=stderr)
    if len(steps) > 1:
        _steps(steps, stderr=stderr)
    if cost is not None:
        terminal.show("", _bill(cost), stderr=stderr)


def _judged(choice: Choice) -> str:
    """Why votes decided, or the groups' scores where a model gave them in one go; others have their own table."""
    if choice.note:
        return f"; {choice.note}"
    if choice.comparisons or choice.tests or len(choice.scores) < 2 or choice.selector == "consistency":
        return ""
    return "; by group: " + ", ".join(f"{number} {score:.0%}" for number, score in enumerate(choice.scores, 1))


def _comparisons(choice: Choice, *, stderr: bool) -> None:
    """A row for each group: its score, and how sure the judge was of it against each other, shown first and last."""
    from rich.table import Table

    table = Table(title="Comparisons", title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    numbers = sorted({number for one in choice.comparisons for number in (one.first, one.second)})
    for title in ("group", "score", *(f"against {number + 1}" for number in numbers)):
        table.add_column(title, justify="right")
    sure = {(one.first, one.second): (one.first_shown_first, one.first_shown_second) for one in choice.comparisons}
    sure |= {(second, first): (1 - last, 1 - shown) for (first, second), (shown, last) in sure.items()}
    for number, score in zip(numbers, choice.scores, strict=True):
        against = (sure.get((number, other)) for other in numbers)
        cells = ("" if pair is None else f"{pair[0]:.0%}, {pair[1]:.0%}" for pair in against)
        table.add_row(str(number + 1), f"{score:.2f}", *cells)
    terminal.show("", table, stderr=stderr)


def _steps(steps: Sequence[tuple[str, Cost]], *, stderr: bool) -> None:
    """A row for each step that asked the model."""
    from rich.table import Table

    table = Table(title="Steps", title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
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
    "model": "rewritten by the model",
    "tests": "rewritten by the model",
}


def _story(candidate: Candidate, dialect: str) -> list[str]:
    """The query, what it was before its repairs, and the error that is left."""
    lines = [written.one_line(candidate.sql, dialect) or "(no query)"]
    for fix in candidate.fixes:
        lines.append(f"  {_REPAIRS[fix.by]} after: {fix.reason}")
        lines.append(f"  before: {written.one_line(fix.before, dialect)}")
    if candidate.result.error:
        lines.append(f"  error: {candidate.result.error}")
    return lines


def _bill(cost: Cost) -> str:
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
        terminal.show(terminal.clean(f"Nothing found; {'; '.join(found.remarks)}."))


def _agreement(found: Answer) -> str:
    """The share of candidates that agree; empty for a single candidate, whose agreement with itself says nothing."""
    if found.confidence is None:
        return ""
    count = len(found.candidates)
    votes = round(found.confidence * count)
    return f" Confidence {found.confidence:.0%}: {votes} of {count} candidates agree{'s' if votes == 1 else ''}."
