"""A query taken apart for comparison: its conditions as terms, and the clauses of each SELECT.

A term is an operator and what stands on each of its sides. Spellings of the same condition give the same term:
``5 < x`` and ``x > 5``, BETWEEN and two comparisons, IN and OR of the same values, NOT before a comparison and the
opposite comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.sql.conditions import operands
from sqljury.sql.parse import exp

_OPPOSITE: Final = {"eq": "neq", "neq": "eq", "gt": "lte", "gte": "lt", "lt": "gte", "lte": "gt"}
_MIRRORED: Final = {"gt": "lt", "gte": "lte"}
_ORDERED: Final = frozenset(("sub", "div", "mod", "intdiv", "gt", "gte", "lt", "lte"))
_ANY_CASE: Final = frozenset(("sqlite", "mysql"))  # their LIKE is what ILIKE is elsewhere
_UNNAMED: Final = frozenset(
    (
        *("paren", "cast", "trycast", "alias", "identifier", "var", "datatype", "datatypeparam", "star", "dot"),
        *("tsordstodate", "tsordstotimestamp", "date", "timestamp"),
    )
)
_UNITS: Final = {
    "year": "year",
    "month": "month",
    "day": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "%Y": "year",
    "%m": "month",
    "%d": "day",
    "%H": "hour",
    "%M": "minute",
    "%S": "second",
    "dayofmonth": "day",
    "dom": "day",
    "YYYY": "year",
    "MM": "month",
    "DD": "day",
}
_FORMATTED: Final = frozenset(("strftime", "timetostr", "date_format", "to_char", "tochar", "dateformat"))
_EXTRACTED: Final = frozenset(("extract", "datepart", "date_part"))


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    ``calls`` are its functions and operators, sorted; parts of dates are named by their unit, whatever function takes
    them. ``unknown`` are names that no column has and no table qualifies, which may be texts without quotes.
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

    ``text`` is the condition as SQL, ``pair`` the two columns that it equates as a join does, else empty.
    """

    op: str
    sides: tuple[Side, ...] = ()
    parts: tuple[tuple[Term, ...], ...] = ()
    text: str = ""
    pair: tuple[exp.Column, ...] = ()


def terms(condition: exp.Expr, names: Collection[str], dialect: str) -> list[Term]:
    """The conditions that all must hold for ``condition`` to hold; ``names`` are the columns of the schema."""
    return _Reader(names, dialect).terms(condition, negated=False)


def side(node: exp.Expr, names: Collection[str], dialect: str) -> Side:
    """What an expression is made of."""
    return _Reader(names, dialect).side(node)


def aggregates(expressions: Iterable[exp.Expr], names: Collection[str], dialect: str) -> Counter[str]:
    """The aggregates of expressions outside subqueries, with DISTINCT, filters, functions and constants within them."""
    counts: Counter[str] = Counter()
    for node in (node for part in expressions for node in outside_queries(part)):
        if isinstance(node, exp.AggFunc):
            within = side(node.parent if isinstance(node.parent, exp.Filter) else node, names, dialect)
            counts[" ".join((str(node.key).upper(), *sorted(within.literals), *within.calls))] += 1
    return counts


