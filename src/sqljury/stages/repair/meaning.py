"""Rewrites of queries that their engine evaluates otherwise than the question means, checked on the database.

A rewrite replaces a query if it runs and its result differs; where a rule is not sure, the answer carries a remark.
The model is not asked. For a candidate each rule runs at most one query and a probe; what it reads of a column is
limited in rows and time, and is read once for all candidates.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqljury.access.guard import skip
from sqljury.context import Context
from sqljury.errors import CancelledError, QueryError
from sqljury.patterns import regex
from sqljury.schema.meanings import Kind, meanings
from sqljury.sql import clock
from sqljury.sql.compare import VOTES, same
from sqljury.sql.meaning import DOUBTING, FOR_ERRORS, RULES, Asked, Rewriter
from sqljury.sql.meaning.base import Times
from sqljury.sql.parse import exp, read_query
from sqljury.sql.text import plain, quote_name, quote_table
from sqljury.stages.repair.hints import SEEK_SECONDS
from sqljury.types import Candidate, Fix, Limits, Result, Row, Schema, Table, Task

if TYPE_CHECKING:
    from sqljury.sql.meaning.base import Change, Rule

READ_ROWS: Final = 1000
"""First rows of a table, in storage order, in which the values of a column are looked at."""
PATIENCE: Final = 5.0
"""A rewritten query may take this many seconds, or twice as long as the query before it."""
_VALUES: Final = 200
_UNITS: Final[dict[Kind, Times]] = {
    "epoch seconds": "seconds",
    "epoch milliseconds": "milliseconds",
    "epoch microseconds": "microseconds",
}
_CASES: Final = 12
_SPELLINGS: Final = 20
_REASON: Final = 200
_PADDED: Final = regex(r"(?<!\d)0\d|\d{8}")
_OF_DIGITS: Final = regex(r"MM|DD")


def as_meant(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """The candidate after every rule that is sure of its rewrite; a failed query as ``meant_to_run`` leaves it."""
    return apply_rules(meant_to_run(candidate, task, context), task, context, RULES)


def apply_rules(candidate: Candidate, task: Task, context: Context, rules: Sequence[Rule]) -> Candidate:
    """A candidate that runs, after those of the rules that are sure of their rewrite; a failed one as it is."""
    if not context.recipe.fix.meaning or not candidate.sql or not candidate.result.ok:
        return candidate
    data = Content(task, context)
    asked = Asked(task.question, task.known, data)
    query = Rewriter(candidate.sql, asked)
    for rule in rules:
        written = query.rewrite(rule)
        if written is None or not written.change.sure:
            continue
        result = data.run(written.sql, candidate.result.seconds)
        if result.ok and _replaces(candidate.result, result, written.change):
            candidate = _rewritten(candidate, written.sql, result, written.change.reason)
            query = Rewriter(candidate.sql, asked)
    return candidate


def doubts(candidate: Candidate, task: Task, context: Context) -> tuple[str, ...]:
    """Remarks on an answer: what may be meant otherwise, and the day from which the query counts."""
    if not context.recipe.fix.meaning or not candidate.result.ok:
        return ()
    data = Content(task, context)
    asked = Asked(task.question, task.known, data)
    query = Rewriter(candidate.sql, asked)
    written = map(query.rewrite, DOUBTING)
    reasons = (rewritten.change.reason for rewritten in written if rewritten is not None and not rewritten.change.sure)
    return (*(plain(reason, _REASON) for reason in reasons), *_day(candidate, task.known, data))


def meant_to_run(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """A query that failed after the rules for errors together, if it runs then; else the candidate as it is.

    To be tried before repairs that only make it run: a number cast to text can be compared with a date, for nothing.
    """
    if not context.recipe.fix.meaning or not candidate.sql or candidate.result.error_kind != "sql":
        return candidate
    data = Content(task, context)
    asked = Asked(task.question, task.known, data, failed=True)
    sql, reasons = candidate.sql, list[str]()
    for rule in FOR_ERRORS:
        written = Rewriter(sql, asked).rewrite(rule)
        if written is not None and written.change.sure:
            sql = written.sql
            reasons.append(written.change.reason)
    if sql == candidate.sql:
        return candidate
    result = data.run(sql, PATIENCE)
    return _rewritten(candidate, sql, result, "; ".join(reasons)) if result.ok else candidate


def _day(candidate: Candidate, schema: Schema, data: Content) -> Iterator[str]:
    """The day that the database's clock shows, if the query reads it."""
    tree = read_query(candidate.sql, schema.dialect)
    if tree is not None and clock.is_clock(tree):
        rows = data.rows(f"SELECT {clock.TODAY[schema.dialect]}")
        if rows:
            yield f"the query counts from today, {plain(str(rows[0][0]), 10)} by the clock of the database"


def _replaces(before: Result, after: Result, change: Change) -> bool:
    if same(before, after, VOTES, ordered=True):
        return change.may_equal
    return bool(after.rows) or change.may_empty


def _rewritten(candidate: Candidate, sql: str, result: Result, reason: str) -> Candidate:
    fix = Fix(before=candidate.sql, reason=reason, by="meaning")
    return replace(candidate, sql=sql, result=result, fixes=(*candidate.fixes, fix))


