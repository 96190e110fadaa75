"""Outer joins whose rows without a match are dropped again, or counted as if they had one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from sqljury.language.wants import Wants
from sqljury.language.words import words
from sqljury.sql import text
from sqljury.sql.conditions import conjuncts
from sqljury.sql.parse import exp
from sqljury.sql.provenance.matches import Loss
from sqljury.sql.provenance.phrases import Phrases, counted
from sqljury.sql.provenance.sources import aliases, filled, half, on_terms
from sqljury.sql.resolve import from_items, tables_of
from sqljury.sql.terms import group_keys, meant, outside_queries
from sqljury.types import Schema

_CHARS: Final = 200
_STRICT: Final = frozenset(("eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "between", "in"))
"""Comparisons that no row passes whose value is NULL."""
_OF_NULL: Final = frozenset(("coalesce", "case", "if", "is", "and", "or", "nullsafeeq", "anonymous"))
"""What may turn NULL into another value."""


class Undone(NamedTuple):
    """The condition or the join that drops rows that an outer join keeps without a match.

    ``term`` is None where it only drops rows that lack a match in what is joined to these.
    """

    reason: str
    term: exp.Expr | None


def undone(select: exp.Select, schema: Schema) -> dict[str, Undone]:
    """The outer joins of a SELECT, by alias, after which a condition or a join drops rows without a match.

    Of a FULL JOIN it may be those of one side alone.
    """
    undone_joins: dict[str, Undone] = {}
    placed: list[exp.Join] = []
    tables = tables_of(select, schema)
    for join in select.args.get("joins") or ():
        if str(join.side).upper() in ("", "RIGHT") and half(join) != "ANTI":
            for term in on_terms(join, tables):
                for alias in _rejected(term, placed, select, schema):
                    reason = f"the join of {text.printable(join.this.name or join.alias_or_name)}"
                    undone_joins.setdefault(alias, Undone(reason, term))
        placed.append(join)
    for term in conjuncts(select.args.get("where")):
        for alias in _rejected(term, placed, select, schema):
            reason = f"the condition {text.remark(Phrases(schema).condition(term), _CHARS)}"
            undone_joins.setdefault(alias, Undone(reason, term))
    for join in reversed(placed):  # a row that lacks a match here has none in what is joined to it either
        later = undone_joins.get(join.alias_or_name.lower())
        for term in on_terms(join, tables) if later is not None and join.side == "LEFT" else ():
            for alias in _rejected(term, placed, select, schema) - {join.alias_or_name.lower()}:
                undone_joins.setdefault(alias, Undone(later.reason, None))  # type: ignore[union-attr]
    return undone_joins


def _rejected(term: exp.Expr, joins: list[exp.Join], select: exp.Select, schema: Schema) -> set[str]:
    """The aliases of outer joins that fill columns with NULLs which must not be NULL for a condition to hold."""
    return {
        join.alias_or_name.lower()
        for join in joins
        if any(rejects(term, alias, select, schema) for alias in filled(join, select))
    }


def rejects(term: exp.Expr, alias: str, select: exp.Select, schema: Schema) -> bool:
    """Whether a condition does not hold if the columns of ``alias`` are NULL."""
    if isinstance(term, exp.Paren):
        return rejects(term.this, alias, select, schema)
    if isinstance(term, exp.Or | exp.And):
        parts = (rejects(part, alias, select, schema) for part in (term.this, term.expression))
        return all(parts) if isinstance(term, exp.Or) else any(parts)
    if isinstance(term, exp.Not):
        inner = term.this.unnest() if isinstance(term.this, exp.Paren) else term.this
        if isinstance(inner, exp.Is):
            return isinstance(inner.expression, exp.Null) and null_without(inner.this, alias, select, schema)
        return inner.key in _STRICT and rejects(inner, alias, select, schema)
    if isinstance(term, exp.In):
        return null_without(term.this, alias, select, schema)
    return term.key in _STRICT and any(null_without(side, alias, select, schema) for side in term.iter_expressions())


def null_without(node: exp.Expr, alias: str, select: exp.Select, schema: Schema) -> bool:
    """Whether an expression is NULL if the columns of ``alias`` are."""
    strict = not any(part.key in _OF_NULL or isinstance(part, exp.Query) for part in node.walk())
    return strict and alias in (aliases(node, select, schema) or ())


def outer_losses(select: exp.Select, schema: Schema, wanted: Wants) -> Iterator[Loss]:
    """Counts of rows without a match that a LEFT or RIGHT JOIN keeps and the query drops, or counts as rows with one.

    The first warn where each or all of something is asked for, the second where the number of what they lack is.
    """
    dropped, joins = undone(select, schema), list(select.args.get("joins") or ())
    for number, join in enumerate(joins, 1):
        one_sided = str(join.side).upper() in ("LEFT", "RIGHT")
        if not one_sided or (absent := _absent(join, select, schema)) is None:
            continue
        (lacked,) = aliases(absent, select, schema) or ("",)
        table, name = tables_of(select, schema).get(lacked), _table_name(lacked, select, schema)
        lost = dropped.get(join.alias_or_name.lower())
        filled_again = any(lacked in filled(later, select) for later in joins[number:])
        if lost is not None:
            query = _filled(select, join, lost, absent, schema)
            if query is not None:
                yield Loss(query, partial(_dropped_text, _of(select, join, schema), name, lost.reason), wanted.each)
        elif table is not None and _counts_rows(select) and not filled_again:
            query = _rows(select, joins, [*conjuncts(select.args.get("where"))], absent)
            text_of = partial(_counted_text, _of(select, join, schema), name)
            yield Loss(query, text_of, bool(wanted.counted & set(words(table.name))))


def _absent(join: exp.Join, select: exp.Select, schema: Schema) -> exp.Column | None:
    """A column that the join fills with NULLs, and that is NULL in rows without a match alone."""
    for term in on_terms(join, tables_of(select, schema)):
        sides = [term.this, term.args.get("expression")] if isinstance(term, exp.EQ) else []
        for side in sides:
            named = aliases(side, select, schema) if isinstance(side, exp.Column) else None
            if named is not None and len(named) == 1 and named <= filled(join, select):
                return side  # type: ignore[no-any-return]
    return None


def _filled(select: exp.Select, join: exp.Join, lost: Undone, absent: exp.Column, schema: Schema) -> exp.Select | None:
    """The count of rows that an outer join fills with NULLs, among those that the other conditions keep."""
    joins = list(select.args["joins"])
    joins = joins[: joins.index(join) + 1]
    items = from_items(select)[: len(joins) + 1]
    placed = {item.alias_or_name.lower() for item in items} - filled(join, select)
    terms = []
    for term in conjuncts(select.args.get("where")):
        named = aliases(term, select, schema)
        if named is None:
            return None
        if named <= placed:
            terms.append(term)
    return None if lost.term is None else _rows(select, joins, terms, absent)


def _rows(select: exp.Select, joins: list[exp.Join], terms: list[exp.Expr], absent: exp.Column) -> exp.Select:
    query = exp.Select().select(exp.Count(this=exp.Star()), copy=False)
    query.set("from_", select.args["from_"].copy())
    query.set("joins", [join.copy() for join in joins])
    empty = exp.Is(this=absent.copy(), expression=exp.Null())
    query.set("where", exp.Where(this=exp.and_(*(term.copy() for term in terms), empty)))
    return query


def _of(select: exp.Select, join: exp.Join, schema: Schema) -> str:
    """``" of teacher"`` where the join keeps the rows of one table, else empty."""
    if str(join.side).upper() == "RIGHT":
        return f" of {_table_name(join.alias_or_name, select, schema)}"
    is_first = select.args["joins"][0] is join
    return f" of {_table_name(from_items(select)[0].alias_or_name, select, schema)}" if is_first else ""


def _table_name(alias: str, select: exp.Select, schema: Schema) -> str:
    table = tables_of(select, schema).get(alias.lower())
    return text.printable(table.name if table is not None else alias)


def _counts_rows(select: exp.Select) -> bool:
    """Whether groups are shown with the number of their rows."""
    nodes = [node for item in select.selects for node in outside_queries(meant(item, select))]
    stars = [node for node in nodes if isinstance(node, exp.Count) and isinstance(node.this, exp.Star | exp.Literal)]
    return bool(group_keys(select)[0]) and bool(stars)


def _dropped_text(of: str, name: str, reason: str, number: int) -> str:
    has = "has" if number == 1 else "have"
    it = "it" if number == 1 else "them"
    return f"{counted(number, 'row')}{of} {has} no match in {name}: the join keeps {it}, but {reason} drops {it}"


def _counted_text(of: str, name: str, number: int) -> str:
    has, is_ = ("has", "is") if number == 1 else ("have", "are")
    return f"{counted(number, 'row')}{of} {has} no match in {name} and {is_} counted in the number of rows"
