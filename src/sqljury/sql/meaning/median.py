"""Medians that a query takes for an average, or by a function that its engine lacks."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from sqljury.language import cues
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held, turn
from sqljury.sql.meaning.best import is_grouped, output_names
from sqljury.sql.parse import exp
from sqljury.sql.terms import group_keys, meant, outside_queries

_OWN_FUNCTION: Final = frozenset(("postgres", "duckdb"))
_VALUE, _PLACE, _SIZE = "value_in_group", "place_in_group", "size_of_group"


def median(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the median that the question asks for, where the query has AVG or a function that the engine lacks.

    The query has no other aggregate and no subquery but in FROM. ``0.5 * (SELECT AVG(price) FROM product)`` is taken
    for the median too. Not where a name of the database or a text of the query has the word.
    """
    if asked.question.evidence or not cues.wants_median(asked.question.text) or _is_known_word(tree, asked):
        return None
    select = _within(tree)
    if select is None or not _is_plain(select):
        return None
    aggregate = _aggregate(select)
    value = _value(aggregate)
    if aggregate is None or value is None or _may_be_of_texts(value, asked):
        return None
    if asked.dialect not in _OWN_FUNCTION:
        query = _by_ranks(select, aggregate, value, asked)
    elif isinstance(aggregate, exp.Avg) or (asked.dialect == "postgres" and isinstance(aggregate, exp.Median)):
        query = _by_function(select, aggregate, value, asked.dialect)
    else:
        return None
    return None if query is None else Change("the question asks for the median", query=query)


def _is_known_word(tree: exp.Query, asked: Asked) -> bool:
    """Whether the word is in a name of the database, or in a text that the query compares with."""
    names = [name for table in asked.schema.tables for name in (table.name, *(column.name for column in table.columns))]
    texts = [literal.name for literal in tree.find_all(exp.Literal) if literal.is_string]
    return any("median" in words(text) for text in (*names, *texts))


def _within(tree: exp.Query) -> exp.Select | None:
    """The query, or the subquery that is all that it calculates with; the name of the output is kept."""
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is not None:
        return tree if isinstance(tree, exp.Select) else None
    clauses = ("distinct", "where", "group", "having", "order", "limit", "offset", "with_", "qualify")
    if len(tree.selects) != 1 or any(map(tree.args.get, clauses)):
        return None
    [item] = tree.selects
    node = _bare(item.unalias())
    if isinstance(node, exp.Mul):
        sides = [_bare(node.this), _bare(node.expression)]
        node = next((side for side in sides if not _is_half(side)), node) if any(map(_is_half, sides)) else node
    select = node.this.copy() if isinstance(node, exp.Subquery) else None
    if not isinstance(select, exp.Select) or len(select.selects) != 1:
        return None
    if item.alias:
        select.set("expressions", [exp.alias_(select.selects[0].unalias(), item.args["alias"].copy())])
    return select


