"""Examples for this very database that a program writes: what the model's own do, without asking it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

from sqljury.generate.base import Given, Request
from sqljury.generate.compose import Made, compose, rules
from sqljury.generate.examples import EXAMPLES, SECONDS, conversation, finds, harmless, run, unlike
from sqljury.generate.facts import Entity, entity, links
from sqljury.generate.focus import focus
from sqljury.generate.kept import Kept
from sqljury.generate.pool import Shot
from sqljury.llm.base import derive_seed
from sqljury.schema.guard import skip
from sqljury.schema.samples import sample_rows
from sqljury.schema.words import words
from sqljury.types import Schema, Table, Task
from sqljury.work import Work

ROWS: Final = 50
"""Read of each table, for values that stand in the examples."""

TABLES: Final = 12
"""Tables that examples are made on, those in focus first."""


def made(task: Task, work: Work, given: Given) -> Request:
    """The generator: examples that a program wrote and the database answered, the likest last, then the question."""
    wanted = focus(task, given.drafts)
    candidates = _candidates(task, work, given.kept, wanted)
    shots = _choose(candidates, task, wanted, work, given.examples or EXAMPLES)
    return Request(conversation(task, shots))


def _candidates(task: Task, work: Work, kept: Kept, wanted: Schema) -> list[Made]:
    """Examples on the tables in focus, on those that keys connect with them, and on some others."""
    seed = derive_seed("made", task.schema.name)
    found = [_known(table, task, work, kept) for table in _nearest(task.schema, wanted)]
    entities = [one for one in found if one is not None]
    return compose(entities, links(task.schema, entities), seed)


def _nearest(schema: Schema, wanted: Schema) -> list[Table]:
    """At most ``TABLES`` tables, those in focus first and then their neighbours, in the order of the schema."""
    inside = {table.name for table in wanted.tables}
    beside = {key.ref_table for table in schema.tables if table.name in inside for key in table.foreign_keys}
    beside |= {table.name for table in schema.tables if inside & {key.ref_table for key in table.foreign_keys}}
    rank = {table.name: (table.name not in inside, table.name not in beside) for table in schema.tables}
    chosen = sorted((table for table in schema.tables if table.kind == "table"), key=lambda table: rank[table.name])
    names = {table.name for table in chosen[:TABLES]}
    return [table for table in schema.tables if table.name in names]


def _known(table: Table, task: Task, work: Work, kept: Kept) -> Entity | None:
    def read() -> Entity | None:
        return entity(table, sample_rows(work.db, table, ROWS), task.schema.dialect)

    masked = skip(work.db)
    hidden = tuple(column.name for column in table.columns if masked(table.name, column.name))
    return kept.get(("made", work.db.url, table, hidden), read)


def _choose(candidates: Iterable[Made], task: Task, wanted: Schema, work: Work, count: int) -> list[Shot]:
    """The best examples that run and find something, no feature twice while there are others; the best is last."""
    asked = set(words(task.question.text))
    scored = [(_score(one, asked, wanted), one) for one in candidates if harmless(one.shot)]
    scored.sort(key=lambda one: (-one[0], one[1].shot.sql))
    chosen: list[tuple[float, Shot]] = []
    features: Counter[str] = Counter()
    ends = time.monotonic() + SECONDS
    while scored and len(chosen) < count and time.monotonic() < ends:
        at = max(range(len(scored)), key=lambda index: scored[index][0] - features[scored[index][1].rule.name])
        score, best = scored.pop(at)
        if unlike(task, [best.shot]) and finds(run(best.shot.sql, work)):
            features[best.rule.name] += 1
            chosen.append((score, best.shot))
    return [shot for _, shot in sorted(chosen, key=lambda one: one[0])]


def _score(one: Made, asked: set[str], wanted: Schema) -> float:
    """How much an example has to do with a question: in the words that tell its form, its tables, its columns."""
    form = sum(1 / _spread()[word] for word in one.rule.cues if word in asked)
    tables = {table.name for table in wanted.tables}
    columns = {(table.name, column.name) for table in wanted.tables for column in table.columns}
    met = len(one.tables & tables) / len(one.tables | tables) if tables else 0.0
    return min(form, 1.0) + met + 0.25 * len(one.columns & columns) / max(len(one.columns), 1)


@cache
def _spread() -> Counter[str]:
    """How many rules each word calls for: one that calls for many says little."""
    return Counter(word for rule in rules() for word in rule.cues)
