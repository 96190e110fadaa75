"""Texts that are stored in another case, or in several."""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, compared, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import is_padded

_ILIKE: Final = frozenset({"postgres", "duckdb"})
_SHORT: Final = 2
"""Letters of a code that may be another one in another case: 'm' and 'M', 'mW' and 'MW'."""
_WILD: Final = re.compile(r"[%_\\]")


def ignored_case(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare without regard to case where the column has the text in another case, alone or beside its own.

    Instructions on case are handled by ``stages.instructions``.
    """
    changed = False
    for node, column, other in compared(tree, exp.EQ, exp.NEQ):
        if _applies(column, other, asked):
            changed = True
            node.replace(_comparison(node, column, other.name, asked))
    for node in list(tree.find_all(exp.In)):
        texts = node.expressions
        if texts and all(_applies(node.this, text, asked) for text in texts):
            changed = True
            node.set("this", exp.Lower(this=node.this.copy()))
            node.set("expressions", [exp.Literal.string(text.name.lower()) for text in texts])
    return Change("the column has the text in another case") if changed else None


def _applies(column: exp.Expr, other: exp.Expr, asked: Asked) -> bool:
    known = held(column, asked.schema)
    if known is None or not known.is_text or not isinstance(other, exp.Literal) or not other.is_string:
        return False
    if not any(letter.isalpha() for letter in other.name):
        return False
    spellings = asked.data.spellings(known.table, known.column.name, other.name)
    if spellings and other.name in spellings and len(other.name) <= _SHORT:
        return False
    return bool(spellings) and spellings != (other.name,)


def _comparison(node: exp.Expr, column: exp.Column, text: str, asked: Asked) -> exp.Expr:
    known = held(column, asked.schema)
    padded = known is not None and is_padded(known.column.type, asked.dialect)
    if asked.dialect in _ILIKE and not padded and not _WILD.search(text):  # ILIKE counts the blanks, LOWER drops them
        like = exp.ILike(this=column.copy(), expression=exp.Literal.string(text))
        return exp.Not(this=like) if isinstance(node, exp.NEQ) else like
    lowered = exp.Literal.string(text.lower())
    return type(node)(this=exp.Lower(this=column.copy()), expression=lowered)
