"""The input and output of rules of meaning, and helpers that several rules share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from sqljury.language.alike import MENTIONED, likeness, question_words
from sqljury.language.words import FORM_WORDS, NOT_VALUES, words
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, is_date, may_be_text, owner
from sqljury.types import Column, Question, Row, Schema, Table

Times = Literal["", "seconds", "milliseconds", "microseconds", "days"]
"""How a column of numbers holds times: in a unit since 1970, or ``days`` as YYYYMMDD; empty where it holds none."""

TITLES: Final = ("name", "title", "label")
"""Last words of a column that is the name of a row, the likeliest first."""
DAY_WORDS: Final = frozenset(("date", "day", "dt", "at", "on", "time", "ts", "datetime", "timestamp", "when", "of"))
"""Words of columns of days that do not tell which day it is."""
YEARS: Final = (1900, 2100)
"""Between these a number is taken for a year."""

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?")


class Data(Protocol):
    """Evidence for rules from the database, by a few small and limited queries."""

    def values(self, table: Table, column: str) -> tuple[Any, ...]:
        """Some distinct non-NULL values of the column; none where it must not or cannot be read."""

    def times(self, table: Table, column: str) -> Times:
        """How the values of the column are times."""

    def day_form(self, table: Table, column: str) -> str:
        """The form other than YYYY-MM-DD in which all texts of the column are days, empty where there is none.

        Such as ``DD.MM.YYYY``, with a time ``DD.MM.YYYY HH:MI``; ``D`` and ``M`` have one digit or two.
        """

    def spellings(self, table: Table, column: str, text: str) -> tuple[str, ...] | None:
        """The text as the column has it, in any case; empty where it lacks it, None where that is not known."""

    def codes(self, table: Table, column: str) -> Mapping[str | int, str]:
        """What the codes of the column mean, where a table of codes for many columns says it; empty elsewhere."""

    def rows(self, sql: str) -> tuple[Row, ...] | None:
        """The rows of a query; None where it fails or takes too long."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, its database, and whether the query to rewrite ``failed``."""

    question: Question
    schema: Schema
    data: Data
    failed: bool = False

    @property
    def dialect(self) -> str:
        """The dialect of the database."""
        return self.schema.dialect


class Change(NamedTuple):
    """Why a rule rewrote a query, in the words of a remark.

    Without ``sure`` the tree is as it was, and the answer carries the reason as a remark. The rewritten query replaces
    one that finds rows with ``may_empty`` even if it finds none, and with ``may_equal`` even if it finds the same rows.
    A rule that does not rewrite in place gives the whole ``query``. ``without`` names kinds of restrictions, as
    ``translate.restrictions`` does, of which the rewritten query may have fewer.
    """

    reason: str
    sure: bool = True
    may_empty: bool = False
    may_equal: bool = False
    query: exp.Query | None = None
    without: tuple[str, ...] = ()


if TYPE_CHECKING:
    Rule = Callable[[exp.Query, Asked], Change | None]
    """Rewrites the tree of a query in place; None where it does not apply, and then the tree is as it was."""


class Held(NamedTuple):
    """A column of a query with its table and its declaration."""

    table: Table
    column: Column

    @property
    def is_text(self) -> bool:
        """Whether it is declared as text; a column without a type may hold any."""
        return may_be_text(self.column)


def held(node: exp.Expr | None, schema: Schema) -> Held | None:
    """The column of the schema that an expression is; None where it is not a column or not certain."""
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    owned = owner(node, schema)
    if owned is None:
        return None
    column = next(known for known in owned[1].columns if known.name.lower() == node.name.lower())
    return Held(owned[1], column)


def derived(column: exp.Column, tree: exp.Query) -> exp.Expr | None:
    """What a column of a subquery in FROM, or of a WITH query, is there."""
    select = column.parent_select
    if not isinstance(select, exp.Select):
        return None
    queries = {cte.alias.lower(): cte.this for cte in tree.find_all(exp.CTE)}
    for source in from_items(select):
        query = source.this if isinstance(source, exp.Subquery) else queries.get(source.name.lower())
        if column.table and source.alias_or_name.lower() != column.table.lower():
            continue
        items = query.selects if isinstance(query, exp.Select) else []
        for item in items:
            if item.alias_or_name.lower() == column.name.lower():
                return item.unalias()
    return None


class End(NamedTuple):
    """A column that a join equates with another one, the alias of its table in lower case."""

    alias: str
    table: Table
    node: exp.Column

    @property
    def name(self) -> str:
        """The name of the column in lower case."""
        return self.node.name.lower()


def ends(condition: exp.Expr | None, schema: Schema) -> tuple[End, End] | None:
    """The columns of two aliases that a condition equates; None for any other condition."""
    if not isinstance(condition, exp.EQ):
        return None
    equated = []
    for side in (condition.this, condition.expression):
        owned = owner(side, schema) if isinstance(side, exp.Column) else None
        if owned is None:
            return None
        equated.append(End(*owned, side))
    return (equated[0], equated[1]) if equated[0].alias != equated[1].alias else None


def keys_of(table: Table) -> set[str]:
    """The columns of the table's own key and of those that refer to other tables."""
    return {*table.row_key, *(name for key in table.foreign_keys for name in key.columns)}


