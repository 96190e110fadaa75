"""The columns that an English question lists: "plate, make, model and status, ordered by plate"."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.cues import RANKED
from sqljury.language.words import words
from sqljury.patterns import regex

_VERB: Final = (
    r"(?:please\s+)?(?:show|give|return|list|i need|i want|we need|display|output)\b(?:\s+(?:me|us|just))?\s+"
)
_BEGINS: Final = regex(
    rf"(?::|\s[-–—])\s+|(?:^|[.?!;]\s+){_VERB}|\?\s+(?!{_VERB})",
    re.IGNORECASE,
)
"""What stands before a list of columns: a colon, a dash, a verb at the beginning of a sentence, a question."""
_ENDS: Final = regex(r"[.?!;:()]|\s[-–—]\s|$")
_ASIDE: Final = regex(r"\s*\(([^()]*)\)")
"""What stands in parentheses says more of the item before it: "paid so far (0 if nothing)"."""
_LISTS: Final = regex(r"[,;:]|\band\b", re.IGNORECASE)
"""What an item in parentheses that may list columns itself has: "name (first and last)"."""
_ORDER: Final = regex(
    r"^\s*(?:(?:sort|order|rank|arrang)\w*|alphabetical\w*|by|then|starting)\b"
    rf"|\b(?:first|top|order|descending|ascending|a to z|(?:{RANKED}) last)\s*$",
    re.IGNORECASE,
)
_ARTICLE: Final = regex(r"^(?:(?:the|its|their|his|her|our|and|also|each)\s+)+", re.IGNORECASE)
_CHOOSES: Final = regex(
    r"\b(?:for|with|who|that|which|whose|where|when|from|per|each|every|all|if|is|are|was|were|has|have)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 4
"""Words of the name of a column in a list."""


def listed(question: str) -> tuple[tuple[str, ...], ...]:
    """The words of each column of the one list in a question; empty where there is none, or it is not clear.

    What follows the list in its sentence may only say how rows are sorted.
    """
    plain = _ASIDE.sub(lambda aside: " (" if _LISTS.search(aside[1]) else "", question)
    lists = [columns for match in _BEGINS.finditer(plain) if (columns := _list(plain[match.end() :]))]
    return lists[0] if len(lists) == 1 else ()


def _list(text: str) -> tuple[tuple[str, ...], ...]:
    end = _ENDS.search(text)
    if end is None or end[0] == "(" or (end[0] == ";" and _is_item(_ENDS.split(text[end.end() :], maxsplit=1)[0])):
        return ()
    sentence = text[: end.start()]
    parts = [part for part in re.split(r",(?:\s+and\b)?|\s+and\s+", sentence) if part.strip()]
    items: list[tuple[str, ...]] = []
    for at, part in enumerate(parts):
        if _ORDER.search(part):
            return tuple(items) if len(items) > 1 and all(map(_ORDER.search, parts[at:])) else ()
        if not _is_item(part):
            return ()
        items.append(words(_name(part)))
    return tuple(items) if len(items) > 1 else ()


def _is_item(part: str) -> bool:
    """Whether a part of a sentence may be an item of a list: a few words that choose no rows and no order."""
    name = _name(part)
    return 0 < len(words(name)) <= _LONGEST and not _CHOOSES.search(name) and not _ORDER.search(part)


def _name(part: str) -> str:
    return _ARTICLE.sub("", part.strip())
