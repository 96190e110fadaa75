"""What the text of a query tells without parsing it: strings, quoted names and comments are passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.sql.parse import MAX_SQL_CHARS

_PIECE: Final = re.compile(
    r"""
      '(?:[^']|'')*(?:'|\Z)          # a string; one never closed runs to the end
    | "(?:[^"]|"")*(?:"|\Z)          # a quoted name, or in SQLite a string
    | `[^`]*(?:`|\Z) | \[[^\]]*(?:\]|\Z)
    | --[^\n]* | /\*.*?(?:\*/|\Z)
    | \w+ | [();]
    """,
    re.VERBOSE | re.DOTALL,
)


def text_fault(sql: str) -> str:
    """What is wrong with a query before anything reads it: it is empty, or ``length_fault`` says so."""
    return length_fault(sql) if sql.strip() else "there is no query"


def length_fault(sql: str) -> str:
    """That a query is longer than any that is run; else empty. What metrics read it with takes long over megabytes."""
    if len(sql) <= MAX_SQL_CHARS:
        return ""
    return f"the query has {len(sql)} characters; {MAX_SQL_CHARS} are the most that is run"


def orders(sql: str) -> bool:
    """Whether the query's own rows come in an order: an ORDER BY outside all parentheses.

    One in a subquery or a window does not count, for it orders nothing that is returned.
    """
    previous, depth = "", 0
    for _, piece in pieces(sql):
        depth += (piece == "(") - (piece == ")")
        word = piece.lower()
        if depth == 0 and previous == "order" and word == "by":
            return True
        previous = word
    return False


def without_distinct(sql: str) -> str:
    """The first statement of ``sql`` with every DISTINCT taken out, those inside aggregates too."""
    kept: list[str] = []
    start = 0
    for at, piece in pieces(sql):
        if piece == ";":
            return "".join(kept) + sql[start : at + 1]
        if piece.lower() == "distinct":
            kept.append(sql[start:at])
            start = at + len(piece)
    return "".join(kept) + sql[start:]


def pieces(sql: str) -> Iterator[tuple[int, str]]:
    """Words, parentheses, semicolons, strings and quoted names with the places they begin at; comments are left out."""
    for match in _PIECE.finditer(sql):
        piece = match.group()
        if not piece.startswith(("--", "/*")):
            yield match.start(), piece
