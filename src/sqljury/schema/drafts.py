"""Tables while they are put together from several catalogue queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from sqljury.types import Column, ForeignKey, Table


class Reference(NamedTuple):
    """A foreign key by the names that the catalogue gives."""

    columns: tuple[str, ...]
    schema: str
    table: str
    ref_columns: tuple[str, ...]


@dataclass
class Draft:
    """What is known so far of one table or view."""

    schema: str
    name: str
    kind: Literal["table", "view"]
    comment: str = ""
    definition: str = ""
    columns: list[Column] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    unique_keys: list[tuple[str, ...]] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)


def finished(drafts: Iterable[Draft], default: str) -> tuple[Table, ...]:
    """The tables; those of another schema than ``default`` are named with theirs.

    A foreign key to a table or column that is not among them is left out, since no query can join along it, and so is
    any key with a column that may not be read.
    """
    kept = [draft for draft in drafts if draft.columns]
    tables = {(draft.schema, draft.name): _table(draft, default) for draft in kept}
    found = []
    for draft in kept:
        table = tables[draft.schema, draft.name]
        keys = [_resolved(reference, table, tables) for reference in draft.references]
        found.append(replace(table, foreign_keys=tuple(dict.fromkeys(key for key in keys if key is not None))))
    return tuple(found)


def _table(draft: Draft, default: str) -> Table:
    names = {column.name for column in draft.columns}
    primary_key = draft.primary_key if names.issuperset(draft.primary_key) else ()
    unique_keys = [key for key in dict.fromkeys(draft.unique_keys) if names.issuperset(key) and key != primary_key]
    alone = {key[0] for key in (primary_key, *unique_keys) if len(key) == 1}
    schema = "" if draft.schema == default else draft.schema
    return Table(
        name=f"{schema}.{draft.name}" if schema else draft.name,
        columns=tuple(replace(column, unique=True) if column.name in alone else column for column in draft.columns),
        primary_key=primary_key,
        unique_keys=tuple(unique_keys),
        kind=draft.kind,
        definition=draft.definition,
        schema=schema,
        comment=draft.comment,
    )


def _resolved(reference: Reference, table: Table, tables: dict[tuple[str, str], Table]) -> ForeignKey | None:
    target = tables.get((reference.schema, reference.table))
    if target is None or not _has(target, reference.ref_columns) or not _has(table, reference.columns):
        return None
    return ForeignKey(reference.columns, target.name, reference.ref_columns, target.schema)


def _has(table: Table, columns: Sequence[str]) -> bool:
    return {column.name for column in table.columns}.issuperset(columns)
