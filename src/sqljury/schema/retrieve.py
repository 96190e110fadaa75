"""Selects the part of a large schema that a question needs, within a token budget and without a model."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from sqljury.schema.index import Hit, Index, Scores
from sqljury.schema.render import Form, render
from sqljury.schema.sizes import Sizes, estimate_tokens
from sqljury.types import Question, Schema
from sqljury.types.schema import subset

PROMPT_TOKENS: Final = 6_000
"""What a schema that does not fit is cut down to."""

_SEED_SHARE: Final = 0.85  # of the budget goes to tables, the rest to more of their columns
_MATCHED: Final = 4  # columns that a table is first shown with, beside its keys
_PAIRED: Final = 5  # of the best tables each pair is joined by its own shortest way
_PAIRED_HOPS: Final = 3


def retrieve(
    index: Index,
    text: str,
    *,
    max_tokens: int = PROMPT_TOKENS,
    hits: Iterable[Hit] = (),
    form: Form = "ddl",
) -> Schema:
    """The tables and columns that ``text`` (a question and its evidence) needs, in the order of the schema.

    Rendered in ``form`` they take at most ``max_tokens`` by ``estimate_tokens``; a schema that fits is returned as
    it is. Any two chosen tables that keys connect in the schema, they connect in what is returned.
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
    """What was chosen so far: columns by table, in steps, each of which leaves the tables connected."""

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
        """Tables that have to do with the question, best first; all of them when none has."""
        tables = self.scores.tables
        found = sorted(range(len(tables)), key=lambda table: (-tables[table], table))
        return [table for table in found if tables[table]] or found

    def add_tables(self) -> None:
        """Tables by rank, each with the tables that join it to those before, while there is room."""
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
        """More columns of the chosen tables, the best tables' first, until the budget is used."""
        order = sorted(self.chosen, key=lambda table: (-self.scores.tables[table], table))
        for table in order:
            for name in self._by_score(table):
                if name not in self.chosen[table]:
                    self._take({table: {name}}, self.sizes.column(table, name), self.budget)

    def schema(self) -> Schema:
        """What was chosen, less the last steps where the estimate of a part was too low."""
        tables = self.index.schema.tables
        while True:
            columns = {tables[table].name: names for table, names in self.chosen.items()}
            found = subset(self.index.schema, columns)
            if not self.steps or estimate_tokens(render(found, form=self.sizes.form)) <= self.budget:
                return found
            for table, names in self.steps.pop().items():
                self.chosen[table] -= names
                if not self.chosen[table]:
                    del self.chosen[table]

    def _bridges(self, table: int) -> list[int]:
        """The tables between ``table`` and the nearest chosen one."""
        goals = {other for other in self.chosen if self.part[other] == self.part[table]}
        return self.index.joins.path(table, goals, self.scores.tables)[:-1] if goals else []

    def _pair(self, table: int) -> None:
        """Short ways from one of the best tables to each of those before it."""
        for other in [other for other in self.ranked()[:_PAIRED] if other in self.chosen and other != table]:
            way = self.index.joins.path(table, {other}, self.scores.tables, _PAIRED_HOPS)
            self._add([step for step in way if step not in self.chosen], self.budget)

    def _add(self, group: list[int], limit: int) -> bool:
        """Add tables that hang together, and the keys between them and the chosen ones, if they fit."""
        added: dict[int, set[str]] = {table: self._first(table) for table in group}
        tokens = sum(self.sizes.table(table, names) for table, names in added.items())
        for table in group:
            for other in self.index.joins.near[table]:
                if other not in self.chosen and other not in added:
                    continue
                for start, key, end in self.index.joins.between(table, other):
                    tokens += self.sizes.key(key)
                    for place, names in ((start, key.columns), (end, key.ref_columns)):
                        known = self.chosen.get(place, set()) | added.get(place, set())
                        fresh = set(names) - known
                        tokens += sum(self.sizes.column(place, name) for name in fresh)
                        added.setdefault(place, set()).update(fresh)
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
        """The columns that a table is first shown with: its key and what was asked for; of a view all."""
        table = self.index.schema.tables[number]
        if table.kind == "view":
            return {column.name for column in table.columns}
        scores = dict(zip((column.name for column in table.columns), self.scores.columns[number], strict=True))
        asked = [name for name in self._by_score(number)[:_MATCHED] if scores[name]]
        return {*table.primary_key, *asked} or {column.name for column in table.columns[:_MATCHED]}

    def _by_score(self, number: int) -> list[str]:
        scores, columns = self.scores.columns[number], self.index.schema.tables[number].columns
        return [columns[place].name for place in sorted(range(len(columns)), key=lambda place: (-scores[place], place))]


def fit(
    schema: Schema,
    question: Question,
    max_chars: int,
    *,
    form: Form = "ddl",
    hits: Iterable[Hit] = (),
    indexes: Indexes | None = None,
) -> Schema:
    """The schema itself where it can be shown within ``max_chars``, else what the question needs of it.

    What is cut is cut to ``PROMPT_TOKENS``. ``hits`` are columns that hold values of the question's; ``indexes``
    spares making the index of a schema that was met before.
    """
    if _short(schema, max_chars):
        return schema
    index = (indexes or Indexes()).of(schema)
    return retrieve(index, f"{question.text}\n{question.evidence}", hits=hits, form=form)


def _short(schema: Schema, max_chars: int) -> bool:
    """Its smallest form has at most so many characters; stops reading it where it is over."""
    total = 0
    for table in schema.tables:
        total += len(render(replace(schema, tables=(table,)), form="compact"))
        if total > max_chars:
            return False
    return True


class Indexes:
    """The indexes of the two schemas met last, a whole one and its part; any number of threads may ask again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: list[Index] = []

    def of(self, schema: Schema) -> Index:
        """The index of an equal schema, made once as long as no two others come between."""
        with self._lock:
            found = next((one for one in self._last if one.schema == schema), None) or Index.of(schema)
            self._last = [found, *(one for one in self._last if one is not found)][:2]
            return found
