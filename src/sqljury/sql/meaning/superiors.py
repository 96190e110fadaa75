"""A table joined with itself the wrong way round: the superior of somebody, where those who report to them are asked.

``JOIN worker AS b ON a.id = b.supervisor_id WHERE b.name = 'Thorne'`` finds Thorne's supervisor, and with the columns
changed those whom Thorne supervises. The words around the name tell which is meant.
"""

from __future__ import annotations

from typing import NamedTuple

from sqljury.language.cues import asks_for_superior
from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner
from sqljury.types import Column, ForeignKey, Table


class _Side(NamedTuple):
    node: exp.Column
    table: Table
    column: Column


def superiors(tree: exp.Query, asked: Asked) -> Change | None:
    """Join two rows of a table as the question says: who "reports to NAME" is below, "the boss of NAME" above."""
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1:
        return None
    sides = _own_join(tree, asked)
    if sides is None:
        return None
    parts = [owner(node, asked.schema) for part in tree.selects for node in part.find_all(exp.Column)]
    shown = {part[0] for part in parts if part is not None} & set(sides)
    if len(shown) != 1:
        return None
    [ours], [theirs] = shown, set(sides) - shown
    above = asks_for_superior(asked.question.text, _texts(tree, theirs, asked))
    if above is None:
        return None
    table, names = sides[ours].table, {alias: side.column.name.lower() for alias, side in sides.items()}
    upward = {key.columns[0].lower(): key.ref_columns[0].lower() for key in table.foreign_keys if _is_own(key, table)}
    # The query shows the superior where the other row's key leads to the row that it shows.
    shows_above = upward.get(names[theirs]) == names[ours]
    shows_below = upward.get(names[ours]) == names[theirs]
    if shows_above in (shows_below, above):
        return None
    first, second = sides[ours].node, sides[theirs].node
    name = first.this.copy()
    first.set("this", second.this.copy())
    second.set("this", name)
    wanted = "the superior of somebody" if above else "those who report to somebody"
    return Change(f"the question asks for {wanted}, and {table.name} was joined the other way round")


def _is_own(key: ForeignKey, table: Table) -> bool:
    return len(key.columns) == 1 and key.ref_table.lower() == table.name.lower()


def _own_join(tree: exp.Select, asked: Asked) -> dict[str, _Side] | None:
    """By alias, what the only join of a query equates of two rows of one table; None for any other query."""
    joins: list[exp.Join] = tree.args.get("joins") or []
    condition = joins[0].args.get("on") if len(joins) == 1 and not joins[0].side else None
    if not isinstance(condition, exp.EQ):
        return None
    sides: dict[str, _Side] = {}
    for node in (condition.this, condition.expression):
        known, owned = held(node, asked.schema), owner(node, asked.schema) if isinstance(node, exp.Column) else None
        if known is not None and owned is not None:
            sides[owned[0]] = _Side(node, known.table, known.column)
    tables = [side.table for side in sides.values()]
    return sides if len(tables) == 2 and tables[0] is tables[1] else None


def _texts(tree: exp.Select, alias: str, asked: Asked) -> list[str]:
    """The texts with which the query compares columns of one alias."""
    where = tree.args.get("where")
    found = []
    for node in where.find_all(exp.EQ, exp.Like, exp.ILike) if where is not None else ():
        sides = (node.this, node.expression)
        owners = [owner(column, asked.schema) for side in sides for column in side.find_all(exp.Column)]
        if any(owned is not None and owned[0] == alias for owned in owners):
            found += [side.name.strip("%") for side in sides if isinstance(side, exp.Literal) and side.is_string]
    return found
