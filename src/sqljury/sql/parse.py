"""The one wrapper round sqlglot: its parser and generator with a bound on their work, for SQL that others wrote.

``sql.meter`` counts that work and ends it; how much is allowed is said here.

Keeps the parser's log to itself: its warnings quote a query raw, and a query may hold what steers a terminal.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from sqljury.sql.meter import (
    ParsingStoppedError,
    TooManyStepsError,
    check_compiled,
    check_nesting,
    is_compiled,
    metered,
    poll,
    tokenizer,
)


class _Module:
    """A part of sqlglot, imported when something of it is first used: that takes a tenth of a second."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    from sqlglot import errors as errors
    from sqlglot import exp as exp
    from sqlglot.optimizer import scope as scopes
else:
    exp, errors, scopes = map(_Module, ("sqlglot.expressions", "sqlglot.errors", "sqlglot.optimizer.scope"))

__all__ = ["errors", "exp", "scopes"]

MAX_SQL_CHARS: Final = 64 * 1024

BASE_STEPS: Final = 30_000
STEPS_PER_PART: Final = 8
"""Beyond the base, steps for each word (parsing) or node (writing).

Of Spider's gold queries and predictions none takes more than 2.7 steps a word, nor 160 in all; a query of 64 KiB in
any honest form takes 1.1 a word. Joins that leave all their ON clauses to the end double the work with each table: 12
tables pass."""

MAX_READ_CHARS: Final = 16 * 1024
MAX_READ_WORDS: Final = 4_000
READ_STEPS: Final = 8_000
"""Bounds for what is to be understood (``parse_one``, ``read_query``): it is read several times, and its parts are
compared with one another. 64 KiB took judges 10 to 30 s. What is longer runs, but its text counts as unread."""

KEPT_TREES: Final = 128
KEPT_CHARS: Final = 2_000
"""Trees of the latest queries are kept, of those up to this length: some 50 KB each, at most 0.5 MB."""

_PLACES: Final = frozenset({"line", "col", "start", "end"})
_SAFE_LEVELS: Final = 3  # of functions in functions, which are written in a few milliseconds whatever they are
_COMPILED_LEVELS: Final = 8  # the same where sqlglot is compiled: some seconds at most

_here = threading.local()


def tokenize(sql: str, dialect: str) -> list[Any]:
    """The words of ``sql``; raises ``TooManyStepsError`` when it is too long, and what sqlglot raises."""
    if len(sql) > MAX_SQL_CHARS:
        raise TooManyStepsError(f"the text is longer than {MAX_SQL_CHARS} characters")
    try:
        return list(tokenizer(dialect, len(sql)).tokenize(sql))
    except errors.TokenError as error:  # whatever is raised within
        if isinstance(error.__cause__, ParsingStoppedError):
            raise error.__cause__ from None
        raise


def parse_tokens(tokens: list[Any], sql: str, dialect: str, steps: int = 0) -> list[exp.Expr | None]:
    """The statements of ``tokens``, which are the words of ``sql``, in ``steps``, or as many as honest SQL may take.

    Raises ``TooManyStepsError``, and what sqlglot raises for bad SQL.
    """
    check_nesting(tokens)
    if is_compiled(dialect):
        check_compiled(tokens)
    known = metered(dialect, steps or BASE_STEPS + STEPS_PER_PART * len(tokens))
    statements = known.parser().parse(tokens, sql)
    poll()
    return statements


def parse(sql: str, dialect: str) -> list[exp.Expr | None]:
    """The statements of ``sql``, each of which can be written again in a bounded number of steps.

    Raises ``TooManyStepsError`` (a ``RecursionError``) for what cannot be read or written so, ``SqlglotError`` for
    what is no SQL.
    """
    statements = parse_tokens(tokenize(sql, dialect), sql, dialect)
    for statement in statements:
        if statement is not None:
            check_writable(statement, dialect)
    return statements


