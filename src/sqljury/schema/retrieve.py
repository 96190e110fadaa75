"""Selects the part of a large schema that a question needs, within a token budget and without a model."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from sqljury.schema.index import Hit, Index, Scores
from sqljury.schema.render import render
from sqljury.schema.sizes import Sizes, estimate_tokens
from sqljury.types import Schema
from sqljury.types.schema import Form, subset

PROMPT_TOKENS: Final = 6_000
"""The budget of a schema that is too large to be shown whole."""

_SEED_SHARE: Final = 0.85  # share of the budget for tables; the rest is for more of their columns
_MATCHED: Final = 4  # columns that a table is first shown with, beside its keys
_PAIRED: Final = 5  # of the best tables each pair is joined by its shortest path
_PAIRED_HOPS: Final = 3


def retrieve(
    index: Index,
    text: str,
    *,
    max_tokens: int = PROMPT_TOKENS,
    hits: Iterable[Hit] = (),
    form: Form = "ddl",
) -> Schema:
    """The tables and columns relevant to ``text`` (a question and its evidence), in the order of the schema.

    Rendered in ``form`` they take at most ``max_tokens`` by ``estimate_tokens``; a schema that fits is returned
    unchanged. Tables that are connected by keys in the schema are connected in the result.
    """
    sizes = index.sizes[form]
    if sizes.whole_fits(max_tokens):
        return index.schema
    choice = _Choice(index, sizes, index.scores(text, hits), max_tokens)
    choice.add_tables()
    choice.add_columns()
    return choice.schema()


@dataclass
class _Choice:
    """The columns chosen so far, by table, in steps each of which leaves the tables connected."""

    index: Index
    sizes: Sizes
    scores: Scores
    budget: int
    used: int = 0
    chosen: dict[int, set[str]] = field(default_factory=dict)
    steps: list[dict[int, set[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.part = self.index.joins.components()

    def ranked(self) -> list[int]:
        """Relevant tables, best first; all tables if none is relevant."""
        tables = self.scores.tables
        ranked = sorted(range(len(tables)), key=lambda table: (-tables[table], table))
        return [table for table in ranked if tables[table]] or ranked

    def add_tables(self) -> None:
        """Add tables by rank, each with the tables that join it to the chosen ones, while there is room."""
        limit = int(self.budget * _SEED_SHARE)
        misses = 0
        for rank, table in enumerate(self.ranked()):
            if table in self.chosen:
                continue
            group = [table, *self._bridges(table)]
            if not self._add(group, limit if self.chosen else self.budget):
                misses += 1
                if misses > 20:
                    break
            elif rank < _PAIRED:
                self._pair(table)

    def add_columns(self) -> None:
        """Add columns of the chosen tables, those of the best tables first, until the budget is used."""
        order = sorted(self.chosen, key=lambda table: (-self.scores.tables[table], table))
        for table in order:
            for name in self._by_score(table):
                if name not in self.chosen[table]:
                    self._take({table: {name}}, self.sizes.column(table, name), self.budget)

    def schema(self) -> Schema:
        """The chosen part, without the last steps if the estimate of a part was too low."""
        tables = self.index.schema.tables
        while True:
            columns = {tables[table].name: names for table, names in self.chosen.items()}
            part = subset(self.index.schema, columns)
            if not self.steps or estimate_tokens(render(part, form=self.sizes.form)) <= self.budget:
                return part
            for table, names in self.steps.pop().items():
                self.chosen[table] -= names
                if not self.chosen[table]:
                    del self.chosen[table]

    def _bridges(self, table: int) -> list[int]:
        """The tables between ``table`` and the nearest chosen one."""
        goals = {other for other in self.chosen if self.part[other] == self.part[table]}
        return self.index.joins.path(table, goals, self.scores.tables)[:-1] if goals else []

    def _pair(self, table: int) -> None:
        """Add short paths from one of the best tables to each of those before it."""
        for other in [other for other in self.ranked()[:_PAIRED] if other in self.chosen and other != table]:
            path = self.index.joins.path(table, {other}, self.scores.tables, _PAIRED_HOPS)
            self._add([step for step in path if step not in self.chosen], self.budget)

    def _add(self, group: list[int], limit: int) -> bool:
        """Add connected tables, and the keys between them and the chosen ones, if they fit."""
        added: dict[int, set[str]] = {table: self._first(table) for table in group}
        tokens = sum(self.sizes.table(table, names) for table, names in added.items())
        for table in group:
            for neighbour in self.index.joins.near[table]:
                if neighbour not in self.chosen and neighbour not in added:
                    continue
                for start, key, end in self.index.joins.between(table, neighbour):
                    tokens += self.sizes.key(key)
                    for owner, names in ((start, key.columns), (end, key.ref_columns)):
                        known = self.chosen.get(owner, set()) | added.get(owner, set())
                        fresh = set(names) - known
                        tokens += sum(self.sizes.column(owner, name) for name in fresh)
                        added.setdefault(owner, set()).update(fresh)
        return self._take(added, tokens, limit)

    def _take(self, added: dict[int, set[str]], tokens: int, limit: int) -> bool:
        if not added or self.used + tokens > limit:
            return False
        self.used += tokens
        for table, names in added.items():
            self.chosen.setdefault(table, set()).update(names)
        self.steps.append(added)
        return True

    def _first(self, number: int) -> set[str]:
        """The columns that a table is first shown with: its key and the most relevant ones; all columns of a view."""
        table = self.index.schema.tables[number]
        if table.is_view:
            return {column.name for column in table.columns}
        scores = dict(zip((column.name for column in table.columns), self.scores.columns[number], strict=True))
        asked = [name for name in self._by_score(number)[:_MATCHED] if scores[name]]
        return {*table.row_key, *asked} or {column.name for column in table.columns[:_MATCHED]}

    def _by_score(self, number: int) -> list[str]:
        scores, columns = self.scores.columns[number], self.index.schema.tables[number].columns
        return [columns[at].name for at in sorted(range(len(columns)), key=lambda at: (-scores[at], at))]


def is_short(schema: Schema, max_chars: int) -> bool:
    """Whether its smallest form has at most so many characters; stops rendering beyond them."""
    total = 0
    for table in schema.tables:
        total += len(render(replace(schema, tables=(table,)), form="compact"))
        if total > max_chars:
            return False
    return True


class Indexes:
    """A thread-safe cache of the last two indexes: of a whole schema and of its part."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: list[Index] = []

    def of(self, schema: Schema) -> Index:
        """The cached index of an equal schema, or a new one."""
        with self._lock:
            index = next((index for index in self._last if index.schema == schema), None) or Index.of(schema)
            self._last = [index, *(other for other in self._last if other is not index)][:2]
            return index
