"""Reads SQL for strict mode, which goes beyond the limits the paper names in its section 7.

Parentheses around conditions and the precedence of AND count; columns of queries in FROM are followed to where they
come from; aliases of columns and expressions stand for what they name, as do the positions 1, 2, ... in ORDER BY and
GROUP BY; expressions have any depth. Beside that: comma joins, USING, CASE, EXISTS and all functions. Not read: WITH,
windows, NATURAL JOIN and joins in parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from sqljury.errors import InputError
from sqljury.metrics.esm_plus.strict.expressions import Expressions
from sqljury.metrics.esm_plus.strict.guard import (
    UNNAMED,
    Relation,
    Scope,
    check_joins,
    check_names,
    check_text,
    check_tree,
    fail,
    table_relation,
)
from sqljury.metrics.esm_plus.structure import (
    INNER,
    STAR,
    Aggregate,
    Column,
    Condition,
    Conditions,
    Derived,
    Expression,
    Key,
    Literal,
    Query,
    Source,
    grouped,
    joined,
    parts,
    simplified,
    table_of,
)
from sqljury.metrics.spider.structure import Names
from sqljury.sql import parse as parsing
from sqljury.sql.parse import errors, exp, quiet

MAX_CHARACTERS: Final = 20_000
"""Longer queries are not read."""

_READ: Final = frozenset(
    {"expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
)


@quiet()
def read_strictly(sql: str, names: Names) -> Query:
    """The structure of one query; raises ``InputError`` where it cannot be read, valid SQL or not."""
    if len(sql) > MAX_CHARACTERS:
        raise InputError(f"the query has {len(sql)} characters; at most {MAX_CHARACTERS} are read")
    check_text(sql)
    try:
        trees = [tree for tree in parsing.parse(sql, "sqlite") if tree is not None]
        if len(trees) != 1:
            fail(f"{len(trees)} statements")
        check_tree(trees[0])
        return _Reader(names).query(trees[0], None).query
    except errors.SqlglotError as error:
        fail(str(error).partition("\n")[0])
    except RecursionError:
        fail("it is nested too deeply")


@dataclass(frozen=True, slots=True)
class _Found:
    """A query, and by their names the columns that it gives to the one around."""

    query: Query
    columns: tuple[tuple[str, Expression], ...]


class _Reader:
    """Turns sqlglot's trees into the structure."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def query(self, node: exp.Expr, outer: Scope | None) -> _Found:
        """A SELECT or several joined by a set operator."""
        while isinstance(node, exp.Subquery | exp.Paren) and not node.args.get("alias"):
            node = node.this
        if isinstance(node, exp.SetOperation):
            return self._chain(node, outer)
        if not isinstance(node, exp.Select):
            fail(f"{node.key.upper()} where a query is needed")
        if unread := [name for name, value in node.args.items() if value and name not in _READ]:
            fail(f"{unread[0].strip('_').upper()} in a query")
        return self._select(node, outer)

    # Set operators

    def _chain(self, node: exp.SetOperation, outer: Scope | None) -> _Found:
        """Parts joined by one kind of operator, of which it does not matter that they are kept from right to left."""
        if node.args.get("with_"):
            fail("WITH")
        parts, operators = self._parts(node)
        queries = [self._part(part, outer) for part in parts]
        whole = queries[-1].query
        for operator, before in zip(reversed(operators), reversed(queries[:-1]), strict=True):
            whole = replace(before.query, set_operator=operator, other=whole)
        limit, offset = _limits(node)
        # What orders and cuts the whole is kept with its first part.
        whole = replace(whole, order_by=_compound_order(node, queries[0]), limit=limit, offset=offset)
        return _Found(whole, queries[0].columns)

    def _part(self, node: exp.Expr, outer: Scope | None) -> _Found:
        """A part that is a chain itself, or is ordered or cut, becomes a query in FROM."""
        part = self.query(node, outer)
        if not (part.query.set_operator or part.query.order_by or part.query.limit is not None):
            return part
        return _Found(Query(select=(Column(STAR),), tables=(part.query,)), part.columns)

    def _parts(self, node: exp.Expr) -> tuple[list[exp.Expr], list[str]]:
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

    # One SELECT

    def _select(self, node: exp.Select, outer: Scope | None) -> _Found:
        scope = Scope(outer, aliases=frozenset(item.alias.lower() for item in node.expressions))
        inner = self._inlined(node, scope)
        tables, joins, on = (inner.tables, inner.joins, inner.on) if inner else self._from(node, scope)
        terms = Expressions(scope, lambda nested: self.query(nested, scope).query)
        select, columns = self._selected(node, scope, terms, follow=inner is not None)
        scope.selected = _aliases(node, select)
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
            group_by=tuple(_by_position(item, columns) or terms.expression(item) for item in _listed(node, "group")),
            having=having,
            order_by=tuple(
                Key(_sorted_by(item, columns, scope, terms), _direction(item)) for item in _listed(node, "order")
            ),
            limit=limit,
            offset=offset,
        )
        check_names(query, scope)
        return _Found(_with_joins_in_on(grouped(query)), columns)

    def _inlined(self, node: exp.Select, scope: Scope) -> Query | None:
        """The query in FROM where that is all of FROM and does no more than choose columns and rows."""
        source = node.args["from_"].this if node.args.get("from_") else None
        if not isinstance(source, exp.Subquery) or node.args.get("joins"):
            return None
        inner = self.query(source.this, None)
        query = inner.query
        if not query.plain or query.distinct or _aggregates(query):
            return None
        scope.relations.append(Relation(source.alias.lower(), inner.columns))
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
            given: Conditions = ()
            if join.args.get("on") and join.args["on"].key != "boolean":  # TRUE stands for a missing ON
                given = terms.conditions(join.args["on"])
            if using := join.args.get("using"):
                if joins[-1] not in (INNER, "left join") or any(item.is_star for item in node.expressions):
                    fail("USING beside a star, or in a RIGHT or FULL JOIN")
                given = joined("and", *(self._shared(column.name.lower(), scope) for column in using))
            on.append(given)
        check_joins(tables, joins, on)
        return tuple(tables), tuple(joins), simplified(joined("and", *on))

    def _source(self, node: exp.Expr, scope: Scope, before: list[Source]) -> Source:
        alias = node.alias_or_name.lower()
        if isinstance(node, exp.Subquery):
            nested = self.query(node.this, None)
            number = 1 + sum(isinstance(item, Query) for item in before)
            scope.relations.append(Relation(alias, tuple((name, Derived(it, number)) for name, it in nested.columns)))
            return nested.query
        table = node.name.lower()
        if not isinstance(node, exp.Table) or node.args.get("joins") or table not in self._names.tables:
            fail(f"{table[:40]!r} in FROM is no table")
        again = sum(isinstance(item, str) and table_of(item.partition(":")[0]) == table for item in before)
        occurrence = f"{table}:{again + 1}" if again else table
        scope.relations.append(table_relation(table, occurrence, alias, self._names))
        return occurrence

    def _shared(self, name: str, scope: Scope) -> Conditions:
        """What USING means: the column of the last table equals that of one before."""
        before = Scope(None, scope.relations[:-1]).column(name, "")
        last = scope.relations[-1].column(name)
        if before is None or last is None:
            fail(f"USING {name[:40]}: no such column on both sides")
        return (Condition(False, "=", before, last, None),)

    def _selected(
        self, node: exp.Select, scope: Scope, terms: Expressions, *, follow: bool
    ) -> tuple[tuple[Expression, ...], tuple[tuple[str, Expression], ...]]:
        """What is selected, and all columns by name; a star stays one unless it is to be followed to its columns."""
        units: list[Expression] = []
        columns: list[tuple[str, Expression]] = []
        for item in node.expressions:
            if item.is_star and not item.find(*_functions()):
                qualifier = item.args["table"].name.lower() if item.args.get("table") else ""
                behind = scope.all_columns(qualifier)
                stays = not follow and (not qualifier or len(scope.relations) == 1)
                units += [Column(STAR)] if stays else [expression for _, expression in behind]
                columns += behind
            else:
                units.append(terms.expression(item.unalias()))
                columns.append((item.alias_or_name.lower() or f"{UNNAMED}{len(columns)}", units[-1]))
        return tuple(units), tuple(columns)


