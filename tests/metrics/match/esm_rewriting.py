"""Rewrites queries as equivalence rules do and almost do, to see what strict mode takes for the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp

from sqljury.metrics.suite.neighbours import neighbours
from sqljury.types import Schema, Table

Tree = exp.Expr
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


def _parse(sql: str) -> Tree:
    return sqlglot.parse_one(sql, dialect="sqlite")


def _condition(sql: str) -> Tree:
    found = _parse(f"SELECT 1 WHERE {sql}").args["where"].this
    assert isinstance(found, exp.Expr)
    return found


def _selects(tree: Tree) -> list[exp.Select]:
    return list(tree.find_all(exp.Select))


def _tables(select: exp.Select, schema: Schema) -> list[tuple[str, Table]]:
    """What the tables of FROM go by, and the tables; none where a query is among them."""
    sources = [select.args["from_"].this] if select.args.get("from_") else []
    sources += [join.this for join in select.args.get("joins") or ()]
    known = {table.name.lower(): table for table in schema.tables}
    if not all(isinstance(source, exp.Table) and source.name.lower() in known for source in sources):
        return []
    return [(source.alias_or_name, known[source.name.lower()]) for source in sources]


def _columns(select: exp.Select, schema: Schema) -> list[str]:
    return [f'{alias}."{column.name}"' for alias, table in _tables(select, schema) for column in table.columns]


def _and(select: exp.Select, condition: str) -> None:
    where = select.args.get("where")
    new = _condition(condition)
    select.set("where", exp.Where(this=exp.And(this=exp.Paren(this=where.this), expression=new) if where else new))


def _from_text(select: exp.Select) -> str:
    joins = " ".join(join.sql(dialect="sqlite") for join in select.args.get("joins") or ())
    return f"{select.args['from_'].sql(dialect='sqlite')} {joins}"


def _where_text(select: exp.Select) -> str:
    return select.args["where"].sql(dialect="sqlite") if select.args.get("where") else ""


def extreme_to_limit(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 1."""
    for select in _selects(tree):
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
    for select in _selects(tree):
        order = select.args.get("order")
        if order is None or select.args.get("limit") is None or len(order.expressions) != 1:
            continue
        key, function = order.expressions[0].this, "max" if order.expressions[0].args.get("desc") else "min"
        if not isinstance(key, exp.Column):
            continue
        select.set("order", None)
        select.set("limit", None)
        if chance.random() < 0.3:
            select.set("expressions", [_parse(f"SELECT {function}({key.sql()})").expressions[0]])
        else:
            tail = _where_text(select) if chance.random() < 0.5 else ""
            _and(select, f"{key.sql()} = (SELECT {function}({key.sql()}) {_from_text(select)} {tail})")
        return tree
    return None


