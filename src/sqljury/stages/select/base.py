"""What a selector is, and what those with a judge share: how candidates are shown to it, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, probabilities, sampling
from sqljury.prompts import Text, held
from sqljury.recipes.parts import Judged
from sqljury.schema.render import SCHEMA_CHARS, render
from sqljury.sql.resolve import used
from sqljury.sql.text import cell_text, remark
from sqljury.stages.select import consistency
from sqljury.types import Candidate, Choice, Privacy, Result, Task

Selector = Callable[[Sequence[Candidate], Task, Context], Choice]
"""Called with candidates as ``consistency.group`` returns them; never raises because of a candidate.

A selector with a judge raises ``UnjudgedError`` where the judge cannot be asked; those of ``select.selector`` do not.
"""

ROWS: Final = 5
CELLS: Final = 8
HIDDEN: Final = Text("(not shown)", "schema")
"""Replaces a result that the judge may not see."""
SPENT: Final = "the budget is spent"


class UnjudgedError(Exception):
    """The judge could not be asked, for the reason that its text gives."""


class TooLongError(UnjudgedError):
    """The judge's context cannot hold the prompt; one with fewer queries may fit."""


def members(candidates: Sequence[Candidate], group: int) -> list[int]:
    """The indices of one group's candidates."""
    return [index for index, candidate in enumerate(candidates) if candidate.group == group]


def groups(candidates: Sequence[Candidate]) -> list[int]:
    """The numbers of the groups, from 0, the largest."""
    return sorted({candidate.group for candidate in candidates if candidate.group is not None})


def representative(candidates: Sequence[Candidate], group: int) -> int:
    """The index of the candidate that votes would choose if this group were the largest."""
    index = consistency.choose_in(candidates, group)
    assert index is not None
    return index


def rival(candidates: Sequence[Candidate], choice: Choice) -> int | None:
    """The group next to the chosen candidate's, by the choice's scores, else by size; None without one."""
    chosen = None if choice.index is None else candidates[choice.index].group
    scores = dict(enumerate(choice.scores))
    others = (number for number in groups(candidates) if number != chosen)
    return max(others, key=lambda number: (scores.get(number, 0.0), -number), default=None)


def representatives(candidates: Sequence[Candidate], most: int = 0) -> dict[int, int]:
    """By group the index of its representative, for the ``most`` largest groups, all for 0; the largest first.

    Groups of opinions alone are left out, unless there are no others.
    """
    chosen = {group: representative(candidates, group) for group in groups(candidates)[: most or None]}
    return {group: index for group, index in chosen.items() if not candidates[index].opinion} or chosen


def shown(result: Result, shows: Privacy = "rows") -> Text:
    """The first rows on a few lines, or why there are none; each cell stays on its line. ``HIDDEN`` but for rows."""
    if shows != "rows":
        return HIDDEN
    if result.error is not None:
        return Text(f"error: {remark(str(result.error))}")
    if not result.rows:
        return Text("no rows")
    lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
    count = f"{len(result.rows)}{'+' if result.truncated else ''} row{'' if len(result.rows) == 1 else 's'}"
    return Text("\n".join((count, *lines, *(["..."] if len(result.rows) > ROWS else []))))


def in_play(task: Task, queries: Sequence[Candidate], schema: Judged = "used") -> Text:
    """What a judge sees of the schema: the part that these queries use, or the ``linked`` one as the writer saw it."""
    if schema == "linked":
        return Text(task.text.strip(), held(task.text))
    return Text(
        render(used(task.known, [candidate.sql for candidate in queries]), max_chars=SCHEMA_CHARS).strip(), "schema"
    )


def seen(schema: Judged, count: int = 2) -> str:
    """What ``in_play`` shows of the schema for so many queries, in words."""
    return prompts.render(f"select/seen_{schema}" + ("_alone" if schema == "used" and count == 1 else ""))


def ask(conversation: Sequence[Message], options: Sequence[str], context: Context, seed: int) -> list[float]:
    """The model's probability of each option as its reply.

    Raises ``UnjudgedError`` once the budget is spent, ``TooLongError`` for a prompt that its context cannot hold.
    """
    reply = context.ask(conversation, sampling(seed))
    if reply is not None:
        return probabilities(reply.completions[0], options)
    if context.exhausted():
        raise UnjudgedError(SPENT)
    raise TooLongError("the queries are too long for the judge's context")
