"""The best row of each: "the most expensive product in each category", where the query shows its price alone."""

from __future__ import annotations

from typing import NamedTuple

from sqljury.language.alike import pieces
from sqljury.language.superlatives import BestRow, wanted_row
from sqljury.sql.meaning.base import Asked, Change, single_select
from sqljury.sql.meaning.best import AFFIXES, Groups, bare, is_aggregate, is_plain, top_ranked
from sqljury.sql.meaning.groups import fixed_by
from sqljury.sql.meaning.named import name_columns
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner, sources_of
from sqljury.sql.terms import group_keys, meant
from sqljury.types import Table


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
    own = {name for name, owned in owners if owned is None or owned[0] == measure.alias}
    table = measure.table
    keys = [{name.lower() for name in key} for key in (table.primary_key, table.row_key, *table.unique_keys)]
    return bool(own & {name.lower() for name in names}) or any(key and key <= own for key in keys)


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
    return query.distinct() if _repeats(select, measure, asked) else query


def _repeats(select: exp.Select, measure: _Measure, asked: Asked) -> bool:
    """Whether the joins of a query may have a row of the measure's table several times."""
    sources = sources_of(select, asked.schema)
    aliases = {alias.lower() for alias in sources.tables} if sources is not None else set()
    return not aliases <= fixed_by(select, measure.alias, asked)[0]
