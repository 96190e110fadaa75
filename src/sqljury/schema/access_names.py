"""When two names are surely the same to an engine, and when they might be."""

from __future__ import annotations

import string
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

_ASCII: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def exact(identifier: exp.Identifier, dialect: str, *, table: bool = False) -> str:
    """The key of a name in a query: equal keys are the same name to the engine, whatever else may be too.

    Engines fold ASCII letters and differ on the rest. Names of tables keep their case in MySQL, where some servers
    tell ``a`` from ``A``.
    """
    if (dialect == "postgres" and identifier.quoted) or (dialect == "mysql" and table):
        return str(identifier.name)
    return str(identifier.name).translate(_ASCII)


def declared(name: str, dialect: str, *, table: bool = False) -> str:
    """The key of a name in the catalogue, to compare with ``exact``."""
    return name if dialect == "postgres" or (dialect == "mysql" and table) else name.translate(_ASCII)


def broad(name: str) -> str:
    """The key under which names that any engine might take for one another are equal: no case, no accents."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))
