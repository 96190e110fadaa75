"""Words of which a column has the first letters, as codes or in another form: H for "high", succeeded for "success"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from sqljury.language.words import words
from sqljury.sql.conditions import compared_texts
from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.parse import exp

_LONGEST: Final = 4
"""Letters of a code at most."""
_MOST: Final = 20
"""A column with more different values hardly has one for each word."""
_BEGINNING: Final = 3
"""Letters of a text that may be the beginning of a word of the question: 'Elec' for "electricity"."""
_SAME: Final = 5
"""Letters at the beginning of two forms of a word."""


def code_of_word(tree: exp.Query, asked: Asked) -> Change | None:
    """Replace a word of the question that a column lacks by the only one of its codes that shortens it.

    All values of the column are codes: of capitals, none longer than four letters, the word longer than its code. Of
    other values it is the only one with the same beginning.
    """
    said, reason = words(asked.question.whole), ""
    for column, literal in compared_texts(tree):
        told = words(literal.name)
        known = held(column, asked.schema)
        if known is None or not told or not all(_is_said(word, said) for word in told):
            continue
        values = asked.data.values(known.table, known.column.name)
        code = _code(literal.name, values) or _other_form(literal.name, values)
        if code is not None:
            literal.replace(exp.Literal.string(code))
            reason = f"{known.table.name}.{known.column.name} has {code} for {literal.name!r}"
    return Change(reason) if reason else None


def _is_said(word: str, said: Sequence[str]) -> bool:
    return any(other == word or (len(word) >= _BEGINNING and other.startswith(word)) for other in said)


def _code(text: str, values: Collection[object]) -> str | None:
    """The only code that shortens the text; None where there are several, or where not all values are codes."""
    codes = [value for value in values if isinstance(value, str) and value]
    if len(codes) != len(values) or not 1 < len(codes) <= _MOST or not all(map(_is_code, codes)):
        return None
    word = "".join(letter for letter in text.upper() if letter.isalpha())
    if word in codes:
        return None
    if all(len(code) == 1 for code in codes):
        return word[0] if len(word) > 1 and word[0] in codes else None
    begun = [code for code in codes if 1 < len(code) < len(word) and word.startswith(code)]
    short = begun or [code for code in codes if 1 < len(code) < len(word) and _shortens(code, word)]
    return short[0] if len(short) == 1 else None


def _other_form(text: str, values: Collection[object]) -> str | None:
    """The only value with the same beginning as a word; None among many values, or where the column has the word."""
    if not text.isalpha() or len(values) > _MOST:
        return None
    texts = [value for value in values if isinstance(value, str) and value.isalpha()]
    alike = [value for value in texts if value.lower()[:_SAME] == text.lower()[:_SAME] and len(value) >= _SAME]
    return alike[0] if len(alike) == 1 and len(text) >= _SAME and text.lower() != alike[0].lower() else None


def _is_code(value: str) -> bool:
    return len(value) <= _LONGEST and value.isalpha() and value.isascii() and value.isupper()


def _shortens(code: str, word: str) -> bool:
    """Whether a code has the first letter of a word and others of it, in their order."""
    rest = iter(word)
    return code[0] == word[0] and all(letter in rest for letter in code)
