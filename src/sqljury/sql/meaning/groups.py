"""Groups that a query lacks: for totals, for conditions that can only be about totals, and for the best of each."""

from __future__ import annotations

from collections.abc import Sequence

from sqljury.language import cues
from sqljury.language.alike import pieces
from sqljury.sql.conditions import conjuncts, outer_conjuncts, take_out
from sqljury.sql.grouping import bare_outputs, of_groups
from sqljury.sql.meaning.base import TITLES, Asked, Change, ends, held, is_met
from sqljury.sql.meaning.best import top_ranked
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, owner, tables_of
from sqljury.sql.terms import ordinal, outside_queries, resolved


def grouped(tree: exp.Query, asked: Asked) -> Change | None:
    """Add the GROUP BY that a query lacks, which has outputs of single rows beside aggregates.

    SQLite would take these outputs from any row; other engines refuse such a query.
    """
    if asked.dialect != "sqlite":
        return None
    changed = False
    for select in list(tree.find_all(exp.Select)):
        keys = bare_outputs(select)
        if keys and not select.args.get("group") and _needs_groups(select, keys):
            select.group_by(*(key.copy() for key in keys), copy=False)
            changed = True
    return Change("columns beside an aggregate are of any row, as the query has no groups") if changed else None


def _needs_groups(select: exp.Select, keys: Sequence[exp.Expr]) -> bool:
    """Whether all other outputs are aggregates of columns, and nothing else is taken of single rows."""
    order = select.args.get("order")
    others = [item.unalias() for item in select.selects if item.unalias() not in keys]
    calls = [call for output in others for call in outside_queries(output) if isinstance(call, exp.AggFunc)]
    if not calls or not of_groups(calls):
        return False
    if any(isinstance(node, exp.Window) for output in others for node in outside_queries(output)):
        return False
    aliases = {item.alias.lower() for item in select.selects if item.alias}
    sorted_by = [key.this for key in order.expressions] if order is not None else []
    sorted_by = [key for key in sorted_by if key not in keys and key.name.lower() not in aliases]
    return all(_is_aggregated(column) for part in (*others, *sorted_by) for column in part.find_all(exp.Column))


def _is_aggregated(column: exp.Column) -> bool:
    return isinstance(column.find_ancestor(exp.AggFunc, exp.Query), exp.AggFunc)


def totals(tree: exp.Query, asked: Asked) -> Change | None:
    """Move ``WHERE amount > 10000``, which no row meets, to ``HAVING SUM(amount) > 10000``.

    Customers who spent more than 10,000 are seldom those of a single order. The query adds the column up for its
    groups, or the question is about totals and the query shows the column beside those that are to be its groups. Not
    where the question has such an amount of single rows: "orders above 10000".
    """
    changed = False
    for select in list(tree.find_all(exp.Select)):
        conditions = conjuncts(select.args.get("where"))
        may_group = select is tree and cues.summed(asked.question.text)
        for condition in conditions:
            if not isinstance(condition, exp.GT | exp.GTE) or not isinstance(condition.this, exp.Column):
                continue
            total = _sum_of(condition.this, select, may_group=may_group)
            if total is None or _is_of_each_row(condition.this, asked) or not _is_of_no_row(condition, asked):
                continue
            changed = True
            if not select.args.get("group"):
                _add_up(condition.this, select)
            select.having(type(condition)(this=total, expression=condition.expression.copy()), copy=False)
            rest = [other.copy() for other in conjuncts(select.args.get("where")) if other != condition]
            select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    return Change("no row has so much, so the condition is about the sum of each group") if changed else None


def _sum_of(column: exp.Column, select: exp.Select, *, may_group: bool) -> exp.Expr | None:
    """The sum of a column in each group, if the query has it, or may get it by grouping."""
    total = exp.Sum(this=column.copy())
    if select.args.get("group"):
        sums = [node for node in select.find_all(exp.Sum) if node.parent_select is select]
        return total if total in sums else None
    outputs = [item.unalias() for item in select.selects]
    keys = [output for output in outputs if output != column]
    if not may_group or outputs.count(column) != 1 or not keys:
        return None
    if any(select.args.get(part) for part in ("distinct", "limit", "order")):
        return None
    return total if all(isinstance(key, exp.Column) and not key.is_star for key in keys) else None


