"""Queries written in another dialect, translated to the database's: repairs that need no model.

Models mix up dialects: ``YEAR(d)`` for SQLite, ``strftime`` for PostgreSQL, a string in double quotes, ``TOP 5``. Which
one was meant is not known, so the query is read as each of the usual ones; the database says which reading runs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqljury.sql.clock import NOW, from_now_text
from sqljury.sql.parse import errors, exp, parse_one, quiet, tokenize, write
from sqljury.sql.resolve import column_names, quoted_texts
from sqljury.sql.text import quote_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqljury.types import Schema

SOURCES: Final = ("mysql", "postgres", "sqlite", "tsql", "duckdb")
"""Dialects that a query may have been meant in, the likeliest first; the database's own comes before them."""

_PARTS: Final = {
    "YEAR": "%Y",
    "MONTH": "%m",
    "DAY": "%d",
    "HOUR": "%H",
    "MINUTE": "%M",
    "SECOND": "%S",
    "DOW": "%w",
    "DAYOFWEEK": "%w",
    "WEEK": "%W",
    "DOY": "%j",
}
_BEFORE_A_COLUMN: Final = frozenset(
    (
        "SELECT",
        "DISTINCT",
        "BY",
        "GROUP BY",
        "ORDER BY",
        "PARTITION BY",
        "WHERE",
        "ON",
        "AND",
        "OR",
        "NOT",
        *"(,=<>+-*/",
        "<=",
        ">=",
        "<>",
        "!=",
    )
)
_AFTER_A_COLUMN: Final = frozenset(
    (
        *(
            "",
            "FROM",
            "AS",
            "ASC",
            "DESC",
            "LIMIT",
            "HAVING",
            "ORDER",
            "ORDER BY",
            "GROUP BY",
            "AND",
            "OR",
            "IS",
            "IN",
            "NOT",
        ),
        *("LIKE", "BETWEEN", "UNION", "EXCEPT", "INTERSECT", *"),=<>+-*/;", "<=", ">=", "<>", "!="),
    )
)
_STARTS: Final = {"YEAR": "%Y-01-01", "MONTH": "%Y-%m-01", "DAY": "%Y-%m-%d"}
_ELAPSED: Final = {
    "postgres": "EXTRACT(EPOCH FROM (CAST({end} AS TIMESTAMP) - CAST({start} AS TIMESTAMP))) / 86400.0",
    "duckdb": "EPOCH(CAST({end} AS TIMESTAMP) - CAST({start} AS TIMESTAMP)) / 86400.0",
    "mysql": "TIMESTAMPDIFF(SECOND, {start}, {end}) / 86400.0",
}
"""The days between two times, with fractions, as the difference of two ``JULIANDAY`` has them in SQLite."""
_MODIFIERS: Final = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"})


@quiet()
def translations(sql: str, schema: Schema) -> list[str]:
    """The query in the schema's dialect as each reading of it comes out, without repeats and without the text itself.

    A column that is called like a word of SQL is put in quotes. A name in double quotes that nothing has is the string
    that SQLite and MySQL take it for. A reading that cannot be written in the dialect is left out. The results are
    parsed, not run.
    """
    readings: dict[str, None] = {}
    original, sql = sql, with_quotes(sql, schema)
    if sql != original:
        readings[sql] = None
    for source in dict.fromkeys((schema.dialect, *SOURCES)):
        try:
            readings[_translation(sql, source, schema)] = None
        except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
            continue  # sqlglot's generators may stumble over arguments that a dialect does not have
    return [text for text in readings if bare(text) != bare(original)]


def with_quotes(sql: str, schema: Schema) -> str:
    """The query with quotes around columns that are called like words of SQL: ``T1.group``, ``SELECT order FROM``."""
    columns = {column.name.lower(): column.name for table in schema.tables for column in table.columns}
    names = {low: quote_name(name, schema.dialect) for low, name in columns.items()}
    names = {low: quoted for low, quoted in names.items() if quoted != columns[low] and low.isalpha()}
    if not names:
        return sql
    try:
        words = tokenize(sql, schema.dialect)
    except errors.SqlglotError:
        return sql
    parts, end = [], 0
    for at, word in enumerate(words):
        if sql[word.start : word.end + 1].lower() in names and _is_name(words, at):
            parts += [sql[end : word.start], names[word.text.lower()]]
            end = word.end + 1
    return "".join([*parts, sql[end:]])