def any_extreme(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """A query made one that rule 1 may rewrite."""
    select = _selects(tree)[0]
    columns = _columns(select, schema)
    if not columns or select.args.get("where") or select.args.get("order") or select.args.get("limit"):
        return None
    column = chance.choice(columns)
    if chance.random() < 0.5:
        return select.order_by(f"{column} DESC", copy=False).limit(1, copy=False).root()
    _and(select, f"{column} = (SELECT max({column}) {_from_text(select)})")
    return tree


def distinct(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 2, whatever is selected."""
    select = chance.choice(_selects(tree))
    select.set("distinct", None if select.args.get("distinct") else exp.Distinct())
    return tree


def distinct_in_count(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rules 2 and 7: the argument of count with DISTINCT, without, another column, the star, 1."""
    counts = list(tree.find_all(exp.Count))
    if not counts:
        return None
    count = chance.choice(counts)
    columns = _columns(count.find_ancestor(exp.Select), schema) or ["*"]
    column = chance.choice(columns)
    own = count.this.sql().removeprefix("DISTINCT ")
    choices = ["*", "1", "NULL", column, f"DISTINCT {column}", own, f"DISTINCT {own}" if own != "*" else "*"]
    count.replace(_parse(f"SELECT count({chance.choice(choices)})").expressions[0])
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
    return _parse(f"{parts[0]} {operator} {parts[1]} {tail}")


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
    left.set("where", exp.Where(this=_condition(f"({one}) {word} ({other})")))
    return left


def swap_parts(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """The parts of a set operator the other way round, or one of them twice, or another order of columns."""
    if isinstance(tree, exp.Select):
        if tree.args.get("order") or tree.args.get("limit"):
            return None
        word = chance.choice(("UNION", "INTERSECT", "UNION ALL"))
        return _parse(f"{tree.sql(dialect='sqlite')} {word} {tree.sql(dialect='sqlite')}")
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
    select = chance.choice(_selects(tree))
    columns = _columns(select, schema)
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
        _and(left, f"{left.expressions[0].unalias().sql()} NOT IN ({tree.expression.sql(dialect='sqlite')})")
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
    return _parse(f"{tree.sql(dialect='sqlite')} EXCEPT {nested.this.sql(dialect='sqlite')} {tail}")


def not_null(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 8."""
    select = chance.choice(_selects(tree))
    columns = _columns(select, schema)
    if not columns:
        return None
    word = "OR" if chance.random() < 0.2 and select.args.get("where") else "AND"
    _and(select, f"{chance.choice(columns)} IS NOT NULL")
    if word == "OR":
        where = select.args["where"].this
        select.set("where", exp.Where(this=exp.Or(this=where.left.copy(), expression=where.right.copy())))
    return tree


def star(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 10, and the star of one table."""
    select = chance.choice(_selects(tree))
    tables = _tables(select, schema)
    if not tables:
        return None
    choices = [_columns(select, schema), ["*"], [f"{alias}.*" for alias, _ in tables], [f"{tables[0][0]}.*"]]
    choices.append(_columns(select, schema)[::-1])
    select.set("expressions", _parse(f"SELECT {', '.join(chance.choice(choices))}").expressions)
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


def _links(schema: Schema) -> Iterator[tuple[Table, str, Table, str]]:
    known = {table.name.lower(): table for table in schema.tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.ref_table.lower() in known and len(key.columns) == 1:
                yield table, key.columns[0], known[key.ref_table.lower()], key.ref_columns[0]


def join_to_in(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 12: the last joined table moves into a nested query, with the conditions on it."""
    for select in _selects(tree):
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
        select.set("where", exp.Where(this=_condition(f"{sides[0].sql()} {word} ({nested})")))
        return tree
    return None


def in_to_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 12 the other way."""
    for select in _selects(tree):
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
            or not _tables(inner, schema)
        ):
            continue
        select.set("where", inner.args.get("where") and inner.args["where"].copy())
        on = exp.EQ(this=where.this.this.copy(), expression=inner.expressions[0].copy())
        return select.join(inner.args["from_"].this.copy(), on=on, copy=False).root()
    return None


def add_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 13: a join along a foreign key, or against it, of any kind."""
    select = chance.choice(_selects(tree))
    tables = _tables(select, schema)
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
    join = _parse(f'SELECT 1 FROM x {kind} "{other.name}" AS added ON {alias}."{column}" = added."{key}"').args["joins"]
    select.set("joins", [*(select.args.get("joins") or []), *join])
    return tree


def drop_join(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rule 13, whatever is joined."""
    joined = [select for select in _selects(tree) if select.args.get("joins")]
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
    joined = [select for select in _selects(tree) if select.args.get("joins")]
    if not joined:
        return None
    select = chance.choice(joined)
    join = chance.choice(select.args["joins"])
    way = chance.randrange(3)
    if way == 0:
        join.set("side", None if join.args.get("side") else chance.choice(("LEFT", "RIGHT", "FULL")))
    elif way == 1 and join.args.get("on"):
        _and(select, join.args["on"].sql(dialect="sqlite"))
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
    select = chance.choice(_selects(tree))
    tables = _tables(select, schema)
    if len(tables) != 1 or not select.args.get("where") or tables[0][0] != tables[0][1].name:
        return None
    column = chance.choice([column.name for column in tables[0][1].columns])
    nested = f'SELECT "{column}" {_from_text(select)} {_where_text(select)}'
    select.set("where", exp.Where(this=_condition(f'"{column}" IN ({nested})')))
    return tree


def conditions(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """Rules 15, 19 and 20, and conditions on any column in these forms."""
    select = chance.choice(_selects(tree))
    columns = _columns(select, schema)
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
        _and(select, chance.choice(forms).format(column))
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
    node.replace(_condition(f"({new})"))
    return tree


def nest(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """A query in FROM: all of it, or a table of it."""
    sql = tree.sql(dialect="sqlite")
    if chance.random() < 0.4:
        return _parse(f"SELECT * FROM ({sql}) AS whole")
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.parent, exp.From | exp.Join)]
    if not tables:
        return None
    table = chance.choice(tables)
    table.replace(_parse(f'SELECT 1 FROM (SELECT * FROM "{table.name}") AS {table.alias_or_name}').args["from_"].this)
    return tree


def names(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """An alias that hides a column, a position for a name, columns in another order."""
    select = chance.choice(_selects(tree))
    units, columns = select.expressions, _columns(select, schema)
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
    select = _selects(tree)[0]
    columns = [column for column in select.expressions if isinstance(column, exp.Column | exp.AggFunc)]
    if not columns:
        return None
    unit = chance.choice(columns)
    text = unit.sql(dialect="sqlite")
    forms = (f"{text} / 2", f"{text} / 2.0", f"{text} + 1", f"1 + {text}", f"{text} * 1.0", f"{text} * 1")
    unit.replace(_parse(f"SELECT {chance.choice(forms)}").expressions[0])
    return tree


def mistake(tree: Tree, schema: Schema, chance: random.Random) -> Tree | None:
    """One small mistake, as test suites tell from gold."""
    found = neighbours(tree.sql(dialect="sqlite"))
    return _parse(chance.choice(found)) if found else None


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
