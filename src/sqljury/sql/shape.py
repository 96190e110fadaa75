"""The clauses of a SELECT without what only spells it: aliases, quotes, case, parentheses, the side of a comparison.

Two queries in this form can be compared clause by clause, to find the one place in which they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.sql.conditions import conjuncts
from sqljury.sql.parse import exp, quiet, read_query
from sqljury.sql.resolve import column_names, find_table, from_items, has_column, owner, quoted_texts, tables_of
from sqljury.sql.terms import ordinal, row_count
from sqljury.types import Schema

_MIRRORED: Final = {"lt": "GT", "lte": "GTE", "gt": "LT", "gte": "LTE", "eq": "EQ", "neq": "NEQ"}


@dataclass(frozen=True, slots=True)
class Shape:
    """One SELECT; columns bear the name of their table, in lower case.

    ``tables`` are the names in FROM, ``outer`` those that an outer join adds, ``ties`` the equations between tables.
    ``where`` and ``having`` hold the conditions that must hold, ``order`` each key with whether it is descending.
    """

    items: tuple[exp.Expr, ...]
    distinct: bool
    tables: tuple[str, ...]
    outer: frozenset[str]
    ties: frozenset[str]
    where: tuple[exp.Expr, ...]
    group: tuple[exp.Expr, ...]
    having: tuple[exp.Expr, ...]
    order: tuple[tuple[exp.Expr, bool], ...]
    limit: str
    offset: str


@quiet()
def shape(sql: str, schema: Schema) -> Shape | None:
    """The shape of a query; None for set operations, WITH, subqueries in FROM, and what cannot be read."""
    tree = read_query(sql, schema.dialect)
    if not isinstance(tree, exp.Select) or tree.ctes or tree.args.get("laterals"):
        return None
    nodes = from_items(tree)
    if not nodes or not all(isinstance(node, exp.Table) and find_table(schema, node) for node in nodes):
        return None
    try:
        return _shape(tree, schema)
    except (RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return None  # a parser's own bug on odd text too


def _shape(tree: exp.Select, schema: Schema) -> Shape | None:
    select = _plain(tree, schema)
    joins = select.args.get("joins") or []
    named = {id(node): _name(node, schema) for node in from_items(select)}
    equal = _using(select, schema)
    if equal is None or any(join.method == "NATURAL" for join in joins):
        return None
    terms = equal + [term for join in joins for term in _terms(join.args.get("on"))]
    where = [*terms, *_terms(select.args.get("where"))]
    ties = [term for term in where if _ties(term)]
    order = select.args.get("order")
    keys = [] if order is None else order.expressions
    return Shape(
        tuple(item.unalias() for item in select.selects),
        bool(select.args.get("distinct")),
        tuple(sorted(named.values())),
        frozenset(named[id(join.this)] for join in joins if join.side),
        frozenset(" = ".join(sorted((term.this.sql(), term.expression.sql()))) for term in ties),
        tuple(term for term in where if term not in ties and not isinstance(term, exp.Boolean)),
        tuple(_output(key, select) for key in getattr(select.args.get("group"), "expressions", ())),
        tuple(_terms(select.args.get("having"))),
        tuple((_output(key.this, select), bool(key.args.get("desc"))) for key in keys),
        row_count(select, "limit"),
        row_count(select, "offset"),
    )


def _plain(tree: exp.Select, schema: Schema) -> exp.Select:
    """A copy whose columns bear the names of their tables, and texts in double quotes are texts."""
    select = tree.copy()
    texts = {id(column) for column in quoted_texts(tree, _known(tree, schema))}
    labels = dict(_labels(tree, schema))
    pairs = zip(list(tree.find_all(exp.Column)), list(select.find_all(exp.Column)), strict=True)
    for before, after in pairs:
        if isinstance(before.this, exp.Star):
            continue
        if id(before) in texts and schema.dialect in ("sqlite", "mysql"):
            after.replace(exp.Literal.string(before.name))
            continue
        alias_table = owner(before, schema)
        name = "" if alias_table is None else labels.get(alias_table[0], alias_table[1].name.lower())
        after.replace(exp.column(before.name.lower(), table=name or None))
    for paren in list(select.find_all(exp.Paren)):
        if not isinstance(paren.this, exp.Connector):
            paren.replace(paren.this)
    return select


def _using(select: exp.Select, schema: Schema) -> list[exp.Expr] | None:
    """The equations that USING stands for; None where it is unclear which tables they tie."""
    tables = [(node, find_table(schema, node)) for node in from_items(select) if isinstance(node, exp.Table)]
    equal: list[exp.Expr] = []
    for join in select.args.get("joins") or []:
        at = next(index for index, (node, _) in enumerate(tables) if node is join.this)
        for name in (identifier.name.lower() for identifier in join.args.get("using") or []):
            holders = [table.name.lower() for _, table in tables[:at] if table is not None and has_column(table, name)]
            joined = _name(join.this, schema)
            if len(holders) != 1 or joined in holders:
                return None
            equal.append(exp.EQ(this=exp.column(name, table=holders[0]), expression=exp.column(name, table=joined)))
    return equal


def _known(tree: exp.Select, schema: Schema) -> frozenset[str]:
    return column_names(schema) | {alias.alias.lower() for alias in tree.find_all(exp.Alias)}


def _labels(tree: exp.Select, schema: Schema) -> Iterator[tuple[str, str]]:
    """By alias the name of its table, numbered where one table is read twice."""
    seen: dict[str, int] = {}
    for alias, table in tables_of(tree, schema).items():
        name = table.name.lower()
        seen[name] = seen.get(name, 0) + 1
        yield alias, name if seen[name] == 1 else f"{name} {seen[name]}"


def _name(node: exp.Expr, schema: Schema) -> str:
    table = find_table(schema, node) if isinstance(node, exp.Table) else None
    return "" if table is None else table.name.lower()


def _terms(clause: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that must hold: BETWEEN as two, NOT before ``=`` as ``<>``, a column on the left side."""
    for node in conjuncts(clause):
        if isinstance(node, exp.Between):
            yield exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            yield exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        elif isinstance(node, exp.Not) and isinstance(node.this, exp.EQ):
            yield exp.NEQ(this=node.this.this.copy(), expression=node.this.expression.copy())
        elif (
            node.key in _MIRRORED and not isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column)
        ):
            kind: type[exp.Expr] = getattr(exp, _MIRRORED[node.key])
            yield kind(this=node.expression.copy(), expression=node.this.copy())
        else:
            yield node


