"""What a query is made of, as far as a judge without a model looks at it: names, constants, and the words of SQL.

Joins of a parsed query that tie nothing together, and joined tables that nothing else is asked of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqljury.sql import parse as parsing
from sqljury.sql.parse import quiet
from sqljury.sql.resolve import keys, loose
from sqljury.types import Schema

if TYPE_CHECKING:
    from sqlglot import exp
if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Anatomy:
    """One query; ``parsed`` is False where it could not be read, and then there is nothing else.

    ``elements`` are keys of ``_ELEMENTS`` with ``limit`` (ORDER BY with LIMIT), ``sorted`` (ORDER BY without),
    ``up`` and ``down`` (the greatest or the smallest first) and ``bounded`` (LIMIT without ORDER BY). ``columns``
    are those that something is asked of; ``keys`` are all others: those of join conditions, of ``ties.keys``, and those
    that are only counted. ``selected`` has for each item of the outermost SELECT its column's name, empty for anything
    else; ``items`` has their texts. ``restrictions`` are the texts of what picks rows: conditions, and ORDER BY with
    LIMIT. Texts are without aliases, quotes and case. ``idle`` are joined tables that are used in the key of a single
    join and nowhere else, ``unlinked`` counts joins that no condition ties to anything; ``strange`` and ``namesakes``
    are those of ``ties.loose``. ``numbers`` leaves out LIMIT 1. ``heads`` are the elements in the items of the
    outermost SELECT, ``constants`` counts conditions with a constant. Names of a WITH are no tables.
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


