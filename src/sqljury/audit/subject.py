"""What the checks look at: the question, the tree of its query, the schema, and the data behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

from sqljury.db.base import Database
from sqljury.language.words import words
from sqljury.sql.compare import AUDIT, canonical, same
from sqljury.sql.parse import exp
from sqljury.sql.resolve import column_names, owner, tables_of
from sqljury.sql.text import quote_name, quote_table, remark
from sqljury.sql.tree import DIALECT, tree_of
from sqljury.types import Limits, QueryFailure, Result, Row, Schema, Table

MAX_VALUES: Final = 20_000
_SHOWN_CHARS: Final = 160
_WORD: Final = re.compile(r"[a-z]+")

N = TypeVar("N", bound=exp.Expr)


@dataclass
class Data:
    """Reads a database for the checks, each query within ``limits``; ``alive`` is called after every one.

    What is read of columns is kept, for the next question on the same database asks for it again.
    """

    db: Database
    limits: Limits
    alive: Callable[[], None] = lambda: None
    _values: dict[tuple[str, str], tuple[Any, ...] | None] = field(default_factory=dict)
    _unique: dict[tuple[str, tuple[str, ...]], bool] = field(default_factory=dict)

    def run(self, query: exp.Expr | str) -> Result:
        """What the query returns; one that cannot be written or fails has an error."""
        try:
            sql = query if isinstance(query, str) else query.sql(dialect=DIALECT)
        except ValueError as error:
            return Result(error=QueryFailure("sql", str(error)))
        result = self.db.execute(sql, self.limits)
        self.alive()
        return result

    def rows(self, query: exp.Expr | str) -> tuple[Row, ...] | None:
        """All its rows; None where it fails or returns more than the limits allow."""
        result = self.run(query)
        return result.rows if result.ok and not result.truncated else None

    def number(self, query: exp.Expr | str) -> int | float | None:
        """The single number that it returns, else None."""
        rows = self.rows(query)
        value = rows[0][0] if rows and len(rows) == 1 and rows[0] else None
        return value if isinstance(value, int | float) else None

    def values(self, table: Table, column: str) -> tuple[Any, ...] | None:
        """The different values of a column but NULL; None where there are more than ``MAX_VALUES``."""
        key = (table.name, column.lower())
        if key not in self._values:
            name = quote_name(column)
            source = quote_table(table.name, table.schema)
            rows = self.rows(
                f"SELECT DISTINCT {name} FROM {source} WHERE {name} IS NOT NULL LIMIT {MAX_VALUES + 1}"  # noqa: S608
            )
            kept = None if rows is None or len(rows) > MAX_VALUES else tuple(row[0] for row in rows)
            self._values[key] = kept
        return self._values[key]

    def size(self, table: Table) -> int:
        """How many rows a table has; 0 where that cannot be read."""
        return int(self.number(f"SELECT count(*) FROM {quote_table(table.name, table.schema)}") or 0)  # noqa: S608

    def unique(self, table: Table, columns: tuple[str, ...]) -> bool:
        """Whether no two rows of the table share these columns, by the data or the schema."""
        lowered = tuple(column.lower() for column in columns)
        if not lowered:
            return False
        key = (table.name, lowered)
        if key not in self._unique:
            names = ", ".join(quote_name(column) for column in columns)
            source = quote_table(table.name, table.schema)
            many = self.number(f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {names} HAVING count(*) > 1)")  # noqa: S608
            self._unique[key] = many == 0
        return self._unique[key]


@dataclass(frozen=True)
class Subject:
    """A question and its query; ``tree`` is None for a query that the parser cannot read."""

    question: str
    sql: str
    schema: Schema
    data: Data

    @cached_property
    def tree(self) -> exp.Expr | None:
        return tree_of(self.sql, column_names(self.schema))

    @cached_property
    def result(self) -> Result:
        return self.data.run(self.sql)

    @cached_property
    def rows(self) -> tuple[Row, ...] | None:
        """The rows of the query; None where it fails or returns more than the limits allow."""
        return self.result.rows if self.result.ok and not self.result.truncated else None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the question in small letters, plurals kept."""
        return tuple(_WORD.findall(self.question.lower()))

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The words of the question without plurals, as names are cut up too."""
        return words(self.question)

    @cached_property
    def selects(self) -> tuple[exp.Select, ...]:
        return () if self.tree is None else tuple(self.tree.find_all(exp.Select))

    @property
    def outer(self) -> exp.Select | None:
        """The query itself where it is one SELECT and no set operation."""
        return self.tree if isinstance(self.tree, exp.Select) else None

    def sources(self, select: exp.Select) -> dict[str, Table]:
        """By alias in small letters, the tables of its FROM that the schema knows."""
        return tables_of(select, self.schema)

    def owner(self, column: exp.Column) -> tuple[str, Table] | None:
        """The alias and the table of a column, searched from its SELECT outwards; None if uncertain."""
        return owner(column, self.schema)

    def differs(self, other: exp.Expr, *, ordered: bool = False) -> tuple[tuple[Row, ...], tuple[Row, ...]] | None:
        """The rows of this query and of ``other`` where both run and they are not the same rows; else None."""
        mine, rows = self.rows, self.data.rows(other)
        if mine is None or rows is None:
            return None
        equal = same(Result(rows=mine), Result(rows=rows), AUDIT, ordered=ordered)
        return None if equal else (mine, rows)


def within(select: exp.Select, *kinds: type[N]) -> Iterator[N]:
    """Nodes of these kinds in this SELECT, without those of queries inside it."""
    for node in select.find_all(*kinds):
        if node.parent_select is select:
            yield node


def outputs(select: exp.Select) -> list[exp.Expr]:
    """What it selects, without names given by AS."""
    return [output.unalias() for output in select.expressions]


def plain(select: exp.Select) -> bool:
    """No aggregate, DISTINCT, GROUP BY or LIMIT: a row of FROM is a row of the result."""
    marks = any(select.args.get(clause) is not None for clause in ("distinct", "group", "limit", "having"))
    return not marks and not any(output.find(exp.AggFunc) for output in select.expressions)


def shown(node: exp.Expr | str) -> str:
    """A part of a query or a value on one line, cut where it is long."""
    return remark(node.sql(dialect=DIALECT) if isinstance(node, exp.Expr) else node, _SHOWN_CHARS)


def told(own: tuple[Row, ...], other: tuple[Row, ...]) -> tuple[str, str]:
    """Two results in words, each with a row that the other lacks, if any: ``3 rows, such as (1, 'a')``."""
    return _told(own, other), _told(other, own)


def _told(rows: tuple[Row, ...], other: tuple[Row, ...]) -> str:
    count = f"{len(rows)} row{'s' * (len(rows) != 1)}"
    other_rows = set(canonical(other, AUDIT))
    example = next((row for row in rows if canonical([row], AUDIT)[0] not in other_rows), rows[0] if rows else None)
    return count if example is None else f"{count}, such as {remark(repr(example), 80)}"
