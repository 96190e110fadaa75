"""Column filtering by the model: which columns a question may need (CHASE-SQL, section 3.3, after CHESS).

The model is shown the opening that generators share, so that what it has read of the schema serves them too. The
filtered schema is what examples for the question are about; queries are still written on the whole one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.prompts import Text
from sqljury.sql.text import printable
from sqljury.stages.generate.direct import question, system
from sqljury.types import Schema, Table, Task
from sqljury.types.schema import subset

MAX_TOKENS: Final = 300
MOST: Final = 24
"""Columns that one reply names, at most."""
_LIST: Final = Text("columns", "schema")
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


def by_model(task: Task, context: Context) -> Schema | None:
    """The columns that the model names, with the keys of their tables; None where it names none, or cannot be asked.

    Asked once for a question and database. Raises what the model raises.
    """
    model = str(getattr(context.model, "identity", context.model.name))
    key = "columns", model, context.db.url, task.text, task.question.whole
    try:
        named = context.kept.get(key, lambda: _named(task, context), context.cancel)
    except _NotAskedError:
        return None
    kept = {
        table.name: columns | _keys(table) for table in task.shown.tables if (columns := named.get(table.name, set()))
    }
    return subset(task.shown, kept) if kept else None


class _NotAskedError(Exception):
    """The model was not asked, for want of time or tokens: a later question may have them, so nothing is kept."""


def _named(task: Task, context: Context) -> dict[str, set[str]]:
    asked = prompts.render("synthetic/columns", question=question(task))
    sampling = Sampling(
        max_tokens=MAX_TOKENS,
        seed=derive_seed(context.seed, "columns"),
        json_schema=reply_schema(task.shown),
    )
    reply = context.ask((system(task), Message("user", asked)), sampling)
    if reply is None:
        raise _NotAskedError("which columns the question needs was not asked")
    return read(reply.completions[0].text, task.shown)


def reply_schema(schema: Schema) -> Mapping[str, Any]:
    """JSON Schema of a reply: an object with the list ``columns``, each as ``table.column`` as prompts spell it."""
    names = sorted({Text(_name(table, column.name), "schema") for table in schema.tables for column in table.columns})
    listed = {"type": "array", "items": {"type": "string", "enum": names}, "minItems": 1, "maxItems": MOST}
    return {
        "type": "object",
        "properties": {_LIST: listed},
        "required": [_LIST],
        "additionalProperties": False,
    }


def read(reply: str, schema: Schema) -> dict[str, set[str]]:
    """By table the columns that stand in quotes in a reply, one that was cut off included."""
    quoted = {_unescaped(text).casefold() for text in _STRING.findall(reply)}
    named = {
        table.name: {column.name for column in table.columns if _name(table, column.name).casefold() in quoted}
        for table in schema.tables
    }
    return {table: columns for table, columns in named.items() if columns}


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def _name(table: Table, column: str) -> str:
    return f"{printable(table.name)}.{printable(column)}"


def _keys(table: Table) -> set[str]:
    """The columns of a table by which it is joined."""
    return {name for key in table.foreign_keys for name in key.columns} | set(table.row_key)
