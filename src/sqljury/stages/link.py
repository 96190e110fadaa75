"""Schema linking: which tables a question needs (MSc-SQL, section 3.1).

Recall comes first: a table too many costs the model that writes a few tokens, one that is missing costs the answer. So
the replies' tables are put together, retrieval adds its best where it knows any that score, and whatever was picked is
joined up along foreign keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from sqljury import prompts
from sqljury.context import Context, State
from sqljury.errors import ContextLengthError
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.prompts import Text
from sqljury.recipes.parts import LinkPart
from sqljury.schema.index import Hit
from sqljury.schema.render import SCHEMA_CHARS, render
from sqljury.schema.retrieve import Indexes
from sqljury.sql.text import printable
from sqljury.stages.prepare import Preparation
from sqljury.types import Question, Schema, Task
from sqljury.types.schema import only_tables

_LIST: Final = Text("tables", "schema")
_KEY: Final = re.compile(r'"tables"\s*:')
_TOKENS, _TOKENS_A_TABLE, _MOST_TOKENS = 16, 16, 512


def link(task: Task, part: LinkPart, context: Context) -> Schema:
    """The part of the task's schema that its question needs, whole tables in their order.

    ``context.model`` is the linker's; where its context cannot hold the prompt, retrieval picks alone. A schema of one
    table, one of at most ``part.whole``, and one of which no reply names a table are returned as they are. Raises what
    else the model raises.
    """
    if not part.kind or len(task.known.tables) <= max(part.whole, 1):
        return task.known
    scores = scored(task, context.indexes)
    picked = retrieved(scores, part.share)
    if part.kind == "model":
        try:
            named = ask(task, part, context)
        except ContextLengthError:
            return keep(task.known, picked, scores, context.indexes)
        if not named:
            return task.known
        picked = named | picked if max(scores) > 0 else named
    return keep(task.known, picked, scores, context.indexes)


def narrow(state: State, context: Context) -> State:
    """The stage: the writer is shown the tables that the question needs; repairs and judges still know them all."""
    context.emit("picking tables")
    part = context.recipe.link
    prepared = Preparation.of(context)
    kept = link(state.task, part, context.of(part.model))
    return replace(state, task=prepared.narrowed(state.task, context.db, kept))


def restore(state: State, context: Context) -> State:
    """The stage for candidates that were written before: the tables that were linked then, all where none are known."""
    kept = only_tables(state.task.known, set(state.linked))
    if not kept.tables:
        return state
    prepared = Preparation.of(context)
    return replace(state, task=prepared.narrowed(state.task, context.db, kept))


def scored(task: Task, indexes: Indexes) -> list[float]:
    """How much each table has to do with the question: by words, meaning, neighbours and values that it holds."""
    return indexes.of(task.known).scores(_text(task.question), map(Hit._make, task.hits)).tables


def retrieved(scores: list[float], share: float) -> set[int]:
    """The places of the tables that score at least ``share`` of the best; all where none has a score."""
    best = max(scores, default=0.0)
    return {index for index, score in enumerate(scores) if score >= share * best}


def keep(schema: Schema, picked: Collection[int], scores: list[float], indexes: Indexes) -> Schema:
    """These tables of the schema, by place, and those that join them."""
    closed = indexes.of(schema).joins.closed(picked, scores)
    return only_tables(schema, {schema.tables[index].name for index in closed})


def ask(task: Task, part: LinkPart, context: Context) -> set[int]:
    """The places of the tables that any of the model's replies names."""
    sampling = Sampling(
        temperature=part.temperature,
        max_tokens=min(_TOKENS + _TOKENS_A_TABLE * len(task.known.tables), _MOST_TOKENS),
        seed=derive_seed(context.seed, "link"),
        json_schema=reply_schema(task.known),
    )
    reply = context.complete(conversation(task), sampling, part.samples)
    return set().union(*(read(completion.text, task.known) for completion in reply.completions))


def conversation(task: Task) -> list[Message]:
    """What the model is asked: the tables first, the same for every question on a database, then the question."""
    schema = render(task.known, form="compact", max_chars=SCHEMA_CHARS).strip()
    asked = prompts.render("link/question", "schema", question=_text(task.question))
    if task.notes:
        asked = prompts.render("direct/notes", question=asked, notes=prompts.bullets(task.notes))
    return [Message("system", prompts.render("link/system", "schema", schema=schema)), Message("user", asked)]


def reply_schema(schema: Schema) -> Mapping[str, Any]:
    """JSON Schema of a reply: an object with the list ``tables``, of the names that the prompt shows.

    Services put it into the prompt, so that no name may hold there what it may not hold elsewhere.
    """
    names = list(dict.fromkeys(Text(printable(table.name), "schema") for table in schema.tables))
    listed = {"type": "array", "items": {"type": "string", "enum": names}, "minItems": 1, "maxItems": len(names)}
    return {"type": "object", "properties": {_LIST: listed}, "required": [_LIST], "additionalProperties": False}


def written(names: Collection[str]) -> str:
    """The reply that names these tables: what a linker is trained to write."""
    return json.dumps({"tables": list(names)}, ensure_ascii=False)


def read(reply: str, schema: Schema) -> set[int]:
    """The places of the tables that stand in quotes in a reply, one that was cut off included."""
    named = _KEY.sub("", reply, count=1)  # the key of the list is no table of that name
    return {
        index
        for index, table in enumerate(schema.tables)
        for name in {table.name, printable(table.name)}
        if any(json.dumps(name, ensure_ascii=escaped) in named for escaped in (True, False))
    }


def _text(question: Question) -> str:
    return "\n".join(filter(None, (question.text, question.evidence)))
