"""What a SELECT is made of: its tables and joins, the queries inside it, what a condition speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqljury.stages.generate.phrases import conjuncts

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(slots=True)
class Source:
    """A table of one SELECT: the query's name for it, the shown one, what it is called when it comes in, its join."""

    name: str
    shown: str
    called: str
    join: exp.Expr | None = None
    how: str = ""

    @property
    def outer(self) -> str:
        """LEFT, RIGHT, FULL, or empty."""
        return str(self._part("side") or "").upper()

    @property
    def on(self) -> list[exp.Expr]:
        """The conditions of the join, all of which must hold."""
        return conjuncts(self._part("on"))

    @property
    def using(self) -> list[str]:
        """The columns that the join matches by their name."""
        return [name.name for name in self._part("using") or ()]

    @property
    def natural(self) -> bool:
        """The join matches all columns of the same name."""
        return bool(self._part("method") == "NATURAL")

    def _part(self, name: str) -> Any:
        return None if self.join is None else self.join.args.get(name)


def tables_of(node: exp.Select) -> list[exp.Expr]:
    """What stands in FROM and JOIN, brackets around joins opened."""
    return [source for source, _ in joined(node)]


def joined(node: exp.Expr) -> list[tuple[exp.Expr, exp.Expr | None]]:
    """Each table with the join that brings it in."""
    from sqlglot import exp

    found: list[tuple[exp.Expr, exp.Expr | None]] = []
    start = node.args.get("from_")
    for source, join in [
        (start.this if start else None, None),
        *((one.this, one) for one in node.args.get("joins") or ()),
    ]:
        if source is None:
            continue
        inner = source.this if isinstance(source, exp.Subquery) else None
        if isinstance(inner, exp.Table):
            found += [(inner, join), *((one.this, one) for one in inner.args.get("joins") or ())]
        else:
            found.append((source, join))
            found += [(one.this, one) for one in source.args.get("joins") or ()]
    return found


def sources(node: exp.Select, dialect: str) -> list[Source]:
    """The tables of a SELECT as its text has them; a table that comes twice is shown with its aliases."""
    from sqlglot import exp

    found = joined(node)
    names = [source.name.lower() for source, _ in found if isinstance(source, exp.Table)]
    made = []
    for number, (source, join) in enumerate(found, 1):
        name = source.alias_or_name
        shown = called = name or f"unnamed table {number}"
        if isinstance(source, exp.Table):
            shown = called = source.this.sql(dialect=dialect)
            if names.count(source.name.lower()) > 1 and source.alias:
                shown, called = source.alias, f"{called} as {source.alias}"
        made.append(Source(name or shown, shown, called, join))
    return made


def inner_queries(node: exp.Select) -> list[exp.Expr]:
    """The queries inside conditions and columns, outermost only, in the order of the text."""
    from sqlglot import exp

    skipped = {id(source) for source in tables_of(node)} | {id(cte) for cte in node.ctes}
    found: list[exp.Expr] = []
    stack = list(reversed(list(node.iter_expressions())))
    while stack:
        one = stack.pop()
        if id(one) in skipped or isinstance(one, exp.With):
            continue
        if isinstance(one, exp.Query) and isinstance(one.unnest(), exp.Select | exp.SetOperation):
            found.append(one.unnest())
            continue
        stack += reversed(list(one.iter_expressions()))
    return found


def refers(inner: exp.Expr, around: set[str]) -> set[str]:
    """The tables of the queries around it that an inner query speaks of."""
    from sqlglot import exp

    own = {source.alias_or_name.lower() for source in inner.find_all(exp.Table, exp.Subquery)}
    return {column.table.lower() for column in inner.find_all(exp.Column)} & around - own


def columns(node: exp.Expr) -> list[exp.Column]:
    """The columns in it; what stands in double quotes without a table's name is more often meant as a text."""
    from sqlglot import exp

    return [one for one in node.find_all(exp.Column) if one.table or not one.this.args.get("quoted")]


def ready(condition: exp.Expr, known: set[str]) -> bool:
    """Whether every column of the condition is of a known table."""
    return all(column.table and column.table.lower() in known for column in columns(condition))


def matches(condition: exp.Expr) -> bool:
    """Whether the condition compares columns of two tables."""
    from sqlglot import exp

    sides = (condition.this, condition.expression) if isinstance(condition, exp.Predicate | exp.Binary) else ()
    if len(sides) < 2 or not all(isinstance(side, exp.Expr) for side in sides):
        return False
    left, right = ({column.table.lower() for column in columns(side)} for side in sides)
    return bool(left and right and (left != right or "" in left))


def named(one: exp.Expr, node: exp.Expr) -> exp.Expr:
    """What a number or an alias in GROUP BY or ORDER BY stands for."""
    from sqlglot import exp

    if isinstance(one, exp.Literal) and not one.is_string and one.name.isdigit():
        chosen = node.expressions if isinstance(node, exp.Select) else []
        place = int(one.name) - 1
        return chosen[place].unalias() if 0 <= place < len(chosen) else one
    if isinstance(one, exp.Column) and not one.table:
        return aliases(node).get(one.name.lower(), one)
    return one


def aliases(node: exp.Expr) -> dict[str, exp.Expr]:
    """What a SELECT gives a name, by that name in lower case."""
    from sqlglot import exp

    chosen = node.expressions if isinstance(node, exp.Select) else []
    return {one.alias.lower(): one.this for one in chosen if isinstance(one, exp.Alias)}
