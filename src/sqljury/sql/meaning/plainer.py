"""Columns with a longer name than the question says, where the table has one of just that name."""

from __future__ import annotations

from typing import Final

from sqljury.language.alike import MENTIONED, likeness
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, held, holds_days
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.types import Column

_VAGUE: Final = frozenset(words("id no nr number code key type kind name title label value text date day time note"))
"""Words that a question says of many columns: "number" is no sign that the column ``number`` is meant."""


def plainer_column(tree: exp.Query, asked: Asked) -> Change | None:
    """Use ``city`` for ``billing_city`` where the question says "city" and nothing like "billing".

    Both are columns of one table, of texts or of numbers; the query has no other column of the table with these words.
    """
    said = words(asked.question.whole)
    used: dict[tuple[str, str], tuple[Held, list[exp.Column]]] = {}
    for column in tree.find_all(exp.Column):
        known = held(column, asked.schema)
        if known is not None:
            used.setdefault((known.table.name, known.column.name), (known, []))[1].append(column)
    reason = ""
    for known, columns in used.values():
        plain = _plain(known, said)
        if plain is None or holds_days(known, asked.data) or holds_days(Held(known.table, plain), asked.data):
            continue
        wanted = {*words(plain.name)}
        of_table = [one for one, _ in used.values() if one.table is known.table]
        if sum(wanted <= {*words(one.column.name)} for one in of_table) > 1:
            continue
        for column in columns:
            column.set("this", identifier(plain.name, asked.dialect))
        reason = f"the question says {' '.join(words(plain.name))}, and not {' '.join(words(known.column.name))}"
    return Change(reason) if reason else None


def _plain(known: Held, said: tuple[str, ...]) -> Column | None:
    """The one column of the table whose words, all said, are some of this one's, whose others are not said."""
    own = {*words(known.column.name)}
    found = [
        other
        for other in known.table.columns
        if (plain := {*words(other.name)})
        and plain < own
        and not plain <= _VAGUE
        and plain <= {*said}
        and Held(known.table, other).is_text == known.is_text
        and not any(likeness(word, extra) >= MENTIONED for extra in own - plain for word in said)
    ]
    keys = {*known.table.row_key, *(name for key in known.table.foreign_keys for name in key.columns)}
    return found[0] if len(found) == 1 and not {known.column.name, found[0].name} & keys else None