class _Reader:
    def __init__(self, names: Collection[str], dialect: str) -> None:
        self._names, self._dialect = names, dialect

    def terms(self, node: exp.Expr, *, negated: bool) -> list[Term]:
        node = node.unnest() if isinstance(node, exp.Paren) else node
        if isinstance(node, exp.Not):
            return self.terms(node.this, negated=not negated)
        if isinstance(node, exp.Or if negated else exp.And):
            return [term for part in (node.this, node.expression) for term in self.terms(part, negated=negated)]
        if isinstance(node, exp.Between):
            low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
            return self.terms((exp.Or if negated else exp.And)(this=low, expression=high), negated=negated)
        if isinstance(node, exp.And | exp.Or):
            return [self._alternatives(operands(node, type(node)), node, negated=negated)]
        if isinstance(node, exp.In) and len(node.expressions) > 1:
            equal = [exp.EQ(this=node.this.copy(), expression=part.copy()) for part in node.expressions]
            if negated:
                return [term for part in equal for term in self.terms(part, negated=True)]
            return [self._alternatives(equal, node, negated=False)]
        term = self._comparison(node, negated=negated)
        return [] if self._always(term) else [term]

    def _alternatives(self, operands: Sequence[exp.Expr], node: exp.Expr, *, negated: bool) -> Term:
        parts = tuple(tuple(self.terms(part, negated=negated)) for part in operands)
        text = node.sql(dialect=self._dialect)
        return Term("or", parts=parts, text=f"NOT ({text})" if negated else text)

    def _comparison(self, node: exp.Expr, *, negated: bool) -> Term:
        op = str(node.key)
        if node.args.get("negate"):  # NOT LIKE and IS NOT, as sqlglot reads them
            node = node.copy()
            node.set("negate", None)
            negated = not negated
        if op == "ilike" and self._dialect in _ANY_CASE:
            op = "like"
        text = node.sql(dialect=self._dialect)
        if negated:
            text = f"NOT {text}"
            op = _OPPOSITE.get(op, f"not {op}")
        if isinstance(node, exp.In):
            return self._membership(node, op, text)
        if isinstance(node, exp.Exists):
            return Term(op, (Side(queries=(node.this,)),), text=text)
        if not isinstance(node, exp.Binary):
            return Term(op, (self.side(node),), text=text)
        left, right = self.side(node.this), self.side(node.expression)
        if op in _MIRRORED:
            op, left, right = _MIRRORED[op], right, left
        elif op in ("eq", "neq") and not left.columns and right.columns:
            left, right = right, left
        pair: tuple[exp.Column, ...] = ()
        if op == "eq" and left.bare and right.bare:
            pair = tuple(part for part in (node.this, node.expression) if isinstance(part, exp.Column))
        return Term(op, (left, right), text=text, pair=pair if len(pair) == 2 else ())

    def _membership(self, node: exp.In, op: str, text: str) -> Term:
        query = node.args.get("query")
        if query is not None:
            return Term(op, (self.side(node.this), Side(queries=(query,))), text=text)
        values = [self.side(part) for part in node.expressions]
        if len(values) == 1:
            return Term({"in": "eq", "not in": "neq"}.get(op, op), (self.side(node.this), values[0]), text=text)
        return Term(op, (self.side(node.this), Side(literals=(text,))), text=text)

    def _always(self, term: Term) -> bool:
        """Whether it says nothing, such as ``1 = 1`` or TRUE."""
        if any(side.columns or side.calls or side.queries or side.unknown for side in term.sides) or term.parts:
            return False
        literals = [side.literals for side in term.sides]
        return literals == [("1",)] or (term.op == "eq" and len(literals) == 2 and literals[0] == literals[1])

    def side(self, node: exp.Expr) -> Side:
        """What an expression is made of, subqueries as wholes."""
        calls, literals, columns, unknown, queries = [], [], set(), [], []
        for part in outside_queries(node):
            if isinstance(part, exp.Query | exp.Subquery):
                queries.append(part)
            elif isinstance(part, exp.Column):
                missing = (
                    not part.table and part.name.lower() not in self._names and isinstance(part.this, exp.Identifier)
                )
                if missing and part.this.quoted and self._dialect in ("sqlite", "mysql"):
                    literals.append(part.name)  # SQLite reads an unknown "name" as text, MySQL any
                elif missing:
                    unknown.append(part.name)
                else:
                    columns.add(part.sql(dialect=self._dialect).lower())
            elif isinstance(part, exp.Literal):
                if not _is_format(part):
                    literals.append(_plain(part))
            elif isinstance(part, exp.Null):
                literals.append("null")
            elif isinstance(part, exp.Boolean):
                literals.append("1" if part.this else "0")
            elif (name := _call(part)) is not None:
                calls.append(name)
                if isinstance(part, exp.Count) and isinstance(part.this, exp.Star):
                    columns.add("*")
        return Side(tuple(sorted(calls)), tuple(literals), frozenset(columns), tuple(unknown), tuple(queries))


