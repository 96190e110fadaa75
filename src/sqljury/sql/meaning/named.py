"""Names of things that are asked for, where a query has the key that leads to them."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, identifier, read_sources
from sqljury.sql.terms import group_keys
from sqljury.types import Table

_NAMES: Final = re.compile(r"\b(?:names?|called|who)\b", re.IGNORECASE)
_KEYS: Final = re.compile(r"\b(?:ids?|identifiers?|keys?|codes?|numbers?(?! of\b)|nos?)\b", re.IGNORECASE)
_TITLES: Final = ("name", "title", "label")


def names_for_keys(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the name of a thing where the question asks for names and the query for the key of a table that it joins.

    ``SELECT t.assignee_id FROM tickets AS t JOIN users AS u ON t.assignee_id = u.id`` has joined the users for nothing
    else. A query that shows any other column of the table is left alone.
    """
    text = asked.question.text
    if not isinstance(tree, exp.Select) or not _NAMES.search(text) or _KEYS.search(text):
        return None
    sources = next((one for one in read_sources(tree, asked.schema) if one.scope.expression is tree), None)
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
        title = _title(sources.tables[alias])
        if title is None:
            continue
        name = exp.Column(this=identifier(title, asked.dialect), table=sources.identifier(alias))
        output.replace(exp.alias_(name.copy(), output.alias) if output.alias else name.copy())
        if keys:
            tree.group_by(name, copy=False)
        changed = True
    return Change("the question asks for names, and the query had keys") if changed else None


def _joined_by(column: exp.Expr, known: Held, sources: Sources, asked: Asked) -> str | None:
    """The alias of the table that this key refers to, where an inner join compares the two."""
    keys = [key for key in known.table.foreign_keys if key.columns == (known.column.name,)]
    for join in sources.scope.expression.args.get("joins") or ():
        if join.side:
            continue  # a row without a match has no name
        for equal in join.find_all(exp.EQ):
            sides = (equal.this, equal.expression)
            other = next((side for side in sides if side != column and column in sides), None)
            there = held(other, asked.schema)
            if other is None or there is None or not isinstance(other, exp.Column):
                continue
            place = there.table.name.lower(), (there.column.name.lower(),)
            if any((key.ref_table.lower(), tuple(map(str.lower, key.ref_columns))) == place for key in keys):
                return sources.alias(other.table)
    return None


def _is_shown(alias: str, select: exp.Select) -> bool:
    """Whether an output has a column of this table."""
    columns = (column for output in select.selects for column in output.find_all(exp.Column))
    return any(column.table.lower() == alias.lower() for column in columns)


def _title(table: Table) -> str | None:
    """The one column that is the name of a row."""
    for ends in _TITLES:
        found = [column.name for column in table.columns if words(column.name)[-1:] == (ends,)]
        if found:
            return found[0] if len(found) == 1 else None
    return None
