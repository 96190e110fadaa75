"""What every selector is: from candidates, grouped by result, to a choice and the reasons for it.

What every judge of queries shares: how candidates are shown, and how it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqljury.context import Context
from sqljury.llm import base as choice
from sqljury.llm.base import Message
from sqljury.schema.render import render
from sqljury.sql.resolve import used
from sqljury.sql.text import cell_text, remark
from sqljury.stages.select import consistency
from sqljury.types import Candidate, Choice, Result, Schema, Task

Selector = Callable[[Sequence[Candidate], Task, Context], Choice]
"""Called with candidates as ``consistency.group`` returns them; never raises for what a candidate is.

One that asks a judge raises ``UnjudgedError`` where the judge cannot be asked; those of ``select.selector`` do not.
"""


SPENT: Final = "the budget is spent"


class UnjudgedError(Exception):
    """The judge could not be asked, for the reason that its text gives."""


class TooLongError(UnjudgedError):
    """The judge's context cannot hold the prompt; one with fewer queries may fit."""


def members(candidates: Sequence[Candidate], group: int) -> list[int]:
    """The places of one group's candidates."""
    return [index for index, candidate in enumerate(candidates) if candidate.group == group]


def groups(candidates: Sequence[Candidate]) -> list[int]:
    """The numbers of the groups there are, from 0, the largest."""
    return sorted({candidate.group for candidate in candidates if candidate.group is not None})


ROWS: Final = 5
CELLS: Final = 8
SCHEMA_CHARS: Final = 36_000
"""What the tables and columns in play may take of the prompt."""


def spokesman(candidates: Sequence[Candidate], group: int) -> int:
    """The place of the candidate that votes would take if this group were the largest."""
    place = consistency.choose_in(candidates, group)
    assert place is not None
    return place


def shown(result: Result) -> str:
    """The first rows on a few lines, or why there are none; unable to look like anything else."""
    if result.error is not None:
        return f"error: {remark(str(result.error))}"
    if not result.rows:
        return "no rows"
    lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
    count = f"{len(result.rows)}{'+' if result.truncated else ''} row{'' if len(result.rows) == 1 else 's'}"
    return "\n".join((count, *lines, *(["..."] if len(result.rows) > ROWS else [])))


def in_play(schema: Schema, queries: Sequence[Candidate]) -> str:
    """The part of the schema that these queries use, as a judge sees it."""
    return render(used(schema, [one.sql for one in queries]), max_chars=SCHEMA_CHARS).strip()


def ask(conversation: Sequence[Message], options: Sequence[str], context: Context, seed: int) -> list[float]:
    """The model's probability of each option as its reply.

    Raises ``UnjudgedError`` once the allowance is spent, and of its kind ``TooLongError`` where the queries do not fit
    into the model's context.
    """
    reply = context.ask(conversation, choice.sampling(seed))
    if reply is None:
        raise (
            UnjudgedError(SPENT)
            if context.exhausted()
            else TooLongError("the queries are too long for the judge's context")
        )
    return choice.probabilities(reply.completions[0], options)
