"""The greatest where the smallest is asked for, or the reverse: the oldest person has the highest age, and the earliest
date of birth."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.cues import ranked, speaks_of_losses, speaks_of_outgoings
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Data, Held, held, holds_days, turn
from sqljury.sql.parse import exp
from sqljury.sql.terms import meant

_AGES: Final = frozenset({"age", "seniority"})
_DATES: Final = frozenset(
    words("birth birthday birthdate born dob date day year month time founded founding established built opened hired")
)
_SPANS: Final = frozenset({"day", "month", "time"})
"""Of these, words of numbers that may count days: ``days_since_signup`` is low for the newest."""
_YEARS: Final = (1500, 2100)
"""Numbers between these are years where the column's name says so."""
_RANKS: Final = frozenset(
    (
        *words("rank ranking position pos place placing placement finish standing seed order"),
        *words("priority prio severity level tier class"),
    )
)
"""Words of columns whose lowest number may be the highest."""
_GREATEST: Final = ("highest", "largest", "biggest", "heaviest", "tallest", "longest")
_SMALLEST: Final = ("cheapest", "smallest", "lowest", "lightest", "shortest")
_WEIGHTS: Final = frozenset(words("weight mass kg kilogram gram lb pound tonne ton"))
_LENGTHS: Final = frozenset(
    (
        *words("length len distance duration day hour minute min second sec ms millisecond"),
        *words("km kilometre kilometer mile metre meter"),
    )
)
_NAMED: Final = {
    "cheapest": frozenset(words("price cost fee fare rent amount tariff")),
    **dict.fromkeys(("heaviest", "lightest"), _WEIGHTS),
    "tallest": frozenset(words("height cm inch metre meter")),
    "longest": _LENGTHS,
    "shortest": _LENGTHS | {"height"},
}
"""Words of the columns that an adjective names by itself."""
_OF_SIZE: Final = ("largest", "biggest", "smallest")
_SIZES: Final = frozenset(words("size amount total sum value area volume capacity population"))
"""Words of columns that hold the size of a row."""
_NOUN: Final = 2
"""Words behind an adjective that may say whose size is meant."""
_NUMBERS: Final = frozenset(
    (
        *words("rate number no nr num count cnt share pct percent percentage ratio score level index value val"),
        *words("total avg average mean max min sum of in per by"),
        *words("cent ct penny pence eur euro usd dollar gbp pound kg gram cm mm km metre meter mile"),
        *words("year month day hour minute second ms"),
    )
)
"""Words of columns that are a unit or a kind of number, and do not tell of what."""


def extremes(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn the order, or MIN and MAX, where one word of the question asks for the other end of the column.

    Only where the question has one such word and the query one such place: which of several belongs where is not known.
    Not where it asks for a loss, since the largest may be the lowest number, nor for an expense or a debt where the
    column has numbers below zero.
    """
    superlatives = ranked(asked.question.whole)
    extrema = _places(tree)
    if len(superlatives) != 1 or len(extrema) != 1 or speaks_of_losses(asked.question.whole):
        return None
    [word], [(node, key)] = superlatives, extrema
    wanted, given = _wants_greatest(word, key, asked), _gives_greatest(node)
    if wanted is None or wanted == given:
        return None
    if isinstance(node, exp.Ordered):
        turn(node, asked.dialect, descending=wanted)
    else:
        node.replace((exp.Max if wanted else exp.Min)(this=key.copy()))
    ends = ("lowest", "highest")
    return Change(f"{word!r} asks for the {ends[wanted]} {key.sql(dialect=asked.dialect)}, not for the {ends[given]}")


def _places(tree: exp.Query) -> list[tuple[exp.Expr, exp.Expr]]:
    """Where the query takes the greatest or the smallest, with what it takes it of."""
    extrema: list[tuple[exp.Expr, exp.Expr]] = [(node, node.this) for node in tree.find_all(exp.Max, exp.Min)]
    for select in tree.find_all(exp.Select):
        order, limit = select.args.get("order"), select.args.get("limit")
        if order is not None and limit is not None and isinstance(order.expressions[0], exp.Ordered):
            ordered = order.expressions[0]
            extrema.append((ordered, meant(ordered.this, select)))
    return extrema


def _gives_greatest(node: exp.Expr) -> bool:
    return bool(node.args.get("desc")) if isinstance(node, exp.Ordered) else isinstance(node, exp.Max)


def _wants_greatest(word: str, key: exp.Expr, asked: Asked) -> bool | None:
    """Whether the word asks for the greatest of the column; None where it does not say."""
    column = held(key, asked.schema)
    if column is None:
        return None
    named = set(words(column.column.name))
    age, rank = bool(named & _AGES), bool(named & _RANKS)
    dates = holds_days(column, asked.data) or _is_dated(column, named, asked.data)
    if rank or (age and dates) or (named & _DATES and not dates):
        return None
    numbers = _numbers(column, asked.data)
    if min(numbers, default=0) < 0 and speaks_of_outgoings(asked.question.whole):
        return None
    if word in ("longest", "shortest") and numbers and all(_is_year(number) for number in numbers):
        return None  # with us the longest is who came in the first year
    if word in ("oldest", "youngest"):
        return (word == "oldest") == age if age or dates else None
    if word in ("latest", "newest", "earliest"):
        return (word != "earliest") if dates else None
    if dates or word not in (*_GREATEST, *_SMALLEST) or not _is_meant(word, column, asked):
        return None
    return word in _GREATEST


def _is_meant(word: str, known: Held, asked: Asked) -> bool:
    """Whether an adjective is about a column: it names it itself, as "cheapest" does, or the question does.

    "Highest quality" may be the lowest rate of defects. The question has the last word of the column's name that is
    not a unit or a kind of number; or the size of the table's rows is meant, as by "the biggest booking".
    """
    named = words(known.column.name)
    if _NAMED.get(word, frozenset()).intersection(named):
        return True
    telling = [part for part in named if part not in _NUMBERS and not part.isdigit()] or named
    if mentions(asked.question.whole, telling[-1:]):
        return True
    after = re.split(rf"\b{word}\b", asked.question.text, maxsplit=1, flags=re.IGNORECASE)[1:]
    noun = " ".join(" ".join(after).split()[:_NOUN])
    return word in _OF_SIZE and not _SIZES.isdisjoint(named) and mentions(noun, words(known.table.name))


def _is_dated(known: Held, named: set[str], data: Data) -> bool:
    """Whether a column is one of dates by its name, and does not count days or years."""
    if not named & _DATES:
        return False
    numbers = _numbers(known, data)
    if not numbers:
        return known.is_text
    years = bool((named & _DATES) - _SPANS) and all(map(_is_year, numbers))
    return years or data.times(known.table, known.column.name) != ""


def _numbers(known: Held, data: Data) -> list[int | float | Decimal]:
    values = data.values(known.table, known.column.name)
    return [value for value in values if isinstance(value, int | float | Decimal)]


def _is_year(number: float | Decimal) -> bool:
    return _YEARS[0] <= number <= _YEARS[1]