def outside_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression; of a subquery and of a column only the first node."""
    yield node
    if not isinstance(node, exp.Query | exp.Subquery | exp.Column):
        for child in node.iter_expressions():
            yield from outside_queries(child)


def _call(node: exp.Expr) -> str | None:
    """The name of a function or an operator; None for what does not change a value."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else str(node.key)
    if name in _UNNAMED:
        return None
    if name in ("upper", "lower"):
        return "case of letters"
    if isinstance(node, exp.Ordered):
        return "ordered desc" if node.args.get("desc") else "ordered"
    if isinstance(node, exp.Collate):
        return f"collate {node.expression.name.lower()}"
    if isinstance(node, exp.Interval):
        return f"interval {node.text('unit').lower()}"
    if name in _ORDERED and not isinstance(node.this, exp.Column):
        return f"{name} from the right"
    return _part_of_date(node, name) or name


def _part_of_date(node: exp.Expr, name: str) -> str | None:
    """``date: year`` and so on for any function that takes a part of a date; None for others."""
    if name in _FORMATTED:
        forms = [part.name for part in node.iter_expressions() if isinstance(part, exp.Literal) and _is_format(part)]
        return f"date: {' '.join(_UNITS.get(form, form) for form in forms)}"
    if name in _EXTRACTED:
        return f"date: {_UNITS.get(node.name.lower(), node.name.lower())}"
    if name in _UNITS:
        return f"date: {_UNITS[name]}"
    unit = node.args.get("unit")
    return None if unit is None or not hasattr(unit, "name") else f"{name} {unit.name.lower()}"


def _is_format(literal: exp.Literal) -> bool:
    """Whether it is the form that a date is written in, such as ``'%Y'``."""
    parent = literal.parent
    if parent is None or not literal.is_string or not ("%" in literal.name or literal.name.upper() in _UNITS):
        return False
    name = str(parent.this).lower() if str(parent.key) == "anonymous" else str(parent.key)
    return name in _FORMATTED


def _plain(literal: exp.Literal) -> str:
    """A number in one spelling, also one that stands in quotes; another text as it is."""
    text = str(literal.this)
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else str(number)


def limited(query: exp.Expr) -> bool:
    """Whether it has LIMIT, OFFSET or ORDER BY of its own."""
    return any(query.args.get(clause) is not None for clause in ("limit", "offset", "order"))


def ctes(query: exp.Expr) -> list[exp.Expr]:
    """The queries of its WITH clause."""
    with_ = query.args.get("with_")
    return [] if with_ is None else [cte.this for cte in with_.expressions]


def cte_names(query: exp.Query) -> list[str]:
    """The names of all WITH queries, in their order."""
    return [cte.alias.lower() for cte in query.find_all(exp.CTE)]


def reads(query: exp.Query, name: str) -> int:
    """How often a table or WITH query of that name is read."""
    return sum(table.name.lower() == name for table in query.find_all(exp.Table))


def joined_sources(select: exp.Select) -> list[tuple[exp.Expr, str]]:
    """What stands in FROM, and the kind of join it has: empty for an inner one, else such as LEFT, FULL, SEMI."""
    clause = select.args.get("from_")
    sources = [] if clause is None else [(clause.this, "")]
    sources += [(join.this, str(join.side or _kind(join))) for join in select.args.get("joins") or ()]
    sources += [(lateral, "") for lateral in select.args.get("laterals") or ()]
    nested = [(join.this, str(join.side)) for node, _ in sources for join in node.args.get("joins") or ()]
    return sources + nested