def parse_one(sql: str, dialect: str) -> exp.Expr:
    """The one statement of ``sql``; raises as ``parse`` does, ``SqlglotError`` too when there is none or another.

    ``TooManyStepsError`` also beyond ``MAX_READ_WORDS`` and the bounds beside it. The tree is the caller's own: a query
    is read five times and more on its way to an answer, and a tree takes fewer steps to copy than to make.
    """
    poll()
    return _kept(sql, dialect).copy() if len(sql) <= KEPT_CHARS else _read(sql, dialect)


@functools.lru_cache(maxsize=KEPT_TREES)
def _kept(sql: str, dialect: str) -> exp.Expr:
    """The tree of ``parse_one``, which nobody may change."""
    return _read(sql, dialect)


def _read(sql: str, dialect: str) -> exp.Expr:
    tokens = tokenize(sql, dialect) if len(sql) <= MAX_READ_CHARS else []
    if len(sql) > MAX_READ_CHARS or len(tokens) > MAX_READ_WORDS:
        raise TooManyStepsError("the query is too long to be understood")
    read = [tree for tree in parse_tokens(tokens, sql, dialect, READ_STEPS) if not isinstance(tree, exp.Semicolon)]
    if len(read) != 1 or read[0] is None:
        raise errors.ParseError(f"{len(read)} statements where one is expected")
    check_writable(read[0], dialect)
    for node in read[0].walk():  # places in the text are half the work of a copy, and nobody looks them up here
        node._meta = {key: value for key, value in node.meta.items() if key not in _PLACES} or None
    return read[0]


def read_query(sql: str, dialect: str) -> exp.Query | None:
    """The query that ``sql`` is; None where the parser cannot read it as one, for whatever reason."""
    try:
        tree = parse_one(sql, dialect)
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return None  # a parser's own bug on odd text too
    return tree if isinstance(tree, exp.Query) else None


def write(tree: exp.Expr, dialect: str, **options: Any) -> str:
    """The tree as text in ``dialect``; raises ``TooManyStepsError``, and what sqlglot raises."""
    size = sum(1 for _ in tree.walk())
    return metered(dialect, BASE_STEPS + STEPS_PER_PART * size).generate(tree, **options)


def check_writable(tree: exp.Expr, dialect: str) -> None:
    """Raise ``TooManyStepsError`` unless the tree can be written in its own dialect and in SQLite's soon enough."""
    levels = _levels(tree)
    if levels <= _SAFE_LEVELS:
        return
    if is_compiled(dialect) and levels > _COMPILED_LEVELS:
        raise TooManyStepsError("functions are nested too deeply")
    for target in dict.fromkeys((dialect, "sqlite")):
        try:
            write(tree, target, comments=False)
        except TooManyStepsError:
            raise
        except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
            continue  # it cannot be written at all, and fails at once wherever that is tried


def _levels(tree: exp.Expr) -> int:
    """How deeply functions, and other parts that a generator may rewrite, stand within one another."""
    written = _written_once()
    most, waiting = 0, [(tree, 0)]
    while waiting:
        node, level = waiting.pop()
        level += not isinstance(node, written)
        most = max(most, level)
        waiting += [(child, level) for child in node.iter_expressions()]
    return most


@functools.cache
def _written_once() -> tuple[type, ...]:
    """Kinds of nodes whose parts every generator writes once."""
    return (
        *(exp.Select, exp.SetOperation, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join, exp.Table, exp.TableAlias),
        *(exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Alias, exp.Column),
        *(exp.Identifier, exp.Literal, exp.Star, exp.Null, exp.Boolean, exp.Paren, exp.Connector, exp.Not, exp.Neg),
        *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between, exp.Add, exp.Sub, exp.Mul),
        *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Case, exp.If, exp.Exists, exp.Tuple),
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """While this thread is inside, sqlglot logs nothing of what it does; other users of sqlglot are not affected.

    For functions that parse, walk or write SQL, as a decorator too. Not for generators, whose caller runs in between.
    """
    _add_filter()
    before = getattr(_here, "quiet", False)
    _here.quiet = True
    try:
        yield
    finally:
        _here.quiet = before


@functools.cache
def _add_filter() -> None:
    logging.getLogger("sqlglot").addFilter(lambda _record: not getattr(_here, "quiet", False))


def hush_parser() -> None:
    """Keep sqlglot from logging in this whole process, for one that only works for this package."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)