class Content:
    """Evidence for rules, read from the database: see ``sql.meaning.Data``."""

    def __init__(self, task: Task, context: Context) -> None:
        self._schema, self._codes, self._context = task.known, task.codes, context
        self._masked = skip(context.db)
        self._cases = _CASES
        self._spellings: dict[tuple[Hashable, ...], tuple[str, ...] | None] = {}

    def run(self, sql: str, seconds: float) -> Result:
        """What a rewritten query returns, whose original took ``seconds``."""
        return self._context.execute(sql, max(PATIENCE, 2 * seconds))

    def rows(self, sql: str) -> tuple[Row, ...] | None:
        """The rows of a query, which is run once for a question; None where it fails or takes too long."""

        def run() -> tuple[Row, ...] | None:
            result = self._context.db.execute(sql, Limits(SEEK_SECONDS, rows=_VALUES), self._context.cancel)
            return result.rows if result.ok else None

        return self._context.once.get(("rows", sql), run)

    def codes(self, table: Table, column: str) -> Mapping[str | int, str]:
        """What the codes of the column mean, where a table of codes says it."""
        return self._codes.get((table.name, column), {})

    def values(self, table: Table, column: str) -> tuple[Any, ...]:
        """At most ``_VALUES`` distinct non-NULL values of the column, from the first rows of the table."""
        return tuple(dict.fromkeys(self._read(table, column)))[:_VALUES]

    def times(self, table: Table, column: str) -> Times:
        """How the values of the column are times, if they are numbers."""
        cells = tuple((value,) for value in self._read(table, column)[:_VALUES])
        meaning = meanings(table, Result(columns=(column,), rows=cells)).get(column)
        if meaning is None or meaning.stored != "number":
            return ""
        return "days" if meaning.forms == ("YYYYMMDD",) else _UNITS.get(meaning.kind, "")

    def day_form(self, table: Table, column: str) -> str:
        """The form in which the column's texts are days, if it is one and not YYYY-MM-DD.

        It is found once for a question: several rules ask for it, for each candidate.
        """
        key = ("day form", table.schema, table.name, column)
        return self._context.once.get(key, lambda: self._form(table, column))

    def _form(self, table: Table, column: str) -> str:
        """Days and months have two digits if all texts are of one length and one of them has a leading zero."""
        texts = tuple(self._read(table, column))
        meaning = meanings(table, Result(columns=(column,), rows=tuple((text,) for text in texts))).get(column)
        if meaning is None or meaning.kind != "date" or meaning.stored != "text" or len(meaning.forms) != 1:
            return ""
        (form,) = meaning.forms
        if meaning.times == "some" or (meaning.times == "all" and not meaning.time):
            return ""
        lengths = {len(text) for text in texts}
        is_padded = lengths == {len(form + meaning.time)} and ("Mon" in form or any(map(_PADDED.search, texts)))
        form = form if is_padded else _OF_DIGITS.sub(lambda part: part[0][0], form)
        return "" if form == "YYYY-MM-DD" else form + meaning.time

    def spellings(self, table: Table, column: str, text: str) -> tuple[str, ...] | None:
        """The text as the column has it, in any case; ``_CASES`` texts are looked up at most.

        After a look-up that fails or takes too long, and of columns that must not be read, nothing is known.
        """
        key = ("spellings", *self._content(), table.schema, table.name, column, text.lower())
        if key not in self._spellings:
            if self._cases <= 0 or self._masked(table.name, column):
                return None
            try:
                self._spellings[key] = self._context.kept.get(key, lambda: self._spelt(table, column, text))
            except QueryError:
                self._cases, self._spellings[key] = 0, None
        return self._spellings[key]

    def _spelt(self, table: Table, column: str, text: str) -> tuple[str, ...]:
        self._cases -= 1
        source, name = self._names(table, column)
        lower = exp.Literal.string(text.lower()).sql(dialect=self._schema.dialect)
        sql = f"SELECT DISTINCT {name} FROM {source} WHERE LOWER({name}) = {lower} LIMIT {_SPELLINGS}"  # noqa: S608 - quoted
        rows = self.rows(sql)
        if rows is None:
            raise QueryError(f"{table.name}.{column} was not searched")
        texts = {str(value) for (value,) in rows}
        if self._schema.dialect == "postgres":  # the engine ignores the blanks that fill up a CHAR(10)
            texts = {text.rstrip(" ") for text in texts}
        return tuple(sorted(texts))

    def _read(self, table: Table, column: str) -> tuple[Any, ...]:
        if self._masked(table.name, column):
            return ()
        key = ("values", *self._content(), table.schema, table.name, column)

        def read() -> tuple[Any, ...]:
            try:
                return self._context.kept.get(key, lambda: self._first(table, column), self._context.cancel)
            except QueryError:  # this question does without; a later one may read it
                return ()

        try:
            return self._context.once.get(key, read, self._context.cancel)
        except CancelledError:
            return ()

    def _first(self, table: Table, column: str) -> tuple[Any, ...]:
        source, name = self._names(table, column)
        sql = f"SELECT {name} FROM {source} LIMIT {READ_ROWS}"  # noqa: S608 - quoted
        result = self._context.db.execute(sql, Limits(SEEK_SECONDS, rows=READ_ROWS), self._context.cancel)
        if result.error_kind == "cancelled":
            raise CancelledError(f"{table.name} was not read")
        if not result.ok:  # as one that took too long: that depends on more than the key
            raise QueryError(f"{table.name}.{column} was not read")
        return tuple(cell for (cell,) in result.rows if cell is not None)

    def _content(self) -> tuple[Hashable, ...]:
        """The database, and its content as far as it tells whether that has changed."""
        return self._context.db.url, self._context.content().version

    def _names(self, table: Table, column: str) -> tuple[str, str]:
        dialect = self._schema.dialect
        return quote_table(table.name, table.schema, dialect), quote_name(column, dialect)
