"""Rows without a match, looked for where none can be: in an inner join, by NOT IN over a NULL, by = NULL."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.cues import lacked, left_without, never_done, wants_zeros
from sqljury.language.words import words
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, Held, are_unique, compared, held, is_met
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, owner, tables_of
from sqljury.sql.terms import outside_queries

_NOUNS: Final = {
    **dict.fromkeys(("sold", "sell", "sells"), "sale"),
    **dict.fromkeys(("bought", "purchased"), "purchase"),
    **dict.fromkeys(("lent", "borrowed"), "loan"),
    "paid": "payment",
}
"""By what was never done the word of the table that would tell of it, where they are unlike."""
_LACKING: Final = re.compile(r"\b(?:without|no|never|(?:not|\w+n['’]t)(?: \w+){0,2} any)((?: \w+){1,3})", re.IGNORECASE)
"""What is lacking, with the words that say so."""


def unmatched(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn an inner join into an outer one where the query asks for rows that have no match in the joined table.

    Such a query has a condition that an inner join never meets: ``WHERE orders.id IS NULL`` on a key, a column that the
    join equates or one that is declared NOT NULL, or ``HAVING COUNT(*) = 0``. A column that only has no NULL today may
    get one: then the question must say "no orders". Other conditions on the joined table move into ON.
    """
    for select in list(tree.find_all(exp.Select)):
        by_null = _absent_by_null(select, asked)
        absent = by_null or _absent_by_count(select, asked)
        if absent is not None and _is_inner(select):
            joined = _outer_joined(select, absent)
            if joined is not None:
                if by_null is None:  # else what is left has no match, and its own rows are counted
                    _count_matches(select, joined)
                _move_conditions(select, joined, asked, nulls=False)
                return Change(f"an inner join has no rows without a match in {absent}")
    return None


def kept_without(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn an inner join into an outer one where the question wants rows without a match: "0 for hotels without rooms".

    The query groups one table and aggregates the rows that refer to it. A sum of none is 0 if the question says so.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("having"):
        return None
    if not lacked(asked.question.text) and not never_done(asked.question.text):
        return None
    absent = _other_than_grouped(tree, asked) if _is_inner(tree) else None
    if absent is None or not _refers(tree, absent, asked) or not _is_lacked(tree, absent, asked):
        return None
    joined = _outer_joined(tree, absent)
    if joined is None:
        return None
    _count_matches(tree, joined)
    _move_conditions(tree, joined, asked, nulls=True)
    if wants_zeros(asked.question.text):
        for node in [node for part in tree.selects for node in outside_queries(part) if isinstance(node, exp.Sum)]:
            node.replace(exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)]))
    return Change(f"the question wants what has no match in {absent} too, and an inner join leaves it out")


