"""Whether an English question wants rows that are equal only once: "each name only once", "no duplicates"."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.words import words
from sqljury.patterns import regex

_STARTS: Final = (
    r"(?:^|[,;:(.?!]|\s[-–—])\s*(?:(?:and|but|with|please|so)\s+)?"
    r"(?:(?:show|list|give|name|return|display|print|output)\s+(?:(?:me|us)\s+)?)?"
)
_STOPS: Final = r"(?=\s*(?:[,.;:)?!]|\s[-–—]|$|(?:please|sorted|ordered|alphabetical\w*|in alphabetical)\b))"
_VERB: Final = (
    r"who|that|which|whose|not|is|are|was|were|has|have|had|did|does|\w+ed|paid|sold|bought|went|came|won|lost|made|held|led"
    r"|met|ran|sent|took|gave|got|left|saw|pays?|visits?"
)
_THING: Final = rf"(?: of (?:them|these|those))?(?P<thing>(?: (?!(?:{_VERB}|only|just|once)\b)[\w'-]+){{0,2}})"
_EACH: Final = regex(
    rf"{_STARTS}(?:(?:each|every){_THING}|everybody|everyone)(?: only| just| but| exactly)? once{_STOPS}",
    re.IGNORECASE,
)
_SHOULD: Final = regex(
    r"\b(?:should|must|shall|to) (?:each |all |only |just )?"
    r"(?:appear|come(?: up)?|show up|be (?:listed|shown|named|mentioned))"
    rf"(?: only| just| exactly)? once{_STOPS}",
    re.IGNORECASE,
)
_BARE: Final = regex(r"[,;:(.–-]\s*each(?: only| just| exactly)? once\b", re.IGNORECASE)
_OTHER_EACH: Final = regex(r"\b(?:every|each (?!(?:only |just |exactly )?once\b))", re.IGNORECASE)
_DUPLICATES: Final = regex(
    rf"\b(?:no|without(?: any)?|remove(?: any| all| the)?|leave out(?: any| all| the)?)"
    rf" duplicates?{_STOPS}|\bwithout(?: any)? (?:repeats|repetitions?){_STOPS}",
    re.IGNORECASE,
)


def each_once(question: str) -> tuple[str, ...] | None:
    """The words of the things that are to appear once: "customer name" of "each customer name only once".

    Empty where the question names nothing of the kind ("everybody once", "each one once"); None where it does not say
    so. What happened once ("customers who paid each bill once") is not meant.
    """
    match = _EACH.search(question)
    if match is not None:
        return tuple(word for word in words(match["thing"] or "") if word != "one")
    return () if _SHOULD.search(question) else None


def each_shown_once(question: str) -> bool:
    """Whether the question ends a list with "each once" ("titles of books, each once") and has no other "each"."""
    return bool(_BARE.search(question)) and not _OTHER_EACH.search(question)


def no_duplicates(question: str) -> bool:
    """Whether the question wants no equal rows in so many words."""
    return bool(_DUPLICATES.search(question))
