"""Bounds on the work of sqlglot's parser and generator: limits on nesting, counted steps, a watch that may say stop.

Where a word may begin two constructs, the parser reads on, goes back and reads again. Nested, that work doubles with
each level: 18 nested ``LIMIT (SELECT ...)``, 500 characters, took 25 s. The generator writes some arguments several
times, so its work grows as fast. Both are metered here: every word that the parser takes or gives back and every node
that the generator writes is a step, and a text that needs far more steps than any honest one is given up. Counted in
steps rather than seconds, the same text is read or given up on every machine.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import QueryStoppedError

if TYPE_CHECKING:
    import sqlglot

    from sqljury.parallel.watch import Watch

MAX_NESTING: Final = 150
MAX_TYPE_NESTING: Final = 6
"""Of calls named like types, such as ``date(date(...``: the parser tries each as a type first, in twice the time."""

MAX_COMPILED_STEPS: Final = 2_000_000
"""Estimated steps, where sqlglot is compiled (extra ``fast``) and cannot be metered."""

_POLL_STEPS: Final = 128  # some 4 ms
_CHARS_PER_STEP: Final = 16
_POLLED_CHARS: Final = 4096  # shorter texts are cut into words in some 20 ms

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


def metered(dialect: str, steps: int) -> sqlglot.Dialect:
    """The dialect with a parser and generator that may take so many steps together, or any where sqlglot is compiled.

    Both raise ``TooManyStepsError`` and ``ParsingStoppedError``. Both hand the dialect on to whatever they start
    themselves: the parser reads quoted names of types anew.
    """
    known: Any = _plain(dialect)
    if (classes := _classes(dialect)) is not None:
        tokenize, meter = known.tokenize, _Meter(steps)

        def counted(sql: str, dialect: Any = None) -> list[Any]:
            meter.spend(len(sql) // _CHARS_PER_STEP)
            return list(tokenize(sql, dialect))

        known.meter = meter
        known.parser_class, known.generator_class = classes
        known.tokenize = counted
    return known  # type: ignore[no-any-return]


def tokenizer(dialect: str, chars: int) -> Any:
    """A tokenizer of the dialect for a text of so many characters; within a long one it may be stopped.

    It then raises ``TokenError`` from ``ParsingStoppedError``.
    """
    words: Any = _plain(dialect).tokenizer()
    if chars > _POLLED_CHARS and not is_compiled(dialect):
        _have_polled(words, _Meter(chars))
    return words


def is_compiled(dialect: str) -> bool:
    """Whether sqlglot is compiled, so that its steps cannot be counted."""
    return _classes(dialect) is None


def check_nesting(tokens: Sequence[Any]) -> None:
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
    import sqlglot

    return frozenset(token.name for token in sqlglot.Parser.TYPE_TOKENS)


def check_compiled(tokens: Sequence[Any]) -> None:
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
    import sqlglot

    return sqlglot.Dialect.get_or_raise(dialect)


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
