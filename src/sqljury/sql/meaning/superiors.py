"""A table joined with itself the wrong way round: the superior of somebody, where those who report to them are asked.

``JOIN worker AS b ON a.id = b.supervisor_id WHERE b.name = 'Thorne'`` finds Thorne's supervisor, and with the columns
changed those whom Thorne supervises. The words around the name tell which is meant. Without a name the words of a
comparison do: "more than their manager".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqljury.language.cues import asks_for_superior
from sqljury.language.superiors import Comparison, compared_with_superior, leads_upward
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, End, ends, held, holds_days, single_select
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, owner
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
    _turn_round(sides[ours].node, sides[theirs].node)
    wanted = "the superior of somebody" if above else "those who report to somebody"
    return Change(f"the question asks for {wanted}, and {table.name} was joined the other way round")


def compared_superiors(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare each row with the one above it where the question says "more than their manager", not with those below.

    ``WHERE e.pay > (SELECT MAX(x.pay) FROM employee AS x WHERE x.manager_id = e.id)`` becomes ``x.id = e.manager_id``,
    and so do EXISTS, IN and a join of the table with itself. Only where the query ties rows of a table by one key that
    is called after superiors, once, compares one column of the two, once, in the direction of the question, and shows
    the row that the question is about. What stands in OR, NOT, CASE or ALL is left alone.
    """
    comparison = compared_with_superior(asked.question.text)
    ties = list(_own_ties(tree, asked)) if comparison is not None else []
    if comparison is None or len(ties) != 1:
        return None
    [(below, above)] = ties
    pairs = list(_compared_rows(tree, {below.alias, above.alias}, comparison, asked))
    if len(pairs) != 1 or not _is_about(above, below, asked, alone=comparison in ("same", "different")):
        return None
    greater = pairs[0].greater
    if greater and _has_more(comparison, pairs[0], asked) is not (greater == above.alias):
        return None
    _turn_round(below.node, above.node)
    reason = f"the question compares with the superior, and {above.table.name} was compared with those below"
    return Change(reason, may_empty=True)  # nobody may earn more than their manager


def _turn_round(first: exp.Column, second: exp.Column) -> None:
    """Let each of two columns have the name of the other one, of its own row."""
    name = first.this.copy()
    first.set("this", second.this.copy())
    second.set("this", name)


class _Pair(NamedTuple):
    """A column of two rows that are compared, and the alias of the row that has to have more; empty for = and <>."""

    column: exp.Column
    greater: str


def _own_ties(tree: exp.Query, asked: Asked) -> Iterator[tuple[End, End]]:
    """What a query equates of two rows of a table by a key of its own that leads upward: the key, and what it names."""
    for node in tree.find_all(exp.EQ, exp.In):
        equated = ends(_as_equality(node), asked.schema)
        if equated is None or equated[0].table is not equated[1].table:
            continue
        keys = [key for key in equated[0].table.foreign_keys if _is_own(key, equated[0].table)]
        names = {(key.columns[0].lower(), key.ref_columns[0].lower()) for key in keys if leads_upward(key.columns[0])}
        for below, above in (equated, equated[::-1]):
            if (below.name, above.name) in names and _must_hold(node):
                yield below, above


def _as_equality(node: exp.Expr) -> exp.Expr:
    """``x IN (SELECT y ...)`` as the equality of the columns, which stay where they are."""
    within = node.args.get("query") if isinstance(node, exp.In) else None
    if within is None:
        return node
    made = exp.EQ()
    made.args.update(this=node.this, expression=_value(within))
    return made


def _must_hold(node: exp.Expr) -> bool:
    """Whether a condition of WHERE or ON has to be met."""
    inside = node.find_ancestor(exp.Not, exp.Or, exp.Case, exp.All)
    return inside is None and node.find_ancestor(exp.Where, exp.Join, exp.Having) is not None


