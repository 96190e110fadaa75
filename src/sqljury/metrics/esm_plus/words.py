"""The words of a query as ESM+ reads it: Spider's, with joins and ``<>`` put together."""

from __future__ import annotations

from math import isfinite
from typing import Final, NamedTuple, NoReturn

from sqljury.errors import InputError
from sqljury.metrics.esm_plus.structure import NULL, Literal
from sqljury.metrics.spider.parser import tokenize
from sqljury.metrics.spider.structure import Names

MAX_CHARACTERS: Final = 100_000
"""Longer queries are not read."""

_SIDES: Final = frozenset({"left", "right", "outer", "cross"})


class Words(NamedTuple):
    """A query in lower-case words, and what each name stands for in the whole of it: tables for themselves."""

    words: list[str]
    aliases: dict[str, str]


def words_of(sql: str, names: Names) -> Words:
    """``left join`` is one word; names in backticks are one word as well.

    Raises ``InputError`` for a quotation mark that is not closed, a query that is too long, an AS with nothing behind
    it, and an alias that is also the name of a table.
    """
    if len(sql) > MAX_CHARACTERS:
        raise InputError(f"the query has {len(sql)} characters; at most {MAX_CHARACTERS} are read")
    words: list[str] = []
    for word in tokenize(sql.replace("<>", "!="), backticks=True):
        side = words.pop() if word == "join" and words and words[-1] in _SIDES else ""
        words.append(f"{side} {word}".strip())
    return _aliased(words, names)


def _aliased(words: list[str], names: Names) -> Words:
    """The words without quotation marks around AS, and the aliases; the last AS of a name counts."""
    words = list(words)
    aliases: dict[str, str] = {}
    for at, word in enumerate(words):
        if word == "as":
            if at + 1 == len(words):
                fail("nothing follows AS")
            words[at + 1], words[at - 1] = unquoted(words[at + 1]), unquoted(words[at - 1])
            aliases[words[at + 1]] = words[at - 1]
    for table in names.tables:
        if table in aliases:
            fail(f"the alias {table} is also the name of a table")
        aliases[table] = table
    return Words(words, aliases)


def unquoted(word: str) -> str:
    """The word in lower case, without quotation marks around it."""
    return word.strip("\"'`").lower()


def constant(word: str) -> Literal | None:
    """A number, in quotation marks or not, or NULL, where a column could stand."""
    if word == NULL:
        return Literal(NULL)
    text = word.replace('"', "")
    return Literal(float(text)) if _is_number(text) else None


def is_constant(word: str) -> bool:
    """Whether a word is a string or a number; ``nan`` and ``inf`` are neither."""
    return '"' in word or _is_number(word)


def _is_number(word: str) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def fail(reason: str) -> NoReturn:
    """Raise ``InputError`` for what ESM+ does not read."""
    raise InputError(f"not in ESM+'s grammar: {reason}")
