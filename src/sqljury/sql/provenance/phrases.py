"""Expressions and conditions of a query in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from sqljury.language.words import words
from sqljury.sql import text
from sqljury.sql.casts import type_kind
from sqljury.sql.meaning import dates_made
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, owner, tables_of
from sqljury.types import Schema

CHARS: Final = 300
_VALUES: Final = 6
_DATE: Final = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")
_COMPARED: Final = {
    "eq": ("is", "is not"),
    "neq": ("is not", "is"),
    "gt": ("is more than", "is at most"),
    "gte": ("is at least", "is less than"),
    "lt": ("is less than", "is at least"),
    "lte": ("is at most", "is more than"),
}
"""By sqlglot's key: in words, and negated."""
_DATED: Final = {
    "gt": ("is after", "is not after"),
    "gte": ("is on or after", "is before"),
    "lt": ("is before", "is on or after"),
    "lte": ("is on or before", "is after"),
}
_DATED_NAMES: Final = frozenset(words("date datum day time month year on at since until birth born dob"))
_ENDS: Final = {"min": "the earliest", "max": "the latest"}
_AGGREGATES: Final = {"sum": "the sum of", "avg": "the average of", "min": "the lowest", "max": "the highest"}
_OPERATORS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "intdiv": "/", "mod": "%", "dpipe": "||"}


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def counted(number: int, noun: str) -> str:
    """``1 row``, ``1,200 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Phrases:
    """Words for the parts of one query on ``schema``; ``subquery`` names a query inside it."""

    def __init__(self, schema: Schema, subquery: Callable[[exp.Expr], str] = lambda _: "a subquery") -> None:
        self._schema, self._subquery = schema, subquery

    def column(self, node: exp.Column) -> str:
        """The column with its table where several are read; with its alias where one table is read twice."""
        alias_table, select = owner(node, self._schema), node.parent_select
        if alias_table is None or not isinstance(select, exp.Select):
            return text.printable(f"{node.table}.{node.name}" if node.table else node.name)
        alias, table = alias_table
        tables = tables_of(select, self._schema)
        if alias in tables and len(from_items(select)) == 1:
            return text.printable(node.name)
        twice = sum(other is table for other in tables.values()) + (alias not in tables) > 1
        return text.printable(f"{alias if twice else table.name}.{node.name}")

    def value(self, node: exp.Expr | None) -> str:
        """An expression, such as ``the average of list_price``."""
        if node is None:
            return ""
        simple = self._simple(node)
        if simple is not None:
            return simple
        if isinstance(node, exp.Binary) and node.key in _OPERATORS:
            left, right = self._side(node.this), self._side(node.expression)
            return f"{left} {_OPERATORS[node.key]} {right}"
        if isinstance(node, exp.Predicate | exp.Connector | exp.Not):
            return self.condition(node)
        return self._as_sql(node)

    def _simple(self, node: exp.Expr) -> str | None:
        if isinstance(node, exp.Alias):
            return self.value(node.this)
        if (dated := dates_made.source(node)) is not None:
            return f"the day in {self.column(dated)}"
        if isinstance(node, exp.Column):
            return "every column" if isinstance(node.this, exp.Star) else self.column(node)
        if isinstance(node, exp.Star):
            return "every column"
        if isinstance(node, exp.Literal):
            return text.literal(node.name) if node.is_string else text.plain(node.name, text.CELL_CHARS)
        if isinstance(node, exp.Count):
            return self._count(node)
        if node.key in _AGGREGATES:
            return self._aggregate(node)
        if isinstance(node, exp.Cast):
            return f"{self.value(node.this)} read as {node.to.sql(dialect=self._schema.dialect)}"
        if isinstance(node, exp.Lower | exp.Upper):
            return f"{self.value(node.this)} in {'small' if isinstance(node, exp.Lower) else 'capital'} letters"
        if isinstance(node, exp.Round) and isinstance(node.args.get("decimals"), exp.Literal | None):
            decimals = "0" if node.args.get("decimals") is None else node.args["decimals"].name
            return f"{self._operand(node.this)} rounded to {decimals} decimal{'' if decimals == '1' else 's'}"
        if isinstance(node, exp.Paren):
            return f"({self.value(node.this)})"
        return self._subquery(node) if isinstance(node, exp.Query) else None

    def _count(self, node: exp.Count) -> str:
        counted_node = node.this
        if counted_node is None or isinstance(counted_node, exp.Star | exp.Literal):
            return "the number of rows"
        if isinstance(counted_node, exp.Distinct):
            return f"the number of different {_values_of([self.value(part) for part in counted_node.expressions])}"
        if (condition := _counted_case(counted_node)) is not None:
            return f"the number of rows where {self.condition(condition)}"
        return f"the number of rows with a value of {self.value(counted_node)}"

    def _aggregate(self, node: exp.Expr) -> str:
        inner = node.this
        if isinstance(node, exp.Sum) and (condition := _counts(inner)) is not None:
            return f"the number of rows where {self.condition(condition)}"
        named = _AGGREGATES[node.key]
        if isinstance(inner, exp.Distinct):
            return f"{named} different {_values_of([self.value(part) for part in inner.expressions])}"
        if node.key in _ENDS and self._kind(inner) == "date":
            named = _ENDS[node.key]
        return f"{named} {self._operand(inner)}"

    def first(self, node: exp.Expr, *, highest: bool) -> str:
        """Which end of an order by an expression comes first: ``highest first``, ``latest first``, ``Z to A``."""
        kind = self._kind(node)
        if kind == "text":
            return "Z to A" if highest else "A to Z"
        ends = ("earliest", "latest") if kind == "date" else ("lowest", "highest")
        return f"{ends[highest]} first"

    def _kind(self, node: exp.Expr) -> str:
        """The kind of a column's values by its declared type; empty for texts that may be dates, by their name."""
        alias_table = owner(node, self._schema) if isinstance(node, exp.Column) else None
        if alias_table is None:
            return ""
        column = next(known for known in alias_table[1].columns if known.name.lower() == node.name.lower())
        kind = type_kind(column.type)
        return "" if kind == "text" and _DATED_NAMES & set(words(column.name)) else kind

    def _side(self, node: exp.Expr) -> str:
        """One side of an operator; a number of rows where something holds in parentheses."""
        phrase = self.value(node)
        return f"({phrase})" if isinstance(node, exp.AggFunc) and " where " in phrase else phrase

    def _operand(self, node: exp.Expr) -> str:
        phrase = self.value(node)
        return f"({phrase})" if isinstance(node, exp.Binary) else phrase

    def _as_sql(self, node: exp.Expr) -> str:
        """As SQL with the columns named as elsewhere; a query inside it by its name."""
        renamed = node.copy()
        pairs = zip(node.find_all(exp.Column), list(renamed.find_all(exp.Column)), strict=True)
        for before, after in pairs:
            if not isinstance(before.this, exp.Star) and before.parent_select is not None:
                after.replace(exp.Var(this=self.column(before)))
        return text.remark(renamed.sql(dialect=self._schema.dialect), CHARS)

    def condition(self, node: exp.Expr, *, negated: bool = False) -> str:
        """A condition, such as ``town is 'Sedge'``."""
        if isinstance(node, exp.Paren):
            inner = node.unnest()
            phrase = self.condition(inner, negated=negated)
            return f"({phrase})" if isinstance(inner, exp.Connector) else phrase
        if isinstance(node, exp.Not):
            return self.condition(node.this, negated=not negated)
        negated = negated != bool(node.args.get("negate"))  # NOT LIKE, as sqlglot reads it
        if isinstance(node, exp.And | exp.Or):
            word = "and" if isinstance(node, exp.And) != negated else "or"
            return f"{self._joined(node.this, node, negated)} {word} {self._joined(node.expression, node, negated)}"
        return self._comparison(node, negated)

    def _joined(self, node: exp.Expr, around: exp.Expr, negated: bool) -> str:
        phrase = self.condition(node, negated=negated)
        mixed = isinstance(node, exp.Connector) and type(node) is not type(around)
        return f"({phrase})" if mixed else phrase

    def _comparison(self, node: exp.Expr, negated: bool) -> str:
        if node.key in _COMPARED:
            right = node.expression
            dated = isinstance(right, exp.Literal) and right.is_string and _DATE.fullmatch(right.name)
            phrase = (_DATED if dated and node.key in _DATED else _COMPARED)[node.key][negated]
            return f"{self.value(node.this)} {phrase} {self.value(right)}"
        if isinstance(node, exp.Is):
            has = negated == isinstance(node.expression, exp.Null)
            if isinstance(node.expression, exp.Null):
                return f"{self.value(node.this)} has {'a' if has else 'no'} value"
            return f"{self.value(node.this)} is {'not ' * negated}{self.value(node.expression)}"
        if isinstance(node, exp.In):
            return f"{self.value(node.this)} is {'not one' if negated else 'one'} of {self._members(node)}"
        if isinstance(node, exp.Between):
            low, high = self.value(node.args["low"]), self.value(node.args["high"])
            return f"{self.value(node.this)} is {'not ' * negated}between {low} and {high}, both included"
        if isinstance(node, exp.Like | exp.ILike) and isinstance(node.expression, exp.Literal):
            return f"{self.value(node.this)} {_like(node.expression.name, negated)}"
        if isinstance(node, exp.Exists):
            return f"{self._subquery(node.this)} finds {'no' if negated else 'a'} row"
        if node.args.get("negate"):  # written as NOT
            negated = not negated
        phrase = self._as_sql(node) if isinstance(node, exp.Predicate) else self.value(node)
        return f"not ({phrase})" if negated else phrase

    def _members(self, node: exp.In) -> str:
        if (query := node.args.get("query")) is not None:
            return f"the rows of {self._subquery(query)}"
        shown = [self.value(part) for part in node.expressions[:_VALUES]]
        more = len(node.expressions) - len(shown)
        return listed([*shown, *([f"{more} more"] if more > 0 else [])])


