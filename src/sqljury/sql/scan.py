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

_BEHIND: Final = re.compile(r"\s*([.(]?)")
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "[": "]"}
_NO_TABLE: Final = frozenset({"select", "values", "lateral", "table", "unnest", "with", "only"})


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


def named_tables(sql: str) -> list[str]:
    """The tables that stand behind FROM and JOIN, as they are written, but for those that the query defines itself.

    Of ``schema.table`` the table; none for functions that return rows, subqueries, and further tables behind a comma.
    """
    tokens = list(pieces(sql))
    words = [piece.lower() for _, piece in tokens]
    defined = {_name(tokens[at][1]).lower() for at in _definitions(words)}
    named: dict[str, None] = {}
    selecting = [False]  # by depth of parentheses: FROM of EXTRACT and TRIM names no table
    for at, word in enumerate(words):
        if word == "(":
            selecting.append(False)
        elif word == ")" and len(selecting) > 1:
            selecting.pop()
        elif word == "select":
            selecting[-1] = True
        elif word == "join" or (word == "from" and selecting[-1] and words[at - 1] != "distinct"):
            name = _table_at(sql, tokens, at + 1)
            if name and name.lower() not in defined:
                named.setdefault(name)
    return list(named)


def _definitions(words: list[str]) -> Iterator[int]:
    """Where the names stand that WITH gives: those before ``AS (``, with names of columns in between or without."""
    opened: list[int] = []
    opening: dict[int, int] = {}
    for at, word in enumerate(words):
        if word == "(":
            opened.append(at)
        elif word == ")" and opened:
            opening[at] = opened.pop()
        elif word == "as":
            after = [next_word for next_word in words[at + 1 : at + 4] if next_word not in ("not", "materialized")][:1]
            before = opening.get(at - 1, at) - 1
            if after == ["("] and before >= 0:
                yield before


def _table_at(sql: str, tokens: list[tuple[int, str]], at: int) -> str:
    """The table named by the piece ``at``; empty where none is."""
    if at >= len(tokens) or tokens[at][1] in "();":
        return ""
    start, piece = tokens[at]
    behind = _BEHIND.match(sql, start + len(piece))
    after = behind.group(1) if behind else ""
    if after == ".":
        return _table_at(sql, tokens, at + 1)
    called = after == "(" and piece[0] not in _QUOTES
    return "" if called or piece[0].isdigit() or piece.lower() in _NO_TABLE else _name(piece)


def _name(piece: str) -> str:
    """A name as it is without its quotes."""
    end = _QUOTES.get(piece[0])
    if end is None:
        return piece
    inner = piece[1:].removesuffix(end)
    return inner if end == "]" else inner.replace(end * 2, end)


def pieces(sql: str) -> Iterator[tuple[int, str]]:
    """Words, parentheses, semicolons, strings and quoted names with the places they begin at; comments are left out."""
    for match in _PIECE.finditer(sql):
        piece = match.group()
        if not piece.startswith(("--", "/*")):
            yield match.start(), piece
