"""The names a query may use, all in lower case, as Spider's parser looks them up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqljury.errors import DatasetError
from sqljury.types import Schema


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of one database with their columns, in the order the database lists them."""

    tables: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, tables: Iterable[tuple[str, Iterable[str]]]) -> Self:
        """From pairs of a table's name and its columns' names, in any case."""
        return cls({name.lower(): tuple(column.lower() for column in columns) for name, columns in tables})

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """From an introspected schema; views are left out, for the benchmark's parser does not know them."""
        tables = (table for table in schema.tables if table.kind == "table")
        return cls.of((table.name, (column.name for column in table.columns)) for table in tables)

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Self:
        """From one entry of Spider's ``tables.json``; raises ``DatasetError`` when it has not that form."""
        try:
            tables: list[tuple[str, list[str]]] = [(name, []) for name in entry["table_names_original"]]
            for table, column in entry["column_names_original"]:
                if table >= 0:  # -1 is the star
                    tables[table][1].append(column)
            return cls.of(tables)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            database = entry.get("db_id", "?") if isinstance(entry, Mapping) else "?"
            message = f"tables.json: the entry of {database!r} is malformed ({error!r}); use the file as Spider has it"
            raise DatasetError(message) from None
