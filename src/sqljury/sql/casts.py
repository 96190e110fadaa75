"""Casts between types that an engine does not compare or compute with, with a line on each for a prompt.

SQLite and MySQL compare a text with a number and add texts up; PostgreSQL refuses, and so does DuckDB in part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from sqljury.sql import text
from sqljury.sql.faults import Fault
from sqljury.sql.grouping import Note
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources
from sqljury.sql.terms import outside_queries

STRICT: Final = ("postgres", "duckdb")

Kind = Literal["number", "text", "date", "boolean", "literal", ""]
"""Of a value; ``literal`` is a text in quotes, which takes the other side's type, and empty is unknown."""

_SHOWN: Final = 120
_TYPES: Final[tuple[tuple[Kind, str], ...]] = (
    ("boolean", r"bool"),
    ("date", r"date|timestamp|datetime"),
    (
        "number",
        r"(?:u?(?:big|small|tiny|huge)?int(?:eger)?\d*|serial|bigserial|numeric|decimal|real|float\d*|double)\b",
    ),
    ("text", r"(?:n?(?:var)?char|character|text|string|bpchar|citext)"),
)
_KINDS: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _TYPES)
_NUMBERS: Final = frozenset(
    (
        "count",
        "sum",
        "avg",
        "length",
        "round",
        "extract",
        "abs",
        "ceil",
        "floor",
        "year",
        "month",
        "day",
        "mod",
        "stddev",
    )
)
_TEXTS: Final = frozenset(("lower", "upper", "concat", "substring", "trim", "timetostr", "dpipe", "tochar", "left"))
_DATES: Final = frozenset(("currentdate", "currenttimestamp", "timestamptrunc", "datetrunc", "strtodate", "strtotime"))
_SAME: Final = frozenset(("paren", "max", "min", "coalesce", "neg", "distinct", "nullif"))
_OF_DATES: Final = frozenset(("extract", "timestamptrunc", "datetrunc", "timetostr", "year", "month", "day"))
_OF_TEXTS: Final = frozenset(("substring", "length", "lower", "upper", "trim", "left", "right"))
_OF_NUMBERS: Final = frozenset(("sum", "avg", "stddev", "variance"))
_NUMBER: Final = re.compile(r"\s*[-+]?\d+(?:\.\d+)?\s*")


def type_kind(declared: str) -> Kind:
    """The kind of a column's type; empty where it is none of them, such as an array."""
    name = declared.strip().lower()
    if name.endswith("]"):
        return ""
    return next((kind for kind, pattern in _KINDS if pattern.match(name)), "")


def cast_values(sources: Sources) -> Iterator[Note]:
    """Cast the values of one SELECT that are compared, summed or taken apart as another type than theirs."""
    typed = _Typed(sources)
    nodes = [node for part in sources.scope.expression.iter_expressions() for node in outside_queries(part)]
    for node in reversed(nodes):  # what a node holds before the node, which takes a copy of it
        before = text.remark(node.sql(dialect=sources.schema.dialect), _SHOWN)
        if not typed.rewrite(node):
            continue
        after = text.remark(node.sql(dialect=sources.schema.dialect), _SHOWN)
        shown = "; ".join(dict.fromkeys(typed.casts))
        typed.casts.clear()
        line = after if after == before else f"{after} instead of {before}"
        yield Fault("types", ""), f"{shown}: {line}" if shown else line