def _bare(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses; those of a subquery are its own."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _is_plain(select: exp.Select) -> bool:
    """Whether a query groups at most, and reads each table once: a table beside itself may be how it finds the middle.

    Subqueries stand in FROM alone, one level deep, and leave nothing out by their groups or by LIMIT.
    """
    clauses = ("distinct", "having", "with_", "qualify")
    if any(map(select.args.get, clauses)) or group_keys(select)[1] or select.find(exp.Window, exp.SetOperation):
        return False
    inner = [node for node in select.find_all(exp.Select) if node is not select]
    cut = any(node.args.get(clause) for node in inner for clause in ("limit", "offset", "having", "with_"))
    tables = [table.name.lower() for table in select.find_all(exp.Table)]
    return not cut and len(tables) == len({*tables}) and all(_is_derived(node, select) for node in inner)


def _is_derived(node: exp.Select, select: exp.Select) -> bool:
    """Whether a subquery is a table of FROM."""
    clause = node.parent.parent if isinstance(node.parent, exp.Subquery) else None
    return isinstance(clause, exp.From | exp.Join) and clause.parent is select


def _aggregate(select: exp.Select) -> exp.Expr | None:
    """The only aggregate of the outputs and of the order, if one output is made of it and no column beside it."""
    by_output = [[*_aggregates(item)] for item in select.selects]
    calls = [call for calls in by_output for call in calls]
    sorted_by = [call for key in _sorted_by(select) for call in _aggregates(key)]
    if len(calls) != 1 or any(call != calls[0] for call in sorted_by):
        return None
    [call] = calls
    item = next(item for item, aggregates in zip(select.selects, by_output, strict=True) if aggregates)
    within = {id(column) for column in call.find_all(exp.Column)}
    columns = [column for column in item.find_all(exp.Column) if id(column) not in within]
    return None if columns or isinstance(call.parent, exp.Filter) else call


def _aggregates(node: exp.Expr) -> list[exp.Expr]:
    """The aggregates of an expression, with the order of their rows where they have one."""
    calls = [part for part in outside_queries(node) if isinstance(part, exp.AggFunc)]
    return [call.parent if isinstance(call.parent, exp.WithinGroup) else call for call in calls]


def _sorted_by(select: exp.Select) -> list[exp.Expr]:
    order = select.args.get("order")
    return [] if order is None else [meant(key.this, select) for key in order.expressions]


def _value(aggregate: exp.Expr | None) -> exp.Expr | None:
    """What an average or a median is taken of; None for any other aggregate."""
    value = None
    if isinstance(aggregate, exp.Avg | exp.Median):
        value = aggregate.this
    elif isinstance(aggregate, exp.PercentileCont | exp.Quantile):
        part = aggregate.args.get("quantile") or aggregate.args.get("expression")
        value = aggregate.this if _is_half(part) else None
    elif isinstance(aggregate, exp.WithinGroup) and isinstance(aggregate.this, exp.PercentileCont):
        keys = aggregate.expression.expressions
        value = keys[0].this if _is_half(aggregate.this.this) and len(keys) == 1 else None
    return None if value is None or isinstance(value, exp.Distinct | exp.Star) else value


def _is_half(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and Decimal(node.name) == Decimal("0.5")


def _may_be_of_texts(value: exp.Expr, asked: Asked) -> bool:
    """Whether it is a column that may hold texts, which are not in the order of the numbers that they show."""
    known = held(value, asked.schema)
    if known is None or not known.is_text:
        return False
    values = asked.data.values(known.table, known.column.name)
    return not values or not all(isinstance(item, int | float | Decimal) for item in values)


def _swapped(node: exp.Expr, aggregate: exp.Expr, replacement: exp.Expr) -> exp.Expr:
    """A copy with another expression for an aggregate, and for half of it: half was meant as the middle."""

    def swap(part: exp.Expr) -> exp.Expr:
        half = isinstance(part, exp.Mul) and any(map(_is_half, (part.this, part.expression)))
        sides = (part.this, part.expression) if half else ()
        return replacement.copy() if part == aggregate or aggregate in sides else part

    return node.copy().transform(swap)


def _by_function(select: exp.Select, aggregate: exp.Expr, value: exp.Expr, dialect: str) -> exp.Select:
    """The query with the engine's own median."""
    call: exp.Expr = exp.Median(this=value.copy())
    if dialect == "postgres" and isinstance(aggregate.find_ancestor(exp.Round, exp.Select), exp.Round):
        call = exp.cast(call, "numeric")  # a median is a floating number, which is not rounded to digits
    query = select.copy()
    query.set("expressions", [_swapped(item, aggregate, call) for item in select.selects])
    order = select.args.get("order")
    if order is not None:
        query.set("order", _swapped(order, aggregate, call))
    return query


def _by_ranks(select: exp.Select, aggregate: exp.Expr, value: exp.Expr, asked: Asked) -> exp.Select | None:
    """The mean of the one or two middle rows of each group; None where the query shows or sorts by other columns.

    A group without values stays, with NULL.
    """
    names, keys = output_names(select), [meant(key, select) for key in group_keys(select)[0]]
    shown = [item.unalias() for item in select.selects]
    others = [node for node in (*shown, *_sorted_by(select)) if not _aggregates(node)]
    if not all(is_grouped(node, keys, asked.schema) for node in others):
        return None
    if {name.name.lower() for name in names} & {_VALUE, _PLACE, _SIZE}:
        return None
    named = {node: name for node, name in zip(shown, names, strict=True) if node in others}
    for number, node in enumerate((*keys, *others), 1):
        named.setdefault(node, exp.to_identifier(f"key_{number}"))
    inner = _ranked(select, value, keys, asked.dialect)
    inner.set("expressions", [exp.alias_(node.copy(), name.copy()) for node, name in named.items()] + inner.selects)
    columns = {node: exp.Column(this=name.copy()) for node, name in named.items()}
    mean = exp.Avg(this=exp.column(_VALUE))

    def outside(node: exp.Expr) -> exp.Expr:
        return columns[node].copy() if node in columns else _swapped(node, aggregate, mean)

    outputs = [exp.alias_(outside(item.unalias()), _output_name(item)) for item in select.selects]
    outputs = [output.this if isinstance(output.this, exp.Column) else output for output in outputs]
    query = exp.select(*outputs).from_(inner.subquery("ranked")).where(_in_the_middle())
    query = query.group_by(*columns.values()) if columns else query
    _sort_and_limit(query, select, [outside(key) for key in _sorted_by(select)])
    return query


def _ranked(select: exp.Select, value: exp.Expr, keys: Sequence[exp.Expr], dialect: str) -> exp.Select:
    """The rows of a query with the value, its place among those of its group, and how many these are."""
    key = exp.Ordered(this=value.copy())
    turn(key, dialect, descending=True)  # which has NULL last, and the middle is the same from either end
    position = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[key]))
    size = exp.Window(this=exp.Count(this=value.copy()))
    for window in (position, size):
        window.set("partition_by", [key.copy() for key in keys])
    rows = select.copy()
    parts = ((value.copy(), _VALUE), (position, _PLACE), (size, _SIZE))
    rows.set("expressions", [exp.alias_(part, name) for part, name in parts])
    for clause in ("group", "order", "limit", "offset"):
        rows.set(clause, None)
    return rows


def _in_the_middle() -> exp.Expr:
    """Whether a row is in the middle, without a division, which is one of whole numbers on some engines alone."""
    twice = exp.Mul(this=exp.Literal.number(2), expression=exp.column(_PLACE))
    most = exp.Add(this=exp.column(_SIZE), expression=exp.Literal.number(2))
    return exp.Between(this=twice, low=exp.column(_SIZE), high=most)


def _output_name(item: exp.Expr) -> exp.Identifier:
    name = item.args.get("alias")
    return name.copy() if isinstance(name, exp.Identifier) else exp.to_identifier("median_value")


def _sort_and_limit(query: exp.Select, select: exp.Select, keys: Sequence[exp.Expr]) -> None:
    """Give a query the order and the limit of another one, with these keys for its keys."""
    order = select.args.get("order")
    if order is not None:
        sorted_so = [ordered.copy() for ordered in order.expressions]
        for ordered, key in zip(sorted_so, keys, strict=True):
            ordered.set("this", key)
        query.order_by(*sorted_so, copy=False)
    for clause in ("limit", "offset"):
        given = select.args.get(clause)
        if given is not None:
            query.set(clause, given.copy())
