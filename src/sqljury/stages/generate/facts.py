"""What programs need to know of a database to write questions on it: nouns, labels, values, and ways to join."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqljury.language.words import words
from sqljury.schema.samples import MASKED, TOO_LARGE
from sqljury.sql.text import NAME_CHARS, plain, quote_name, quote_table
from sqljury.types import Column, ForeignKey, Result, Schema, Table

_VALUE: Final = re.compile(r"[^\W\d_][\w .,&/-]{0,28}\w")
"""A text that may be told as it is: short, of one line, with nothing that ends a literal."""

_NO_MEASURE: Final = re.compile(r"(?:^|[ _])(?:id|key|code|no|zip|phone|fax|lat|lng|latitude|longitude)$", re.I)
_LABEL: Final = ("name", "title")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column with values to ask about, ``values`` each once; ``repeats`` says that rows share some.

    ``sql`` is the column in a query on its table alone, ``full`` in one on several.
    """

    column: str
    sql: str
    full: str
    noun: str
    plural: str
    kind: Literal["text", "number"]
    values: tuple[Any, ...]
    repeats: bool


@dataclass(frozen=True, slots=True)
class Entity:
    """A table as a question speaks of it; ``label`` is the column that names its rows."""

    table: Table
    sql: str
    noun: str
    plural: str
    label: Attribute | None
    attributes: tuple[Attribute, ...]

    @property
    def texts(self) -> list[Attribute]:
        """The columns of texts that rows share: kinds, places, states."""
        return [one for one in self.attributes if one.kind == "text" and one.repeats]

    @property
    def numbers(self) -> list[Attribute]:
        """The columns that measure or count something."""
        return [one for one in self.attributes if one.kind == "number"]


@dataclass(frozen=True, slots=True)
class Link:
    """Rows of ``child`` refer to rows of ``parent``: ``on`` is the condition, ``column`` refers to ``to``."""

    child: Entity
    parent: Entity
    on: str
    column: str
    to: str


def entity(table: Table, sample: Result, dialect: str) -> Entity | None:
    """What is known of a table by its declaration and some of its rows; None where its name cannot be told."""
    if not _tellable(table.name):
        return None
    sql = quote_table(table.name, table.schema, dialect)
    noun = _noun(table.name.removeprefix(f"{table.schema}."))
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    found: list[Attribute] = []
    for column in table.columns:
        if column.name not in keys and column.name in sample.columns and _tellable(column.name):
            at = sample.columns.index(column.name)
            found += _attribute(column, [row[at] for row in sample.rows], sql, noun, dialect)
    return Entity(table, sql, noun, _plural(noun), _label(found), tuple(found))


def links(schema: Schema, entities: Sequence[Entity]) -> list[Link]:
    """The keys of one column between two of the entities.

    Not where a table has several to the same other one: a question would have to say which is meant.
    """
    by_name = {one.table.name: one for one in entities}
    return [
        _link(child, by_name[key.ref_table], key, schema.dialect)
        for child in entities
        for key in child.table.foreign_keys
        if key.ref_table in by_name
        and key.ref_table != child.table.name
        and len(key.columns) == 1
        and sum(other.ref_table == key.ref_table for other in child.table.foreign_keys) == 1
        and all(map(_tellable, (*key.columns, *key.ref_columns)))
    ]


def _link(child: Entity, parent: Entity, key: ForeignKey, dialect: str) -> Link:
    column = f"{child.sql}.{quote_name(key.columns[0], dialect)}"
    to = f"{parent.sql}.{quote_name(key.ref_columns[0], dialect)}"
    return Link(child, parent, f"{column} = {to}", column, to)


def _attribute(column: Column, cells: Sequence[Any], table: str, owner: str, dialect: str) -> Iterator[Attribute]:
    held = [cell for cell in cells if cell is not None]
    sql = quote_name(column.name, dialect)
    noun = _noun(column.name)
    if noun.startswith(f"{owner} "):
        noun = noun.removeprefix(f"{owner} ")
    if not held or any(cell in (MASKED, TOO_LARGE) for cell in held):
        return
    told = tuple(dict.fromkeys(held))
    if all(type(cell) in (int, float) and math.isfinite(cell) for cell in held):
        if len(told) > 2 and not _NO_MEASURE.search(noun):
            yield Attribute(
                column.name, sql, f"{table}.{sql}", noun, _plural(noun), "number", tuple(sorted(told)), False
            )
    elif all(isinstance(cell, str) for cell in held):
        counted = Counter(cell for cell in held if _VALUE.fullmatch(cell) and plain(cell, NAME_CHARS) == cell)
        if counted:
            values = tuple(value for value, _ in counted.most_common())
            yield Attribute(
                column.name, sql, f"{table}.{sql}", noun, _plural(noun), "text", values, len(told) < len(held)
            )


def _label(attributes: Sequence[Attribute]) -> Attribute | None:
    texts = [one for one in attributes if one.kind == "text"]
    named = [one for one in texts if any(word in words(one.column) for word in _LABEL)]
    return next(iter([*named, *(one for one in texts if not one.repeats), *texts]), None)


def _tellable(name: str) -> bool:
    return plain(name, NAME_CHARS) == name and any(c.isalpha() for c in name)


def _noun(name: str) -> str:
    """A name as words: ``SongRelease_year`` as ``song release year``; scripts without blanks stay as they are."""
    return " ".join(words(name)) if name.isascii() else name


def _plural(noun: str) -> str:
    if not noun.isascii():
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"
