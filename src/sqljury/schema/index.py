"""An index of a schema's names that scores how relevant each table and column is to a question.

Words of the question match words of names by letters, as BM25 weighs them, and by meaning where the word embeddings
of `wordllama` are installed.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any, Final, NamedTuple, get_args

from sqljury.language import embed
from sqljury.language.alike import joined_words, likeness, pieces, question_words
from sqljury.language.words import singular
from sqljury.schema.joins import Joins
from sqljury.schema.sizes import Sizes
from sqljury.types import Schema
from sqljury.types.schema import Form

TABLE: Final = 1.0
COLUMN: Final = 0.6
COMMENT: Final = 0.5
"""Weights of a word in the name of a table, in the name of a column, and in a comment."""

MEANING: Final = 0.9
"""Weight of the cosine of two words, relative to an equal word."""

_WHOLE: Final = 0.8  # share of a name's score that depends on how much of the name the question mentions
_NEIGHBOUR: Final = 0.5  # share of the best neighbour's score that a table receives, in two rounds
_TOPIC: Final = 8.0  # weight of the cosine of a whole question and a whole table
_HEAD: Final = 5.0  # weight of a word of a table's name, relative to one of a column's name, in the table's vector
_HIT: Final = 1.5  # weight of a value that the question names
_NEAR: Final = 0.25  # the least cosine of related words
_RELATED: Final = 24  # words of the schema that one word of the question may be related to
_EXPANSIONS: Final = 12  # words that an abbreviation may stand for
_KNOWN: Final = 8_000  # the more frequent half of the tokenizer's words; rarer ones are seldom English


class Hit(NamedTuple):
    """A column that holds a value named in the question; ``score`` is in (0, 1]."""

    table: str
    column: str
    score: float = 1.0


class Scores(NamedTuple):
    """Scores of the tables, and of each table's columns, by position in the schema."""

    tables: list[float]
    columns: list[list[float]]


