"""Texts that are compared with one value of a column where the question says another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, Held, compared, held
from sqljury.sql.meaning.misplaced import holds_kinds
from sqljury.sql.parse import exp

_TOKEN: Final = re.compile(r"[a-z0-9]+")
_NOT: Final = frozenset(
    (
        *("no", "not", "never", "nor", "neither", "non", "without", "minus", "but", "other", "instead", "rather"),
        *("except", "excepting", "excluding", "exclude", "excludes", "excluded", "apart", "aside", "besides"),
        *("leaving", "leave", "left", "omit", "omitting", "ignore", "ignoring", "ignored", "skip"),
        *("yet", "still", "before", "until", "less", "former", "formerly", "stop", "stopped", "fail", "failed"),
        *("due", "should", "supposed", "expected", "almost", "nearly"),
    )
)
_NEAR: Final = 8
"""Words on either side of a value among which a negation may concern it."""
_LONG: Final = 6
"""Letters of a value of one word, below which it may be a word of the question by chance."""


def mentioned(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the value that the question says: ``status = 'checked_out'`` for ``status = 'checked_in'``.

    The column holds a few different texts, the query compares it with one of them alone, of whose words the question
    has none, and the question says exactly one of the others, without a negation beside it. The two have a word in
    common, or the other one contains the text of the query: 'returned' may well be what "shipped back" means.
    """
    question = _TOKEN.findall(asked.question.whole.lower())
    changed = False
    for node, column, other in compared(tree, exp.EQ):
        known = held(column, asked.schema)
        if known is None or not isinstance(other, exp.Literal) or not other.is_string:
            continue
        if not holds_kinds(known, asked) or _is_used_again(tree, column, node) or node.find_ancestor(exp.Not, exp.Case):
            continue
        value = _said_instead(other.name, known, asked, question)
        if value is not None:
            other.replace(exp.Literal.string(value))
            changed = True
    return Change("the question says another value of the column") if changed else None


def _said_instead(text: str, known: Held, asked: Asked, question: list[str]) -> str | None:
    """The one other value of the column that the question says; None where it says words of ``text`` itself."""
    values = asked.data.values(known.table, known.column.name)
    if text not in values or _place(text, question) is not None:
        return None
    others = [value for value in values if value != text and _is_said(value, question)]
    if len(others) != 1 or not _are_twins(text, others[0]):
        return None
    differing = {*_TOKEN.findall(text.lower())} - {*_TOKEN.findall(others[0].lower())}
    return None if stems(differing) & stems(question) else others[0]


def _are_twins(text: str, said: str) -> bool:
    """Whether two values are forms of one word, which are mistaken for each other: in and out, active and inactive."""
    own, other = text.lower(), said.lower()
    return own in other or not {*_TOKEN.findall(own)}.isdisjoint(_TOKEN.findall(other))


def stems(tokens: Iterable[str]) -> set[str]:
    """The first four letters of each word that has as many."""
    return {token[:4] for token in tokens if len(token) > 3}


def _is_said(value: str, question: Sequence[str]) -> bool:
    """Whether the question says all words of a value in a row, without a negation near them."""
    tokens = _TOKEN.findall(value.lower())
    place = _place(value, question)
    if place is None or len("".join(tokens)) < _LONG or not any(map(str.isalpha, tokens)):
        return False
    return not is_negated(question[:place], question[place + len(tokens) :])


def is_negated(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a negation stands near a value, among the words before or after it."""
    return not _NOT.isdisjoint([*before[-_NEAR:], *after[:_NEAR]])


def _place(value: str, question: Sequence[str]) -> int | None:
    """Where the question says the words of a value in a row."""
    tokens = _TOKEN.findall(value.lower())
    places = range(len(question) - len(tokens) + 1) if tokens else ()
    return next((start for start in places if question[start : start + len(tokens)] == tokens), None)


def _is_used_again(tree: exp.Query, column: exp.Column, node: exp.Expr) -> bool:
    """Whether the query compares or shows a column of that name elsewhere."""
    return any(
        other is not column and other.name.lower() == column.name.lower() and other.parent is not node
        for other in tree.find_all(exp.Column)
    )
