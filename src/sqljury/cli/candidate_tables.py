"""The candidates of an answer as tables: their repairs, how one was chosen, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqljury.cli import terminal
from sqljury.cli.terminal import text
from sqljury.types import Candidate, Cell, Choice, Cost, Result, serialize
from sqljury.types.candidate import FixedBy


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

    table = terminal.plain_table("Candidates")
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
        terminal.show(f"* chosen by {how}{_reason(choice, candidates[choice.index].group)}", stderr=stderr)
    if choice is not None and choice.comparisons:
        _comparisons(choice, stderr=stderr)
    if choice is not None and choice.tests:
        passes(choice, stderr=stderr)
    if len(steps) > 1:
        _steps(steps, stderr=stderr)
    if cost is not None:
        terminal.show("", _cost_line(cost), stderr=stderr)


def _reason(choice: Choice, group: int | None) -> str:
    """Why votes decided, or the groups' scores from one prompt; comparisons and tests have their own tables."""
    if choice.note:
        return f"; {choice.note}"
    if group is not None and choice.within_margin(group):
        return "; it prefers another result by less than its margin, so votes decided"
    if choice.comparisons or choice.tests or len(choice.scores) < 2 or choice.selector == "consistency":
        return ""
    return "; by group: " + ", ".join(f"{number} {score:.0%}" for number, score in enumerate(choice.scores, 1))


def _comparisons(choice: Choice, *, stderr: bool) -> None:
    """Print for each group its score and its probability against each other group, shown first and shown last."""
    table = terminal.plain_table("Comparisons")
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
    table = terminal.plain_table("Steps")
    table.add_column("step")
    for title in ("seconds", "calls", "read", "cached", "written"):
        table.add_column(title, justify="right")
    for step, cost in steps:
        read = cost.prompt_tokens - cost.cached_tokens
        counts = (cost.calls, read, cost.cached_tokens, cost.completion_tokens)
        table.add_row(step, f"{cost.seconds:.1f}", *(f"{count:,}" for count in counts))
    terminal.show("", table, stderr=stderr)


_REPAIRS: Final[Mapping[FixedBy, str]] = {
    "schema": "names bound to the schema",
    "dialect": "written in the database's dialect",
    "values": "values as the database has them",
    "meaning": "rewritten as the question means it",
    "instructions": "rewritten to follow the instructions",
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


def passes(choice: Choice, *, stderr: bool) -> None:
    """Print a row for each test: the origin of its rows, the expected result, and which groups passed."""
    from sqljury.stages.select import TESTING

    table = terminal.plain_table("Tests")
    for title in ("#", "rows"):
        table.add_column(title, justify="right")
    groups = max(len(test.queries) for test in choice.tests)
    for title in ("made", "expected", "by", *(f"group {number + 1}" for number in range(groups))):
        table.add_column(title, overflow="fold")
    for number, test in enumerate(choice.tests, 1):
        expected = "nobody said" if test.case.expected is None else _in_line(test.case.expected)
        sure = "" if test.case.confidence == 1 else f", {test.case.confidence:.0%} sure"
        table.add_row(
            str(number), str(test.case.size), test.how, expected, f"{test.by}{sure}", *map(_verdict, test.passed)
        )
    if choice.selector in TESTING:
        table.add_row("", "", "", "", "score", *(f"{score:g}" for score in choice.scores))
    terminal.show("", table, stderr=stderr)


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
