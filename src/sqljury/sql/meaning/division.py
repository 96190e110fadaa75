"""Division of whole numbers, which drops the fraction where a ratio, an average or another unit is asked for."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.cues import ratio, whole_part
from sqljury.sql.meaning.base import Asked, Change, derived, held
from sqljury.sql.meaning.units import is_small_unit
from sqljury.sql.parse import exp

_SLASH: Final = frozenset({"sqlite", "postgres"})
"""Dialects in which ``/`` of two whole numbers is a whole number."""
_WIDE: Final = re.compile(r"big|int8|serial8", re.IGNORECASE)
_INT: Final = re.compile(r"int(?!erval)|serial", re.IGNORECASE)
_FRACTIONS: Final = re.compile(r"real|floa|doub|char|clob|text|blob|bool|date|time", re.IGNORECASE)
_DEPTH: Final = 12
_IN_A_UNIT: Final = frozenset(
    map(str, (10, 60, 100, 1000, 1024, 1440, 3600, 60_000, 86_400, 1_000_000, 1_048_576, 3_600_000, 1_000_000_000))
)
"""How many of a small unit make a larger one."""


def division(tree: exp.Query, asked: Asked) -> Change | None:
    """Divide as fractions: ``COUNT(a) * 1.0 / COUNT(b)``, ``x * 100.0 / y``, and ``/`` for DuckDB's ``//``."""
    wanted = ratio(asked.question.whole)
    convertible = not whole_part(asked.question.whole)  # "how many full hours"
    whole = _Whole(tree, asked)
    changed = False
    for node in reversed(list(tree.find_all(exp.Div, exp.IntDiv))):  # inner ones first
        if not _truncates(node, asked.dialect) or _truncated_on_purpose(node):
            continue
        if not (convertible and _converts(node)) and (not wanted or _may_be_a_bucket(node)):
            continue
        if whole(node.this) and whole(node.expression):
            changed = True
            if isinstance(node, exp.IntDiv):
                node.replace(exp.Div(this=node.this, expression=node.expression))
            else:
                _make_fraction(node)
    return Change("a division of whole numbers drops the fraction") if changed else None


def _truncates(node: exp.Expr, dialect: str) -> bool:
    return isinstance(node, exp.IntDiv) == (dialect not in _SLASH)


def _make_fraction(node: exp.Expr) -> None:
    """Make the dividend a fraction, by a constant in it if there is one."""
    top = node.this.unnest()
    factors = [top.this, top.expression] if isinstance(top, exp.Mul) else []
    constant = next((factor for factor in factors if isinstance(factor, exp.Literal) and not factor.is_string), None)
    if constant is not None:
        constant.replace(exp.Literal.number(f"{constant.name}.0"))
    else:
        node.set("this", exp.Mul(this=node.this.copy(), expression=exp.Literal.number("1.0")))


def _truncated_on_purpose(node: exp.Expr) -> bool:
    """Whether the rest is left out as meant.

    So it is within GROUP BY or as one of its keys, within a cast to a whole number, multiplied by its divisor again, or
    where digits are taken apart: ``day / 10000 = 2024``, ``time / 100 * 60 + time % 100``.
    """
    if _takes_digits(node):
        return True
    above = node.parent
    while above is not None and not isinstance(above, exp.Query):
        if isinstance(above, exp.Group | exp.Floor | exp.Ceil | exp.IntDiv | exp.Mod | exp.Trunc):
            return True
        if isinstance(above, exp.Cast) and _INT.search(above.to.sql()):
            return True
        if isinstance(above, exp.Mul) and node.expression in (above.this.unnest(), above.expression.unnest()):
            return True
        above = above.parent
    select = node.parent_select
    group = select.args.get("group") if isinstance(select, exp.Select) else None
    if group is None or not isinstance(select, exp.Select):
        return False
    item = node
    while item.parent is not None and item.parent is not select:
        item = item.parent
    keys = [key.sql().lower() for key in group.expressions]
    names = {item.alias.lower(), item.unalias().sql().lower()} - {""}
    ordinals = [str(at) for at, output in enumerate(select.selects, 1) if output is item]
    return any(key in names or key in ordinals for key in keys)


