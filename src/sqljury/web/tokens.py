"""Who may ask what: a file of tokens, each with its databases and access rules.

The file holds SHA-256 digests, never a token: tokens are random, 256 bits, so no salt or slow hash is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import tomllib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sqljury.access.rules import Access
from sqljury.errors import InputError
from sqljury.types.serialize import in_toml

EVERY: Final = "*"
LOGIN_SECONDS: Final = 12 * 3600
LOGINS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody who may ask about ``databases`` (``*`` is every one), seeing what ``access`` lets be seen."""

    name: str
    databases: tuple[str, ...] = (EVERY,)
    access: Access = field(default_factory=Access)

    def may_use(self, database: str) -> bool:
        """Whether this database may be asked about."""
        return EVERY in self.databases or database in self.databases


LOCAL: Final = Client("local")
"""Everybody, where the server listens on loopback without tokens."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=r"^[\w.@-]{1,64}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    databases: Annotated[list[str], Field(min_length=1)]
    allow: list[str] = []
    deny: list[str] = []
    mask: list[str] = []
    rows: list[str] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: Annotated[list[_Entry], Field(min_length=1)]


class Tokens:
    """The clients by the digest of their token, and the browsers that have logged in with one."""

    def __init__(self, clients: dict[str, Client]) -> None:
        self._clients = clients
        self._logins: OrderedDict[str, tuple[Client, float]] = OrderedDict()

    @property
    def clients(self) -> tuple[Client, ...]:
        """Everybody who has a token."""
        return tuple(self._clients.values())

    @classmethod
    def load(cls, path: str, databases: Sequence[str]) -> Tokens:
        """The tokens of a TOML file; ``databases`` are those that the server has.

        Raises ``InputError`` for a file that cannot be read or has a wrong entry: a right that is misspelled would
        protect nothing.
        """
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            entries = _File.model_validate(content).token
        except OSError as error:
            raise InputError(f"{path}: the tokens cannot be read ({error.strerror}); check the path") from None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(
                f"{path}: is not TOML ({error}); `sqljury serve --new-token NAME` shows an entry"
            ) from None
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            key = ".".join(map(str, first["loc"]))
            raise InputError(f"{path}: {key}: {first['msg']}; see docs/serve.md for the keys of a token") from None
        clients: dict[str, Client] = {}
        for entry in entries:
            for name in entry.databases:
                if name != EVERY and name not in databases:
                    raise InputError(f"{path}: {entry.name}: no database {name!r}; there are {', '.join(databases)}")
            if entry.sha256 in clients or entry.name in {client.name for client in clients.values()}:
                raise InputError(f"{path}: {entry.name}: is there twice; give every token a name of its own")
            access = Access(tuple(entry.allow), tuple(entry.deny), tuple(entry.mask), tuple(entry.rows))
            clients[entry.sha256] = Client(entry.name, tuple(entry.databases), access)
        return cls(clients)

    def client(self, token: str) -> Client | None:
        """The client with this token; the time that this takes says nothing about the tokens."""
        given = digest(token)
        match = None
        for known, client in self._clients.items():
            if hmac.compare_digest(known, given):
                match = client
        return match

    def log_in(self, client: Client) -> str:
        """The value of a cookie that stands for the client until the server ends, or for ``LOGIN_SECONDS``."""
        key = secrets.token_urlsafe(32)
        self._logins[digest(key)] = client, time.monotonic() + LOGIN_SECONDS
        while len(self._logins) > LOGINS:
            self._logins.popitem(last=False)
        return key

    def logged_in(self, key: str) -> Client | None:
        """The client of a cookie, None for an unknown or an old one."""
        client, ends = self._logins.get(digest(key), (None, 0.0))
        return client if time.monotonic() < ends else None

    def log_out(self, key: str) -> None:
        """Forget a cookie."""
        self._logins.pop(digest(key), None)


def digest(token: str) -> str:
    """The digest under which a token is kept."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token() -> str:
    """A token that nobody can guess."""
    return f"sqljury_{secrets.token_urlsafe(32)}"


def entry(name: str, token: str, databases: Sequence[str]) -> str:
    """The lines of a token file for a new token; raises ``InputError`` for a name that cannot stand there."""
    try:
        made = _Entry(name=name, sha256=digest(token), databases=list(databases) or [EVERY])
    except ValidationError:
        raise InputError(f"{name!r} is not a name for a token; use letters, digits, and any of . _ @ -") from None
    return f'[[token]]\nname = "{made.name}"\nsha256 = "{made.sha256}"\ndatabases = {in_toml(made.databases)}'
