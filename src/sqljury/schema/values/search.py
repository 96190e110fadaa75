"""Searching an index: candidates by shared features and by meaning, ranked by the best reason to take each."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from sqljury.schema.values import codes, grams, meanings, spelling
from sqljury.schema.values.fold import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sqljury.schema.values.store import Stored

How = Literal["exact", "same letters", "spelling", "words", "initials", "abbreviation", "code", "meaning"]

QUERY_CHARS: Final = 200
"""What is searched for is cut to this; values are shorter."""

_POOL, _WORDS_POOL = 1000, 300
_LISTED: Final = 250_000
"""Entries of lists looked through for one query, the rarest features first: some 5 ms."""
_NEAREST: Final = 20
_INITIALS, _FIRST_LETTER, _CODE, _SHORT_CODE = 0.85, 0.62, 0.95, 0.8
_KNOWN_WORD: Final = 0.75
"""What a near spelling is worth when what was searched for is a word, and so hardly a misspelling."""
_MEANING_FLOOR, _MEANING_SLOPE = 0.3, 0.7


@dataclass(frozen=True, slots=True)
class Match:
    """A value, where it stands, how sure the match is (1.0 is the text itself) and what it rests on."""

    value: str
    table: str
    column: str
    score: float
    how: How


Reasons = dict[int, tuple[float, How]]


class Searcher:
    """Searches one index; may be used by several threads at once."""

    def __init__(self, stored: Stored) -> None:
        self._header, arrays = stored.header, stored.arrays
        self._keys, self._key_at = arrays["keys"], arrays["key_at"]
        self._texts, self._text_at = arrays["texts"], arrays["text_at"]
        self._first, self._column = arrays["first"], arrays["column"]
        self._starts, self._lists = arrays["starts"], arrays["lists"]
        self._vectors, self._vector_keys = arrays["vectors"], arrays["vector_keys"]
        self._bits = (len(self._starts) - 1).bit_length() - 1
        self._count = len(self._key_at) - 1
        self._notions: dict[tuple[str, int], list[tuple[str, int]]] | None = None
        self._lock = threading.Lock()

    def search(self, texts: Sequence[str], limit: int) -> list[list[Match]]:
        """For each text the ``limit`` best values, each with every column that has it; best first."""
        return [list(self._one(text[:QUERY_CHARS], limit)) for text in texts]

    def _one(self, text: str, limit: int) -> Iterator[Match]:
        folded = fold(text)
        if not folded or not self._count:
            return
        reasons = self._spelt(text, folded)
        self._take(reasons, self._coded(text, folded))
        if len(self._vector_keys):
            self._take(reasons, self._shortened(folded))
            self._take(reasons, self._meant(text))
        best = heapq.nsmallest(limit, ((-score, key) for key, (score, _) in reasons.items()))
        left = limit
        for _, key in best:
            for value, places in self._values(key, text):
                if not left:
                    return
                left -= 1
                score, how = reasons[key]
                if value == text:
                    score, how = 1.0, "exact"
                for table, column in places:
                    yield Match(value, table, column, round(score, 4), how)

    @staticmethod
    def _take(reasons: Reasons, more: Reasons) -> None:
        for key, reason in more.items():
            if key not in reasons or reason[0] > reasons[key][0]:
                reasons[key] = reason

    def _spelt(self, text: str, folded: str) -> Reasons:
        """By letters, words and initials, among the keys that share most features."""
        near = self._sharing(folded, _POOL)
        if not near:
            return {}
        keys = [self._key(key) for key in near]
        trust = _KNOWN_WORD if len(self._vector_keys) and _is_words(text) else 1.0
        found: Reasons = {}
        for key, name, score in zip(near, keys, spelling.whole(folded, keys).tolist(), strict=True):
            found[key] = (0.99, "same letters") if name == folded else (score * trust, "spelling")
        near, keys = near[:_WORDS_POOL], keys[:_WORDS_POOL]
        if " " in folded or any(" " in key for key in keys):
            scores = spelling.by_words(folded, keys).tolist()
            self._take(found, {key: (score, "words") for key, score in zip(near, scores, strict=True)})
            ours = spelling.initials(folded)
            for key, name in zip(near, keys, strict=True):
                if name in ours or folded in spelling.initials(name):
                    self._take(found, {key: (_INITIALS, "initials")})
        return found

    def _sharing(self, folded: str, most: int) -> list[int]:
        """The keys that share the most, and the rarest, features with this text; best first."""
        import numpy as np

        hashes, _ = grams.features([folded])
        wanted = np.unique(grams.buckets(hashes, self._bits))
        begin, end = self._starts[wanted].astype(np.int64), self._starts[wanted + 1].astype(np.int64)
        lengths = end - begin
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        taken = order[: max(1, int(np.searchsorted(np.cumsum(lengths[order]), _LISTED)))]
        if not len(taken):
            return []
        lists = [self._lists[begin[at] : min(end[at], begin[at] + _LISTED)] for at in taken]
        keys = np.concatenate(lists)
        weights = np.repeat(np.log1p(self._count / lengths[taken]), [len(one) for one in lists])
        totals = np.bincount(keys, weights)
        keys = np.unique(keys)
        letters = (self._key_at[keys + 1] - self._key_at[keys]) / len(folded)
        shared = totals[keys] / (4.0 + letters)  # a little in favour of keys of its own length
        if len(keys) > most:
            best = np.argpartition(-shared, most)[:most]
            keys, shared = keys[best], shared[best]
        return [int(key) for key in keys[np.argsort(-shared, kind="stable")]]

    def _find(self, key: str) -> int | None:
        """The position of a key, None when no value has it."""
        return next((at for at in self._sharing(key, 20) if self._key(at) == key), None)

    def _coded(self, text: str, folded: str) -> Reasons:
        found: Reasons = {}
        for name in codes.other_names(text):
            if (key := self._find(name)) is not None:
                found[key] = (_SHORT_CODE if len(name) < 3 else _CODE, "code")
        if len(folded) > 1 and " " not in folded and (key := self._find(folded[0])) is not None:
            found.setdefault(key, (_FIRST_LETTER, "abbreviation"))
        return found

    def _shortened(self, folded: str) -> Reasons:
        """Notions that the text is short for, or that are short for it."""
        if self._notions is None:
            with self._lock:
                self._notions = self._by_first_letter()
        found: Reasons = {}
        for name, key in self._notions.get((folded[0], folded.count(" ")), ()):
            short, long = (name, folded) if len(name) < len(folded) else (folded, name)
            if short != long and (score := spelling.abbreviates(short, long)):
                found[key] = (score, "abbreviation")
        return found

    def _by_first_letter(self) -> dict[tuple[str, int], list[tuple[str, int]]]:
        """The notions' keys by first letter and number of blanks."""
        found: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for key in dict.fromkeys(self._vector_keys.tolist()):
            if name := self._key(key):
                found.setdefault((name[0], name.count(" ")), []).append((name, key))
        return found

    def _meant(self, text: str) -> Reasons:
        """Notions whose vectors are nearest."""
        import numpy as np

        forms = list(dict.fromkeys((text, text.lower(), text.title())))
        alike = (self._vectors @ meanings.vectors(forms).T).max(axis=1)
        nearest = np.argsort(-alike, kind="stable")[:_NEAREST]
        found: Reasons = {}
        for at in nearest.tolist():
            score = _MEANING_FLOOR + _MEANING_SLOPE * float(alike[at])
            self._take(found, {int(self._vector_keys[at]): (min(score, 0.97), "meaning")})
        return found

    def _key(self, key: int) -> str:
        return _text(self._keys, self._key_at, key)

    def values_by_column(self) -> dict[int, list[str]]:
        """All values, by the number of their column."""
        found: dict[int, list[str]] = {}
        for entry, column in enumerate(self._column.tolist()):
            found.setdefault(column, []).append(_text(self._texts, self._text_at, entry))
        return found

    def _values(self, key: int, text: str) -> list[tuple[str, list[tuple[str, str]]]]:
        """The values of a key with their columns, the one that is ``text`` first."""
        found: dict[str, list[tuple[str, str]]] = {}
        columns: list[Any] = self._header["columns"]
        for entry in range(int(self._first[key]), int(self._first[key + 1])):
            column = columns[int(self._column[entry])]
            found.setdefault(_text(self._texts, self._text_at, entry), []).append((column["table"], column["column"]))
        return sorted(found.items(), key=lambda item: item[0] != text)


def _text(letters: NDArray[Any], at: NDArray[Any], number: int) -> str:
    return letters[int(at[number]) : int(at[number + 1])].tobytes().decode("utf-8", "surrogatepass")


def _is_words(text: str) -> bool:
    return all(meanings.knows(word) for word in text.split())
