"""A table joined with itself the wrong way round: the superior of somebody, where those who report to them are asked.

``JOIN worker AS b ON a.id = b.supervisor_id WHERE b.name = 'Thorne'`` finds Thorne's supervisor, and with the columns
changed those whom Thorne supervises. The words around the name tell which is meant.
"""

from __future__ import annotations

from sqljury.language.cues import asks_for_superior
from sqljury.sql.meaning.base import Asked, Change, End, ends, single_select
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner
from sqljury.types import ForeignKey, Table


def superiors(tree: exp.Query, asked: Asked) -> Change | None:
    """Join two rows of a table as the question says: who "reports to NAME" is below, "the boss of NAME" above."""
    select = single_select(tree)
    sides = _own_join(select, asked) if select is not None else None
    if select is None or sides is None:
        return None
    parts = [owner(node, asked.schema) for part in select.selects for node in part.find_all(exp.Column)]
    shown = {part[0] for part in parts if part is not None} & set(sides)
    if len(shown) != 1:
        return None
    [ours], [theirs] = shown, set(sides) - shown
    above = asks_for_superior(asked.question.text, _texts(select, theirs, asked))
    if above is None:
        return None
    table = sides[ours].table
    upward = {key.columns[0].lower(): key.ref_columns[0].lower() for key in table.foreign_keys if _is_own(key, table)}
    # The query shows the superior where the other row's key leads to the row that it shows.
    shows_above = upward.get(sides[theirs].name) == sides[ours].name
    shows_below = upward.get(sides[ours].name) == sides[theirs].name
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


def _own_join(select: exp.Select, asked: Asked) -> dict[str, End] | None:
    """By alias, what the only join of a query equates of two rows of one table; None for any other query."""
    joins: list[exp.Join] = select.args.get("joins") or []
    equated = ends(joins[0].args.get("on"), asked.schema) if len(joins) == 1 and not joins[0].side else None
    if equated is None or equated[0].table is not equated[1].table:
        return None
    return {end.alias: end for end in equated}


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
