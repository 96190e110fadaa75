"""The databases of a server by name, opened when they are first used, and those of them that a client may ask."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from typing import Any, Final

from sqljury.access.rules import Access
from sqljury.api import Session
from sqljury.context import Progress, silent
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import InputError
from sqljury.resources import Closing
from sqljury.schema.describe import Description

DESCRIBED_SECONDS: Final = 60.0
"""How long a description is used before the schema is read again."""


class Databases(Closing):
    """Sessions by name; any number of threads may use them.

    ``described`` has the arguments of ``Session`` by name, ``common`` those of all. ``default`` is asked where a client
    names none; empty if it has to.
    """

    def __init__(self, described: Mapping[str, Mapping[str, Any]], default: str = "", **common: Any) -> None:
        self.names = tuple(described)
        self.default = default or (self.names[0] if len(self.names) == 1 else "")
        self._described, self._common = dict(described), common
        self._sessions: dict[str, Session] = {}
        self._plain: dict[str, Database] = {}
        self._known: dict[str, tuple[float, Description]] = {}
        self._lock = threading.Lock()
        self._open = ExitStack()

    def name(self, given: str) -> str:
        """The name itself, or the default one; raises ``InputError`` for another."""
        name = given or self.default
        if name not in self._described:
            problem = f"there is no database {name[:80]!r}" if name else "name the database"
            raise InputError(f"{problem}; known are {', '.join(self.names)}")
        return name

    def session(
        self, given: str, progress: Callable[[Progress], None], cancel: threading.Event | None = None
    ) -> Session:
        """The session on a database, for one of several callers at once; raises what ``Session`` raises."""
        name = self.name(given)
        with self._lock:
            if name not in self._sessions:
                self._sessions[name] = self._opened(name)
            session = self._sessions[name]
        return session.following(progress, cancel)

    def _opened(self, name: str) -> Session:
        options = {**self._described[name], **self._common}
        database = options["database"]
        if isinstance(database, str | os.PathLike):
            options["database"] = self._open.enter_context(connect(database, options.pop("schemas", ())))
        self._plain[name] = options["database"]
        return self._open.enter_context(Session(**options))

    def plain(self, name: str) -> tuple[Database, Access]:
        """A database of an open session before any access rules, and the rules of that session."""
        return self._plain[name], self._described[name].get("access") or Access()

    def describe(self, given: str, session: Session) -> Description:
        """What questions see of a database, as it was at most ``DESCRIBED_SECONDS`` ago."""
        name = self.name(given)
        made, known = self._known.get(name, (0.0, None))
        if known is None or time.monotonic() - made > DESCRIBED_SECONDS:
            known = session.describe()
            self._known[name] = time.monotonic(), known
        return known

    def said(self, text: str) -> str:
        """A message as clients may read it."""
        return text

    def close(self) -> None:
        """Close all sessions and models; closing twice is harmless."""
        self._open.close()


class Allowed(Databases):
    """Those of another's databases that one client may ask, behind rules of its own besides those that hold for all.

    It holds nothing open. ``clean`` takes from messages what the client may not know, such as where the databases are.
    """

    def __init__(
        self, whole: Databases, names: Collection[str], access: Access, clean: Callable[[str], str] = str
    ) -> None:
        default = whole.default if whole.default in names else ""
        super().__init__({name: {} for name in whole.names if name in names}, default)
        self._whole, self._access, self._clean = whole, access, clean

    def said(self, text: str) -> str:
        """A message as the client may read it."""
        return self._clean(text)

    def _opened(self, name: str) -> Session:
        session = self._whole.session(name, silent)
        database, access = self._whole.plain(name)
        if access.allow and self._access.allow:
            raise InputError(f"{name}: both the server and the token allow tables; let one of them do so")
        return session.on(database, (access + self._access) or None, session.notes)
