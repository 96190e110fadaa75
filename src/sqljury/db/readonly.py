"""The first wall: only what parses as one plain read goes on to the database.

An allow-list over sqlglot's tree. What sqlglot cannot parse is refused, because a wall that lets through what
it does not understand is none; the engine's own walls stand behind it whatever passes here.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sqljury.db import unstoppable
from sqljury.db.base import failed
from sqljury.db.sqlite_walls import INTERNAL_NAMES, WIDE_FORMAT
from sqljury.errors import DatabaseError, DatabaseLockedError, QueryRefusedError
from sqljury.sql import literals
from sqljury.sql.meter import TooManyStepsError, under
from sqljury.sql.parse import MAX_SQL_CHARS, errors, exp, parse_tokens, quiet, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqljury.parallel.watch import Watch
    from sqljury.types import Result

_SQLITE: Final = """
    load_extension readfile writefile edit eval fsdir completion fts3_tokenizer fts5 fts5_source_id
    zeroblob randomblob dbstat bytecode tables_used sqlite_dbpage sqlite_log sqlite_source_id sqlite_compileoption_get
    sqlite_compileoption_used rtreecheck rtreenode rtreedepth optimize matchinfo
"""
FORBIDDEN_FUNCTIONS: Final[dict[str, frozenset[str]]] = {"sqlite": frozenset(_SQLITE.split())}
"""By dialect, functions with side effects or made to exhaust memory."""

_DUCKDB_VIEWS: Final = """
    pg_settings pg_views pg_proc pg_prepared_statements pg_tablespace information_schema.views
    sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema
"""
_HIDDEN_TABLES: Final[dict[str, frozenset[str]]] = {"duckdb": frozenset(_DUCKDB_VIEWS.split())}
"""By dialect, tables of the engine's own that tell its settings, or the paths of files that its views read."""

_LISTED: Final = frozenset({"duckdb", "mysql", "postgres"})
"""Dialects whose engines let functions read files, reach other servers or write: there only those named in
``functions/<dialect>.txt`` may be called. SQLite's authorizer does that for SQLite."""

