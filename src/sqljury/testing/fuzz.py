"""Random rows that keep a schema's constraints: primary and unique keys, NOT NULL, foreign keys in any arrangement.

Rows are drawn table by table, parents first. A row whose parent is missing, as in a cycle, is afterwards given one, or
NULL where that is allowed; a row that still has none is removed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final, NamedTuple

from sqljury.sql.affinity import Affinity, affinity, stored
from sqljury.testing.cells import ColumnKey, Source
from sqljury.testing.shape import Rows, Shape
from sqljury.testing.store import unique_keys
from sqljury.types import Cell, ForeignKey, Row, Schema, Table

TRIES: Final = 12
"""Draws of a row that breaks a key before a table stays shorter than planned."""

MAX_ROWS: Final = 40

_Draft = dict[str, Cell]


class _Plan(NamedTuple):
    """A table, and what its rows are checked by."""

    table: Table
    affinities: dict[str, Affinity]
    required: frozenset[str]
    keys: tuple[tuple[str, ...], ...]
    rowid: str | None

    @classmethod
    def of(cls, table: Table) -> _Plan:
        key = table.primary_key
        types = {column.name: column.type for column in table.columns}
        rowid = key[0] if len(key) == 1 and types[key[0]].upper() == "INTEGER" else None
        required = {column.name for column in table.columns if column.not_null} | set(table.row_key)
        affinities = {name: affinity(type_) for name, type_ in types.items()}
        return cls(table, affinities, frozenset(required), unique_keys(table), rowid)

    def keeps(self, draft: _Draft, taken: list[set[Row]]) -> bool:
        """Whether the row breaks no constraint beside rows whose keys are ``taken``."""
        if any(draft[name] is None for name in self.required):
            return False
        if self.rowid is not None and not isinstance(draft[self.rowid], int):
            return False
        return all(values not in seen for values, seen in zip(self.values(draft), taken, strict=True) if values)

    def values(self, draft: _Draft) -> list[Row]:
        """The row's value of each key, empty where NULL lets it repeat."""
        values = (tuple(draft[name] for name in key) for key in self.keys)
        return [() if None in key else key for key in values]

    def take(self, draft: _Draft, taken: list[set[Row]]) -> None:
        """Note the row's keys."""
        for values, seen in zip(self.values(draft), taken, strict=True):
            seen.add(values)


def fuzz(schema: Schema, sources: Mapping[ColumnKey, Source], seed: str) -> Rows:
    """Random rows for every table; equal for equal arguments."""
    return _Fuzz(schema, sources, random.Random(seed)).rows()  # noqa: S311 - no secret


class _Fuzz:
    def __init__(self, schema: Schema, sources: Mapping[ColumnKey, Source], rng: random.Random) -> None:
        self._shape = Shape(schema, {})
        self._plans = {name: _Plan.of(table) for name, table in self._shape.tables.items()}
        self._sources = sources
        self._rng = rng
        self._novelty = rng.choice((0.1, 0.5, 0.9))  # repeated values tell some queries apart, single ones others
        self._size = rng.choice((6, 15, MAX_ROWS))
        self._drafts: dict[str, list[_Draft]] = {}

    def rows(self) -> Rows:
        for name in self._parents_first():
            self._fill(self._plans[name])
        for plan in self._plans.values():
            self._mend(plan)
        rows = {
            name: [tuple(draft[column.name] for column in plan.table.columns) for draft in self._drafts[name]]
            for name, plan in self._plans.items()
        }
        return self._shape.closed(rows)

    def _parents_first(self) -> list[str]:
        ordered: dict[str, None] = {}
        waiting = list(self._plans)
        while waiting:
            ready = [name for name in waiting if all(p in ordered or p == name for p in self._parents(name))]
            ready = ready or waiting[:1]  # a cycle is cut anywhere
            ordered.update(dict.fromkeys(ready))
            waiting = [name for name in waiting if name not in ordered]
        return list(ordered)

    def _parents(self, name: str) -> list[str]:
        return [key.ref_table for key in self._plans[name].table.foreign_keys if key.ref_table in self._plans]

    def _fill(self, plan: _Plan) -> None:
        drafts = self._drafts[plan.table.name] = []
        taken: list[set[Row]] = [set() for _ in plan.keys]
        for _ in range(self._rng.randint(max(1, self._size // 2), self._size)):
            for _ in range(TRIES):
                draft = self._draw(plan)
                if plan.keeps(draft, taken):
                    plan.take(draft, taken)
                    drafts.append(draft)
                    break

    def _draw(self, plan: _Plan) -> _Draft:
        name = plan.table.name
        draft = {
            column.name: stored(self._cell(plan, column.name), plan.affinities[column.name])
            for column in plan.table.columns
        }
        settled: set[str] = set()
        for key in plan.table.foreign_keys:
            parents = self._drafts.get(key.ref_table, [])
            # A row may be its own parent, and the first of a table that refers to itself has to.
            choices = [*parents, draft] if key.ref_table == name else parents
            self._refer(plan, draft, key, choices, settled)
        return draft

    def _cell(self, plan: _Plan, column: str) -> Cell:
        return self._sources[plan.table.name, column].draw(self._rng, self._novelty)

    def _refer(self, plan: _Plan, draft: _Draft, key: ForeignKey, choices: list[_Draft], settled: set[str]) -> None:
        """Make the row refer to one of these; columns that an earlier foreign key ``settled`` stay."""
        if any(draft[column] is None for column in key.columns):
            return
        fitting = [
            choice
            for choice in choices
            if all(
                draft[column] == stored(choice[ref], plan.affinities[column])
                for column, ref in zip(key.columns, key.ref_columns, strict=True)
                if column in settled
            )
        ]
        if fitting:
            parent = self._rng.choice(fitting)
            for column, ref in zip(key.columns, key.ref_columns, strict=True):
                draft[column] = stored(parent[ref], plan.affinities[column])
            settled.update(key.columns)

    def _mend(self, plan: _Plan) -> None:
        """Give rows whose parent is missing one, where that breaks no key, else NULL."""
        for index, draft in enumerate(self._drafts[plan.table.name]):
            lost = [key for key in plan.table.foreign_keys if not self._has_parent(draft, key)]
            if not lost:
                continue
            changed = dict(draft)
            for key in lost:
                self._refer(plan, changed, key, self._drafts.get(key.ref_table, []), set())
                optional = [column for column in key.columns if column not in plan.required]
                if optional and not self._has_parent(changed, key):
                    changed[optional[0]] = None
            taken: list[set[Row]] = [set() for _ in plan.keys]
            for other_index, other in enumerate(self._drafts[plan.table.name]):
                if other_index != index:
                    plan.take(other, taken)
            if plan.keeps(changed, taken):
                self._drafts[plan.table.name][index] = changed

    def _has_parent(self, draft: _Draft, key: ForeignKey) -> bool:
        if key.ref_table not in self._plans or any(draft[column] is None for column in key.columns):
            return True
        parent = self._plans[key.ref_table]
        pairs = list(zip(key.columns, key.ref_columns, strict=True))
        # SQLite compares by the affinity of the parent's column.
        wanted = tuple(stored(draft[column], parent.affinities[ref]) for column, ref in pairs)
        return any(
            all(cell == referenced[ref] for cell, (_, ref) in zip(wanted, pairs, strict=True))
            for referenced in self._drafts[key.ref_table]
        )
