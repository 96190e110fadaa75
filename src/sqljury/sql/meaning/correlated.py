"""Rows with the greatest or smallest value of all, where the question asks for those of each group."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqljury.language.alike import pieces
from sqljury.language.superlatives import said_of_each
from sqljury.sql.conditions import conjuncts, outer_conjuncts
from sqljury.sql.meaning.base import TITLES, Asked, Change, ends
from sqljury.sql.meaning.best import named_thing
from sqljury.sql.meaning.itself import merge_equal_rows
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, from_items, identifier, owner, sources_of
from sqljury.types import Table


class _Extreme(NamedTuple):
    """A condition that a column is the MAX or MIN of all rows of its table, with the alias of that table outside."""

    inner: exp.Select
    alias: str
    table: Table


def extreme_of_each(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the extreme of each group that the question names: ``WHERE price = (SELECT MAX(price) FROM item)``.

    The group is a column of the same table among the outputs, or the key to another table of which one is shown.
    """
    phrases = said_of_each(asked.question.text)
    if not phrases or not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) != 2:
        return None
    query = tree.copy()
    merge_equal_rows(query, asked)
    if not isinstance(query, exp.Select) or query.args.get("group") or query.find(exp.Window) is not None:
        return None
    sources = sources_of(query, asked.schema)
    parts = outer_conjuncts(query.args.get("where"))
    found = [extreme for extreme in (_extreme(part, query, asked) for part in parts) if extreme is not None]
    if sources is None or len(found) != 1:
        return None
    [extreme] = found
    names = next(filter(None, (_groups(phrase, query, extreme, asked) for phrase in phrases)), set())
    if len(names) != 1:
        return None
    [name] = names
    if not _repeats(name, extreme.table, asked):
        return None
    _correlate(extreme, name, query, sources)
    reason = "the question asks for the extreme of each, and the query had that of all"
    return Change(reason, query=query, without=("join", "conditions"))


def _extreme(condition: exp.Expr, query: exp.Select, asked: Asked) -> _Extreme | None:
    """The subquery of ``x = (SELECT MAX(x) FROM t)``, with no condition that the query around it lacks."""
    if not isinstance(condition, exp.EQ):
        return None
    sides = condition.this, condition.expression
    column = next((side for side in sides if isinstance(side, exp.Column)), None)
    inner = next((side.unnest() for side in sides if isinstance(side, exp.Subquery)), None)
    owned = owner(column, asked.schema) if column is not None else None
    if owned is None or not isinstance(inner, exp.Select) or len(inner.selects) != 1:
        return None
    call, own = inner.selects[0].unalias(), from_items(inner)
    if set(filter(inner.args.get, inner.args)) - {"expressions", "from_", "where"} or len(own) != 1:
        return None
    if not isinstance(call, exp.Max | exp.Min) or not isinstance(call.this, exp.Column) or call.expressions:
        return None
    alias, table = owned
    inside = [owner(node, asked.schema) for node in inner.find_all(exp.Column)]
    same = call.this.name.lower() == column.name.lower() if column is not None else False
    here = own[0].alias_or_name.lower()
    if not same or any(each is None or each[1] is not table or each[0] != here for each in inside):
        return None
    if not {*map(_bare, conjuncts(inner.args.get("where")))} <= {*map(_bare, conjuncts(query.args.get("where")))}:
        return None
    return _Extreme(inner, alias, table)


def _bare(condition: exp.Expr) -> exp.Expr:
    """A condition without the aliases of its columns."""
    copy = condition.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy


def _groups(phrase: Sequence[str], query: exp.Select, extreme: _Extreme, asked: Asked) -> set[str]:
    """The columns of the table that words name among the outputs, or that refer to the row of such an output."""
    outputs = [item.unalias() for item in query.selects]
    shown = [node for node in outputs if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star)]
    if len(shown) < len(outputs):
        return set()
    conditions = [part for join in query.args.get("joins") or () for part in conjuncts(join.args.get("on"))]
    pairs = [pair for pair in (ends(part, asked.schema) for part in conditions) if pair is not None]
    pairs += [(there, here) for here, there in pairs]
    keys = {name.lower() for name in extreme.table.row_key}
    found = set()
    for node in shown:
        owned = owner(node, asked.schema)
        if owned is None or not _is_named(node.name, owned[1], phrase, alone=owned[0] == extreme.alias):
            continue
        if owned[0] == extreme.alias:
            found.add(node.name.lower())
        else:
            there = [name.lower() for name in owned[1].row_key]
            found |= {
                here.name
                for here, other in pairs
                if here.alias == extreme.alias and other.alias == owned[0] and there == [other.name]
            }
    return found - keys


def _is_named(name: str, table: Table, phrase: Sequence[str], *, alone: bool) -> bool:
    """Whether words are the name of a column, with that of its table before it or without.

    Unless ``alone``, also whether they are the name of the table, of which the column names a row.
    """
    thing, of = named_thing(name), pieces(table.name)
    forms: Collection[Sequence[str]] = [pieces(name), thing, (*of, *thing)]
    if alone and {*phrase} <= {*of}:  # each row of the table itself
        return False
    if any(tuple(form) == tuple(phrase) for form in forms):
        return True
    return not alone and of == tuple(phrase) and (thing != pieces(name) or name.lower() in TITLES)


def _repeats(name: str, table: Table, asked: Asked) -> bool:
    """Whether several rows of a table have the same value in a column."""
    column = exp.column(
        identifier(next(each.name for each in table.columns if each.name.lower() == name), asked.dialect)
    )
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    probe = (
        exp.select(exp.Literal.number(1)).from_(table_node(table, asked.dialect)).where(column.is_(exp.null()).not_())
    )
    return bool(asked.data.rows(probe.group_by(column).having(several).limit(1).sql(dialect=asked.dialect)))


def _correlate(extreme: _Extreme, name: str, query: exp.Select, sources: Sources) -> None:
    """Restrict the subquery to the rows that have the same value as the row outside."""
    inner, [node] = extreme.inner, from_items(extreme.inner)
    taken = {item.alias_or_name.lower() for item in from_items(query)}
    alias = next(each for each in ("m", "m2", "m3", "m4", "m5") if each not in taken)
    outer = next(each for each in sources.tables if each.lower() == extreme.alias)
    for column in inner.find_all(exp.Column):
        column.set("table", exp.to_identifier(alias))
    node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    there = sources.column(outer, next(each.name for each in extreme.table.columns if each.name.lower() == name))
    here = exp.Column(this=there.this.copy(), table=exp.to_identifier(alias))
    inner.where(exp.EQ(this=here, expression=there), copy=False)
