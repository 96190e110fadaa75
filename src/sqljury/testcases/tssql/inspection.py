"""The inspection agent: runs a program, and has it written again while it fails or returns nothing of use.

TS-SQL, section 3.1.3 and appendix A.5; the temperature rises by 0.01 a round (appendix B.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from sqljury import prompts
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.replies import extract_code
from sqljury.sandbox import Sandbox, SandboxLimits
from sqljury.schema.text import cell_text, plain
from sqljury.testcases.tssql import frames
from sqljury.testcases.tssql.code import MAX_TOKENS, STOP
from sqljury.testcases.tssql.judging import says_something
from sqljury.types import Cost, Result, TestCase
from sqljury.work import Work

if TYPE_CHECKING:
    import pyarrow as pa

WARMER: Final = 0.01
"""What the temperature rises by with every round."""

LIMITS: Final = SandboxLimits(seconds=5.0, cpu_seconds=5, rows=1_000, columns=50)

ROWS, CELLS, _ERROR_CHARS = 5, 8, 300
_KIND: Final = re.compile(r"(?:line \d+: )?\w+")


class Ran(NamedTuple):
    """A program and what it returned."""

    code: str
    result: Result


class Runner:
    """Runs programs on one test case; equal ones once."""

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

    def _result(self, code: str) -> Result:
        if not code:
            return Result(error="there is no Python block")
        result = self._sandbox.run(code, self._frames, LIMITS).result
        return Result(result.columns, frames.cells(result.rows, days=self._days), result.truncated, result.error)


def inspected(
    first: Ran,
    asked: Sequence[Message],
    run: Callable[[str], Ran],
    work: Work,
    *,
    rounds: int,
    temperature: float,
    number: int,
    hidden: bool = False,
) -> tuple[Ran, Cost]:
    """The program, or what the model made of it in up to ``rounds`` rounds in which something was wrong with it.

    A program that runs is only replaced by one that does. ``number`` is that of the program, for the seed. ``hidden``
    tells the model nothing of the data: no rows, no text of an error.
    """
    best, latest, cost = first, first, Cost()
    seen = {first.code}
    for done in range(rounds):
        complaint = _complaint(latest.result, hidden)
        if complaint is None:
            break
        turns = [Message("assistant", f"```python\n{latest.code}\n```"), Message("user", complaint)]
        sampling = Sampling(
            temperature=temperature + WARMER * (done + 1),
            max_tokens=MAX_TOKENS,
            stop=STOP,
            seed=derive_seed(work.seed, "inspect", number, done),
        )
        reply = work.model.complete([*asked, *turns], sampling, cancel=work.cancel)
        cost += reply.cost
        code = extract_code(reply.completions[0].text)
        if not code or code in seen:
            break  # it stays with what it wrote
        seen.add(code)
        latest = run(code)
        if latest.result.ok and (not best.result.ok or says_something(latest.result)):
            best = latest
    return best, cost


def _complaint(result: Result, hidden: bool) -> str | None:
    """What the model is told of the run; None where nothing is to be said against it."""
    if result.error is not None:
        kind = _KIND.match(result.error)
        error = (kind[0] if kind else "it raised") if hidden else plain(result.error, _ERROR_CHARS)
        return prompts.render("tssql/inspect_error", error=error)
    why = _odd(result)
    if why is None:
        return None
    return prompts.render("tssql/inspect_result", why=why, result="(not shown)" if hidden else _shown(result))


def _odd(result: Result) -> str | None:
    if not result.rows or not result.columns:
        return "no rows"
    if result.truncated:
        return f"more than {LIMITS.rows} rows"
    return None if says_something(result) else "nothing but missing values and 0"


def _shown(result: Result) -> str:
    head = " | ".join(plain(name, 40) for name in result.columns[:CELLS])
    lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
    return "\n".join((head, *lines, *(["..."] if len(result.rows) > ROWS else [])))
