"""An index of a schema's names, and how much each table and column has to do with a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple, get_args

from sqljury.language.alike import joined_words, likeness, pieces, question_words
from sqljury.schema.joins import Joins
from sqljury.schema.meaning import Meanings
from sqljury.schema.render import Form
from sqljury.schema.sizes import Sizes
from sqljury.types import Schema

TABLE: Final = 1.0
COLUMN: Final = 0.6
COMMENT: Final = 0.5
"""What a word is worth in the name of a table, in that of a column, and in a comment."""

MEANING: Final = 0.9
"""What the cosine of two words is worth beside the same word."""

_WHOLE: Final = 0.8  # the share of a name's worth that hangs on how much of the name was asked for
_NEIGHBOUR: Final = 0.5  # what a table gets of the score of its best neighbour, twice over
_TOPIC: Final = 8.0  # what the cosine of a question and a table as wholes is worth beside the rarity of words
_HEAD: Final = 5.0  # what a word of a table's name is worth beside one of a column's for the whole
_HIT: Final = 1.5


class Hit(NamedTuple):
    """A column that holds a value the question names; ``score`` is in (0, 1]."""

    table: str
    column: str
    score: float = 1.0


class Scores(NamedTuple):
    """Scores by position in the schema: of each table, and of each table's columns."""

    tables: list[float]
    columns: list[list[float]]


