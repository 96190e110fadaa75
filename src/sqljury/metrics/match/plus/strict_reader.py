"""Reads SQL for strict mode, which goes beyond the limits the paper names in its section 7.

Parentheses around conditions and the precedence of AND count; columns of queries in FROM are followed to where they
come from; aliases of columns and expressions stand for what they name, as do the positions 1, 2, ... in ORDER BY and
GROUP BY; expressions have any depth. Beside that: comma joins, USING, CASE, EXISTS and all functions. Not read: WITH,
windows, NATURAL JOIN and joins in parentheses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sqljury.errors import InputError
from sqljury.metrics.match.plus.scope import Relation, Scope, table_relation
from sqljury.metrics.match.plus.strict_expressions import Expressions
from sqljury.metrics.match.plus.structure import (
    INNER,
    STAR,
    Aggregate,
    Column,
    Condition,
    Conditions,
    Derived,
    Expression,
    Key,
    Query,
    Source,
    grouped,
    joined,
    parts,
    simplified,
    table_of,
)
from sqljury.metrics.spider.names import Names

if TYPE_CHECKING:
    from sqlglot import exp

MAX_CHARACTERS: Final = 20_000
"""Longer queries are not read."""

MAX_BARE_JOINS: Final = 10
"""Joins without ON in a query; sqlglot takes twice as long for each more."""

_ASIDE: Final = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_READ: Final = frozenset(
    {"expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
)


def read_strictly(sql: str, names: Names) -> Query:
    """The structure of one query; raises ``InputError`` where it cannot be read, valid SQL or not."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    if len(sql) > MAX_CHARACTERS:
        raise InputError(f"the query has {len(sql)} characters; at most {MAX_CHARACTERS} are read")
    if _bare_joins(sql) > MAX_BARE_JOINS:
        fail("too many joins without ON")
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect="sqlite") if tree is not None]
        if len(trees) != 1:
            fail(f"{len(trees)} statements")
        return _Reader(names).query(trees[0], None).query
    except SqlglotError as error:
        fail(str(error).partition("\n")[0])
    except RecursionError:
        fail("it is nested too deeply")


def _bare_joins(sql: str) -> int:
    """How many joins are followed by another one before an ON; an ON stands for one join at most."""
    between = re.split(r"\b(?:on|using)\b", _ASIDE.sub(" ", sql).lower())
    return sum(max(len(re.findall(r"\bjoin\b", part)) - 1, 0) for part in between)


def fail(reason: str) -> NoReturn:
    """Raises ``InputError``."""
    raise InputError(f"not read in strict mode: {reason}")


@dataclass(frozen=True, slots=True)
class _Found:
    """A query and what each name stands for that it gives to the one around."""

    query: Query
    columns: dict[str, Expression]


