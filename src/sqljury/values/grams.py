"""Features of texts as hashes that similar texts share, and the inverted lists of the texts with each feature.

A key (a folded value) has as features its letter trigrams, its words, each of its words without one letter, the
initials of its words, and the whole key. Two words that differ by one substitution, insertion, deletion or swap share
a word without one letter (SymSpell's deletion neighbourhood). All features are hashed with polynomials modulo 2**64,
whose prefix sums give them without a loop over the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    U64 = NDArray[np.uint64]
    U32 = NDArray[np.uint32]
    I64 = NDArray[np.int64]

CHUNK: Final = 20_000
"""Keys whose features are computed at once; more takes more memory and is not faster."""

MIN_BITS, MAX_BITS = 8, 21
"""Buckets of features are a power of two between these."""

_BASE: Final = 0x9E3779B97F4A7C15
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
_MIX: Final = 0xD6E8FEB86659FD93
_TRIGRAM, _WHOLE = 0x5851F42D4C957F2D, 0x14057B7EF767814F  # distinguish features of different kinds
_SMALL_WORDS: Final = ("of", "the", "and", "for", "de", "la", "in", "on")
"""Words that initials often omit."""


def features(keys: Sequence[str]) -> tuple[U64, U32]:
    """Hashes of all features of the keys, and the position of each one's key; a feature may occur twice.

    Keys contain no NUL and no repeated, leading or trailing blanks.
    """
    import numpy as np

    text = np.frombuffer(f"\0{chr(0).join(keys)}\0".encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    between = text == 0
    edge = between | (text == 32)
    owner = np.cumsum(between, dtype=np.uint32) - 1
    letters = np.flatnonzero(~edge)
    codes = np.where(edge, 32, text).astype(np.uint64)
    trigrams = (codes[letters - 1] * np.uint64(_BASE) + codes[letters]) * np.uint64(_BASE) + codes[letters + 1]
    prefix, shift = _prefix_sums(codes)
    at = np.arange(len(text))
    start = np.maximum.accumulate(np.where(edge, at + 1, 0))[letters]
    end = np.minimum.accumulate(np.where(edge, at, len(text))[::-1])[::-1][letters]
    shorter = (prefix[letters] - prefix[start]) + (prefix[end] - prefix[letters + 1]) * np.uint64(_INVERSE)
    shorter *= shift[start]
    kept = end - start > 2  # hardly anything would remain of shorter words
    first = start == letters
    words = (prefix[end] - prefix[start])[first] * shift[start[first]]
    word_owner = owner[letters[first]]
    bounds = np.flatnonzero(between)
    wholes = (prefix[bounds[1:]] - prefix[bounds[:-1] + 1]) * shift[bounds[:-1] + 1]
    initials, initials_owner = _initials(codes[letters[first]], words, word_owner)
    hashes = [trigrams ^ np.uint64(_TRIGRAM), shorter[kept], words, initials, wholes ^ np.uint64(_WHOLE)]
    owners = [owner[letters], owner[letters[kept]], word_owner, initials_owner, np.arange(len(keys), dtype=np.uint32)]
    return _mixed(np.concatenate(hashes)), np.concatenate(owners)


def _prefix_sums(codes: U64) -> tuple[U64, U64]:
    """Sums of code times power before each position, and the factors that shift a difference of two to the start."""
    import numpy as np

    powers = np.full(len(codes), _BASE, dtype=np.uint64)
    powers[0] = 1
    shift = np.full(len(codes) + 1, _INVERSE, dtype=np.uint64)
    shift[0] = 1
    prefix = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum((codes + np.uint64(1)) * np.cumprod(powers), out=prefix[1:])
    return prefix, np.cumprod(shift)


def _initials(firsts: U64, words: U64, owner: U32) -> tuple[U64, U32]:
    """The initials of each key of several words, hashed as a word, with and without small words."""
    import numpy as np

    small = _word_hashes(_SMALL_WORDS)
    hashes, owners = [], []
    for kept in (np.ones(len(words), dtype=bool), ~np.isin(words, small)):
        whose = owner[kept]
        if not len(whose):
            continue
        prefix, shift = _prefix_sums(firsts[kept])
        begin = np.flatnonzero(np.r_[True, whose[1:] != whose[:-1]])
        end = np.r_[begin[1:], len(whose)]
        several = end - begin > 1
        begin, end = begin[several], end[several]
        hashes.append((prefix[end] - prefix[begin]) * shift[begin])
        owners.append(whose[begin])
    if not hashes:
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint32)
    return np.concatenate(hashes), np.concatenate(owners)


@cache
def _word_hashes(words: tuple[str, ...]) -> U64:
    """The hashes of these words, independent of their position."""
    import numpy as np

    hashes = []
    for word in words:
        value, power = 0, 1
        for character in word:
            value = (value + (ord(character) + 1) * power) % (1 << 64)
            power = power * _BASE % (1 << 64)
        hashes.append(value)
    return np.array(hashes, dtype=np.uint64)


def _mixed(hashes: U64) -> U64:
    """The hashes mixed so that every input bit affects the upper bits."""
    import numpy as np

    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(_MIX)
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(_MIX)
    return hashes


def bucket_bits(letters: int) -> int:
    """The number of bits of a hash that select the bucket, for keys with that many letters in all."""
    return min(max(letters.bit_length(), MIN_BITS), MAX_BITS)


def buckets(hashes: U64, bits: int) -> I64:
    """The bucket of each feature."""
    import numpy as np

    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


def invert(keys: Sequence[str], check: Callable[[int], None]) -> tuple[I64, U32]:
    """The offsets of the buckets' lists, and the lists: ascending positions of the keys with the bucket's features.

    ``check`` receives the number of keys done, and may raise.
    """
    import numpy as np

    bits = bucket_bits(sum(map(len, keys)))
    parts: list[U64] = []
    for begin in range(0, len(keys), CHUNK):
        check(begin)
        hashes, owners = features(keys[begin : begin + CHUNK])
        parts.append((buckets(hashes, bits).astype(np.uint64) << np.uint64(32)) | (owners + np.uint32(begin)))
    pairs = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
    del parts
    pairs.sort()
    distinct = np.ones(len(pairs), dtype=bool)
    np.not_equal(pairs[1:], pairs[:-1], out=distinct[1:])
    pairs = pairs[distinct]
    starts = np.searchsorted(pairs, np.arange((1 << bits) + 1, dtype=np.uint64) << np.uint64(32))
    return starts.astype(np.int64), pairs.astype(np.uint32)  # the lower half is the key
