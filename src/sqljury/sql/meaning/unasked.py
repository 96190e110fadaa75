"""Conditions that the question does not ask for: on a day that it does not name, or against rows that it includes.

Small models copy what questions often have: only rows before some day, or without what is sold or cancelled.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.alike import MENTIONED, likeness
from sqljury.language.things import is_english
from sqljury.language.words import NUMBER_WORDS, positions, words
from sqljury.sql.conditions import take_out
from sqljury.sql.meaning.base import DAY_WORDS, Asked, Change, compared, day_of, held, holds_days, single_select
from sqljury.sql.parse import exp

_TOKEN: Final = re.compile(r"[a-z0-9]+")
_OF_TIME: Final = re.compile(
    r"\d|\b(?:today|tonight|yesterday|tomorrow|now|nowadays|current\w*|present\w*|recent\w*|last|latest|past|this|next"
    r"|ago|yet|still|already|so far|ever|never|up ?coming|future|former\w*"
    r"|previous\w*|earl\w+|late\w*|old\w*|new\w*|young\w*|over ?due|due|expir\w+|valid\w*|active|open|years?|quarters?"
    r"|months?|weeks?|days?|dates?|times?|century|decades?|seasons?|spring|summer|autumn|winter|christmas|easter"
    r"|long\w*|historic\w*|modern"
    r"|jan\w*|feb\w*|mar|march|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|\w+days?"
    r"|since|until|till|during|when|while"
    r"|(?:before|after)(?! (?:\w+ )?(?:fees?|tax(?:es)?|vat|discounts?|costs?|charges)\b)"
    r"|ages?|aged|aging|ageing|born|birth\w*|adults?|minors?|child\w*|kids?|bab(?:y|ies)|infants?|toddlers?|seniors?|elder\w*"
    r"|underage|juvenile\w*|youth\w*|adolescen\w+|retire\w*|pension\w*|generations?|millennial\w*|boomers?|veterans?"
    r"|\w*teen\w*|eleven|twelve|(?:twen|thir|four|for|fif|six|seven|eigh|nine)t(?:y|ies)(?:-\w+)?|hundreds?|thousands?|millennium"
    r"|half|fiscal|terms?|semesters?|holidays?|vacations?|morning|afternoon|evening|night|noon|midnight|hours?|era|epoch|periods?"
    r"|wars?|pandemic|covid|pre|post|ancient|medieval|vintage|antique|classic|contemporary|soon|lately|pending|outstanding|ongoing"
    rf"|effective|lapsed|{'|'.join(NUMBER_WORDS[1:])})\b",
    re.IGNORECASE,
)
"""Anything in a question that a condition on a day may be meant for."""
_INCLUDING: Final = re.compile(r"(?<!\bnot )(?<!n't )(?<!n’t )(?<!without )\bincluding\b", re.IGNORECASE)
_ALSO: Final = re.compile(
    r"(?<!\bnot )(?<!n't )(?<!n’t )(?<!without )\b(?:including|also|even) (?:the )?"
    r"(?:those|ones|everyone|everybody|anyone|people) (?:who|that|which)\b",
    re.IGNORECASE,
)
_INCLUDED: Final = re.compile(r"(?<!\bnot )\b(?:included|as well|too)\b", re.IGNORECASE)
_NEAR: Final = 4
"""Words beside "including" or "included" that may be a value."""
_FAR: Final = 6
"""Words behind "also" that may say who is meant too."""
_MOST_TEXTS: Final = 50
"""A column with more different values holds names."""


def unasked_days(tree: exp.Query, asked: Asked) -> Change | None:
    """Remove conditions on days from a question that says nothing of time: ``received_on < '2023-01-01'``.

    Whether a question in another language than English does is not known.
    """
    select, question = single_select(tree), asked.question
    if select is None or _OF_TIME.search(question.whole) or not is_english(question.text):
        return None
    comparisons = compared(select, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ)
    with_days = [node for node, _, constant in comparisons if day_of(constant) is not None]
    with_days += filter(_is_between_days, select.find_all(exp.Between))
    if not take_out(select, "where", with_days):
        return None
    return Change("the question names no day", without=("conditions",))


def _is_between_days(node: exp.Between) -> bool:
    return isinstance(node.this, exp.Column) and None not in (day_of(node.args["low"]), day_of(node.args["high"]))


def included(tree: exp.Query, asked: Asked) -> Change | None:
    """Remove ``status <> 'SOLD'`` where the question says "including sold ones" or "sold ones included".

    Likewise ``left_on IS NULL`` for "also those who left".
    """
    select, phrases = single_select(tree), _said_to_be_included(asked.question.text)
    if select is None or not (phrases or _ALSO.search(asked.question.text)):
        return None
    left_out = [
        node for node, column, other in compared(select, exp.NEQ) if _is_included(column, other, phrases, asked)
    ]
    left_out += [node for node in select.find_all(exp.Is) if _is_also_meant(node, asked)]
    if not take_out(select, "where", left_out):
        return None
    return Change("the question includes what the query leaves out", without=("conditions",))


def _is_also_meant(node: exp.Is, asked: Asked) -> bool:
    """Whether a condition is that a day is NULL, and the question says that those with this day are meant too."""
    known = held(node.this, asked.schema)
    if known is None or not isinstance(node.expression, exp.Null) or not holds_days(known, asked.data):
        return False
    named = {*words(known.column.name)} - DAY_WORDS
    behind = [asked.question.text[match.end() :] for match in _ALSO.finditer(asked.question.text)]
    following = (word for text in behind for word in words(" ".join(text.split()[:_FAR])))
    return any(likeness(word, name) >= MENTIONED for word in following for name in named)


def _said_to_be_included(question: str) -> list[list[str]]:
    """The words behind each "including" and before each "included"."""
    behind = [_TOKEN.findall(question[match.end() :].lower())[:_NEAR] for match in _INCLUDING.finditer(question)]
    before = [_TOKEN.findall(question[: match.start()].lower())[-_NEAR:] for match in _INCLUDED.finditer(question)]
    return behind + before


def _is_included(column: exp.Column, other: exp.Expr, phrases: list[list[str]], asked: Asked) -> bool:
    """Whether a column is compared with a value of its own that the question includes."""
    known = held(column, asked.schema)
    if known is None or not isinstance(other, exp.Literal) or not other.is_string:
        return False
    values = asked.data.values(known.table, known.column.name)
    tokens = _TOKEN.findall(other.name.lower())
    if not tokens or other.name not in values or len(set(values)) > _MOST_TEXTS:
        return False
    return any(True for near in phrases for _ in positions(tokens, near))
