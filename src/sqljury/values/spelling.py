"""How texts are spelled: folded for lookup, compared by letters and words, and written for embeddings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sqljury.language.embed import is_token, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    F64 = NDArray[np.float64]

SAME_WORD: Final = 0.7
"""The least similarity of two spellings of one word; a swap counts as one edit."""

_EDIT: Final = 1.5
"""The factor of the share of edited letters: texts that differ in two thirds of their letters have a score of 0."""

_TIE: Final = 0.02
"""The bonus for an omitted or swapped letter; there are 25 times as many ways to replace or add one."""

_BEGINNING, _ENDS_ALIKE, _TWO_ENDS = 0.65, 0.6, 0.45
_VOWELS: Final = frozenset("aeiouy")
_ABBREVIATION: Final = 4
_DOT_OF_INITIAL: Final = re.compile(r"(?<=\b\w)\.")
_QUOTES: Final = re.compile("['’‘`´]")
_NO_WORD: Final = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Lower case without accents, with single blanks: ``Côte d'Ivoire`` is ``cote divoire``, ``U.S.`` is ``us``.

    Text without letters or digits keeps its punctuation; blank text becomes empty.
    """
    if text.isascii() and text.isalpha():
        return text.lower()
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    else:
        plain = text
    words = _NO_WORD.sub(" ", _QUOTES.sub("", _DOT_OF_INITIAL.sub("", plain.casefold()))).strip()
    return words or " ".join(text.replace("\0", "\ufffd").split())


def whole(text: str, keys: Sequence[str]) -> F64:
    """The similarity of ``text`` to each key: 1.0 for an equal one, less for each edit (also swaps) per letter."""
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
    """The share of words that text and key have in common, in any order, up to 0.95.

    Words are in common if their similarity is at least ``least``.
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
    matched_letters = np.add.reduceat(their_letters * alike.max(axis=0), begin)
    theirs_found = matched_letters / np.add.reduceat(their_letters, begin)
    more, less = np.maximum(ours_found, theirs_found), np.minimum(ours_found, theirs_found)
    return np.asarray(more * (0.5 + 0.45 * less))


def abbreviates(short: str, long: str) -> float:
    """The score by which each word of one text equals or abbreviates that of the other; 0.0 unless all words do."""
    pairs = zip(short.split(), long.split(), strict=True)
    scores = [1.0 if first == second else _shortens(first, second) for first, second in pairs]
    return 0.0 if 0.0 in scores else sum(scores) / len(scores)


def _shortens(short: str, long: str) -> float:
    """``sept`` is a prefix of ``september``; ``dept`` and ``mgr`` are prefix and consonants to the end."""
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
    """The initials of several words: of all of them, and of those longer than three letters."""
    words = text.split()
    if len(words) < 2:
        return set()
    return {"".join(word[0] for word in words), "".join(word[0] for word in words if len(word) > 3)}


def forms(text: str) -> list[str]:
    """Spellings of a search text whose embeddings are compared with those of values."""
    if text.isupper():  # perhaps an abbreviation, which is not a word in lower case
        return [text]
    return list(dict.fromkeys((text, usual(text), text.title())))


def usual(text: str) -> str:
    """Lower case if all words are in the vocabulary so, as most but names are, or if a long text is in capitals."""
    lowered = text.lower()
    if len(text) > _ABBREVIATION and text.isupper():
        return lowered
    return lowered if all(is_token(word) for word in lowered.split()) else text


def knows(text: str) -> bool:
    """Whether all words are in the embedding model's vocabulary, so that they are hardly misspelled."""
    return all(any(map(is_token, {word, word.lower(), word.title()})) for word in text.split())


def shares_pieces_only(text: str, value: str) -> bool:
    """Whether two texts share pieces of words but no word, so that their similarity is not one of meaning."""
    words = set(text.lower().split()) & set(value.lower().split())
    return not words and any(set(tokens(form)) & set(tokens(value)) for form in forms(text))
