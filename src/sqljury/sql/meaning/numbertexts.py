"""Numbers that a column holds as texts, where a query sorts or compares them: as texts, '98' is above '230'."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, held, is_met, keys_of
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.sql.terms import meant

_NUMBER: Final = regex(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
"""Not with a zero before other digits, as codes and numbers of telephones have."""
_DIGITS: Final = 15
"""Longer numbers are those of something, and do not fit into every type."""
_CODES: Final = frozenset(
    (
        *words("account code no nr number num class id key serial zip postcode postal phone telephone mobile fax"),
        *words("room house version model sku isbn ref reference"),
    )
)
"""Words of columns whose digits count nothing."""
_AS_TEXTS: Final = regex(r"\balphabetical|\bas (?:a )?texts?\b|\blexic", re.IGNORECASE)
_TYPES: Final = {
    "sqlite": ("INTEGER", "REAL"),
    "postgres": ("NUMERIC", "NUMERIC"),
    "mysql": ("BIGINT", "DECIMAL(38, 10)"),
    "duckdb": ("BIGINT", "DOUBLE"),
}
"""By dialect the type of whole numbers and that of others."""


def number_texts(tree: exp.Query, asked: Asked) -> Change | None:
    """Read such a column as numbers where it is sorted, compared by order with a number, or its extreme is taken.

    All texts are numbers, and in another order than as texts. Keys are none, nor columns called after codes.
    """
    changed = False
    for column in [] if _AS_TEXTS.search(asked.question.text) else list(tree.find_all(exp.Column)):
        select = column.parent_select
        is_output = select is not None and meant(column, select) is not column  # which may be called like a column
        type_ = _type(column, asked) if not is_output and _is_ordered(column, asked) else ""
        if type_:
            column.replace(exp.cast(column.copy(), type_))
            changed = True
    return Change("the column holds numbers as texts", may_empty=True) if changed else None


def _is_ordered(column: exp.Column, asked: Asked) -> bool:
    """Whether the order of the values matters where the column stands."""
    above = column.parent
    if isinstance(above, exp.Ordered | exp.Max | exp.Min):
        return True
    if isinstance(above, exp.Between):
        return above.this is column and _is_number(above.args["low"], asked) and _is_number(above.args["high"], asked)
    if isinstance(above, exp.GT | exp.GTE | exp.LT | exp.LTE):
        return _is_number(above.expression if above.this is column else above.this, asked)
    return False


def _is_number(node: exp.Expr, asked: Asked) -> bool:
    """Whether something is a number, or a text or an aggregate of texts that are numbers."""
    bare = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(bare, exp.Subquery) and isinstance(bare.this, exp.Select) and len(bare.this.selects) == 1:
        bare = bare.this.selects[0].unalias()
    if isinstance(bare, exp.Neg):
        bare = bare.this
    if isinstance(bare, exp.Literal):
        return not bare.is_string or _NUMBER.fullmatch(bare.name) is not None
    return bare.find(exp.Avg, exp.Sum, exp.Count) is not None or (
        isinstance(bare, exp.Column) and _type(bare, asked) != ""
    )


def _type(column: exp.Column, asked: Asked) -> str:
    """The type of the numbers that a column holds as texts; empty for other columns."""
    known = held(column, asked.schema)
    if known is None or not known.is_text or known.column.name in keys_of(known.table):
        return ""
    if not _CODES.isdisjoint(words(known.column.name)):
        return ""
    values = asked.data.values(known.table, known.column.name)
    if len(values) < 2 or not all(isinstance(value, str) and _NUMBER.fullmatch(value) for value in values):
        return ""
    texts = [str(value) for value in values]
    if sorted(texts) == sorted(texts, key=float) or max(map(len, texts)) > _DIGITS:
        return ""
    if is_met(_is_no_number(known.column.name, asked.dialect), known.table, asked) is not False:
        return ""
    return _TYPES[asked.dialect][any("." in text for text in texts)]


def _is_no_number(column: str, dialect: str) -> exp.Expr:
    """The condition that a text of the column has another character than those of numbers, or none at all."""
    node = exp.column(identifier(column, dialect))
    if dialect == "sqlite":
        condition: exp.Expr = exp.Glob(this=node, expression=exp.Literal.string("*[^0-9.-]*"))
    elif dialect == "mysql":  # MariaDB has no REGEXP_LIKE
        position = exp.Anonymous(this="REGEXP_INSTR", expressions=[node, exp.Literal.string("[^0-9.-]")])
        condition = exp.GT(this=position, expression=exp.Literal.number(0))
    else:
        condition = exp.RegexpLike(this=node, expression=exp.Literal.string("[^0-9.-]"))
    return exp.or_(condition, exp.EQ(this=node.copy(), expression=exp.Literal.string("")))
