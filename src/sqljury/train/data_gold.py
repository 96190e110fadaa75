"""Sets made of questions and gold queries alone: for the schema linker and for the generator (MSc-SQL, section 3)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import inf
from typing import Any, Final

from sqljury import link
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, InputError
from sqljury.generate.direct import messages
from sqljury.llm.base import derive_seed
from sqljury.prepare import Preparation
from sqljury.schema.introspect import introspect
from sqljury.schema.part import SchemaPart
from sqljury.schema.subset import only_tables
from sqljury.schema.used import used
from sqljury.train.data import Item, LeftOut
from sqljury.types import Schema, Task

EXTRA: Final = (0.5, 0.3, 0.2)
"""How likely 0, 1 and 2 tables too many are, by default."""


def linker(examples: Sequence[Example], part: SchemaPart) -> Iterator[Item | LeftOut]:
    """From question and schema to the tables that gold reads, in the schema's order.

    ``part`` is how the recipe shows schemas. Left out are questions whose gold query reads no table, and those that
    would be shown a part of a long schema without all that gold names.
    """

    def make(example: Example, task: Task, tables: list[str], _: Preparation, __: Database) -> Item:
        return Item(tuple(link.conversation(task)), link.written(tables), _meta(example, "linker"))

    return _made(examples, part, make)


def generator(
    examples: Sequence[Example], part: SchemaPart, seed: int = 0, extra: Sequence[float] = EXTRA
) -> Iterator[Item | LeftOut]:
    """From question and schema to the gold query; the schema has gold's tables and some others (section 3.2).

    ``extra`` has the weights of 0, 1, 2, ... other tables, which are drawn for each question. Left out is what
    ``linker`` leaves out. Raises ``InputError`` for weights that are none.
    """
    if not extra or min(extra) < 0 or not 0 < sum(extra) < inf:
        raise InputError("the weights of further tables must be numbers from 0 up, not all 0; give such as 0.5 0.3 0.2")

    def make(example: Example, task: Task, tables: list[str], prepared: Preparation, db: Database) -> Item:
        drawn = random.Random(derive_seed(seed, "extra tables", example.id))  # noqa: S311
        others = [table.name for table in task.schema.tables if table.name not in tables]
        [count] = drawn.choices(range(len(extra)), weights=extra)
        kept = {*tables, *drawn.sample(others, min(count, len(others)))}
        cut = prepared.narrowed(task, db, only_tables(task.schema, kept))
        meta = {**_meta(example, "generator"), "extra_tables": len(kept) - len(tables)}
        return Item(tuple(messages(cut)), example.gold_sql.strip(), meta)

    return _made(examples, part, make)


Make = Callable[[Example, Task, list[str], Preparation, Database], Item]


def _made(examples: Sequence[Example], part: SchemaPart, make: Make) -> Iterator[Item | LeftOut]:
    """An item for each example whose gold query and database can be read and is shown its tables, in their order."""
    for file, own in groupby(examples, key=lambda one: one.database):
        try:
            db = connect(file)
        except DatabaseError:
            yield from (LeftOut(example.id, "unread") for example in own)
            continue
        preparation = Preparation(part)
        with db:
            whole = introspect(db)
            for example in own:
                needed = used(whole, [example.gold_sql])
                if not needed.tables:
                    yield LeftOut(example.id, "unread")
                    continue
                task = preparation.task(example.question, db)
                if _shows(task.schema, needed):
                    yield make(example, task, [table.name for table in needed.tables], preparation, db)
                else:
                    yield LeftOut(example.id, "cut")


def _shows(schema: Schema, needed: Schema) -> bool:
    """Whether a part of a schema has all tables and columns of another part."""
    shown = {(table.name, column.name) for table in schema.tables for column in table.columns}
    return all((table.name, column.name) in shown for table in needed.tables for column in table.columns)


def _meta(example: Example, kind: str) -> dict[str, Any]:
    return {"kind": kind, "id": example.id, "db_id": example.db_id, "question": example.question.text}
