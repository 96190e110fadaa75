"""Which column stands for which when foreign keys are taken for what they refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqljury.errors import DatasetError
from sqljury.types import Schema


@dataclass(frozen=True, slots=True)
class ForeignKeys:
    """For each column in a foreign key, the one that stands for it: the first column of those it is linked with."""

    stands_for: Mapping[str, str]

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Self:
        """From one entry of Spider's ``tables.json``; raises ``DatasetError`` when it has not that form."""
        try:
            tables = entry["table_names_original"]
            columns = [
                f"{tables[table]}.{column}".lower() if table >= 0 else "*"
                for table, column in entry["column_names_original"]
            ]
            return cls(_stand_ins(columns, entry["foreign_keys"]))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            database = entry.get("db_id", "?") if isinstance(entry, Mapping) else "?"
            message = f"tables.json: the entry of {database!r} is malformed ({error!r}); use the file as Spider has it"
            raise DatasetError(message) from None

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """From an introspected schema; composite keys link their columns one by one."""
        columns = [f"{table.name}.{column.name}".lower() for table in schema.tables for column in table.columns]
        place = {column: number for number, column in enumerate(columns)}
        links = [
            (place[f"{table.name}.{own}".lower()], place[f"{key.ref_table}.{other}".lower()])
            for table in schema.tables
            for key in table.foreign_keys
            for own, other in zip(key.columns, key.ref_columns, strict=True)
            if f"{key.ref_table}.{other}".lower() in place
        ]
        return cls(_stand_ins(columns, links))


def _stand_ins(columns: list[str], links: Iterable[Iterable[int]]) -> dict[str, str]:
    """Linked columns form groups, but two groups that a later key links stay two, as in the published program."""
    groups: list[set[int]] = []
    for one, other in links:
        group = next((group for group in groups if one in group or other in group), None)
        if group is None:
            groups.append(group := set())
        group |= {one, other}
    return {columns[number]: columns[min(group)] for group in groups for number in sorted(group)}
