"""Expressions and conditions of strict mode, from sqlglot's trees."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Final

from sqljury.errors import InputError
from sqljury.metrics.match.plus.scope import Scope
from sqljury.metrics.match.plus.structure import (
    NULL,
    STAR,
    Aggregate,
    Arithmetic,
    Call,
    Column,
    Condition,
    Conditions,
    Expression,
    Group,
    Literal,
    Query,
    ValueList,
    joined,
    simplified,
)

if TYPE_CHECKING:
    from sqlglot import exp

_COMPARISONS: Final = {
    "eq": "=",
    "neq": "!=",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "like": "like",
    "is": "is",
    "glob": "glob",
}
_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_ARITHMETIC: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "dpipe": "||"}
_AGGREGATES: Final = frozenset({"max", "min", "count", "sum", "avg"})


class Expressions:
    """Reads what stands in the clauses of one query; ``nested`` reads a query inside it."""

    def __init__(self, scope: Scope, nested: Callable[[exp.Expr], Query]) -> None:
        self._scope = scope
        self._nested = nested

    # Conditions

    def conditions(self, node: exp.Expr) -> Conditions:
        """Conditions with one connective between them, those with another in groups."""
        return simplified(self._units(node))

    def _units(self, node: exp.Expr) -> Conditions:
        node = node.unnest()
        if node.key in ("and", "or"):
            return joined(node.key, *(self._units(part) for part in node.flatten()))
        if node.key == "not":
            inner = self._units(node.this)
            if len(inner) == 1 and isinstance(inner[0], Condition):
                return (inner[0]._replace(negated=not inner[0].negated),)
            return (Group(True, inner),)
        return (self._condition(node),)

    def _condition(self, node: exp.Expr) -> Condition:
        negated = bool(node.args.get("negate"))
        if node.key in _COMPARISONS and node.expression is not None:
            return self._comparison(node, negated, _COMPARISONS[node.key])
        if node.key == "between":
            low, high = (self.expression(node.args[name]) for name in ("low", "high"))
            return Condition(negated, "between", self.expression(node.this), low, high)
        if node.key == "in":
            values: Expression | ValueList
            if node.args.get("query"):
                values = self._nested(node.args["query"])
            else:
                values = ValueList(tuple(self.expression(item) for item in node.expressions))
            return Condition(negated, "in", self.expression(node.this), values, None)
        if node.key == "exists":
            return Condition(negated, "exists", Literal(1.0), self._nested(node.this), None)
        return Condition(negated, "is", self.expression(node), Literal("true"), None)

    def _comparison(self, node: exp.Expr, negated: bool, operator: str) -> Condition:
        left, right = self.expression(node.this), self.expression(node.expression)
        if operator in _MIRRORED and isinstance(left, Literal | Query) and not isinstance(right, Literal):
            left, right, operator = right, left, _MIRRORED[operator]
        return Condition(negated, operator, left, right, None)

    # Expressions

    def expression(self, node: exp.Expr) -> Expression:
        """One expression; raises ``InputError`` for a column that is not there."""
        node = node.unnest()
        key = node.key
        if key == "column":
            return self._column(node)
        if key == "star":
            return Column(STAR)
        if key in ("literal", "null", "boolean", "neg"):
            return self._literal(node)
        if key in ("select", "subquery", "union", "except", "intersect"):
            return self._nested(node)
        if key in _ARITHMETIC:
            return Arithmetic(_ARITHMETIC[key], self.expression(node.this), self.expression(node.expression))
        if key in _AGGREGATES and len(node.expressions) == 0 and node.this is not None:
            inner = node.this
            distinct = inner.key == "distinct" and len(inner.expressions) == 1
            return Aggregate(key, distinct, self.expression(inner.expressions[0] if distinct else inner))
        return self._call(node)

    def _column(self, node: exp.Expr) -> Expression:
        if node.is_star:
            return Column(STAR)
        name, qualifier = node.name.lower(), node.args["table"].name.lower() if node.args.get("table") else ""
        found = self._scope.column(name, qualifier)
        if found is not None:
            return found
        if node.this.args.get("quoted") and not qualifier:  # SQLite takes such a name for a string
            return Literal(f'"{node.name}"')
        raise InputError(f"not read in strict mode: there is no column {node.sql()[:80]}")

    def _literal(self, node: exp.Expr) -> Expression:
        if node.key == "null":
            return Literal(NULL)
        if node.key == "boolean":
            return Literal(1.0 if node.this else 0.0)
        if node.key == "neg":
            match self.expression(node.this):
                case Literal(float() as value):
                    return Literal(-value)
                case inner:
                    return Call("neg", (inner,))
        if node.is_string:
            return Literal(f'"{node.name}"')
        try:
            number = float(node.name)
        except ValueError:
            number = float("inf")
        return Literal(number) if isfinite(number) else Literal(node.name)

    def _call(self, node: exp.Expr) -> Call:
        """Anything else by its kind and parts; what is no expression is part of the kind."""
        kind, arguments = [node.key], []
        for name, value in node.args.items():
            for item in value if isinstance(value, list) else [value]:
                if not hasattr(item, "key"):
                    kind += [f"{name}={item}".lower()] if item else []
                elif item.key in ("datatype", "identifier", "var"):
                    kind.append(item.sql().lower())
                else:
                    arguments.append(self.expression(item))
        return Call(" ".join(kind), tuple(arguments))