def is_explained(said: str, tree: exp.Query, asked: Asked, but: Collection[str] = ()) -> bool:
    """Whether names of the query's tables and columns, and its constants, explain each word of a part of a question.

    Names do so by all their words ``but`` these. "Which delivered orders were sent back?" has words that may stand for
    orders that are returned, which neither ``orders`` nor ``status`` explains.
    """
    columns = [known for node in tree.find_all(exp.Column) if (known := held(node, asked.schema)) is not None]
    called = [name for known in columns for name in (known.table.name, known.column.name)]
    called += [node.name for node in tree.find_all(exp.Table)]
    names = {word for name in called for word in words(name)} - {*but}
    constants = {word for literal in tree.find_all(exp.Literal) for word in words(literal.name)}
    return all(
        word in constants or word in FORM_WORDS or any(likeness(word, name) >= MENTIONED for name in names)
        for word in question_words(said)
        if word not in NOT_VALUES
    )


def single_select(tree: exp.Query) -> exp.Select | None:
    """The query if it is one SELECT without subqueries."""
    return tree if isinstance(tree, exp.Select) and len(list(tree.find_all(exp.Select))) == 1 else None


def stripped(item: exp.Expr, also: Callable[[exp.Expr], bool] = lambda _: False) -> exp.Expr:
    """An output without its name, its digits and its type, nor what ``also`` accepts around its value."""
    node = item.unalias()
    while isinstance(node, exp.Round | exp.Cast | exp.Paren) or also(node):
        node = node.this
    return node


def repeats(select: exp.Select, shown: Collection[int], asked: Asked) -> bool:
    """Whether rows of the result are equal in these outputs, as far as rows are looked at."""
    rows = asked.data.rows(select.sql(dialect=asked.dialect)) or ()
    return len({tuple(row[number] for number in shown) for row in rows}) < len(rows)


def is_met(condition: exp.Expr, table: Table, asked: Asked) -> bool | None:
    """Whether any row of a table meets a condition; None where that cannot be told."""
    source = table_node(table, asked.dialect)
    probe = exp.select(exp.Literal.number(1)).from_(source).where(condition).limit(1)
    rows = asked.data.rows(probe.sql(dialect=asked.dialect))
    return None if rows is None else bool(rows)


def are_unique(columns: Sequence[exp.Expr], table: Table, asked: Asked) -> bool:
    """Whether no two rows of a table are equal in these columns."""
    keys = [exp.column(column.this.copy()) for column in columns]
    probe = exp.select(exp.Literal.number(1)).from_(table_node(table, asked.dialect)).group_by(*keys)
    probe = probe.having(exp.Count(this=exp.Star()) > 1).limit(1)
    return asked.data.rows(probe.sql(dialect=asked.dialect)) == ()


def holds_dates(known: Held | None, data: Data) -> bool:
    """Whether the values of a column that were looked at are texts of days, with or without a time."""
    values = data.values(known.table, known.column.name) if known is not None else ()
    return bool(values) and all(isinstance(value, str) and _DATE.fullmatch(value) for value in values)


def holds_days(known: Held, data: Data) -> bool:
    """Whether a column is declared as one of days or times, or holds texts of days."""
    return is_date(known.column.type) or holds_dates(known, data)


def is_julian(node: exp.Expr) -> bool:
    """Whether an expression is a time as SQLite's number of days, with fractions."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == "julianday"


def compared(tree: exp.Expr, *kinds: type[exp.Expr]) -> Iterator[tuple[Any, exp.Column, exp.Expr]]:
    """Comparisons of these kinds between a column and something else, with the column and the other side."""
    for node in list(tree.find_all(*kinds)):
        left, right = node.this, node.args.get("expression")
        if isinstance(left, exp.Column) and right is not None and not isinstance(right, exp.Column):
            yield node, left, right
        elif isinstance(right, exp.Column) and not isinstance(left, exp.Column):
            yield node, right, left


def turn(key: exp.Ordered, dialect: str, *, descending: bool) -> None:
    """Give a key of an order this direction, with NULLs where the engine has them by itself."""
    key.set("desc", descending)
    key.set("nulls_first", {"postgres": descending, "duckdb": False}.get(dialect, not descending))


def text_of(node: exp.Expr | None) -> str | None:
    """The text of a literal, of a cast one too; None for anything else."""
    while isinstance(node, exp.Cast | exp.Paren | exp.Date | exp.TsOrDsToDate | exp.Timestamp):
        node = node.this
    return node.name if isinstance(node, exp.Literal) and node.is_string else None


def day_of(node: exp.Expr | None) -> str | None:
    """The day that a constant names without a time, as YYYY-MM-DD; None for anything else."""
    text = text_of(node)
    return text if text is not None and _DAY.fullmatch(text) else None


def as_day(constant: exp.Expr, day: date) -> exp.Expr:
    """The constant of a day with another day, cast as it was."""
    copy = constant.copy()
    literal = copy.find(exp.Literal)
    written = exp.Literal.string(day.isoformat())
    if literal is None or literal is copy:
        return written
    literal.replace(written)
    return copy
