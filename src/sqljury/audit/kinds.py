"""Data types: numbers and dates that are kept as text and compared as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, shown, told, within

_NUMBER: Final = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)\s*")
_UNSORTED: Final = re.compile(
    r"\s*(\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|"
    r"(\d{1,2}\s+)?[A-Za-z]{3,9}\.?\s+(\d{1,2},?\s+)?\d{4}|\d{1,2}[ -][A-Za-z]{3}[ -]\d{2,4})\b.*"
)
"""Dates that begin with the day or the month: 18.2.1992, 2/18/92, 18 February 1992, May 5, 2008, 28-AUG-2011."""

_MOST: Final = 0.7
_COMPARISONS: Final = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_AGGREGATES: Final = (exp.Max, exp.Min, exp.Sum, exp.Avg)


def numbers_as_text(subject: Subject) -> Iterator[Finding]:
    """A column of numbers kept as text is put in order or summed up as text, and as numbers the answer is another."""
    for column, node in _ordered(subject):
        texts = _texts(subject, column)
        numeric = [text for text in texts if _NUMBER.fullmatch(text)]
        if not texts or len(numeric) < _MOST * len(texts):
            continue
        changed = subject.differs(_as_numbers(subject, column), ordered=isinstance(node, exp.Ordered))
        if changed is None:
            continue
        written, meant = told(*changed)
        other = next((text for text in texts if not _NUMBER.fullmatch(text)), None)
        why = f"and {other!r}" if other is not None else "whose order as text is another"
        evidence = (
            f"{column.name} holds numbers as text, such as {numeric[0]!r}, {why}; "
            f"as written {written}; compared as numbers {meant}"
        )
        yield Finding("data type", "number-as-text", 0.9, shown(node), evidence)
        return


def sum_of_text(subject: Subject) -> Iterator[Finding]:
    """SUM or AVG of a column that holds texts which are no numbers: of each only the digits it begins with count."""
    for column, node in _ordered(subject):
        texts = _texts(subject, column)
        others = [text for text in texts if not _NUMBER.fullmatch(text)]
        if isinstance(node, exp.Sum | exp.Avg) and len(others) > (1 - _MOST) * len(texts):
            evidence = f"{column.name} holds {others[0]!r}, which is no number"
            yield Finding("data type", "sum-of-text", 0.8, shown(node), evidence)
            return


def dates_as_text(subject: Subject) -> Iterator[Finding]:
    """Dates whose text does not sort by time are put in order."""
    for column, node in _ordered(subject):
        texts = _texts(subject, column)
        dates = [text for text in texts if _UNSORTED.fullmatch(text)]
        if len(texts) > 1 and len(dates) > _MOST * len(texts):
            evidence = f"{column.name} holds dates such as {dates[0]!r} as text, which does not sort by time"
            yield Finding("data type", "date-as-text", 0.8, shown(node), evidence)
            return


def types_apart(subject: Subject) -> Iterator[Finding]:
    """A join on columns of which one holds only numbers and the other only text, so that no row ever meets another."""
    for select in subject.selects:
        for node in within(select, exp.EQ):
            sides = [side for side in (node.this, node.expression) if isinstance(side, exp.Column)]
            owners = [subject.owner(side) for side in sides]
            if len(sides) != 2 or None in owners:
                continue
            left, right = (
                set(subject.data.values(owner[1], side.name) or ())
                for owner, side in zip(owners, sides, strict=True)
                if owner
            )
            if left and right and _kind(left) != _kind(right) and not _same_as_text(left, right):
                evidence = f"{shown(sides[0])} holds {_kind(left)}, {shown(sides[1])} {_kind(right)}; none are equal"
                yield Finding("data type", "join-types", 0.8, shown(node), evidence)


def _ordered(subject: Subject) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """Columns that are put in order, compared by size or summed up, with the part of the query that does it."""
    for select in subject.selects:
        for node in within(select, exp.Ordered, *_COMPARISONS, *_AGGREGATES):
            for part in (node.this, node.args.get("expression")):
                if isinstance(part, exp.Column):
                    yield part, node


def _texts(subject: Subject, column: exp.Column) -> list[str]:
    """The texts of the column; none where some other part of the query has hold of numbers there."""
    owner = subject.owner(column)
    values = None if owner is None else subject.data.values(owner[1], column.name)
    return [value for value in values or () if isinstance(value, str) and value.strip()]


def _as_numbers(subject: Subject, column: exp.Column) -> exp.Expr:
    """The query with this column read as a number wherever it is put in order; what is no number counts as NULL."""
    assert subject.tree is not None
    whole = subject.tree.copy()
    for node in list(whole.find_all(exp.Ordered, exp.EQ, *_COMPARISONS, *_AGGREGATES)):
        if isinstance(node, exp.EQ) and not isinstance(node.expression, exp.Subquery):
            continue
        for key in ("this", "expression"):
            part = node.args.get(key)
            if isinstance(part, exp.Column) and part.name.lower() == column.name.lower():
                number = exp.cast(part.copy(), "REAL")
                test = exp.Glob(this=part.copy(), expression=exp.Literal.string("*[0-9]*"))
                node.set(key, exp.Case(ifs=[exp.If(this=test, true=number)]))
                if isinstance(node, exp.Ordered):
                    node.set("nulls_first", False)
    return whole


def _kind(values: set[Any]) -> str:
    return "texts" if all(isinstance(value, str) for value in values) else "numbers"


def _same_as_text(left: set[Any], right: set[Any]) -> bool:
    return bool({str(value) for value in left} & {str(value) for value in right})