def _is_name(words: Sequence[Any], at: int) -> bool:
    """Whether a word of SQL can only be a name there: behind a dot, or where a column is and its clause is not."""
    before = words[at - 1].text.upper() if at else ""
    after = words[at + 1].text.upper() if at + 1 < len(words) else ""
    return before == "." or (before in _BEFORE_A_COLUMN and after in _AFTER_A_COLUMN)


@quiet()
def in_sqlite(sql: str, schema: Schema) -> str | None:
    """The query of the schema's dialect translated to SQLite, None where that is not possible; parsed, not run."""
    if schema.dialect == "sqlite":
        return sql
    try:
        return _translation(sql, schema.dialect, replace(schema, dialect="sqlite"))
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return None


def _translation(sql: str, source: str, schema: Schema) -> str:
    tree = parse_one(_backquoted(sql, schema) if source == "mysql" else sql, source)
    constants, parts = literals(sql, source), restrictions(tree)
    as_strings(tree, schema)
    if schema.dialect == "sqlite":
        tree = tree.transform(_sqlite)
    elif source == "sqlite":
        tree, dropped = _with_clock(tree, schema.dialect)
        constants -= dropped
    text = write(tree, schema.dialect, unsupported_level=errors.ErrorLevel.RAISE)
    # sqlglot drops what the other dialect does not have, such as an argument of a function; that is another question.
    kept = restrictions(parse_one(text, schema.dialect))
    if literals(text, schema.dialect) < constants or any(kept[kind] < count for kind, count in parts.items()):
        raise ValueError("something was dropped")
    return text


def _with_clock(tree: exp.Expr, dialect: str) -> tuple[exp.Expr, int]:
    """The tree with SQLite's ``DATE('now', '-30 days')`` and days between times in the dialect's words.

    And how many constants that took out.
    """

    def clocked(node: exp.Expr) -> exp.Expr:
        return from_now_text(node, dialect) or _elapsed(node, dialect) or node

    def constants(tree: exp.Expr) -> int:
        return sum(1 for _ in tree.find_all(exp.Literal))

    written = tree.transform(clocked)
    return written, max(0, constants(tree) - constants(written))


def restrictions(tree: exp.Expr) -> Counter[str]:
    """How many conditions, joins, keys of groups and orders, limits and DISTINCTs a query has.

    A clause counts as an AND does, so that a condition may move from one to another.
    """
    counts: Counter[str] = Counter()
    for node in tree.walk():
        if isinstance(node, exp.Predicate | exp.And | exp.Not | exp.Where | exp.Having):
            counts["conditions"] += 1
        elif isinstance(node, exp.Join | exp.Ordered | exp.Offset | exp.Distinct):
            counts[str(node.key)] += 1
        elif isinstance(node, exp.Limit | exp.Fetch):
            counts["limit"] += 1
        elif isinstance(node, exp.Group):
            counts["keys"] += len(node.expressions)
    return counts


def literals(sql: str, dialect: str) -> int:
    """How many texts and numbers a query has."""
    return sum(token.token_type.name in ("STRING", "NUMBER") for token in tokenize(sql, dialect))


def _backquoted(sql: str, schema: Schema) -> str:
    """Double quotes around names of the schema as MySQL writes them: it would take those for strings."""
    names, parts, end = _names(schema), [], 0
    for token in tokenize(sql, "sqlite"):
        if sql[token.start] == '"' and token.text.lower() in names:
            parts += [sql[end : token.start], f"`{token.text}`"]
            end = token.end + 1
    return "".join([*parts, sql[end:]])


def _names(schema: Schema) -> set[str]:
    return {table.name.lower() for table in schema.tables} | column_names(schema)


