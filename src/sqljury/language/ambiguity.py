"""Words of an English question that leave open what is asked for.

Each function returns the words as the question has them, empty where it has none, or where other words of it settle
what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from sqljury.language.cues import RANKED, different
from sqljury.language.words import words
from sqljury.patterns import regex

_TIMES: Final = "last|first|latest|newest|earliest|oldest|most recent(?:ly)?"
_NO_SIZES: Final = frozenset({*_TIMES.split("|"), "maximum", "max", "minimum", "min"})
_SIZES: Final = "|".join(
    [*(word for word in RANKED.split("|") if word not in _NO_SIZES), "main", "popular", "favou?rite"]
)
_NOT_NAMES: Final = (
    r"(?!(?:\s+(?:and|or|/)\s+(?:first|last))?\s+names?\b)(?!\s+(?:\d+\s+)?(?:days?|weeks?|months?|quarters?|years?)\b)"
)
_TIME: Final = regex(rf"\b(?:{_TIMES})\b{_NOT_NAMES}", re.IGNORECASE)
_SIZE: Final = regex(rf"\b(?:{_SIZES})\b(?! recent)", re.IGNORECASE)
_COUNTING: Final = regex(r"\b(?:how many|number of|count of|count the|total(?: number of)?)\s+([\w-]+)", re.IGNORECASE)
_PASSIVE: Final = regex(
    r"\b(?:was|were|been|are|is|get|got)\s+(?:\w+ly\s+|ever\s+)?\w+(?:ed|en|ght|old|ade|ent|own)\b", re.IGNORECASE
)
_SETTLED: Final = regex(
    r"\b(?:inclusive\w*|exclusive\w*|includ\w*|exclud\w*|at least|at most|or (?:more|less|later|earlier|older))\b",
    re.IGNORECASE,
)
_BOUNDS: Final = "between|since|until|till|through|up to|from|by|within"
_WHOLE: Final = regex(r"\b(?:each|every|per|all)\b", re.IGNORECASE)
_FEW_WORDS: Final = 4
_POLITE: Final = r"(?:please|(?:can|could|would) you)\s+"
_EDITS: Final = (
    "add|insert|create|remove|drop|delete|include|exclude|keep|set|change|rename|update|increase|decrease|raise|lower"
    "|reduce"
)
_EDIT: Final = regex(rf"^\W*(?:{_POLITE}|(?:and|but|also|now|then|just)\s+)*(?:{_EDITS})\b", re.IGNORECASE)
_BACK: Final = regex(
    rf"^\W*(?:{_POLITE})*(?:and|or|but|also|now|then|only|just|what about|how about|why|instead|without|same|not|sort"
    rf"|order|group|show only|{_EDITS})\b"
    r"|\b(?:it|they|them|theirs|him|hers|those|these|ones|(?:of|than|in|about|by|at|for|from|like) that"
    r"|that one|the others?|the rest|instead|the previous|the former|the latter|again|too)\b"
    r"|^\W*(?:\S+\s+){0,3}(?:its|their|he|she|his|her|this|that)\b",
    re.IGNORECASE,
)
_LISTING: Final = regex(r"^\W*(?:list|show|give|what|which|find|return|tell|display)\b", re.IGNORECASE)


def superlative(question: str, *, of_time: bool) -> str:
    """The one superlative of a question, if it is of time (``last``) or else of size (``biggest``)."""
    times = {match[0].lower(): match[0] for match in _TIME.finditer(question)}
    sizes = {match[0].lower(): match[0] for match in _SIZE.finditer(question)}
    if len(times) + len(sizes) != 1:
        return ""
    return next(iter((times if of_time else sizes).values()), "")


def after(question: str, word: str) -> str:
    """The word that follows ``word``, in the form of ``words``."""
    match = re.search(rf"\b{re.escape(word)}\s+([\w-]+)", question, re.IGNORECASE)
    return next(iter(words(match[1])), "") if match else ""


def counting(question: str) -> tuple[str, str]:
    """The words that ask for a number, such as ``how many products``, and what is to be counted."""
    matches = list(_COUNTING.finditer(question))
    if len(matches) != 1:
        return "", ""
    return matches[0][0], next(iter(words(matches[0][1])), "")


def counted_events(question: str) -> str:
    """``how many products``, where something was done to them, maybe several times to one."""
    counted, _ = counting(question)
    return counted if counted and _PASSIVE.search(question) and not different(question) else ""


def repeated(question: str, names: Collection[str], known: Collection[str]) -> str:
    """The words of a question that lists something which name one of these columns, rather ones not ``known``."""
    if different(question) or not _LISTING.match(question) or counting(question)[0]:
        return ""
    wanted = {word for name in names for word in words(name)}
    mentioned = [match[0] for match in re.finditer(r"[^\W\d_]+", question) if set(words(match[0])) & wanted]
    telling = [word for word in mentioned if not set(words(word)) & set(known)]
    return (telling or mentioned or [""])[0]


def bound(question: str, constants: Collection[str]) -> str:
    """The word before a constant that says neither that it is included nor that it is not."""
    if _SETTLED.search(question):
        return ""
    for constant in constants:
        shown = re.match(r"\d{4}(?=-\d\d)", constant) or re.match(r".+", constant)
        if shown is None:
            continue
        before = re.search(rf"\b({_BOUNDS})\b(?:\W+\w+){{0,4}}?\W+{re.escape(shown[0])}\b", question, re.IGNORECASE)
        if before is not None:
            return before[1]
    return ""


def whole(question: str) -> str:
    """The word that asks for each or all of something."""
    match = _WHOLE.search(question)
    return match[0] if match else ""


def quoted(question: str, value: str) -> str:
    """The value as the question has it, in any case, as words of their own."""
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", question, re.IGNORECASE) if value.strip() else None
    return match[0] if match else ""


def shared(question: str, names: Collection[str], known: Collection[str]) -> str:
    """The words of the question that all of these names have, apart from ``known`` ones."""
    common = set.intersection(*(set(words(name)) for name in names)) - set(known)
    shared_words = [match[0] for match in re.finditer(r"[^\W_]+", question) if set(words(match[0])) & common]
    return " ".join(dict.fromkeys(shared_words))


def names(question: str, name: str, known: Collection[str] = ()) -> bool:
    """Whether the question has every word of a name that is not among ``known`` ones, and at least one."""
    telling = set(words(name)) - set(known)
    return bool(telling) and telling <= set(words(question))


def points_back(question: str) -> bool:
    """Whether a question may leave out, or point back to, what an earlier one said; short ones may all.

    Rather too often than too seldom: whoever asks this reads the question again.
    """
    return len(question.split()) <= _FEW_WORDS or _BACK.search(question) is not None


def edits(question: str) -> bool:
    """Whether a follow-up says how to change what was asked before it: "drop the last column"."""
    return _EDIT.search(question) is not None
