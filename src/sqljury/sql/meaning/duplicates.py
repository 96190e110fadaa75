"""Rows that the question wants once each, and that a join repeats.

Small models leave DISTINCT out of "which customers bought tea? Each customer only once".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.repeats import each_once, each_shown_once, no_duplicates
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import TITLES, Asked, Change, held, holds_days, repeats
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, owner
from sqljury.sql.terms import meant

_HEAD: Final = regex(r"\b(?:of|from|in|for|at|by|who|that|which|where|whose)\b|[,;:]", re.IGNORECASE)
"""Where the words end that say what is to be shown."""
_CLAUSES: Final = ("distinct", "group", "having", "limit", "offset", "with_", "qualify", "windows")


def once(tree: exp.Query, asked: Asked) -> Change | None:
    """Add DISTINCT where the question wants each row, or each of the values shown, only once.

    For "each title once", or "titles of books, each once", the query must show a column with that word in its name;
    otherwise rows of the result must be equal in the keys of the tables shown too, since two persons may have the same
    name.
    """
    select, question = tree if isinstance(tree, exp.Select) else None, asked.question.text
    things, literally = each_once(question), no_duplicates(question)
    if select is None or (things is None and not literally) or not _is_plain(select):
        return None
    shown = [item.unalias() for item in select.selects]
    order: Sequence[exp.Expr] = select.args["order"].expressions if select.args.get("order") else ()
    if any(meant(key.this, select) not in shown for key in order):  # no engine but SQLite sorts by what is not shown
        return None
    of_columns = {word for node in shown for word in _words(node, asked)}
    named = set(things or ()) & of_columns
    if len(shown) == 1 and each_shown_once(question) and _is_telling(shown[0], asked):
        named = set(words(_HEAD.split(question, maxsplit=1)[0])) & of_columns - set(TITLES[:1])
    if not literally and not named and not _repeats_keys(select, asked):
        return None
    select.distinct(copy=False)
    return Change("the question wants each row once")


def _is_plain(select: exp.Select) -> bool:
    """Whether a query shows columns and expressions of single rows, all of them."""
    if any(select.args.get(part) for part in _CLAUSES):
        return False
    if any(item.find(exp.AggFunc, exp.Window) is not None for item in select.selects):
        return False
    return bool(select.selects) and not select.is_star


def _is_telling(node: exp.Expr, asked: Asked) -> bool:
    """Whether a column is one of texts that are no days: equal amounts and days are of different things."""
    known = held(node, asked.schema)
    return known is not None and known.is_text and not holds_days(known, asked.data)


def _words(node: exp.Expr, asked: Asked) -> set[str]:
    """The words of a column that is shown, without those of its table: each customer is more than a name."""
    known = held(node, asked.schema)
    return set(words(known.column.name)) - set(words(known.table.name)) if known is not None else set()


def _repeats_keys(select: exp.Select, asked: Asked) -> bool:
    """Whether rows of the result are equal in all outputs and in the keys of the tables of which they are."""
    probe = select.copy()
    owners = dict(owned for column in _columns(probe) if (owned := owner(column, asked.schema)) is not None)
    if not owners or not all(table.row_key for table in owners.values()):
        return False
    keys = [
        exp.column(identifier(name, asked.dialect), table=identifier(alias, asked.dialect))
        for alias, table in owners.items()
        for name in table.row_key
    ]
    probe.select(*keys, copy=False)
    probe.set("order", None)
    return repeats(probe, range(len(probe.selects)), asked)


def _columns(select: exp.Select) -> list[exp.Column]:
    return [column for item in select.selects for column in item.find_all(exp.Column)]
