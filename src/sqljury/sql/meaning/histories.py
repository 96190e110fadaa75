"""Rows of a history, of which the question asks for those that hold now.

Assignments, salaries or prices are kept with the days from and to which they hold; the one that holds now has no end,
or one in the year 9999. Small models leave that out, and count a person once for each assignment that ever was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqljury.language.cues import wants_current
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, is_date, is_met
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, owner, read_sources
from sqljury.types import Column, Table

_STARTS: Final = {"to": ("from",), "until": ("from", "since"), "till": ("from",), "thru": ("from",)}
"""By the word that says in a name that a column is an end, the words for the start beside it."""
_NEVER: Final = "9999"


def current_rows(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the rows without an end where the question has "currently" and the query looks at no days of the history."""
    if not wants_current(asked.question.text):
        return None
    changed = []
    for sources in read_sources(tree, asked.schema):
        for alias, table in sources.tables.items():
            select = sources.scope.expression
            span = next(_spans(table), None)
            twice = sum(other is table for other in sources.tables.values()) > 1  # one may be of another time
            if twice or span is None or not isinstance(select, exp.Select) or _is_named(select, alias, span, asked):
                continue
            name = identifier(span[1].name, asked.dialect)
            holds = _holds(exp.column(name, table=sources.identifier(alias)), table, span[1], asked)
            if holds is not None:
                _add(select, alias, holds)
                changed.append(table.name)
    return Change(f"the question asks for what holds now, and {changed[0]} has former rows too") if changed else None


def _spans(table: Table) -> Iterator[tuple[Column, Column]]:
    """The columns of the first and the last day on which a row holds."""
    named = {words(column.name): column for column in table.columns}
    for ending, column in named.items():
        for place, word in enumerate(ending):
            for start in _STARTS.get(word, ()):
                first = named.get((*ending[:place], start, *ending[place + 1 :]))
                if first is not None and (is_date(column.type) or not column.type or "char" in column.type.lower()):
                    yield first, column


def _is_named(select: exp.Select, alias: str, span: tuple[Column, Column], asked: Asked) -> bool:
    """Whether the query has one of the two columns already, or a flag of the table that says which row is current."""
    for node in select.find_all(exp.Column):
        owned = owner(node, asked.schema)
        if owned is None or owned[0] != alias.lower():
            continue
        if node.name.lower() in {column.name.lower() for column in span} or "current" in words(node.name):
            return True
    return False


def _holds(node: exp.Column, table: Table, end: Column, asked: Asked) -> exp.Expr | None:
    """The condition of rows that hold now; None where all rows do, or none, or it cannot be told."""
    bare = exp.column(identifier(end.name, asked.dialect))
    none = exp.Is(this=bare.copy(), expression=exp.Null())
    if not is_met(exp.Not(this=none.copy()), table, asked):
        return None
    if is_met(none, table, asked):
        return exp.Is(this=node, expression=exp.Null())
    last = exp.Literal.string(f"{_NEVER}-01-01")
    never = is_met(exp.GTE(this=bare, expression=last.copy()), table, asked)
    return exp.GTE(this=node, expression=last) if never else None


def _add(select: exp.Select, alias: str, condition: exp.Expr) -> None:
    """Add a condition on a table: where an outer join may have no row of it, to that join."""
    for join in select.args.get("joins") or ():
        if join.side and join.this.alias_or_name.lower() == alias.lower():
            on = join.args.get("on")
            join.set("on", condition if on is None else exp.and_(on, condition))
            return
    select.where(condition, copy=False)
