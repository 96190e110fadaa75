"""Words of like meaning, by the small word embeddings of `wordllama`, where that library is installed."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqljury.language import embed
from sqljury.language.alike import likeness
from sqljury.language.words import singular

NEAR: Final = 0.25
"""The cosine from which on two words are held to be related."""

_RELATED: Final = 24  # words of the schema that are looked up for one of the question's
_EXPANSIONS: Final = 12  # words that an abbreviation may stand for
_KNOWN: Final = 8_000  # the commoner half of the tokenizer's words; rarer ones are seldom English


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """The words of a schema as vectors: row ``i`` is one reading of ``words[i]``, sure by ``weights[i]``.

    ``tables`` holds a vector for each table.
    """

    words: tuple[str, ...]
    weights: Any
    vectors: Any
    tables: Any

    @classmethod
    def of(cls, words: Sequence[str], tables: Sequence[Mapping[str, float]]) -> Meanings | None:
        """The vectors of words and of tables, given as weighted words; None without the library.

        Abbreviations are read as the words they may stand for.
        """
        if not words or not embed.available():
            return None
        import numpy

        common = _common_words()
        known = set(common) | {word for word in words if len(word) > 5}
        letters: dict[str, list[str]] = defaultdict(list)
        for word in common:
            letters[word[0]].append(word)
        read = [(word, *reading) for word in words for reading in _readings(word, known, letters)]
        if not read:
            return None
        vectors = embed.vectors([reading for _, reading, _ in read])
        weights = numpy.array([weight for *_, weight in read], dtype=numpy.float32)
        owners = tuple(word for word, *_ in read)
        return cls(owners, weights, vectors, _sums(tables, owners, weights, vectors))

    def near(self, words: Sequence[str]) -> list[dict[str, float]]:
        """For each of ``words`` the words of the schema that mean something like it, with their cosines."""
        import numpy

        if not words:
            return []
        found: list[dict[str, float]] = []
        scores = (self.vectors @ embed.vectors(words).T) * self.weights[:, None]
        for column in scores.T:
            best: dict[str, float] = {}
            for row in numpy.flatnonzero(column >= NEAR):
                word = self.words[row]
                best[word] = max(best.get(word, 0.0), min(float(column[row]), 1.0))
            found.append(dict(heapq.nlargest(_RELATED, best.items(), key=lambda pair: (pair[1], pair[0]))))
        return found

    def topics(self, words: Sequence[str]) -> list[float]:
        """For each table the cosine of it and the words as wholes, 0 where they have nothing in common."""
        if not words:
            return [0.0] * len(self.tables)
        question = embed.vectors([" ".join(words)])[0]
        return [max(float(cosine), 0.0) for cosine in self.tables @ question]


def _sums(tables: Sequence[Mapping[str, float]], owners: Sequence[str], weights: Any, vectors: Any) -> Any:
    """The weighted sums of the words' surest readings, of length 1; 0 for a table without a word."""
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
    """What a word of a name may mean, with how sure that is: itself, or what it abbreviates."""
    if word in known or word[0].isdigit() or not word.isascii():
        return [(word, 1.0)] if word.isalpha() else []
    if len(word) < 3:
        return []
    found = [(other, likeness(other, word)) for other in letters[word[0]] if len(other) > len(word)]
    found = sorted((pair for pair in found if pair[1] >= 0.5), key=lambda pair: -pair[1])[:_EXPANSIONS]
    return [*found, (word, 0.8)]


def _common_words() -> list[str]:
    """Whole words that the model knows, the commoner first, singular."""
    known = embed.whole_words()
    words = (word for word in known if len(word) > 3 and word.isascii() and word.isalpha() and word.islower())
    return list(dict.fromkeys(singular(word) for word in words))[:_KNOWN]
