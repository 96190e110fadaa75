"""PostgreSQL's values as plain cells: numbers as numbers, everything else as the text PostgreSQL writes."""

from __future__ import annotations

import functools
from typing import Any, Final

from sqljury.db.numbers import number

_BINARY: Final = "bytea"
_WHOLE: Final = ("int2", "int4", "int8", "oid")
_FLOATING: Final = ("float4", "float8")


@functools.cache
def adapt() -> Any:
    """The context for ``psycopg.connect`` that turns cells into plain ones."""
    from psycopg.adapt import AdaptersMap, Loader
    from psycopg.postgres import types
    from psycopg.types.bool import BoolLoader
    from psycopg.types.numeric import FloatLoader, IntLoader
    from psycopg.types.string import ByteaLoader, StrDumperUnknown

    class Text(Loader):
        """Text as it is, what is not UTF-8 in it replaced: a database of encoding SQL_ASCII does not check."""

        def load(self, data: Any) -> str:
            return str(data, "utf-8", "replace")

    class Numeric(Loader):
        def load(self, data: Any) -> int | float | str:
            return number(str(data, "ascii"))

    adapters = AdaptersMap(types=types)
    adapters.register_dumper(str, StrDumperUnknown)
    adapters.register_loader(0, Text)  # of any type without a loader of its own
    for name in _WHOLE:
        adapters.register_loader(name, IntLoader)
    for name in _FLOATING:
        adapters.register_loader(name, FloatLoader)
    adapters.register_loader("numeric", Numeric)
    adapters.register_loader("bool", BoolLoader)
    adapters.register_loader(_BINARY, ByteaLoader)
    return _Context(adapters)


class _Context:
    """What psycopg calls an ``AdaptContext``, of no connection yet."""

    connection = None

    def __init__(self, adapters: Any) -> None:
        self.adapters = adapters
