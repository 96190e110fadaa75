"""Sums over two lists: a join of a parent with two lists of children has each row of one for each row of the other.

Small models join invoices and sponsors to their events and sum up both, so that an event with three sponsors has its
invoices three times. Each list is summed up in a subquery of its own instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeGuard

from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, is_julian
from sqljury.sql.meaning.forks import Fork, all_of, graph, identify
from sqljury.sql.parse import exp
from sqljury.sql.provenance.sources import aliases
from sqljury.sql.resolve import from_items
from sqljury.sql.terms import cte_names, group_keys, meant

_CLAUSES: Final = frozenset(
    ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_")
)
"""Clauses that the query may have."""


def sums_of_lists(tree: exp.Query, asked: Asked) -> Change | None:
    """Sum up each list of a parent's children in a subquery, where one join of several lists repeats their rows.

    ``SELECT p.name, SUM(a.x), SUM(b.y) FROM p LEFT JOIN a ON a.p_id = p.id LEFT JOIN b ON b.p_id = p.id GROUP BY p.id``
    becomes ``SELECT p.name, (SELECT SUM(a.x) FROM a WHERE a.p_id = p.id), (SELECT ...) FROM p``. Groups of several
    parents sum up these subqueries. An inner join becomes EXISTS. No condition may be about two lists.
    """
    repeated = []
    for select in list(tree.find_all(exp.Select)):
        plan = _plan(select, tree, asked)
        if plan is not None:
            plan.apply()
            repeated.append(plan.repeated)
    if not repeated:
        return None
    reasons = (f"each row of {table} was counted once for each row of {other}" for table, other in repeated)
    lost = ("join", "keys", "conditions", "distinct")
    # "More than five invoices" may be none where each was counted three times.
    return Change(" and ".join(reasons), may_empty=True, without=lost)


class _Call(NamedTuple):
    """An aggregate, with its FILTER if it has one, and what takes its place; ``of`` is its list, empty for the core."""

    node: exp.Expr
    of: str
    made: exp.Expr

    @property
    def is_repeated(self) -> bool:
        """Whether it depends on how often it has a row of a list. SUM(DISTINCT) does not, but drops equal amounts."""
        call = _function(self.node)
        different = isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct)
        return bool(self.of) and isinstance(call, exp.Sum | exp.Avg | exp.Count) and not different


@dataclass(frozen=True, slots=True)
class _Plan:
    """A SELECT that is to read the core of a fork, with subqueries for the aggregates of its lists.

    Unless it stays ``grouped``, it has one row for each row of the core. ``named`` are the columns of HAVING that name
    outputs. ``repeated`` are the tables whose rows were repeated, and for whose rows they were.
    """

    fork: Fork
    calls: list[_Call]
    named: list[exp.Column]
    grouped: bool
    repeated: tuple[str, str]

    def apply(self) -> None:
        """Rewrite the SELECT in place."""
        fork, select = self.fork, self.fork.graph.select
        first = from_items(select)[0].alias_or_name.lower()
        core = fork.graph.joined(first if first in fork.core else fork.root, fork.core)
        conditions = [node.copy() for node in fork.core_conditions()]
        required = [fork.rows(name) for name in fork.lists if name in fork.required]
        conditions += [exp.Exists(this=rows.select(exp.Literal.number(1), copy=False)) for rows in required]
        _name_outputs(select, self.calls)
        for call in self.calls:
            call.node.replace(call.made)
        if not self.grouped:
            conditions += self._having()
            select.set("group", None)
            select.set("having", None)
        select.set("from_", core.args["from_"])
        select.set("joins", core.args.get("joins"))
        select.set("where", exp.Where(this=all_of(conditions)) if conditions else None)
        _sort_by_names(select)

    def _having(self) -> list[exp.Expr]:
        """The conditions of HAVING for WHERE, which must not name outputs."""
        select = self.fork.graph.select
        outputs = {item.alias.lower(): item.this for item in select.selects if isinstance(item, exp.Alias)}
        for column in self.named:
            column.replace(outputs[column.name.lower()].copy())
        return conjuncts(select.args.get("having"))


def _name_outputs(select: exp.Select, calls: list[_Call]) -> None:
    """Name the outputs that would be called like the text of their subquery."""
    taken = {item.alias_or_name.lower() for item in select.selects}
    for item in list(select.selects):
        within = [call.node for call in calls if call.of and any(part is call.node for part in item.walk())]
        if isinstance(item, exp.Alias) or not within:
            continue
        column = within[0].find(exp.Column)
        name = f"{_function(within[0]).key}_{column.name.lower() if column is not None else ''}"
        if name.isidentifier() and name not in taken:
            taken.add(name)
            named = exp.Alias(this=exp.Null(), alias=exp.to_identifier(name))
            item.replace(named)
            named.set("this", item)


def _sort_by_names(select: exp.Select) -> None:
    """Sort by the name of an output where ORDER BY has its expression."""
    outputs = {item.this: item.args["alias"] for item in select.selects if isinstance(item, exp.Alias)}
    for key in select.args["order"].expressions if select.args.get("order") else ():
        if key.this in outputs and key.this.find(exp.Query) is not None:
            key.set("this", exp.Column(this=outputs[key.this].copy()))


def _plan(select: exp.Select, tree: exp.Query, asked: Asked) -> _Plan | None:
    """How to rewrite a SELECT; None where it has no aggregates, clauses of another kind, or no lists of one parent."""
    items = from_items(select)
    if len(items) < 3 or {name for name, part in select.args.items() if part} - _CLAUSES or group_keys(select)[1]:
        return None
    if select.find(exp.AggFunc) is None or select.find(exp.Window) is not None:
        return None
    if {item.name.lower() for item in items} & {*cte_names(tree)}:
        return None
    tables = graph(select, asked)
    forks = (Fork(tables, root, asked) for root in tables.tables) if tables is not None else ()
    plans = (_of_fork(fork, asked) for fork in forks if fork.is_forked())
    return next((plan for plan in plans if plan is not None), None)


def _of_fork(fork: Fork, asked: Asked) -> _Plan | None:
    """How to rewrite a SELECT; None where an aggregate is not of one list, or no row is repeated."""
    select = fork.graph.select
    keys = [meant(key, select) for key in group_keys(select)[0]]
    if not all(fork.named(key) <= fork.core for key in keys):
        return None
    root_keys = [key for key in keys if isinstance(key, exp.Column) and fork.named(key) == {fork.root}]
    grouped = not (root_keys and identify(root_keys, fork.graph.tables[fork.root], asked))
    if grouped and any(here != fork.root for _, here in fork.ways()):
        return None  # rows of a list would be those of several rows of the core
    calls, named = list[_Call](), list[exp.Column]()
    outputs = {item.alias.lower() for item in select.selects if isinstance(item, exp.Alias)}
    for node in _parts(select):
        if isinstance(node, exp.Filter | exp.AggFunc):
            call = _call(node, fork, grouped=grouped, total=not keys)
            if call is None:
                return None
            calls.append(call)
        elif _names_output(node, outputs, select, asked):
            named += [node] if isinstance(node.find_ancestor(exp.Having, exp.Select), exp.Having) else []
        elif isinstance(node, exp.Star | exp.Anonymous) or not (keys and fork.named(node) <= fork.core):
            return None
    counted = {call.of for call in calls if call.is_repeated}
    several = next((name for name in fork.lists if counted - {name} and fork.has_several(name)), None)
    if several is None:
        return None
    repeated = next(name for name in fork.lists if name in counted - {several})
    return _Plan(fork, calls, named, grouped, (_name(repeated, fork), _name(several, fork)))


def _name(alias: str, fork: Fork) -> str:
    """The name of a table, with its alias if the query has the table twice."""
    table, tables = fork.graph.tables[alias], fork.graph.tables.values()
    twice = sum(item is table for item in tables) > 1
    return f"{table.name} (as {fork.graph.nodes[alias].alias_or_name})" if twice else table.name


def _parts(select: exp.Select) -> Iterator[exp.Expr]:
    """The aggregates of outputs, HAVING and ORDER BY, and beside them columns, subqueries and unknown functions."""
    having, order = select.args.get("having"), select.args.get("order")
    keys = [key.this for key in order.expressions] if order is not None else []
    waiting = [*select.selects, *(key for key in keys if meant(key, select) is key)]
    waiting += [] if having is None else [having.this]
    while waiting:
        node = waiting.pop(0)
        unknown = isinstance(node, exp.Star) or (isinstance(node, exp.Anonymous) and not is_julian(node))
        if unknown or isinstance(node, exp.Filter | exp.AggFunc | exp.Column | exp.Query | exp.Subquery):
            yield node
        else:
            waiting += list(node.iter_expressions())


def _names_output(node: exp.Expr, outputs: Collection[str], select: exp.Select, asked: Asked) -> TypeGuard[exp.Column]:
    """Whether a column is the name of an output and not a column of a table."""
    unknown = isinstance(node, exp.Column) and not node.table and aliases(node, select, asked.schema) is None
    return unknown and node.name.lower() in outputs


def _function(node: exp.Expr) -> exp.Expr:
    """The aggregate without its FILTER."""
    function: exp.Expr = node.this if isinstance(node, exp.Filter) else node
    return function


def _call(node: exp.Expr, fork: Fork, *, grouped: bool, total: bool) -> _Call | None:
    """What takes the place of an aggregate; None where that is not certain.

    For a ``total`` of all rows COUNT must not be NULL where there are none.
    """
    function, lists = _function(node), fork.lists_of(fork.named(node))
    if not isinstance(function, exp.Sum | exp.Avg | exp.Count | exp.Min | exp.Max) or len(lists) > 1:
        return None
    if not lists:
        return _Call(node, "", node) if grouped and _is_of_core_rows(function, fork) else None
    [name] = lists
    missing = exp.Null() if name in fork.required else _missing(node, name, fork)
    if missing is None or (isinstance(function, exp.Count) and not isinstance(missing, exp.Null)):
        return None
    counted = function.this
    if isinstance(counted, exp.Distinct) and isinstance(function, exp.Sum | exp.Avg):
        counted = counted.expressions[0]  # DISTINCT was to undo the repetition, and drops equal amounts
    if not grouped:
        return _Call(node, name, _subquery(node, type(function), counted, missing, fork.rows(name)))
    made = _summed_up(node, counted, missing, fork, name)
    if total and made is not None and isinstance(function, exp.Count):
        made = exp.Coalesce(this=made, expressions=[exp.Literal.number(0)])
    return None if made is None else _Call(node, name, made)


def _is_of_core_rows(function: exp.Expr, fork: Fork) -> bool:
    """Whether an aggregate of the core means each of its rows once: an extreme, different values, or rows by key."""
    counted = function.this
    if isinstance(function, exp.Min | exp.Max) or (
        isinstance(function, exp.Count) and isinstance(counted, exp.Distinct)
    ):
        return True
    return isinstance(function, exp.Count) and _is_key(counted, fork.root, fork)


def _is_key(node: exp.Expr, alias: str, fork: Fork) -> bool:
    """Whether a column is the key of a table."""
    key = [name.lower() for name in fork.graph.tables[alias].row_key]
    return isinstance(node, exp.Column) and fork.named(node) == {alias} and [node.name.lower()] == key


def _subquery(node: exp.Expr, kind: type[exp.Expr], counted: exp.Expr, missing: exp.Expr, rows: exp.Select) -> exp.Expr:
    """An aggregate of a list for one row of the core, with its constant where the list has no row."""
    function: exp.Expr = kind(this=counted.copy())
    if isinstance(node, exp.Filter):
        function = exp.Filter(this=function, expression=node.expression.copy())
    value = exp.Subquery(this=rows.select(function, copy=False))
    return value if isinstance(missing, exp.Null) else exp.Coalesce(this=value, expressions=[missing.copy()])


def _summed_up(node: exp.Expr, counted: exp.Expr, missing: exp.Expr, fork: Fork, name: str) -> exp.Expr | None:
    """An aggregate of a list for several rows of the core, made of those for one row; None where it cannot be."""
    function = _function(node)

    def summed(kind: type[exp.Expr]) -> exp.Expr:
        outer = type(function) if isinstance(function, exp.Min | exp.Max) else exp.Sum
        return outer(this=_subquery(node, kind, counted, missing, fork.rows(name)))

    if isinstance(function, exp.Avg):
        if not isinstance(missing, exp.Null):
            return None
        top = exp.Mul(this=exp.Literal.number("1.0"), expression=summed(exp.Sum))
        mean = exp.Div(this=top, expression=summed(exp.Count), typed=True, safe=True)
        return exp.Paren(this=mean) if isinstance(node.parent, exp.Binary) else mean
    if isinstance(function, exp.Count) and isinstance(counted, exp.Distinct):
        values = counted.expressions
        if len(values) != 1 or not _is_key(values[0], name, fork):
            return None  # rows of several lists may have the same value
    return summed(type(function))


def _missing(node: exp.Expr, name: str, fork: Fork) -> exp.Expr | None:
    """What an aggregate is of where there is no row of a list: a constant or NULL; None where that is not certain."""
    if isinstance(node, exp.Filter) and not fork.rejects(node.expression.this, name):
        return None
    counted = _function(node).this
    values = counted.expressions if isinstance(counted, exp.Distinct) else [counted]
    results = [_without(value, name, fork) for value in values]
    return results[0] if len(results) == 1 or all(isinstance(value, exp.Null) for value in results) else None


def _without(node: exp.Expr, name: str, fork: Fork) -> exp.Expr | None:
    """The constant, or NULL, that an expression is where there is no row of a list; None where that is not certain."""
    node = node.unnest()
    if isinstance(node, exp.Literal | exp.Null):
        return node
    if fork.is_null(node, name):
        return exp.Null()
    if isinstance(node, exp.Coalesce):
        parts = (_without(part, name, fork) for part in (node.this, *node.expressions))
        return next((part for part in parts if not isinstance(part, exp.Null)), exp.Null())
    if isinstance(node, exp.Case | exp.If):
        values = [_without(result, name, fork) for result in _results(node, name, fork)]
        return values[0] if all(value == values[0] for value in values) else None
    return None


def _results(node: exp.Case | exp.If, name: str, fork: Fork) -> list[exp.Expr]:
    """The results that CASE may have where there is no row of a list."""
    if isinstance(node, exp.If):
        otherwise, branches = node.args.get("false"), [] if fork.rejects(node.this, name) else [node]
    elif node.this is not None:
        otherwise, branches = node.args.get("default"), [] if fork.is_null(node.this, name) else node.args["ifs"]
    else:
        otherwise = node.args.get("default")
        branches = [branch for branch in node.args["ifs"] if not fork.rejects(branch.this, name)]
    return [*(branch.args["true"] for branch in branches), exp.Null() if otherwise is None else otherwise]
