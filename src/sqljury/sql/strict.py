"""Queries that a lenient engine accepts and a stricter one refuses: rewritten with the same meaning, without a model.

Examples are ``WHERE COUNT(*) > 3``, a column beside an aggregate, a text compared with a number, and an output's alias
in WHERE. What cannot be rewritten for certain is described in a line for a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sqljury.sql import casts, grouping, text
from sqljury.sql.faults import Fault
from sqljury.sql.grouping import Note
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.resolve import Sources, find_table, from_items, identifier, read_sources
from sqljury.sql.terms import outside_queries
from sqljury.sql.translate import bare
from sqljury.types import Schema

MAX_SELECTS: Final = 50
"""In a query; one with more is left as it is."""
_SHOWN: Final = 100


class Conformed(NamedTuple):
    """``sql`` is the rewritten query, None where nothing had to be rewritten; ``notes`` are lines on what is wrong."""

    sql: str | None = None
    notes: tuple[Note, ...] = ()

    def lines(self, fault: Fault) -> list[str]:
        """The lines on this kind of fault, those on the name in the engine's message first."""
        kinds = ("types", "value", "function") if fault.kind in ("types", "value", "function") else (fault.kind,)
        fitting = [note for note in self.notes if note[0].kind in kinds]
        fitting.sort(key=lambda note: note[0].name not in ("", fault.name))
        return list(dict.fromkeys(line for _, line in fitting))


@quiet()
def conform(sql: str, schema: Schema, fault: Fault) -> Conformed:
    """The query rewritten so that the schema's engine accepts it, which failed with ``fault``; parsed, not run."""
    try:
        tree = parse_one(sql, schema.dialect)
        before = tree.sql(dialect=schema.dialect)
        tree, compared = _without_uneven_sides(tree, schema)
        selects = [
            sources for sources in read_sources(tree, schema) if isinstance(sources.scope.expression, exp.Select)
        ]
        if len(selects) > MAX_SELECTS:
            return Conformed()
        rewritten = [note for sources in selects for rewrite in _rewrites(fault, schema) for note in rewrite(sources)]
        notes = (*compared, *rewritten)
        after = tree.sql(dialect=schema.dialect)
        # the generator puts some casts into a query by itself
        changed = after != before or (bool(notes) and bare(after) != bare(sql))
        return Conformed(after if changed else None, notes)
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return Conformed()  # a parser's own bug on odd text too


def _without_uneven_sides(tree: exp.Expr, schema: Schema) -> tuple[exp.Expr, list[Note]]:
    """The tree with a condition for each EXCEPT and INTERSECT of several columns with one, which no engine runs.

    ``SELECT id, name FROM a EXCEPT SELECT id FROM b`` means the rows of ``a`` whose ``id`` is not in ``b``, each once.
    """
    notes: list[Note] = []
    for node in reversed(list(tree.find_all(exp.Except, exp.Intersect))):  # the inner ones first
        left, right = node.this, node.expression.unnest()
        if not isinstance(left, exp.Select) or not isinstance(right, exp.Select) or not node.args.get("distinct"):
            continue
        if any(left.args.get(part) for part in ("limit", "offset", "order", "group", "with_")):
            continue
        key = _key_of_left(left, right, schema)
        if key is None:
            continue
        right_output = right.selects[0].unalias()
        inner = right.copy()
        if isinstance(right_output, exp.Column) and not right.args.get("limit"):
            inner.where(exp.Not(this=exp.Is(this=right_output.copy(), expression=exp.Null())), copy=False)
        within = exp.In(this=key, query=exp.Subquery(this=inner))
        condition = exp.Not(this=within) if isinstance(node, exp.Except) else within
        select = left.copy().where(condition, copy=False).distinct(copy=False)
        for part in ("order", "limit", "offset", "with_"):
            select.set(part, node.args.get(part))
        if node is tree:
            tree = select
        else:
            node.replace(select)
        kind = "NOT IN" if isinstance(node, exp.Except) else "IN"
        line = f"the sides of {node.key.upper()} have different numbers of columns; compare one by {kind} (SELECT ...)"
        notes.append((Fault("other", ""), line))
    return tree, notes