@quiet()
def anatomy(sql: str, schema: Schema) -> Anatomy:
    """The parts of a query on that schema; never raises."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = parsing.parse_one(sql, schema.dialect)
        return _anatomy(tree, schema) if isinstance(tree, exp.Query) else UNREAD
    except (SqlglotError, RecursionError):
        return UNREAD


def _anatomy(tree: exp.Query, schema: Schema) -> Anatomy:
    from sqlglot import exp

    named, texts = _columns(tree, schema)
    texts += [one.name for one in tree.find_all(exp.Literal) if one.is_string]
    joined = {id(one) for join in tree.find_all(exp.Join) for one in join.find_all(exp.Column) if _is_key(one, join)}
    real = {id(one) for one in named}
    joined |= {id(one) for pair in keys(tree) if all(id(one) in real for one in pair) for one in pair}
    joined |= {id(count.this) for count in tree.find_all(exp.Count)}  # COUNT(c) is another COUNT(*); DISTINCT c is not
    return Anatomy(
        True,
        frozenset(_elements(tree)),
        tables(tree),
        _once(one.name for one in named if id(one) not in joined),
        _once(one.name for one in named if id(one) in joined),
        tuple(_selected(tree)),
        frozenset(_plain(item.unalias()) for item in tree.selects),
        frozenset(_restrictions(tree)),
        tuple(sorted(set(idle(tree, schema)))),
        sum(unlinked(query) for query in tree.find_all(exp.Select)),
        *loose(tree, schema),
        tuple(dict.fromkeys(texts)),
        tuple(dict.fromkeys(_numbers(tree))),
        sum(1 for _ in tree.find_all(exp.Join)),
        sum(1 for _ in tree.find_all(exp.Select)),
        sum(1 for _ in tree.find_all(exp.Predicate)),
        frozenset(name for item in tree.selects for name in _kinds(item)),
        sum(_has_constant(one, real) for one in tree.find_all(exp.Predicate)),
    )


def tables(tree: exp.Expr) -> tuple[str, ...]:
    """The names of the tables that a parsed query reads, in small letters, each once; those of a WITH are none."""
    from sqlglot import exp

    own = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    return _once(one.name for one in tree.find_all(exp.Table) if one.name.lower() not in own)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.lower() for name in names))


def _columns(tree: exp.Query, schema: Schema) -> tuple[list[exp.Column], list[str]]:
    """Columns, and what SQLite takes for a text: a name in double quotes that no table has."""
    from sqlglot import exp

    known = {column.name.lower() for table in schema.tables for column in table.columns}
    known |= {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    named, texts = [], []
    for one in tree.find_all(exp.Column):
        if isinstance(one.this, exp.Star):
            continue
        if isinstance(one.this, exp.Identifier) and one.this.quoted and not one.table and one.name.lower() not in known:
            texts.append(one.name)
        else:
            named.append(one)
    return named, texts


def _is_key(column: exp.Column, join: exp.Join) -> bool:
    """Whether it stands in the condition of the join, not in a query that is joined."""
    on = join.args.get("on")
    return on is not None and column.parent_select is join.parent_select and any(one is on for one in _above(column))


def _above(node: exp.Expr) -> Iterator[exp.Expr]:
    parent: exp.Expr | None = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _elements(tree: exp.Query) -> Iterator[str]:
    from sqlglot import exp

    yield from _kinds(tree)
    for query in tree.find_all(exp.Query):
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is None:
            yield from ["bounded"] if limit is not None else []
            continue
        yield "limit" if limit is not None else "sorted"
        first = next(iter(order.expressions), None)
        if limit is not None and first is not None:
            yield "up" if first.args.get("desc") else "down"


def _kinds(tree: exp.Expr) -> list[str]:
    kinds = {type(node).__name__ for node in tree.walk()}
    return [name for name, classes in _ELEMENTS.items() if kinds.intersection(classes)]


def _has_constant(condition: exp.Expr, columns: Collection[int]) -> bool:
    """Whether it compares with a constant; a name that is of no column is one, see ``_columns``."""
    from sqlglot import exp

    sides = [one.this if isinstance(one, exp.Neg) else one for one in condition.iter_expressions()]
    return any(
        isinstance(one, exp.Literal)
        or (isinstance(one, exp.Column) and not isinstance(one.this, exp.Star) and id(one) not in columns)
        for one in sides
    )


def _selected(tree: exp.Query) -> Iterator[str]:
    from sqlglot import exp

    for item in tree.selects:
        bare = item.unalias()
        yield bare.name.lower() if isinstance(bare, exp.Column) and not isinstance(bare.this, exp.Star) else ""


def _restrictions(tree: exp.Query) -> Iterator[str]:
    """Each condition of WHERE and HAVING on its own, and the order that a LIMIT cuts."""
    from sqlglot import exp

    for clause in tree.find_all(exp.Where, exp.Having):
        yield from map(_plain, clause.this.flatten() if isinstance(clause.this, exp.And) else (clause.this,))
    for query in tree.find_all(exp.Query):
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is not None and limit is not None:
            yield f"{_plain(order)} {_plain(limit)}"


def _plain(node: exp.Expr) -> str:
    """Its text without the names of tables before columns, quotes and case."""
    from sqlglot import exp

    bare = node.copy()
    for one in list(bare.find_all(exp.Column)):
        for part in ("table", "db", "catalog"):
            one.set(part, None)
    return bare.sql(dialect="sqlite").replace('"', "").replace("'", "").casefold()


def _numbers(tree: exp.Query) -> Iterator[str]:
    from sqlglot import exp

    for one in tree.find_all(exp.Literal):
        if not one.is_string and not (isinstance(one.parent, exp.Limit) and one.name == "1"):
            yield one.name


def unlinked(query: exp.Select) -> int:
    """How many joins of this SELECT have no condition: neither ON, USING and NATURAL, nor one in WHERE."""
    from sqlglot import exp

    where = query.args.get("where")
    linked = {
        side.table.lower()
        for one in (where.find_all(exp.EQ) if where is not None else ())
        if isinstance(one.left, exp.Column) and isinstance(one.right, exp.Column)
        for side in (one.left, one.right)
    }
    # a name without its table may belong to any, so such a condition is taken for a link of all
    return sum(not linked & {"", join.alias_or_name.lower()} for join in _joins(query) if _bare(join))


def _joins(query: exp.Select) -> list[exp.Join]:
    return list(query.args.get("joins") or ())


def _bare(join: exp.Join) -> bool:
    from sqlglot import exp

    on = join.args.get("on")  # the parser puts ON TRUE where JOIN has none
    conditioned = on is not None and any(True for _ in on.find_all(exp.Column))
    return not conditioned and not join.args.get("using") and join.args.get("method") != "NATURAL"


def idle(tree: exp.Query, schema: Schema) -> Iterator[str]:
    """Tables that are joined by one condition and otherwise unused, in lower case: they add nothing but rows to drop.

    A table between two others is used in two conditions, so it is none of them.
    """
    from sqlglot import exp

    for query in tree.find_all(exp.Select):
        joins = _joins(query)
        tables = [one for one in (_source(query), *(join.this for join in joins)) if isinstance(one, exp.Table)]
        if len(tables) < 2 or (any(query.find_all(exp.Star)) and not any(query.find_all(exp.Count))):
            continue
        conditions = [join.args["on"] for join in joins if join.args.get("on") is not None]
        keys = [list(one.find_all(exp.Column)) for one in conditions]
        within = {id(column) for own in keys for column in own}
        others = [column for column in query.find_all(exp.Column) if id(column) not in within]
        for table in tables:
            used = any(_may_be_of(column, table, schema) for column in others)
            if not used and sum(any(_may_be_of(one, table, schema) for one in own) for own in keys) == 1:
                yield table.name.lower()


def _source(query: exp.Select) -> exp.Expr | None:
    source = query.args.get("from_") or query.args.get("from")
    return None if source is None else source.this


def _may_be_of(column: exp.Column, table: exp.Table, schema: Schema) -> bool:
    """By the name before the column, or by the schema where there is none."""
    if column.table:
        return column.table.lower() == table.alias_or_name.lower()
    own = (one for one in schema.tables if one.name.lower() == table.name.lower())
    return any(column.name.lower() == known.name.lower() for one in own for known in one.columns)
