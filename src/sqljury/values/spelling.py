"""How alike two folded texts are in their letters, their words, or as one the abbreviation of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    F64 = NDArray[np.float64]

SAME_WORD: Final = 0.7
"""Words less alike than this (a swap counts as one edit) are different words."""

_EDIT: Final = 1.5
"""What an edit in every letter would take away: texts half of which was changed are nothing alike."""

_TIE: Final = 0.02
"""What a left out or swapped letter is likelier than a wrong or added one, of which there are 25 times as many."""


_BEGINNING, _ENDS_ALIKE, _TWO_ENDS = 0.65, 0.6, 0.45
_VOWELS: Final = frozenset("aeiouy")


def whole(text: str, keys: Sequence[str]) -> F64:
    """From 1.0 for the same text, less by edits per letter: insertions, deletions, substitutions and swaps."""
    import numpy as np
    from rapidfuzz.distance import OSA, Levenshtein
    from rapidfuzz.process import cdist

    edits = cdist([text], keys, scorer=OSA.distance, dtype=np.int32)[0]
    without_swaps = cdist([text], keys, scorer=Levenshtein.distance, dtype=np.int32)[0]
    lengths = np.fromiter(map(len, keys), dtype=np.int32, count=len(keys))
    alike = 1.0 - _EDIT * edits / np.maximum(lengths, len(text))
    likelier = _TIE * ((without_swaps > edits) + (lengths > len(text)))
    return np.where(edits == 0, 1.0, np.clip(alike + likelier, 0.0, 0.98))


def by_words(text: str, keys: Sequence[str], least: float = SAME_WORD) -> F64:
    """How well the words of one are found, in any order, among those of the other: to 0.95.

    A word is found in one at least ``least`` like it.
    """
    import numpy as np
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    ours = text.split()
    theirs = [key.split() for key in keys]
    begin = np.cumsum([0, *map(len, theirs[:-1])])
    flat = [word for words in theirs for word in words]
    alike = cdist(ours, flat, scorer=OSA.normalized_similarity, dtype=np.float32)
    alike[alike < least] = 0.0
    our_letters = np.array([len(word) for word in ours], dtype=float)
    their_letters = np.array([len(word) for word in flat], dtype=float)
    ours_found = our_letters @ np.maximum.reduceat(alike, begin, axis=1) / our_letters.sum()
    found = np.add.reduceat(their_letters * alike.max(axis=0), begin)
    theirs_found = found / np.add.reduceat(their_letters, begin)
    more, less = np.maximum(ours_found, theirs_found), np.minimum(ours_found, theirs_found)
    return np.asarray(more * (0.5 + 0.45 * less))


def abbreviates(short: str, long: str) -> float:
    """How surely each word of one text is the same as, or short for, its counterpart in the other; 0.0 if not."""
    pairs = list(zip(short.split(), long.split(), strict=True))
    scores = [1.0 if one == other else _shortens(one, other) for one, other in pairs]
    return 0.0 if 0.0 in scores else sum(scores) / len(scores)


def _shortens(short: str, long: str) -> float:
    """``sept`` begins ``september``; ``dept`` and ``mgr`` are a beginning, then consonants that end alike."""
    if not 2 <= len(short) <= len(long) - 2 or short[0] != long[0]:
        return 0.0
    if long.startswith(short):
        return _BEGINNING if len(short) > 2 else 0.0
    same = 1
    while short[same] == long[same]:
        same += 1
    letters = iter(long[same:])
    rest = short[same:]
    if short[-1] != long[-1] or _VOWELS & set(rest) or not all(letter in letters for letter in rest):
        return 0.0
    return _ENDS_ALIKE if len(short) > 2 else _TWO_ENDS


def initials(text: str) -> set[str]:
    """The first letters of several words, of all and of those longer than three letters."""
    words = text.split()
    if len(words) < 2:
        return set()
    return {"".join(word[0] for word in words), "".join(word[0] for word in words if len(word) > 3)}
