"""Reading the query out of a reply that reasons before it concludes."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sqljury.replies import extract_sql

_FENCE: Final = re.compile(r"```[ \t]*\w*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_CONCLUDES: Final = re.compile(
    r"\b(?:final|finally|simplif\w+|answer|complete|whole|optimi[sz]ed|together|assembled)\b|^\W*(?:sql )?query\W*$",
    re.IGNORECASE,
)
_START: Final = re.compile(r"^(?:[^\n`]{0,60}:)?[\W\d]*?`?(?=(?:SELECT|WITH)\s)", re.IGNORECASE | re.MULTILINE)

STARTS: Final = 5
"""Lines outside of blocks that begin like a query and are read as one, at most."""


class _Found(NamedTuple):
    sql: str
    concludes: bool
    """The line before it says that this is the end of the reasoning."""


def concluding_sql(reply: str) -> str:
    """The query that a reply ends in, empty when there is none.

    Partial queries may stand before it, in fenced blocks or in lines, and a remark that quotes one of them after it:
    the last block is taken that a line announces as the end, else the last one that is no part of another. Where no
    block holds a query, the last line that begins one.
    """
    found = _blocks(reply)
    if not found:
        return _last_unfenced(reply)
    announced = [one for one in found if one.concludes]
    if announced:
        return announced[-1].sql
    flat = [" ".join(one.sql.split()).lower() for one in found]
    whole = [
        one.sql
        for one, text in zip(found, flat, strict=True)
        if not any(text != other and text in other for other in flat)
    ]
    return whole[-1]


def _blocks(reply: str) -> list[_Found]:
    """The fenced queries; one that stands unfenced after an announcement behind the last of them counts too."""
    found: list[_Found] = []
    end = 0
    for block in _FENCE.finditer(reply):
        end = block.end()
        sql = extract_sql(block[1])
        if sql:
            before = reply[: block.start()].rstrip().rpartition("\n")[2]
            found.append(_Found(sql, _CONCLUDES.search(before) is not None))
    if found and (sql := _announced(reply[end:])):
        found.append(_Found(sql, True))
    return found


def _announced(remark: str) -> str:
    """The query that is announced behind the last block; empty for words on the one in it ("it will select ...")."""
    from sqljury.metrics.suite.reading import tree_of  # needs the parser, which takes a while to load

    announced = _CONCLUDES.search(remark)
    if announced is None:
        return ""
    starts = [found.end() for found in _START.finditer(remark) if found.end() >= announced.end()]
    texts = (extract_sql(remark[start:].replace("`", "\n")) for start in starts[:STARTS])
    return next((sql for sql in texts if sql and tree_of(sql) is not None), "")  # what is nested in it comes later


def _last_unfenced(reply: str) -> str:
    """The last statement that begins a line, or follows a short heading and a colon on it.

    A part of it may begin a line too (behind WITH or UNION): the furthest beginning counts from which the text up to
    the same end still reads as one query.
    """
    from sqljury.metrics.suite.reading import tree_of  # needs the parser, which takes a while to load

    starts = [found.end() for found in _START.finditer(reply)]
    if not starts:
        return extract_sql(reply)
    last = extract_sql(reply[starts[-1] :].replace("`", "\n"))
    wider = (extract_sql(reply[start:].replace("`", "\n")) for start in starts[-STARTS:-1])
    return next((sql for sql in wider if len(sql) > len(last) and sql.endswith(last) and tree_of(sql)), last)
