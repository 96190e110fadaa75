"""Ties that leave open which rows a query returns, or in which order: exactly, by the rank of each row.

Storing the rows the other way round does not show every tie, for grouping sorts them again. So the query is run without
its LIMIT and with the rank of each row by ORDER BY beside it; where the rows of one rank differ, any of them is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from sqlglot import exp

from sqljury.db.base import Runs
from sqljury.sql.parse import quiet
from sqljury.sql.tree import DIALECT, tree_of
from sqljury.types import Limits, Row

_RANK: Final = "tie_rank"
_COLUMN: Final = "tie_column_{}"


class Ranked(NamedTuple):
    """A query, or one inside it, with each row's rank in the last column; of these rows ``start`` to ``end`` are kept.

    ``end`` is None where there is no LIMIT. With ``sequence`` the order of the rows that are kept matters too.
    """

    sql: str
    start: int
    end: int | None
    sequence: bool

    def decides(self, rows: Collection[Row]) -> bool:
        """Whether no tie leaves open which rows are kept or, where it matters, in which order."""
        at = 0
        for _, tied in groupby(sorted(rows, key=_rank), key=_rank):
            group = list(tied)
            first, at = at, at + len(group)
            end = at if self.end is None else self.end
            cut = first < self.start < at or first < end < at
            kept = first < end and at > self.start
            if (cut or (self.sequence and kept)) and any(row != group[0] for row in group):
                return False
        return True


def _rank(row: Row) -> int:
    return int(row[-1])


def decided(database: Runs, queries: Collection[Ranked] | None, limits: Limits) -> bool:
    """Whether ties leave nothing open on this database; also no where that cannot be seen."""
    if queries is None:
        return False
    for query in queries:
        result = database.execute(query.sql, limits)
        if not result.ok or result.truncated or not query.decides(result.rows):
            return False
    return True


@quiet()
def ranked(sql: str, columns: Collection[str] = (), *, ordered: bool = False) -> tuple[Ranked, ...] | None:
    """What to run to see the ties of a query and of those inside it; None where one of them cannot be rewritten.

    ``columns`` are the schema's column names in lower case; ``ordered`` says that the order of the result counts.
    """
    tree = tree_of(sql, columns)
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return None
    found = []
    for query in _queries(tree):
        outermost = query is tree
        if query.args.get("limit") is None and query.args.get("offset") is None and not (outermost and ordered):
            continue
        window = _window(query)
        text = _with_rank(query, tree)
        if window is None or text is None:
            return None
        found.append(Ranked(text, *window, sequence=outermost and ordered))
    return tuple(found)


def _queries(tree: exp.Expr) -> Iterator[exp.Query]:
    for node in tree.walk():
        if isinstance(node, exp.Select | exp.SetOperation):
            yield node


def _window(query: exp.Query) -> tuple[int, int | None] | None:
    """The first row that is kept and the one after the last; None where they are no plain numbers."""
    numbers = []
    for clause in ("offset", "limit"):
        found = query.args.get(clause)
        value = None if found is None else found.args.get("expression")
        if found is not None and not (isinstance(value, exp.Literal) and value.is_int):
            return None
        numbers.append(None if value is None else int(value.this))
    start, limit = numbers[0] or 0, numbers[1]
    return start, None if limit is None else start + limit


def _with_rank(query: exp.Query, tree: exp.Expr) -> str | None:
    """The query without ORDER BY and LIMIT, the rank of its rows in one more column; None where that is not seen."""
    whole = query.copy()
    order = whole.args.get("order")
    for clause in ("order", "limit", "offset"):
        whole.set(clause, None)
    terms = [] if order is None else order.expressions
    if isinstance(whole, exp.Select):
        select: exp.Select | None = whole
        found = _keys(terms, whole.expressions)
        if whole.args.get("distinct") is not None and not _among(found, whole.expressions):
            return None
    else:
        select, found = _around(whole, terms)
    if select is None or found is None:
        return None
    window = exp.Window(this=exp.DenseRank(), order=exp.Order(expressions=found), over="OVER")
    rank = window if found else exp.Literal.number(0)
    select.append("expressions", exp.alias_(rank, _RANK))
    if query is not tree and select.args.get("with_") is None and tree.args.get("with_") is not None:
        select.set("with_", tree.args["with_"].copy())
    try:
        return select.sql(dialect=DIALECT)
    except ValueError:  # sqlglot reads some paths into JSON that it cannot write
        return None


def _keys(terms: Sequence[exp.Expr], outputs: Sequence[exp.Expr]) -> list[exp.Expr] | None:
    """The terms of ORDER BY in words that a window understands: without numbers and names of the result's columns."""
    aliases = {one.alias.lower(): one.this for one in outputs if isinstance(one, exp.Alias)}
    found = []
    for term in terms:
        key = term.copy()
        own = key.this
        if isinstance(own, exp.Literal) and own.is_int:
            place = int(own.this)
            if not 1 <= place <= len(outputs) or any(one.is_star for one in outputs[:place]):
                return None
            own.replace(outputs[place - 1].unalias().copy())
        for column in list(key.find_all(exp.Column)):
            if not column.table and column.name.lower() in aliases:
                column.replace(exp.paren(aliases[column.name.lower()].copy()))
        found.append(key)
    return found


def _among(keys: Sequence[exp.Expr] | None, outputs: Sequence[exp.Expr]) -> bool:
    """Whether the rank is decided by what is returned, so that one more column parts no rows that DISTINCT joins."""
    own = {one.unalias() for one in outputs}
    return keys is not None and all(key.this.unnest() in own for key in keys)


def _around(compound: exp.Query, terms: Sequence[exp.Expr]) -> tuple[exp.Select | None, list[exp.Expr] | None]:
    """A SELECT from a set operation, whose columns get names, and the terms of ORDER BY by these names."""
    first = compound
    while isinstance(first, exp.SetOperation):
        first = first.this.unnest()
    if not isinstance(first, exp.Select) or any(one.is_star for one in first.expressions):
        return None, None
    named = [exp.column(_COLUMN.format(number)) for number in range(len(first.expressions))]
    places = {one.alias_or_name.lower(): place for place, one in reversed(list(enumerate(first.expressions)))}
    texts = {one.unalias(): place for place, one in enumerate(first.expressions)}
    found: list[exp.Expr] = []
    for term in terms:
        key, own = term.copy(), term.this
        if isinstance(own, exp.Literal) and own.is_int:
            place = int(own.this) - 1
        else:
            plain = isinstance(own, exp.Column) and not own.table
            place = places.get(own.name.lower(), -1) if plain else texts.get(own, -1)
        if not 0 <= place < len(named):
            return None, None
        key.this.replace(named[place].copy())
        found.append(key)
    aliased = [exp.alias_(one.unalias().copy(), _COLUMN.format(place)) for place, one in enumerate(first.expressions)]
    first.set("expressions", aliased)
    return exp.select("*").from_(compound.subquery("compound")), found
