"""Searches a value index by spelling, abbreviation, known codes and meaning, and ranks values by the best of these."""

from __future__ import annotations

import heapq
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal

from sqljury.language import embed
from sqljury.values import grams, spelling
from sqljury.values.spelling import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sqljury.values.store import Stored


def other_names(text: str) -> tuple[str, ...]:
    """The folded other names and codes of the country, state, language, currency, month or unit that ``text`` names.

    A code of two letters counts only in capitals: ``in`` and ``no`` are seldom Indiana and Norwegian.
    """
    folded = fold(text)
    if len(folded) < 3 and not text.isupper():
        return ()
    return tuple(name for name in _table().get(folded, ()) if name != folded)


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """For each folded name all names of what it may stand for."""
    text = resources.files(__package__).joinpath("codes.tsv").read_text(encoding="utf-8")
    table: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            names = [fold(name) for name in line.split("\t")[1:]]
            for name in names:
                table.setdefault(name, {}).update(dict.fromkeys(names))
    return {name: tuple(names) for name, names in table.items()}


How = Literal["exact", "same letters", "spelling", "words", "initials", "abbreviation", "code", "meaning"]

QUERY_CHARS: Final = 200
"""Search texts are cut to this length; indexed values are shorter."""

_POOL, _WORDS_POOL = 1000, 300
_LISTED: Final = 250_000
"""Entries of the features' lists read for one search, the rarest features first: about 5 ms."""
_NEAREST: Final = 60
_KEPT: Final = 60
"""Candidates of one kind that are ranked against those of others."""
_VARIANTS: Final = 50
"""Values returned that differ only in case, accents or punctuation."""
_CERTAIN: Final = 0.98
_SAME, _JOINED = 0.99, 0.95
"""The same letters; the same but for blanks, as in "no show" and NOSHOW."""
_INITIALS, _TWO_INITIALS, _FIRST_LETTER, _CODE, _SHORT_CODE = 0.85, 0.65, 0.55, 0.9, 0.75
_KNOWN_WORD: Final = 0.6
"""Factor for a near spelling of a known word, which is hardly a misspelling."""
_MEANING_FROM, _MEANING_SLOPE, _MEANING_MOST = 0.15, 1.25, 0.9
"""The score by meaning rises with this slope from the first cosine on, up to the last score."""
_PIECES: Final = 0.6
_LEAST: Final = 0.2
"""The least score of a match."""
_SECOND: Final = 0.35
"""The share of the distance to certainty that a second reason adds, times its score."""
_REPEATED: Final = 0.9
"""Factor for each further value with the same reason when the best are chosen: one kind of reason may be wrong."""


@dataclass(frozen=True, slots=True)
class Match:
    """A value with its table and column, a score in (0, 1] (1.0 for the text itself) and the reason for the match."""

    value: str
    table: str
    column: str
    score: float
    how: How


Scored = dict[int, tuple[float, How]]
"""For each key a score and its reason."""

Reasons = dict[int, dict[How, float]]
"""For each key the score by each reason."""


