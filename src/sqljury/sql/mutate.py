"""Neighbours of a gold query: queries one small mistake away, which a test suite has to tell from it.

Zhong et al. 2020, section 4.2: operators, constants, aggregates, DISTINCT, set operations and joins are changed one at
a time, and conditions, orders and limits dropped. A neighbour may mean the same as gold, or not run at all.

``misreadings`` are the other mistakes that writers make: the query of another question on the same tables, with
another column, a column too many, or one too few.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from typing import Final

from sqljury.sql.parse import errors, exp, quiet
from sqljury.sql.resolve import column_names, owner
from sqljury.sql.tree import DIALECT, tree_of
from sqljury.types import Schema

MAX_NEIGHBOURS: Final = 16

_OPERATORS: Final[dict[type[exp.Expr], tuple[type[exp.Expr], ...]]] = {
    exp.EQ: (exp.NEQ, exp.GTE, exp.LTE),
    exp.NEQ: (exp.EQ,),
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.EQ),
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.EQ),
    exp.Like: (exp.EQ,),
    exp.And: (exp.Or,),
    exp.Or: (exp.And,),
    exp.Add: (exp.Sub,),
    exp.Sub: (exp.Add,),
    exp.Mul: (exp.Div,),
    exp.Div: (exp.Mul,),
    exp.Union: (exp.Intersect, exp.Except),
    exp.Intersect: (exp.Union, exp.Except),
    exp.Except: (exp.Intersect, exp.Union),
}
_AGGREGATES: Final[dict[type[exp.Expr], tuple[type[exp.Expr], ...]]] = {
    exp.Max: (exp.Min, exp.Avg),
    exp.Min: (exp.Max, exp.Avg),
    exp.Avg: (exp.Sum, exp.Max),
    exp.Sum: (exp.Avg, exp.Count),
}


@quiet()
def neighbours(sql: str, columns: Collection[str] = (), limit: int = MAX_NEIGHBOURS, seed: int = 0) -> tuple[str, ...]:
    """At most ``limit`` neighbours of the query, none where sqlglot cannot read and write it.

    ``columns`` are the schema's column names in lower case, which tell a quoted name from a string. Which neighbours
    are taken depends on ``seed`` and the query alone.
    """
    tree = tree_of(sql, columns)
    if tree is None:
        return ()
    try:
        original = tree.sql(dialect=DIALECT)
        variants = dict.fromkeys(changed.sql(dialect=DIALECT) for changed in _changed(tree))
    except ValueError:  # sqlglot reads some paths into JSON that it cannot write
        return ()
    variants.pop(original, None)
    listed = list(variants)
    if len(listed) > limit:
        rng = random.Random(f"{seed}|{sql}|neighbours")  # noqa: S311 - no secret
        chosen = rng.sample(range(len(listed)), limit)
        listed = [listed[number] for number in sorted(chosen)]
    return tuple(listed)


@quiet()
def misreadings(sql: str, schema: Schema) -> tuple[str, ...]:
    """Queries with another column of the same table and type, a column too many, or one too few.

    Columns that join tables stay. Returns nothing where sqlglot cannot read and write the query.
    """
    tree = tree_of(sql, column_names(schema))
    if tree is None:
        return ()
    try:
        variants = dict.fromkeys(changed.sql(dialect=DIALECT) for changed in _misread(tree, schema))
        variants.pop(tree.sql(dialect=DIALECT), None)
    except (errors.SqlglotError, ValueError):
        return ()
    return tuple(variants)


def _misread(tree: exp.Expr, schema: Schema) -> Iterator[exp.Expr]:
    """The tree with one column changed, or one taken from or added to what it selects."""
    for number, node in enumerate(tree.walk()):
        if isinstance(node, exp.Column) and node.find_ancestor(exp.Join) is None:
            for other in _alike(node, schema):
                yield _replaced(tree, number, exp.column(other, node.table or None))
        elif isinstance(node, exp.Select):
            listed = node.expressions
            for left_out in range(len(listed)) if len(listed) > 1 else ():
                fewer = [part.copy() for at, part in enumerate(listed) if at != left_out]
                yield _replaced(tree, number, _with(node, "expressions", fewer))
            if node is tree and (more := _one_more(node, schema)) is not None:
                yield more


def _alike(column: exp.Column, schema: Schema) -> Iterator[str]:
    """The other columns of a column's table that have its type."""
    if (alias_table := owner(column, schema)) is not None:
        [kind] = {known.type.lower() for known in alias_table[1].columns if known.name.lower() == column.name.lower()}
        for other in alias_table[1].columns:
            if other.type.lower() == kind and other.name.lower() != column.name.lower():
                yield other.name


