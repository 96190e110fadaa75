"""Tables that a query joins to look up names, and that the schema lacks since a column has the names itself."""

from __future__ import annotations

from sqljury.language.alike import pieces
from sqljury.sql.names.near import is_name_of
from sqljury.sql.parse import exp
from sqljury.sql.resolve import find_table, may_be_text, tables_of
from sqljury.types import Schema


def leave_out(tree: exp.Expr, schema: Schema) -> None:
    """Leave out all such tables of a query."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in list(tree.find_all(exp.Table)):
        if node.name.lower() not in named and find_table(schema, node) is None:
            left_out(node, schema)


def left_out(node: exp.Table, schema: Schema, *, like_others: bool = False) -> bool:
    """Leave out a table that the schema lacks if it is called like the column of text it is joined on; True if it was.

    ``JOIN practice_areas AS p ON p.id = m.practice_area`` goes, and ``p.name`` becomes ``m.practice_area``; so does
    ``country`` joined on ``country_code``, and ``payment_method`` on ``method`` of ``payment``. Of a name that is
    ``like_others`` of the schema only the last is left out.
    """
    join, select, alias = node.parent, node.find_ancestor(exp.Select), node.alias_or_name.lower()
    condition = join.args.get("on") if isinstance(join, exp.Join) else None
    if join is None or select is None or not isinstance(condition, exp.EQ):
        return False
    sides = [side for side in (condition.this, condition.expression) if isinstance(side, exp.Column)]
    here = [side for side in sides if side.table.lower() != alias]
    if len(sides) != 2 or len(here) != 1:
        return False
    table = tables_of(select, schema).get(here[0].table.lower())
    ours, theirs = pieces(here[0].name), pieces(node.name)
    whole = table is not None and theirs in ((*pieces(table.name), *ours), (*pieces(table.name)[-1:], *ours))
    called = theirs == ours or is_name_of(here[0].name, node.name)
    if not whole and (like_others or not called):
        return False
    columns = [] if table is None else [known for known in table.columns if known.name.lower() == here[0].name.lower()]
    if not columns or not may_be_text(columns[0]):
        return False
    join.pop()
    for column in list(select.find_all(exp.Column)):
        if column.table.lower() == alias:
            column.replace(here[0].copy())
    group = select.args.get("group")
    if group is not None:  # by the table's key and its name
        group.set("expressions", list(dict.fromkeys(group.expressions)))
    return True
