"""Rows of a tree that are below a named one: "categories under Food", of a table whose key leads to its own rows."""

from __future__ import annotations

from typing import NamedTuple

from sqljury.language.alike import mentions
from sqljury.language.superiors import leads_upward, told_below
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import compared_with, find_table, from_items, identifier, owner
from sqljury.types import ForeignKey, Table


class _Row(NamedTuple):
    """A row that a query asks for by its name: the condition, the column, its alias and table, and the table's key."""

    condition: exp.EQ
    column: exp.Column
    alias: str
    table: Table
    key: ForeignKey


def below_named(tree: exp.Query, asked: Asked) -> Change | None:
    """Ask for the rows whose key leads to the named one where the query asks for that one, or for the one above it.

    ``WHERE name = 'Food'`` becomes ``WHERE parent_id = (SELECT id FROM category WHERE name = 'Food')``, and so does
    ``WHERE id IN (SELECT parent_id FROM category WHERE name = 'Food')``. "Products under Food" may be of that category
    itself: then they are looked for below it only if it has none. A subquery for the row of the name stays: what it is
    compared with may be a column of any table.
    """
    rows = [row for node in tree.find_all(exp.EQ) if (row := _named(node, asked)) is not None]
    if len(rows) != 1 or rows[0].condition.find_ancestor(exp.Not, exp.Or, exp.Case) is not None:
        return None
    [row] = rows
    text = f"the question asks for what is below {row.condition.expression.name}"
    select = row.condition.parent_select
    if not isinstance(select, exp.Select) or sum(_is_of(item, row, asked) for item in from_items(select)) != 1:
        return None  # joined with another row of the table, one of both is above
    ends = _ends(select, row, asked)
    if ends is not None:
        outer, inner = ends
        if inner.name.lower() != row.key.columns[0].lower():
            return None
        outer.set("this", identifier(row.key.columns[0], asked.dialect))
        inner.set("this", identifier(row.key.ref_columns[0], asked.dialect))
        return Change(text, may_empty=True)
    if select is not tree or _is_tied(tree, row, asked):
        return None
    if not _shows(select, row, asked) and not _finds_nothing(tree, asked):
        return None
    names = [identifier(name, asked.dialect) for name in (row.key.ref_columns[0], row.column.name)]
    named = exp.EQ(this=exp.column(names[1]), expression=row.condition.expression.copy())
    above = exp.select(exp.column(names[0])).from_(table_node(row.table, asked.dialect)).where(named)
    qualifier = row.column.args.get("table")
    key = exp.column(identifier(row.key.columns[0], asked.dialect), table=qualifier.copy() if qualifier else None)
    row.condition.replace(exp.In(this=key, query=above.subquery()))
    return Change(text, may_empty=True)


def _named(node: exp.EQ, asked: Asked) -> _Row | None:
    """The row that a condition names, if the question has words for "below" beside its name."""
    column, text = node.this, node.expression
    known = held(column, asked.schema)
    if known is None or not isinstance(text, exp.Literal) or not text.is_string:
        return None
    keys = [key for key in known.table.foreign_keys if len(key.columns) == 1 and key.leads_to(known.table)]
    if len(keys) != 1 or not leads_upward(keys[0].columns[0]):
        return None
    if not mentions(told_below(text.name, asked.question.text), words(known.table.name)):
        return None  # "whose name is entered under Sales" asks for no unit below it
    owned = owner(column, asked.schema)
    return _Row(node, column, owned[0], known.table, keys[0]) if owned is not None else None


def _is_of(item: exp.Expr, row: _Row, asked: Asked) -> bool:
    return isinstance(item, exp.Table) and find_table(asked.schema, item) is row.table


def _ends(select: exp.Select, row: _Row, asked: Asked) -> tuple[exp.Column, exp.Column] | None:
    """What a subquery for the row is compared with and its output, if both are columns of the table."""
    outer = compared_with(select)
    inner = select.selects[0].unalias() if len(select.selects) == 1 else None
    known = held(outer, asked.schema)
    if outer is None or known is None or known.table is not row.table or not isinstance(inner, exp.Column):
        return None
    return outer, inner


def _shows(select: exp.Select, row: _Row, asked: Asked) -> bool:
    """Whether a query shows the names or keys of rows of the row's table, and nothing else."""
    naming = {row.column.name.lower(), *map(str.lower, row.table.row_key)}
    shown = [item.unalias() for item in select.selects]
    owners = [owner(node, asked.schema) if isinstance(node, exp.Column) else None for node in shown]
    return all(owned is not None and owned[0] == row.alias for owned in owners) and all(
        node.name.lower() in naming for node in shown
    )


def _finds_nothing(tree: exp.Query, asked: Asked) -> bool:
    rows = asked.data.rows(tree.sql(dialect=asked.dialect))
    return rows is not None and not any(any(row) for row in rows)


def _is_tied(tree: exp.Query, row: _Row, asked: Asked) -> bool:
    """Whether the query has the key that leads upward already, or another row of the table."""
    tables = [node for node in tree.find_all(exp.Table) if _is_of(node, row, asked)]
    keys = [node for node in tree.find_all(exp.Column) if node.name.lower() == row.key.columns[0].lower()]
    return len(tables) > 1 or bool(keys)
