"""The one wrapper round sqlglot: its parser and generator with a bound on their work, for SQL that others wrote.

Where a word may begin two constructs, the parser reads on, goes back and reads again. Nested, that work doubles with
each level: 18 nested ``LIMIT (SELECT ...)``, 500 characters, took 25 s. The generator writes some arguments several
times, so its work grows as fast. Both are metered here: every word that the parser takes or gives back and every node
that the generator writes is a step, and a text that needs far more steps than any honest one is given up. Counted in
steps rather than seconds, the same text is read or given up on every machine.

Keeps the parser's log to itself: its warnings quote a query raw, and a query may hold what steers a terminal.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import QueryStoppedError


class _Module:
    """A part of sqlglot, imported when something of it is first used: that takes a tenth of a second."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import sqlglot
    from sqlglot import errors as errors
    from sqlglot import exp as exp
    from sqlglot.optimizer import scope as scopes

    from sqljury.parallel.watch import Watch
else:
    sqlglot, exp, errors, scopes = map(
        _Module, ("sqlglot", "sqlglot.expressions", "sqlglot.errors", "sqlglot.optimizer.scope")
    )

__all__ = ["errors", "exp", "scopes"]

MAX_SQL_CHARS: Final = 64 * 1024
MAX_NESTING: Final = 150
MAX_TYPE_NESTING: Final = 6
"""Of calls named like types, such as ``date(date(...``: the parser tries each as a type first, in twice the time."""

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

MAX_COMPILED_STEPS: Final = 2_000_000
"""Estimated steps, where sqlglot is compiled (extra ``fast``) and cannot be metered."""

_PLACES: Final = frozenset({"line", "col", "start", "end"})
_POLL_STEPS: Final = 128  # some 4 ms
_CHARS_PER_STEP: Final = 16
_POLLED_CHARS: Final = 4096  # shorter texts are cut into words in some 20 ms
_COMPILED_LEVELS: Final = 8  # the same where sqlglot is compiled: some seconds at most
_SAFE_LEVELS: Final = 3  # of functions in functions, which are written in a few milliseconds whatever they are

_OPENS: Final = frozenset({"L_PAREN", "CASE", "L_BRACKET"})
_CLOSES: Final = frozenset({"R_PAREN", "END", "R_BRACKET"})
_PREFIXES: Final = frozenset({"NOT", "DASH", "PLUS", "TILDE"})

_here = threading.local()


class TooManyStepsError(RecursionError):
    """Reading or writing the text would take too many steps, most often because it is nested too deeply."""


class ParsingStoppedError(Exception):
    """The watch that this thread reads under said stop."""


@contextlib.contextmanager
def under(watch: Watch) -> Iterator[None]:
    """Within, this thread reads SQL until ``watch`` says stop; that raises ``QueryStoppedError`` with the reason."""
    before = _stop()
    _here.stop = watch.stop
    try:
        yield
    except ParsingStoppedError:
        raise QueryStoppedError(watch.kind or "limit", watch.reason or "stopped") from None
    finally:
        _here.stop = before


def poll() -> None:
    """Raise ``ParsingStoppedError`` when the watch that this thread reads under says stop."""
    stop = _stop()
    if stop is not None and stop():
        raise ParsingStoppedError


def _stop() -> Callable[[], bool] | None:
    return getattr(_here, "stop", None)


def tokenize(sql: str, dialect: str) -> list[Any]:
    """The words of ``sql``; raises ``TooManyStepsError`` when it is too long, and what sqlglot raises."""
    if len(sql) > MAX_SQL_CHARS:
        raise TooManyStepsError(f"the text is longer than {MAX_SQL_CHARS} characters")
    tokenizer: Any = _plain(dialect).tokenizer()
    if len(sql) > _POLLED_CHARS and _classes(dialect) is not None:
        _have_polled(tokenizer, _Meter(len(sql)))
    try:
        return list(tokenizer.tokenize(sql))
    except errors.TokenError as error:  # whatever is raised within
        if isinstance(error.__cause__, ParsingStoppedError):
            raise error.__cause__ from None
        raise


def parse_tokens(tokens: list[Any], sql: str, dialect: str, steps: int = 0) -> list[exp.Expr | None]:
    """The statements of ``tokens``, which are the words of ``sql``, in ``steps``, or as many as honest SQL may take.

    Raises ``TooManyStepsError``, and what sqlglot raises for bad SQL.
    """
    _check_nesting(tokens)
    meter = _Meter(steps or BASE_STEPS + STEPS_PER_PART * len(tokens))
    metered = _metered(dialect, meter)
    if metered is None:
        _check_compiled(tokens)
        metered = _plain(dialect)
    statements = metered.parser().parse(tokens, sql)
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
    metered = _metered(dialect, _Meter(BASE_STEPS + STEPS_PER_PART * size)) or _plain(dialect)
    return metered.generate(tree, **options)


def check_writable(tree: exp.Expr, dialect: str) -> None:
    """Raise ``TooManyStepsError`` unless the tree can be written in its own dialect and in SQLite's soon enough."""
    levels = _levels(tree)
    if levels <= _SAFE_LEVELS:
        return
    if _classes(dialect) is None and levels > _COMPILED_LEVELS:
        raise TooManyStepsError("functions are nested too deeply")
    for target in dict.fromkeys((dialect, "sqlite")):
        try:
            write(tree, target, comments=False)
        except TooManyStepsError:
            raise
        except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
            continue  # it cannot be written at all, and fails at once wherever that is tried


