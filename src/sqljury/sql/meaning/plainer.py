"""Columns with a longer name than the question says, where the table has one of just that name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqljury.language.alike import MENTIONED, likeness
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, held, holds_days, is_explained, keys_of
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.types import Table

_VAGUE: Final = frozenset(words("id no nr number code key type kind name title label value text date day time note"))
"""Words that a question says of many columns: "number" is no sign that the column ``number`` is meant."""


def plainer_column(tree: exp.Query, asked: Asked) -> Change | None:
    """Use ``city`` for ``billing_city`` where the question says "city" and nothing like "billing".

    Both are columns of one table, of texts or of numbers. The query's names and constants explain all other words of
    the question, since "where we send letters" may mean the billing city too. No other column of the query's tables
    has the plain name's words, and the plain column has the texts that are compared.
    """
    used: dict[tuple[str, str], tuple[Held, list[exp.Column]]] = {}
    for column in tree.find_all(exp.Column):
        known = held(column, asked.schema)
        if known is not None:
            used.setdefault((known.table.name, known.column.name), (known, []))[1].append(column)
    tables = {known.table.name: known.table for known, _ in used.values()}
    reason = ""
    for known, columns in used.values():
        plain = _plain(known, tables.values(), asked)
        if plain is None or not is_explained(asked.question.whole, tree, asked, _extra(known, plain)):
            continue
        if any(_lacks(plain, text, asked) for column in columns for text in _compared_with(column)):
            continue
        for column in columns:
            column.set("this", identifier(plain.column.name, asked.dialect))
        reason = f"the question says {plain.column.name}, and no other word of {known.column.name}"
    return Change(reason) if reason else None


def _plain(known: Held, tables: Collection[Table], asked: Asked) -> Held | None:
    """The one column of the table that is meant: the question says all its words, and no further word of this one."""
    called, question = {*words(known.column.name)}, {*words(asked.question.whole)}
    matches = [
        Held(known.table, column)
        for column in known.table.columns
        if {*words(column.name)} < called and {*words(column.name)} <= question
    ]
    if len(matches) != 1:
        return None
    plain, wanted, extra = matches[0], {*words(matches[0].column.name)}, _extra(known, matches[0])
    others = [column for table in tables for column in table.columns if wanted <= {*words(column.name)}]
    is_key = not keys_of(known.table).isdisjoint((known.column.name, plain.column.name))
    if is_key or len(others) > 2 or wanted <= _VAGUE or extra & _VAGUE:
        return None
    if plain.is_text != known.is_text or any(likeness(word, term) >= MENTIONED for term in extra for word in question):
        return None
    return None if holds_days(known, asked.data) or holds_days(plain, asked.data) else plain


def _extra(known: Held, plain: Held) -> set[str]:
    return {*words(known.column.name)} - {*words(plain.column.name)}


def _compared_with(column: exp.Column) -> list[str]:
    """The texts that a condition compares a column with."""
    above = column.parent if isinstance(column.parent, exp.Predicate) else None
    return [literal.name for literal in above.find_all(exp.Literal) if literal.is_string] if above is not None else []


def _lacks(plain: Held, text: str, asked: Asked) -> bool:
    return not asked.data.spellings(plain.table, plain.column.name, text)
