"""Examples on the question's own database: what they should be about, trying them, and showing them.

Shared by ``synthetic``, written by a model, and ``made``, written by rules (CHASE-SQL, section 3.3).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from sqljury.context import Context
from sqljury.datasets.pool import Shot
from sqljury.errors import CancelledError
from sqljury.language.alike import folded
from sqljury.llm.base import Message
from sqljury.prompts import Text
from sqljury.schema.index import Index
from sqljury.sql.resolve import used
from sqljury.sql.text import plain
from sqljury.stages.generate.direct import question, system
from sqljury.types import Limits, Privacy, Result, Schema, Task
from sqljury.types.schema import subset

TABLES: Final = 3
COLUMNS: Final = 5
_NEAR: Final = 0.6
"""A table needs at least this share of the best table's score."""

EXAMPLES: Final = 5
"""Shown where the recipe does not say how many."""
LIMITS: Final = Limits(seconds=1.0, rows=20, bytes=1024 * 1024)
"""For one example's query, which is run to see that it works, not for its rows."""
SECONDS: Final = 5.0
"""For all examples of a round; the rest is not shown."""
CHARS: Final = 600
"""Longer questions and queries are not shown."""
_TELLING: Final = "<>=*'"
"""Marks by which queries of the same words differ."""


def focus(task: Task, drafts: Sequence[str] = ()) -> Schema:
    """The tables and columns that the drafts use, or else those that words of the question, evidence and notes name.

    By words at most ``TABLES`` tables are chosen, each with its keys and at most ``COLUMNS`` other columns.
    """
    drafted = used(task.shown, drafts)
    if drafted.tables:
        return drafted
    text = "\n".join((task.question.text, task.question.evidence, *task.notes))
    scores = Index.of(task.shown, meanings=False).scores(text)
    order = sorted(range(len(task.shown.tables)), key=lambda index: -scores.tables[index])
    best = scores.tables[order[0]] if order else 0.0
    chosen = [index for index in order[:TABLES] if scores.tables[index] >= _NEAR * best]
    return subset(
        task.shown, {task.shown.tables[at].name: _columns(task.shown, at, scores.columns[at]) for at in chosen}
    )


def _columns(schema: Schema, at: int, scores: Sequence[float]) -> set[str]:
    """The keys of a table and its columns that words name; the first columns where none is named."""
    table = schema.tables[at]
    keys = {name for key in table.foreign_keys for name in key.columns} | set(table.row_key)
    keys |= {
        name
        for other in schema.tables
        for key in other.foreign_keys
        if key.ref_table == table.name
        for name in key.ref_columns
    }
    order = sorted(range(len(table.columns)), key=lambda index: -scores[index])
    named = [index for index in order if scores[index] > 0]
    return keys | {table.columns[index].name for index in (named or order)[:COLUMNS]}


def conversation(task: Task, shots: Iterable[Shot], holds: Privacy) -> tuple[Message, ...]:
    """The opening that all generators share, each example as a turn of its own, and the question.

    ``holds`` is what the examples may hold of the database's content.
    """
    turns = [
        turn
        for shot in shots
        for turn in (Message("user", Text(shot.question, holds)), Message("assistant", Text(shot.sql, holds)))
    ]
    return (system(task), *turns, Message("user", question(task)))


def tried(shots: Iterable[Shot], context: Context) -> list[Shot]:
    """The examples whose query runs, each question and query once, those with results first.

    Raises ``CancelledError`` once the work is cancelled.
    """
    with_rows: list[Shot] = []
    empty: list[Shot] = []
    ends = time.monotonic() + SECONDS
    seen: set[str] = set()
    for shot in shots:
        both = {folded(shot.question), folded(shot.sql, kept=_TELLING)}
        if both & seen or not harmless(shot) or time.monotonic() > ends:
            continue
        result = run(shot.sql, context)
        if result.ok:
            seen |= both
            (with_rows if finds(result) else empty).append(shot)
    return with_rows + empty


def run(sql: str, context: Context) -> Result:
    """The result of an example's query, within ``LIMITS``; raises ``CancelledError`` once the work is cancelled."""
    limits = replace(LIMITS, seconds=min(LIMITS.seconds, context.limits.seconds))
    result = context.db.execute(sql, limits, context.cancel)
    if context.cancel is not None and context.cancel.is_set():
        raise CancelledError("The question was cancelled.")
    return result


def finds(result: Result) -> bool:
    """Whether a result has more than one row of nulls and zeros, as an aggregate of no rows gives."""
    return len(result.rows) > 1 or any(cell not in (None, 0) for row in result.rows for cell in row)


def harmless(shot: Shot) -> bool:
    """Whether question and query are short, on one line, and without control characters or chat marks."""
    return all(0 < len(text) <= CHARS and plain(text, CHARS) == text for text in (shot.question, shot.sql))


def unlike(task: Task, shots: Sequence[Shot]) -> list[Shot]:
    """The examples that do not ask the task's own question, which the model would only copy."""
    asked = folded(task.question.text)
    return [shot for shot in shots if folded(shot.question) != asked]