class Searcher:
    """Searches one index; may be used by several threads at once."""

    def __init__(self, stored: Stored) -> None:
        self._header, arrays = stored.header, stored.arrays
        self._keys, self._key_at = memoryview(arrays["keys"].data), arrays["key_at"]
        self._texts, self._text_at = memoryview(arrays["texts"].data), arrays["text_at"]
        self._first, self._column = arrays["first"], arrays["column"]
        self._starts, self._lists = arrays["starts"], arrays["lists"]
        self._vectors, self._vector_keys = arrays["vectors"], arrays["vector_keys"]
        self._bits = (len(self._starts) - 1).bit_length() - 1
        self._count = len(self._key_at) - 1
        self._notions: dict[tuple[str, int], list[tuple[str, int]]] | None = None
        self._lock = threading.Lock()

    def search(self, texts: Sequence[str], limit: int) -> list[list[Match]]:
        """For each text the ``limit`` best values, each with every column that has it, spelled as there."""
        return [list(self._matches(text[:QUERY_CHARS], limit)) for text in texts]

    def _matches(self, text: str, limit: int) -> Iterator[Match]:
        folded = fold(text)
        if not folded or not self._count:
            return
        reasons: Reasons = {}
        for scored in (
            self._by_spelling(text, folded),
            self._by_code(text, folded),
            self._by_abbreviation(text, folded),
            self._by_meaning(text),
        ):
            for key, (score, how) in scored.items():
                scores = reasons.setdefault(key, {})
                scores[how] = max(score, scores.get(how, 0.0))
        for key, score, how in _chosen(reasons, limit):
            for value, table, column in self._values(key, text):
                if value == text:
                    yield Match(value, table, column, 1.0, "exact")
                else:
                    yield Match(value, table, column, round(score, 4), how)

    def _by_spelling(self, text: str, folded: str) -> Scored:
        """Keys with similar letters, words or initials, among those that share the most features."""
        import numpy as np

        near = self._sharing(folded, _POOL)
        if not len(near):
            return {}
        keys = self._names(near)
        known = len(self._vector_keys) > 0 and spelling.knows(text)
        trust = _KNOWN_WORD if known else 1.0
        scores = spelling.whole(folded, keys)
        scored: Scored = {}
        for at in np.argsort(-scores, kind="stable")[:_KEPT].tolist():
            scored[int(near[at])] = (float(scores[at]) * trust, "spelling")
        letters = folded.replace(" ", "")
        for key, name in zip(near.tolist(), keys, strict=True):
            if name.replace(" ", "") == letters:
                scored[key] = (_SAME if name == folded else _JOINED, "same letters")
        near, keys = near[:_WORDS_POOL], keys[:_WORDS_POOL]
        if " " not in folded and not any(" " in key for key in keys):
            return scored
        scores = spelling.by_words(folded, keys, 1.0 if known else spelling.SAME_WORD)
        for at in np.argsort(-scores, kind="stable")[:_KEPT].tolist():
            if scores[at] > scored.get(int(near[at]), (0.0,))[0]:
                scored[int(near[at])] = (float(scores[at]), "words")
        ours = spelling.initials(folded)
        for key, name in zip(near.tolist(), keys, strict=True):
            if name in ours or (" " in name and folded in spelling.initials(name)):
                score = _INITIALS if min(len(name), len(folded)) > 2 else _TWO_INITIALS
                scored[key] = (score if text.isupper() else score * trust, "initials")
        return scored

    def _sharing(self, folded: str, most: int) -> NDArray[Any]:
        """The keys that share the most and the rarest features with this text, best first."""
        import numpy as np

        hashes, _ = grams.features([folded])
        wanted = np.unique(grams.buckets(hashes, self._bits))
        begin, end = self._starts[wanted].astype(np.int64), self._starts[wanted + 1].astype(np.int64)
        lengths = end - begin
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        taken = order[: max(1, int(np.searchsorted(np.cumsum(lengths[order]), _LISTED)))]
        if not len(taken):
            return taken
        lists = [self._lists[begin[at] : min(end[at], begin[at] + _LISTED)] for at in taken]
        keys = np.concatenate(lists)
        if int(keys.max()) >= self._count:
            raise ValueError("a list has a key that does not exist")
        weights = np.repeat(np.log1p(self._count / lengths[taken]), list(map(len, lists)))
        totals = np.bincount(keys, weights)
        keys = np.unique(keys)
        letters = (self._key_at[keys + 1] - self._key_at[keys]) / len(folded)
        shared = totals[keys] / (4.0 + letters)  # slightly in favour of keys of the same length
        if len(keys) > most:
            best = np.argpartition(-shared, most)[:most]
            keys, shared = keys[best], shared[best]
        return np.asarray(keys[np.argsort(-shared, kind="stable")])

    def _find(self, key: str) -> int | None:
        """The position of a key, None if no value has it."""
        near = self._sharing(key, 20)
        return next((int(at) for at, name in zip(near, self._names(near), strict=True) if name == key), None)

    def _by_code(self, text: str, folded: str) -> Scored:
        """Keys that are other names of the same thing, or the first letter of the word."""
        scored: Scored = {}
        for name in other_names(text):
            if (key := self._find(name)) is not None:
                scored[key] = (_SHORT_CODE if min(len(name), len(folded)) < 3 else _CODE, "code")
        if len(folded) > 1 and " " not in folded and (key := self._find(folded[0])) is not None:
            scored.setdefault(key, (_FIRST_LETTER, "abbreviation"))
        return scored

    def _by_abbreviation(self, text: str, folded: str) -> Scored:
        """Notions that the text abbreviates, or that abbreviate it."""
        if not len(self._vector_keys):
            return {}
        trust = _KNOWN_WORD if spelling.knows(text) else 1.0
        if self._notions is None:
            with self._lock:
                self._notions = self._by_first_letter()
        scored: Scored = {}
        for name, key in self._notions.get((folded[0], folded.count(" ")), ()):
            short, long = (name, folded) if len(name) < len(folded) else (folded, name)
            if short != long and (score := spelling.abbreviates(short, long)):
                scored[key] = (score * trust if short == folded else score, "abbreviation")
        return scored

    def _by_first_letter(self) -> dict[tuple[str, int], list[tuple[str, int]]]:
        """The notions with their keys, by first letter and number of blanks."""
        notions: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for name, key in zip(self._names(self._vector_keys), self._vector_keys.tolist(), strict=True):
            if name:
                notions.setdefault((name[0], name.count(" ")), []).append((name, key))
        return notions

    def _by_meaning(self, text: str) -> Scored:
        """Notions with the nearest vectors."""
        import numpy as np

        if not len(self._vector_keys):
            return {}
        by_form = self._vectors @ embed.vectors(spelling.forms(text)).T
        alike = by_form[:, 0]
        for form in range(1, by_form.shape[1]):  # much faster than the greatest of each short row
            alike = np.maximum(alike, by_form[:, form])
        scored: Scored = {}
        for at in np.argsort(-alike, kind="stable")[:_NEAREST].tolist():
            key = int(self._vector_keys[at])
            score = min(_MEANING_SLOPE * (float(alike[at]) - _MEANING_FROM), _MEANING_MOST)
            if score <= 0:
                break
            if spelling.shares_pieces_only(text, spelling.usual(self._values(key, text)[0][0])):
                score *= _PIECES
            scored[key] = (score, "meaning")
        return scored

    def _names(self, keys: NDArray[Any]) -> list[str]:
        begins, ends = self._key_at[keys].tolist(), self._key_at[keys + 1].tolist()
        return [_decoded(self._keys[begin:end]) for begin, end in zip(begins, ends, strict=True)]

    def values_by_column(self) -> dict[int, list[str]]:
        """All values, by the number of their column."""
        values: dict[int, list[str]] = {}
        for entry, column in enumerate(self._column.tolist()):
            values.setdefault(column, []).append(self._text(entry))
        return values

    def _text(self, entry: int) -> str:
        return _decoded(self._texts[int(self._text_at[entry]) : int(self._text_at[entry + 1])])

    def _values(self, key: int, text: str) -> list[tuple[str, str, str]]:
        """The values of a key with table and column, those equal to ``text`` first."""
        columns: list[Any] = self._header["columns"]
        first, end = int(self._first[key]), min(int(self._first[key + 1]), len(self._column))
        values = []
        for entry in range(first, end):
            column = columns[int(self._column[entry])]
            values.append((self._text(entry), column["table"], column["column"]))
        values.sort(key=lambda value: value[0] != text)
        return values[:_VARIANTS]


def _chosen(reasons: Reasons, limit: int) -> list[tuple[int, float, How]]:
    """The best keys with score and main reason, best first."""
    ranked = []
    for key, scores in reasons.items():
        (how, best), *others = sorted(scores.items(), key=lambda reason: -reason[1])
        if others and best < _CERTAIN:
            best = min(best + _SECOND * (1.0 - best) * others[0][1], _CERTAIN)
        if best >= _LEAST:
            ranked.append((-best, key, how))
    ranked.sort()
    worth: list[tuple[float, int]] = []
    met: Counter[How] = Counter()
    for at, (score, _, how) in enumerate(ranked):
        worth.append((score * _REPEATED ** met[how], at))
        met[how] += how != "code"
    best_first = sorted(at for _, at in heapq.nsmallest(limit, worth))
    return [(ranked[at][1], -ranked[at][0], ranked[at][2]) for at in best_first]


def _decoded(letters: memoryview) -> str:
    return str(letters, "utf-8", "surrogatepass")