_WORD: Final = re.compile(r"[^\W\d]\w*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_STARTS: Final = frozenset({"SELECT", "WITH", "VALUES", "L_PAREN"})
_VARIABLES: Final = frozenset({"PARAMETER", "SESSION_PARAMETER", "COLON_EQ"})
_BUILT_IN: Final = frozenset({"pg_catalog", "information_schema"})


def check(sql: str, dialect: str) -> None:
    """Raise ``QueryRefusedError`` unless ``sql`` is one SELECT, WITH ... SELECT, set operation or VALUES.

    What was decided is remembered for a while, so that a query run again starts at once: the timing metrics need that.
    ``sql.meter.under`` bounds its time.
    """
    objection = _objection(sql, dialect)
    if objection is not None:
        raise QueryRefusedError(objection)


def run(sql: str, dialect: str, watch: Watch, execute: Callable[[], Result]) -> Result:
    """What ``execute`` returns if ``sql`` passes ``check``; an error of either becomes ``Result.error``."""
    try:
        with under(watch):
            check(sql, dialect)
        return execute()
    except QueryRefusedError as error:
        return failed(error.kind, str(error), watch)
    except DatabaseLockedError as error:
        return failed("locked", str(error), watch)
    except DatabaseError as error:
        return failed("database", str(error), watch)


@functools.lru_cache(maxsize=256)
def _objection(sql: str, dialect: str) -> str | None:
    try:
        _check(sql, dialect)
    except QueryRefusedError as error:
        return str(error)
    return None


def _check(sql: str, dialect: str) -> None:
    tokens, statement = parse(sql, dialect)
    if dialect in literals.DIALECTS:
        _check_words(sql, tokens, dialect)
    allowed, queries = _allowed_nodes()
    if not isinstance(statement, queries):
        _refuse(f"only SELECT is allowed, this is {_spell(statement)}")
    if dialect in _LISTED:
        _check_calls(tokens, statement, allowed_functions(dialect))
        why = unstoppable.objection(tokens, statement, dialect) if dialect in literals.DIALECTS else None
        if why is not None:
            _refuse(why)
    forbidden = FORBIDDEN_FUNCTIONS.get(dialect, frozenset())
    for node in statement.walk():
        if not isinstance(node, allowed):
            _refuse(f"only reading is allowed, this has {_spell(node)}")
        _check_names(node, forbidden)
        _check_table(node, dialect)


@quiet()
def parse(sql: str, dialect: str) -> tuple[Sequence[Any], exp.Expr]:
    """The tokens of ``sql`` and its one statement, which may not be a read; raises ``QueryRefusedError``."""
    if "\x00" in sql or _SURROGATE.search(sql):
        _refuse("the text holds characters that no query has")
    if len(sql) > MAX_SQL_CHARS:
        _refuse(f"the text is longer than {MAX_SQL_CHARS} characters")
    try:
        tokens = tokenize(sql, dialect)
        _check_start(tokens)
        parsed = parse_tokens(tokens, sql, dialect)
    except errors.SqlglotError as error:
        _refuse(f"not a query in {dialect}: {_first_complaint(error)}")
    except TooManyStepsError as error:
        _refuse(str(error))
    except RecursionError:
        _refuse("the query is nested too deeply")
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        # A parser's own bug on odd text must not reach the caller as a crash.
        _refuse(f"not a query in {dialect}: {type(error).__name__} while parsing")
    statements = [item for item in parsed if item is not None and not isinstance(item, exp.Semicolon)]
    if len(statements) != 1:
        _refuse("there is no query" if not statements else "only one statement at a time is allowed")
    return tokens, statements[0]


def _check_start(tokens: Sequence[Any]) -> None:
    if not tokens:
        _refuse("there is no query")
    if tokens[0].token_type.name not in _STARTS:
        _refuse(f"only SELECT is allowed, this starts with {tokens[0].text[:40]!r}")


def _check_words(sql: str, tokens: Sequence[Any], dialect: str) -> None:
    """What a server may do beside reading, told by words alone: variables, functions of a schema, hidden text."""
    why = literals.objection(sql, tokens, dialect)
    if why is not None:
        _refuse(why)
    names = [token.token_type.name for token in tokens]
    for at, name in enumerate(names):
        if name in _VARIABLES:
            _refuse("variables and parameters are not allowed")
        owner = tokens[at - 1].text.lower() if at else ""
        if name == "DOT" and names[at + 2 : at + 3] == ["L_PAREN"] and owner not in _BUILT_IN:
            _refuse(f"the function {tokens[at + 1].text[:60]} of {owner[:60]} is not built in")


def _check_calls(tokens: Sequence[Any], statement: exp.Expr, known: frozenset[str]) -> None:
    """Refuse a call of any function that is not known.

    Calls are read off the words, quoted ones too, because the tree has other names for many functions. A name before
    a parenthesis may also be that of a table alias with columns: as often as the tree has one, it passes.
    """
    aliases = Counter(alias.name.lower() for alias in statement.find_all(exp.TableAlias) if alias.columns)
    for token, following in pairwise(tokens):
        name = token.text.lower()
        if following.token_type.name != "L_PAREN" or name in known:
            continue
        if token.token_type.name not in ("VAR", "IDENTIFIER") and not _WORD.fullmatch(token.text):
            continue
        if aliases[name] > 0:
            aliases[name] -= 1
        else:
            _refuse(f"the function {token.text[:60]} is not among those that are known only to read")


@functools.cache
def allowed_functions(dialect: str) -> frozenset[str]:
    """The names that may stand before a parenthesis: functions that only read, types, and words of the grammar."""
    text = (files("sqljury.db") / "functions" / f"{dialect}.txt").read_text(encoding="utf-8")
    lines = (line.partition("#")[0] for line in text.splitlines())
    return frozenset(word.lower() for line in lines for word in line.split())


def _check_names(node: Any, forbidden: frozenset[str]) -> None:
    """Functions that must not be called, also in the place of a table, with or without arguments."""
    if isinstance(node, exp.Table) and not isinstance(node.this, exp.Func):
        _check_source(node.name.lower(), node.db.lower(), forbidden)
    elif isinstance(node, exp.In) and isinstance(node.args.get("field"), exp.Column):  # SQLite's ``x IN table``
        _check_source(node.args["field"].name.lower(), node.args["field"].table.lower(), forbidden)
    if not isinstance(node, exp.Func):
        return
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    if name in forbidden or name.startswith("pragma_"):
        _refuse(f"{name} is not allowed")
    if name in ("printf", "format"):
        _check_format(name, node)


def _check_source(name: str, schema: str, forbidden: frozenset[str]) -> None:
    """Tables of the engine's own. A name that the database may have given to a table is left to SQLite's authorizer.

    The database's own table is found before SQLite's of the same name, but in its own schema only.
    """
    reserved = name.startswith("pragma_") or (name.startswith("sqlite_") and name in forbidden)
    if reserved or (name in forbidden & INTERNAL_NAMES and schema not in ("", "main")):
        _refuse(f"{name} is not allowed")


def _check_table(node: Any, dialect: str) -> None:
    """Tables of the engine's own that are not the database's content."""
    if not isinstance(node, exp.Table) or dialect not in _HIDDEN_TABLES:
        return
    name = node.name.lower()
    inner = dialect == "duckdb" and name.startswith("duckdb_")
    if inner or {name, f"{node.db.lower()}.{name}"} & _HIDDEN_TABLES[dialect]:
        _refuse(f"{name} tells of the engine and not of the database, and is not allowed")


def _check_format(name: str, call: Any) -> None:
    """Only a literal format of modest width: one call can otherwise run for minutes, and nothing stops it."""
    text = call.this if isinstance(call, exp.Format) else next(iter(call.expressions), None)
    literal = isinstance(text, exp.Literal) or (
        isinstance(text, exp.Column) and isinstance(text.this, exp.Identifier) and text.this.quoted and not text.table
    )
    if text is not None and not (literal and not re.search(WIDE_FORMAT, text.name)):
        _refuse(f"{name} is allowed only with a literal format of less than 1000 characters a value")


@functools.cache
def _allowed_nodes() -> tuple[tuple[type, ...], tuple[type, ...]]:
    """Classes of nodes that a read may hold, and those that are a whole query."""
    queries = (exp.Query, exp.Values)
    parts = (
        # expressions: operators, predicates, literals, columns, functions
        *(exp.Condition, exp.Func, exp.Predicate, exp.Star, exp.Identifier, exp.Alias, exp.Aliases, exp.Var),
        *(exp.Cast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Collate, exp.Tuple, exp.If, exp.Distinct),
        *(exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.Escape, exp.JSONPath),
        *(exp.JSONPathPart, exp.JSONKeyValue, exp.Slice, exp.PropertyEQ, exp.Hint),
        *(exp.Comprehension, exp.Lambda, exp.AtTimeZone, exp.LimitOptions, exp.TableSample),
        # clauses
        *(exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit),
        *(exp.Offset, exp.Fetch, exp.With, exp.CTE, exp.Table, exp.TableAlias, exp.Lateral, exp.Unnest),
        *(exp.IndexTableHint, exp.Window, exp.WindowSpec, exp.Rollup, exp.Cube, exp.GroupingSets),
        *(exp.LimitOptions, exp.TableSample, exp.JSONValue, exp.JSONSchema, exp.JSONColumnDef),
    )
    return (*queries, *parts), queries


def _spell(node: Any) -> str:
    return str(node.key).upper()


def _first_complaint(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if details:
        detail = details[0]
        return f"{detail.get('description')} (line {detail.get('line')}, column {detail.get('col')})"
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _refuse(why: str) -> NoReturn:
    raise QueryRefusedError(f"{why}; write one SELECT")