def _key_of_left(left: exp.Select, right: exp.Select, schema: Schema) -> exp.Column | None:
    """The column of the left side that the single one of the right side is compared with: the one of its name."""
    outputs = [item.unalias() for item in left.selects]
    if len(outputs) < 2 or len(right.selects) != 1 or any(item.is_star for item in (*left.selects, *right.selects)):
        return None
    name = right.selects[0].alias_or_name
    for output in outputs:
        if isinstance(output, exp.Column) and output.name.lower() == name.lower():
            return output.copy()
    for node in from_items(left):
        table = find_table(schema, node) if isinstance(node, exp.Table) else None
        column = (
            next((known.name for known in table.columns if known.name.lower() == name.lower()), "") if table else ""
        )
        if column:
            alias = node.args["alias"].this if node.alias else node.this
            return exp.Column(this=identifier(column, schema.dialect), table=alias.copy())
    return None


def _rewrites(fault: Fault, schema: Schema) -> Iterator[Callable[[Sources], Iterator[Note]]]:
    yield grouping.unnest_aggregates
    yield grouping.spell_out_aliases
    yield grouping.move_aggregates
    if schema.dialect in grouping.STRICT or fault.kind == "aggregate":
        yield grouping.group_what_lacks
    if schema.dialect in casts.STRICT:
        yield casts.cast_values
        yield casts.not_of_type
    if schema.dialect in ("mysql", "postgres"):
        yield _name_subqueries
    if fault == Fault("value", "division by zero"):
        yield _guard_divisors
    if fault.kind == "rows":
        yield _take_all_rows
    if fault.kind == "grouping":
        yield _distinct_order


def _name_subqueries(sources: Sources) -> Iterator[Note]:
    """Name the subqueries in FROM, which MySQL, and PostgreSQL before 16, require."""
    select = sources.scope.expression
    start = select.args.get("from_")
    joined = [join.this for join in select.args.get("joins") or ()]
    for number, node in enumerate(([] if start is None else [start.this]) + joined, 1):
        # Tables that are joined within brackets are one to the parser; a name would hide theirs.
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query) and not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(f"sub{number}")))
            yield Fault("syntax", ""), "a subquery in FROM needs a name: (SELECT ...) AS sub"


def _guard_divisors(sources: Sources) -> Iterator[Note]:
    """Make a division by zero NULL, as it is on engines that do not fail on it."""
    for part in sources.scope.expression.iter_expressions():
        for node in reversed(list(outside_queries(part))):
            if isinstance(node, exp.Div) and not isinstance(node.expression, exp.Literal):
                by = text.remark(node.expression.sql(dialect=sources.schema.dialect), _SHOWN)
                node.set("expression", exp.func("NULLIF", node.expression.copy(), exp.Literal.number(0)))
                yield Fault("value", "division by zero"), f"{by} is 0 in some rows: NULLIF({by}, 0)"


def _take_all_rows(sources: Sources) -> Iterator[Note]:
    """Replace ``= (SELECT ...)`` by IN where the subquery has several rows."""
    for part in list(sources.scope.expression.iter_expressions()):
        for node in list(outside_queries(part)):
            if isinstance(node, exp.EQ | exp.NEQ) and isinstance(node.expression, exp.Subquery):
                within = exp.In(this=node.this.copy(), query=node.expression.copy())
                shown = text.remark(node.expression.sql(dialect=sources.schema.dialect), _SHOWN)
                node.replace(exp.Not(this=within) if isinstance(node, exp.NEQ) else within)
                yield Fault("rows", ""), f"{shown} has several rows; IN takes them all"


def _distinct_order(sources: Sources) -> Iterator[Note]:
    """Report expressions of ORDER BY that are not among the outputs of SELECT DISTINCT."""
    select = grouping.select_of(sources)
    order = select.args.get("order")
    if select.args.get("distinct") is None or order is None:
        return
    outputs = {part.sql().lower() for item in select.selects for part in (item, item.unalias())}
    outputs |= {item.alias_or_name.lower() for item in select.selects}
    for item in order.expressions:
        if item.this.sql().lower() not in outputs and not isinstance(item.this, exp.Literal):
            shown = text.remark(item.this.sql(dialect=sources.schema.dialect), _SHOWN)
            yield Fault("grouping", "order by"), f"{shown} is in ORDER BY and not among the outputs of SELECT DISTINCT"