class _Typed:
    """Rewrites nodes of one SELECT; ``casts`` lists the columns that were cast, with their types."""

    def __init__(self, sources: Sources) -> None:
        self._sources, self._dialect = sources, sources.schema.dialect
        self.casts: list[str] = []

    def rewrite(self, node: exp.Expr) -> bool:
        """Cast the operands of a node where it is needed; True if any was."""
        if isinstance(node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
            return self._compare(node)
        if isinstance(node, exp.In) and node.expressions:
            values = [self._matched(node.this, value, equal=True) for value in node.expressions]
            changed = values != node.expressions
            node.set("expressions", values)
            return changed
        if isinstance(node, exp.Between):
            ends = [self.kind(node.args[end]) for end in ("low", "high")]
            return self.kind(node.this) == "text" and "number" in ends and self._cast(node, "this", "DECIMAL")
        if isinstance(node, exp.Like | exp.ILike):
            return self.kind(node.this) in ("number", "date", "boolean") and self._cast(node, "this", "TEXT")
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
            sides = {"this": self.kind(node.this), "expression": self.kind(node.expression)}
            texts = [side for side, kind in sides.items() if kind == "text" and "number" in sides.values()]
            for side in texts:
                self._cast(node, side, "DECIMAL")
            return bool(texts)
        return self._call(node)

    def _call(self, node: exp.Expr) -> bool:
        name = str(node.key)
        argument = "expression" if name == "extract" else "this"
        of = node.args.get(argument)
        if not isinstance(of, exp.Expr):
            return False
        inner = "expression" if isinstance(of, exp.TsOrDsToDate | exp.TsOrDsToTimestamp) else ""
        kind = self.kind(of.this if inner else of)
        if name in _OF_NUMBERS and kind in ("text", "boolean"):
            return self._cast(node, argument, "DECIMAL" if kind == "text" else "INT")
        if name == "round" and node.args.get("decimals") is not None and self._dialect == "postgres":
            return not isinstance(of, exp.Cast) and self._cast(node, argument, "DECIMAL")
        if name in _OF_DATES and kind == "text":
            return self._cast(node, argument, "TIMESTAMP")
        if name in _OF_TEXTS and kind in ("number", "date", "boolean"):
            return self._cast(node, argument, "TEXT")
        return False

    def _compare(self, node: exp.Expr) -> bool:
        equal = isinstance(node, exp.EQ | exp.NEQ)
        left, right = node.this, node.expression
        node.set("expression", self._matched(left, right, equal=equal))
        if node.expression is right or node.expression == right:
            node.set("this", self._matched(right, left, equal=equal))
        changed = bool(node.this != left or node.expression != right)
        if not changed and {self.kind(left), self.kind(right)} == {"text", "number"}:
            side = "this" if self.kind(left) == "text" else "expression"
            return self._cast(node, side, "DECIMAL")
        if not changed and {self.kind(left), self.kind(right)} == {"text", "date"}:
            side = "this" if self.kind(left) == "text" else "expression"
            return self._cast(node, side, "TIMESTAMP")
        return changed

    def _matched(self, side: exp.Expr, value: exp.Expr, *, equal: bool) -> exp.Expr:
        """``value`` as it must be written to be compared with ``side``; the same where nothing is to be changed."""
        kind, value_kind = self.kind(side), self.kind(value)
        if kind == "text" and value_kind == "number" and equal:
            self._tell(side)
            plain = isinstance(value, exp.Literal)
            return exp.Literal.string(value.name) if plain else exp.cast(value.copy(), "TEXT")
        if kind == "boolean" and isinstance(value, exp.Literal) and value.name in ("0", "1") and not value.is_string:
            self._tell(side)
            return exp.Boolean(this=value.name == "1")
        return value

    def _cast(self, node: exp.Expr, argument: str, to: str) -> bool:
        of = node.args[argument]
        self._tell(of)
        node.set(argument, exp.cast(of.copy(), to))
        return True

    def _tell(self, node: exp.Expr) -> None:
        for column in node.find_all(exp.Column):
            if (declared := self._declared(column)) is not None:
                shown = text.remark(column.sql(dialect=self._dialect), _SHOWN)
                self.casts.append(f"{shown} is {text.type_text(declared).lower() or 'of another type'}")

    def kind(self, node: exp.Expr) -> Kind:
        """The kind of a value, as far as schema and function show it."""
        if isinstance(node, exp.Column):
            declared = self._declared(node)
            return "" if declared is None else type_kind(declared)
        if isinstance(node, exp.Literal):
            return "literal" if node.is_string else "number"
        if isinstance(node, exp.Boolean):
            return "boolean"
        if isinstance(node, exp.Cast):
            return type_kind(node.to.sql())
        name = str(node.key)
        if name in _SAME:
            of = node.expressions[0] if isinstance(node, exp.Distinct) and node.expressions else node.this
            return self.kind(of) if isinstance(of, exp.Expr) else ""
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
            kinds = {self.kind(node.this), self.kind(node.expression)}
            return "number" if kinds <= {"number", "text"} and "number" in kinds else ""
        known: tuple[tuple[Kind, frozenset[str]], ...] = (("number", _NUMBERS), ("text", _TEXTS), ("date", _DATES))
        return next((kind for kind, names in known if name in names), "")

    def _declared(self, column: exp.Column) -> str | None:
        holders = self._sources.holders(column.name, column.table)
        types = {
            known.type for table, _ in holders for known in table.columns if known.name.lower() == column.name.lower()
        }
        return types.pop() if len(types) == 1 else None


def not_of_type(sources: Sources) -> Iterator[Note]:
    """Lines on texts that are compared with numbers or dates and cannot be cast to one."""
    typed = _Typed(sources)
    dialect = sources.schema.dialect
    for part in sources.scope.expression.iter_expressions():
        for node in outside_queries(part):
            if not isinstance(node, exp.EQ | exp.NEQ) or typed.kind(node.expression) != "literal":
                continue
            if typed.kind(node.this) == "number" and not _NUMBER.fullmatch(node.expression.name):
                shown = text.remark(node.this.sql(dialect=dialect), _SHOWN)
                yield Fault("value", ""), f"{shown} holds numbers, {text.literal(node.expression.name)} is a text"
