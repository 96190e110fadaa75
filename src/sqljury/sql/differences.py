"""The one respect in which two queries differ, where it is one that a question may leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from sqljury.sql.parse import exp
from sqljury.sql.shape import Shape, shape, unequal
from sqljury.types import Schema

Kind = Literal["extreme", "measure", "repeated", "counted", "bound", "place", "value", "column", "tie", "absent"]
if TYPE_CHECKING:
    Pair = tuple[exp.Expr, exp.Expr]

_STRICT: Final = {"gt": "gte", "lt": "lte"}
_BETWEEN: Final = 1
"""Tables that one query may join more than the other, besides that of its own column."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What two queries differ in: ``first`` and ``second`` are its two sides, in the order of the queries.

    ``extreme``: the key of ORDER BY with LIMIT, or the column of MAX or MIN; ``measure``: a count of rows or the sum of
    a column; ``repeated``: DISTINCT or not; ``counted``: COUNT with DISTINCT or without; ``bound``: a comparison that
    includes its constant or not; ``place``: the column that a text is looked for in; ``value``: the text that a column
    is compared with; ``column``: any other column; ``tie``: one row of the highest or lowest, or all of them;
    ``absent``: whether an outer join keeps rows without a match. For ``repeated``, ``tie`` and ``absent`` a side is the
    expression that it is about, and ``more`` the index of the query that shows more rows. ``descending`` is that of
    the order. ``shapes`` are those of the queries.
    """

    kind: Kind
    first: exp.Expr
    second: exp.Expr
    shapes: tuple[Shape, Shape]
    descending: bool = True
    more: int = 0
    pairs: tuple[Pair, ...] = ()


def difference(left: str, right: str, schema: Schema) -> Difference | None:
    """The one difference of two queries; None where they differ in several respects, or in another one."""
    first, second = shape(left, schema), shape(right, schema)
    if first is None or second is None or first.offset != second.offset:
        return None
    shapes = (first, second)
    return _one_sided(shapes) or _tie(shapes) or _substituted(shapes)


def _rest(shapes: tuple[Shape, Shape], *ignored: str) -> bool:
    """Whether the two are equal but for the clauses that are ignored."""
    return all(
        _key(getattr(shapes[0], name)) == _key(getattr(shapes[1], name))
        for name in Shape.__slots__
        if name not in ignored
    )


def _key(value: object) -> object:
    return sorted(map(_text, value)) if isinstance(value, tuple) else value


def _text(value: object) -> str:
    return (
        value.sql()
        if isinstance(value, exp.Expr)
        else str(tuple(map(_text, value)) if isinstance(value, tuple) else value)
    )


def _one_sided(shapes: tuple[Shape, Shape]) -> Difference | None:
    first, second = shapes
    if first.distinct != second.distinct and _rest(shapes, "distinct") and first.items:
        return Difference("repeated", first.items[0], second.items[0], shapes, more=int(first.distinct))
    if first.outer != second.outer and not (first.outer and second.outer):
        pairs = _pairs(first.items, second.items)
        counts = pairs is not None and all(isinstance(node, exp.Count) for pair in pairs for node in pair)
        if counts and _rest(shapes, "outer", "items", "order"):
            (name,) = [*(first.outer or second.outer)][:1]
            about = exp.column("*", table=name)
            return Difference("absent", about, about, shapes, more=int(bool(second.outer)))
    return None


def _tie(shapes: tuple[Shape, Shape]) -> Difference | None:
    """ORDER BY with LIMIT 1 on one side, equal to the highest or lowest on the other."""
    for index in (0, 1):
        limited, every = shapes[index], shapes[1 - index]
        if limited.limit != "1" or every.limit or every.order or len(limited.order) != 1:
            continue
        (key, descending), kept = limited.order[0], [term for term in every.where if term not in limited.where]
        if len(kept) != 1 or not _rest(shapes, "where", "order", "limit") or not set(limited.where) <= set(every.where):
            continue
        term, wanted = kept[0], exp.Max if descending else exp.Min
        inner = term.expression.unnest() if isinstance(term, exp.EQ) else None
        if isinstance(inner, exp.Select) and term.this == key and len(inner.selects) == 1:
            item = inner.selects[0].unalias()
            if isinstance(item, wanted) and item.this == key:
                return Difference("tie", key, key, shapes, descending, more=1 - index)
    return None


def _substituted(shapes: tuple[Shape, Shape]) -> Difference | None:
    """One expression in place of another, wherever it stands."""
    first, second = shapes
    if not _rest(shapes, "items", "where", "group", "having", "order", "tables", "ties"):
        return None
    differing: dict[str, list[Pair]] = {}
    for name in ("items", "where", "group", "having", "order"):
        pairs = _pairs(*(_nodes(side, name) for side in shapes), matched=name in ("where", "having"))
        if pairs is None or (name == "order" and [d for _, d in first.order] != [d for _, d in second.order]):
            return None
        if pairs:
            differing[name] = pairs
    leaves = [leaf for pairs in differing.values() for pair in pairs for leaf in unequal(*pair)]
    if not leaves:
        return None
    if (bound := _bound(differing, leaves, shapes)) is not None:
        return bound
    if any(leaf != leaves[0] for leaf in leaves) or not _same_tables(leaves[0], shapes):
        return None
    within = {type(leaf[0].parent) for leaf in leaves} & {exp.Max, exp.Min, exp.Count}
    return _named(differing, leaves[0], within, shapes)


def _nodes(side: Shape, name: str) -> Sequence[exp.Expr]:
    return [key for key, _ in side.order] if name == "order" else getattr(side, name)


def _pairs(ours: Sequence[exp.Expr], theirs: Sequence[exp.Expr], *, matched: bool = False) -> list[Pair] | None:
    """What differs at the same place, or of conditions what the other side lacks; None for different numbers."""
    if len(ours) != len(theirs):
        return None
    if matched:
        left, right = list(ours), list(theirs)
        for node in ours:
            if node in right:
                left.remove(node)
                right.remove(node)
        ours, theirs = left, right
    return [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]


def _bound(differing: dict[str, list[Pair]], leaves: Sequence[Pair], shapes: tuple[Shape, Shape]) -> Difference | None:
    """Comparisons of the same sides that differ in whether the constant is included."""
    if differing.keys() - {"where", "having"} or shapes[0].tables != shapes[1].tables:
        return None
    for left, right in leaves:
        strict = _STRICT.get(left.key) == right.key or _STRICT.get(right.key) == left.key
        if not strict or left.this != right.this or left.expression != right.expression:
            return None
    return Difference("bound", *leaves[0], shapes, pairs=tuple(leaves))


def _same_tables(leaf: Pair, shapes: tuple[Shape, Shape]) -> bool:
    """Whether the tables are equal, but for those that one side needs for its own column."""
    if shapes[0].tables == shapes[1].tables:
        return shapes[0].ties == shapes[1].ties
    for node, ours, theirs in ((leaf[0], shapes[0], shapes[1]), (leaf[1], shapes[1], shapes[0])):
        more = [name for name in ours.tables if name not in theirs.tables]
        column = node if isinstance(node, exp.Column) else node.find(exp.Column)
        if more and (column is None or column.table not in more or len(more) > 1 + _BETWEEN):
            return False
        if len(set(ours.tables)) < len(ours.tables):
            return False
    return True


def _named(
    differing: dict[str, list[Pair]], leaf: Pair, within: set[type], shapes: tuple[Shape, Shape]
) -> Difference | None:
    """What the substitution is called; ``within`` are the aggregates around it."""
    first, second = leaf
    descending = shapes[0].order[0][1] if shapes[0].order else exp.Min not in within
    kinds = {type(first), type(second)}
    if kinds == {exp.Count, exp.Sum}:
        return Difference("measure", first, second, shapes, descending)
    if exp.Distinct in kinds and len(kinds) == 2 and within == {exp.Count}:
        return Difference("counted", first, second, shapes)
    if kinds == {exp.Literal} and first.is_string and second.is_string and differing.keys() == {"where"}:
        return Difference("value", first, second, shapes, pairs=tuple(differing["where"]))
    if kinds != {exp.Column}:
        return None
    first_key = "order" in differing and bool(shapes[0].limit) and differing["order"][0] == leaf
    if first_key or within & {exp.Max, exp.Min}:
        return Difference("extreme", first, second, shapes, descending)
    if differing.keys() == {"where"} and all(
        _literal(term) is not None for pair in differing["where"] for term in pair
    ):
        return Difference("place", first, second, shapes, pairs=tuple(differing["where"]))
    return Difference("column", first, second, shapes)


def _literal(term: exp.Expr) -> exp.Expr | None:
    """The text that a condition looks for in a column."""
    right = term.args.get("expression")
    return right if isinstance(term, exp.EQ | exp.Like | exp.ILike) and isinstance(right, exp.Literal) else None
