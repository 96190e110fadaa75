"""How a question names tables and columns, in figures: what a schema linker without a model looks at.

``select.sketch`` weighs the figures. The more columns share a word, the less it says for any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from sqljury.language.alike import likeness, pieces, question_words
from sqljury.language.words import words
from sqljury.types import Schema, Table

CHARS: Final = 1_500
"""Of a question at most."""
FULL: Final = 0.8
"""From here on a name counts as said."""
TABLE: Final = (
    "start",
    "mean",  # likeness of the name's words to words of the question
    "best",
    "telling",  # the mean weighed by how few tables have the word
    "full",
    "leads",  # no table is said better
    "column",  # how well its best column is said
    "own_column",  # the same of columns that no other table has
    "own_columns",  # how many of these are said
    "words",
    "share",  # one by the number of tables
    "keys",  # foreign keys that it holds
)
COLUMN: Final = (
    "start",
    "mean",
    "best",
    "telling",
    "full",
    "exact",
    "leads",
    "rank",  # how many columns are said better
    "phrase",  # the share of neighbours in the name that are neighbours in the question
    "free",  # whether it has a word that no table has
    "free_said",  # how well these are said
    "of_table",  # how well its table is said
    "both",  # telling and of_table together
    "words",
    "refers",  # in a foreign key
    "key",
    "id",
    "id_said",
    "name",  # called a name
    "name_of_table",
    "name_said",
    "shared",  # in several tables
    "share",
)


def bare(table: Table) -> str:
    """Its name as queries write it behind a schema's."""
    return table.name.removeprefix(f"{table.schema}.")


class Named:
    """The words of one question against the names of one schema."""

    def __init__(self, question: str, schema: Schema) -> None:
        said = words(question[:CHARS])
        self.words = question_words(question)
        self.neighbours = frozenset(pairwise(said))
        self.schema = schema
        self.names = Counter(column.name.lower() for table in schema.tables for column in table.columns)
        # before their case is gone: BirthYear is two words
        self.pieces = {column.name.lower(): pieces(column.name) for table in schema.tables for column in table.columns}
        self._table_words = Counter(piece for table in schema.tables for piece in set(pieces(bare(table))))
        self._column_words = Counter(piece for own in self.pieces.values() for piece in set(own))
        self._likeness: dict[str, float] = {}
        self.tables = {bare(one).lower(): self._told(pieces(bare(one)), self._table_words) for one in schema.tables}
        self.columns = {name: self._told(own, self._column_words) for name, own in self.pieces.items()}

    def of(self, piece: str) -> float:
        """How well the question says a word of a name."""
        if piece not in self._likeness:
            self._likeness[piece] = max((_likeness(word, piece) for word in self.words), default=0.0)
        return self._likeness[piece]

    def free(self, name: str) -> list[float]:
        """How well the words of a column's name that no table has are said."""
        return [self.of(piece) for piece in self.pieces[name] if piece not in self._table_words]

    def _told(self, own: Sequence[str], known: Mapping[str, int]) -> tuple[float, float, float]:
        """Mean, best and telling."""
        if not own:
            return 0.0, 0.0, 0.0
        said = [self.of(piece) for piece in own]
        weights = [1 / known[piece] for piece in own]
        telling = sum(one * weight for one, weight in zip(said, weights, strict=True)) / sum(weights)
        return sum(said) / len(said), max(said), telling


@lru_cache(maxsize=1 << 16)
def _likeness(word: str, piece: str) -> float:
    return likeness(word, piece)


def _said(told: tuple[float, float, float]) -> tuple[float, ...]:
    """What ``TABLE`` and ``COLUMN`` begin with, of a name's mean, best and telling."""
    return (1.0, *told, float(told[0] >= FULL))


def tables(named: Named) -> dict[str, tuple[float, ...]]:
    """By table, in lower case, figures in the order of ``TABLE``."""
    most = max((telling for _, _, telling in named.tables.values()), default=0.0)
    return {bare(table).lower(): _table(named, place, most) for place, table in enumerate(named.schema.tables)}


def _table(named: Named, place: int, most: float) -> tuple[float, ...]:
    table = named.schema.tables[place]
    told = named.tables[bare(table).lower()]
    said = {column.name.lower(): named.columns[column.name.lower()][2] for column in table.columns}
    own = [score for name, score in said.items() if named.names[name] == 1]
    return (
        *_said(told),
        float(told[2] == most),
        max(said.values(), default=0.0),
        max(own, default=0.0),
        float(min(sum(score >= FULL for score in own), 3)),
        float(len(pieces(bare(table)))),
        1 / len(named.schema.tables),
        float(len(table.foreign_keys)),
    )


def columns(named: Named) -> dict[str, tuple[float, ...]]:
    """By name of a column, in lower case, figures in the order of ``COLUMN``; of several of that name together."""
    ranked = sorted((telling for _, _, telling in named.columns.values()), reverse=True)
    holders: dict[str, float] = {}
    for table in named.schema.tables:
        for column in table.columns:
            name = column.name.lower()
            holders[name] = max(holders.get(name, 0.0), named.tables[bare(table).lower()][2])
    keys = frozenset(name.lower() for table in named.schema.tables for name in table.primary_key)
    refers = frozenset(n.lower() for table in named.schema.tables for key in table.foreign_keys for n in key.columns)
    return {name: _column(named, name, ranked, holders[name], name in refers, name in keys) for name in named.columns}


def _column(
    named: Named, name: str, ranked: Sequence[float], of_table: float, refers: bool, key: bool
) -> tuple[float, ...]:
    told = named.columns[name]
    mean, _, telling = told
    own, free = named.pieces[name], named.free(name)
    better = next((place for place, one in enumerate(ranked) if one <= telling), len(ranked))
    neighbours = list(pairwise(own))
    called_id, called_name = name.endswith("id") or own[-1:] == ("identifier",), name.endswith("name")
    return (
        *_said(told),
        float(mean >= 0.99),
        float(better == 0),
        float(min(better, 5)),
        sum(pair in named.neighbours for pair in neighbours) / len(neighbours) if neighbours else 0.0,
        float(bool(free)),
        sum(free) / len(free) if free else 0.0,
        of_table,
        telling * of_table,
        float(len(own)),
        float(refers),
        float(key),
        float(called_id),
        called_id * telling,
        float(called_name),
        called_name * of_table,
        called_name * telling,
        float(named.names[name] > 1),
        1 / len(named.names),
    )
