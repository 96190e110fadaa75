"""The greatest where the smallest is asked for, or the reverse: the oldest person has the highest age, and the earliest
date of birth."""

from __future__ import annotations

from typing import Final

from sqljury.language.cues import ranked
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held, holds_days
from sqljury.sql.meaning.order import sort_key
from sqljury.sql.parse import exp

_AGES: Final = frozenset({"age", "seniority"})
_DATES: Final = frozenset(
    words("birth birthday birthdate born dob date day year month time founded founding established built opened hired")
)
_RANKS: Final = frozenset(words("rank ranking position place seed priority level tier class standing order"))
"""Words of columns whose lowest number may be the highest."""


def extremes(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn the order, or MIN and MAX, where one word of the question asks for the other end of the column.

    Only where the question has one such word and the query one such place: which of several belongs where is not known.
    """
    found = ranked(asked.question.whole)
    places = _places(tree)
    if len(found) != 1 or len(places) != 1:
        return None
    [word], [(node, key)] = found, places
    wanted, given = _wants_greatest(word, key, asked), _gives_greatest(node)
    if wanted is None or wanted == given:
        return None
    if isinstance(node, exp.Ordered):
        node.set("desc", wanted)
        node.set("nulls_first", not wanted)
    else:
        node.replace((exp.Max if wanted else exp.Min)(this=key.copy()))
    ends = ("lowest", "highest")
    return Change(f"{word!r} asks for the {ends[wanted]} {key.sql(dialect=asked.dialect)}, not for the {ends[given]}")


def _places(tree: exp.Query) -> list[tuple[exp.Expr, exp.Expr]]:
    """Where the query takes the greatest or the smallest, with what it takes it of."""
    found: list[tuple[exp.Expr, exp.Expr]] = [(node, node.this) for node in tree.find_all(exp.Max, exp.Min)]
    for select in tree.find_all(exp.Select):
        order, limit = select.args.get("order"), select.args.get("limit")
        if order is not None and limit is not None and isinstance(order.expressions[0], exp.Ordered):
            ordered = order.expressions[0]
            found.append((ordered, sort_key(select, ordered.this)))
    return found


def _gives_greatest(node: exp.Expr) -> bool:
    return bool(node.args.get("desc")) if isinstance(node, exp.Ordered) else isinstance(node, exp.Max)


def _wants_greatest(word: str, key: exp.Expr, asked: Asked) -> bool | None:
    """Whether the word asks for the greatest of the column; None where it does not say."""
    column = held(key, asked.schema)
    if column is None:
        return None
    named = set(words(column.column.name))
    age, rank = bool(named & _AGES), bool(named & _RANKS)
    dates = bool(named & _DATES) or holds_days(column, asked.data)
    if rank or (age and dates):
        return None
    if word in ("oldest", "youngest"):
        return (word == "oldest") == age if age or dates else None
    if word in ("latest", "newest", "earliest"):
        return (word != "earliest") if dates else None
    if word in ("cheapest", "smallest", "lowest", "lightest", "shortest"):
        return None if dates else False
    return None if dates or word not in ("highest", "largest", "biggest", "heaviest", "tallest", "longest") else True
