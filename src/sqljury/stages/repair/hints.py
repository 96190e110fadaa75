"""What the model is told beside the engine's message, when it is asked to repair its query.

Lines of data: names as a query needs them, values as literals, all on one line and unable to pass for a turn of the
conversation. Nothing here asks the model, and what is asked of the database is bounded in number and in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury.access.guard import skip
from sqljury.context import Context
from sqljury.db.readonly import FORBIDDEN_FUNCTIONS, allowed_functions
from sqljury.errors import DatabaseError, QueryError
from sqljury.language.alike import nearest
from sqljury.language.words import words
from sqljury.sql import text
from sqljury.sql.emptied import caused, empty_join, loosened
from sqljury.sql.faults import Fault, read_fault
from sqljury.sql.names.suggest import LINES, unknown, unknown_functions
from sqljury.sql.parse import exp
from sqljury.sql.strict import conform
from sqljury.sql.text import quote_name, quote_table
from sqljury.types import Candidate, Limits, Schema, Table, Task
from sqljury.values.bind import Has, lacking

SEEK_SECONDS: Final = 2.0
"""For each query that only looks for a reason or for evidence."""
ASKED: Final = 20
"""Texts of one query that are looked for."""
_TEXTS: Final = 2
_VALUES: Final = 3
_LISTED: Final = 500
_SEARCHED: Final = 50
_LEAST: Final = 0.5
_COUNTED: Final = 1000
_FEW: Final = 25
"""Most values of a column that are kinds or states."""


class Advice(NamedTuple):
    """What the model is told: ``lines``; ``lacking`` are the texts of its query that their columns do not have."""

    lines: Sequence[str] = ()
    lacking: tuple[str, ...] = ()


def advise(candidate: Candidate, task: Task, context: Context) -> Advice:
    """Why a candidate failed or found nothing, as far as schema and content tell; empty where they do not.

    For a failed query what it names that is not there, and what its engine does not take as it is written. For one
    without rows texts that their columns do not have, if the query finds rows without the conditions on them; else the
    join that finds nothing. A condition that merely rules all rows out is not advised on: it may be what was asked for.
    """
    kind = candidate.result.error_kind
    if kind in ("sql", "refused"):
        fault, error = fault_of(candidate), str(candidate.result.error or "")
        functions = unknown_functions(candidate.sql, task.known.dialect, _functions(context), error)
        strict = conform(candidate.sql, task.known, fault).lines(fault)
        lines = [*functions, *strict, *unknown(candidate.sql, task.known)]
        return Advice(list(dict.fromkeys(lines))[:LINES])
    if kind is not None or candidate.result.rows:
        return Advice()

    def finds(sql: str) -> bool | None:
        return None if context.exhausted() else _finds(sql, context)

    missing = list(dict.fromkeys(lacking(candidate.sql, task.known, stored(task.known, context))))
    texts = tuple(value for _, _, value in missing)
    if missing and caused(candidate.sql, task.known, texts, finds):
        lines = [_value_line(table, column, value, task, context) for table, column, value in missing[:_TEXTS]]
    else:
        lines = empty_join(candidate.sql, task.known, finds)
    return Advice(lines, texts)


class NotHeld(NamedTuple):
    """A ``text`` that a query compares with a column that lacks it; whether it is ``said`` in the question.

    A column of ``few`` different texts has them all by design, so that a word of the question has another one there.
    """

    table: Table
    column: str
    text: str
    said: bool
    few: bool

    def line(self, task: Task, context: Context) -> str:
        """What the reader is told: that the column lacks the text, and what it has, which is looked up."""
        return _value_line(self.table, self.column, self.text, task, context)


def texts_not_held(candidate: Candidate, task: Task, context: Context) -> list[NotHeld]:
    """The texts of a query that runs, and that the columns with which they are compared do not have."""
    missing = list(dict.fromkeys(lacking(candidate.sql, task.known, stored(task.known, context))))[:_TEXTS]
    asked = set(words(task.question.whole))
    return [
        NotHeld(table, column, value, set(words(value)) <= asked, _has_few(table, column, task.known, context))
        for table, column, value in missing
    ]


def _has_few(table: Table, column: str, schema: Schema, context: Context) -> bool:
    """Whether a column has few different values, as far as that is known in the time there is."""
    name = quote_name(column, schema.dialect)
    distinct = f"SELECT DISTINCT {name} FROM {_from(table, schema)} LIMIT {_FEW + 1}"  # noqa: S608
    result = context.db.execute(distinct, Limits(SEEK_SECONDS, rows=_FEW + 1), context.cancel)
    return result.ok and len(result.rows) <= _FEW


def fault_of(candidate: Candidate) -> Fault:
    """What the engine found wrong with a failed query."""
    error = candidate.result.error
    readable = error is not None and error.kind in ("sql", "refused")
    return read_fault(error.message) if error is not None and readable else Fault("other", str(error or ""))


def looser(candidate: Candidate, schema: Schema, context: Context) -> tuple[str, ...]:
    """What an answer without rows would have without one of its conditions: lines to show, never another answer."""

    def rows(sql: str) -> str | None:
        result = context.db.execute(sql, Limits(SEEK_SECONDS, rows=_COUNTED), context.cancel)
        if not result.ok:
            return None
        more = " or more" if result.truncated else ""
        return f"{len(result.rows):,}{more} row{'' if len(result.rows) == 1 and not more else 's'}"

    return tuple(loosened(candidate.sql, schema, rows)) if candidate.result.ok and not candidate.result.rows else ()


def stored(schema: Schema, context: Context) -> Has:
    """Whether a column has a text, asked of the database itself: for ``SEEK_SECONDS``, and ``ASKED`` times in all.

    After the first question that could not be answered in that time no more are asked: a table that large has no
    index on the column. Nor are more asked once all took twice that time, or the budget is exhausted.
    """
    remaining, seconds = ASKED, 2 * SEEK_SECONDS

    def has(table: Table, column: str, value: str) -> bool:
        nonlocal remaining, seconds
        if remaining <= 0 or seconds <= 0 or context.exhausted():
            return True
        literal = exp.Literal.string(value).sql(dialect=schema.dialect)
        where = f"{_from(table, schema)} WHERE {quote_name(column, schema.dialect)} = {literal}"
        result = context.db.execute(f"SELECT 1 FROM {where} LIMIT 1", Limits(SEEK_SECONDS, rows=1), context.cancel)  # noqa: S608
        remaining = 0 if result.error_kind == "limit" else remaining - 1
        seconds -= result.seconds
        return not result.ok or bool(result.rows)

    return has


def _finds(sql: str, context: Context) -> bool | None:
    result = context.db.execute(sql, Limits(SEEK_SECONDS, rows=1), context.cancel)
    return bool(result.rows) if result.ok else None


def _functions(context: Context) -> frozenset[str]:
    """What may be called; SQLite is asked, since its functions depend on how it was built."""
    if context.db.dialect != "sqlite":
        return allowed_functions(context.db.dialect)
    try:
        names = context.db.catalog("SELECT DISTINCT name FROM pragma_function_list")
    except (DatabaseError, QueryError):
        return frozenset()
    return frozenset(str(name).lower() for (name,) in names) - FORBIDDEN_FUNCTIONS["sqlite"]


def _value_line(table: Table, column: str, value: str, task: Task, context: Context) -> str:
    """A text that its column lacks, with the nearest the column has, and another column that has the text."""
    qualified = _place(table.name, column, task.known)
    line = f"{qualified} has no {text.literal(value)}"
    near, elsewhere = _searched(table, column, value, task, context) if context.values else ([], "")
    if elsewhere:
        return f"{line}, but {elsewhere} has"
    near = near or _listed(table, column, value, task, context)
    return f"{line}; nearest there: {', '.join(map(text.literal, near))}" if near else line


def _searched(table: Table, column: str, value: str, task: Task, context: Context) -> tuple[list[str], str]:
    """The index's nearest values of the column, and the place of the very text in another."""
    assert context.values is not None
    try:
        matches = context.values().search(value, _SEARCHED)
    except DatabaseError:
        return [], ""
    same = [match for match in matches if match.value.casefold() == value.casefold()]
    elsewhere = next((_place(match.table, match.column, task.known) for match in same if match.column != column), "")
    near = [
        match.value
        for match in matches
        if (match.table, match.column) == (table.name, column) and match.score >= _LEAST
    ]
    return list(dict.fromkeys(near))[:_VALUES], "" if near else elsewhere


def _listed(table: Table, column: str, value: str, task: Task, context: Context) -> list[str]:
    """Without an index: values read from the column, those nearest to the text, or all where there are few."""
    if skip(context.db)(table.name, column):
        return []
    name = quote_name(column, task.known.dialect)
    sql = f"SELECT DISTINCT {name} FROM {_from(table, task.known)} WHERE {name} IS NOT NULL"  # noqa: S608 - quoted
    result = context.db.execute(sql, Limits(SEEK_SECONDS, rows=_LISTED), context.cancel)
    values = [cell for (cell,) in result.rows if isinstance(cell, str)] if result.ok else []
    return nearest(value, values, _VALUES) or (values if len(values) <= _VALUES else [])


def _from(table: Table, schema: Schema) -> str:
    return quote_table(table.name, table.schema, schema.dialect)


def _place(table: str, column: str, schema: Schema) -> str:
    owner = next((entry.schema for entry in schema.tables if entry.name == table), "")
    return f"{text.table_name(table, owner, schema.dialect)}.{text.name(column, schema.dialect)}"