def _add_up(column: exp.Column, select: exp.Select) -> None:
    """Show the sum of a column for each group of the other outputs."""
    keys = [item.unalias().copy() for item in select.selects if item.unalias() != column]
    for item in list(select.selects):
        if item.unalias() == column:
            total = exp.Sum(this=column.copy())
            item.replace(exp.alias_(total, item.args["alias"].copy()) if item.alias else total)
    select.group_by(*keys, copy=False)


def _is_of_each_row(column: exp.Column, asked: Asked) -> bool:
    """Whether the question asks for single rows of the column's table, or says their amount.

    "Regions with sales over 10000" have a sum, "all sales over 10000" are rows.
    """
    known, things = held(column, asked.schema), cues.of_single_rows(asked.question.text)
    if known is None or things is None:
        return True
    named = pieces(known.table.name)
    rows = [thing for thing in things if not cues.summed(thing)] + cues.asked_for(asked.question.text)
    return any(pieces(row)[-1:] == named[-1:] for row in rows)


def _is_of_no_row(condition: exp.Expr, asked: Asked) -> bool:
    """Whether a column is compared with a number that none of its rows reaches."""
    known, number = held(condition.this, asked.schema), condition.expression
    if known is None or not isinstance(number, exp.Literal) or number.is_string:
        return False
    column = exp.column(identifier(known.column.name, asked.dialect))
    return is_met(type(condition)(this=column, expression=number.copy()), known.table, asked) is False


