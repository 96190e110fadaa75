"""The columns and tables that an unknown name may stand for: by spelling, by words, by meaning, with a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from sqljury.language import embed
from sqljury.language.alike import covered, likeness, misspelt, pieces, question_words, similar
from sqljury.types import Schema, Table

LEAST: Final = 0.3
"""Columns with a lower score are left out."""
# Scores by kind of relation; benchmarks/bind.py counts the right and wrong repairs of each kind.
GLUED: Final = 0.9
"""For a name that is that of the table and of its column: ``airline_name``."""
_TABLE_WORDS: Final = 0.85
_REFERS: Final = 0.8
_INITIALS: Final = 0.7
_ENDS: Final = 0.6
_GENERIC: Final = 0.55
_WORDS: Final = 0.6
_HEAD: Final = 0.45
_MEANING: Final = 0.45
_COLUMNS: Final = 200
_EMBEDDED: Final = 60
_TAIL: Final = 4
_COSINE: Final = 0.28
_MARGIN: Final = 0.15
_WORD: Final = 0.7
_ASKED: Final = 0.1
KEY_WORDS: Final = frozenset(("id", "code", "key", "number", "no"))
"""Last words of columns that refer to a row."""
_UNSPECIFIC: Final = frozenset(("name", "id", "code", "number", "no", "value", "type", "date", "description", "title"))
_NAMING: Final = frozenset(("code", "cd", "name", "nm", "iso", "desc"))
"""Last words of columns that name or encode what the words before them say."""


class Near(NamedTuple):
    """A column, how likely it is meant, and how it was found."""

    column: str
    score: float
    kind: str


_FIRST: Final = (("first", "name"), ("fname",), ("fnm",), ("first",), ("forename",), ("given", "name"), ("firstname",))
_LAST: Final = (("last", "name"), ("lname",), ("lnm",), ("last",), ("surname",), ("family", "name"), ("lastname",))
"""What the two columns of the name of a person are called, the first with the first."""


def person_names(table: Table) -> tuple[str, str] | None:
    """The columns of the first and the last name of the person that a row is; None for other tables."""
    named = {pieces(column.name): column.name for column in table.columns}
    first = next((named[name] for name in _FIRST if name in named), None)
    last = next((named[name] for name in _LAST if name in named), None)
    return None if first is None or last is None else (first, last)


def is_whole_name(column: str, table: Table) -> bool:
    """Whether a column is called after the whole name of a row of this table: ``full_name``, ``employee_name``."""
    named = pieces(column)
    return named[-1:] in (("name",), ("nm",), ("fullname",)) and {*named[:-1]} <= {"full", *pieces(table.name)}


def near_columns(name: str, table: Table, question: str = "") -> list[Near]:
    """The columns of ``table`` that ``name`` may stand for, the likeliest first; at most ``_COLUMNS`` are compared.

    A column that shares more words with the ``question`` is preferred.
    """
    columns = [column.name for column in table.columns[:_COLUMNS]]
    if spelled := misspelt(name, columns):
        return [Near(spelled, 1.0, "spelling")]
    asked = frozenset(question_words(question))
    scored = [_near(name, column, table) for column in columns]
    near = [
        match._replace(score=match.score * _context(match.column, name, asked)) for match in scored if match is not None
    ]
    near += [Near(column, _REFERS, "key") for column in _referring(name, table)]
    best = {match.column: match for match in sorted(near, key=lambda match: match.score)}
    return sorted((match for match in best.values() if match.score >= LEAST), key=lambda match: -match.score)


def near_tables(name: str, schema: Schema) -> list[str]:
    """The tables that an unknown name may stand for: a misspelt one, else one with the same, some or like words.

    Before like words comes the one that differs in the first word alone, if that is the application's, which other
    tables have too: ``accounts_team`` for ``tickets_team``.
    """
    names = [table.name for table in schema.tables]
    if spelled := misspelt(name, names):
        return [spelled]
    ours = frozenset(pieces(name))
    if not ours:
        return []
    same = [other for other in names if frozenset(pieces(other)) == ours]
    within = same or [other for other in names if _within(ours, frozenset(pieces(other)))]
    rest = pieces(name)[1:]
    if not within and set(rest) - _UNSPECIFIC:
        first = Counter(pieces(other)[:1] for other in names)
        within = [other for other in names if pieces(other)[1:] == rest and first[pieces(other)[:1]] > 1]
    return within or [other for other in names if (theirs := pieces(other)) and _alike(pieces(name), theirs) >= _WORD]


def after_table(name: str, called: str, table: Table) -> str | None:
    """The column of ``table`` that a name means if it begins with the alias ``called`` or with the table's name.

    ``T2Governor`` is ``Governor`` of ``T2``, ``airline_name`` is ``name`` of ``airlines``, and ``plan_name`` of
    ``billing_plan``.
    """
    for prefix in (called, table.name, table.name.removesuffix("s")):
        rest = name[len(prefix) :].lstrip("_.") if name.lower().startswith(prefix.lower()) else ""
        for column in table.columns:
            if rest and column.name.lower() == rest.lower():
                return column.name
    ours, theirs = pieces(name), pieces(table.name)
    for whole in (theirs, theirs[1:]):
        ending = ours[len(whole) :] if whole and ours[: len(whole)] == whole else ()
        # ``product_id`` is not the ``id`` of ``order_product``
        if ending and (whole == theirs or not KEY_WORDS.issuperset(ending)):
            same = [column.name for column in table.columns if pieces(column.name) == ending]
            return same[0] if len(same) == 1 else None
    return None


def is_name_of(column: str, thing: str) -> bool:
    """Whether a column has the name or the code of a thing by its last word: ``country_code`` of ``country``."""
    named = pieces(column)
    return named[:-1] == pieces(thing) and not _NAMING.isdisjoint(named[-1:])


def _near(name: str, column: str, table: Table) -> Near | None:
    ours, theirs, named = pieces(name), pieces(column), pieces(table.name)
    if not ours or not theirs:
        return None
    if after_table(name, table.name, table) == column:
        return Near(column, GLUED, "table and column")
    if theirs in ((*named, *ours), (*named[-1:], *ours)):
        return Near(column, _TABLE_WORDS, "table and column")
    if _initials(ours) == "".join(theirs) or _initials(theirs) == "".join(ours):
        return Near(column, _INITIALS, "initials")
    if ours == (_initial(named) + theirs[0],) or (len(ours) == 1 and similar("".join(theirs), ours[0])):
        return Near(column, _INITIALS, "initials")
    rest = ours[len(named) :] if named and ours[: len(named)] == named else ()
    if rest and theirs[-len(rest) :] == rest:
        return Near(column, _GENERIC, "part of a name")
    if theirs[-len(ours) :] == ours or (len(theirs) > 1 and ours[-len(theirs) :] == theirs):
        return Near(column, _ENDS, "part of a name")
    if len(ours) > 1 and ours[-1] in _UNSPECIFIC and theirs == ours[:-1]:
        return Near(column, _GENERIC, "part of a name")
    if ours[-1] == theirs[-1] and _shared(ours, theirs):
        return Near(column, _HEAD, "same last word")
    if (share := _alike(ours, theirs)) >= _WORD:
        return Near(column, _WORDS * share, "words")
    written = name.lower()
    return Near(column, _GENERIC, "part of a name") if len(name) >= _TAIL and column.lower().endswith(written) else None


def _referring(name: str, table: Table) -> list[str]:
    """The columns with which the table refers to the one that ``name`` is the key of: ``university_id``."""
    ours = pieces(name)
    if len(ours) < 2 or ours[-1] not in KEY_WORDS:
        return []
    keys = [key for key in table.foreign_keys if pieces(key.ref_table)[-len(ours) + 1 :] == ours[:-1]]
    columns = {key.columns[0] for key in keys if len(key.columns) == 1}
    return list(columns) if len(columns) == 1 else []


def _alike(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """How likely the words of each name stand for the other's, in the less likely direction."""
    return min(covered(ours, theirs), covered(theirs, ours))


