"""Chooses the schemas to ask about where none was named: those of the search path, else the few that have tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqljury.sql.text import plain

MAX_SCHEMAS: Final = 5
MAX_TABLES: Final = 60
"""Several schemas outside the search path are asked about together if they are no more and have no more tables."""

_NAME_CHARS: Final = 60

Listed = Sequence[Sequence[Any]]
"""Rows of a schema's name and the number of tables in it that the user may read."""


class SchemaWarning(UserWarning):
    """The tables are not in the default schema, so that another one was chosen."""


def choose(url: str, path: Listed, others: Callable[[], Listed]) -> tuple[str, ...]:
    """The schemas to ask about, the default one first; empty for the default alone, which may have no table.

    ``path`` lists the schemas in which the engine looks names up, in this order; ``others`` is called for the rest if
    they are empty. Warns with ``SchemaWarning`` when it chooses among the rest.
    """
    filled = [str(name) for name, tables in path if tables]
    if filled:
        return () if filled == [str(path[0][0])] else tuple(filled)
    schemas = [(str(name), int(tables)) for name, tables in others() if tables]
    total = sum(tables for _, tables in schemas)
    if not schemas or (len(schemas) > 1 and (len(schemas) > MAX_SCHEMAS or total > MAX_TABLES)):
        return ()
    listed = ", ".join(f"{plain(name, _NAME_CHARS)} ({tables} table{'s' * (tables != 1)})" for name, tables in schemas)
    default = f"no table in schema {plain(str(path[0][0]), _NAME_CHARS)}" if path else "no schema was named"
    warnings.warn(f"{url}: {default}; asking about {listed}; --schema names others", SchemaWarning, stacklevel=6)
    return tuple(name for name, _ in schemas)
