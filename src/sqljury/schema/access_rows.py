"""Where a value may be a whole row, in PostgreSQL, or a text in double quotes, in SQLite."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from sqljury.schema.access_names import exact
from sqljury.schema.access_scopes import Chain, Reading

if TYPE_CHECKING:
    from sqlglot import exp

_ROW_TAKERS: Final = frozenset({"count", "to_json", "to_jsonb", "row_to_json", "json_agg", "jsonb_agg"})
"""Built-in functions of PostgreSQL that take any row and give none."""

_PAIRS: Final = frozenset({"json_each", "json_each_text", "jsonb_each", "jsonb_each_text"})


def is_row_taken(node: exp.Expr, made: Collection[str]) -> bool:
    """Whether this whole row is given straight to a function that makes no row of it, or is compared with NULL.

    Elsewhere PostgreSQL could pass it on to functions, casts and operators that the owner made for such rows; ``made``
    are names of such functions.
    """
    from sqlglot import exp

    parent = node.parent
    while isinstance(parent, exp.Column | exp.Paren | exp.Distinct):
        parent = parent.parent
    if isinstance(parent, exp.Is):
        return isinstance(parent.expression, exp.Null)
    name = parent.name.lower() if isinstance(parent, exp.Anonymous) else ""
    if isinstance(parent, exp.Count | exp.JSONArrayAgg):
        name = "count" if isinstance(parent, exp.Count) else "json_agg"
    return name in _ROW_TAKERS and name not in made


def row_name(node: exp.Expr) -> exp.Identifier | None:
    """The name in ``(name)``, where it may be that of a row."""
    from sqlglot import exp

    value = node.unnest()
    if isinstance(value, exp.Column) and isinstance(value.this, exp.Identifier) and not value.args.get("table"):
        return value.this
    return None


def field_names(node: exp.Expr, chain: Chain, dialect: str) -> frozenset[str]:
    """The fields that this value surely has, by their exact keys."""
    from sqlglot import exp

    value = node.unnest()
    if isinstance(value, exp.Anonymous) and value.name.lower() in _PAIRS:
        return frozenset({"key", "value"})
    if not isinstance(value, exp.Column) or not isinstance(value.this, exp.Identifier):
        return frozenset()
    owner, key = value.args.get("table"), exact(value.this, dialect)
    for scope in chain:
        sources = [source for source in scope.sources if source.read(value.this, dialect) is not None]
        if owner is not None:
            sources = [source for source in sources if source.alias == exact(owner, dialect, table=True)]
        if sources:
            sure = all(source.read(value.this, dialect) is Reading.SURE for source in sources)
            return sources[0].fields.get(key, frozenset()) if len(sources) == 1 and sure else frozenset()
    return frozenset()


def is_text_place(name: exp.Identifier) -> bool:
    """Whether a name in double quotes stands where queries for SQLite write texts.

    That is: after a comparison, in a list or range, joined to another text, given to a function, or the outcome of a
    CASE. What stands before a comparison, by itself, or before an arrow is a column.
    """
    from sqlglot import exp

    node: exp.Expr = name.parent if isinstance(name.parent, exp.Column) else name
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    parent = node.parent
    if isinstance(parent, exp.JSONExtract | exp.JSONExtractScalar | exp.AggFunc):
        return isinstance(parent, exp.GroupConcat) and parent.args.get("separator") is node
    if isinstance(parent, exp.In):
        return parent.this is not node
    if isinstance(parent, exp.Between):
        return parent.this is not node
    if isinstance(parent, exp.If):
        return parent.this is not node
    if isinstance(parent, exp.DPipe | exp.Case | exp.Tuple):
        return parent.this is not node or isinstance(parent, exp.DPipe)
    if isinstance(parent, exp.Escape | exp.Predicate | exp.Binary):
        return parent.expression is node
    return isinstance(parent, exp.Func)
