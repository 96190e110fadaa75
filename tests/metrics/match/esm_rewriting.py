"""Rewrites queries as equivalence rules do and almost do, to see what strict mode takes for the same."""

from __future__ import annotations

import random
from collections.abc import Callable

import sqlglot
from esm_rewriting_joins import add_join, drop_join, equal_column, in_to_join, join_to_in, other_join, through_itself
from esm_trees import Tree, and_where, columns_of, condition_of, from_text, parse, selects, tables_of, where_text
from sqlglot import exp

from sqljury.sql.mutate import neighbours
from sqljury.types import Schema

Rewrite = Callable[[Tree, Schema, random.Random], Tree | None]


def rewritten(sql: str, schema: Schema, seed: str) -> str | None:
    """The query after one to three rewrites that apply to it; None where none does, or it cannot be read."""
    chance = random.Random(seed)
    try:
        tree: Tree = sqlglot.parse_one(sql, dialect="sqlite")
    except sqlglot.errors.SqlglotError:
        return None
    wanted, done = chance.choice((1, 1, 1, 2, 2, 3)), 0
    for rewrite in chance.sample(REWRITES, len(REWRITES)):
        changed = rewrite(tree.copy(), schema, chance)
        if changed is not None and changed.sql(dialect="sqlite") != tree.sql(dialect="sqlite"):
            tree, done = changed, done + 1
            if done == wanted:
                break
    return tree.sql(dialect="sqlite") if done else None


