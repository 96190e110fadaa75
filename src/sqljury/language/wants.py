"""Which rows an English question asks for in so many words: all of something, a number of them, those that have one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqljury.language import ambiguity, cues
from sqljury.language.words import NUMBER_WORDS, words
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


def grouped_by(question: str) -> frozenset[str]:
    """The words after each, every, all, per and by, in the form of ``words``: for what groups something is asked."""
    return _following(_GROUPED_BY, question)


def _following(pattern: re.Pattern[str], question: str, unless: re.Pattern[str] | None = None) -> frozenset[str]:
    """The words that matches of a pattern list, but for those with ``unless`` behind them."""
    found = list(pattern.finditer(question))
    kept = [match for match in found if unless is None or not unless.search(question, match.start(1))]
    listed = (cues.BOUND.split(match[1], maxsplit=1)[0] for match in kept)
    return frozenset(word for part in listed for word in words(part))


def _numbers(question: str) -> frozenset[str]:
    spelt = {str(number) for number, word in enumerate(NUMBER_WORDS) if word in question.lower().split()}
    return frozenset({*spelt, *_DIGITS.findall(question)})