def _takes_digits(node: exp.Expr) -> bool:
    """Whether a column divided by a constant is compared with a whole number, or the rest is used beside or divided.

    ``SUM(seconds) / 60`` beside ``SUM(seconds) % 60`` is minutes and seconds.
    """
    top, divisor = node.this.unnest(), node.expression.unnest()
    if not isinstance(divisor, exp.Literal):
        return False
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    if isinstance(above, exp.EQ | exp.In | exp.Between) and isinstance(top, exp.Column):
        constants = [literal for literal in above.find_all(exp.Literal) if literal is not divisor]
        return bool(constants) and all(not constant.is_string and constant.name.isdigit() for constant in constants)
    select = node.parent_select
    rests = list(select.find_all(exp.Mod)) if select is not None else []
    return top in rests or any(rest.this.unnest() == top and rest.expression.unnest() == divisor for rest in rests)


def _converts(node: exp.Expr) -> bool:
    """Whether a small unit, by the column's name, is divided into a larger one: ``fee_cents / 100``."""
    divisor = node.expression.unnest()
    if not isinstance(divisor, exp.Literal) or divisor.name not in _IN_A_UNIT:
        return False
    columns = list(node.this.find_all(exp.Column))
    above = node.parent
    while isinstance(above, exp.Paren | exp.Alias | exp.AggFunc | exp.Round | exp.Binary | exp.Ordered | exp.Order):
        above = above.parent
    shown = isinstance(above, exp.Select | exp.Where | exp.Having)  # not what a function of times takes
    return shown and bool(columns) and all(is_small_unit(column.name) for column in columns)


def _may_be_a_bucket(node: exp.Expr) -> bool:
    """Whether each row is divided by a constant, outside aggregates: that may put years into decades, grouped later."""
    if not isinstance(node.expression.unnest(), exp.Literal):
        return False
    within = isinstance(node.find_ancestor(exp.AggFunc, exp.Select), exp.AggFunc)
    hundred = any(literal.name == "100" for literal in node.this.find_all(exp.Literal))
    return not (within or hundred or node.this.find(exp.AggFunc, exp.Select) is not None)


class _Whole:
    """Whether an expression is surely a whole number by its type."""

    def __init__(self, tree: exp.Query, asked: Asked) -> None:
        self._tree, self._asked = tree, asked

    def __call__(self, node: exp.Expr | None, depth: int = 0) -> bool:
        if node is None or depth > _DEPTH:
            return False
        if isinstance(node, exp.Literal):
            return not node.is_string and node.name.isdigit()
        if isinstance(node, exp.Count | exp.CountIf | exp.Length):
            return True
        parts = self._parts(node)
        if parts is not None:
            return bool(parts) and all(self(part, depth + 1) for part in parts)
        if isinstance(node, exp.Sum):
            return self._sum(node, depth)
        if isinstance(node, exp.Column):
            return self._column(node, depth)
        return isinstance(node, exp.Cast) and bool(_INT.search(node.to.sql()))

    def _parts(self, node: exp.Expr) -> list[exp.Expr] | None:
        """The parts that must all be whole for ``node`` to be; None for other kinds of nodes."""
        if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Max | exp.Min | exp.Nullif | exp.Subquery | exp.Filter):
            return [node.this]
        if isinstance(node, exp.Distinct):
            return list(node.expressions)
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Mod):
            return [node.this, node.expression]
        if isinstance(node, exp.Div | exp.IntDiv):
            return [node.this, node.expression] if _truncates(node, self._asked.dialect) else []
        if isinstance(node, exp.Coalesce):
            return [node.this, *node.expressions]
        if isinstance(node, exp.Case):
            results = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
            return [result for result in results if result is not None and not isinstance(result, exp.Null)]
        if isinstance(node, exp.If):
            return [branch for branch in (node.args["true"], node.args.get("false")) if branch is not None]
        if isinstance(node, exp.Select):
            return [node.selects[0].unalias()] if len(node.selects) == 1 else []
        return None

    def _sum(self, node: exp.Sum, depth: int) -> bool:
        """In PostgreSQL the sum of BIGINT, and so of counts, is NUMERIC, whose division keeps the fraction."""
        if not self(node.this, depth + 1):
            return False
        if self._asked.dialect != "postgres":
            return True
        columns = [held(column, self._asked.schema) for column in node.this.find_all(exp.Column)]
        wide = any(column is None or _WIDE.search(column.column.type) for column in columns)
        return not wide and node.find(exp.Count, exp.Length) is None

    def _column(self, node: exp.Column, depth: int) -> bool:
        known = held(node, self._asked.schema)
        if known is None:
            item = derived(node, self._tree)
            return item is not None and self(item, depth + 1)
        declared = known.column.type
        if _INT.search(declared):
            return True
        # SQLite keeps whole numbers as such in a NUMERIC column, and divides them as such.
        return self._asked.dialect == "sqlite" and bool(declared) and not _FRACTIONS.search(declared)
