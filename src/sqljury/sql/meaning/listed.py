"""Outputs beside those that the question lists, or in the place of one that it lists.

Small models show the form of a medicine for its strength, add the year of a model to the model, and show a rate again
as "best" where the question says "best first".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.listed import listed
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, held, single_select
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.sql.terms import meant
from sqljury.sql.translate import restrictions

Names = Sequence[tuple[str, ...]]
"""The words of each column in a list."""
_ONE_ONLY: Final = regex(
    r"\b(?:(?:names?|titles?|labels?) only|(?:just|only) (?:the |their |its )?(?:names?|titles?|labels?))"
    r"\b(?=\W*(?:$|[,.;:!?)]))",
    re.IGNORECASE,
)
_BY: Final = regex(r"\b(?:by|in order of|according to)\b[^,;.:!?]*", re.IGNORECASE)
_BY_ITSELF: Final = regex(r"\bby (?:the |their |its )?$", re.IGNORECASE)


def listed_outputs(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the columns that the question lists: ``Strength`` for ``Form``, and no ``model_year`` beside ``model``.

    One output is wrong: a column of which the question says no word, in the place of a column of the same table that
    the list has in the same place by its full name; or, where the list is one shorter, an output that repeats another
    one, or a column that shares words with the list only in names that other columns shown have in full. All others
    must fit their places.
    """
    select, names = single_select(tree), listed(asked.question.text)
    if select is None or not names or select.args.get("distinct") is not None:
        return None
    items = select.selects
    if len(items) == len(names):
        return _replaced(items, names, asked)
    return _left_out(select, names, asked) if len(items) == len(names) + 1 else None


def only_named(tree: exp.Query, asked: Asked) -> Change | None:
    """Show "name only" without the number by which the query sorts.

    The question has a word of that number only behind "by" or another word for an order.
    """
    select = single_select(tree)
    order = select.args.get("order") if select is not None else None
    only = _ONE_ONLY.search(asked.question.text)
    if select is None or order is None or only is None or len(select.selects) != 2 or select.args.get("distinct"):
        return None
    keys = [meant(key.this, select).unalias() for key in order.expressions]
    shown = [held(item.unalias(), asked.schema) for item in select.selects]
    at = next((at for at in (0, 1) if select.selects[at].unalias() in keys), None)
    if at is None:
        return None
    leaving, staying = shown[at], shown[1 - at]
    if leaving is None or leaving.is_text or staying is None or not staying.is_text:
        return None
    before = _BY.sub(" ", asked.question.text[: only.start()])
    if _BY_ITSELF.search(asked.question.text[: only.start()]) or mentions(before, {*words(leaving.column.name)}):
        return None
    _keep_places(select, select.selects[at])
    select.selects[at].pop()
    return Change("the question asks for the name only")


def _replaced(items: Sequence[exp.Expr], names: Names, asked: Asked) -> Change | None:
    unfit = [at for at, item in enumerate(items) if not _fits(item, names[at], asked)]
    if len(unfit) != 1:
        return None
    [at] = unfit
    column = items[at].unalias()
    known = held(column, asked.schema)
    if known is None or mentions(asked.question.text, set(words(known.column.name))):
        return None
    shown = {item.unalias().name.lower() for item in items}
    meant = [
        field.name
        for field in known.table.columns
        if words(field.name) == names[at] and field.name.lower() not in shown
    ]
    if len(meant) != 1 or not isinstance(column, exp.Column) or _is_grouped(items[at]):
        return None
    column.set("this", identifier(meant[0], asked.dialect))
    if items[at] is not column:
        items[at].replace(column.copy())
    return Change(f"the question lists {' '.join(names[at])}")


def _left_out(select: exp.Select, names: Names, asked: Asked) -> Change | None:
    items = select.selects
    fitting = [
        at
        for at in range(len(items))
        if all(_fits(item, name, asked) for item, name in zip(_without(items, at), names, strict=True))
    ]
    for at in reversed(fitting):
        if _is_repeated(items[at], items[:at]) or _is_beside(at, items, names, asked):
            _keep_places(select, items[at])
            leaving = items[at].pop()
            return Change("the question lists other columns", without=tuple(restrictions(leaving)))
    return None


def _without(items: Sequence[exp.Expr], at: int) -> list[exp.Expr]:
    return [*items[:at], *items[at + 1 :]]


def _is_repeated(item: exp.Expr, before: Sequence[exp.Expr]) -> bool:
    return not isinstance(item.unalias(), exp.Star) and any(item.unalias() == earlier.unalias() for earlier in before)


def _is_beside(at: int, items: Sequence[exp.Expr], names: Names, asked: Asked) -> bool:
    """Whether an output is ``model_year`` where the list has ``model``, and a column of that name is shown."""
    known = held(items[at].unalias(), asked.schema)
    called = words(known.column.name) if known is not None else ()
    shown = [held(item.unalias(), asked.schema) for item in _without(items, at)]
    in_full = {words(other.column.name) for other in shown if other is not None}
    near = [name for name in names if set(name) & set(called) or mentions(" ".join(name), set(called))]
    longer = any(set(name) < set(called) for name in near)
    return longer and called not in names and in_full.issuperset(near) and not _says_all(asked.question.text, called)


def _keep_places(select: exp.Select, leaving: exp.Expr) -> None:
    """Write out the numbers and the name of a leaving output by which the query sorts and groups."""
    for clause in ("order", "group"):
        for key in select.args[clause].expressions if select.args.get(clause) else ():
            node = key.this if isinstance(key, exp.Ordered) else key
            output = meant(node, select)
            if isinstance(node, exp.Literal) or output is leaving.unalias():
                node.replace(output.unalias().copy())


def _says_all(question: str, called: Sequence[str]) -> bool:
    return all(mentions(question, {word}) for word in called)


def _fits(item: exp.Expr, name: tuple[str, ...], asked: Asked) -> bool:
    """Whether an output may be what the list has in its place: no column of the schema, or one of like words."""
    known = held(item.unalias(), asked.schema)
    if known is None:
        return not isinstance(item.unalias(), exp.Column)
    return mentions(" ".join(name), {*words(known.column.name), *words(known.table.name)})


def _is_grouped(item: exp.Expr) -> bool:
    select = item.parent_select
    return select is not None and select.args.get("group") is not None
