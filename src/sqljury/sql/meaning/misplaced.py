"""Texts that are compared with the wrong column of their table."""

from __future__ import annotations

from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, compared, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier

MOST_VALUES: Final = 25
"""A column with more different values holds texts or names, in which a text may be missing for once."""
COLUMNS: Final = 8
"""A text is looked for in so many other columns at most."""


def misplaced(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare the column that has a text: ``status = 'scheduled'`` for ``hearing_type = 'scheduled'``.

    Both columns hold a few different texts, the one that is compared lacks this text, and of the others of its table
    one alone has it. Conditions of a join stay: an outer one would lose its rows. So does one where the question names
    the column that is compared ("billing country"), and where the query compares the other one already.
    """
    changed = False
    compares = {(known.table.name, known.column.name) for known in _compared_columns(tree, asked)}
    for node, column, other in compared(tree, exp.EQ):
        known = held(column, asked.schema)
        if known is None or not isinstance(other, exp.Literal) or not other.is_string or node.find_ancestor(exp.Join):
            continue
        if not holds_kinds(known, asked) or asked.data.spellings(known.table, known.column.name, other.name) != ():
            continue
        others = [each for each in known.table.columns if each is not known.column]
        kinds = [each for each in others if holds_kinds(Held(known.table, each), asked)][:COLUMNS]
        spelt = [(each.name, asked.data.spellings(known.table, each.name, other.name)) for each in kinds]
        found = [(name, texts) for name, texts in spelt if texts]
        if len(found) == 1 and all(texts is not None for _, texts in spelt):
            name, texts = found[0]
            if (known.table.name, name) in compares or _is_named(known, name, asked):
                continue
            column.set("this", identifier(name, asked.dialect))
            if texts and other.name not in texts:
                other.replace(exp.Literal.string(texts[0]))
            changed = True
    return Change("another column of the table has the text") if changed else None


def _compared_columns(tree: exp.Query, asked: Asked) -> list[Held]:
    columns = (column for column in tree.find_all(exp.Column) if column.find_ancestor(exp.Predicate))
    return [known for column in columns if (known := held(column, asked.schema)) is not None]


def _is_named(known: Held, other: str, asked: Asked) -> bool:
    """Whether the question has a word of a column's name that neither the other column nor the table has."""
    return mentions(asked.question.text, {*words(known.column.name)} - {*words(other), *words(known.table.name)})


def holds_kinds(known: Held, asked: Asked) -> bool:
    """Whether a column holds texts, of which there are few."""
    if not known.is_text:
        return False
    values = set(asked.data.values(known.table, known.column.name))
    return 0 < len(values) <= MOST_VALUES and all(isinstance(value, str) for value in values)
