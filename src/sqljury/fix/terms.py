"""The conditions of a query as terms that can be compared: an operator, and what stands on each of its sides.

Spellings of the same condition give the same term: ``5 < x`` and ``x > 5``, BETWEEN and two comparisons, IN with one
value and ``=``, OR of one column's values and IN, NOT before a comparison and the opposite comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

_OPPOSITE: Final = {"eq": "neq", "neq": "eq", "gt": "lte", "gte": "lt", "lt": "gte", "lte": "gt"}
_MIRRORED: Final = {"gt": "lt", "gte": "lte"}
_UNNAMED: Final = frozenset(
    [
        "paren",
        "cast",
        "trycast",
        "alias",
        "identifier",
        "var",
        "datatype",
        "datatypeparam",
        "tsordstodate",
        "tsordstotimestamp",
        "date",
        "timestamp",
        "star",
        "dot",
    ]
)
_CASE: Final = frozenset(("upper", "lower", "collate"))
_DATES: Final = frozenset(
    [
        "strftime",
        "timetostr",
        "year",
        "month",
        "day",
        "extract",
        "dayofweek",
        "dayofyear",
        "week",
        "datepart",
        "date_part",
        "dateformat",
        "date_format",
        "to_char",
        "tochar",
        "timestamptrunc",
        "datetrunc",
        "date_trunc",
        "hour",
        "minute",
        "second",
        "quarter",
        "julianday",
    ]
)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    ``calls`` are its functions and operators, sorted, those of dates and of upper and lower case under one name each;
    ``unknown`` are names that no column has and no table qualifies, which may be texts without quotes.
    """

    calls: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()
    queries: tuple[exp.Expr, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it is one column."""
        return len(self.columns) == 1 and not (self.calls or self.literals or self.unknown or self.queries)


@dataclass(frozen=True, slots=True)
class Term:
    """One condition that must hold: ``op`` between ``sides``, or for ``or`` alternatives, each of them all its terms.

    ``text`` is the condition as SQL.
    """

    op: str
    sides: tuple[Side, ...] = ()
    parts: tuple[tuple[Term, ...], ...] = ()
    text: str = ""

    @property
    def joins(self) -> bool:
        """Whether it equates two columns, as a join does."""
        return self.op == "eq" and all(side.bare for side in self.sides)


def terms(condition: exp.Expr, names: Collection[str], dialect: str) -> list[Term]:
    """The conditions that all must hold for ``condition`` to hold; ``names`` are the columns of the schema."""
    return _Reader(names, dialect).terms(condition, negated=False)


def side(node: exp.Expr, names: Collection[str], dialect: str) -> Side:
    """What an expression is made of."""
    return _Reader(names, dialect).side(node)


def aggregates(expressions: Iterable[exp.Expr]) -> set[str]:
    """The aggregate functions that expressions use outside subqueries."""
    from sqlglot import exp

    return {str(node.key) for one in expressions for node in _outside_queries(one) if isinstance(node, exp.AggFunc)}


class _Reader:
    def __init__(self, names: Collection[str], dialect: str) -> None:
        self._names, self._dialect = names, dialect

    def terms(self, node: exp.Expr, *, negated: bool) -> list[Term]:
        from sqlglot import exp

        node = node.unnest() if isinstance(node, exp.Paren) else node
        if isinstance(node, exp.Not):
            return self.terms(node.this, negated=not negated)
        if isinstance(node, exp.Or if negated else exp.And):
            return [term for one in (node.this, node.expression) for term in self.terms(one, negated=negated)]
        if isinstance(node, exp.Between):
            low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
            return self.terms((exp.Or if negated else exp.And)(this=low, expression=high), negated=negated)
        if isinstance(node, exp.And | exp.Or):
            return [self._alternatives(node, negated=negated)]
        term = self._comparison(node, negated=negated)
        return [] if self._always(term) else [term]

    def _alternatives(self, node: exp.Expr, *, negated: bool) -> Term:
        """An OR; of values of one column it is an IN."""
        parts = [tuple(self.terms(one, negated=negated)) for one in _operands(node, type(node))]
        single = [part[0] for part in parts if len(part) == 1]
        values = [one.sides[1] for one in single if one.op in ("eq", "in") and len(one.sides) == 2]
        columns = {one.sides[0] for one in single if one.op in ("eq", "in")}
        text = node.sql(dialect=self._dialect)
        simple = all(not (value.columns or value.calls or value.queries) for value in values)
        if len(values) == len(parts) and len(columns) == 1 and simple:
            literals = tuple(sorted(literal for value in values for literal in value.literals))
            return Term("in", (columns.pop(), Side(literals=literals)), text=text)
        return Term("or", parts=tuple(parts), text=f"NOT ({text})" if negated else text)

    def _comparison(self, node: exp.Expr, *, negated: bool) -> Term:
        from sqlglot import exp

        op = str(node.key)
        text = node.sql(dialect=self._dialect)
        if negated:
            text = f"NOT {text}"
            op = _OPPOSITE.get(op, f"not {op}")
        if isinstance(node, exp.In):
            return self._membership(node, op, text)
        if isinstance(node, exp.Exists):
            return Term(op, (Side(queries=(node.this,)),), text=text)
        if not isinstance(node, exp.Binary):
            return Term(
                op if isinstance(node, exp.Func) else f"{op}!" if negated else "", (self.side(node),), text=text
            )
        left, right = self.side(node.this), self.side(node.expression)
        if op in _MIRRORED:
            op, left, right = _MIRRORED[op], right, left
        elif op in ("eq", "neq") and not left.columns and right.columns:
            left, right = right, left
        return Term(op, (left, right), text=text)

    def _membership(self, node: exp.In, op: str, text: str) -> Term:
        query = node.args.get("query")
        if query is not None:
            return Term(op, (self.side(node.this), Side(queries=(query,))), text=text)
        values = [self.side(one) for one in node.expressions]
        if len(values) == 1:
            return Term({"in": "eq", "not in": "neq"}.get(op, op), (self.side(node.this), values[0]), text=text)
        merged = Side(
            calls=tuple(sorted(call for one in values for call in one.calls)),
            literals=tuple(sorted(literal for one in values for literal in one.literals)),
            columns=frozenset(column for one in values for column in one.columns),
            unknown=tuple(name for one in values for name in one.unknown),
            queries=tuple(query for one in values for query in one.queries),
        )
        return Term(op, (self.side(node.this), merged), text=text)

    def _always(self, term: Term) -> bool:
        """Whether it says nothing, such as ``1 = 1`` or TRUE."""
        if any(side.columns or side.calls or side.queries or side.unknown for side in term.sides) or term.parts:
            return False
        literals = [side.literals for side in term.sides]
        return literals == [("true",)] or (term.op == "eq" and len(literals) == 2 and literals[0] == literals[1])

    def side(self, node: exp.Expr) -> Side:
        """What an expression is made of, subqueries as wholes."""
        from sqlglot import exp

        calls, literals, columns, unknown, queries = [], [], set(), [], []
        for one in _outside_queries(node):
            if isinstance(one, exp.Query | exp.Subquery):
                queries.append(one)
            elif isinstance(one, exp.Column):
                missing = not one.table and one.name.lower() not in self._names and isinstance(one.this, exp.Identifier)
                if missing and one.this.quoted and self._dialect in ("sqlite", "mysql"):
                    literals.append(one.name)  # SQLite reads an unknown "name" as text, MySQL any
                elif missing:
                    unknown.append(one.name)
                else:
                    columns.add(one.sql(dialect=self._dialect).lower())
            elif isinstance(one, exp.Literal):
                if not _is_format(one):
                    literals.append(_plain(one))
            elif isinstance(one, exp.Null | exp.Boolean):
                literals.append(one.sql().lower())
            elif (name := _call(one)) is not None:
                calls.append(name)
        return Side(tuple(sorted(calls)), tuple(literals), frozenset(columns), tuple(unknown), tuple(queries))


def _operands(node: exp.Expr, kind: type) -> Iterator[exp.Expr]:
    from sqlglot import exp

    for one in (node.args["this"], node.args["expression"]):
        inner: exp.Expr = one.unnest() if isinstance(one, exp.Paren) else one
        if type(inner) is kind:
            yield from _operands(inner, kind)
        else:
            yield inner


def _outside_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression; of a subquery and of a column only the first node."""
    from sqlglot import exp

    yield node
    if not isinstance(node, exp.Query | exp.Subquery | exp.Column):
        for child in node.iter_expressions():
            yield from _outside_queries(child)


def _call(node: exp.Expr) -> str | None:
    """The name of a function or an operator; None for what does not change a value."""
    from sqlglot import exp

    name = node.name.lower() if isinstance(node, exp.Anonymous) else str(node.key)
    if name in _UNNAMED:
        return None
    if name in _CASE:
        return "case of letters"
    return "date" if name in _DATES else name


def _is_format(literal: exp.Literal) -> bool:
    """Whether it is the form of a date function, such as ``'%Y'``."""
    return literal.is_string and literal.parent is not None and _call(literal.parent) == "date"


def _plain(literal: exp.Literal) -> str:
    """A number in one spelling, also one that stands in quotes; another text as it is."""
    text = str(literal.this)
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else str(number)
