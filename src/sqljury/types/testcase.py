"""Small databases on which queries are tested, and what the queries return there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sqljury.types import serialize
from sqljury.types.result import Result, Row
from sqljury.types.schema import Schema


@dataclass(frozen=True, slots=True)
class TestCase:
    """A small database on which queries are tested, and the result expected of the right query.

    ``rows`` has one item for each table of ``schema``, in its order, with cells in the order of the columns.
    ``expected`` is None while unknown. ``confidence`` is the confidence in it, in (0, 1]: the share of the predictions
    that agree, or the probability given by a model that chose among them. Li & Xie 2024, section 2.
    """

    __test__: ClassVar[bool] = False  # not a test class of pytest

    schema: Schema
    rows: tuple[tuple[Row, ...], ...]
    expected: Result | None = None
    confidence: float = 1.0

    @property
    def tables(self) -> dict[str, tuple[Row, ...]]:
        """The rows by table name."""
        return {table.name: rows for table, rows in zip(self.schema.tables, self.rows, strict=True)}

    @property
    def size(self) -> int:
        """The number of rows in all tables."""
        return sum(map(len, self.rows))


@dataclass(frozen=True, slots=True)
class Tried:
    """A test case and the results of several queries on it.

    ``queries``, ``results`` and ``passed`` are parallel; ``passed`` is None where no result is expected, or where the
    query cannot be run on test databases. ``how`` is the origin of the rows (``drawn``, ``real``, ``mutated``,
    ``fuzzed`` or ``written``) and ``by`` that of the expected result: ``model``, ``code``, or empty. ``code`` is the
    program that computed it. ``classes`` has for each query the index of the first query that it does not differ from
    here, however ties are broken; empty if this was not determined.
    """

    case: TestCase
    queries: tuple[str, ...]
    results: tuple[Result, ...]
    passed: tuple[bool | None, ...]
    how: str = ""
    by: str = ""
    code: str = ""
    classes: tuple[int, ...] = ()

    def differ(self, first: int, second: int) -> bool:
        """Whether the queries at these indexes differ here other than by how ties are broken."""
        if not (self.results[first].ok and self.results[second].ok):
            return False
        if self.classes:
            return self.classes[first] != self.classes[second]
        return self.results[first].rows != self.results[second].rows

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings for JSON, with tables by name."""
        return serialize.tried_dict(self)