def left_out(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn an outer join into an inner one where the question says "leave out those without one".

    What they lack is nothing that the question names, or called like the joined table or the key that leads to it.
    """
    joins: list[exp.Join] = tree.args.get("joins") or []
    outer = [join for join in joins if join.side == "LEFT"]
    if not isinstance(tree, exp.Select) or len(outer) != 1 or wants_zeros(asked.question.text):
        return None
    lacking = left_without(asked.question.text)
    sides = outer[0].find_all(exp.Column)
    names = {word for side in (outer[0].this, *sides) for word in (*words(side.name), *words(side.alias_or_name))}
    if not lacking or not all(not noun or mentions(noun, names) for noun in lacking):
        return None
    if any(_wants_null(node) for node in tree.find_all(exp.Is)) or tree.find(exp.Coalesce) is not None:
        return None
    outer[0].set("side", None)
    outer[0].set("kind", None)
    return Change("the question leaves out what has no match")


def _is_lacked(select: exp.Select, absent: str, asked: Asked) -> bool:
    """Whether the rows that are wanted too are those without a match, and not those without a value of a column.

    What they lack is called like the table, or the question says it twice or with 0: "including staff without a phone"
    speaks of a column, or of something that is not known.
    """
    question, tables = asked.question.text, tables_of(select, asked.schema)
    columns = {word for table in tables.values() for column in table.columns for word in words(column.name)}
    for noun in lacked(question):
        if not noun or mentions(noun, words(tables[absent].name)):
            return True
        again = [*words(question)].count(words(noun)[-1]) > 1 if words(noun) else False
        if (again or wants_zeros(question)) and not mentions(noun, columns):
            return True
    kept = {word for alias, table in tables.items() if alias != absent for word in words(table.name)}
    of_absent = {*words(tables[absent].name)}
    return any(
        mentions(thing, kept) and not mentions(thing, of_absent) and mentions(_NOUNS.get(done, done), of_absent)
        for thing, done in never_done(question)
    )


def _refers(select: exp.Select, absent: str, asked: Asked) -> bool:
    """Whether the join equates a key of the table that is not ``absent``, whose rows the other one refers to."""
    for side in (column for join in select.args["joins"] for column in join.args["on"].find_all(exp.Column)):
        owned = owner(side, asked.schema)
        if owned is not None and owned[0] != absent:
            is_key = [key.lower() for key in owned[1].row_key] == [side.name.lower()]
            return is_key or are_unique([side], owned[1], asked)
    return False


def _is_inner(select: exp.Select) -> bool:
    """Whether all joins of a SELECT are inner ones of tables on equal columns."""
    joins: list[exp.Join] = select.args.get("joins") or []
    start = select.args.get("from_")
    return (
        bool(joins)
        and start is not None
        and isinstance(start.this, exp.Table)
        and all(
            isinstance(join.this, exp.Table)
            and not join.side
            and not join.method
            and join.kind in ("", "INNER")
            and isinstance(join.args.get("on"), exp.EQ)
            for join in joins
        )
    )


def _absent_by_null(select: exp.Select, asked: Asked) -> str | None:
    """The alias of a table of which WHERE wants a column to be NULL that no row of the join has as NULL."""
    equated = {side.sql() for join in select.args.get("joins") or () for side in join.find_all(exp.Column)}
    for condition in conjuncts(select.args.get("where")):
        column = condition.this if _wants_null(condition) else None
        known = held(column, asked.schema)
        if column is None or known is None:
            continue
        never = column.sql() in equated or column.name in known.table.row_key or known.column.not_null
        if never or (_is_said_to_lack(known, asked) and _has_no_null(known, asked)):
            owned = owner(column, asked.schema)
            return owned[0] if owned is not None else None
    return None


def _is_said_to_lack(known: Held, asked: Asked) -> bool:
    """Whether the question says "no", "without", "never" or "not any" before a word of the table's name."""
    after = (match[1] for match in _LACKING.finditer(asked.question.text))
    return any(mentions(following, words(known.table.name)) for following in after)


def _has_no_null(known: Held, asked: Asked) -> bool:
    """Whether no row of the table has NULL in the column now."""
    name = exp.column(identifier(known.column.name, asked.dialect))
    null = exp.Is(this=name, expression=exp.Null())
    return is_met(null, known.table, asked) is False


def _absent_by_count(select: exp.Select, asked: Asked) -> str | None:
    """The alias of the one of two tables whose rows are counted, where HAVING wants groups without any."""
    having, group = select.args.get("having"), select.args.get("group")
    joins: list[exp.Join] = select.args.get("joins") or []
    if having is None or group is None or len(joins) != 1 or not _is_none(having.this):
        return None
    absent = _other_than_grouped(select, asked)
    counted = having.this.this.this
    if absent is None:
        return None
    if isinstance(counted, exp.Column):
        owned = owner(counted, asked.schema)
        return absent if owned is not None and owned[0] == absent else None
    return absent if isinstance(counted, exp.Star | exp.Literal) else None


def _other_than_grouped(select: exp.Select, asked: Asked) -> str | None:
    """Of two joined tables the alias of the one that GROUP BY does not name; None for any other query."""
    group = select.args.get("group")
    joins: list[exp.Join] = select.args.get("joins") or []
    if group is None or len(joins) != 1:
        return None
    aliases: set[str] = {table.alias_or_name.lower() for table in (select.args["from_"].this, joins[0].this)}
    owners = [owner(node, asked.schema) for node in group.expressions if isinstance(node, exp.Column)]
    grouped = {owned[0] for owned in owners if owned is not None}
    if len(aliases) != 2 or len(grouped) != 1 or len(owners) != len(group.expressions) or None in owners:
        return None
    [absent] = aliases - grouped
    return absent


def _is_none(condition: exp.Expr) -> bool:
    """Whether a condition is ``COUNT(...) = 0`` or ``COUNT(...) < 1``."""
    wanted = {"eq": "0", "lte": "0", "lt": "1"}.get(condition.key)
    return wanted is not None and isinstance(condition.this, exp.Count) and condition.expression.name == wanted


def _outer_joined(select: exp.Select, absent: str) -> exp.Join | None:
    """The join of that table, now an outer one; None where the order of the joins does not allow it.

    A table that stands first changes places with the only other one.
    """
    joins: list[exp.Join] = select.args["joins"]
    first = select.args["from_"].this
    if len(joins) == 1 and first.alias_or_name.lower() == absent:
        second = joins[0].this
        select.args["from_"].set("this", second.copy())
        joins[0].set("this", first.copy())
    if joins[-1].this.alias_or_name.lower() != absent:
        return None
    joins[-1].set("side", "LEFT")
    joins[-1].set("kind", None)
    return joins[-1]


def _count_matches(select: exp.Select, join: exp.Join) -> None:
    """Let COUNT(*) count the rows of the joined table: an outer join has a row for what has no match."""
    alias = join.alias_or_name.lower()
    [column] = [side for side in join.args["on"].find_all(exp.Column) if side.table.lower() == alias][:1] or [None]
    parts = [part for part in (*select.selects, select.args.get("having"), select.args.get("order")) if part]
    for node in [node for part in parts for node in outside_queries(part)] if column is not None else ():
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Star | exp.Literal):
            node.set("this", column.copy())