def _aliases(node: exp.Select, select: tuple[Expression, ...]) -> dict[str, Expression]:
    """What SELECT gives a name to, which other clauses may use; of two with one name the first."""
    if len(select) != len(node.expressions):
        if any(item.alias for item in node.expressions):
            fail("aliases beside a star")
        return {}
    named = [(item.alias.lower(), unit) for item, unit in zip(node.expressions, select, strict=True) if item.alias]
    return dict(reversed(named))


def _by_position(node: exp.Expr, columns: tuple[tuple[str, Expression], ...]) -> Expression | None:
    """The column that a whole number in ORDER BY or GROUP BY stands for."""
    node = node.unnest()
    position = _whole(node.name) if node.key == "literal" and not node.is_string else None
    return columns[position - 1][1] if position and position <= len(columns) else None


def _sorted_by(
    ordered: exp.Expr, columns: tuple[tuple[str, Expression], ...], scope: Scope, terms: Expressions
) -> Expression:
    """What a key of ORDER BY stands for: a position, else an alias, which here hides a column; else any expression."""
    node = ordered.this.unnest()
    if node.key == "column" and not node.args.get("table") and node.name.lower() in scope.selected:
        return scope.selected[node.name.lower()]
    return _by_position(node, columns) or terms.expression(node)


def _compound_order(node: exp.SetOperation, first: _Found) -> tuple[Key, ...]:
    """Keys after a set operator as the numbers of columns; a name is one of the first part's."""
    keys = []
    names = [name for name, _ in first.columns]
    for ordered in _listed(node, "order"):
        by, position = ordered.this.unnest(), None
        if by.key == "literal" and not by.is_string:
            position = _whole(by.name)
        elif by.key == "column" and not by.args.get("table") and names.count(by.name.lower()) == 1:
            position = names.index(by.name.lower()) + 1
        if not position or position > len(names):
            fail(f"ORDER BY {by.name[:40]} after a set operator")
        keys.append(Key(Literal(position), _direction(ordered)))
    return tuple(keys)


def _functions() -> tuple[type[Any], ...]:
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
