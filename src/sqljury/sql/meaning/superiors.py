"""A table joined with itself the wrong way round: the superior of somebody, where those who report to them are asked.

``JOIN worker AS b ON a.id = b.supervisor_id WHERE b.name = 'Thorne'`` finds Thorne's supervisor, and with the columns
changed those whom Thorne supervises. The words around the name tell which is meant.
"""

from __future__ import annotations

from sqljury.language.cues import asks_for_superior
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner
from sqljury.types import ForeignKey, Table


def superiors(tree: exp.Query, asked: Asked) -> Change | None:
    """Join two rows of a table as the question says: who "reports to NAME" is below, "the boss of NAME" above."""
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1:
        return None
    joins: list[exp.Join] = tree.args.get("joins") or []
    condition = joins[0].args.get("on") if len(joins) == 1 and not joins[0].side else None
    ends = [owner(side, asked.schema) for side in _columns(condition)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0][1] is not ends[1][1] or ends[0][0] == ends[1][0]:
        return None
    table = ends[0][1]
    upward = {key.columns[0].lower(): key.ref_columns[0].lower() for key in table.foreign_keys if _is_own(key, table)}
    sides = dict(zip((end[0] for end in ends if end is not None), _columns(condition), strict=True))
    names = {alias: column.name.lower() for alias, column in sides.items()}
    shown = {owned[0] for part in tree.selects for node in part.find_all(exp.Column) if (owned := _of(node, asked))}
    if len(shown) != 1:
        return None
    [ours] = shown
    [theirs] = set(names) - shown or [""]
    above = asks_for_superior(asked.question.text, _texts(tree, theirs, asked)) if theirs else None
    if above is None:
        return None
    # The query shows the superior where the other row's key leads to the row that it shows.
    shows_above = upward.get(names[theirs]) == names[ours]
    shows_below = upward.get(names[ours]) == names[theirs]
    if shows_above in (shows_below, above):
        return None
    first, second = sides[ours], sides[theirs]
    name = first.this.copy()
    first.set("this", second.this.copy())
    second.set("this", name)
    wanted = "the superior of somebody" if above else "those who report to somebody"
    return Change(f"the question asks for {wanted}, and {table.name} was joined the other way round")


def _is_own(key: ForeignKey, table: Table) -> bool:
    return len(key.columns) == 1 and key.ref_table.lower() == table.name.lower()


def _columns(condition: exp.Expr | None) -> list[exp.Column]:
    if not isinstance(condition, exp.EQ):
        return []
    return [side for side in (condition.this, condition.expression) if isinstance(side, exp.Column)]


def _of(node: exp.Column, asked: Asked) -> tuple[str, Table] | None:
    return owner(node, asked.schema)


def _texts(tree: exp.Select, alias: str, asked: Asked) -> list[str]:
    """The texts with which the query compares columns of one alias."""
    where = tree.args.get("where")
    found = []
    for node in where.find_all(exp.EQ, exp.Like, exp.ILike) if where is not None else ():
        sides = (node.this, node.expression)
        owners = [_of(column, asked) for side in sides for column in side.find_all(exp.Column)]
        if any(owned is not None and owned[0] == alias for owned in owners):
            found += [side.name.strip("%") for side in sides if isinstance(side, exp.Literal) and side.is_string]
    return found
