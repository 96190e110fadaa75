"""The databases of a server by name, each as its clients may see it."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqljury.access.rules import Access
from sqljury.api import Session
from sqljury.datasets.pool import Pool
from sqljury.db.base import Database
from sqljury.errors import InputError
from sqljury.project import Project
from sqljury.project.feedback import remember
from sqljury.resources import Closing
from sqljury.schema.describe import Description
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.types import Privacy
from sqljury.types.schema import DIALECT_NAMES
from sqljury.web.tokens import LOCAL, Client

DESCRIBED_SECONDS: Final = 60.0
"""How long a description is shown before the schema is read again."""
VIEWS: Final = 256
"""Sessions behind access rules that are kept, the latest used ones."""

_NAMED: Final = re.compile(r"([A-Za-z][\w.-]{0,63})=(.+)", re.DOTALL | re.ASCII)
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+", re.ASCII)


class UnknownDatabaseError(Exception):
    """The client has no database of this name, whether or not there is one."""


@dataclass(frozen=True, slots=True)
class Served:
    """An open database with what is known about it.

    ``project`` is the context folder that says so, where there is one, and ``known`` the name of the database there.
    ``base`` is the session whose recipe and models answer questions on it, by default that of all databases.
    """

    database: Database
    notes: Notes = NO_NOTES
    access: Access = field(default_factory=Access)
    examples: Pool | None = None
    privacy: Privacy | None = None
    project: Project | None = None
    known: str = ""
    base: Session | None = None

    @property
    def engine(self) -> str:
        """The engine's usual spelling."""
        return DIALECT_NAMES.get(self.database.dialect, self.database.dialect)

    @property
    def places(self) -> tuple[str, ...]:
        """Where the database is, as errors might name it: never shown to clients."""
        files: tuple[str, ...] = tuple(getattr(self.database, "sources", ()))
        return (self.database.url, *files, *(os.path.abspath(file) for file in files))


class Databases(Closing):
    """Sessions by name and access rules, on the models of ``base`` or their own; any number of threads may ask.

    ``access`` holds for all clients. A client's own rules are added: what either denies is denied. Two lists of what is
    allowed have no sum that is sure to be meant, so they are refused by ``check``.
    """

    def __init__(self, base: Session, served: Mapping[str, Served], access: Access | None = None) -> None:
        self.served = dict(served)
        self._base, self._access = base, access or Access()
        self._lock = threading.Lock()
        self._sessions: OrderedDict[tuple[str, Access], Session] = OrderedDict()
        self._learned: dict[tuple[str, Access], Notes] = {}
        self._restricted: set[str] = set()
        self._described: dict[tuple[str, Access], tuple[float, Description]] = {}

    def check(self, clients: Sequence[Client]) -> None:
        """Open every database as every client sees it; raises ``InputError`` for rules that do not fit it."""
        for client in clients:
            for name in self.names(client):
                if client.access:
                    self._restricted.add(name)
                if sum(bool(rules.allow) for rules in (client.access, self._access, self.served[name].access)) > 1:
                    raise InputError(
                        f"{client.name} on {name}: two of the server, the context folder and the token allow tables; "
                        "let one of them do so"
                    )
                try:
                    self.session(client, name)
                except InputError as error:
                    whose = "" if client == LOCAL else f"{client.name} on "
                    raise InputError(f"{whose}{name}: {error}") from None

    def names(self, client: Client) -> list[str]:
        """The databases that a client may ask about."""
        return [name for name in self.served if client.may_use(name)]

    def name(self, client: Client, given: str) -> str:
        """``given`` itself, or the client's only database where none is given; raises ``UnknownDatabaseError``."""
        names = self.names(client)
        if not given and len(names) == 1:
            return names[0]
        if given not in names:
            raise UnknownDatabaseError(given)
        return given

    def shares(self, name: str) -> Privacy | None:
        """The most of a database's content that models outside of this process get; None where all are in it."""
        served = self.served[name]
        shared = (served.base or self._base).pipeline.shares
        return shared if shared is None or served.privacy is None else served.privacy

    def session(self, client: Client, name: str) -> Session:
        """The session on one of the client's databases; it may read the database's catalogue."""
        key = self._key(client, name)
        with self._lock:
            if key not in self._sessions:
                served = self.served[name]
                notes = served.notes + self._learned.get(key, NO_NOTES)
                self._sessions[key] = (served.base or self._base).on(
                    served.database, key[1] or None, notes, served.examples, served.privacy
                )
                while len(self._sessions) > VIEWS:
                    self._sessions.popitem(last=False)
            self._sessions.move_to_end(key)
            return self._sessions[key]

    def describe(self, client: Client, name: str, cancel: threading.Event) -> Description:
        """What the client sees of a database, as it was at most ``DESCRIBED_SECONDS`` ago."""
        key = self._key(client, name)
        made, known = self._described.get(key, (0.0, None))
        if known is None or time.monotonic() - made > DESCRIBED_SECONDS:
            known = self.session(client, name).following(lambda _: None, cancel).describe()
            self._described[key] = time.monotonic(), known
        return known

    def learn(self, client: Client, name: str, term: str, meaning: str) -> bool:
        """Note what a term means; whether the context folder has it now.

        It is a note on the database for all who see the same of it. Where no client has rules of its own, it is written
        to the folder: there all read it, and it may quote a value that a rule hides from some. Raises
        ``ProjectError`` for one that cannot be written, and ``NotesError`` for a faulty glossary.
        """
        project, session, key = self.served[name].project, self.session(client, name), self._key(client, name)
        kept = project is not None and name not in self._restricted
        note = Notes(glossary=((term, meaning),))
        with self._lock:
            if kept and project is not None:
                remember(project, self.served[name].known, term, meaning)
            session.notes += note
            self._learned[key] = self._learned.get(key, NO_NOTES) + note
        return kept

    def _key(self, client: Client, name: str) -> tuple[str, Access]:
        return name, client.access + self._access + self.served[name].access

    def close(self) -> None:
        """Close the databases and the sessions that they share."""
        for served in self.served.values():
            served.database.close()
            if served.base is not None:
                served.base.close()
        self._base.close()


def named(target: str) -> tuple[str, str]:
    """The name and the place of a database, given as ``NAME=PLACE`` or as a place that is named after its end."""
    match = _NAMED.fullmatch(target)
    if match and not os.path.exists(os.path.expanduser(target)):
        return match[1], match[2]
    end = target.partition("?")[0].rstrip("/") if "://" in target else target.rstrip("/")
    return _NOT_IN_NAMES.sub("_", Path(end.rpartition("/")[2] or end).stem).strip("_") or "database", target