@dataclass(frozen=True, slots=True)
class _Names:
    """Distinct names as documents, each with the tables that have it."""

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
        for number, (document, having) in enumerate(owners.items()):
            for piece in dict.fromkeys(document):
                postings[piece].append(number)
                holders[piece].update(having)
        rarity = {piece: _rarity(len(having), tables) for piece, having in holders.items()}
        return cls(
            tuple(owners),
            tuple(tuple(having) for having in owners.values()),
            {piece: tuple(numbers) for piece, numbers in postings.items()},
            rarity,
        )

    def score(self, matches: Sequence[Mapping[str, float]], tables: int) -> tuple[list[float], list[list[float]]]:
        """The score of each document, and for each match (a word of the question) the best score by table."""
        best: dict[str, float] = {}
        for match in matches:
            for piece, weight in match.items():
                if weight > best.get(piece, 0.0):
                    best[piece] = weight
        whole = [self._coverage(document, best) for document in self.documents]
        documents = [0.0] * len(self.documents)
        by_word = []
        for match in matches:
            weights: dict[int, float] = {}
            for piece, weight in match.items():
                for number in self.postings.get(piece, ()):
                    if weight > weights.get(number, 0.0):
                        weights[number] = weight
            reached = [0.0] * tables
            for number, weight in weights.items():
                for table in self.owners[number]:
                    reached[table] = max(reached[table], weight)
            rarity = _rarity(sum(reached), tables)
            reached = [0.0] * tables
            for number, weight in weights.items():
                worth = rarity * weight * (1 - _WHOLE + _WHOLE * whole[number])
                documents[number] += worth
                for table in self.owners[number]:
                    if worth > reached[table]:
                        reached[table] = worth
            by_word.append(reached)
        return documents, by_word

    def _coverage(self, document: tuple[str, ...], best: Mapping[str, float]) -> float:
        """The share of a name that the question mentions, weighted by rarity."""
        total = sum(self.rarity[piece] for piece in document)
        return sum(self.rarity[piece] * best.get(piece, 0.0) for piece in document) / total if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """The words of a schema as vectors: row ``i`` is a reading of ``words[i]`` with probability ``weights[i]``.

    ``tables`` holds a vector for each table.
    """

    words: tuple[str, ...]
    weights: Any
    vectors: Any
    tables: Any

    @classmethod
    def of(cls, words: Sequence[str], tables: Sequence[Mapping[str, float]]) -> Meanings | None:
        """Vectors of ``words``, abbreviations expanded, and of ``tables`` as weighted words; None without wordllama."""
        if not words or not embed.available():
            return None
        import numpy

        common = _common_words()
        known = set(common) | {word for word in words if len(word) > 5}
        letters: dict[str, list[str]] = defaultdict(list)
        for word in common:
            letters[word[0]].append(word)
        readings = [(word, *reading) for word in words for reading in _readings(word, known, letters)]
        if not readings:
            return None
        vectors = embed.vectors([reading for _, reading, _ in readings])
        weights = numpy.array([weight for *_, weight in readings], dtype=numpy.float32)
        owners = tuple(word for word, *_ in readings)
        return cls(owners, weights, vectors, _sums(tables, owners, weights, vectors))

    def near(self, words: Sequence[str]) -> list[dict[str, float]]:
        """For each of ``words`` the related words of the schema with their cosines."""
        import numpy

        if not words:
            return []
        related: list[dict[str, float]] = []
        scores = (self.vectors @ embed.vectors(words).T) * self.weights[:, None]
        for column in scores.T:
            best: dict[str, float] = {}
            for row in numpy.flatnonzero(column >= _NEAR):
                word = self.words[row]
                best[word] = max(best.get(word, 0.0), min(float(column[row]), 1.0))
            related.append(dict(heapq.nlargest(_RELATED, best.items(), key=lambda pair: (pair[1], pair[0]))))
        return related

    def topics(self, words: Sequence[str]) -> list[float]:
        """For each table the cosine of its vector and that of all words together, at least 0."""
        if not words:
            return [0.0] * len(self.tables)
        question = embed.vectors([" ".join(words)])[0]
        return [max(float(cosine), 0.0) for cosine in self.tables @ question]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The index of a schema, which does not depend on the question; any number of threads may read it."""

    schema: Schema
    joins: Joins
    tables: _Names
    columns: _Names
    comments: _Names
    column_documents: tuple[tuple[int, ...], ...]
    vocabulary: Mapping[str, tuple[str, ...]]
    endings: Mapping[str, tuple[str, ...]]
    meanings: Meanings | None
    sizes: Mapping[Form, Sizes]

    @classmethod
    def of(cls, schema: Schema, *, meanings: bool = True) -> Index:
        """The index of a schema; ``meanings`` adds word embeddings if `wordllama` is installed."""
        count = len(schema.tables)
        heads = [pieces(table.name) for table in schema.tables]
        named = [[pieces(column.name) for column in table.columns] for table in schema.tables]
        tables = _Names.of(((head, index) for index, head in enumerate(heads)), count)
        columns = _Names.of(((name, index) for index, names in enumerate(named) for name in names), count)
        comments = _Names.of(_comments(schema), count)
        words = sorted({*tables.postings, *columns.postings, *comments.postings})
        column_number = {document: number for number, document in enumerate(columns.documents)}
        return cls(
            schema,
            Joins.of(schema),
            tables,
            columns,
            comments,
            tuple(tuple(column_number[name] for name in names) for names in named),
            _grouped((word[0], word) for word in words),
            _grouped((word[-3:], word) for word in words if len(word) > 3),
            Meanings.of(words, _weighted(heads, named, tables, columns)) if meanings else None,
            {form: Sizes(schema, form) for form in get_args(Form)},
        )

    def scores(self, text: str, hits: Iterable[Hit] = ()) -> Scores:
        """The relevance of each table and column to ``text``; 0 is none."""
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
        columns = [[documents[number] for number in numbers] for numbers in self.column_documents]
        self._add_hits(hits, tables, columns)
        return Scores(self._spread(tables), columns)

    def _add_hits(self, hits: Iterable[Hit], tables: list[float], columns: list[list[float]]) -> None:
        positions = {table.name: index for index, table in enumerate(self.schema.tables)}
        worth = _HIT * _rarity(1, len(tables))
        for name, column_name, score in hits:
            if (index := positions.get(name)) is None:
                continue
            for number, column in enumerate(self.schema.tables[index].columns):
                if column.name == column_name:
                    tables[index] += worth * score
                    columns[index][number] += worth * score

    def _spread(self, tables: list[float]) -> list[float]:
        """The scores with a share of those of joined tables: of tables named alike, a joined one is likelier meant."""
        scores = tables
        for _ in range(2):
            best = [max((scores[neighbour] for neighbour in near), default=0.0) for near in self.joins.near]
            scores = [score + _NEIGHBOUR * best_joined for score, best_joined in zip(tables, best, strict=True)]
        return scores

    def _matches(self, text: str) -> list[dict[str, float]]:
        """For each word of the question the words of names that may mean it, with weights in (0, 1]."""
        words = question_words(text)
        matches = [self._alike(word) for word in words]
        if self.meanings is not None:
            for match, near in zip(matches, self.meanings.near(words), strict=True):
                for piece, cosine in near.items():
                    match[piece] = max(match.get(piece, 0.0), MEANING * cosine)
        joined = dict.fromkeys(joined_words(text))
        whole = ({word: 1.0} for word in joined if len(word) > 2 and word in self.vocabulary.get(word[0], ()))
        return [match for match in (*matches, *whole) if match]

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
    """For each table the words of its names, weighted by rarity and by whether they are in the table's name."""
    weighted = []
    for head, names in zip(heads, named, strict=True):
        weights: dict[str, float] = defaultdict(float)
        for name in names:
            for piece in name:
                weights[piece] += columns.rarity[piece]
        for piece in head:
            weights[piece] += _HEAD * tables.rarity[piece]
        weighted.append(dict(weights))
    return weighted


