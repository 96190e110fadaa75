"""What an English question says of the shape of its answer: how many columns, one row or several.

Rules of thumb, checked on questions and gold queries of Spider's training split; a question that they do not
understand says nothing.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.select.cues import GREATEST, SMALLEST

_HOW_MANY: Final = re.compile(r"^\W*how many\b", re.IGNORECASE)
_EACH: Final = re.compile(r"\b(?:each|every|per|by|respectively|different|distinct|all)\b", re.IGNORECASE)
_GROUPS: Final = re.compile(r"\b(?:(?:for|of|in|by|to) (?:each|every)|per)\b", re.IGNORECASE)
_DIFFERENT: Final = re.compile(r"\b(?:different|distinct|unique)\b", re.IGNORECASE)
_BEST: Final = re.compile(rf"\b(?:{GREATEST}|{SMALLEST}|oldest|youngest)\b", re.IGNORECASE)
_SEVERAL: Final = re.compile(
    r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|and|or|order(?:ed)?|sort(?:ed)?|than|all|list"
    r"|at (?:least|most)|are)\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"^\W*(?:(?:please|can you|could you)\s+)?(?:what(?:'s| is| are| was| were)?|which|who|whose|list(?: out)?"
    r"|show(?: me)?|find(?: out)?|give(?: me)?|return|tell me|display|report|select|state|get)\b\W*"
    r"(?:(?:all|both)\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
_BOUND: Final = re.compile(
    r"\b(?:where|for|of|who|that|which|whose|with|in|from|when|by|sort(?:ed)?|order(?:ed)?|having|on|at|to|per|each"
    r"|do|does|did|has|have|had|is|are|was|were|if)\b|[?.;]",
    re.IGNORECASE,
)
_FIGURE: Final = re.compile(r"\b(?:number|total|average|mean|maximum|minimum|sum|max|min)\b", re.IGNORECASE)
_MORE: Final = re.compile(
    r"\b(?:and|as well as) (?:the|how|when|where|what|their|its)\b|[.?]\s+(?:list|show|find|give|return|what)\b",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:also\s+)?|\s+as well as\s+|\s+along with\s+", re.IGNORECASE)


def items(question: str) -> int:
    """How many columns the question asks for, by what it lists before it goes on about them; 0 where unclear."""
    if _HOW_MANY.match(question):
        return 0 if _EACH.search(question) else 1
    asking = _ASKING.match(question)
    if asking is None:
        return 0
    whole = question[asking.end() :]
    listed = _BOUND.split(whole, maxsplit=1)[0]
    if (_FIGURE.search(listed) and _EACH.search(whole)) or _MORE.search(whole[len(listed) :]):
        return 0  # whether a figure comes with what it is of, and what is asked for later on, is anyone's guess
    return len([one for one in _JOINT.split(listed) if one.strip()])


def number(question: str) -> bool:
    """Whether a number is the whole answer: how many, for nothing apart."""
    return bool(_HOW_MANY.match(question)) and not _EACH.search(question)


def one_row(question: str) -> bool:
    """Whether the answer is a single row: a number, or the one that is the most or the least of something."""
    return number(question) or (
        bool(_BEST.search(question)) and not (_SEVERAL.search(question) or _EACH.search(question))
    )


def groups(question: str) -> bool:
    """Whether something is asked for each of several."""
    return bool(_GROUPS.search(question))


def different(question: str) -> bool:
    """Whether nothing may be told twice."""
    return bool(_DIFFERENT.search(question))