def _ties(term: exp.Expr) -> bool:
    sides = [term.this, term.args.get("expression")] if isinstance(term, exp.EQ) else []
    columns = [side for side in sides if isinstance(side, exp.Column)]
    return len(columns) == 2 and columns[0].table != columns[1].table


def _output(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """The output that a number or an alias stands for."""
    node = ordinal(node, select)
    if isinstance(node, exp.Column) and not node.table:
        outputs = (item for item in select.selects if isinstance(item, exp.Alias))
        return next((item.this for item in outputs if item.alias.lower() == node.name), node)
    return node


def unequal(left: exp.Expr, right: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The smallest parts in which two expressions differ; none where they are equal."""
    if left == right:
        return []
    if type(left) is not type(right) or isinstance(left, exp.Column | exp.Literal):
        return [(left, right)]
    parts: list[tuple[exp.Expr, exp.Expr]] = []
    for key in {*left.args, *right.args}:
        ours, theirs = _values(left.args.get(key)), _values(right.args.get(key))
        if len(ours) != len(theirs):
            return [(left, right)]
        for value, counterpart in zip(ours, theirs, strict=True):
            if isinstance(value, exp.Expr) and isinstance(counterpart, exp.Expr):
                parts += unequal(value, counterpart)
            elif value != counterpart:
                return [(left, right)]
    return parts


def _values(value: object) -> Sequence[object]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]
