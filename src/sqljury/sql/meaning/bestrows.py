"""Rows with the greatest or smallest value of each group, where a query shows those of all, or the value alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqljury.language.alike import pieces
from sqljury.language.superlatives import BestRow, said_of_each, wanted_row
from sqljury.sql.conditions import conjuncts, outer_conjuncts
from sqljury.sql.meaning.base import TITLES, Asked, Change, ends, single_select
from sqljury.sql.meaning.best import AFFIXES, Groups, bare, is_aggregate, is_plain, named_thing, top_ranked
from sqljury.sql.meaning.groups import fixed_by
from sqljury.sql.meaning.itself import merge_equal_rows
from sqljury.sql.meaning.named import name_columns
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, from_items, identifier, owner, sources_of
from sqljury.sql.terms import group_keys, meant
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
    extremes = [extreme for extreme in (_extreme(part, query, asked) for part in parts) if extreme is not None]
    if sources is None or len(extremes) != 1:
        return None
    [extreme] = extremes
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
    call, items = inner.selects[0].unalias(), from_items(inner)
    if set(filter(inner.args.get, inner.args)) - {"expressions", "from_", "where"} or len(items) != 1:
        return None
    if not isinstance(call, exp.Max | exp.Min) or not isinstance(call.this, exp.Column) or call.expressions:
        return None
    alias, table = owned
    inside = [owner(node, asked.schema) for node in inner.find_all(exp.Column)]
    same = call.this.name.lower() == column.name.lower() if column is not None else False
    here = items[0].alias_or_name.lower()
    if not same or any(pair is None or pair[1] is not table or pair[0] != here for pair in inside):
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
    columns = set()
    for node in shown:
        owned = owner(node, asked.schema)
        if owned is None or not _is_named(node.name, owned[1], phrase, alone=owned[0] == extreme.alias):
            continue
        if owned[0] == extreme.alias:
            columns.add(node.name.lower())
        else:
            row_key = [name.lower() for name in owned[1].row_key]
            columns |= {
                here.name
                for here, other in pairs
                if here.alias == extreme.alias and other.alias == owned[0] and row_key == [other.name]
            }
    return columns - keys


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
        identifier(next(field.name for field in table.columns if field.name.lower() == name), asked.dialect)
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
    alias = next(label for label in ("m", "m2", "m3", "m4", "m5") if label not in taken)
    outer = next(source for source in sources.tables if source.lower() == extreme.alias)
    for column in inner.find_all(exp.Column):
        column.set("table", exp.to_identifier(alias))
    node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    there = sources.column(outer, next(field.name for field in extreme.table.columns if field.name.lower() == name))
    here = exp.Column(this=there.this.copy(), table=exp.to_identifier(alias))
    inner.where(exp.EQ(this=here, expression=there), copy=False)


class _Measure(NamedTuple):
    """The greatest or smallest that a query shows: its place among the outputs, and the column of which table."""

    at: int
    call: exp.Max | exp.Min
    alias: str
    table: Table


def named_best(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the row that is the best of each group, where the question asks for it and the query has its measure alone.

    The query groups by what "each" is said of, and shows besides one MAX or MIN of a column of the table that the
    question names, which has a column for the names of its rows. No output tells which row it is.
    """
    best = wanted_row(asked.question.text)
    select = single_select(tree) if best is not None else None
    if best is None or select is None or not is_plain(select) or select.args.get("having"):
        return None
    measure, groups, sources = _measure(select, asked), Groups(select, asked.schema), sources_of(select, asked.schema)
    if measure is None or sources is None or not any(map(groups.are_of, best.each)) or not _is_asked(best, measure):
        return None
    names, alias = name_columns(measure.table), sources.alias(measure.alias)
    if not names or alias is None or _tells_row(select, measure, names, asked):
        return None
    query = _ranked(select, measure, [sources.column(alias, name) for name in names], asked)
    return Change(
        "the question asks for the best row of each, and the query shows no row", query=query, without=("keys",)
    )


def _measure(select: exp.Select, asked: Asked) -> _Measure | None:
    """The only aggregate that a query shows, and the only one it sorts by, if it is MAX or MIN of a column."""
    shown = [(at, item) for at, item in enumerate(select.selects) if is_aggregate(item)]
    call = bare(shown[0][1]) if len(shown) == 1 else None
    column = call.this if isinstance(call, exp.Max | exp.Min) and not call.expressions else None
    owned = owner(column, asked.schema) if isinstance(column, exp.Column) else None
    order = select.args.get("order")
    keys = [] if order is None else [meant(key.this, select) for key in order.expressions]
    if owned is None or any(is_aggregate(key) and bare(key) != call for key in keys):
        return None
    return _Measure(shown[0][0], call, *owned) if isinstance(call, exp.Max | exp.Min) else None


def _is_asked(best: BestRow, measure: _Measure) -> bool:
    """Whether the question asks for a row of the table, by the end that the query takes."""
    name = tuple(word for word in pieces(measure.table.name) if word not in AFFIXES)
    ends = best.descending is None or best.descending == isinstance(measure.call, exp.Max)
    return ends and best.is_of(name)


def _tells_row(select: exp.Select, measure: _Measure, names: list[str], asked: Asked) -> bool:
    """Whether the outputs or the groups have a name or the key of the rows of the measure's table."""
    nodes = [*(item for item in select.selects if not is_aggregate(item)), *group_keys(select)[0]]
    columns = [column for node in nodes for column in meant(node, select).find_all(exp.Column)]
    owners = [(column.name.lower(), owner(column, asked.schema)) for column in columns]
    shown = {name for name, owned in owners if owned is None or owned[0] == measure.alias}
    table = measure.table
    keys = [{name.lower() for name in key} for key in (table.primary_key, table.row_key, *table.unique_keys)]
    return bool(shown & {name.lower() for name in names}) or any(key and key <= shown for key in keys)


def _ranked(select: exp.Select, measure: _Measure, names: list[exp.Column], asked: Asked) -> exp.Select:
    """The rows with rank 1 in their group: its outputs, the names and the measure."""
    column = measure.call.this

    def of_row(node: exp.Expr) -> exp.Expr:
        row: exp.Expr = node.copy().transform(lambda part: column.copy() if part == measure.call else part)
        return row

    rows = select.copy()
    outputs = [of_row(item) for item in select.selects]
    outputs[measure.at : measure.at] = [name.copy() for name in names]
    order = select.args.get("order")
    if order is not None:
        for ordered, given in zip(rows.args["order"].expressions, order.expressions, strict=True):
            ordered.set("this", of_row(meant(given.this, select)))
    rows.set("expressions", outputs)
    rows.set("group", None)
    ranked_by = exp.Ordered(this=column.copy(), desc=isinstance(measure.call, exp.Max), nulls_first=False)
    partition = [meant(key, select).copy() for key in group_keys(select)[0]]
    query = top_ranked(rows, partition, ranked_by, asked.dialect)
    return query.distinct() if _is_repeated(select, measure, asked) else query


def _is_repeated(select: exp.Select, measure: _Measure, asked: Asked) -> bool:
    """Whether the joins of a query may have a row of the measure's table several times."""
    sources = sources_of(select, asked.schema)
    aliases = {alias.lower() for alias in sources.tables} if sources is not None else set()
    return not aliases <= fixed_by(select, measure.alias, asked)[0]