def as_strings(tree: exp.Expr, schema: Schema) -> bool:
    """Turn quoted names that are not of a column, a table or an alias into strings; True if there were any."""
    if not quoted_texts(tree, ()):
        return False
    known = _names(schema)
    known |= {node.alias.lower() for node in tree.find_all(exp.Alias, exp.TableAlias, exp.CTE, exp.Table, exp.Subquery)}
    texts = list(quoted_texts(tree, known))
    for column in texts:
        column.replace(exp.Literal.string(column.name))
    return bool(texts)


def bare(sql: str) -> str:
    """A query in lower case without white space and a final semicolon: what tells two spellings of one text apart."""
    return "".join(sql.split()).rstrip(";").lower()


def _elapsed(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """``JULIANDAY(end) - JULIANDAY(start)`` in another dialect; None for anything else."""
    times = (
        [_of_julian_day(side, dialect) for side in (node.this, node.expression)] if isinstance(node, exp.Sub) else []
    )
    if dialect not in _ELAPSED or not times or None in times:
        return None
    end, start = (time.sql(dialect=dialect) for time in times if time is not None)
    return exp.Paren(this=parse_one(_ELAPSED[dialect].format(end=end, start=start), dialect))


def _of_julian_day(node: exp.Expr, dialect: str) -> exp.Expr | None:
    node = node.unnest()
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "julianday" or len(node.expressions) != 1:
        return None
    [time] = node.expressions
    now = isinstance(time, exp.Literal) and time.is_string and time.name == "now"
    return parse_one(NOW[dialect], dialect) if now else time


def _sqlite(node: exp.Expr) -> exp.Expr:
    """Dates and strings as SQLite knows them, where sqlglot leaves other engines' functions standing."""
    if isinstance(node, exp.Year | exp.Month | exp.Day):
        return _part(str(node.key).upper(), node.this)
    if isinstance(node, exp.Extract):
        return _part(node.name.upper(), node.expression)
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc):
        form = _STARTS.get(str(node.args["unit"].name).upper())
        return node if form is None else exp.func("STRFTIME", exp.Literal.string(form), _bare(node.this))
    if isinstance(node, exp.Left):
        return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Literal.number(1), node.expression])
    if isinstance(node, exp.Right):
        return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Neg(this=node.expression)])
    if isinstance(node, exp.CurrentDate):
        return exp.func("DATE", exp.Literal.string("now"))
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDatetime):
        return exp.func("DATETIME", exp.Literal.string("now"))
    return _shifted(node)


def _part(unit: str, of: exp.Expr) -> exp.Expr:
    form = _PARTS.get(unit)
    if form is None:
        raise ValueError(f"SQLite has no {unit} of a date")
    return exp.cast(exp.func("STRFTIME", exp.Literal.string(form), _bare(of)), "INTEGER")


def _shifted(node: exp.Expr) -> exp.Expr:
    """``d - INTERVAL 1 MONTH`` as ``DATE(d, '-1 month')``."""
    if isinstance(node, exp.DateAdd | exp.DateSub):
        amount, unit, minus = node.expression, node.args.get("unit"), isinstance(node, exp.DateSub)
    elif isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
        amount, unit, minus = node.expression.this, node.expression.args.get("unit"), isinstance(node, exp.Sub)
    else:
        return node
    if isinstance(amount, exp.Interval):
        amount, unit = amount.this, amount.args.get("unit") or unit
    name = "" if unit is None else str(unit.name).upper().removesuffix("S")
    if name not in _MODIFIERS or not isinstance(amount, exp.Literal):
        raise ValueError("only a number of years to seconds can be added to a date in SQLite")
    modifier = exp.Literal.string(f"{'-' if minus else '+'}{amount.name} {name.lower()}")
    return exp.func("DATETIME" if name in ("HOUR", "MINUTE", "SECOND") else "DATE", _bare(node.this), modifier)


def _bare(node: exp.Expr) -> exp.Expr:
    """Without the casts that other dialects put around dates: SQLite keeps them as text."""
    while isinstance(node, exp.TsOrDsToDate | exp.Cast | exp.Date) and node.this is not None:
        node = node.this
    return node