class _Reader:
    """Turns sqlglot's trees into the structure."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def query(self, node: exp.Expr, outer: Scope | None) -> _Found:
        """A SELECT or several joined by a set operator."""
        from sqlglot import exp

        while isinstance(node, exp.Subquery | exp.Paren) and not node.args.get("alias"):
            node = node.this
        if isinstance(node, exp.SetOperation):
            return self._chain(node, outer)
        if not isinstance(node, exp.Select):
            fail(f"{node.key.upper()} where a query is needed")
        if other := [name for name, value in node.args.items() if value and name not in _READ]:
            fail(f"{other[0].strip('_').upper()} in a query")
        return self._select(node, outer)

    # Set operators

    def _chain(self, node: exp.SetOperation, outer: Scope | None) -> _Found:
        """Parts joined by one kind of operator, of which it does not matter that they are kept from right to left."""
        if node.args.get("with_"):
            fail("WITH")
        parts, operators = self._parts(node)
        found = [self._part(part, outer) for part in parts]
        last = found[-1].query
        order_by = self._compound_order(node, found[0], last)
        limit, offset = _limits(node)
        if order_by or limit is not None:
            last = replace(last, order_by=order_by, limit=limit, offset=offset)
        for operator, before in zip(reversed(operators), reversed(found[:-1]), strict=True):
            last = replace(before.query, set_operator=operator, other=last)
        return _Found(last, found[0].columns)

    def _part(self, node: exp.Expr, outer: Scope | None) -> _Found:
        """A part that is a chain itself becomes a query in FROM."""
        found = self.query(node, outer)
        if not found.query.set_operator:
            return found
        return _Found(Query(select=(Column(STAR),), tables=(found.query,)), found.columns)

    def _parts(self, node: exp.Expr) -> tuple[list[exp.Expr], list[str]]:
        from sqlglot import exp

        inner = node
        while isinstance(inner, exp.Subquery) and not inner.args.get("alias"):
            inner = inner.this
        if not isinstance(inner, exp.SetOperation) or (inner is not node and (_limits(inner) != (None, None))):
            return [node], []
        operator = inner.key if inner.args.get("distinct") else f"{inner.key} all"
        left, before = self._parts(inner.this)
        right, after = self._parts(inner.expression)
        if operator == "except" or set(after) - {operator}:
            right, after = [inner.expression], []
        if operator == "except" or set(before) - {operator}:
            left, before = [inner.this], []
        return left + right, [*before, operator, *after]

    def _compound_order(self, node: exp.SetOperation, first: _Found, last: Query) -> tuple[Key, ...]:
        keys = []
        names = list(first.columns)
        for ordered in _listed(node, "order"):
            name = ordered.this.name.lower()
            place = _whole(name) or (names.index(name) + 1 if name in names else 0)
            if not 0 < place <= len(last.select) or len(names) != len(last.select):
                fail(f"ORDER BY {name[:40]} after a set operator")
            keys.append(Key(last.select[place - 1], _direction(ordered)))
        return tuple(keys)

    # One SELECT

    def _select(self, node: exp.Select, outer: Scope | None) -> _Found:
        scope = Scope(outer)
        inner = self._inlined(node, scope)
        tables, joins, on = (inner.tables, inner.joins, inner.on) if inner else self._from(node, scope)
        terms = Expressions(scope, lambda nested: self.query(nested, scope).query)
        select, columns = self._selected(node, scope, terms, follow=inner is not None)
        scope.selected = columns
        where = terms.conditions(node.args["where"].this) if node.args.get("where") else ()
        having = terms.conditions(node.args["having"].this) if node.args.get("having") else ()
        limit, offset = _limits(node)
        query = Query(
            select=select,
            tables=tables,
            distinct=bool(node.args.get("distinct")),
            joins=joins,
            on=on,
            where=simplified(joined("and", inner.where if inner else (), where)),
            group_by=tuple(self._key(item, select, scope, terms) for item in _listed(node, "group")),
            having=having,
            order_by=tuple(
                Key(self._key(item.this, select, scope, terms), _direction(item)) for item in _listed(node, "order")
            ),
            limit=limit,
            offset=offset,
        )
        return _Found(_with_joins_in_on(grouped(query)), columns)

    def _inlined(self, node: exp.Select, scope: Scope) -> Query | None:
        """The query in FROM where that is all of FROM and does no more than choose columns and rows."""
        from sqlglot import exp

        source = node.args["from_"].this if node.args.get("from_") else None
        if not isinstance(source, exp.Subquery) or node.args.get("joins"):
            return None
        found = self.query(source.this, None)
        query = found.query
        if not query.plain or query.distinct or _aggregates(query):
            return None
        scope.relations.append(Relation(source.alias.lower(), found.columns))
        return query

    def _from(self, node: exp.Select, scope: Scope) -> tuple[tuple[Source, ...], tuple[str, ...], Conditions]:
        tables: list[Source] = []
        joins: list[str] = []
        on: list[Conditions] = []
        if node.args.get("from_"):
            tables.append(self._source(node.args["from_"].this, scope, tables))
        for join in node.args.get("joins") or ():
            joins.append(_kind(join))
            tables.append(self._source(join.this, scope, tables))
            terms = Expressions(scope, lambda nested: self.query(nested, scope).query)
            if join.args.get("on") and join.args["on"].key != "boolean":  # TRUE stands for a missing ON
                on.append(terms.conditions(join.args["on"]))
            on += [self._shared(column.name.lower(), scope) for column in join.args.get("using") or ()]
        return tuple(tables), tuple(joins), simplified(joined("and", *on))

    def _source(self, node: exp.Expr, scope: Scope, before: list[Source]) -> Source:
        from sqlglot import exp

        alias = node.alias_or_name.lower()
        if isinstance(node, exp.Subquery):
            found = self.query(node.this, None)
            scope.relations.append(Relation(alias, {name: Derived(it) for name, it in found.columns.items()}))
            return found.query
        table = node.name.lower()
        if not isinstance(node, exp.Table) or node.args.get("joins") or table not in self._names.tables:
            fail(f"{table[:40]!r} in FROM is no table")
        again = sum(isinstance(item, str) and table_of(item.partition(":")[0]) == table for item in before)
        place = f"{table}:{again + 1}" if again else table
        scope.relations.append(table_relation(table, place, alias, self._names))
        return place

    def _shared(self, name: str, scope: Scope) -> Conditions:
        """What USING means: the column of the last table equals that of one before."""
        before = Scope(None, scope.relations[:-1]).column(name, "")
        last = scope.relations[-1].columns.get(name)
        if before is None or last is None:
            fail(f"USING {name[:40]}: no such column on both sides")
        return (Condition(False, "=", before, last, None),)

    def _selected(
        self, node: exp.Select, scope: Scope, terms: Expressions, *, follow: bool
    ) -> tuple[tuple[Expression, ...], dict[str, Expression]]:
        """What is selected, and the same by name; a star stays one unless it is to be followed to its columns."""
        units: list[Expression] = []
        columns: dict[str, Expression] = {}
        for item in node.expressions:
            if item.is_star and not item.find(*_functions()):
                qualifier = item.args["table"].name.lower() if item.args.get("table") else ""
                behind = scope.all_columns(qualifier)
                stays = not follow and (not qualifier or len(scope.relations) == 1)
                units += [Column(STAR)] if stays else behind.values()
                columns |= behind
            else:
                units.append(terms.expression(item.unalias()))
                columns[item.alias_or_name.lower() or f"column{len(columns)}"] = units[-1]
        return tuple(units), columns

    def _key(self, node: exp.Expr, select: tuple[Expression, ...], scope: Scope, terms: Expressions) -> Expression:
        """What orders or groups: a position or a name in SELECT, or any expression."""
        name = node.name.lower()
        place = _whole(name) if node.key == "literal" else None
        if place and place <= len(select):
            return select[place - 1]
        if node.key == "column" and not node.args.get("table") and name in scope.selected:
            return scope.selected[name]
        return terms.expression(node)


def _functions() -> tuple[type[Any], ...]:
    from sqlglot import exp

    return exp.Func, exp.Binary


def _listed(node: exp.Expr, clause: str) -> list[exp.Expr]:
    part = node.args.get(clause)
    return list(part.expressions) if part is not None else []


def _direction(ordered: exp.Expr) -> str:
    """The direction, with where NULLs go if that is not SQLite's default."""
    descending, first = bool(ordered.args.get("desc")), ordered.args.get("nulls_first")
    word = "desc" if descending else "asc"
    return word if first is None or bool(first) is not descending else f"{word} nulls {'first' if first else 'last'}"


