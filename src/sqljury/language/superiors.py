"""Rows above and below others: "who earns more than their manager", "categories under Food"."""

from __future__ import annotations

import re
from typing import Final, Literal

from sqljury.patterns import regex

Comparison = Literal["more", "less", "earlier", "later", "older", "younger", "same", "different"]
"""How the first of two rows compares with the second; "older" is more of an age, and less of a date of birth."""

_WORDS: Final[dict[Comparison, str]] = {
    "more": "more|higher|greater|larger|bigger|heavier|taller|better|exceeds?|exceeding|out-?earns?|out-?earning",
    "less": "less|lower|fewer|smaller|lighter|shorter|worse",
    "earlier": "earlier|sooner|before",
    "later": "later|after",
    "older": "older|longer",
    "younger": "younger|newer",
    "same": "same",
    "different": "different|another|other",
}
_BOSS: Final = "managers?|supervisors?|boss(?:es)?|superiors?"
_ABOVE: Final = (
    rf"(?:(?:their|his or her|his|her|its)(?: (?:own|direct|line|immediate|respective|current|team))*"
    rf" (?:{_BOSS}|leads?|leaders?|heads?|parents?)|(?:the|the (?:direct|line|immediate)) (?:{_BOSS}))"
)
_OWNED: Final = "salary|salaries|pay|wages?|income|earnings|bonus|budget|price|age|level|grade|rate|size|height|weight"
_ELSEWHERE: Final = r"(?! (?:of|in|at|from|for|with|who|that|named|called)\b)"
"""Not before words that tell of one certain superior: "the manager of Sales"."""
_HIS_OWN: Final = rf"(?:['’]s|s['’]|['’])(?: (?:{_OWNED})\b|(?=\W*$|[,.;:?]| (?:and|but)\b))"
"""What the superior has: "their manager's salary", but not "their manager's manager"."""
_END: Final = rf"(?:\b(?!['’]){_ELSEWHERE}|{_HIS_OWN})"
_ANY: Final = "|".join(_WORDS.values())
_COMPARED: Final = regex(
    rf"\b(?P<word>{_ANY})\b(?P<between>(?: (?!(?:than|as|from|{_ANY})\b)[\w'’-]+){{0,4}}?)"
    rf"(?P<joint> (?:than|as|from))?(?: (?:that of|what))? {_ABOVE}{_END}",
    re.IGNORECASE,
)
_AS_MUCH: Final = regex(
    rf"\b(?:at least|twice|two times|three times) as (?:much|many|high|large|big|heavy|tall)(?: [\w-]+){{0,3}}? as"
    rf"(?: that of)? {_ABOVE}{_END}",
    re.IGNORECASE,
)
_NEGATED: Final = regex(r"(?:\b(?:no|not|never|neither|nor|without|at most|half)\b|n['’]t\b)", re.IGNORECASE)
_BEFORE: Final = 5
"""Words before a comparison among which a negation may concern it."""
_BARE: Final = ("exceed", "out", "before", "after")
"""First letters of words that compare without "than"."""
_PERSON: Final = regex(r"\b(?:persons?|people|man|woman|one)\b", re.IGNORECASE)
_BELOW: Final = regex(
    r"\b(?:reports|subordinates|underlings|supervisees|children|report(?:s|ed|ing)? (?:\w+ )?to"
    r"|(?:(?:they|he|she|it) (?:\w+ly )?|who |that )(?:manages?|supervises?|leads?|oversees?|heads?)"
    r"|(?:managed|supervised|led|overseen|oversaw|headed)"
    r"|below|under|beneath)\b",
    re.IGNORECASE,
)
_PARTS: Final = r"sub-?(?:categor|group|unit|type|class|division|department|region)\w*"
_BELOW_NAME: Final = (
    r"\b(?:under|below|beneath|underneath) (?:the |our )?(?:[\w-]+ )?[\"'“‘]?{name}(?!\w)"
    r"|\b(?:children|{parts}|descendants) of (?:the )?(?:[\w-]+ )?[\"'“‘]?{name}(?!\w)"
    r"|(?<!\w){name}[\"'”’]?(?:'s)? (?:children|{parts})"
)
"""Before or after a name, what is below it."""
_SUB: Final = regex(r"\bsub-?", re.IGNORECASE)
_KEY: Final = regex(r"manage|mgr|supervis|boss|superior|lead|head|parent|chief|report", re.IGNORECASE)


def compared_with_superior(question: str) -> Comparison | None:
    """How the question compares somebody with their own superior; None where it does not, or says it twice or negated.

    None too where the question speaks of those below somebody: "less than somebody who reports to them".
    """
    if _BELOW.search(question):
        return None
    comparisons: list[tuple[int, Comparison]] = [(match.start(), "more") for match in _AS_MUCH.finditer(question)]
    comparisons += [
        (match.start("word"), _kind(match["word"])) for match in _COMPARED.finditer(question) if _is_whole(match)
    ]
    if len(comparisons) != 1:
        return None
    start, kind = comparisons[0]
    before = " ".join(re.split(r"[.;:]", question[:start])[-1].split()[-_BEFORE:])
    return None if _NEGATED.search(before) else kind


def told_below(name: str, question: str) -> str:
    """The question until it asks for what is below a named row, without "sub": "all categories under Food".

    Empty where it does not: where the name is the row's own, or not in the question.
    """
    pattern = _BELOW_NAME.format(name=re.escape(name.strip()), parts=_PARTS)
    match = re.search(pattern, question, re.IGNORECASE) if name.strip() else None
    return "" if match is None else _SUB.sub("", question[: match.end()])


def leads_upward(column: str) -> bool:
    """Whether a key that leads to another row of its table is called after superiors: ``manager_id``, ``ReportsTo``."""
    return bool(_KEY.search(column))


def _is_whole(match: re.Match[str]) -> bool:
    """Whether the words around "than" belong together: "before their boss", "more than", "the same city as"."""
    word, joint = match["word"].lower(), (match["joint"] or "").strip().lower()
    if word.startswith(_BARE):
        return not joint and not match["between"]
    if _NEGATED.search(match["between"]) or _PERSON.search(match["between"]):
        return False
    kind = _kind(word)
    if kind == "same":
        return joint == "as" and bool(match["between"])
    return joint == "than" or (kind == "different" and joint == "from")


def _kind(word: str) -> Comparison:
    return next(kind for kind, words in _WORDS.items() if re.fullmatch(words, word, re.IGNORECASE))