def _move_conditions(select: exp.Select, join: exp.Join, asked: Asked, *, nulls: bool) -> None:
    """Move conditions on the joined table alone from WHERE to ON; with ``nulls`` also that a column of it is NULL.

    Without, such a condition may stand for the rows that have no match.
    """
    alias, parts = join.alias_or_name.lower(), conjuncts(select.args.get("where"))
    moved = [part for part in parts if _is_on(part, alias, asked) and (nulls or not _wants_null(part))]
    if moved:
        join.set("on", exp.and_(join.args["on"].copy(), *(part.copy() for part in moved), wrap=False))
        kept = [part.copy() for part in parts if part not in moved]
        select.set("where", exp.Where(this=exp.and_(*kept, wrap=False)) if kept else None)


def _is_on(condition: exp.Expr, alias: str, asked: Asked) -> bool:
    owners = [owner(node, asked.schema) for node in condition.find_all(exp.Column)]
    return bool(owners) and all(owned is not None and owned[0] == alias for owned in owners)


def _wants_null(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null)


def not_in_null(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out the NULLs of NOT IN: by a condition in a subquery, by removing them from a list."""
    changed = False
    for node in list(tree.find_all(exp.Not)):
        within = node.this.unnest()
        if not isinstance(within, exp.In):
            continue
        query = within.args.get("query")
        select = query.this if isinstance(query, exp.Subquery) else query
        if isinstance(select, exp.Select):
            changed |= _without_nulls(select, asked)
        else:
            values = [value for value in within.expressions if not isinstance(value, exp.Null)]
            if values and len(values) < len(within.expressions):
                within.set("expressions", values)
                changed = True
    return Change("NOT IN over a list with NULL in it is never true") if changed else None


def compared_with_null(tree: exp.Query, _asked: Asked) -> Change | None:
    """Ask whether a column is NULL as SQL does: ``IS NULL`` for ``= NULL``, ``IS NOT NULL`` for ``<> NULL``."""
    changed = False
    for node, column, other in compared(tree, exp.EQ, exp.NEQ):
        if isinstance(other, exp.Null):
            changed = True
            is_null = exp.Is(this=column.copy(), expression=exp.Null())
            node.replace(exp.Not(this=is_null) if isinstance(node, exp.NEQ) else is_null)
    return Change("a comparison with NULL is never true") if changed else None


def _without_nulls(select: exp.Select, asked: Asked) -> bool:
    item = select.selects[0].unalias() if len(select.selects) == 1 else None
    if item is None or isinstance(item, exp.Star) or select.args.get("limit") is not None:
        return False
    if item.find(exp.AggFunc, exp.Window, exp.Literal) is not None or not item.find(exp.Column):
        return False
    group = select.args.get("group")
    if group is not None and item not in group.expressions:
        return False
    known = held(item, asked.schema)
    outer = any(join.side for join in select.args.get("joins") or ())
    if known is not None and not outer and (known.column.not_null or known.column.name in known.table.primary_key):
        return False
    kept = exp.Not(this=exp.Is(this=item.copy(), expression=exp.Null()))
    where = select.args.get("where")
    if where is not None and kept in where.find_all(exp.Not):
        return False
    select.where(kept, copy=False)
    return True