def _limits(node: exp.Expr) -> tuple[int | None, int | None]:
    numbers: list[int | None] = []
    for clause in ("limit", "offset"):
        part = node.args.get(clause)
        text = part.expression.name if part is not None and part.expression is not None else ""
        numbers.append(_whole(text))
        if part is not None and numbers[-1] is None:
            fail(f"{clause.upper()} is no whole number")
    return numbers[0], numbers[1] or None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _aggregates(query: Query) -> bool:
    return any(isinstance(part, Aggregate) for expression in query.select for part in parts(expression))


def _kind(join: exp.Expr) -> str:
    side, kind = (str(join.args.get(name) or "").lower() for name in ("side", "kind"))
    if join.args.get("method") or kind not in ("", "inner", "outer", "cross"):
        fail(f"{join.args.get('method') or kind} join".upper())
    return f"{side} join" if side else INNER


def _with_joins_in_on(query: Query) -> Query:
    """Where all joins are inner, what compares columns of two tables in ON and all else in WHERE: it means the same."""
    if len(query.tables) < 2 or set(query.joins) != {INNER} or "or" in (*query.on, *query.where):
        return query
    units = (*query.on[::2], *query.where[::2])
    links = [unit for unit in units if isinstance(unit, Condition) and _is_link(unit)]
    others = [unit for unit in units if unit not in links]
    return replace(
        query,
        on=joined("and", *((unit,) for unit in links)),
        where=joined("and", *((unit,) for unit in others)),
    )


def _is_link(unit: Condition) -> bool:
    sides = [unit.left, unit.value1]
    names = [side.name for side in sides if isinstance(side, Column)]
    return unit.operator == "=" and len(names) == 2 and table_of(names[0]) != table_of(names[1])
