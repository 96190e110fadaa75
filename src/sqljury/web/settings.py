"""What a server may be told: where it listens, under which names, and how much it takes on."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final

from sqljury.errors import InputError

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Settings:
    """Addresses and limits.

    ``hosts`` are names under which clients may call besides the address itself. ``workers`` questions are worked on
    at once and ``queue`` wait; one that takes longer than ``seconds``, waiting included, is given up. ``body_bytes``
    bounds a request, ``rows`` the rows of a result in JSON, ``history`` the entries kept for each client,
    ``connections`` those open at once, ``grace`` the seconds that questions under way may still take when the server
    ends. ``https`` says that clients reach the server by TLS, so that cookies are sent by TLS only.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    hosts: tuple[str, ...] = ()
    workers: int = 4
    queue: int = 64
    seconds: float = 300.0
    body_bytes: int = 256 * 1024
    rows: int = 1_000
    history: int = 100
    connections: int = 1_000
    grace: int = 10
    https: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only programs on this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def names(self) -> frozenset[str]:
        """The names, in lower case, that a request's ``Host`` may have, any port."""
        host_names = () if self._everywhere else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK_NAMES, *host_names, *self.hosts))

    @property
    def _everywhere(self) -> bool:
        return self.host in ("", "0.0.0.0", "::")  # noqa: S104 - it is looked for here, not bound

    def check(self, *, tokens: bool) -> None:
        """Raise ``InputError`` for an address that others can reach without tokens, or without a name to call it by."""
        if self.loopback:
            return
        if not tokens:
            raise InputError(
                f"{self.host or 'an empty --host'} can be reached from other machines, and there are no tokens; make "
                "some with `sqljury serve --new-token NAME` and give them with --tokens FILE, or leave out --host"
            )
        if self._everywhere and not self.hosts:
            raise InputError(
                f"{self.host or 'an empty --host'} means every address of this machine; say with --allow-host NAME "
                "under which names clients call, as in http://NAME/"
            )
