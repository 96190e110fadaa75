"""Groups by the rows of a table where the question names a column of it: "takings by category"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, held, single_select
from sqljury.sql.meaning.best import is_aggregate, is_plain
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.sql.terms import group_keys, meant
from sqljury.types import Column, Table

_EACH: Final = frozenset(("by", "per", "each", "every"))
_SORTED: Final = frozenset(("sort", "sorted", "order", "ordered", "rank", "ranked", "then", "followed", "descending"))
"""Words before "by" with which it tells the order."""
_MORE: Final = (("and",), ("or",))


def said_group(tree: exp.Query, asked: Asked) -> Change | None:
    """Group by the column that the question names behind "by", "per" or "each", and show it.

    The query shows names or keys of the rows of the same table, which the question does not name, beside aggregates.
    """
    select = single_select(tree)
    if select is None or not is_plain(select):
        return None
    shown = [item.unalias() for item in select.selects if not is_aggregate(item)]
    keys = [meant(key, select) for key in group_keys(select)[0]]
    known = [held(node, asked.schema) for node in (*shown, *keys)]
    first = known[0] if shown else None
    if first is None or any(one is None or one.table is not first.table for one in known):
        return None
    question = words(asked.question.text)
    aliases = {node.table for node in (*shown, *keys) if isinstance(node, exp.Column)}
    if len(aliases) > 1 or any(_is_said(one, question) for one in known if one):
        return None
    named = list(_named(first.table, question))
    if len(named) != 1 or any(node.name.lower() == named[0].name.lower() for node in select.find_all(exp.Column)):
        return None
    group = shown[0].copy()
    group.set("this", identifier(named[0].name, asked.dialect))
    _regroup(select, shown, group)
    return Change(f"the question asks by {named[0].name}", without=("keys",))


def _is_said(known: Held, question: Sequence[str]) -> bool:
    """Whether the question names a column, by more than the name of its table."""
    telling = {*words(known.column.name)} - {*words(known.table.name)}
    return not telling.isdisjoint(question)


def _named(table: Table, question: Sequence[str]) -> Iterator[Column]:
    """The columns whose whole name stands behind "by" or "each", with the name of the table before it or without."""
    for column in table.columns:
        called = words(column.name)
        for name in (called, (*words(table.name), *called)):
            places = range(1, len(question) - len(name) + 1)
            if any(
                question[at : at + len(name)] == name
                and question[at - 1] in _EACH
                and question[max(at - 2, 0)] not in _SORTED
                and question[at + len(name) : at + len(name) + 1] not in _MORE
                for at in places
            ):
                yield column
                break


def _regroup(select: exp.Select, shown: Sequence[exp.Expr], group: exp.Expr) -> None:
    """Show this column first and group by it, without the outputs that were shown."""
    outputs = [item for item in select.selects if not any(item.unalias() is node for node in shown)]
    place = next(at for at, item in enumerate(select.selects) if item.unalias() is shown[0])
    outputs.insert(min(place, len(outputs)), group.copy())
    select.set("expressions", outputs)
    select.set("group", exp.Group(expressions=[group.copy()]))
    order = select.args.get("order")
    for key in order.expressions if order is not None else ():
        if isinstance(key.this, exp.Column) and any(key.this == node for node in shown):
            key.set("this", group.copy())
