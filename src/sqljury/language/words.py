"""The words of a text, so far alike that a question's and a database's meet: case, accents and plurals gone."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_RUN: Final = re.compile(r"[^\W\d_]+|\d+")
_UNSPACED: Final = "\u2e80"
"""From here on scripts put no blanks between words; their characters are taken for words."""

_FILLING: Final = """
    a about all an and any are as at be been by can did do does each every for from give had has have how i in into
    is it its list many me much my no not of on or our own per show tell than that the their them then there these
    they this those to was we were what when where which who whom whose why will with without you your
"""
_FILLERS: Final = frozenset(_FILLING.split())


def words(text: str) -> tuple[str, ...]:
    """The words of a text or a name in order: ``OrderLines`` and ``order_line`` are ``order``, ``line``."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return tuple(piece for run in _RUN.findall(bare) for word in _humps(run) for piece in _pieces(word))


def content_words(text: str) -> tuple[str, ...]:
    """The words that say something; all of them where none does, as in a column called ``who``."""
    found = words(text)
    return tuple(word for word in found if word not in _FILLERS) or found


def _humps(run: str) -> list[str]:
    """``SQLOrderLines`` as ``SQL``, ``Order``, ``Lines``."""
    starts = [
        at
        for at in range(1, len(run))
        if run[at].isupper() and (run[at - 1].islower() or run[at + 1 : at + 2].islower())
    ]
    return [run[start:end] for start, end in zip([0, *starts], [*starts, len(run)], strict=True)]


def _pieces(word: str) -> tuple[str, ...]:
    if word >= _UNSPACED:
        return tuple(word)
    return (singular(word.casefold()),)


def singular(word: str) -> str:
    """An English plural without its ending; wrong ones are wrong alike in questions and names."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