def _kind(join: exp.Expr) -> str:
    kind = str(join.args.get("kind") or "").upper()
    return kind if kind in ("SEMI", "ANTI") else ""


def opaque(node: exp.Expr) -> bool:
    """Whether it is neither a plain table nor a subquery, such as LATERAL, a function, a sample, nested joins."""
    if isinstance(node, exp.Subquery):
        return False
    plain = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
    return not plain or any(node.args.get(part) for part in ("joins", "sample", "pivots", "laterals"))


def derived(sources: Sequence[tuple[exp.Expr, str]]) -> list[exp.Expr]:
    """The subqueries among sources."""
    return [node for node, _ in sources if isinstance(node, exp.Subquery)]


def subqueries(select: exp.Select) -> list[exp.Expr]:
    """The outermost subqueries of its outputs."""
    queries = [query for part in select.expressions for query in part.find_all(exp.Subquery)]
    inner = {id(query) for part in queries for query in part.this.find_all(exp.Subquery)}
    return [query for query in queries if id(query) not in inner]


def distinct_on(select: exp.Select) -> str:
    """DISTINCT with the columns that it is ON, empty where there is none."""
    clause = select.args.get("distinct")
    if not clause:
        return ""
    on = clause.args.get("on") if hasattr(clause, "args") else None
    return "DISTINCT" if on is None else f"DISTINCT ON {on.sql().lower()}"


def group_keys(select: exp.Select) -> tuple[list[exp.Expr], tuple[str, ...]]:
    """The keys of GROUP BY, and which of ROLLUP, CUBE and GROUPING SETS it has."""
    group = select.args.get("group")
    if group is None:
        return [], ()
    kinds = tuple(kind for kind in ("cube", "rollup", "grouping_sets", "totals") if group.args.get(kind))
    return list(group.expressions), kinds


def row_count(query: exp.Expr, clause: str) -> str:
    """The number of LIMIT or OFFSET as text, with what FETCH says beside it."""
    node = query.args.get(clause)
    if node is None:
        return ""
    count = node.args.get("expression") or node.args.get("count")
    number = str(count.sql()) if count is not None else "1" if isinstance(node, exp.Fetch) else ""
    options = node.args.get("limit_options")
    ties = " WITH TIES" if options is not None and options.args.get("with_ties") else ""
    percent = " PERCENT" if options is not None and options.args.get("percent") else ""
    return number + percent + ties


def ordinal(key: exp.Expr, query: exp.Expr) -> exp.Expr:
    """The output that ``ORDER BY 2`` means."""
    selects = getattr(query, "selects", ())
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(selects):
        chosen: exp.Expr = selects[int(key.name) - 1].unalias()
        return chosen
    return key


def meant(node: exp.Expr, query: exp.Expr) -> exp.Expr:
    """The output that a number or a name in ORDER BY or GROUP BY stands for; any other expression as it is."""
    output = ordinal(node, query)
    if output is not node:
        return output
    if isinstance(node, exp.Column) and not node.table:
        outputs = (part for part in getattr(query, "selects", ()) if isinstance(part, exp.Alias))
        return next((part.this for part in outputs if part.alias.lower() == node.name.lower()), node)
    return node


def resolved(node: exp.Expr, query: exp.Expr, names: Collection[str]) -> exp.Expr:
    """A copy with the aliases of outputs replaced by what they stand for, but for those that are among ``names``."""
    outputs = {part.alias.lower(): part.this for part in getattr(query, "selects", ()) if isinstance(part, exp.Alias)}
    outputs = {alias: output for alias, output in outputs.items() if alias not in names}

    def replaced(part: exp.Expr) -> exp.Expr:
        known = isinstance(part, exp.Column) and not part.table and part.name.lower() in outputs
        return outputs[part.name.lower()].copy() if known else part

    return node.copy().transform(replaced, copy=False) if outputs else node
