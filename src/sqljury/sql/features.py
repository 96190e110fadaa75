"""What a query is made of, for judges without a model: its names, its constants, the elements of SQL in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from sqljury.sql.conditions import outer_conjuncts
from sqljury.sql.equated import key_columns, loose
from sqljury.sql.parse import errors, exp, quiet, read_query
from sqljury.sql.resolve import column_names, find_table, from_items, has_column, quoted_texts
from sqljury.types import Schema


@dataclass(frozen=True, slots=True)
class Anatomy:
    """One query; ``parsed`` is False where it could not be read, and then all else is empty.

    ``elements`` are keys of ``_ELEMENTS`` with ``limit`` (ORDER BY with LIMIT), ``sorted`` (ORDER BY without),
    ``up`` and ``down`` (the greatest or the smallest first) and ``bounded`` (LIMIT without ORDER BY); ``heads`` are
    those in the items of the outermost SELECT. ``tables`` leaves out the names of a WITH. ``keys`` are columns of join
    conditions, of ``key_columns``, and those that are only counted; ``columns`` are all others. ``selected`` has for
    each item of the outermost SELECT its column's name, empty for anything else; ``items`` has their texts.
    ``restrictions`` are the texts of what picks rows: conditions, and ORDER BY with LIMIT. Texts are without aliases,
    quotes and case. ``idle`` are joined tables that are used in the key of a single join and nowhere else, ``unlinked``
    counts joins that no condition ties to anything; ``strange`` and ``namesakes`` are the counts of ``equated.loose``.
    ``numbers`` leaves out LIMIT 1. ``constants`` counts conditions with a constant.
    """

    parsed: bool = False
    elements: frozenset[str] = frozenset()
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    items: frozenset[str] = frozenset()
    restrictions: frozenset[str] = frozenset()
    idle: tuple[str, ...] = ()
    unlinked: int = 0
    strange: int = 0
    namesakes: int = 0
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    joins: int = 0
    selects: int = 0
    conditions: int = 0
    heads: frozenset[str] = frozenset()
    constants: int = 0


UNREAD: Final = Anatomy()
_ELEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "count": ("Count",),
    "avg": ("Avg",),
    "sum": ("Sum",),
    "max": ("Max",),
    "min": ("Min",),
    "distinct": ("Distinct",),
    "group": ("Group",),
    "having": ("Having",),
    "not": ("Not", "NEQ", "Except"),
    "or": ("Or", "Union", "In"),
    "both": ("Intersect",),
    "compare": ("GT", "GTE", "LT", "LTE", "Between"),
    "like": ("Like", "ILike"),
    "star": ("Star",),
}
"""By name, sqlglot's classes."""
KEPT: Final = 1024
"""Queries whose parts are kept: the judge and the confidence of an answer look at the same ones."""

Node = TypeVar("Node", bound="exp.Expr")


@lru_cache(maxsize=KEPT)
@quiet()
def anatomy(sql: str, schema: Schema) -> Anatomy:
    """The parts of a query on that schema; never raises."""
    tree = read_query(sql, schema.dialect)
    try:
        return UNREAD if tree is None else _anatomy(tree, schema)
    except (errors.SqlglotError, RecursionError):
        return UNREAD


class _Nodes(tuple["exp.Expr", ...]):
    """All nodes of a tree, walked once, the outermost first."""

    __slots__ = ()

    def of(self, *kinds: type[Node]) -> list[Node]:
        """The nodes of these kinds."""
        return [node for node in self if isinstance(node, kinds)]


def _anatomy(tree: exp.Query, schema: Schema) -> Anatomy:
    nodes, bare = _Nodes(tree.walk()), _bare_names(tree)
    named, texts = _columns(nodes, tree, schema)
    texts += [literal.name for literal in nodes.of(exp.Literal) if literal.is_string]
    joined = {id(key) for join in nodes.of(exp.Join) for key in join.find_all(exp.Column) if _is_key(key, join)}
    real = {id(column) for column in named}
    joined |= {id(key) for pair in key_columns(tree) if all(id(key) in real for key in pair) for key in pair}
    joined |= {id(count.this) for count in nodes.of(exp.Count)}  # COUNT(c) is another COUNT(*); DISTINCT c is not
    selects, conditions = nodes.of(exp.Select), nodes.of(exp.Predicate)
    return Anatomy(
        True,
        frozenset(_elements(nodes)),
        tables(tree),
        _once(column.name for column in named if id(column) not in joined),
        _once(column.name for column in named if id(column) in joined),
        tuple(_selected(tree)),
        frozenset(_plain(item.unalias()) for item in bare.selects),
        frozenset(_restrictions(_Nodes(bare.walk()))),
        tuple(sorted(set(idle(tree, schema)))),
        sum(map(unlinked, selects)),
        *loose(tree, schema),
        tuple(dict.fromkeys(texts)),
        tuple(dict.fromkeys(_numbers(nodes))),
        len(nodes.of(exp.Join)),
        len(selects),
        len(conditions),
        frozenset(name for item in tree.selects for name in _kinds(item.walk())),
        sum(_has_constant(condition, real) for condition in conditions),
    )


def tables(tree: exp.Expr) -> tuple[str, ...]:
    """The names of the tables that a parsed query reads, in lower case, each once; those of a WITH are not tables."""
    defined = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    return _once(table.name for table in tree.find_all(exp.Table) if table.name.lower() not in defined)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.lower() for name in names))


