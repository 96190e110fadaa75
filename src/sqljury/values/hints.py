"""Finds the values of a database that a question seems to mean, and writes them as lines for a prompt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from sqljury.language.words import words
from sqljury.sql.text import literal, remark
from sqljury.values.explained import Explained
from sqljury.values.index import ValueIndex
from sqljury.values.search import Match

LEAST: Final = 0.8
LEAST_SPELT: Final = 0.7
"""The least score of a match, and of one by spelling: a wrong value in a prompt does more harm than a missing one.

The score by spelling may be lower, since an edit in a short word costs much.
"""
COLUMNS: Final = 3
"""Columns shown for one keyword, those with the best match first."""
_SEARCHED: Final = 8
_COMPARED: Final = 40
"""Matches for one keyword among which each column's nearest values are found."""
_LINE_CHARS: Final = 160
_PARTLY: Final = ("words", "meaning")
"""Reasons that may match only a part of the keyword."""


class Meant(NamedTuple):
    """A keyword of a question, and a value that it seems to mean."""

    keyword: str
    match: Match


def meant(
    index: ValueIndex, keywords: Sequence[str], most: int, tables: Collection[frozenset[str]] = ()
) -> list[Meant]:
    """At most ``most`` values for the keywords, best first: one for each column and keyword, and each value once.

    Keywords within a longer one that matched as a whole, such as ``York`` in ``New York``, are skipped. So are values
    that share just the words of a table's name with the keyword, which ``tables`` holds: where there is a table of
    fields, "field" does not mean 'field beans'.
    """
    values: dict[tuple[str, str, str], Meant] = {}
    covered: list[str] = []
    searched = zip(keywords, index.search_many(keywords, _SEARCHED), strict=True)
    for keyword, matches in sorted(searched, key=lambda pair: -len(pair[0])):
        if any(keyword.casefold() in longer for longer in covered):
            continue
        columns: dict[tuple[str, str], Match] = {}
        for match in matches:
            if _shares_only(keyword, match, tables):
                continue
            if match.score >= (LEAST_SPELT if match.how == "spelling" else LEAST) and len(columns) < COLUMNS:
                columns.setdefault((match.table, match.column), match)
        for where, match in columns.items():
            values.setdefault((*where, match.value), Meant(keyword, match))
        if any(match.how not in _PARTLY for match in columns.values()):
            covered.append(keyword.casefold())
    return sorted(values.values(), key=lambda meant: -meant.match.score)[:most]


def _shares_only(keyword: str, match: Match, tables: Collection[frozenset[str]]) -> bool:
    """Whether a value has words that the keyword lacks, and all that they share is the name of a table."""
    if not tables or match.how not in _PARTLY:
        return False
    ours, theirs = frozenset(words(keyword)), frozenset(words(match.value))
    return bool(theirs - ours) and ours & theirs in tables


def nearest(index: ValueIndex, keywords: Sequence[str], most: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Table, column and at most ``most`` of its values, the most similar to any keyword first."""
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for matches in index.search_many(keywords, _COMPARED):
        for match in matches:
            known = scores.setdefault((match.table, match.column), {})
            known[match.value] = max(match.score, known.get(match.value, 0.0))
    return [
        (table, column, tuple(sorted(known, key=lambda value: -known[value])[:most]))
        for (table, column), known in scores.items()
    ]


def hints(values: Sequence[Meant], codes: Explained | None = None) -> list[str]:
    """A line for each value with its column and the value as a literal; it cannot break out of its line or a comment.

    The question's spelling is not repeated, since small models then copy it. A text that explains ``codes`` is given
    as the code that the columns have in its place.
    """
    return [line for value in values for line in _lines(value.match, codes)]


def _lines(match: Match, codes: Explained | None) -> list[str]:
    stored = codes.columns_of(match.table, match.column, match.value) if codes is not None else []
    if not stored:
        return [remark(f"{match.table}.{match.column} has {literal(match.value)}", _LINE_CHARS)]
    return [
        remark(f"{table}.{column} has {literal(code)} for {match.value}", _LINE_CHARS)
        for table, column, code in stored[:COLUMNS]
    ]
