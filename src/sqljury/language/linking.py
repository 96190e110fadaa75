"""Features of how a question mentions tables and columns: the input of a schema linker without a model.

``select.sketch`` weighs them. The more columns share a word, the weaker evidence it is for any of them.
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
"""Characters of a question that are read."""
FULL: Final = 0.8
"""Mean likeness from which a name counts as mentioned."""
TABLE: Final = (
    "start",
    "mean",  # likeness of the name's words to words of the question
    "best",
    "telling",  # the mean weighed by how few tables have the word
    "full",
    "leads",  # no table is mentioned better
    "column",  # how well its best column is mentioned
    "own_column",  # the same of columns that no other table has
    "own_columns",  # how many of these are mentioned
    "words",
    "share",  # 1 / the number of tables
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
    "rank",  # how many columns are mentioned better
    "phrase",  # the share of neighbours in the name that are neighbours in the question
    "free",  # whether it has a word that no table has
    "free_said",  # how well these are mentioned
    "of_table",  # how well its table is mentioned
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
    """Its name without that of its schema."""
    return table.name.removeprefix(f"{table.schema}.")


class Named:
    """The words of one question against the names of one schema."""

    def __init__(self, question: str, schema: Schema) -> None:
        self.words = question_words(question)
        self.neighbours = frozenset(pairwise(words(question[:CHARS])))
        self.schema = schema
        self.names = Counter(column.name.lower() for table in schema.tables for column in table.columns)
        # from the names as they are written: BirthYear is two words
        self.pieces = {column.name.lower(): pieces(column.name) for table in schema.tables for column in table.columns}
        self._table_words = Counter(piece for table in schema.tables for piece in set(pieces(bare(table))))
        self._column_words = Counter(piece for name in self.pieces.values() for piece in set(name))
        self._likeness: dict[str, float] = {}
        names = {bare(table).lower(): pieces(bare(table)) for table in schema.tables}
        self.tables = {name: self._scores(parts, self._table_words) for name, parts in names.items()}
        self.columns = {name: self._scores(parts, self._column_words) for name, parts in self.pieces.items()}

    def of(self, piece: str) -> float:
        """How well the question mentions a word of a name, 0 to 1."""
        if piece not in self._likeness:
            self._likeness[piece] = max((_likeness(word, piece) for word in self.words), default=0.0)
        return self._likeness[piece]

    def free(self, name: str) -> list[float]:
        """How well the question mentions the words of a column's name that no table has."""
        return [self.of(piece) for piece in self.pieces[name] if piece not in self._table_words]

    def _scores(self, name: Sequence[str], known: Mapping[str, int]) -> tuple[float, float, float]:
        """Mean, best and telling."""
        if not name:
            return 0.0, 0.0, 0.0
        likenesses = [self.of(piece) for piece in name]
        weights = [1 / known[piece] for piece in name]
        telling = sum(score * weight for score, weight in zip(likenesses, weights, strict=True)) / sum(weights)
        return sum(likenesses) / len(likenesses), max(likenesses), telling


_likeness: Final = lru_cache(maxsize=1 << 16)(likeness)


def _shared(scores: tuple[float, float, float]) -> tuple[float, ...]:
    """The features with which ``TABLE`` and ``COLUMN`` begin, from a name's mean, best and telling."""
    return (1.0, *scores, float(scores[0] >= FULL))


def tables(named: Named) -> dict[str, tuple[float, ...]]:
    """By table, in lower case, its features in the order of ``TABLE``."""
    most = max((telling for _, _, telling in named.tables.values()), default=0.0)
    return {bare(table).lower(): _table(named, table, most) for table in named.schema.tables}


def _table(named: Named, table: Table, most: float) -> tuple[float, ...]:
    scores = named.tables[bare(table).lower()]
    columns = {column.name.lower(): named.columns[column.name.lower()][2] for column in table.columns}
    unique = [score for name, score in columns.items() if named.names[name] == 1]
    return (
        *_shared(scores),
        float(scores[2] == most),
        max(columns.values(), default=0.0),
        max(unique, default=0.0),
        float(min(sum(score >= FULL for score in unique), 3)),
        float(len(pieces(bare(table)))),
        1 / len(named.schema.tables),
        float(sum(key.score for key in table.foreign_keys)),  # their number, where all are declared
    )


def columns(named: Named) -> dict[str, tuple[float, ...]]:
    """By name of a column, in lower case, its features in the order of ``COLUMN``; columns of one name share them."""
    ranked = sorted((telling for _, _, telling in named.columns.values()), reverse=True)
    holders: dict[str, float] = {}
    for table in named.schema.tables:
        for column in table.columns:
            name = column.name.lower()
            holders[name] = max(holders.get(name, 0.0), named.tables[bare(table).lower()][2])
    keys = frozenset(name.lower() for table in named.schema.tables for name in table.row_key)
    refers = frozenset(n.lower() for table in named.schema.tables for key in table.foreign_keys for n in key.columns)
    return {name: _column(named, name, ranked, holders[name], name in refers, name in keys) for name in named.columns}


def _column(
    named: Named, name: str, ranked: Sequence[float], of_table: float, refers: bool, key: bool
) -> tuple[float, ...]:
    scores = named.columns[name]
    mean, _, telling = scores
    name_words, free = named.pieces[name], named.free(name)
    better = next((rank for rank, score in enumerate(ranked) if score <= telling), len(ranked))
    neighbours = list(pairwise(name_words))
    called_id, called_name = name.endswith("id") or name_words[-1:] == ("identifier",), name.endswith("name")
    return (
        *_shared(scores),
        float(mean >= 0.99),
        float(better == 0),
        float(min(better, 5)),
        sum(pair in named.neighbours for pair in neighbours) / len(neighbours) if neighbours else 0.0,
        float(bool(free)),
        sum(free) / len(free) if free else 0.0,
        of_table,
        telling * of_table,
        float(len(name_words)),
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
