"""Rewrites of joins, and of nested queries that stand for them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from esm_trees import Tree, and_where, condition_of, from_text, parse, selects, tables_of, where_text
from sqlglot import exp

from sqljury.types import Schema, Table


def _links(schema: Schema) -> Iterator[tuple[Table, str, Table, str]]:
    known = {table.name.lower(): table for table in schema.tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.ref_table.lower() in known and len(key.columns) == 1:
                yield table, key.columns[0], known[key.ref_table.lower()], key.ref_columns[0]


def join_to_in(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 12: the last joined table moves into a nested query, with the conditions on it."""
    for select in selects(tree):
        joins = select.args.get("joins") or []
        if not joins or not isinstance(joins[-1].args.get("on"), exp.EQ) or not select.args.get("where"):
            continue
        last, on = joins[-1], joins[-1].args["on"]
        alias = last.this.alias_or_name
        sides = sorted((on.this, on.expression), key=lambda side: side.name and side.text("table") == alias)
        condition = select.args["where"].this
        if any(column.text("table") != alias for column in condition.find_all(exp.Column)):
            continue
        select.set("joins", joins[:-1])
        word = "=" if chance.random() < 0.2 else "IN"
        nested = (
            f"SELECT {sides[1].sql()} FROM {last.this.sql(dialect='sqlite')} WHERE {condition.sql(dialect='sqlite')}"
        )
        select.set("where", exp.Where(this=condition_of(f"{sides[0].sql()} {word} ({nested})")))
        return tree
    return None


def in_to_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 12 the other way."""
    for select in selects(tree):
        where = select.args.get("where")
        if where is None or not isinstance(where.this, exp.In | exp.EQ):
            continue
        nested = where.this.args.get("query") or where.this.args.get("expression")
        if not isinstance(nested, exp.Subquery) or not isinstance(nested.this, exp.Select):
            continue
        inner = nested.this
        if (
            not isinstance(inner.expressions[0], exp.Column)
            or not inner.args.get("from_")
            or not tables_of(inner, schema)
        ):
            continue
        select.set("where", inner.args.get("where") and inner.args["where"].copy())
        on = exp.EQ(this=where.this.this.copy(), expression=inner.expressions[0].copy())
        return select.join(inner.args["from_"].this.copy(), on=on, copy=False).root()
    return None


def add_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 13: a join along a foreign key, or against it, of any kind."""
    select = chance.choice(selects(tree))
    tables = tables_of(select, schema)
    options = []
    for alias, table in tables:
        for own, column, other, key in _links(schema):
            if own is table:
                options.append((alias, column, other, key))
            elif other is table and chance.random() < 0.3:
                options.append((alias, key, own, column))
    if not options:
        return None
    alias, column, other, key = chance.choice(options)
    for node in list(select.find_all(exp.Column)):
        if not node.table and node.find_ancestor(exp.Select) is select and len(tables) == 1:
            node.set("table", exp.to_identifier(tables[0][0]))
    kind = chance.choice(("JOIN", "JOIN", "JOIN", "LEFT JOIN"))
    join = parse(f'SELECT 1 FROM x {kind} "{other.name}" AS added ON {alias}."{column}" = added."{key}"').args["joins"]
    select.set("joins", [*(select.args.get("joins") or []), *join])
    return tree


def drop_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 13, whatever is joined."""
    joined = [select for select in selects(tree) if select.args.get("joins")]
    if not joined:
        return None
    select = chance.choice(joined)
    dropped = select.args["joins"][-1]
    select.set("joins", select.args["joins"][:-1])
    on, alias = dropped.args.get("on"), dropped.this.alias_or_name
    if isinstance(on, exp.EQ):
        sides = sorted((on.this, on.expression), key=lambda side: side.text("table") == alias)
        for node in list(select.find_all(exp.Column)):
            if node.sql() == sides[1].sql():
                node.replace(sides[0].copy())
    return tree


def other_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Another kind of join, its condition in WHERE, or the tables swapped."""
    joined = [select for select in selects(tree) if select.args.get("joins")]
    if not joined:
        return None
    select = chance.choice(joined)
    join = chance.choice(select.args["joins"])
    way = chance.randrange(3)
    if way == 0:
        join.set("side", None if join.args.get("side") else chance.choice(("LEFT", "RIGHT", "FULL")))
    elif way == 1 and join.args.get("on"):
        and_where(select, join.args["on"].sql(dialect="sqlite"))
        join.set("on", None)
    elif len(select.args["joins"]) == 1:
        first, second = select.args["from_"].this, join.this
        first.replace(second.copy())
        second.replace(first.copy())
    return tree


def equal_column(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 16."""
    for join in tree.find_all(exp.Join):
        on = join.args.get("on")
        if not isinstance(on, exp.EQ) or not isinstance(on.expression, exp.Column):
            continue
        pair = {on.this.sql(): on.expression, on.expression.sql(): on.this}
        found = [
            node for node in tree.find_all(exp.Column) if node.sql() in pair and node.find_ancestor(exp.Join) is None
        ]
        if found:
            node = chance.choice(found)
            node.replace(pair[node.sql()].copy())
            return tree
    return None


def through_itself(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 17."""
    select = chance.choice(selects(tree))
    tables = tables_of(select, schema)
    if len(tables) != 1 or not select.args.get("where") or tables[0][0] != tables[0][1].name:
        return None
    column = chance.choice([column.name for column in tables[0][1].columns])
    nested = f'SELECT "{column}" {from_text(select)} {where_text(select)}'
    select.set("where", exp.Where(this=condition_of(f'"{column}" IN ({nested})')))
    return tree