def first_of_each(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the first of each group where the question asks for it, as by "in each region", and the query has LIMIT 1.

    The rows are ranked within the group that the question names, an output of the query; those with the rank 1 are
    the result, several of a group if they are equal.
    """
    limit = tree.args.get("limit")
    if not isinstance(tree, exp.Select) or not isinstance(limit, exp.Limit) or limit.expression.sql() != "1":
        return None
    order, group = tree.args.get("order"), tree.args.get("group")
    outputs = [item.unalias() for item in tree.selects]
    group_column = next(
        (output for output in outputs if isinstance(output, exp.Column) and _is_each(output, asked)), None
    )
    if group_column is None or len(outputs) < 2 or order is None or len(order.expressions) != 1:
        return None
    if any(tree.args.get(part) for part in ("distinct", "offset", "with_")) or tree.find(exp.Window) is not None:
        return None
    if (group is not None and group_column not in group.expressions) or not _has_several(tree, group_column, asked):
        return None  # one row for each already, of which the query takes the first
    ranked_by = order.expressions[0].copy()
    ranked_by.set("this", resolved(ordinal(ranked_by.this, tree), tree, ()).copy())
    if group_column in ranked_by.find_all(exp.Column):
        return None
    query = top_ranked(tree, [group_column], ranked_by, asked.dialect, keep_order=False)
    return Change(
        "the question asks for the first of each, and the query had that of all", query=query, without=("limit",)
    )


def _is_each(column: exp.Column, asked: Asked) -> bool:
    """Whether the column is the region of "in each region", or the name of a row of the table of regions."""
    wanted, known = pieces(cues.for_each(asked.question.text)), held(column, asked.schema)
    if not wanted or known is None:
        return False
    named, table = pieces(known.column.name), pieces(known.table.name)
    titled = bool(named) and named[-1] in TITLES
    return named == wanted or (titled and (named[:-1] == wanted or table[-len(wanted) :] == wanted))


def _has_several(tree: exp.Select, group_column: exp.Column, asked: Asked) -> bool:
    """Whether the query may have several rows for one region: it groups by more, or a region has several rows.

    ``GROUP BY regions.id, regions.name`` has one row for each region, as has the table of regions itself.
    """
    wanted, owned = pieces(cues.for_each(asked.question.text)), owner(group_column, asked.schema)
    group = tree.args.get("group")
    keys: Sequence[exp.Expr] = [] if group is None else group.expressions
    keys = [key for key in keys if not isinstance(key, exp.Column) or pieces(key.name)[: len(wanted)] != wanted]
    if owned is None or pieces(owned[1].name)[-len(wanted) :] != wanted:  # a column of other rows
        return bool(keys) or group is None
    aliases, columns = fixed_by(tree, owned[0], asked)
    if group is None:
        return not {*tables_of(tree, asked.schema)} <= aliases
    for key in keys:
        key_owner = owner(key, asked.schema) if isinstance(key, exp.Column) else None
        if key_owner is None or (key_owner[0] not in aliases and (key_owner[0], key.name.lower()) not in columns):
            return True
    return False


def fixed_by(tree: exp.Select, alias: str, asked: Asked) -> tuple[set[str], set[tuple[str, str]]]:
    """What has one value for a row of a table: the aliases that it refers to, itself too, and columns by alias."""
    conditions = [part for join in tree.args.get("joins") or () for part in conjuncts(join.args.get("on"))]
    pairs = [pair for pair in (ends(part, asked.schema) for part in conditions) if pair is not None]
    pairs += [pair[::-1] for pair in pairs]
    aliases, before = {alias}, 0
    while len(aliases) > before:
        before = len(aliases)
        aliases |= {
            there.alias
            for here, there in pairs
            if here.alias in aliases and [name.lower() for name in there.table.row_key] == [there.name]
        }
    return aliases, {(there.alias, there.name) for here, there in pairs if here.alias in aliases}


def counted_sets(tree: exp.Query, _asked: Asked) -> Change | None:
    """Count what EXCEPT or INTERSECT leaves, where the query has it between two counts.

    ``SELECT COUNT(DISTINCT a) ... EXCEPT SELECT COUNT(DISTINCT a) ...`` compares two numbers.
    """
    if not isinstance(tree, exp.Except | exp.Intersect):
        return None
    whole = tree.copy()
    columns = [_counted(side) for side in (whole.this, whole.expression)]
    if None in columns or len({column.name.lower() for column in columns if column is not None}) > 1:
        return None
    for side, column in zip((whole.this, whole.expression), columns, strict=True):
        side.set("expressions", [column])
    counted = exp.Column(this=whole.this.selects[0].this.copy())  # not the NULL that a set may have
    query = exp.select(exp.Count(this=counted)).from_(whole.subquery("counted"))
    reason = "the query compared two counts, not what they count"
    return Change(reason, may_empty=True, query=query, without=("distinct",))


def _counted(side: exp.Expr) -> exp.Column | None:
    """The column whose values a SELECT counts, and nothing else."""
    if not isinstance(side, exp.Select) or len(side.selects) != 1 or side.args.get("group"):
        return None
    count = side.selects[0].unalias()
    column = count.this if isinstance(count, exp.Count) else None
    if isinstance(column, exp.Distinct) and len(column.expressions) == 1:
        column = column.expressions[0]
    return column.copy() if isinstance(column, exp.Column) else None


def conditions_of_rows(tree: exp.Query, asked: Asked) -> Change | None:
    """Choose rows before they are grouped: ``WHERE`` for ``HAVING STRFTIME('%Y', trip_day) = '2025'``.

    Such a condition has no aggregate, and columns of tables alone that the query does not group by.
    """
    moved = False
    for select in list(tree.find_all(exp.Select)):
        having, group = select.args.get("having"), select.args.get("group")
        if having is None or group is None:
            continue
        names = {item.alias.lower() for item in select.selects if item.alias}
        rows = [part for part in outer_conjuncts(having) if _is_of_rows(part, names, group.expressions, asked)]
        if not rows:
            continue
        take_out(select, "having", rows)
        select.where(*(row.copy() for row in rows), copy=False)
        moved = True
    return Change("a condition on rows stood in HAVING") if moved else None


def _is_of_rows(condition: exp.Expr, names: set[str], grouped: list[exp.Expr], asked: Asked) -> bool:
    """Whether a condition compares values of single rows, by none of which the query groups."""
    nodes = list(outside_queries(condition))
    if any(isinstance(node, exp.AggFunc | exp.Window | exp.Query | exp.Subquery) for node in nodes):
        return False
    columns = [node for node in nodes if isinstance(node, exp.Column)]
    if any(group in nodes for group in grouped) or not columns:
        return False
    return all(column.name.lower() not in names and owner(column, asked.schema) is not None for column in columns)
