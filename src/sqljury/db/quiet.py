"""Keeps the parser's log to itself: its warnings quote a query raw, and a query may hold what steers a terminal."""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from collections.abc import Iterator

_here = threading.local()


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