def _check_nesting(tokens: Sequence[Any]) -> None:
    """Raise ``TooManyStepsError`` for nesting that no parser should be given, told by words alone."""
    names = [token.token_type.name for token in tokens]
    if _nests_types(names):
        raise TooManyStepsError("functions named like types are nested too deeply")
    depth = run = subscripts = 0
    before = ""
    for name in names:
        run = run + 1 if name in _PREFIXES else 0
        depth += (name in _OPENS) - (name in _CLOSES)
        if name == "L_BRACKET":  # a[1][1]... takes the parser the square of its length
            subscripts = subscripts + 1 if before == "R_BRACKET" else 0
        before = name
        if max(depth + run, subscripts) > MAX_NESTING:
            raise TooManyStepsError("the query is nested too deeply")


def _nests_types(names: Iterable[str]) -> bool:
    types = _type_words()
    opened: list[bool] = []
    nested, before = 0, ""
    for name in names:
        if name in ("L_PAREN", "L_BRACKET"):
            opened.append(before in types)
            nested += opened[-1]
            if nested > MAX_TYPE_NESTING:
                return True
        elif name in ("R_PAREN", "R_BRACKET") and opened:
            nested -= opened.pop()
        before = name
    return False


@functools.cache
def _type_words() -> frozenset[str]:
    return frozenset(token.name for token in sqlglot.Parser.TYPE_TOKENS)


class _Meter:
    """Counts steps up to a limit, and asks every so often whether to stop."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._until_poll = _POLL_STEPS

    def spend(self, steps: int = 1) -> None:
        """Raises ``TooManyStepsError`` beyond the limit, ``ParsingStoppedError`` when it is time to stop."""
        self._left -= steps
        self._until_poll -= steps
        if self._left < 0:
            raise TooManyStepsError("the query is nested too deeply")
        if self._until_poll < 0:
            self._until_poll = _POLL_STEPS
            poll()


def _plain(dialect: str) -> sqlglot.Dialect:
    return sqlglot.Dialect.get_or_raise(dialect)


def _metered(dialect: str, meter: _Meter) -> sqlglot.Dialect | None:
    """The dialect with a parser and generator that report to ``meter``; None where sqlglot is compiled.

    Both hand the dialect on to whatever they start themselves: the parser reads quoted names of types anew.
    """
    classes = _classes(dialect)
    if classes is None:
        return None
    metered: Any = _plain(dialect)
    tokenize = metered.tokenize

    def counted(sql: str, dialect: Any = None) -> list[Any]:
        meter.spend(len(sql) // _CHARS_PER_STEP)
        return list(tokenize(sql, dialect))

    metered.meter = meter
    metered.parser_class, metered.generator_class = classes
    metered.tokenize = counted
    return metered  # type: ignore[no-any-return]


def _have_polled(tokenizer: Any, meter: _Meter) -> None:
    """Have a tokenizer that is not compiled report each word to ``meter``."""
    core = type(tokenizer._core)

    class Core(core):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def _add(self, *args: Any, **options: Any) -> None:
            meter.spend()
            core._add(self, *args, **options)

    tokenizer._core.__class__ = Core


@functools.cache
def _classes(dialect: str) -> tuple[type, type] | None:
    """Parser and generator that count their steps; None where sqlglot is compiled, whose classes have no subclasses."""
    known = _plain(dialect)
    parser, generator = known.parser_class, known.generator_class

    class Parser(parser):  # type: ignore[misc, valid-type]
        def _advance(self, times: int = 1) -> None:
            self.dialect.meter.spend()
            parser._advance(self, times)

    class Generator(generator):  # type: ignore[misc, valid-type]
        def sql(self, *args: Any, **options: Any) -> str:
            self.dialect.meter.spend()
            return str(generator.sql(self, *args, **options))

    try:
        Parser(dialect=known)
    except TypeError:
        return None
    return Parser, Generator


def _check_compiled(tokens: Sequence[Any]) -> None:
    """Raise ``TooManyStepsError`` when the words could take too many steps if each level doubled the work.

    Levels are what is open, joins whose ON may still come, and types in a row.
    """
    types = _type_words()
    waiting, opened, steps = 0, [0], 0
    for token in tokens:
        name = token.token_type.name
        if name in _OPENS:
            opened.append(0)
            waiting += 1
        elif name in _CLOSES and len(opened) > 1:
            waiting -= opened.pop() + 1
        elif name == "JOIN" or name in types:
            opened[-1] += 1
            waiting += 1
        elif name in ("ON", "USING", "COMMA") and opened[-1]:
            waiting -= opened[-1]
            opened[-1] = 0
        # A quoted name in the place of a type is read anew, as a type, at a higher price.
        quoted = 3 * sum(map(token.text.count, "([<")) if name == "IDENTIFIER" else 0
        steps += 1 << min(waiting + quoted, 32)
        if steps > MAX_COMPILED_STEPS:
            raise TooManyStepsError("the query is nested too deeply")


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