def _one_more(select: exp.Select, schema: Schema) -> exp.Select | None:
    """The SELECT with the next column of the table of its last one."""
    last = select.expressions[-1].unalias() if select.expressions else None
    if not isinstance(last, exp.Column) or (alias_table := owner(last, schema)) is None:
        return None
    taken = {part.alias_or_name.lower() for part in select.expressions}
    next_name = next((known.name for known in alias_table[1].columns if known.name.lower() not in taken), None)
    if next_name is None:
        return None
    listed = [part.copy() for part in select.expressions]
    return _with(select, "expressions", [*listed, exp.column(next_name, last.table or None)])


def _changed(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The tree with one node changed, for every node and every change."""
    for number, node in enumerate(tree.walk()):
        for replacement in _replacements(node):
            yield _replaced(tree, number, replacement)


def _replaced(tree: exp.Expr, number: int, replacement: exp.Expr) -> exp.Expr:
    """A copy of the tree with the node of a number, in the order of ``walk``, replaced."""
    copy = tree.copy()
    target = next(node for at, node in enumerate(copy.walk()) if at == number)  # equal trees have one order
    if target is copy:
        return replacement
    target.replace(replacement)
    return copy


def _replacements(node: exp.Expr) -> Iterator[exp.Expr]:
    """What may stand in the place of this node; all of it new."""
    for kind in _OPERATORS.get(type(node), ()):
        yield kind(**{name: _copied(value) for name, value in node.args.items()})
    if isinstance(node, (exp.And, exp.Or, exp.Except, exp.Intersect)):
        yield node.this.copy()
    if isinstance(node, (exp.And, exp.Or)):
        yield node.expression.copy()
    if isinstance(node, exp.Not):
        yield node.this.copy()
    if isinstance(node, exp.In):
        yield exp.Not(this=node.copy())
    if isinstance(node, exp.Literal):
        yield from _constants(node)
    if isinstance(node, exp.Between):
        yield exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        yield exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    if isinstance(node, exp.Ordered):
        turned = node.copy()
        turned.set("desc", not node.args.get("desc"))
        # Else sqlglot writes NULLS FIRST or LAST, for the place of NULLs in the order before.
        turned.set("nulls_first", not node.args.get("nulls_first"))
        yield turned
    yield from _aggregates(node)
    if isinstance(node, exp.Select):
        yield from _clauses(node)


def _constants(node: exp.Literal) -> Iterator[exp.Expr]:
    text = str(node.this)
    if node.is_string:
        yield exp.Literal.string(f"{text}x")
        if "%" in text:
            yield exp.Literal.string(text.strip("%"))
            yield exp.Literal.string(text.lstrip("%"))
    elif text.isdigit():
        yield exp.Literal.number(int(text) + 1)
        if int(text):
            yield exp.Literal.number(int(text) - 1)


def _aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    for kind in _AGGREGATES.get(type(node), ()):
        yield kind(this=node.this.copy())
    if not isinstance(node, exp.Count) or isinstance(node.this, exp.Star):
        return
    if isinstance(node.this, exp.Distinct):
        if len(node.this.expressions) == 1:
            yield exp.Count(this=node.this.expressions[0].copy())
    else:
        yield exp.Count(this=exp.Distinct(expressions=[node.this.copy()]))


def _clauses(select: exp.Select) -> Iterator[exp.Expr]:
    """The SELECT without one of its clauses, with DISTINCT turned round, with another join."""
    for clause in ("where", "group", "having", "order", "limit"):
        if select.args.get(clause) is not None:
            yield _with(select, clause, None)
    yield _with(select, "distinct", None if select.args.get("distinct") else exp.Distinct())
    grouped = select.args.get("group")
    if grouped is not None and len(grouped.expressions) > 1:
        for number in range(len(grouped.expressions)):
            fewer = grouped.copy()
            fewer.set("expressions", [part for at, part in enumerate(fewer.expressions) if at != number])
            yield _with(select, "group", fewer)
    joins = select.args.get("joins") or []
    for number, join in enumerate(joins):
        kept = [item.copy() for item in joins]
        yield _with(select, "joins", kept[:number] + kept[number + 1 :])
        if join.args.get("on") is not None:
            outer = [item.copy() for item in joins]
            outer[number].set("side", None if join.args.get("side") else "LEFT")
            outer[number].set("kind", None)
            yield _with(select, "joins", outer)


def _with(select: exp.Select, clause: str, value: object) -> exp.Select:
    changed = select.copy()
    changed.set(clause, value)
    return changed


def _copied(value: object) -> object:
    if isinstance(value, exp.Expr):
        return value.copy()
    if isinstance(value, list):
        return [_copied(part) for part in value]
    return value
