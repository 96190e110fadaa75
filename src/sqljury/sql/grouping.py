"""GROUP BY and aggregates: rewrites of queries that an engine refuses, with a line on what is wrong for a prompt.

SQLite picks a row for a column that is neither grouped nor aggregated. PostgreSQL, DuckDB and MySQL refuse the query;
PostgreSQL even where each group has one value, if it does not know the key. Such a column is added to GROUP BY. A
query that is ordered by an aggregate and has no GROUP BY fails on every engine; it is grouped by its outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from sqljury.sql import text
from sqljury.sql.conditions import outer_conjuncts
from sqljury.sql.faults import Fault
from sqljury.sql.names.routes import identifying_column
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources
from sqljury.sql.terms import group_keys, ordinal, outside_queries, resolved

STRICT: Final = ("postgres", "duckdb", "mysql")
"""Dialects that refuse a column which is neither grouped nor aggregated."""

_SHOWN: Final = 100
_SUMS: Final = ("count", "sum", "avg")
_NO_ALIAS_IN: Final = {"postgres": ("where", "having"), "mysql": ("where",)}

Ref = tuple[str, str]
"""An alias and a column, in lower case."""
Note = tuple[Fault, str]
"""A line of advice, and the kind of fault that it is for."""


def select_of(sources: Sources) -> exp.Select:
    """The SELECT whose sources these are; callers pass no other kind of query."""
    select = sources.scope.expression
    assert isinstance(select, exp.Select)
    return select


def spell_out_aliases(sources: Sources) -> Iterator[Note]:
    """Replace aliases of outputs by their expressions in clauses that cannot refer to them."""
    select, dialect = select_of(sources), sources.schema.dialect
    outputs = {item.alias.lower() for item in select.selects if isinstance(item, exp.Alias)}
    if sources.others or not outputs:
        return
    taken = {column.name.lower() for table in sources.tables.values() for column in table.columns}
    for clause in _NO_ALIAS_IN.get(dialect, ()):
        node = select.args.get(clause)
        named = {
            part.name.lower(): part.name
            for part in (outside_queries(node) if node is not None else ())
            if isinstance(part, exp.Column) and not part.table and part.name.lower() in outputs - taken
        }
        if node is not None and named:
            select.set(clause, resolved(node, select, taken))
            for name in named.values():
                line = f"{text.name(name, dialect)} is an output of SELECT; {clause.upper()} cannot name it"
                yield Fault("column", name.lower()), line


def move_aggregates(sources: Sources) -> Iterator[Note]:
    """Move conditions on aggregates from WHERE to HAVING."""
    select, dialect = select_of(sources), sources.schema.dialect
    terms = outer_conjuncts(select.args.get("where"))
    moved = [term for term in terms if any(isinstance(node, exp.AggFunc) for node in outside_queries(term))]
    if not moved:
        return
    rest = [term for term in terms if not any(term is other for other in moved)]
    select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    for term in moved:
        select.having(term.copy(), copy=False)
        shown = text.remark(term.sql(dialect=dialect), _SHOWN)
        yield Fault("aggregate", ""), f"{shown} is a condition on an aggregate; it belongs into HAVING, after GROUP BY"


def unnest_aggregates(sources: Sources) -> Iterator[Note]:
    """Move the inner one of two nested aggregates to a subquery: ``MAX(COUNT(*))`` is the highest count of the groups.

    The groups are those of the SELECT, or of the SELECT around it if that reads the same tables.
    """
    select, dialect = select_of(sources), sources.schema.dialect
    nested = [node for item in select.selects for node in outside_queries(item) if _takes_aggregate(node)]
    if not nested:
        return
    shown = text.remark(nested[0].sql(dialect=dialect), _SHOWN)
    yield (
        Fault("aggregate", ""),
        f"{shown} is an aggregate of an aggregate; the inner one needs a subquery with GROUP BY",
    )
    keys = group_keys(select)[0] or _keys_around(sources)
    if len(select.selects) > 1 or len(nested) > 1 or not keys:
        return
    inner = select.copy()
    inner.set("expressions", [exp.alias_(nested[0].this.copy(), "n")])
    inner.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    nested[0].set("this", exp.column("n"))
    for clause in ("joins", "where", "group", "having"):
        select.set(clause, None)
    select.set(
        "from_", exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("counted"))))
    )


def _takes_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.Max | exp.Min | exp.Avg | exp.Sum) and isinstance(node.this, exp.AggFunc)


def _keys_around(sources: Sources) -> list[exp.Expr]:
    """The columns that the query around groups the same tables by, without their aliases."""
    around = sources.around
    if around is None or not isinstance(around.scope.expression, exp.Select) or sources.others:
        return []
    tables, others = ([table.name for table in side.tables.values()] for side in (sources, around))
    keys = group_keys(around.scope.expression)[0]
    same = tables == others and all(isinstance(key, exp.Column) for key in keys)
    return [exp.column(key.name, quoted=key.this.quoted) for key in keys] if same else []


def group_what_lacks(sources: Sources) -> Iterator[Note]:
    """Add the columns that GROUP BY lacks, where the groups stay the same; elsewhere only report them."""
    select, dialect = select_of(sources), sources.schema.dialect
    keys, kinds = group_keys(select)
    nodes = [node for part in _grouped_parts(select) for node in outside_queries(part)]
    calls = [node for node in nodes if isinstance(node, exp.AggFunc)]
    if kinds or not (keys or calls) or any(isinstance(node, exp.Star | exp.Window) for node in select.selects):
        return
    if any(isinstance(node, exp.Window) for node in nodes):
        return
    names = {column.name.lower() for table in sources.tables.values() for column in table.columns}
    keys = [resolved(ordinal(key, select), select, names) for key in keys]
    missing = _uncovered(sources, keys)
    if not missing:
        return
    if not keys:
        wanted = missing if of_groups(calls) else []
    else:
        closure = _closure(sources, {ref for key in keys for ref in _refs(key, sources)})
        wanted = [column for column in missing if _depends(column, sources, closure)]
    for column in wanted:
        select.group_by(column.copy(), copy=False)
    full = ", ".join(key.sql(dialect=dialect) for key in (*keys, *missing))
    for column in missing:
        shown = text.remark(column.sql(dialect=dialect), _SHOWN)
        line = f"{shown} is neither in GROUP BY nor in an aggregate; GROUP BY {text.remark(full, _SHOWN)} has it"
        yield Fault("grouping", column.name.lower()), line


def of_groups(calls: Sequence[exp.AggFunc]) -> bool:
    """Whether a column beside these aggregates can only be meant as a group.

    Beside a single MAX or MIN it may be that of the highest or the lowest row.
    """
    return all(str(call.key) in _SUMS for call in calls) or len({call.sql() for call in calls}) > 1


def _grouped_parts(select: exp.Select) -> list[exp.Expr]:
    """What is computed of each group."""
    order = select.args.get("order")
    having = select.args.get("having")
    outputs = [item.unalias() for item in select.selects]
    aliases = {item.alias.lower() for item in select.selects if item.alias}
    keys = [item.this for item in (order.expressions if order is not None else ())]
    ordered = [key for key in keys if not (isinstance(key, exp.Column) and key.name.lower() in aliases)]
    return [*outputs, *([having.this] if having is not None else []), *ordered]


def _uncovered(sources: Sources, keys: Sequence[exp.Expr]) -> list[exp.Column]:
    """The columns outside aggregates, each once, that are neither group keys nor part of a whole group key."""
    covered = {ref for key in keys if isinstance(key, exp.Column) for ref in _refs(key, sources)}
    written = {key.sql().lower() for key in keys}
    missing: dict[Ref, exp.Column] = {}

    def visit(node: exp.Expr) -> None:
        if isinstance(node, exp.AggFunc | exp.Query | exp.Subquery) or node.sql().lower() in written:
            return
        if isinstance(node, exp.Column):
            ref = _ref(node, sources)
            if ref is not None and ref not in covered:
                missing.setdefault(ref, node)
            return
        for child in node.iter_expressions():
            visit(child)

    for part in _grouped_parts(select_of(sources)):
        visit(part)
    return list(missing.values())


def _ref(column: exp.Column, sources: Sources) -> Ref | None:
    """The alias and name of a column of this SELECT; None where it is not certain."""
    owners = [sources.alias(column.table)] if column.table else sources.owners(column.name)
    return (owners[0].lower(), column.name.lower()) if len(owners) == 1 and owners[0] is not None else None


def _refs(node: exp.Expr, sources: Sources) -> Iterator[Ref]:
    for column in node.find_all(exp.Column):
        if (ref := _ref(column, sources)) is not None:
            yield ref


def _closure(sources: Sources, refs: set[Ref]) -> set[Ref]:
    """These columns, and all that inner joins and WHERE make equal to one of them."""
    select = sources.scope.expression
    inner = [join for join in select.args.get("joins") or () if not join.side]
    clauses = [*(join.args.get("on") for join in inner), select.args.get("where")]
    pairs = [
        (_ref(term.this, sources), _ref(term.expression, sources))
        for term in chain.from_iterable(map(outer_conjuncts, clauses))
        if isinstance(term, exp.EQ) and isinstance(term.this, exp.Column) and isinstance(term.expression, exp.Column)
    ]
    closed = set(refs)
    for _ in pairs:
        closed |= {right for left, right in pairs if left in closed and right is not None}
        closed |= {left for left, right in pairs if right in closed and left is not None}
    return closed


def _depends(column: exp.Column, sources: Sources, closure: set[Ref]) -> bool:
    """Whether a key of the column's table is among the group keys."""
    ref = _ref(column, sources)
    alias = next((known for known in sources.tables if ref and known.lower() == ref[0]), None)
    if alias is None:
        return False
    table = sources.tables[alias]
    keys = [table.primary_key, *table.unique_keys, *table.candidate_keys]
    keys += [(known.name,) for known in table.columns if known.unique]
    return any(key and all((alias.lower(), name.lower()) in closure for name in key) for key in keys)


