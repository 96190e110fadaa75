"""The inspection agent: runs a program, and has it written again while it fails or returns nothing of use.

TS-SQL, section 3.1.3 and appendix A.5; the temperature rises by 0.01 a round (appendix B.4).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import lines_of
from sqljury.prompts import Text, held, unmarked
from sqljury.recipes.parts import TestsPart
from sqljury.sql.text import cell_text, plain
from sqljury.testing.agents.code import LIMITS, Ran, Runner, Written, read_program, stops
from sqljury.testing.agents.judging import says_something
from sqljury.testing.agents.vote import majority
from sqljury.types import Privacy, QueryFailure, Result

WARMER: Final = 0.01
"""What the temperature rises by with every round."""

HIDDEN: Final = "(not shown)"
"""Replaces a result that is made of the user's rows."""

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


@dataclass(frozen=True, slots=True)
class Inspection:
    """Inspects programs as ``part`` says; ``asked`` is the conversation that they answer.

    With ``number`` the question asks for one number. With ``hidden`` the model is told nothing of the data: no rows, no
    text of an error.
    """

    runner: Runner
    asked: tuple[Message, ...]
    part: TestsPart
    number: bool = False
    hidden: bool = False

    def inspect_all(self, written: Sequence[Written], context: Context) -> list[Ran]:
        """The programs after inspection, each by the model that wrote it.

        All are run first, and inspected one after another while the vote is open: until so many returned one result,
        with nothing wrong with it, that no other can win. Of equal texts one is inspected for all.
        """
        ran = [self.runner.run(program.code) for program in written]
        inspected: dict[str, Ran] = {}
        for number, program in enumerate(written):
            if self._decided(ran):
                break
            if program.code not in inspected:
                inspected[program.code] = self.inspect(program, number, context)
            ran[number] = inspected[program.code]
        return ran

    def _decided(self, ran: Sequence[Ran]) -> bool:
        if self.part.voting != "majority":
            return False  # one program that differs may be chosen
        votes = majority([run.result for run in ran if run.result.ok and odd(run.result, self.number) is None])
        return votes is not None and 2 * votes[1] > self.part.programs

    def inspect(self, written: Written, number: int, context: Context) -> Ran:
        """The program, or what its model made of it while something was wrong with it.

        A program that runs is only replaced by one that does. ``number`` is that of the program, for the seed.
        """
        best = latest = self.runner.run(written.code)
        seen = {written.code}
        for done in range(self.part.inspections):
            complaint = self._complaint(latest)
            if complaint is None:
                break
            block = Text(f"```python\n{unmarked(latest.code)}\n```", self._holds)
            turns = [Message("assistant", block), Message("user", complaint)]
            sampling = Sampling(
                temperature=written.temperature + WARMER * (done + 1),
                max_tokens=self.part.max_tokens,
                stop=stops(self.part),
                seed=derive_seed(context.seed, "inspect", number, done),
            )
            reply = context.of(written.by).ask([*self.asked, *turns], sampling)
            if reply is None:
                break
            code = read_program(reply.completions[0])
            if not code or code in seen:
                break  # the model insists on what it wrote
            seen.add(code)
            latest = self.runner.run(code)
            if latest.result.ok and (not best.result.ok or says_something(latest.result)):
                best = latest
        return best

    @property
    def _holds(self) -> Privacy:
        """What of the database's content programs, errors and results may hold: no more than what was asked."""
        return held(*(message.content for message in self.asked))

    def _complaint(self, ran: Ran) -> Text | None:
        if ran.result.error is not None:
            return self._error(ran.code, ran.result.error.message)
        why = odd(ran.result, self.number)
        if why is None:
            return None
        return prompts.render(self._prompt("tssql/inspect_result"), self._holds, why=why, result=self.shown(ran.result))

    def _prompt(self, name: str) -> str:
        return f"{name}_steps" if self.part.reasoning else name

    def shown(self, result: Result) -> str:
        """The result as a model may see it."""
        if self.hidden:
            return HIDDEN
        head = " | ".join(plain(name, 40) for name in result.columns[:CELLS])
        lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
        return "\n".join((head, *lines, *(["..."] if len(result.rows) > ROWS else [])))

    def _error(self, code: str, error: str) -> Text:
        """The error with the line of the code, and the columns that its frames have there.

        Told only what failed, a small model writes the same line again.
        """
        at = _AT.match(error)
        number = int(at[1]) if at else 0
        message = error[at.end() :] if at else error
        if self.hidden and not self.runner.refusal(code):
            kind = _KIND.match(message)
            message = kind[0] if kind and kind[0] in _KINDS else "it raised an exception"
        lines = lines_of(code)
        if not 0 < number <= len(lines):
            return prompts.render(
                self._prompt("tssql/inspect_error"), self._holds, place="", error=plain(message, _ERROR_CHARS), state=""
            )
        line = lines[number - 1].strip()
        columns_of = self.runner.columns_before(code, number)
        state = [
            f"{name} has the columns {plain(', '.join(columns), _ERROR_CHARS)}.\n"
            for name in dict.fromkeys(_NAMES.findall(line))
            if (columns := self._visible(columns_of.get(name, ()), code))
        ]
        return prompts.render(
            self._prompt("tssql/inspect_error"),
            self._holds,
            place=f" in the line `{plain(line, _ERROR_CHARS)}`",
            error=plain(message, _ERROR_CHARS),
            state="".join(state),
        )

    def _visible(self, columns: Sequence[str], code: str) -> list[str]:
        """The columns; of hidden data those whose words the model has seen or written: a pivot makes some of cells."""
        if not self.hidden:
            return list(columns)
        known = set(_NAMES.findall(" ".join((code, *(message.content for message in self.asked)))))
        return [column for column in columns if known.issuperset(_NAMES.findall(column))]


def asks_for_a_number(question: str) -> bool:
    """Whether the question is how many there are, of all and not of each; a small model likes to list them instead."""
    return _HOW_MANY.match(question) is not None and _EACH.search(question) is None


def odd(result: Result, number: bool) -> str | None:
    """What is wrong with a result of made-up rows, on which queries find something; ``number``: one was asked for."""
    if not result.rows or not result.columns:
        return "no rows"
    if number and (len(result.rows) > 1 or len(result.columns) > 1):
        return "the question asks for one number, and this is a list"
    if result.truncated:
        return f"more than {LIMITS.rows} rows"
    return None if says_something(result) else "nothing but missing values and 0"


def opinion(result: Result, queries: Sequence[Result], number: bool) -> Result:
    """The program's result on made-up rows; an error where it is odd, since it is then no evidence about any query.

    Not where a query's own result is odd in the same way. Where no query can be run, there may be nothing to find in
    these rows, and a result that finds nothing stays.
    """
    why = odd(result, number) if result.ok else None
    if why is None:
        return result
    ran = [query for query in queries if query.ok]
    if says_something(result):
        excused = any(len(query.rows) > 1 or len(query.columns) > 1 for query in ran)
    else:
        excused = not ran or not all(map(says_something, ran))
    return result if excused else replace(result, error=QueryFailure("code", f"the result looks wrong: {why}"))
