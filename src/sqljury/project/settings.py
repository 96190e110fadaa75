"""``sqljury.toml``: the databases of a context folder by name, and how questions on them are answered.

A value may name an environment variable as ``${NAME}`` in ``url``, so that no secret is in the file.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal
from urllib.parse import quote

from sqljury.errors import InputError, ProjectError
from sqljury.types import LEVELS, Privacy

if TYPE_CHECKING:
    from pydantic import TypeAdapter

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
"""The name of a database: never a path or a URL, so that ``--db`` can tell them apart."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET: Final = re.compile(r"[?&](?:password|passwd|pwd|sslpassword)=([^&#]+)", re.IGNORECASE)
_STRICT: Final = {"strict": True, "extra": "forbid"}


@dataclass(frozen=True, slots=True)
class AccessPart:
    """The lists of ``access.rules.Access``."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatabasePart:
    """One ``[databases.NAME]`` table; an empty ``recipe``, ``model`` or ``privacy`` is that of the whole file.

    ``notes``, ``glossary`` and ``examples`` are paths in the folder; empty for the files of the usual names.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT

    url: str
    schemas: tuple[str, ...] = ()
    recipe: str = ""
    model: str = ""
    privacy: Literal["", "schema", "values", "rows"] = ""
    notes: tuple[str, ...] = ()
    glossary: str = ""
    examples: str = ""
    access: AccessPart = field(default_factory=AccessPart)


@dataclass(frozen=True, slots=True)
class Settings:
    """The file: its ``databases``, the ``default`` one, and recipe, model and privacy where a database names none."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    databases: dict[str, DatabasePart]
    default: str = ""
    recipe: str = "default"
    model: str = ""
    privacy: Privacy = "rows"


_TABLES: Final[dict[int, type[Any]]] = {0: Settings, 2: DatabasePart, 3: AccessPart}
"""The class of a table by the number of keys that lead to it, such as ``databases.shop.access``."""


def read(path: Path) -> Settings:
    """The settings in a TOML file; raises ``ProjectError`` that names the file, the key and what to do."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    except UnicodeDecodeError:
        raise ProjectError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ProjectError(f"{path}: is not TOML: {error}") from None
    return build(tables, str(path))


def build(tables: Mapping[str, Any], name: str) -> Settings:
    """The settings in the tables of a file called ``name`` in messages; raises ``ProjectError``."""
    from pydantic import ValidationError

    try:
        # As JSON, for which strict validation accepts arrays as tuples and objects as parts.
        settings = _adapter().validate_json(json.dumps(tables, default=lambda value: [str(value)]))
    except ValidationError as error:
        raise ProjectError(f"{name}: {_problem(error.errors(include_url=False, include_input=False)[0])}") from None
    _check(settings, name)
    return settings


def expanded(url: str, place: str) -> str:
    """``url`` with ``${NAME}`` replaced by environment variables; raises ``ProjectError`` for one that is not set.

    Between ``://`` and ``@`` their text is percent-encoded, so that a password may have any character.
    """

    def value(match: re.Match[str]) -> str:
        text = os.environ.get(match[1], "")
        if not text:
            raise ProjectError(f"{place}: the environment variable {match[1]} is not set; set it, or change the file")
        return quote(text, safe="") if begins <= match.start() < ends else text

    begins, ends = url.find("://"), url.rfind("@")
    begins = len(url) if begins < 0 else begins
    return _VARIABLE.sub(value, url)


def variables(url: str) -> list[str]:
    """The environment variables that ``expanded`` puts into a URL."""
    return list(dict.fromkeys(_VARIABLE.findall(url)))


@cache
def _adapter() -> TypeAdapter[Settings]:
    from pydantic import TypeAdapter

    return TypeAdapter(Settings)


def _problem(error: Mapping[str, Any]) -> str:
    """One line on a validation error: the key, and what its value must be; never the value, which may be a secret."""
    keys = [str(key) for key in error["loc"] if key != "[key]"]
    key, kind = ".".join(keys), str(error["type"])
    if kind == "unexpected_keyword_argument":
        known = ", ".join(part.name for part in fields(_TABLES[len(keys) - 1]))
        return f"unknown key {key}; known here are {known}"
    if kind in ("missing", "missing_argument"):
        return "there is no [databases.NAME] table; write one" if key == "databases" else f"{key} is missing; write it"
    wanted = {"string_type": "a text in quotes", "tuple_type": "a list of texts"}.get(kind, "a table")
    wanted = f"one of {', '.join(LEVELS)}" if kind == "literal_error" else wanted
    return f"{key} must be {wanted}"


def _check(settings: Settings, name: str) -> None:
    """Raise ``ProjectError`` for names, secrets and patterns that the types alone do not refuse."""
    from sqljury.access.rules import Access

    if not settings.databases:
        raise ProjectError(f"{name}: [databases] is empty; write a table such as [databases.shop] with url in it")
    if settings.default and settings.default not in settings.databases:
        raise ProjectError(f"{name}: default names no database; known are {', '.join(settings.databases)}")
    for database, part in settings.databases.items():
        key = f"databases.{database}"
        if not NAME.fullmatch(database):
            raise ProjectError(f"{name}: {key} is not a name; use letters, digits, _ and -, and begin with a letter")
        if not part.url.strip():
            raise ProjectError(f"{name}: {key}.url is empty; write the path or URL of the database")
        if has_password(part.url):
            raise ProjectError(
                f"{name}: {key}.url has a password, which does not belong in a file; write ${{{variable(database)}}} "
                "in its place and set that environment variable"
            )
        try:
            Access(part.access.allow, part.access.deny, part.access.mask, part.access.rows)
        except InputError as error:
            raise ProjectError(f"{name}: {key}.access.{error}") from None


def has_password(url: str) -> bool:
    """Whether a URL has a password, before its ``@`` or as a parameter, that is not an environment variable."""
    _, separator, address = url.partition("://")
    user, at, _ = address.rpartition("@")
    given = [user.partition(":")[2] if separator and at else "", *_SECRET.findall(address)]
    return any(text and not _VARIABLE.fullmatch(text) for text in given)


def variable(database: str) -> str:
    """The environment variable that is proposed for the password of a database."""
    return f"{re.sub(r'[^A-Z0-9]', '_', database.upper())}_PASSWORD"
