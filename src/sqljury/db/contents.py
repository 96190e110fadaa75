"""What was made of the content of databases, kept in memory for as long as the content is as it was.

``content(db)`` looks at the database once; what is asked of the ``Content`` that it returns was made since the database
was last changed. A database that cannot tell whether it was changed has nothing kept: it has no ``version``, or that
is None.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from sys import getsizeof
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from sqljury.db.base import Database

T = TypeVar("T")

KEPT_BYTES: Final = 64 * 1024**2
"""What all things that are kept in this process may take together; the databases used last keep theirs."""
KEPT_THINGS: Final = 64
"""Things kept of one database, the ones used last: schema texts may be as many as questions."""
KEPT_SECONDS: Final = 600.0
"""After this time everything is made again: tables that could not be read for lack of time may be readable now."""


class Content:
    """The content of a database as it is at one ``version``, and what was made of it; for any number of threads.

    Each ``Database`` object has its own, also two with different access rules on the same file: what one may see is
    never handed to the other. What is kept may depend on nothing but the database as that object shows it, and the key.
    """

    def __init__(self, version: Hashable | None) -> None:
        self.version = version
        self._ends = time.monotonic() + KEPT_SECONDS
        self._things: dict[Hashable, tuple[Any, int]] = {}
        self._used = 0.0

    def get(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool] = lambda _: True) -> T:
        """What ``make`` gives, or gave for this key before if that is to be kept; raises what ``make`` raises.

        Several threads that find nothing make it at once, so that none waits for another that may be cancelled.
        """
        if self.version is None:
            return make()
        with _kept.lock:
            entry = self._things.pop(key, None)
            if entry is not None:
                self._things[key] = entry  # the latest used one
                self._used = time.monotonic()
                value: T = entry[0]
                if keep(value):
                    return value
                del self._things[key]
        value = make()
        if keep(value):
            size = _bytes(key) + _bytes(value)
            with _kept.lock:
                self._things[key] = value, size
                self._used = time.monotonic()
                _kept.shrink(self)
        return value

    @property
    def bytes(self) -> int:
        """An estimate of what the kept things take."""
        return sum(size for _, size in self._things.values())


class _Kept:
    """The latest content of each database object that is in use."""

    def __init__(self) -> None:
        self.reset()
        os.register_at_fork(after_in_child=self.reset)

    def reset(self) -> None:
        """Have nothing; in a forked process too, whatever its parent was doing."""
        self.lock = threading.Lock()
        self._latest: WeakKeyDictionary[Database, Content] = WeakKeyDictionary()

    def of(self, db: Database, version: Hashable) -> Content:
        """The content of this version, with what is kept of it; what was kept of another version is forgotten."""
        with self.lock:
            known = self._latest.get(db)
            if known is None or known.version != version or time.monotonic() > known._ends:
                known = self._latest[db] = Content(version)
            return known

    def shrink(self, growing: Content) -> None:
        """Forget what was not used for longest, of ``growing`` itself last; called with the lock."""
        while len(growing._things) > KEPT_THINGS:
            del growing._things[next(iter(growing._things))]
        total = sum(content.bytes for content in self._latest.values())
        others = sorted(
            (other for other in self._latest.values() if other is not growing), key=lambda other: other._used
        )
        for content in (*others, growing):
            while total > KEPT_BYTES and content._things:
                total -= content._things.pop(next(iter(content._things)))[1]


_kept: Final = _Kept()


def content(db: Database) -> Content:
    """The content of the database as it is now, with what was made of it before; the database is looked at."""
    version = content_version(db)
    return Content(None) if version is None else _kept.of(db, version)


def content_version(db: Database) -> Hashable | None:
    """A value that is another one after every change of the content; None where the database cannot tell."""
    read: Callable[[], Hashable | None] | None = getattr(db, "version", None)
    return None if read is None else read()


def _bytes(value: Any) -> int:
    """An estimate of the memory that a value of plain types and dataclasses takes."""
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        total += getsizeof(item)
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, tuple | list | frozenset | set):
            waiting += item
        elif is_dataclass(item) and not isinstance(item, type):
            waiting += [getattr(item, part.name) for part in fields(item)]
    return total
