"""The inspection agent: runs a program, and has it written again while it fails or returns nothing of use.

TS-SQL, section 3.1.3 and appendix A.5; the temperature rises by 0.01 a round (appendix B.4).
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import lines_of
from sqljury.prompts import unmarked
from sqljury.recipes.parts import TestsPart
from sqljury.sandbox import Sandbox, SandboxLimits
from sqljury.sql.text import cell_text, plain
from sqljury.testing.agents import frames, given
from sqljury.testing.agents.code import STOP, Written, read
from sqljury.testing.agents.judging import says_something
from sqljury.testing.agents.vote import vote
from sqljury.types import QueryFailure, Result, TestCase

if TYPE_CHECKING:
    import pyarrow as pa

WARMER: Final = 0.01
"""What the temperature rises by with every round."""

LIMITS: Final = SandboxLimits(seconds=5.0, cpu_seconds=5, rows=1_000, columns=50)

HIDDEN: Final = "(not shown)"
"""What stands for a result that is made of rows of the user's."""

ROWS, CELLS, _ERROR_CHARS = 5, 8, 300
_KIND: Final = re.compile(r"\w+")
_KINDS: Final = frozenset({*dir(builtins), "MergeError", "NoTableError"})
"""Errors that may be named where data is hidden: a class of the code's own may be named after a cell."""

_HOW_MANY: Final = re.compile(
    r"\s*(?:how many\b|count\b|(?:find|give|show|return|tell me|what is|what's)\s+(?:me\s+)?(?:the\s+)?(?:total\s+)?"
    r"(?:number|count) of\b)",
    re.IGNORECASE,
)
_EACH: Final = re.compile(r"\b(?:each|every|per|by|and|for all|respectively)\b", re.IGNORECASE)
_AT: Final = re.compile(r"line (\d+): ")
_NAMES: Final = re.compile(r"\w+")
_COLUMNS: Final = """
result = pd.DataFrame([(name, str(column)) for name, one in list(globals().items())
                       if isinstance(one, pd.DataFrame) for column in one.columns], columns=['frame', 'column'])
"""


class Ran(NamedTuple):
    """A program and what it returned."""

    code: str
    result: Result


class Runner:
    """Runs programs on one test case, equal ones once, and none that has rows of its own (``given``)."""

    def __init__(self, case: TestCase, sandbox: Sandbox) -> None:
        """Raises ``MissingExtraError`` without the extra."""
        self._frames: dict[str, pa.Table] = frames.arrow(case)
        self._days = not frames.has_midnights(case.tables)
        self._sandbox = sandbox
        self._known: dict[str, Result] = {}

    def run(self, code: str) -> Ran:
        """What the program leaves in ``result``; raises what ``Sandbox.run`` raises, for nothing that the code does."""
        if code not in self._known:
            self._known[code] = self._result(code)
        return Ran(code, self._known[code])

    def refusal(self, code: str) -> str | None:
        """Why a program is not run at all; it is said of its text alone and tells nothing of the rows."""
        return given.fault(code, self._frames)

    def columns_before(self, code: str, line: int) -> dict[str, list[str]]:
        """By name the columns of every frame that there is when the program comes to this line, counted from 1."""
        try:
            done = [one for one in ast.parse(code).body if (one.end_lineno or 0) < line]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        before = lines_of(code)[: done[-1].end_lineno if done else 0]
        ran = self._sandbox.run("\n".join(before) + _COLUMNS, self._frames, LIMITS)
        found: dict[str, list[str]] = {}
        for name, column, *_ in ran.result.rows:
            found.setdefault(str(name), []).append(str(column))
        return found

    def _result(self, code: str) -> Result:
        if not code:
            return Result(error=QueryFailure("code", "there is no Python block"))
        if refused := self.refusal(code):
            return Result(error=QueryFailure("code", refused))
        result = self._sandbox.run(code, self._frames, LIMITS).result
        return Result(result.columns, frames.cells(result.rows, days=self._days), result.truncated, result.error)


