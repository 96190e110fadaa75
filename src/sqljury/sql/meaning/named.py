"""Names of things that are asked for, where a query has the key that leads to them."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language import cues
from sqljury.language.alike import MENTIONED, likeness, pieces
from sqljury.language.words import words
from sqljury.sql.meaning.base import TITLES, Asked, Change, Held, held
from sqljury.sql.names.near import person_names
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, sources_of
from sqljury.sql.terms import group_keys
from sqljury.types import Table

_WHO: Final = re.compile(r"\s*(?:and |so )?who\b", re.IGNORECASE)
_FULL: Final = frozenset(("full", "display", "first", "last"))


def names_for_keys(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the name of a thing where the question asks for names and the query for the key of a table that it joins.

    ``SELECT t.assignee_id FROM tickets AS t JOIN users AS u ON t.assignee_id = u.id`` has joined the users for nothing
    else. A query that shows any other column of the table is left alone.
    """
    if not isinstance(tree, exp.Select) or not cues.names(asked.question.text):
        return None
    sources = sources_of(tree, asked.schema)
    if sources is None:
        return None
    changed, keys = False, group_keys(tree)[0]
    for output in list(tree.selects):
        column = output.unalias()
        if keys and column not in keys:
            continue  # it may be a key by its place or by its alias, and the groups would be others
        known = held(column, asked.schema)
        alias = _joined_by(column, known, sources, asked) if known is not None else None
        if alias is None or _is_shown(alias, tree):
            continue
        title = title_of(sources.tables[alias])
        if title is None:
            continue
        name = sources.column(alias, title)
        output.replace(exp.alias_(name.copy(), output.alias) if output.alias else name.copy())
        if keys:
            tree.group_by(name, copy=False)
        changed = True
    return Change("the question asks for names, and the query had keys") if changed else None


def names_of_persons(tree: exp.Query, asked: Asked) -> Change | None:
    """Show first and last name in the place of a person's own key, where the question begins with "who".

    Not where the question asks for keys too, or the query shows any other column of the table.
    """
    wanted = _WHO.match(asked.question.text) is not None and cues.names(asked.question.text)
    sources = sources_of(tree, asked.schema) if isinstance(tree, exp.Select) and wanted else None
    if not isinstance(tree, exp.Select) or sources is None:
        return None
    shown = [output for output in tree.selects if isinstance(output.unalias(), exp.Column)]
    known = held(shown[0].unalias(), asked.schema) if len(shown) == 1 else None
    names = name_columns(known.table) if known is not None and known.table.row_key == (known.column.name,) else []
    aliases = [alias for alias, table in sources.tables.items() if known is not None and table is known.table]
    keys = group_keys(tree)[0]
    if len(names) != 2 or len(aliases) != 1 or (keys and shown[0].unalias() not in keys):
        return None
    columns = [sources.column(aliases[0], name) for name in names]
    if keys:
        tree.group_by(*columns, copy=False)
    outputs = list(tree.selects)
    at = next(index for index, output in enumerate(outputs) if output is shown[0])
    tree.set("expressions", [*outputs[:at], *(column.copy() for column in columns), *outputs[at + 1 :]])
    return Change("the question asks who it is, and the query had a key")


def _joined_by(column: exp.Expr, known: Held, sources: Sources, asked: Asked) -> str | None:
    """The alias of the table that this key refers to, where an inner join compares the two."""
    keys = [key for key in known.table.foreign_keys if key.columns == (known.column.name,)]
    for join in sources.scope.expression.args.get("joins") or ():
        if join.side:
            continue  # a row without a match has no name
        for equal in join.find_all(exp.EQ):
            sides = (equal.this, equal.expression)
            other = next((side for side in sides if side != column and column in sides), None)
            referred = held(other, asked.schema)
            if other is None or referred is None or not isinstance(other, exp.Column):
                continue
            compared = referred.table.name.lower(), (referred.column.name.lower(),)
            if any((key.ref_table.lower(), tuple(map(str.lower, key.ref_columns))) == compared for key in keys):
                return sources.alias(other.table)
    return None


def _is_shown(alias: str, select: exp.Select) -> bool:
    """Whether an output has a column of this table."""
    columns = (column for output in select.selects for column in output.find_all(exp.Column))
    return any(column.table.lower() == alias.lower() for column in columns)


def title_of(table: Table) -> str | None:
    """The one column that is the name of a row."""
    for title in TITLES:
        columns = [column.name for column in table.columns if words(column.name)[-1:] == (title,)]
        if columns:
            return columns[0] if len(columns) == 1 else None
    return None


def name_columns(table: Table) -> list[str]:
    """The columns for the name of a row itself, not of what it belongs to; none where that is not clear."""
    if (person := person_names(table)) is not None:
        return [*person]
    title = title_of(table)
    table_words = pieces(table.name)
    before = pieces(title)[:-1] if title is not None else ()
    mine = all(word in _FULL or any(likeness(word, piece) >= MENTIONED for piece in table_words) for word in before)
    return [title] if title is not None and mine else []