def _either(*worths: float) -> float:
    """The best, and a fifth of the others."""
    best = max(worths)
    return best + 0.2 * (sum(worths) - best)


def _rarity(holders: float, tables: int) -> float:
    """BM25's weight of a word in the names of ``holders`` of the ``tables``; never 0."""
    return log(1 + (tables - min(holders, tables) + 0.5) / (holders + 0.5))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, word in pairs:
        groups[key].append(word)
    return {key: tuple(words) for key, words in groups.items()}


def _sums(tables: Sequence[Mapping[str, float]], owners: Sequence[str], weights: Any, vectors: Any) -> Any:
    """The weighted sums of the words' likeliest readings, normalized; 0 for a table without a word."""
    import numpy

    rows: dict[str, int] = {}
    for row, word in enumerate(owners):
        if word not in rows or weights[row] > weights[rows[word]]:
            rows[word] = row
    sums = numpy.zeros((len(tables), vectors.shape[1]), dtype=numpy.float32)
    for number, table in enumerate(tables):
        for word, weight in table.items():
            if word in rows:
                sums[number] += weight * vectors[rows[word]]
    lengths = numpy.linalg.norm(sums, axis=1, keepdims=True)
    return sums / numpy.where(lengths > 0, lengths, 1)


def _readings(word: str, known: set[str], letters: dict[str, list[str]]) -> list[tuple[str, float]]:
    """What a word of a name may mean, with a weight: itself, or what it abbreviates."""
    if word in known or word[0].isdigit() or not word.isascii():
        return [(word, 1.0)] if word.isalpha() else []
    if len(word) < 3:
        return []
    expansions = [
        (expansion, likeness(expansion, word)) for expansion in letters[word[0]] if len(expansion) > len(word)
    ]
    expansions = sorted((pair for pair in expansions if pair[1] >= 0.5), key=lambda pair: -pair[1])[:_EXPANSIONS]
    return [*expansions, (word, 0.8)]


@cache
def _common_words() -> tuple[str, ...]:
    """The most frequent whole words of the embedding model, singular."""
    words = (
        word for word in embed.whole_words() if len(word) > 3 and word.isascii() and word.isalpha() and word.islower()
    )
    return tuple(dict.fromkeys(singular(word) for word in words))[:_KNOWN]
