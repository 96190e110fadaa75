"""The words of a text in the form in which a question's and a database's meet, and the lists of words that say little.

In that form case, accents and plurals are gone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from sqljury.patterns import regex

_NAME_CHARS: Final = 64
_NAMES: Final = 8_192
"""Short texts whose words are kept, some 3 MB."""

_RUN: Final = regex(r"[^\W\d_]+|\d+")
UNSPACED: Final = "\u2e80"
"""From here on scripts put no blanks between words; their characters are taken for words."""

_ALWAYS: Final = """
    a about all an and any are as at be been by can did do does each every for from give had has have how i in into
    is it its list many me much my no not of on or our per show tell than that the their them then there these they
    this those to was we were what when where which who whose why with you your
"""
_OFTEN: Final = """
    above after also ascending average before being below between both but could descending different distinct
    either ever find get greatest having he her highest his if largest least less let lowest more most one only
    ordered other out over please respectively return same select she should smallest so some sorted such sum
    through under up us use while within would
"""
FILLERS: Final = frozenset(f"{_ALWAYS} own whom will without".split())
"""Words that say nothing in a question or a name."""

_STOP: Final = """
    am ask available biggest display done else fetch following gave given got just kind kinds like made make nor
    retrieve several shown until used very whom will
"""
STOP_WORDS: Final = frozenset(f"{_ALWAYS} {_OFTEN} {_STOP}".split())
"""Words that say how to answer, not about what."""

_NOT_VALUES: Final = """
    across alphabetical alphabetically among aren't contain contains corresponding count didn't doesn't don't down
    during exactly fewer fewest first greater hasn't haven't high higher him identify include including isn't itself
    know large larger last low maximum mean minimum must name names number numbers once order own report result
    shows since sort top total two using value values wasn't weren't whether without
"""
NOT_VALUES: Final = frozenset(f"{_ALWAYS} {_OFTEN} {_NOT_VALUES}".split())
"""Words that are not part of a value of the database, but for those within a name (``JOINING``)."""

_JOINING: Final = "of the de la le di da del der von van and & for in on at"
JOINING: Final = frozenset(_JOINING.split())
"""Words that may stand within a name of several words."""

_FORM: Final = """
    amongst count difference earlier earliest fewer fewest first greater last later latest longer longest max
    maximum mean min minimum newest number numbers older oldest order percent percentage ratio share shorter
    shortest since smaller top total twice unique youngest
"""
FORM_WORDS: Final = STOP_WORDS | frozenset(_FORM.split())
"""Words that say what kind of answer is asked for (number, most, average)."""

NUMBER_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""The words for 0 to 10, in this order."""
ORDINALS: Final = {
    **{word: number for number, word in enumerate(("first", "second", "third", "fourth", "fifth"), 1)},
    **{word: number for number, word in enumerate(("1st", "2nd", "3rd", "4th", "5th"), 1)},
}
"""The places of an order that a question says, by their words and by their figures."""


def number_said(text: str) -> Decimal:
    """The number that digits, perhaps with commas, or one of ``NUMBER_WORDS`` say; raises for any other text."""
    bare = text.lower().replace(",", "")
    return Decimal(NUMBER_WORDS.index(bare) if bare in NUMBER_WORDS else bare)


def words(text: str) -> tuple[str, ...]:
    """The words of a text or a name in order: ``OrderLines`` and ``order_line`` are ``order``, ``line``.

    Those of short texts are kept: every question on a database meets the same names.
    """
    return _words_of_name(text) if len(text) <= _NAME_CHARS else _split(text)


@lru_cache(maxsize=_NAMES)
def _words_of_name(text: str) -> tuple[str, ...]:
    return _split(text)


def _split(text: str) -> tuple[str, ...]:
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return tuple(piece for run in _RUN.findall(bare) for word in _humps(run) for piece in _pieces(word))


def positions(phrase: Sequence[str], text: Sequence[str]) -> Iterator[int]:
    """Where in a text the words of a phrase stand in a row; everywhere for an empty phrase."""
    wanted, size = tuple(phrase), len(phrase)
    return (start for start in range(len(text) - size + 1) if tuple(text[start : start + size]) == wanted)


def content_words(text: str) -> tuple[str, ...]:
    """The words that say something; all of them where none does, as in a column called ``who``."""
    every = words(text)
    return tuple(word for word in every if word not in FILLERS) or every


def _humps(run: str) -> list[str]:
    """``SQLOrderLines`` as ``SQL``, ``Order``, ``Lines``."""
    starts = [
        at
        for at in range(1, len(run))
        if run[at].isupper() and (run[at - 1].islower() or run[at + 1 : at + 2].islower())
    ]
    return [run[start:end] for start, end in zip([0, *starts], [*starts, len(run)], strict=True)]


def _pieces(word: str) -> tuple[str, ...]:
    if word >= UNSPACED:
        return tuple(word)
    return (singular(word.casefold()),)


def singular(word: str) -> str:
    """An English plural without its ending; wrong ones are wrong alike in questions and names."""
    if len(word) > 4 and word.endswith(("ies", "ie")):  # a movie is a movy here, as movies are
        return word[: word.rindex("ie")] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zzes", "tzes")):
        return word[:-3] if word == "quizzes" else word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