def extreme_to_limit(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 1."""
    for select in selects(tree):
        where = select.args.get("where")
        if where is not None and isinstance(where.this, exp.EQ) and isinstance(where.this.expression, exp.Subquery):
            inner = where.this.expression.this.find(exp.Max, exp.Min)
            if inner is not None and not select.args.get("order"):
                select.set("where", None)
                order = f"{where.this.this.sql()} {'DESC' if isinstance(inner, exp.Max) else 'ASC'}"
                return select.order_by(order, copy=False).limit(1, copy=False).root()
    return None


def limit_to_extreme(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 1 back, also for columns that may repeat, and rule 9."""
    for select in selects(tree):
        order = select.args.get("order")
        if order is None or select.args.get("limit") is None or len(order.expressions) != 1:
            continue
        key, function = order.expressions[0].this, "max" if order.expressions[0].args.get("desc") else "min"
        if not isinstance(key, exp.Column):
            continue
        select.set("order", None)
        select.set("limit", None)
        if chance.random() < 0.3:
            select.set("expressions", [parse(f"SELECT {function}({key.sql()})").expressions[0]])
        else:
            tail = where_text(select) if chance.random() < 0.5 else ""
            and_where(select, f"{key.sql()} = (SELECT {function}({key.sql()}) {from_text(select)} {tail})")
        return tree
    return None


def any_extreme(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """A query made one that rule 1 may rewrite."""
    select = selects(tree)[0]
    columns = columns_of(select, schema)
    if not columns or select.args.get("where") or select.args.get("order") or select.args.get("limit"):
        return None
    column = chance.choice(columns)
    if chance.random() < 0.5:
        return select.order_by(f"{column} DESC", copy=False).limit(1, copy=False).root()
    and_where(select, f"{column} = (SELECT max({column}) {from_text(select)})")
    return tree


def distinct(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 2, whatever is selected."""
    select = chance.choice(selects(tree))
    select.set("distinct", None if select.args.get("distinct") else exp.Distinct())
    return tree


def distinct_in_count(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rules 2 and 7: the argument of count with DISTINCT, without, another column, the star, 1."""
    counts = list(tree.find_all(exp.Count))
    if not counts:
        return None
    count = chance.choice(counts)
    select = count.find_ancestor(exp.Select)  # none in the ORDER BY of a set operator
    columns = (columns_of(select, schema) if isinstance(select, exp.Select) else []) or ["*"]
    column = chance.choice(columns)
    own = count.this.sql().removeprefix("DISTINCT ")
    choices = ["*", "1", "NULL", column, f"DISTINCT {column}", own, f"DISTINCT {own}" if own != "*" else "*"]
    count.replace(parse(f"SELECT count({chance.choice(choices)})").expressions[0])
    return tree


def to_set_operator(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rules 3 and 4."""
    if not isinstance(tree, exp.Select) or not tree.args.get("where"):
        return None
    condition = tree.args["where"].this
    if not isinstance(condition, exp.And | exp.Or):
        return None
    operator = "INTERSECT" if isinstance(condition, exp.And) else "UNION"
    if chance.random() < 0.1:
        operator = {"INTERSECT": "UNION", "UNION": "UNION ALL"}[operator]
    parts = []
    for side in (condition.left, condition.right):
        part = tree.copy()
        part.set("where", exp.Where(this=side.copy()))
        for clause in ("order", "limit", "offset"):
            part.set(clause, None)
        parts.append(part.sql(dialect="sqlite"))
    if chance.random() < 0.5:
        parts.reverse()
    tail = " ".join(
        tree.args[clause].sql(dialect="sqlite") for clause in ("order", "limit", "offset") if tree.args.get(clause)
    )
    return parse(f"{parts[0]} {operator} {parts[1]} {tail}")


def from_set_operator(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rules 3 and 4 back."""
    if not isinstance(tree, exp.Union | exp.Intersect | exp.Except):
        return None
    left, right = tree.this, tree.expression
    if not isinstance(left, exp.Select) or not isinstance(right, exp.Select):
        return None
    if not left.args.get("where") or not right.args.get("where"):
        return None
    one, other = left.args["where"].this.sql(), right.args["where"].this.sql()
    word = {"union": "OR", "intersect": "AND", "except": "AND NOT"}[tree.key]
    left = left.copy()
    left.set("where", exp.Where(this=condition_of(f"({one}) {word} ({other})")))
    return left


def swap_parts(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """The parts of a set operator the other way round, or one of them twice, or another order of columns."""
    if isinstance(tree, exp.Select):
        if tree.args.get("order") or tree.args.get("limit"):
            return None
        word = chance.choice(("UNION", "INTERSECT", "UNION ALL"))
        return parse(f"{tree.sql(dialect='sqlite')} {word} {tree.sql(dialect='sqlite')}")
    if not isinstance(tree, exp.SetOperation):
        return None
    left, right = tree.this, tree.expression
    if chance.random() < 0.3 and isinstance(left, exp.Select):
        left.set("expressions", left.expressions[::-1])
        if chance.random() < 0.5 and isinstance(right, exp.Select):
            right.set("expressions", right.expressions[::-1])
    else:
        left.replace(right.copy())
        right.replace(left.copy())
    return tree


def group(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 5: a key more or less, or none."""
    select = chance.choice(selects(tree))
    columns = columns_of(select, schema)
    found = select.args.get("group")
    if found is not None and chance.random() < 0.4:
        keys = found.expressions[:-1]
        select.set("group", exp.Group(expressions=keys) if keys else None)
    elif columns:
        return select.group_by(chance.choice(columns), copy=False).root()
    return tree


def except_or_not_in(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 6, both ways."""
    if isinstance(tree, exp.Except) and isinstance(tree.this, exp.Select):
        left = tree.this.copy()
        and_where(left, f"{left.expressions[0].unalias().sql()} NOT IN ({tree.expression.sql(dialect='sqlite')})")
        return left
    if not isinstance(tree, exp.Select) or not tree.args.get("where"):
        return None
    condition = tree.args["where"].this
    if not isinstance(condition, exp.Not) or not isinstance(condition.this, exp.In):
        return None
    nested = condition.this.args.get("query")
    if nested is None:
        return None
    tree.set("where", None)
    order = tree.args.pop("order", None)
    tail = order.sql(dialect="sqlite") if order is not None else ""
    return parse(f"{tree.sql(dialect='sqlite')} EXCEPT {nested.this.sql(dialect='sqlite')} {tail}")


def not_null(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 8."""
    select = chance.choice(selects(tree))
    columns = columns_of(select, schema)
    if not columns:
        return None
    word = "OR" if chance.random() < 0.2 and select.args.get("where") else "AND"
    and_where(select, f"{chance.choice(columns)} IS NOT NULL")
    if word == "OR":
        where = select.args["where"].this
        select.set("where", exp.Where(this=exp.Or(this=where.left.copy(), expression=where.right.copy())))
    return tree


def star(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 10, and the star of one table."""
    select = chance.choice(selects(tree))
    tables = tables_of(select, schema)
    if not tables:
        return None
    choices = [columns_of(select, schema), ["*"], [f"{alias}.*" for alias, _ in tables], [f"{tables[0][0]}.*"]]
    choices.append(columns_of(select, schema)[::-1])
    select.set("expressions", parse(f"SELECT {', '.join(chance.choice(choices))}").expressions)
    return tree


def literals(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 11: quotation marks on or off, a point, zeros before."""
    found = [node for node in tree.find_all(exp.Literal) if not isinstance(node.parent, exp.Limit | exp.Offset)]
    if not found:
        return None
    node = chance.choice(found)
    text = str(node.this)
    if node.is_string:
        new = exp.Literal.number(text) if text.isdigit() else exp.Literal.string(f"0{text}")
    else:
        texts = [exp.Literal.string(changed) for changed in (text, f"0{text}", f"{text}.0")]
        new = chance.choice([*texts, exp.Literal.number(f"{text}.0" if text.isdigit() else text)])
    node.replace(new)
    return tree


def conditions(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rules 15, 19 and 20, and conditions on any column in these forms."""
    select = chance.choice(selects(tree))
    columns = columns_of(select, schema)
    nodes = list(tree.find_all(exp.In, exp.Between, exp.EQ, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.Or))
    if not nodes or chance.random() < 0.2:
        if not columns:
            return None
        column = chance.choice(columns)
        forms = (
            "{0} IN (1, 2)",
            "{0} NOT IN (1, 2)",
            "{0} BETWEEN 1 AND 50",
            "{0} NOT BETWEEN 1 AND 50",
            "NOT {0} = 1",
        )
        and_where(select, chance.choice(forms).format(column))
        return tree
    node = chance.choice(nodes)
    if isinstance(node.parent, exp.Join):
        return None
    left = node.this.sql(dialect="sqlite")
    turned = {"eq": "<>", "gt": "<=", "lt": ">=", "gte": "<", "lte": ">"}
    if isinstance(node, exp.In) and node.expressions:
        new = " OR ".join(f"{left} = {value.sql()}" for value in node.expressions)
    elif isinstance(node, exp.Between):
        low, high = node.args["low"].sql(), node.args["high"].sql()
        strict = chance.random() < 0.2
        new = f"{left} >{'' if strict else '='} {low} AND {left} <= {high}"
    elif node.key in turned and not isinstance(node.expression, exp.Subquery):
        new = f"NOT {left} {turned[node.key]} {node.expression.sql(dialect='sqlite')}"
    elif isinstance(node, exp.Or):
        new = f"NOT (NOT ({left}) AND NOT ({node.expression.sql(dialect='sqlite')}))"
    else:
        return None
    node.replace(condition_of(f"({new})"))
    return tree


def nest(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """A query in FROM: all of it, or a table of it."""
    sql = tree.sql(dialect="sqlite")
    if chance.random() < 0.4:
        return parse(f"SELECT * FROM ({sql}) AS whole")
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.parent, exp.From | exp.Join)]
    if not tables:
        return None
    table = chance.choice(tables)
    table.replace(parse(f'SELECT 1 FROM (SELECT * FROM "{table.name}") AS {table.alias_or_name}').args["from_"].this)
    return tree


def names(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """An alias that hides a column, a position for a name, columns in another order."""
    select = chance.choice(selects(tree))
    units, columns = select.expressions, columns_of(select, schema)
    way = chance.randrange(3)
    if way == 0 and columns:
        unit = chance.choice(units)
        if not isinstance(unit, exp.Star):
            unit.replace(exp.alias_(unit.unalias().copy(), chance.choice(columns).split(".")[1].strip('"')))
    elif way == 1:
        for clause in ("order", "group"):
            for key in select.args[clause].expressions if select.args.get(clause) else ():
                bare = key.this if isinstance(key, exp.Ordered) else key
                places = [at for at, unit in enumerate(units, start=1) if unit.unalias() == bare]
                if places:
                    bare.replace(exp.Literal.number(places[0]))
    else:
        select.set("expressions", units[::-1])
    return tree


def arithmetic(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Sums and quotients of what is selected."""
    select = selects(tree)[0]
    columns = [column for column in select.expressions if isinstance(column, exp.Column | exp.AggFunc)]
    if not columns:
        return None
    unit = chance.choice(columns)
    text = unit.sql(dialect="sqlite")
    forms = (f"{text} / 2", f"{text} / 2.0", f"{text} + 1", f"1 + {text}", f"{text} * 1.0", f"{text} * 1")
    unit.replace(parse(f"SELECT {chance.choice(forms)}").expressions[0])
    return tree


def mistake(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """One small mistake, as test suites tell from gold."""
    found = neighbours(tree.sql(dialect="sqlite"))
    return parse(chance.choice(found)) if found else None


REWRITES: tuple[Rewrite, ...] = (
    extreme_to_limit,
    limit_to_extreme,
    any_extreme,
    distinct,
    distinct_in_count,
    to_set_operator,
    from_set_operator,
    swap_parts,
    group,
    except_or_not_in,
    not_null,
    star,
    literals,
    join_to_in,
    in_to_join,
    add_join,
    drop_join,
    other_join,
    equal_column,
    through_itself,
    conditions,
    nest,
    names,
    arithmetic,
    mistake,
)
