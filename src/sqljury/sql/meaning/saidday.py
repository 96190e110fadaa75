"""Another day of a row than the one that the question says: its start for "contracts signed in 2024"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.language.alike import MENTIONED, likeness, mentions
from sqljury.language.cues import counted
from sqljury.language.times import MONTHS
from sqljury.language.words import NUMBER_WORDS, words
from sqljury.sql.meaning.base import DAY_WORDS, Asked, Change, Held, held, holds_days
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, owner
from sqljury.types import Column, Table

_MONTHS: Final = "|".join(f"{name}|{name[:3]}" for name in MONTHS[1:])
_TIME: Final = re.compile(rf"\b(?:(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?|{_MONTHS})\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+|[,.;:?!()]")
_CONNECTING: Final = """
    in for on since before after during between by from until till of the or and to early late mid first
    second third fourth last final half quarter quarters month months year years week day days end beginning
    there was were is are did do we have had start within at latest as st nd rd th later earlier than
"""
_BETWEEN: Final = frozenset((*_CONNECTING.split(), *NUMBER_WORDS, *MONTHS[1:], *(name[:3] for name in MONTHS[1:])))
"""Words between what happened and when."""
_BASE: Final = {
    "paid": "pay",
    "sold": "sale",
    "sent": "send",
    "left": "leave",
    "bought": "purchase",
    "born": "birth",
    "lent": "loan",
    "held": "hold",
    "begun": "begin",
    "began": "begin",
}
"""By form of a verb, the word that a column may have instead."""


def said_day(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the day of a row that the question names before a time, where the query takes one that it does not name.

    Without such a word it is the day of what is counted: ``appointment_date`` for "how many appointments in 2024".
    "Signed in 2024" is ``sign_date`` where the table has one column of days with such a name, and the question has no
    word of the name of the day in the query, the only one that the query compares.
    """
    text = asked.question.text
    terms = {word for word in _before_times(text) if word}
    if not terms:
        return None
    days = {(alias, known.column.name): known for alias, known in _compared_days(tree, asked)}
    if len(days) != 1:
        return None
    [(alias, known)] = [(alias, known) for (alias, _), known in days.items()]
    if mentions(text, _telling(known)):
        return None
    meant = _named_days(known.table, terms, asked) or _named_days(known.table, {*counted(text)[-1:]}, asked)
    if len(meant) != 1 or (name := meant.pop()) == known.column.name:
        return None
    nodes = [node for node in tree.find_all(exp.Column) if _alias(node, asked) == alias]
    if any(node.name.lower() == name.lower() for node in nodes):
        return None
    for node in nodes:
        if node.name.lower() == known.column.name.lower():
            node.set("this", identifier(name, asked.dialect))
    return Change(f"the question names the day of {name}, not that of {known.column.name}")


def _before_times(question: str) -> Iterator[str]:
    """The word that each time of a question is said of: "signed" for "signed in March 2024"."""
    for match in _TIME.finditer(question):
        before = _WORD.findall(question[: match.start()].lower())
        yield next((word for word in reversed(before) if word not in _BETWEEN and not word.isdigit()), "")


def _compared_days(tree: exp.Query, asked: Asked) -> Iterator[tuple[str, Held]]:
    """The columns of days in conditions with constants, each with its alias."""
    for node in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.Between, exp.In):
        columns = list(node.find_all(exp.Column))
        known = held(columns[0], asked.schema) if len(columns) == 1 else None
        if known is not None and node.find(exp.Literal) is not None and holds_days(known, asked.data):
            yield _alias(columns[0], asked), known


def _alias(column: exp.Column, asked: Asked) -> str:
    owned = owner(column, asked.schema)
    return owned[0] if owned is not None else ""


def _named_days(table: Table, terms: set[str], asked: Asked) -> set[str]:
    """The columns of days of a table whose names have one of these words."""
    return {day.name for day in _days(table, asked) if _is_named(Held(table, day), terms)}


def _days(table: Table, asked: Asked) -> list[Column]:
    return [column for column in table.columns if holds_days(Held(table, column), asked.data)]


def _telling(known: Held) -> set[str]:
    """The words of a column of days that tell it from others of its table."""
    return {*words(known.column.name)} - DAY_WORDS - {*words(known.table.name)}


def _is_named(day: Held, terms: set[str]) -> bool:
    named = {*words(day.column.name)} - DAY_WORDS
    return any(likeness(form, word) >= MENTIONED for term in terms for form in _forms(term) for word in named)


def _forms(word: str) -> set[str]:
    return {*words(word), _BASE.get(word, word)}