@dataclass(frozen=True, slots=True)
class Inspection:
    """How programs are looked at, as ``part`` has it; ``asked`` is the conversation that they answer.

    ``number`` says that the question asks for one number; ``hidden`` tells the model nothing of the data: no rows, no
    text of an error.
    """

    runner: Runner
    asked: tuple[Message, ...]
    part: TestsPart
    number: bool = False
    hidden: bool = False

    def of_all(self, written: Sequence[Written], context: Context) -> list[Ran]:
        """The programs after inspection, each by the model that wrote it.

        All are run first, and looked at one after another while the vote is open: not once so many returned one thing,
        with nothing to be said against it, that no other can win. Of equal texts one is looked at for all.
        """
        ran = [self.runner.run(one.code) for one in written]
        looked: dict[str, Ran] = {}
        for place, one in enumerate(written):
            if self._decided(ran):
                break
            if one.code not in looked:
                looked[one.code] = self.of(one, place, context)
            ran[place] = looked[one.code]
        return ran

    def _decided(self, ran: Sequence[Ran]) -> bool:
        if self.part.voting != "majority":
            return False  # one program that differs may be chosen
        good = [one.result for one in ran if one.result.ok and odd(one.result, self.number) is None]
        voted = vote(good)
        return voted is not None and 2 * voted[1] > self.part.programs

    def of(self, written: Written, number: int, context: Context) -> Ran:
        """The program, or what its model made of it while something was wrong with it.

        A program that runs is only replaced by one that does. ``number`` is that of the program, for the seed.
        """
        best = latest = self.runner.run(written.code)
        seen = {written.code}
        for done in range(self.part.inspections):
            complaint = self._complaint(latest)
            if complaint is None:
                break
            turns = [Message("assistant", f"```python\n{unmarked(latest.code)}\n```"), Message("user", complaint)]
            sampling = Sampling(
                temperature=written.temperature + WARMER * (done + 1),
                max_tokens=self.part.max_tokens,
                stop=STOP,
                seed=derive_seed(context.seed, "inspect", number, done),
            )
            reply = context.of(written.by).ask([*self.asked, *turns], sampling)
            if reply is None:
                break
            code = read(reply.completions[0])
            if not code or code in seen:
                break  # it stays with what it wrote
            seen.add(code)
            latest = self.runner.run(code)
            if latest.result.ok and (not best.result.ok or says_something(latest.result)):
                best = latest
        return best

    def _complaint(self, ran: Ran) -> str | None:
        """What the model is told of the run; None where nothing is to be said against it."""
        if ran.result.error is not None:
            return self._error(ran.code, ran.result.error.message)
        why = odd(ran.result, self.number)
        if why is None:
            return None
        return prompts.render("tssql/inspect_result", why=why, result=self.shown(ran.result))

    def shown(self, result: Result) -> str:
        """The result as a model may see it."""
        return HIDDEN if self.hidden else _shown(result)

    def _error(self, code: str, error: str) -> str:
        """The error with the line of the code, and the columns that its frames have there.

        Told only what failed, a small model writes the same line again.
        """
        at = _AT.match(error)
        number = int(at[1]) if at else 0
        told = error[at.end() :] if at else error
        if self.hidden and not self.runner.refusal(code):
            kind = _KIND.match(told)
            told = kind[0] if kind and kind[0] in _KINDS else "it raised an exception"
        lines = lines_of(code)
        if not 0 < number <= len(lines):
            return prompts.render("tssql/inspect_error", place="", error=plain(told, _ERROR_CHARS), state="")
        line = lines[number - 1].strip()
        held = self.runner.columns_before(code, number)
        named = [
            f"{name} has the columns {plain(', '.join(columns), _ERROR_CHARS)}.\n"
            for name in dict.fromkeys(_NAMES.findall(line))
            if (columns := self._tellable(held.get(name, ()), code))
        ]
        return prompts.render(
            "tssql/inspect_error",
            place=f" in the line `{plain(line, _ERROR_CHARS)}`",
            error=plain(told, _ERROR_CHARS),
            state="".join(named),
        )

    def _tellable(self, columns: Sequence[str], code: str) -> list[str]:
        """The columns; of hidden data those whose words the model has seen or written: a pivot makes some of cells."""
        if not self.hidden:
            return list(columns)
        known = set(_NAMES.findall(" ".join((code, *(message.content for message in self.asked)))))
        return [column for column in columns if known.issuperset(_NAMES.findall(column))]


def asks_for_a_number(question: str) -> bool:
    """Whether the question is how many there are, of all and not of each; a small model likes to list them instead."""
    return _HOW_MANY.match(question) is not None and _EACH.search(question) is None


def odd(result: Result, number: bool) -> str | None:
    """What speaks against a result of made-up rows, on which queries find something; ``number``: one was asked for."""
    if not result.rows or not result.columns:
        return "no rows"
    if number and (len(result.rows) > 1 or len(result.columns) > 1):
        return "the question asks for one number, and this is a list"
    if result.truncated:
        return f"more than {LIMITS.rows} rows"
    return None if says_something(result) else "nothing but missing values and 0"


def opinion(result: Result, queries: Sequence[Result], number: bool) -> Result:
    """The program's result on made-up rows; an error where it is odd, for then it says nothing of any query.

    Not where a query's own result is odd in the same way. Where none can be run nothing says that there is anything to
    find in these rows, and a result that finds nothing stays.
    """
    why = odd(result, number) if result.ok else None
    if why is None:
        return result
    ran = [one for one in queries if one.ok]
    if says_something(result):
        excused = any(len(one.rows) > 1 or len(one.columns) > 1 for one in ran)
    else:
        excused = not ran or not all(map(says_something, ran))
    return result if excused else replace(result, error=QueryFailure("code", f"the result looks wrong: {why}"))


def _shown(result: Result) -> str:
    head = " | ".join(plain(name, 40) for name in result.columns[:CELLS])
    lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
    return "\n".join((head, *lines, *(["..."] if len(result.rows) > ROWS else [])))
