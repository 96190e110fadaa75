"""Which rows an English question asks for in so many words: all of something, a number of them, those that have one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sqljury.language import ambiguity, cues
from sqljury.language.words import NUMBER_WORDS, ORDINALS, number_said, words
from sqljury.patterns import regex

_EACH_OF: Final = regex(
    r"\b(?:each|every|all|per)\s+(?:(?:of|the|our|single|these|those)\s+)*((?:[\w-]+\s*){1,3})", re.IGNORECASE
)
_GROUPED_BY: Final = regex(
    r"\b(?:each|every|all|per|by)\s+(?:(?:of|the|our|its|their|single)\s+)*(?=((?:[\w-]+\s*){1,3}))", re.IGNORECASE
)
_MUST_HAVE: Final = regex(
    r"\b(?:have|has|having|had|with)\s+(?:a|an|any|some|at least one|one or more)\s+((?:[\w-]+\s*){1,2})", re.IGNORECASE
)
_CHOSEN: Final = regex(r"\b(?:who|that|which|whose|whom)\b", re.IGNORECASE)
_NUMBER: Final = rf"(?P<number>\d{{1,2}}|{'|'.join(NUMBER_WORDS[2:])})"
_END: Final = rf"(?:{cues.GREATEST}|{cues.SMALLEST}|oldest|youngest|best|longest|fastest|slowest)"
_TOP: Final = regex(
    rf"\b(?:top|(?:(?<!in )(?<!over )(?<!during )(?<!for )(?<!within )(?<!of )(?<!from )(?:the|our)|which|what are the"
    rf"|(?:show|give|list|find|name)(?: me| us)?(?: the)?)(?= [\w-]+(?: (?:{_END}\b|[\w-]*(?:s|people|men|children)\b))"
    rf"[^.?!;]*\b{_END}\b|(?: [\w-]+) {_END}\b)) {_NUMBER}\b(?! (?:percent|per cent)\b)",
    re.IGNORECASE,
)
_AMOUNT: Final = rf"[$€£]?(?P<number>\d[\d,]*(?:\.\d+)?|{'|'.join(NUMBER_WORDS)})\b(?![.,]?\d)"
_YEAR: Final = r"(?P<number>(?:1[89]|20)\d\d)\b(?![-./]\d)"
_MORE: Final = r"more than|over|above|(?:greater|higher|larger|longer|older) than|exceed(?:s|ing)?"
_LESS: Final = r"less than|fewer than|under|below|(?:smaller|lower|shorter|younger) than"
_ALONE: Final = r"(?! (?:than\b|[$€£]?\d))"
_NOT: Final = r"\b(?<!no )(?<!not )"
_LIMITS: Final = tuple(
    (sign, regex(pattern, re.IGNORECASE))
    for sign, pattern in (
        (">=", rf"\b(?:at least|(?:no|not) (?:fewer|less) than|a minimum of) {_AMOUNT}"),
        (">=", rf"{_AMOUNT}(?: [\w-]+)? or (?:more|above|over|higher|greater|older|longer|later)\b{_ALONE}"),
        (">=", rf"\bsince {_YEAR}"),
        ("<=", rf"\b(?:at most|(?:no|not) more than|a maximum of) {_AMOUNT}"),
        ("<=", rf"{_AMOUNT}(?: [\w-]+)? or (?:less|fewer|below|under|lower|younger|shorter|earlier)\b{_ALONE}"),
        (">", rf"{_NOT}(?:{_MORE}) {_AMOUNT}"),
        (">", rf"{_NOT}(?:after|later than) {_YEAR}"),
        ("<", rf"{_NOT}(?:{_LESS}) {_AMOUNT}"),
        ("<", rf"{_NOT}(?:before|earlier than) {_YEAR}"),
    )
)
_LATER: Final = "|".join(word for word, rank in ORDINALS.items() if rank > 1)
_PLACE: Final = regex(rf"\b(?P<place>{_LATER})[- ](?:{_END}|strongest|nearest)\b", re.IGNORECASE)
_ANY_PLACE: Final = regex(rf"\b(?:{'|'.join(ORDINALS)}|last)\b", re.IGNORECASE)
_MOST_ROWS: Final = 50
_TENS: Final = tuple(f"{ten}ty" for ten in ("twen", "thir", "for", "fif", "six", "seven", "eigh", "nine"))
PERCENT_SAID: Final = (
    rf"(?<![\d.,])(?P<percent>\d{{1,3}}(?:[.,]\d+)?|\b(?:{'|'.join(_TENS)}|(?:a )?hundred|{'|'.join(NUMBER_WORDS)}))"
    r"[ -]*(?:percent\b|per cent\b|%)"
)
"""A pattern of percentages that a question gives: "80 %", "twenty percent"; not "what percent"."""
_PERCENT: Final = regex(PERCENT_SAID, re.IGNORECASE)
_ANY_NUMBER: Final = regex(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")
_DIGITS: Final = regex(r"\b\d+\b")


@dataclass(frozen=True, slots=True)
class Wants:
    """Words are in the form of ``words``; all are empty for a question in another language.

    ``each``: whether each, every, per or all is said, and ``each_of`` the words that follow where no relative clause
    chooses among them. ``must_have``: words for what the things asked for have, as in ``courses that have a teacher``.
    ``counted``: words for what is counted. ``numbers``: the numbers of the question as digits, none where it asks for
    one end of an order.
    """

    each: bool = False
    each_of: frozenset[str] = frozenset()
    must_have: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()


def wants(question: str) -> Wants:
    """What a question asks for."""
    counted = (*words(" ".join(cues.counted(question))), ambiguity.counting(question)[1])
    return Wants(
        each=cues.every(question),
        each_of=_following(_EACH_OF, question, unless=_CHOSEN),
        must_have=_following(_MUST_HAVE, question),
        counted=frozenset(filter(None, counted)),
        numbers=frozenset() if cues.ranked(question) else _numbers(question),
    )


def number_of_rows(question: str) -> int | None:
    """How many rows a question asks for by an end of an order: "which three diagnoses ... most often", "top 5".

    None where it says no number, several of them, or asks for so many of each.
    """
    numbers = [match["number"] for match in _TOP.finditer(question)]
    if len(numbers) != 1 or cues.every(question):
        return None
    number = int(number_said(numbers[0]))
    return number if 1 < number <= _MOST_ROWS else None


def place_of_row(question: str) -> int | None:
    """Which row of an order a question asks for: 2 for "the second highest price".

    None where it says no such place, several of them, or one of each.
    """
    ordinals = [match["place"].lower() for match in _PLACE.finditer(question)]
    several = len(_ANY_PLACE.findall(question)) > 1 or len(cues.ranked(question)) > 1
    if len(ordinals) != 1 or several or cues.every(question):
        return None
    return ORDINALS[ordinals[0]]


def limits(question: str) -> dict[float, str]:
    """The numbers that a question limits by, with ``>``, ``>=``, ``<`` or ``<=``: "at least 10" is ``{10.0: ">="}``.

    Numbers that are said in more than one way are left out.
    """
    signs_by_number: dict[float, set[str]] = {}
    for sign, pattern in _LIMITS:
        for match in pattern.finditer(question):
            signs_by_number.setdefault(float(number_said(match["number"])), set()).add(sign)
    return {number: signs.pop() for number, signs in signs_by_number.items() if len(signs) == 1}


def percents(question: str) -> frozenset[Decimal]:
    """The percentages that a question gives, but for those that it gives as other numbers too."""
    figures = [match["percent"].lower() for match in _PERCENT.finditer(question)]
    others = {number_said(number) for number in _ANY_NUMBER.findall(_PERCENT.sub(" ", question))}
    return frozenset(map(_percent, figures)) - others


def _percent(text: str) -> Decimal:
    if text in _TENS:
        return Decimal(10 * (_TENS.index(text) + 2))
    return Decimal(100) if text.endswith("hundred") else number_said(text.replace(",", "."))


def grouped_by(question: str) -> frozenset[str]:
    """The words after each, every, all, per and by, in the form of ``words``: for what groups something is asked."""
    return _following(_GROUPED_BY, question)


def _following(pattern: re.Pattern[str], question: str, unless: re.Pattern[str] | None = None) -> frozenset[str]:
    """The words that matches of a pattern list, but for those with ``unless`` behind them."""
    matches = list(pattern.finditer(question))
    kept = [match for match in matches if unless is None or not unless.search(question, match.start(1))]
    listed = (cues.BOUND.split(match[1], maxsplit=1)[0] for match in kept)
    return frozenset(word for part in listed for word in words(part))


def _numbers(question: str) -> frozenset[str]:
    spelt = {str(number) for number, word in enumerate(NUMBER_WORDS) if word in question.lower().split()}
    return frozenset({*spelt, *_DIGITS.findall(question)})