@dataclass(frozen=True, slots=True)
class _Names:
    """Names as documents: each distinct one once, with the tables that have it."""

    documents: tuple[tuple[str, ...], ...]
    owners: tuple[tuple[int, ...], ...]
    postings: Mapping[str, tuple[int, ...]]
    rarity: Mapping[str, float]

    @classmethod
    def of(cls, named: Iterable[tuple[tuple[str, ...], int]], tables: int) -> _Names:
        owners: dict[tuple[str, ...], dict[int, None]] = defaultdict(dict)
        for document, table in named:
            owners[document][table] = None
        postings: dict[str, list[int]] = defaultdict(list)
        holders: dict[str, set[int]] = defaultdict(set)
        for number, (document, found) in enumerate(owners.items()):
            for piece in dict.fromkeys(document):
                postings[piece].append(number)
                holders[piece].update(found)
        rarity = {piece: _rarity(len(found), tables) for piece, found in holders.items()}
        return cls(
            tuple(owners),
            tuple(tuple(found) for found in owners.values()),
            {piece: tuple(found) for piece, found in postings.items()},
            rarity,
        )

    def score(self, matches: Sequence[Mapping[str, float]], tables: int) -> tuple[list[float], list[list[float]]]:
        """The score of each document, and for each match (one of a question's words) the best score by table."""
        best: dict[str, float] = {}
        for match in matches:
            for piece, weight in match.items():
                if weight > best.get(piece, 0.0):
                    best[piece] = weight
        whole = [self._coverage(document, best) for document in self.documents]
        documents = [0.0] * len(self.documents)
        by_word = []
        for match in matches:
            found: dict[int, float] = {}
            for piece, weight in match.items():
                for number in self.postings.get(piece, ()):
                    if weight > found.get(number, 0.0):
                        found[number] = weight
            reached = [0.0] * tables
            for number, weight in found.items():
                for table in self.owners[number]:
                    reached[table] = max(reached[table], weight)
            rarity = _rarity(sum(reached), tables)
            reached = [0.0] * tables
            for number, weight in found.items():
                worth = rarity * weight * (1 - _WHOLE + _WHOLE * whole[number])
                documents[number] += worth
                for table in self.owners[number]:
                    if worth > reached[table]:
                        reached[table] = worth
            by_word.append(reached)
        return documents, by_word

    def _coverage(self, document: tuple[str, ...], best: Mapping[str, float]) -> float:
        """How much of a name was asked for, its rare words counting most."""
        total = sum(self.rarity[piece] for piece in document)
        return sum(self.rarity[piece] * best.get(piece, 0.0) for piece in document) / total if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """What of a schema is the same for every question; made once by ``of``, read by any number of threads."""

    schema: Schema
    joins: Joins
    tables: _Names
    columns: _Names
    comments: _Names
    places: tuple[tuple[int, ...], ...]
    own: tuple[int, ...]
    vocabulary: Mapping[str, tuple[str, ...]]
    endings: Mapping[str, tuple[str, ...]]
    meanings: Meanings | None
    sizes: Mapping[Form, Sizes]

    @classmethod
    def of(cls, schema: Schema, *, meanings: bool = True) -> Index:
        """The index of a schema; with ``meanings`` by word embeddings too, where `wordllama` is installed."""
        count = len(schema.tables)
        heads = [pieces(table.name) for table in schema.tables]
        named = [[pieces(column.name) for column in table.columns] for table in schema.tables]
        tables = _Names.of(((head, index) for index, head in enumerate(heads)), count)
        columns = _Names.of(((name, index) for index, names in enumerate(named) for name in names), count)
        comments = _Names.of(_comments(schema), count)
        words = sorted({*tables.postings, *columns.postings, *comments.postings})
        column_number = {document: number for number, document in enumerate(columns.documents)}
        table_number = {document: number for number, document in enumerate(tables.documents)}
        return cls(
            schema,
            Joins.of(schema),
            tables,
            columns,
            comments,
            tuple(tuple(column_number[name] for name in names) for names in named),
            tuple(table_number[head] for head in heads),
            _grouped((word[0], word) for word in words),
            _grouped((word[-3:], word) for word in words if len(word) > 3),
            Meanings.of(words, _weighted(heads, named, tables, columns)) if meanings else None,
            {form: Sizes(schema, form) for form in get_args(Form)},
        )

    def scores(self, text: str, hits: Iterable[Hit] = ()) -> Scores:
        """How much each table and column has to do with ``text``; 0 is nothing."""
        count = len(self.schema.tables)
        matches = self._matches(text)
        _, heads = self.tables.score(matches, count)
        documents, bodies = self.columns.score(matches, count)
        _, notes = self.comments.score(matches, count)
        tables = [0.0] * count
        for head, body, note in zip(heads, bodies, notes, strict=True):
            for index in range(count):
                if head[index] or body[index] or note[index]:
                    tables[index] += _either(TABLE * head[index], COLUMN * body[index], COMMENT * note[index])
        if self.meanings is not None:
            topics = self.meanings.topics(question_words(text))
            tables = [score + _TOPIC * topic for score, topic in zip(tables, topics, strict=True)]
        columns = [[documents[number] for number in numbers] for numbers in self.places]
        self._add_hits(hits, tables, columns)
        return Scores(self._spread(tables), columns)

    def _add_hits(self, hits: Iterable[Hit], tables: list[float], columns: list[list[float]]) -> None:
        place = {table.name: index for index, table in enumerate(self.schema.tables)}
        worth = _HIT * _rarity(1, len(tables))
        for name, column_name, score in hits:
            if (index := place.get(name)) is None:
                continue
            for number, column in enumerate(self.schema.tables[index].columns):
                if column.name == column_name:
                    tables[index] += worth * score
                    columns[index][number] += worth * score

    def _spread(self, tables: list[float]) -> list[float]:
        """A table beside those that were asked for is likelier than a namesake that is not."""
        scores = tables
        for _ in range(2):
            best = [max((scores[other] for other in near), default=0.0) for near in self.joins.near]
            scores = [own + _NEIGHBOUR * other for own, other in zip(tables, best, strict=True)]
        return scores

    def _matches(self, text: str) -> list[dict[str, float]]:
        """For each word of the question the words of names that may stand for it, with how surely."""
        words = question_words(text)
        found = [self._alike(word) for word in words]
        if self.meanings is not None:
            for match, near in zip(found, self.meanings.near(words), strict=True):
                for piece, cosine in near.items():
                    match[piece] = max(match.get(piece, 0.0), MEANING * cosine)
        joined = dict.fromkeys(joined_words(text))
        whole = ({word: 1.0} for word in joined if len(word) > 2 and word in self.vocabulary.get(word[0], ()))
        return [match for match in (*found, *whole) if match]

    def _alike(self, word: str) -> dict[str, float]:
        candidates = {*self.vocabulary.get(word[0], ()), *self.endings.get(word[-3:], ())}
        weights = ((piece, likeness(word, piece)) for piece in sorted(candidates))
        return {piece: weight for piece, weight in weights if weight}


def _comments(schema: Schema) -> Iterable[tuple[tuple[str, ...], int]]:
    for index, table in enumerate(schema.tables):
        for comment in (table.comment, *(column.comment for column in table.columns)):
            if comment and (words := tuple(question_words(comment))):
                yield words, index


def _weighted(
    heads: list[tuple[str, ...]], named: list[list[tuple[str, ...]]], tables: _Names, columns: _Names
) -> list[dict[str, float]]:
    """For each table the words of its names with their weights: rare ones more, its own name's most."""
    found = []
    for head, names in zip(heads, named, strict=True):
        weights: dict[str, float] = defaultdict(float)
        for name in names:
            for piece in name:
                weights[piece] += columns.rarity[piece]
        for piece in head:
            weights[piece] += _HEAD * tables.rarity[piece]
        found.append(dict(weights))
    return found


def _either(*worths: float) -> float:
    """The best of several, and a little for the others."""
    best = max(worths)
    return best + 0.2 * (sum(worths) - best)


def _rarity(holders: float, tables: int) -> float:
    """BM25's weight of a word that ``holders`` of the ``tables`` have; never 0."""
    return log(1 + (tables - min(holders, tables) + 0.5) / (holders + 0.5))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, word in pairs:
        groups[key].append(word)
    return {key: tuple(words) for key, words in groups.items()}
