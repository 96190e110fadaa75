"""Patterns of tables and columns: ``table``, ``table.column``, ``schema.table.column``, with ``*`` for any letters."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

from sqljury.errors import InputError
from sqljury.schema.access_catalog import Kin
from sqljury.types import Table

_PARTS: Final = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s][^".]*))\s*(\.|$)')
_FORMS: Final = "table, table.column, schema.table or schema.table.column"


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a pattern; a part that is None stands for all, an empty ``schema`` for the default one."""

    schema: re.Pattern[str] | None
    table: re.Pattern[str]
    column: re.Pattern[str] | None

    def has_table(self, table: Table | Kin, default: str) -> bool:
        """Whether the table is meant, or some of its columns; ``default`` is the default schema's name."""
        bare = table.name.removeprefix(table.schema + ".") if table.schema else table.name
        return self._has_schema(table.schema, default) and self.table.fullmatch(bare) is not None

    def has(self, table: Table | Kin, column: str, default: str) -> bool:
        """Whether this column is meant."""
        return self.has_table(table, default) and (self.column is None or self.column.fullmatch(column) is not None)

    def _has_schema(self, schema: str, default: str) -> bool:
        return self.schema is None or self.schema.fullmatch(schema or default) is not None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern with the ways to read it; two parts may be table and column or schema and table."""

    text: str
    readings: tuple[Reading, ...]

    @property
    def is_exact(self) -> bool:
        """It has no wildcard."""
        return "*" not in self.text


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Pattern:
    """The pattern written so; raises ``InputError``. Parts with dots or stars in them stand in double quotes."""
    parts: list[re.Pattern[str]] = []
    position = 0
    while (match := _PARTS.match(text, position)) is not None:
        quoted, plain, dot = match.groups()
        parts.append(_part(quoted.replace('""', '"'), wild=False) if quoted else _part(plain.strip(), wild=True))
        position = match.end()
        if not dot:
            break
    if not parts or position != len(text) or text.rstrip().endswith(".") or len(parts) > 3:
        raise InputError(f"{text!r} is no pattern of tables or columns; write {_FORMS}, with * for any letters")
    if len(parts) == 1:
        return Pattern(text, (Reading(None, parts[0], None),))
    if len(parts) == 2:
        return Pattern(text, (Reading(None, parts[0], parts[1]), Reading(parts[0], parts[1], None)))
    return Pattern(text, (Reading(parts[0], parts[1], parts[2]),))


def _part(text: str, *, wild: bool) -> re.Pattern[str]:
    letters = (".*" if c == "*" and wild else re.escape(c) for c in text)
    return re.compile("".join(letters), re.IGNORECASE | re.DOTALL)