def group_outputs(sources: Sources) -> bool:
    """Group a query that is ordered by an aggregate and has no groups by its outputs; True if it was such a query."""
    select = sources.scope.expression
    outputs = bare_outputs(select)
    alone = len(sources.scope.selected_sources) == 1 and one_row_each(outputs, sources)
    if not outputs or alone or not ordered_by_count(select) or not isinstance(select, exp.Select):
        return False
    select.group_by(*[item.copy() for item in outputs], copy=False)
    return True


def bare_outputs(select: exp.Expr) -> list[exp.Expr]:
    """The outputs of a SELECT that have columns and no aggregate; none where it has ``*``."""
    if not isinstance(select, exp.Select) or any(item.is_star for item in select.selects):
        return []
    outputs = [item.unalias() for item in select.selects if item.find(exp.AggFunc, exp.Window, exp.Subquery) is None]
    return [item for item in outputs if item.find(exp.Column) is not None]


def ordered_by_count(select: exp.Expr) -> bool:
    """Whether a SELECT without groups, aggregates or DISTINCT is ordered by an aggregate."""
    order = select.args.get("order")
    if not isinstance(select, exp.Select) or order is None or select.args.get("group") or select.args.get("distinct"):
        return False
    aggregated = any(item.find(exp.AggFunc) is not None for item in select.selects)
    return not aggregated and any(
        key.find(exp.AggFunc) is not None and key.find(exp.Window, exp.Subquery) is None for key in order.expressions
    )


def one_row_each(outputs: list[exp.Expr], sources: Sources) -> bool:
    """Whether the outputs hold the key of the first table of FROM, so that each group has one row."""
    if not sources.tables:
        return False
    key = identifying_column(next(iter(sources.tables.values())))
    return key is not None and key.lower() in {item.name.lower() for item in outputs if isinstance(item, exp.Column)}
