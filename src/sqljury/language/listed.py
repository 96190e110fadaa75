"""The columns that an English question lists: "plate, make, model and status, ordered by plate"."""

from __future__ import annotations

import re
from typing import Final

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
_ORDER: Final = regex(
    r"^\s*(?:sort\w*|order\w*|alphabetical\w*|by|then)\b|\b(?:first|top|order|descending|ascending|a to z)\s*$",
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
    lists = [found for match in _BEGINS.finditer(question) if (found := _list(question[match.end() :]))]
    return lists[0] if len(lists) == 1 else ()


def _list(text: str) -> tuple[tuple[str, ...], ...]:
    sentence = _ENDS.split(text, maxsplit=1)[0]
    parts = [part for part in re.split(r",(?:\s+and\b)?|\s+and\s+", sentence) if part.strip()]
    items: list[tuple[str, ...]] = []
    for at, part in enumerate(parts):
        if _ORDER.search(part):
            return tuple(items) if len(items) > 1 and all(map(_ORDER.search, parts[at:])) else ()
        name = _ARTICLE.sub("", part.strip())
        named = words(name)
        if not named or len(named) > _LONGEST or _CHOOSES.search(name):
            return ()
        items.append(named)
    return tuple(items) if len(items) > 1 else ()
