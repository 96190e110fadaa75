"""Things that are over, of which the question asks for those that are not: "meters still in place".

A meter that was removed has the day of its removal. Small models leave that out, or ask for meters that were installed,
which all of them were.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqljury.language.cues import goes_on, goes_on_beside
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, holds_days
from sqljury.sql.meaning.histories import STATES, History, is_restricted, keep_current, says_current, tables_once
from sqljury.sql.parse import exp
from sqljury.types import Column, Table

_ENDS: Final = frozenset(
    (
        *("end", "ended", "ending", "until", "thru", "finish", "finished", "completed", "close", "closed", "closing"),
        *("left", "leave", "leaving", "exit", "resigned", "retired", "dismissed", "departed", "removed", "removal"),
        *("rem", "terminated", "termination", "returned", "resolved", "withdrawn", "discharged", "discharge", "sold"),
        *("cancelled", "canceled", "dissolved", "scrapped", "decommissioned", "discontinued", "delisted", "churned"),
    )
)
"""Words of columns for the day on which something was over."""


def not_over(tree: exp.Query, asked: Asked) -> Change | None:
    """Add the condition that a thing is not over, where the question says so and the query has none on that.

    The table has one day of an end, NULL in some rows, and none to come.
    """
    if not goes_on(asked.question.text) or says_current(tree) or _tells_state(tree):
        return None
    found = list(_with_ends(tree, asked))
    if len(found) != 1 or is_restricted(found[0], asked):
        return None
    if not (found[0].is_alone or goes_on_beside(asked.question.text, words(found[0].table.name))):
        return None
    if not keep_current(found[0], asked):
        return None
    return Change(f"the question asks for what is not over, and {found[0].end.name} says what is")


def _tells_state(tree: exp.Query) -> bool:
    """Whether a condition says of any row that something has not happened, or in which state it is."""
    if any(
        isinstance(node.expression, exp.Null) and not isinstance(node.parent, exp.Not) for node in tree.find_all(exp.Is)
    ):
        return True
    return any(STATES & {*words(column.name)} for column in tree.find_all(exp.Column))


def _with_ends(tree: exp.Query, asked: Asked) -> Iterator[History]:
    """The tables with one day of an end, without one that stands twice."""
    for sources, alias, table in tables_once(tree, asked):
        ends = _ends(table, asked)
        if len(ends) == 1:
            yield History(sources, alias, table, ends[0])


def _ends(table: Table, asked: Asked) -> list[Column]:
    named = (column for column in table.columns if _ENDS.intersection(words(column.name)))
    return [column for column in named if holds_days(Held(table, column), asked.data)]