def _compared_rows(tree: exp.Query, rows: set[str], comparison: Comparison, asked: Asked) -> Iterator[_Pair]:
    """The comparisons of one column of these two rows, of the kind that the question makes."""
    kinds = {"same": (exp.EQ,), "different": (exp.NEQ,)}.get(comparison, (exp.GT, exp.GTE, exp.LT, exp.LTE))
    for node in tree.find_all(*kinds):
        columns = [column for side in (node.this, node.expression) for column in _value(side).find_all(exp.Column)]
        owned = [owner(column, asked.schema) for column in columns]
        aliases = [source[0] for source in owned if source is not None]
        if len(columns) != len(rows) or {*aliases} != rows or not _must_hold(node):
            continue
        left, right = columns
        if left.name.lower() == right.name.lower() and not node.find(exp.Count) and not _is_key(left, asked):
            upwards = isinstance(node, exp.LT | exp.LTE)
            yield _Pair(left, "" if comparison in ("same", "different") else aliases[upwards])


def _value(side: exp.Expr) -> exp.Expr:
    """The output of a subquery that has one and no groups; any other expression itself."""
    node = side
    while isinstance(node, exp.Paren | exp.Subquery | exp.Any):
        node = node.this
    if isinstance(node, exp.Select) and len(node.selects) == 1 and not node.args.get("group"):
        return node.selects[0].unalias()
    return side


def _is_key(column: exp.Column, asked: Asked) -> bool:
    """Whether a column is the key of its table, or its own key that leads to another row."""
    known = held(column, asked.schema)
    if known is None:
        return True
    keys = [key.columns for key in known.table.foreign_keys if _is_own(key, known.table)]
    return (known.column.name,) in (known.table.row_key, *keys)


def _is_about(above: End, below: End, asked: Asked, *, alone: bool) -> bool:
    """Whether the query, around a subquery that compares, shows the row that is above, or none of the two.

    The row must be shown ``alone`` where both sides of the comparison are alike.
    """
    around, inside = _selected_in(above), _selected_in(below)
    while inside is not None and inside is not around:
        inside = inside.parent_select
    if around is None or inside is None:
        return False
    columns = [column for item in around.selects for column in item.find_all(exp.Column)]
    owned = [(owner(column, asked.schema) or (column.table.lower(),))[0] for column in columns]
    shown = {alias for alias in owned if alias in (above.alias, below.alias)}
    return shown == {above.alias} if alone else not shown or above.alias in shown


def _selected_in(end: End) -> exp.Select | None:
    """The SELECT whose FROM has the row of a column."""
    select = end.node.parent_select
    while select is not None and end.alias not in {item.alias_or_name.lower() for item in from_items(select)}:
        select = select.parent_select
    return select


def _has_more(comparison: Comparison, pair: _Pair, asked: Asked) -> bool | None:
    """Whether the row that the question is about has more in the column; None where the column does not tell.

    The older one has more years, and the earlier date of birth.
    """
    known = held(pair.column, asked.schema)
    days, named = known is not None and holds_days(known, asked.data), {*words(pair.column.name)}
    if comparison in ("earlier", "later"):
        return comparison == "later"
    if comparison in ("more", "less"):
        return None if days else comparison == "more"
    if days or named & {"birth", "born"}:
        return comparison == "younger"
    return comparison == "older" if "age" in named else None


def _is_own(key: ForeignKey, table: Table) -> bool:
    return len(key.columns) == 1 and key.leads_to(table)


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
    texts = []
    for node in where.find_all(exp.EQ, exp.Like, exp.ILike) if where is not None else ():
        sides = (node.this, node.expression)
        owners = [owner(column, asked.schema) for side in sides for column in side.find_all(exp.Column)]
        if any(owned is not None and owned[0] == alias for owned in owners):
            texts += [side.name.strip("%") for side in sides if isinstance(side, exp.Literal) and side.is_string]
    return texts