def _shared(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether two names have most words in common, or their last one, if it is specific: ``office``."""
    shared, every = set(ours) & set(theirs), set(ours) | set(theirs)
    return ours[-1] not in _UNSPECIFIC or bool(shared - _UNSPECIFIC and 2 * len(shared) >= len(every))


def _initials(names: Sequence[str]) -> str:
    """All words by their first letter, but for the last: ``bname`` of ``branch_name``."""
    return "".join(word[0] for word in names[:-1]) + names[-1] if len(names) > 1 else ""


def _initial(names: Sequence[str]) -> str:
    return names[0][0] if names else ""


def _within(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether one name's words are among the other's, and at least one of them is specific."""
    shared = ours & theirs
    return bool(shared - _UNSPECIFIC) and shared in (ours, theirs)


def _context(column: str, name: str, asked: Collection[str]) -> float:
    """A factor above 1 for each word that column and question have and the name has not."""
    beyond = set(pieces(column)) - set(pieces(name))
    return 1.0 + _ASKED * sum(any(likeness(word, piece) >= _WORD for word in asked) for piece in beyond)


def near_by_meaning(name: str, table: Table) -> list[Near]:
    """The column that means most nearly the same by word vectors, where these are installed; one or none.

    The next column must be clearly further off. Names that share a word are left out: the words
    that distinguish ``first_name`` from ``last_name`` are close in meaning too.
    """
    ours = set(pieces(name))
    columns = [column.name for column in table.columns if not ours & set(pieces(column.name))]
    if not columns or len(columns) > _EMBEDDED or not embed.available():
        return []
    vectors = embed.vectors([" ".join(pieces(label)) for label in (name, *columns)])
    cosines = vectors[1:] @ vectors[0]
    ranked = sorted(zip(cosines.tolist(), columns, strict=True), reverse=True)
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    if not ranked or ranked[0][0] < _COSINE or ranked[0][0] - second < _MARGIN:
        return []
    return [Near(ranked[0][1], _MEANING, "meaning")]
