"""URLs of MySQL and MariaDB, read into what PyMySQL wants."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from sqljury.db.server import shown_url
from sqljury.errors import DatabaseError

FORM: Final = "mysql://USER:PASSWORD@HOST:PORT/DATABASE, with odd characters as %XX"
_MODES: Final = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
_OPTIONS: Final = (
    *("user", "password", "socket", "option-file", "option-group"),
    *("ssl-mode", "ssl-ca", "ssl-cert", "ssl-key"),
)
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class Address:
    """Where a server is and how to get in; ``shown`` is the URL without secrets."""

    user: str
    password: str = field(repr=False)
    host: str
    port: int
    database: str
    options: dict[str, str] = field(repr=False)
    shown: str
    identity: str = field(repr=False)

    def arguments(self) -> dict[str, Any]:
        """Keywords for ``pymysql.connect``; raises ``DatabaseError`` for certificates that cannot be read."""
        given: dict[str, Any] = {"database": self.database, "user": self.user, "password": self.password}
        given |= {"host": self.host, "port": self.port, "unix_socket": self.options.get("socket")}
        if "option-file" in self.options:
            given["read_default_file"] = self.options["option-file"]
            given["read_default_group"] = self.options.get("option-group", "client")
        return {name: value for name, value in given.items() if value} | self._tls()

    def _tls(self) -> dict[str, Any]:
        mode = self.options.get("ssl-mode", "").upper().replace("-", "_")
        files = {name: self.options.get(f"ssl-{name}") for name in ("ca", "cert", "key")}
        if mode == "DISABLED":
            return {"ssl_disabled": True}
        if mode in ("", "PREFERRED") and not any(files.values()):
            return {}
        import ssl

        try:
            context = ssl.create_default_context(cafile=files["ca"])
            if files["cert"]:
                context.load_cert_chain(files["cert"], files["key"])
        except OSError as error:
            problem = DatabaseError(
                f"{self.shown}: a TLS file cannot be read ({error.strerror}); check ssl-ca, ssl-cert"
            )
        else:
            # A certificate that a server made for itself breaks rules that Python checks from 3.13 on.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            context.check_hostname = mode == "VERIFY_IDENTITY"
            verify = mode.startswith("VERIFY") or bool(files["ca"])
            context.verify_mode = ssl.CERT_REQUIRED if verify else ssl.CERT_NONE
            return {"ssl": context}
        raise problem


def read_url(url: str, schemas: tuple[str, ...]) -> Address:
    """The address of a URL; raises ``DatabaseError`` for a bad one, whose text is not shown: it may hold a password."""
    scheme, _, _ = url.partition("://")
    try:
        parts = urlsplit(url)
        port = parts.port
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        unclear = bool(_BAD_ESCAPE.search(url)) or "%00" in url or bool(parts.fragment)
    except ValueError:
        unclear, port, query = True, None, []
    if unclear or port == 0:
        raise DatabaseError(f"{scheme}://…: the URL cannot be read; check its port, write {FORM}")
    options = {name.replace("_", "-"): value for name, value in query}
    user = unquote(parts.username or "") or options.pop("user", "")
    host = unquote(parts.hostname or "")
    database = unquote(parts.path.removeprefix("/"))
    password = unquote(parts.password or "") or options.get("password", "") or os.environ.get("MYSQL_PWD", "")
    shown = shown_url(scheme.lower(), user, host, port, database, known=bool(password))
    _check(shown, options)
    options.pop("password", None)
    identity = "\n".join((user, host, str(port or ""), database))
    database = schemas[0] if schemas else database
    return Address(user, password, host, port or 0, database, options, shown, identity)


def _check(shown: str, options: dict[str, str]) -> None:
    for name in options:
        if name not in _OPTIONS:
            # Beside a password the name may be the end of it, after an & that was not written as %26.
            which = "such option" if "password" in options else f"option {name[:40]!r}"
            raise DatabaseError(f"{shown}: no {which}; there are {', '.join(_OPTIONS)}")
    mode = options.get("ssl-mode", "PREFERRED").upper().replace("-", "_")
    if mode not in _MODES:
        raise DatabaseError(f"{shown}: no such ssl-mode; there are {', '.join(_MODES)}")
