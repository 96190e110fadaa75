"""Which values of the database a question seems to mean, as lines for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury.sql.text import literal, remark
from sqljury.values.index import ValueIndex
from sqljury.values.search import Match

LEAST: Final = 0.8
LEAST_SPELT: Final = 0.7
"""Matches less sure than this are not told, since a wrong value in a prompt does more harm than a missing one.

Near spellings may be a little less sure: a swap in a short word costs much, and known words hardly count as misspelt.
"""
COLUMNS: Final = 3
"""Columns told of one keyword, those with the surest match first."""
_SEARCHED: Final = 8
_COMPARED: Final = 40
"""Values found for one keyword of which each column gets its nearest."""
_LINE_CHARS: Final = 160
_PARTLY: Final = ("words", "meaning")
"""Reasons that may rest on a part of what was searched for."""


class Meant(NamedTuple):
    """Words of a question, and a value that they seem to mean."""

    keyword: str
    match: Match


def meant(index: ValueIndex, keywords: Sequence[str], most: int) -> list[Meant]:
    """At most ``most`` values for these keywords, the surest first; one of each column and keyword, each value once.

    Keywords within one that was found as a whole, such as ``York`` in ``New York``, are not looked at further.
    """
    found: dict[tuple[str, str, str], Meant] = {}
    covered: list[str] = []
    ranked = sorted(zip(keywords, index.search_many(keywords, _SEARCHED), strict=True), key=lambda one: -len(one[0]))
    for keyword, matches in ranked:
        if any(keyword.casefold() in longer for longer in covered):
            continue
        columns: dict[tuple[str, str], Match] = {}
        for match in matches:
            if match.score >= (LEAST_SPELT if match.how == "spelling" else LEAST) and len(columns) < COLUMNS:
                columns.setdefault((match.table, match.column), match)
        for where, match in columns.items():
            found.setdefault((*where, match.value), Meant(keyword, match))
        if any(match.how not in _PARTLY for match in columns.values()):
            covered.append(keyword.casefold())
    return sorted(found.values(), key=lambda one: -one.match.score)[:most]


def nearest(index: ValueIndex, keywords: Sequence[str], most: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Table, column, and at most ``most`` of its values, those most like any of the keywords first.

    Columns of which no value is like any keyword are not among them.
    """
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for matches in index.search_many(keywords, _COMPARED):
        for match in matches:
            known = scores.setdefault((match.table, match.column), {})
            known[match.value] = max(match.score, known.get(match.value, 0.0))
    return [
        (table, column, tuple(sorted(known, key=lambda value: -known[value])[:most]))
        for (table, column), known in scores.items()
    ]


def hints(found: Sequence[Meant]) -> list[str]:
    """A line for each value: its column, and the value as a literal; unable to leave its line or a comment.

    The question's own spelling is not told again: small models then copy it.
    """
    return [
        remark(f"{match.table}.{match.column} has {literal(match.value)}", _LINE_CHARS)
        for match in (one.match for one in found)
    ]
