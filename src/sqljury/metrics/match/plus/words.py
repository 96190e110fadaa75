"""The words of a query as ESM+ reads it: Spider's, with joins and ``<>`` put together."""

from __future__ import annotations

import re
from typing import Final

from sqljury.errors import InputError
from sqljury.metrics.spider.tokens import tokenize

MAX_CHARACTERS: Final = 100_000
"""Longer queries are not read."""

_SPELLINGS: Final = re.compile(r"""('[^']*'|"[^"]*")|`|<>""")
"""Strings stay as they are; backticks go, for the tokenizer would make words of them."""
_SIDES: Final = frozenset({"left", "right", "full"})


def words_of(sql: str) -> list[str]:
    """Lower-case words, ``left outer join`` one word ``left join``, ``inner join`` just ``join``.

    Raises ``InputError`` for a quotation mark that is not closed, and for a query that is too long.
    """
    if len(sql) > MAX_CHARACTERS:
        raise InputError(f"the query has {len(sql)} characters; at most {MAX_CHARACTERS} are read")
    words: list[str] = []
    for word in tokenize(_SPELLINGS.sub(_respelled, sql)):
        if word == "join":
            word = _join(words)
        words.append(word)
    return words


def _respelled(found: re.Match[str]) -> str:
    return found[1] or ("!=" if found[0] == "<>" else "")


def _join(before: list[str]) -> str:
    """The word for a join, taking what belongs to it off the words before."""
    if before and before[-1] in ("inner", "cross"):
        return "join" if before.pop() == "inner" else "cross join"
    if before and before[-1] == "outer":
        before.pop()
        return f"{before.pop()} join" if before and before[-1] in _SIDES else "outer join"
    if before and before[-1] in _SIDES:
        return f"{before.pop()} join"
    return "join"
