"""How the text of a schema gets smaller until it fits: a ladder from what is missed least to what is missed most.

1. Cells of sample rows and examples are cut to 20 characters, then to 10.
2. One row and one example are left, then none.
3. Comments are cut to 60 characters; then only those that share a word with the question stay.
4. The form becomes ``compact``, first with those comments, then without any.
5. Columns are left out, as few as will do, and their number is said. Primary and foreign keys and what they refer to
   stay; of the others, those that share a word with the question, and the first of each table, stay longest.
6. Tables are left out, and their number is said; those that share a word with the question stay longest.
7. Nothing is left: the text is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from sqljury.language.words import content_words, words
from sqljury.sql.text import tokens
from sqljury.types import Schema, Table
from sqljury.types.schema import only_tables, subset


class Room(NamedTuple):
    """What a text may take, in characters and in estimated tokens; None is without limit."""

    chars: int | None = None
    tokens: int | None = None

    def fits(self, text: str) -> bool:
        """Whether the text is within both limits."""
        if self.chars is not None and len(text) > self.chars:
            return False
        return self.tokens is None or tokens(text) <= self.tokens


class Step(NamedTuple):
    """A rung: the most characters a cell and a comment, and the most rows and examples (None as before)."""

    cell_chars: int
    rows: int | None
    comment_chars: int
    relevant: bool = False
    compact: bool = False


def ladder(cell_chars: int, comment_chars: int) -> Iterator[Step]:
    """Steps 1 to 4, from ``cell_chars`` and ``comment_chars`` of the style asked for."""
    yield Step(min(20, cell_chars), None, comment_chars)
    yield Step(min(10, cell_chars), None, comment_chars)
    yield Step(min(10, cell_chars), 1, comment_chars)
    yield Step(0, 0, comment_chars)
    yield Step(0, 0, 60)
    yield Step(0, 0, 60, relevant=True)
    yield Step(0, 0, 60, relevant=True, compact=True)
    yield Step(0, 0, 0, compact=True)


def cut(schema: Schema, question: str, room: Room, write: Callable[[Schema, Mapping[str, int]], str]) -> str:
    """Steps 5 to 7; ``write`` is given a smaller schema and by table how many columns went, by ``""`` how many tables.

    Between two sizes the larger one that fits is found by halving.
    """
    asked = frozenset(content_words(question)) if question else frozenset()
    keys, ranked = _keys(schema), {table.name: _ranked(table, asked) for table in schema.tables}

    def with_columns(count: int) -> str:
        return write(*_thinned(schema, keys, ranked, count))

    most = max((len(names) for names in ranked.values()), default=0)
    if (text := _largest(with_columns, most, room)) is not None:
        return text
    thin, gone = _thinned(schema, keys, ranked, 0)
    order = sorted(range(len(schema.tables)), key=lambda number: (-_score(schema.tables[number], asked), number))

    def with_tables(count: int) -> str:
        kept = {schema.tables[number].name for number in order[:count]}
        return write(only_tables(thin, kept), {**gone, "": len(schema.tables) - count}) if count else ""

    return _largest(with_tables, len(schema.tables), room) or ""


def _largest(make: Callable[[int], str], most: int, room: Room) -> str | None:
    """The text of the largest count that halving finds to fit, None when not even that of 0 does."""
    best = make(0)
    if not room.fits(best):
        return None
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        text = make(middle)
        if room.fits(text):
            best, low = text, middle
        else:
            high = middle - 1
    return best


def _keys(schema: Schema) -> dict[str, set[str]]:
    """By table, the columns that joins need; the first one where a table has no key, for a table needs a column."""
    keys = {table.name: set(table.primary_key) for table in schema.tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            keys[table.name].update(key.columns)
            keys.get(key.ref_table, set()).update(key.ref_columns)
    for table in schema.tables:
        if not keys[table.name]:
            keys[table.name].update(column.name for column in table.columns[:1])
    return keys


def _ranked(table: Table, asked: frozenset[str]) -> list[str]:
    names = [column.name for column in table.columns]
    return sorted(names, key=lambda name: -len(asked.intersection(words(name))))  # stable: else in their order


def _score(table: Table, asked: frozenset[str]) -> int:
    """The words of the question that the table's name and columns have; its name counts twice."""
    named = asked.intersection(words(table.name))
    return len(named) + len(asked.intersection(word for column in table.columns for word in words(column.name)) | named)


def _thinned(
    schema: Schema, keys: Mapping[str, set[str]], ranked: Mapping[str, list[str]], count: int
) -> tuple[Schema, dict[str, int]]:
    """Every table with its keys and ``count`` more columns, and how many columns of each are gone."""
    kept = {name: keys[name] | set([column for column in ranked[name] if column not in keys[name]][:count])
            for name in ranked}  # fmt: skip
    thin = subset(schema, kept)
    return thin, {table.name: len(ranked[table.name]) - len(table.columns) for table in thin.tables}
