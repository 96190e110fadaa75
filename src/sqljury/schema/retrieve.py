"""About how many tokens a text has without a tokenizer, and the parts of a schema within a rendered one.

The part of a large schema that a question needs, within a budget, chosen before any model is called.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from sqljury.schema.index import Hit, Index, Scores
from sqljury.schema.render import Form, render
from sqljury.types import Column, ForeignKey, Question, Schema, Table
from sqljury.types.subset import subset

_WORD: Final = re.compile(r"_?[^\W\d_]+|\d|[^\w\s]+\n?|\n|_")


def estimate_tokens(text: str) -> int:
    """An estimate that is rather too high than too low for the tokenizers of today's models; 0 for no text.

    Long words count several, each digit one, a run of marks one for two, spaces and underscores with what follows.
    """
    return sum(map(_cost, _WORD.findall(text)))


def _cost(word: str) -> int:
    if not word.isascii():
        return len(word.encode()) // 2 + 1
    if word[-1].isalpha():
        return 1 + (len(word) - 1) // (8 if word.islower() else 5)
    return 1 + (len(word) - 1) // 3


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The tokens that tables, columns and keys of a schema take when rendered in ``form``, measured once each.

    The sum of the parts is rather more than the whole.
    """

    schema: Schema
    form: Form
    _frames: dict[int, int] = field(default_factory=dict)
    _columns: dict[tuple[Column, bool], int] = field(default_factory=dict)

    def whole_fits(self, tokens: int) -> bool:
        """The schema takes at most so many tokens; stops reading it where it is over."""
        total = 0
        for table in self.schema.tables:
            total += self._size(table)
            if total > tokens:
                return False
        return True

    def table(self, number: int, names: Collection[str]) -> int:
        """A table with these columns and its unique keys, without foreign keys; of a view, all of it."""
        if number not in self._frames:
            table = self.schema.tables[number]
            bare = replace(table, columns=(Column("a"),), primary_key=(), foreign_keys=(), unique_keys=())
            keys = [key for key in (table.primary_key, *table.unique_keys) if len(key) > 1]
            frame = self._size(table if table.kind == "view" else bare)
            self._frames[number] = frame + sum(estimate_tokens(f"  PRIMARY KEY ({_listed(key)}),\n") for key in keys)
        if self.schema.tables[number].kind == "view":
            return self._frames[number]
        return self._frames[number] + sum(self.column(number, name) for name in names)

    def column(self, number: int, name: str) -> int:
        """One more column of a table."""
        table = self.schema.tables[number]
        column = next(column for column in table.columns if column.name == name)
        seen = column, table.primary_key == (name,)
        if seen not in self._columns:
            other = Column("a")  # beside which the column's own line is what it adds
            both = Table("t", (other, column), (name,) if seen[1] else ())
            self._columns[seen] = self._size(both) - self._size(Table("t", (other,)))
        return self._columns[seen]

    def key(self, key: ForeignKey) -> int:
        """A foreign key."""
        target = f'"{key.ref_schema}"."{key.ref_table}"({_listed(key.ref_columns)})'
        return estimate_tokens(f"  FOREIGN KEY ({_listed(key.columns)}) REFERENCES {target},\n")

    def _size(self, table: Table) -> int:
        return estimate_tokens(render(replace(self.schema, tables=(table,)), form=self.form)) + 1


def _listed(names: Collection[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


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