def _values_of(parts: Sequence[str]) -> str:
    return f"{'values' if len(parts) == 1 else 'combinations'} of {listed(parts)}"


def _counted_case(node: exp.Expr) -> exp.Expr | None:
    """The condition whose rows COUNT counts: of CASE with one branch, a constant, and NULL for all others."""
    if not isinstance(node, exp.Case) or node.this is not None or len(node.args["ifs"]) != 1:
        return None
    (branch,), default = node.args["ifs"], node.args.get("default")
    constant = isinstance(branch.args["true"], exp.Literal | exp.Boolean)
    return branch.this if constant and isinstance(default, exp.Null | None) else None


def _counts(node: exp.Expr) -> exp.Expr | None:
    """The condition whose rows a sum counts: a sum of truth values, or of 1 for some rows and 0 for others."""
    if isinstance(node, exp.Predicate | exp.Connector):
        return node
    if not isinstance(node, exp.Case) or node.this is not None or len(node.args["ifs"]) != 1:
        return None
    (branch,), default = node.args["ifs"], node.args.get("default")
    counted_one = isinstance(branch.args["true"], exp.Literal) and branch.args["true"].name == "1"
    nothing = default is None or (isinstance(default, exp.Literal) and default.name == "0")
    return branch.this if counted_one and nothing else None


def _like(pattern: str, negated: bool) -> str:
    """What a pattern of LIKE asks for."""
    bare = pattern.strip("%")
    if "%" in bare or "_" in bare or not bare:
        return f"{'does not match' if negated else 'matches'} the pattern {text.literal(pattern)}"
    start, end = pattern.startswith("%"), pattern.endswith("%")
    if not start and not end:
        return f"{'is not' if negated else 'is'} {text.literal(pattern)}"
    words = {
        (True, True): ("contains", "does not contain"),
        (True, False): ("ends with", "does not end with"),
        (False, True): ("begins with", "does not begin with"),
    }
    return f"{words[start, end][negated]} {text.literal(bare)}"
