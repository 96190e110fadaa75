"""Texts that differ from the stored ones by case alone, and orders to ignore case."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, compared, held
from sqljury.sql.parse import exp

_IGNORED: Final = re.compile(
    r"\bilike\b|\bcase[- ]?insensitiv\w*|\bignor\w* (?:the )?(?:letter )?case\b|\bregardless of (?:letter )?case\b",
    re.IGNORECASE,
)
_NAMES_ONLY: Final = re.compile(r"\b(?:filter|compare|match|search|for|on) (?:all |the )?names?\b", re.IGNORECASE)
_ILIKE: Final = frozenset({"postgres", "duckdb"})
"""Dialects with ILIKE, where LIKE tells upper from lower case."""
_WILD: Final = re.compile(r"[%_\\]")


def ignored_case(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare without regard to case where the evidence says so, or where the column has the text in another case."""
    evidence = asked.question.whole
    insisted = bool(_IGNORED.search(evidence))
    changed = False
    for node, column, other in compared(tree, exp.EQ, exp.NEQ):
        if _applies(column, other, asked, insisted=insisted):
            changed = True
            node.replace(_comparison(node, column, other.name, asked.dialect))
    for node in list(tree.find_all(exp.In)):
        texts = node.expressions
        if texts and all(_applies(node.this, text, asked, insisted=insisted) for text in texts):
            changed = True
            node.set("this", exp.Lower(this=node.this.copy()))
            node.set("expressions", [exp.Literal.string(text.name.lower()) for text in texts])
    if insisted and asked.dialect in _ILIKE:
        for node, column, other in compared(tree, exp.Like):
            if _named(column, asked) and isinstance(other, exp.Literal) and node.this is column:
                changed = True
                node.replace(exp.ILike(this=column.copy(), expression=other.copy()))
    reason = "the comparison is to ignore case" if insisted else "the column has the text in another case"
    return Change(reason) if changed else None


def _applies(column: exp.Expr, other: exp.Expr, asked: Asked, *, insisted: bool) -> bool:
    own = held(column, asked.schema)
    if own is None or not own.is_text or not isinstance(other, exp.Literal) or not other.is_string:
        return False
    if not any(letter.isalpha() for letter in other.name):
        return False
    if insisted and isinstance(column, exp.Column) and _named(column, asked):
        return True
    return asked.data.other_case(own.table, own.column.name, other.name)


def _named(column: exp.Column, asked: Asked) -> bool:
    """Whether an order to ignore case is about this column: all, or those of names."""
    only = _NAMES_ONLY.search(asked.question.whole) is not None
    return not only or bool({"name", "title"} & set(words(column.name)))


def _comparison(node: exp.Expr, column: exp.Column, text: str, dialect: str) -> exp.Expr:
    if dialect in _ILIKE and not _WILD.search(text):
        like = exp.ILike(this=column.copy(), expression=exp.Literal.string(text))
        return exp.Not(this=like) if isinstance(node, exp.NEQ) else like
    lowered = exp.Literal.string(text.lower())
    return type(node)(this=exp.Lower(this=column.copy()), expression=lowered)
