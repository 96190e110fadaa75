"""Replaces texts that a column does not hold by the stored values they must mean: a repair without a model.

The value index must have a value of the same column that differs in case, by a typo, by a code or abbreviation, or
in the order and the endings of its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqljury.language.words import words
from sqljury.sql.conditions import compared_texts
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.resolve import Sources, read_sources
from sqljury.sql.text import plain
from sqljury.types import Schema, Table
from sqljury.values.index import ValueIndex
from sqljury.values.search import other_names

LEAST: Final = 0.7
_SEARCHED: Final = 50
_BEGINNING: Final = 3
"""Letters of a code that is the beginning of a word: CANC for "cancelled"."""
_WORDS: Final = 2
"""So many words at least, of which the order may be another."""
_STEM: Final = 4
_ENDING: Final = 2
_SURE: Final = ("same letters", "spelling", "code", "abbreviation")
"""Reasons that suffice to replace a text; a similar meaning or shared words do not."""

Has = Callable[[Table, str, str], bool]
"""Whether a column of a table holds a text; true if that is not known."""


@quiet()
def bind_values(sql: str, schema: Schema, has: Has, index: Callable[[], ValueIndex]) -> str | None:
    """The query with texts replaced by the values they must mean, None if there is nothing to replace.

    Texts are checked that ``=``, ``<>`` or ``IN`` compares with a column of one table. ``index`` is called only if a
    column lacks a text. The query is parsed, not run.
    """
    changed = False
    try:
        tree = parse_one(sql, schema.dialect)
        for table, name, literal in _lacking(tree, schema, has):
            if (value := _meant(index(), table, name, literal.name)) is not None:
                literal.replace(exp.Literal.string(value))
                changed = True
        return tree.sql(dialect=schema.dialect) if changed else None
    except (errors.SqlglotError, RecursionError, ValueError):
        return None  # ValueError: the generator cannot write everything that the parser accepts


@quiet()
def lacking(sql: str, schema: Schema, has: Has) -> list[tuple[Table, str, str]]:
    """Table, column and text for each text of the query that its column does not hold."""
    try:
        tree = parse_one(sql, schema.dialect)
        return [(table, name, literal.name) for table, name, literal in _lacking(tree, schema, has)]
    except (errors.SqlglotError, RecursionError, ValueError):
        return []


def _lacking(tree: exp.Expr, schema: Schema, has: Has) -> Iterator[tuple[Table, str, exp.Literal]]:
    for sources in read_sources(tree, schema):
        for column, literal in compared_texts(sources.scope):
            if (table := _table(sources, column)) is not None:
                name = _spelled(table, column.name)
                if not has(table, name, literal.name):
                    yield table, name, literal


def _table(sources: Sources, column: exp.Column) -> Table | None:
    """The table that a column belongs to; None if that is not certain."""
    named = column.table.lower()
    if any(named in ("", alias.lower()) for alias in sources.others):
        return None
    owners = [alias for alias in sources.owners(column.name) if named in ("", alias.lower())]
    return sources.tables[owners[0]] if len(owners) == 1 else None


def _spelled(table: Table, name: str) -> str:
    return next(column.name for column in table.columns if column.name.lower() == name.lower())


def _meant(index: ValueIndex, table: Table, column: str, text: str) -> str | None:
    """The best match of that column; None if none is good enough, two are equally good, or it is not plain text.

    The query may get into a prompt, where a value with special tokens would bypass the escaping of cells.
    """
    in_column = [
        match for match in index.search(text, _SEARCHED) if (match.table, match.column) == (table.name, column)
    ]
    matches = [match for match in in_column if match.score >= LEAST and match.how in _SURE]
    matches = matches or [match for match in in_column if _begins(match.value, text) or _same_words(match.value, text)]
    if not matches or (len(matches) > 1 and matches[1].score == matches[0].score):
        return None
    value = matches[0].value
    return value if plain(value, len(value)) == value else None


def _begins(value: str, text: str) -> bool:
    """Whether a value of one word in capitals is the beginning of the text, as a code is.

    A country, a state or a currency with a code of its own has no other: AUS is Australia, not Austria.
    """
    if other_names(text):
        return False
    return value.isupper() and value.isalpha() and len(value) >= _BEGINNING and text.upper().startswith(value)


def _same_words(value: str, text: str) -> bool:
    """Whether both have the same words in any order and form: ``api_key.created`` for ``create_api_key``."""
    ours, theirs = words(value), words(text)
    if len(ours) != len(theirs) or len(ours) < _WORDS:
        return False
    return all(any(_one_word(word, other) for other in theirs) for word in ours) and all(
        any(_one_word(word, other) for word in ours) for other in theirs
    )


def _one_word(word: str, other: str) -> bool:
    """Whether two words are the same, but for an ending of up to two letters."""
    short, long = sorted((word, other), key=len)
    return word == other or (len(short) >= _STEM and long.startswith(short) and len(long) - len(short) <= _ENDING)
