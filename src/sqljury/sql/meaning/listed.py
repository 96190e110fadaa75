"""Outputs beside those that the question lists, or in the place of one that it lists.

Small models show the form of a medicine for its strength, and add the year of a model to the model.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqljury.language.alike import mentions
from sqljury.language.listed import listed
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held, single_select
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier

Names = Sequence[tuple[str, ...]]
"""The words of each column in a list."""


def listed_outputs(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the columns that the question lists: ``Strength`` for ``Form``, and no ``model_year`` beside ``model``.

    One output is wrong: a column of which the question says no word, in the place of a column of the same table that
    the list has in the same place by its full name; or a column that the list, one shorter, does not have, while a
    shorter name that it does have is shown. All others must fit their places.
    """
    select, names = single_select(tree), listed(asked.question.text)
    if select is None or not names or select.args.get("distinct") is not None:
        return None
    items = select.selects
    if len(items) == len(names):
        return _replaced(items, names, asked)
    return _left_out(items, names, asked) if len(items) == len(names) + 1 else None


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
        each.name for each in known.table.columns if words(each.name) == names[at] and each.name.lower() not in shown
    ]
    if len(meant) != 1 or not isinstance(column, exp.Column) or _is_grouped(items[at]):
        return None
    column.set("this", identifier(meant[0], asked.dialect))
    if items[at] is not column:
        items[at].replace(column.copy())
    return Change(f"the question lists {' '.join(names[at])}")


def _left_out(items: Sequence[exp.Expr], names: Names, asked: Asked) -> Change | None:
    for at, item in enumerate(items):
        known = held(item.unalias(), asked.schema)
        others = [*items[:at], *items[at + 1 :]]
        if known is None or not all(_fits(other, name, asked) for other, name in zip(others, names, strict=True)):
            continue
        own = words(known.column.name)
        if own in names or not any(set(name) < set(own) for name in names) or _says_all(asked.question.text, own):
            continue
        item.pop()
        return Change("the question lists other columns")
    return None


def _says_all(question: str, own: Sequence[str]) -> bool:
    return all(mentions(question, {word}) for word in own)


def _fits(item: exp.Expr, name: tuple[str, ...], asked: Asked) -> bool:
    """Whether an output may be what the list has in its place: no column of the schema, or one of like words."""
    known = held(item.unalias(), asked.schema)
    if known is None:
        return not isinstance(item.unalias(), exp.Column)
    return mentions(" ".join(name), {*words(known.column.name), *words(known.table.name)})


def _is_grouped(item: exp.Expr) -> bool:
    select = item.parent_select
    return select is not None and select.args.get("group") is not None
