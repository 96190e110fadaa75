"""How alike two words are, one of a question and one of a name: plurals, prefixes, abbreviations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.language.words import singular, words

_RUN: Final = re.compile(r"[^\W\d_]+|\d+")
_VOWELS: Final = frozenset("aeiou")
_NAME_CHARS: Final = 200
_TEXT_CHARS: Final = 4_000

_STOP: Final = """
    a about above after all also am an and any are as ask at available be been before being below between both but by
    can could did do does done each either else ever every find following for from gave get give given got had has
    have having he her his how i if in into is it its just kind kinds least less let like list made make many me more
    most much my no nor not of on one only or other our out over per please return same several she should show shown
    so some such sum tell than that the their them then there these they this those through to under until up us use
    used very was we were what when where which while who whom whose why will with within would you your
    display fetch retrieve select different distinct ordered sorted ascending descending respectively
    highest lowest largest smallest biggest greatest average
"""
STOP_WORDS: Final = frozenset(_STOP.split())
"""Words that say how to answer, not about what."""

_SHORT: Final = {"no": "number", "num": "number", "nr": "number", "id": "identifier", "tel": "telephone"}
"""Abbreviations that no rule here finds."""


def pieces(name: str) -> tuple[str, ...]:
    """The words of a name, as far as it is not absurdly long."""
    return words(name[:_NAME_CHARS])


def question_words(text: str) -> list[str]:
    """The words of a question, once each, in their order, without those that say nothing."""
    runs = (run for run in _RUN.findall(text[:_TEXT_CHARS]) if run.lower() not in STOP_WORDS)
    found = dict.fromkeys(word for run in runs for word in words(run))
    return [word for word in found if len(word) > 1 or not word.isascii() or word.isdigit()]


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
    shared = _shared_prefix(short, long)
    if shared >= 4 and shared >= 0.6 * len(long):
        return 0.7
    return _abbreviation(short, long)


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


def _shared_prefix(one: str, other: str) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length
