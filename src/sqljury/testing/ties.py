"""Ties that leave open which rows a query returns, or in which order: exactly, by the rank of each row.

Storing the rows the other way round does not show every tie, for grouping sorts them again. So the query is run without
its LIMIT and with the rank of each row by ORDER BY beside it; where the rows of one rank differ, any of them is right.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from sqljury.db.base import Runs
from sqljury.sql.parse import exp, quiet
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
        after = 0
        for _, tied in groupby(sorted(rows, key=_rank), key=_rank):
            group = list(tied)
            first, after = after, after + len(group)
            end = after if self.end is None else self.end
            cut = first < self.start < after or first < end < after
            kept = first < end and after > self.start
            if (cut or (self.sequence and kept)) and any(row != group[0] for row in group):
                return False
        return True


def _rank(row: Row) -> int:
    return int(row[-1])


def decided(database: Runs, queries: Collection[Ranked] | None, limits: Limits) -> bool:
    """Whether ties leave nothing open on this database; False where that cannot be determined."""
    if queries is None:
        return False
    for query in queries:
        result = database.execute(query.sql, limits)
        if not result.ok or result.truncated or not query.decides(result.rows):
            return False
    return True


@quiet()
def ranked(sql: str, columns: Collection[str] = (), *, ordered: bool = False) -> tuple[Ranked, ...] | None:
    """What to run to find the ties of a query and of its subqueries; None where one of them cannot be rewritten.

    ``columns`` are the schema's column names in lower case; with ``ordered`` the order of the result counts.
    """
    tree = tree_of(sql, columns)
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return None
    rewritten = []
    for query in tree.find_all(exp.Select, exp.SetOperation, bfs=True):
        outermost = query is tree
        if query.args.get("limit") is None and query.args.get("offset") is None and not (outermost and ordered):
            continue
        window = _window(query)
        text = _with_rank(query, tree)
        if window is None or text is None:
            return None
        rewritten.append(Ranked(text, *window, sequence=outermost and ordered))
    return tuple(rewritten)


def _window(query: exp.Query) -> tuple[int, int | None] | None:
    """The index of the first row that is kept and that after the last; None where they are not plain numbers."""
    numbers = []
    for name in ("offset", "limit"):
        clause = query.args.get(name)
        value = None if clause is None else clause.args.get("expression")
        if clause is not None and not (isinstance(value, exp.Literal) and value.is_int):
            return None
        numbers.append(None if value is None else int(value.this))
    start, limit = numbers[0] or 0, numbers[1]
    return start, None if limit is None else start + limit


def _with_rank(query: exp.Query, tree: exp.Expr) -> str | None:
    """The query without ORDER BY and LIMIT, its rows' rank in one more column; None where it cannot be rewritten."""
    whole = query.copy()
    order = whole.args.get("order")
    for clause in ("order", "limit", "offset"):
        whole.set(clause, None)
    terms = [] if order is None else order.expressions
    if isinstance(whole, exp.Select):
        select: exp.Select | None = whole
        keys = _keys(terms, whole.expressions)
        if whole.args.get("distinct") is not None and not _among(keys, whole.expressions):
            return None
    else:
        select, keys = _around(whole, terms)
    if select is None or keys is None:
        return None
    window = exp.Window(this=exp.DenseRank(), order=exp.Order(expressions=keys), over="OVER")
    rank = window if keys else exp.Literal.number(0)
    select.append("expressions", exp.alias_(rank, _RANK))
    if query is not tree and select.args.get("with_") is None and tree.args.get("with_") is not None:
        select.set("with_", tree.args["with_"].copy())
    try:
        return select.sql(dialect=DIALECT)
    except ValueError:  # sqlglot reads some paths into JSON that it cannot write
        return None


def _keys(terms: Sequence[exp.Expr], outputs: Sequence[exp.Expr]) -> list[exp.Expr] | None:
    """The terms of ORDER BY as a window takes them: without numbers and names of the result's columns."""
    aliases = {output.alias.lower(): output.this for output in outputs if isinstance(output, exp.Alias)}
    keys = []
    for term in terms:
        key = term.copy()
        sorted_by = key.this
        if isinstance(sorted_by, exp.Literal) and sorted_by.is_int:
            number = int(sorted_by.this)
            if not 1 <= number <= len(outputs) or any(output.is_star for output in outputs[:number]):
                return None
            sorted_by.replace(outputs[number - 1].unalias().copy())
        for column in list(key.find_all(exp.Column)):
            if not column.table and column.name.lower() in aliases:
                column.replace(exp.paren(aliases[column.name.lower()].copy()))
        keys.append(key)
    return keys


def _among(keys: Sequence[exp.Expr] | None, outputs: Sequence[exp.Expr]) -> bool:
    """Whether the result's columns decide the rank, so that one more column splits no rows that DISTINCT joins."""
    columns = {output.unalias() for output in outputs}
    return keys is not None and all(key.this.unnest() in columns for key in keys)


def _around(compound: exp.Query, terms: Sequence[exp.Expr]) -> tuple[exp.Select | None, list[exp.Expr] | None]:
    """A SELECT from a set operation, whose columns get names, and the terms of ORDER BY by these names."""
    first = compound
    while isinstance(first, exp.SetOperation):
        first = first.this.unnest()
    if not isinstance(first, exp.Select) or any(output.is_star for output in first.expressions):
        return None, None
    outputs = list(enumerate(first.expressions))
    by_name = {output.alias_or_name.lower(): index for index, output in reversed(outputs)}
    by_expression = {output.unalias(): index for index, output in outputs}
    keys: list[exp.Expr] = []
    for term in terms:
        key, sorted_by = term.copy(), term.this
        if isinstance(sorted_by, exp.Literal) and sorted_by.is_int:
            index = int(sorted_by.this) - 1
        else:
            bare = isinstance(sorted_by, exp.Column) and not sorted_by.table
            index = by_name.get(sorted_by.name.lower(), -1) if bare else by_expression.get(sorted_by, -1)
        if not 0 <= index < len(outputs):
            return None, None
        key.this.replace(exp.column(_COLUMN.format(index)))
        keys.append(key)
    aliased = [exp.alias_(output.unalias().copy(), _COLUMN.format(index)) for index, output in outputs]
    first.set("expressions", aliased)
    return exp.select("*").from_(compound.subquery("compound")), keys
