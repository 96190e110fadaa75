"""Expressions and conditions of strict mode, from sqlglot's trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Final

from sqljury.errors import InputError
from sqljury.metrics.esm_plus.strict.guard import Scope
from sqljury.metrics.esm_plus.structure import (
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
    parts,
    simplified,
)
from sqljury.sql.parse import exp

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
            query = node.args.get("query")
            if query is not None and query.this.key == "subquery":
                raise InputError(
                    "not read in strict mode: IN with a query in two pairs of parentheses, which is one value"
                )
            if query is not None:
                values = self._nested(query)
            elif node.args.get("field"):
                raise InputError("not read in strict mode: IN with the name of a table")
            else:
                values = ValueList(tuple(self.expression(item) for item in node.expressions))
            return Condition(negated, "in", self.expression(node.this), values, None)
        if node.key == "exists":
            return Condition(negated, "exists", Literal(1), _any_row(self._nested(node.this)), None)
        return Condition(negated, "is", self.expression(node), Literal("true"), None)

    def _comparison(self, node: exp.Expr, negated: bool, operator: str) -> Condition:
        left, right = self.expression(node.this), self.expression(node.expression)
        if operator == "is" and node.expression.key == "boolean":  # 2 IS TRUE, but is not 1
            return Condition(negated, operator, left, Call("boolean", (right,)), None)
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
            argument = self.expression(inner.expressions[0] if distinct else inner)
            if key == "count" and not distinct and isinstance(argument, Literal) and argument != Literal(NULL):
                argument = Column(STAR)  # count(1)
            return Aggregate(key, distinct, argument)
        return self._call(node)

    def _column(self, node: exp.Expr) -> Expression:
        if node.is_star:
            return Column(STAR)
        name, qualifier = node.name.lower(), node.args["table"].name.lower() if node.args.get("table") else ""
        column = self._scope.column(name, qualifier)
        if column is not None:
            return column
        if (
            node.this.args.get("quoted") and not qualifier and not self._scope.may_name(name)
        ):  # SQLite takes such a name for a string
            return Literal(f'"{node.name}"')
        raise InputError(f"not read in strict mode: there is no column {node.sql()[:80]}")

    def _literal(self, node: exp.Expr) -> Expression:
        if node.key == "null":
            return Literal(NULL)
        if node.key == "boolean":
            return Literal(1 if node.this else 0)
        if node.key == "neg":
            match self.expression(node.this):
                case Literal(int() as value):
                    return Literal(-value)
                case inner:
                    return Call("neg", (inner,))
        return Literal(f'"{node.name}"') if node.is_string else _number(node.name)

    def _call(self, node: exp.Expr) -> Call:
        """Anything else by its kind and parts; what is no expression is part of the kind."""
        kind: list[str] = [node.key]
        arguments = []
        for name, value in node.args.items():
            for item in value if isinstance(value, list) else [value]:
                if not hasattr(item, "key"):
                    kind += [f"{name}={item}".lower()] if item else []
                elif item.key in ("datatype", "identifier", "var"):
                    kind.append(item.sql().lower())
                else:
                    kind += [name] if name not in ("this", "expression", "expressions") else []
                    arguments.append(self.expression(item))
        return Call(" ".join(kind), tuple(arguments))


def _number(text: str) -> Literal:
    """A whole number exactly, any other by its text: SQLite divides 5 / 2.0 and 5 / 2 in different ways."""
    if text.isascii() and text.isdigit():
        return Literal(int(text)) if len(text) < 20 and int(text) < 2**63 else Literal(text)
    try:
        number = float(text)
    except ValueError:
        return Literal(text)
    return Literal(repr(number)) if isfinite(number) else Literal(text)


def _any_row(query: Query) -> Query:
    """The query under EXISTS, for which it does not matter what of its rows is selected."""
    one_row = any(isinstance(part, Aggregate) for unit in query.select for part in parts(unit))
    if query.set_operator or (one_row and not query.group_by) or query.having:
        return query
    if query.limit is None and query.offset is None:
        query = replace(query, order_by=(), distinct=False)
    return replace(query, select=(Literal(1),))
