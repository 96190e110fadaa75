"""Which values of the database a question seems to mean, as lines for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury.schema.text import literal, remark
from sqljury.schema.values.index import ValueIndex
from sqljury.schema.values.search import Match

LEAST: Final = 0.8
"""A match less sure than this is not told: a wrong value in a prompt does more harm than a missing one."""
COLUMNS: Final = 3
"""Columns told of one keyword, those with the surest match first."""
_SEARCHED: Final = 8
_PARTLY: Final = ("words", "meaning")
"""Reasons that may rest on a part of what was searched for."""
_LINE_CHARS: Final = 160


def meant(index: ValueIndex, keywords: Sequence[str], most: int) -> list[Match]:
    """At most ``most`` values for these keywords, the surest first; one of each column and keyword, each value once.

    Keywords within one that was found as a whole, such as ``York`` in ``New York``, are not looked at further.
    """
    found: dict[tuple[str, str, str], Match] = {}
    covered: list[str] = []
    ranked = sorted(zip(keywords, index.search_many(keywords, _SEARCHED), strict=True), key=lambda one: -len(one[0]))
    for keyword, matches in ranked:
        if any(keyword.casefold() in longer for longer in covered):
            continue
        columns: dict[tuple[str, str], Match] = {}
        for match in matches:
            if match.score >= LEAST and len(columns) < COLUMNS:
                columns.setdefault((match.table, match.column), match)
        for where, match in columns.items():
            found.setdefault((*where, match.value), match)
        if any(match.how not in _PARTLY for match in columns.values()):
            covered.append(keyword.casefold())
    return sorted(found.values(), key=lambda match: -match.score)[:most]


def hints(matches: Sequence[Match]) -> list[str]:
    """A line for each value: its column, and the value as a literal; unable to leave its line or a comment."""
    return [remark(f"{match.table}.{match.column} has {literal(match.value)}", _LINE_CHARS) for match in matches]
