"""Names of things that are asked for, where a query has the key that leads to them."""

from __future__ import annotations

from sqljury.language import cues
from sqljury.language.words import words
from sqljury.sql.meaning.base import TITLES, Asked, Change, Held, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, identifier, sources_of
from sqljury.sql.terms import group_keys
from sqljury.types import Table


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
            compared = there.table.name.lower(), (there.column.name.lower(),)
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