def _columns(nodes: _Nodes, tree: exp.Query, schema: Schema) -> tuple[list[exp.Column], list[str]]:
    """Columns, and what SQLite takes for a text: a name in double quotes that no table has."""
    known = column_names(schema) | {alias.alias.lower() for alias in nodes.of(exp.Alias)}
    texts = quoted_texts(tree, known)
    others = {id(column) for column in texts}
    columns = [column for column in nodes.of(exp.Column) if not isinstance(column.this, exp.Star)]
    return [column for column in columns if id(column) not in others], [column.name for column in texts]


def _is_key(column: exp.Column, join: exp.Join) -> bool:
    """Whether it stands in the condition of the join, not in a query that is joined."""
    on = join.args.get("on")
    return on is not None and column.parent_select is join.parent_select and _is_within(column.parent, on)


def _is_within(node: exp.Expr | None, around: exp.Expr) -> bool:
    while node is not None and node is not around:
        node = node.parent
    return node is around


def _elements(nodes: _Nodes) -> Iterator[str]:
    yield from _kinds(nodes)
    for query in nodes.of(exp.Query):
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is None:
            yield from ["bounded"] if limit is not None else []
            continue
        yield "limit" if limit is not None else "sorted"
        first = next(iter(order.expressions), None)
        if limit is not None and first is not None:
            yield "up" if first.args.get("desc") else "down"


def _kinds(nodes: Iterable[exp.Expr]) -> list[str]:
    kinds = {type(node).__name__ for node in nodes}
    return [name for name, classes in _ELEMENTS.items() if kinds.intersection(classes)]


def _has_constant(condition: exp.Expr, columns: Collection[int]) -> bool:
    """Whether it compares with a constant, which a name without a column is too (``_columns``)."""
    sides = [side.this if isinstance(side, exp.Neg) else side for side in condition.iter_expressions()]
    return any(
        isinstance(side, exp.Literal)
        or (isinstance(side, exp.Column) and not isinstance(side.this, exp.Star) and id(side) not in columns)
        for side in sides
    )


def _selected(tree: exp.Query) -> Iterator[str]:
    for item in tree.selects:
        bare = item.unalias()
        yield bare.name.lower() if isinstance(bare, exp.Column) and not isinstance(bare.this, exp.Star) else ""


def _restrictions(nodes: _Nodes) -> Iterator[str]:
    """Each condition of WHERE and HAVING on its own, and the order that a LIMIT cuts."""
    for clause in nodes.of(exp.Where, exp.Having):
        yield from map(_plain, outer_conjuncts(clause))
    for query in nodes.of(exp.Query):
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is not None and limit is not None:
            yield f"{_plain(order)} {_plain(limit)}"


def _bare_names(tree: exp.Query) -> exp.Query:
    """A copy whose columns are named without their tables."""
    bare = tree.copy()
    for column in list(bare.find_all(exp.Column)):
        for part in ("table", "db", "catalog"):
            column.set(part, None)
    return bare


def _plain(node: exp.Expr) -> str:
    """Its text without quotes and case."""
    return node.sql(dialect="sqlite").replace('"', "").replace("'", "").casefold()


def _numbers(nodes: _Nodes) -> Iterator[str]:
    for literal in nodes.of(exp.Literal):
        if not literal.is_string and not (isinstance(literal.parent, exp.Limit) and literal.name == "1"):
            yield literal.name


def unlinked(query: exp.Select) -> int:
    """How many joins of this SELECT have no condition: neither ON, USING and NATURAL, nor one in WHERE."""
    where = query.args.get("where")
    linked = {
        side.table.lower()
        for equation in (where.find_all(exp.EQ) if where is not None else ())
        if isinstance(equation.left, exp.Column) and isinstance(equation.right, exp.Column)
        for side in (equation.left, equation.right)
    }
    # A name without its table may belong to any, so such a condition counts as a link of all.
    joins = query.args.get("joins") or ()
    return sum(not linked & {"", join.alias_or_name.lower()} for join in joins if _bare(join))


def _bare(join: exp.Join) -> bool:
    on = join.args.get("on")  # the parser puts ON TRUE where JOIN has none
    conditioned = on is not None and any(True for _ in on.find_all(exp.Column))
    return not conditioned and not join.args.get("using") and join.args.get("method") != "NATURAL"


def idle(tree: exp.Query, schema: Schema) -> Iterator[str]:
    """Tables, in lower case, that one join condition uses and nothing else: all they do is drop rows.

    A table between two others is used in two conditions, so it is not among them.
    """
    for query in tree.find_all(exp.Select):
        tables = [node for node in from_items(query) if isinstance(node, exp.Table)]
        if len(tables) < 2 or (any(query.find_all(exp.Star)) and not any(query.find_all(exp.Count))):
            continue
        joins = query.args.get("joins") or ()
        keys = [list(join.args["on"].find_all(exp.Column)) for join in joins if join.args.get("on") is not None]
        within = {id(column) for columns in keys for column in columns}
        others = [column for column in query.find_all(exp.Column) if id(column) not in within]
        for table in tables:
            used = any(_may_be_of(column, table, schema) for column in others)
            if not used and sum(any(_may_be_of(key, table, schema) for key in columns) for columns in keys) == 1:
                yield table.name.lower()


def _may_be_of(column: exp.Column, node: exp.Table, schema: Schema) -> bool:
    """By the name before the column, or by the schema where there is none."""
    if column.table:
        return column.table.lower() == node.alias_or_name.lower()
    table = find_table(schema, node)
    return table is not None and has_column(table, column.name)
