"""Rows of a history, of which the question asks for those that hold now.

Assignments, salaries or prices are kept with the days from and to which they hold; the one that holds now has no end,
or one in the year 9999. Small models leave that out, and count a person once for each assignment that ever was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqljury.language.alike import mentions
from sqljury.language.cues import tells_past, wants_current
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, holds_days, is_met
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, identifier, owner, read_sources
from sqljury.types import Column, Table

_STARTS: Final = {"to": "from", "thru": "from"}
"""By the word that says in a name that a column is an end, the word for the start beside it."""
STATES: Final = frozenset(("current", "active", "status", "state", "latest", "valid"))
"""Words of names of columns that tell which rows hold now."""
_NEVER: Final = "9999-01-01"


class History(NamedTuple):
    """A table of a query, by alias, and its columns of the first, if any, and the last day on which a row holds."""

    sources: Sources
    alias: str
    table: Table
    end: Column
    start: Column | None = None

    @property
    def is_alone(self) -> bool:
        """Whether it is the only table of its SELECT."""
        return len(self.sources.tables) == 1


def current_rows(tree: exp.Query, asked: Asked) -> Change | None:
    """Add the condition that a row has no end where the question says "currently" and the query says nothing of it.

    If the query reads other tables too, the question must mention the table of the history, and tell of nothing past.
    """
    if not wants_current(asked.question.text) or says_current(tree):
        return None
    histories = list(_histories(tree, asked))
    if any(is_restricted(history, asked) for history in histories):
        return None
    changed = [history.table.name for history in histories if keep_current(history, asked)]
    return Change(f"the question asks for what holds now, and {changed[0]} has former rows too") if changed else None


def keep_current(history: History, asked: Asked) -> bool:
    """Add the condition that rows of this table hold now, if the question may mean this table; whether it was added."""
    may_be_meant = history.is_alone or is_current(history.table, asked.question.text)
    holds = _holds(history, asked) if may_be_meant else None
    select = history.sources.scope.expression
    if holds is None or not isinstance(select, exp.Select):
        return False
    _add(select, history.alias, holds)
    return True


def is_current(table: Table, question: str) -> bool:
    """Whether the question may mean this table, one of several in the query, by "currently"."""
    return mentions(question, words(table.name)) and not tells_past(question)


def says_current(tree: exp.Query) -> bool:
    """Whether a text of the query says it, such as the kind of a current account."""
    return any("current" in literal.name.lower() for literal in tree.find_all(exp.Literal))


def _histories(tree: exp.Query, asked: Asked) -> Iterator[History]:
    """The tables with days from and to which rows hold, without one that stands twice: it may be of two times."""
    for sources, alias, table in tables_once(tree, asked):
        span = next(_spans(table, asked), None)
        if span is not None:
            start, end = span
            yield History(sources, alias, table, end, start)


def tables_once(tree: exp.Query, asked: Asked) -> Iterator[tuple[Sources, str, Table]]:
    """The tables that stand once in their SELECT, with their alias."""
    for sources in read_sources(tree, asked.schema):
        tables = list(sources.tables.values())
        for alias, table in sources.tables.items():
            if sum(item is table for item in tables) == 1:
                yield sources, alias, table


def _spans(table: Table, asked: Asked) -> Iterator[tuple[Column, Column]]:
    named = {words(column.name): column for column in table.columns}
    for ending, end in named.items():
        for position, word in enumerate(ending):
            start = named.get((*ending[:position], _STARTS.get(word, ""), *ending[position + 1 :]))
            if start is not None and all(holds_days(Held(table, column), asked.data) for column in (start, end)):
                yield start, end


def is_restricted(history: History, asked: Asked) -> bool:
    """Whether the query has one of the two columns already, or one that tells which rows hold now."""
    span = {column.name.lower() for column in (history.start, history.end) if column is not None}
    select = history.sources.scope.expression
    owned = [(node, owner(node, asked.schema)) for node in select.find_all(exp.Column)]
    names = [node.name for node, source in owned if source is not None and source[0] == history.alias.lower()]
    return any(name.lower() in span or STATES & {*words(name)} for name in names)


def _holds(history: History, asked: Asked) -> exp.Expr | None:
    """The condition of rows that hold now; None if every row does, if no row does, or if the database cannot tell.

    Rows that end on a day to come hold now as well: where there are such, it is not known what is meant.
    """
    table, name = history.table, identifier(history.end.name, asked.dialect)
    bare = exp.column(name)
    none, never = _endless(bare)
    coming = exp.and_(
        exp.GTE(this=bare.copy(), expression=exp.CurrentDate()),
        exp.LT(this=bare.copy(), expression=never.expression.copy()),
    )
    if is_met(coming, table, asked) is not False or not is_met(exp.Not(this=none.copy()), table, asked):
        return None
    results = [is_met(condition, table, asked) for condition in (none, never)]
    if None in results:
        return None
    qualified = _endless(exp.column(name.copy(), table=history.sources.identifier(history.alias)))
    conditions = [condition for condition, met in zip(qualified, results, strict=True) if met]
    return None if not conditions else conditions[0] if len(conditions) == 1 else exp.paren(exp.or_(*conditions))


def _endless(end: exp.Column) -> tuple[exp.Is, exp.GTE]:
    """The conditions that a row has no end, and that it ends in the year 9999."""
    never = exp.GTE(this=end.copy(), expression=exp.Literal.string(_NEVER))
    return exp.Is(this=end.copy(), expression=exp.Null()), never


def _add(select: exp.Select, alias: str, condition: exp.Expr) -> None:
    """Add a condition on a table to WHERE, or to the ON of an outer join that may find no row of it."""
    for join in select.args.get("joins") or ():
        if join.side and join.this.alias_or_name.lower() == alias.lower():
            on = join.args.get("on")
            join.set("on", condition if on is None else exp.and_(on, condition))
            return
    select.where(condition, copy=False)
