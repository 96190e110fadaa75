"""How alike two words, two names or two texts are: plurals, prefixes, abbreviations, misspellings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from sqljury.language.words import STOP_WORDS, singular, words
from sqljury.patterns import regex

_RUN: Final = regex(r"[^\W\d_]+|\d+")
_VOWELS: Final = frozenset("aeiou")
_NAME_CHARS: Final = 200
_TEXT_CHARS: Final = 4_000

SIMILAR: Final = 0.8
"""Words at least this alike (difflib's ratio) may be misspellings of one another."""
MENTIONED: Final = 0.7
"""A word of a question at least this alike may stand for a word of a name."""
NEAREST: Final = 0.6
"""Names less alike are not offered for one another."""
RESPELT: Final = 60
"""Per cent of letters in common, by the ratio of rapidfuzz, from which a text may be a misspelling of another."""
_COMPARED: Final = 4_000
_NAME_WORDS: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
_SHORT: Final = {"no": "number", "num": "number", "nr": "number", "id": "identifier", "tel": "telephone"}
"""Abbreviations that no rule here finds."""


def pieces(name: str) -> tuple[str, ...]:
    """The words of a name, as far as it is not absurdly long."""
    return words(name[:_NAME_CHARS])


def question_words(text: str) -> list[str]:
    """The words of a question, once each, in their order, without those that say nothing."""
    runs = (run for run in _RUN.findall(text[:_TEXT_CHARS]) if run.lower() not in STOP_WORDS)
    kept = dict.fromkeys(word for run in runs for word in words(run))
    return [word for word in kept if len(word) > 1 or not word.isascii() or word.isdigit()]


def joined_words(text: str) -> Iterator[str]:
    """Names that the question may spell in several words: ``post code`` as one, ``date of birth`` by initials."""
    runs = [run.lower() for run in _RUN.findall(text[:_TEXT_CHARS])]
    for start, first in enumerate(runs):
        if first in STOP_WORDS:
            continue
        if start + 1 < len(runs) and runs[start + 1] not in STOP_WORDS:
            yield singular(first + runs[start + 1])
        for length in (3, 4):
            if len(run := runs[start : start + length]) == length:
                yield "".join(word[0] for word in run)


def likeness(word: str, piece: str) -> float:
    """How surely ``piece`` of a name stands for ``word``, 0 to 1; both as ``pieces`` has them.

    1 for the same word, less for a word that goes on (``ship`` and ``shipment``), a shared stem, one within the
    other (``code`` and ``postcode``), and an abbreviation (``qty``, ``cust``, ``nm``), in either direction.
    """
    if word == piece or _SHORT.get(piece) == word:
        return 1.0
    if word[0].isdigit() or piece[0].isdigit():
        return 0.0
    short, long = sorted((word, piece), key=len)
    if long.startswith(short):
        return _PREFIX.get(len(short), 0.85)
    if len(short) > 3 and long.endswith(short):
        return 0.65
    if short[0] != long[0]:
        return 0.0
    shared = shared_prefix(short, long)
    if shared >= 4 and shared >= 0.6 * len(long):
        return 0.7
    return _abbreviation(short, long)


def mentions(question: str, names: Collection[str]) -> bool:
    """Whether a word of the question may stand for one of ``names``, which are words as ``pieces`` has them."""
    return any(likeness(word, name) >= MENTIONED for word in question_words(question) for name in names)


_PREFIX: Final = {1: 0.0, 2: 0.3, 3: 0.75}
"""By length of the shorter word."""


def _abbreviation(short: str, long: str) -> float:
    """``short`` keeps the first letter of ``long``, some letters in order, and hardly a vowel."""
    if not 2 <= len(short) <= len(long) - 2 or sum(letter in _VOWELS for letter in short[1:]) > (len(short) > 3):
        return 0.0
    rest = iter(long)
    if not all(letter in rest for letter in short):
        return 0.0
    ends = short[-1] in (long[-1], _last_consonant(long))
    if len(short) == 2:
        return 0.55 if ends and len(long) <= 6 else 0.0
    return 0.7 if ends else 0.5


def _last_consonant(word: str) -> str:
    return next((letter for letter in reversed(word) if letter not in _VOWELS), "")


def shared_prefix(one: str, other: str) -> int:
    """How many letters at the beginning of two words are the same."""
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


def nearest(name: str, names: Sequence[str], most: int = 3) -> list[str]:
    """The ``names`` that ``name`` may stand for, the most alike first: by their words, or by their letters."""
    scored = [(_alike(name, other), other) for other in names[:_COMPARED]]
    ranked = sorted((pair for pair in scored if pair[0] >= NEAREST), key=lambda pair: -pair[0])
    return [other for _, other in ranked[:most]]


def _alike(left: str, right: str) -> float:
    ours, theirs = pieces(left), pieces(right)
    share = 0.0
    if ours and theirs:
        share = (covered(ours, theirs) + covered(theirs, ours)) / 2
    return max(share, difflib.SequenceMatcher(None, left.lower()[:80], right.lower()[:80]).ratio())


def covered(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """How likely the words of one name stand for words of the other on average, 0 to 1; see ``likeness``."""
    return sum(max(likeness(word, piece) for piece in theirs) for word in ours) / len(ours)


def similar(left: str, right: str) -> bool:
    """Whether one name is probably a misspelling of the other: the same words, one of them written otherwise.

    ``shopname`` and ``shop_name`` are; ``last_name`` and ``first_name`` are not, though most letters agree.
    """
    ours, theirs = ([word.lower() for word in _NAME_WORDS.findall(name)] for name in (left, right))
    if "".join(ours) == "".join(theirs):
        return True
    if len(ours) != len(theirs):
        return False
    differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    word, written = differing[0]
    return sorted(word) == sorted(written) or difflib.SequenceMatcher(None, word, written).ratio() >= SIMILAR


def misspelt(name: str, names: Sequence[str]) -> str | None:
    """The name that ``name`` is a misspelling of, None when there is none or more than one."""
    candidates = [other for other in names if similar(name, other)]
    return candidates[0] if len(candidates) == 1 else None


def folded(text: str, kept: str = "") -> str:
    """The words of a text, without differences in case, blanks and punctuation other than ``kept``."""
    return " ".join("".join(c if c.isalnum() or c in kept else " " for c in text.casefold()).split())


def letters(text: str) -> str:
    """The letters and digits of a text, without case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def digits(text: str) -> list[int]:
    """The numbers that a text holds, in their order."""
    return [int(run) for run in re.findall(r"\d{1,18}", text)]


def is_number(text: str) -> bool:
    """Whether the whole text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def respelt(old: str, new: str) -> bool:
    """Whether one text may be another spelling of the other: a typo, an abbreviation, initials; numbers are the same.

    Only for a text that its column does not have: ``male`` and ``female`` are alike too.
    """
    from rapidfuzz import fuzz

    ours, theirs = letters(old), letters(new)
    if not ours or not theirs or sorted(digits(old)) != sorted(digits(new)):
        return False
    short = ours.startswith(theirs) or theirs.startswith(ours)
    abbreviated = _initials(old).startswith(theirs) or _initials(new).startswith(ours)
    return short or abbreviated or fuzz.ratio(ours, theirs) >= RESPELT


def _initials(text: str) -> str:
    return "".join(word[0] for word in re.findall(r"\w+", text.casefold()) if word not in ("of", "the", "and"))
