"""The tables and columns that a question seems to need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury.schema.index import Index
from sqljury.schema.subset import subset
from sqljury.schema.used import used
from sqljury.types import Schema, Task

TABLES: Final = 3
COLUMNS: Final = 5
_NEAR: Final = 0.6
"""A table must have this share of the best one's score."""


def focus(task: Task, drafts: Sequence[str] = ()) -> Schema:
    """What the drafts use, or else what the words of the question, its evidence and its notes name.

    At most ``TABLES`` tables are found by words, each with its keys and at most ``COLUMNS`` others.
    """
    found = used(task.schema, drafts)
    if found.tables:
        return found
    text = "\n".join((task.question.text, task.question.evidence, *task.notes))
    scores = Index.of(task.schema, meanings=False).scores(text)
    order = sorted(range(len(task.schema.tables)), key=lambda index: -scores.tables[index])
    best = scores.tables[order[0]] if order else 0.0
    chosen = [index for index in order[:TABLES] if scores.tables[index] >= _NEAR * best]
    return subset(
        task.schema, {task.schema.tables[at].name: _columns(task.schema, at, scores.columns[at]) for at in chosen}
    )


def _columns(schema: Schema, at: int, scores: Sequence[float]) -> set[str]:
    """The keys of a table, and its columns that are named; its first ones where hardly any is."""
    table = schema.tables[at]
    keys = {name for key in table.foreign_keys for name in key.columns} | set(table.primary_key)
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
