"""Words of which a column has the first letters, as codes or in another form: H for "high", succeeded for "success"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from sqljury.language.alike import shared_prefix
from sqljury.language.words import words
from sqljury.sql.conditions import compared_texts
from sqljury.sql.meaning.base import Asked, Change, Held, held
from sqljury.sql.parse import exp

_LONGEST: Final = 4
"""Letters of a code at most."""
_MOST: Final = 20
"""A column with more different values hardly has one for each word."""
_BEGINNING: Final = 3
"""Letters of a text that may be the beginning of a word of the question: 'Elec' for "electricity"."""
_SAME: Final = 5
"""Letters at the beginning of two forms of a word."""
_ENDINGS: Final = tuple(
    re.compile(endings)
    for endings in (
        "(?:e?s|d|l?ed|l?ing|ions?|l?ations?|ments?)?",
        "e|e?s|ed|ing|ions?|als?",
        "y|ies|ied|ying",
        "ds?|ded|ding|sion",
        "ss(?:es|ful|fully)?|eds?|eded|eding",
    )
)
"""Endings of one word behind what its forms have in common; the last are of success and succeeded."""
_PLACES: Final = frozenset(
    (
        *words("country nation nationality state province region county city town place location continent"),
        *words("airport port currency language"),
    )
)
"""Words of columns whose codes are not made of the first letters of what they stand for."""


def code_of_word(tree: exp.Query, asked: Asked) -> Change | None:
    """Replace a word of the question that a column lacks by the only one of its codes that shortens it.

    All values of the column are codes: of capitals, none longer than four letters, the word longer than its code. Codes
    of places and currencies are left: MN is Minnesota, and MI, which begins it, Michigan. Of other values it is the
    only one that is another form of the word.
    """
    question, reason = words(asked.question.whole), ""
    for column, literal in compared_texts(tree):
        phrase = words(literal.name)
        known = held(column, asked.schema)
        if known is None or not phrase or not all(_is_said(word, question) for word in phrase):
            continue
        values = asked.data.values(known.table, known.column.name)
        code = None if _is_of_places(known) else _code(literal.name, values, question)
        code = code or _other_form(literal.name, values)
        if code is not None:
            literal.replace(exp.Literal.string(code))
            reason = f"{known.table.name}.{known.column.name} has {code} for {literal.name!r}"
    return Change(reason) if reason else None


def _is_said(word: str, question: Sequence[str]) -> bool:
    return any(token == word or (len(word) >= _BEGINNING and token.startswith(word)) for token in question)


def _is_of_places(known: Held) -> bool:
    return not _PLACES.isdisjoint((*words(known.column.name), *words(known.table.name)))


def _code(text: str, values: Collection[object], question: Sequence[str]) -> str | None:
    """The only code that shortens the text; None where there are several, or where not all values are codes.

    A code that begins another word of the question is a code of that one: of PAR and PAI for "partly paid" it is PAR.
    """
    codes = [value for value in values if isinstance(value, str) and value]
    if len(codes) != len(values) or not 1 < len(codes) <= _MOST or not all(map(_is_code, codes)):
        return None
    word = "".join(letter for letter in text.upper() if letter.isalpha())
    if word in codes:
        return None
    if all(len(code) == 1 for code in codes):
        return word[0] if len(word) > 1 and word[0] in codes else None
    first = words(text)[0]
    others = [token.upper() for token in question if not token.startswith(first)]
    matches = [code for code in codes if _is_code_of(code, word, others)]
    return matches[0] if len(matches) == 1 else None


def _is_code_of(code: str, word: str, others: Sequence[str]) -> bool:
    """Whether a code of several letters begins or shortens a word, and another one less well."""
    fit = _fit(code, word)
    return fit > 0 and len(code) > 1 and all(_fit(code, other) < fit for other in others)


def _fit(code: str, word: str) -> int:
    """2 where a code begins a longer word, 1 where it shortens it, else 0."""
    if len(code) >= len(word) or not _shortens(code, word):
        return 0
    return 2 if word.startswith(code) else 1


def _other_form(text: str, values: Collection[object]) -> str | None:
    """The only value with the same beginning as a word; None among many values, or where the column has the word."""
    if not text.isalpha() or len(values) > _MOST:
        return None
    texts = [value for value in values if isinstance(value, str) and value.isalpha()]
    alike = [value for value in texts if value.lower()[:_SAME] == text.lower()[:_SAME] and len(value) >= _SAME]
    if len(alike) != 1 or len(text) < _SAME or text.lower() == alike[0].lower():
        return None
    return alike[0] if is_other_form(text.lower(), alike[0].lower()) else None


def is_other_form(one: str, other: str) -> bool:
    """Whether two words are the same but for their endings: approved and approval, but not Austria and Australia."""
    same = shared_prefix(one, other)
    return any(family.fullmatch(one[same:]) and family.fullmatch(other[same:]) for family in _ENDINGS)


def _is_code(value: str) -> bool:
    return len(value) <= _LONGEST and value.isalpha() and value.isascii() and value.isupper()


def _shortens(code: str, word: str) -> bool:
    """Whether a code has the first letter of a word and others of it, in their order."""
    letters = iter(word)
    return code[0] == word[0] and all(letter in letters for letter in code)
