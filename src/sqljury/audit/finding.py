"""A finding of an audit, its types (TS-SQL paper, Appendix C), and which type a corrected query shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from sqljury.sql.parse import errors, exp, parse_one, quiet

Type = Literal["wrong value", "semantic logic", "data type", "wrong column", "aggregation", "deduplication"]

TYPES: Final[tuple[Type, ...]] = (
    "wrong value",
    "semantic logic",
    "data type",
    "wrong column",
    "aggregation",
    "deduplication",
)

LIKELY: Final = 0.5
"""From this confidence on a finding counts as a suspected error; below it is a remark."""


class Finding(NamedTuple):
    """A suspected error: type, check, confidence in [0, 1], the part of the query, and the facts as evidence."""

    type: Type
    check: str
    confidence: float
    clause: str
    evidence: str


@quiet()
def difference(gold: str, better: str, dialect: str = "sqlite") -> Type:
    """The type of the change from ``gold`` to ``better``: the narrowest that covers it, else semantic logic.

    Constants alone are a wrong value, DISTINCT alone is deduplication. Of larger changes those of casts come first,
    then of aggregates and groups, then of the columns that are selected.
    """
    try:
        first, second = (parse_one(sql, dialect) for sql in (gold, better))
        for kind, same in _NARROW:
            if same(first) == same(second):
                return kind
        for kind, part in _WIDE:
            if part(first) != part(second):
                return kind
    except (errors.SqlglotError, RecursionError):
        pass
    return "semantic logic"


def _without_constants(tree: exp.Expr) -> str:
    bare = tree.transform(lambda node: exp.Placeholder() if isinstance(node, exp.Literal) else node)
    return _text(bare)


def _without_distinct(tree: exp.Expr) -> str:
    bare = tree.copy()
    for select in bare.find_all(exp.Select):
        select.set("distinct", None)
    bare = bare.transform(
        lambda node: node.expressions[0] if isinstance(node, exp.Distinct) and len(node.expressions) == 1 else node
    )
    return _text(bare)


def _casts(tree: exp.Expr) -> list[str]:
    return sorted(_text(cast) for cast in tree.find_all(exp.Cast))


def _aggregates(tree: exp.Expr) -> tuple[list[str], list[str]]:
    functions = sorted(type(function).__name__ for function in tree.find_all(exp.AggFunc))
    return functions, sorted(_names(group) for group in tree.find_all(exp.Group))


def _selected(tree: exp.Expr) -> list[str]:
    first = tree.find(exp.Select)
    return [_names(column) for column in first.expressions] if first else []


def _names(tree: exp.Expr) -> str:
    return " ".join(column.name.lower() for column in tree.find_all(exp.Column, exp.Star))


def _text(tree: exp.Expr) -> str:
    return tree.sql(dialect="sqlite", normalize=True, comments=False).lower()


_NARROW: tuple[tuple[Type, Callable[[exp.Expr], str]], ...] = (
    ("wrong value", _without_constants),
    ("deduplication", _without_distinct),
)
_WIDE: tuple[tuple[Type, Callable[[exp.Expr], object]], ...] = (
    ("data type", _casts),
    ("aggregation", _aggregates),
    ("wrong column", _selected),
)
