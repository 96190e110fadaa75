"""Sums and means of days, which say nothing, where the question names a number of the same rows."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held, holds_dates, keys_of
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier

_NUMBER: Final = re.compile(r"int|num|dec|real|float|double|money", re.IGNORECASE)


def summed_days(tree: exp.Query, asked: Asked) -> Change | None:
    """Sum up ``amount_cents`` for the day ``charged_at`` where "the average charged pledge in cents" is asked for.

    The table has exactly one column of numbers, no key, of whose name the question has a word. SQLite and MySQL alone:
    other engines have means of days, or refuse them.
    """
    if asked.dialect not in ("sqlite", "mysql"):
        return None
    reason = ""
    for call in list(tree.find_all(exp.Avg, exp.Sum)):
        known = held(call.this, asked.schema)
        if known is None or not holds_dates(known, asked.data):
            continue
        keys, shown = keys_of(known.table), {column.name.lower() for column in tree.find_all(exp.Column)}
        meant = [
            column.name
            for column in known.table.columns
            if _NUMBER.search(column.type)
            and column.name not in keys
            and mentions(asked.question.text, {*words(column.name)} - {*words(known.table.name)})
        ]
        if len(meant) == 1 and meant[0].lower() not in shown:
            call.this.set("this", identifier(meant[0], asked.dialect))
            reason = f"{known.table.name}.{known.column.name} holds days, of which there is no sum"
    return Change(reason) if reason else None
