"""Questions that are refused before a model is asked: empty ones, and orders to change data."""

from __future__ import annotations

import re

from sqljury.errors import QuestionError
from sqljury.patterns import regex
from sqljury.types import Question

_ALL = r"(?:all|every|each|the|this|these|that|those|my|our|\w+'s)\b"
_ASKED = (
    r"(?:(?:please|kindly|now|just|then|go ahead and|(?:can|could|would|will) you|sql:?"
    r"|i(?: want|'d like| would like)(?: you)? to|let's)[\s,]*)*"
)
_PERIOD = r"(?:second|minute|hour|day|week|month|quarter|year)s?\b"
_CUT = (  # numbers, dates and texts that are cut, not tables
    r"(?!.*\btables?\b)(?: (?:the )?(?:decimals?|decimal places|fractions?|digits|cents)\b"
    r"|[^,;]* to (?:(?:\d|one|two|three|four) (?:decimal|digit|place|char|letter)"
    rf"|(?:whole|full|integers?)\b|(?:the )?{_PERIOD}))"
)
_CHANGE = regex(
    rf"{_ASKED}(?:(?:delete|truncate(?!{_CUT})|erase|wipe)\b"
    rf"(?! (?:rate|date|time|operation)| \w+ (?:per\b|by {_PERIOD}|over time))"
    rf"|(?:remove|drop) (?:{_ALL}|from|table|column|view|index|database)(?! duplicate)"
    r"|insert (?:an?|the|new|into|this|these)\b|add (?:an? )?(?:new )?(?:row|record|entry|column|table)\b"
    rf"|update {_ALL}|(?:set|change|rename) {_ALL}.* (?:to|into|as) "
    rf"|(?:increase|decrease|raise|lower|reduce) {_ALL}.* by "
    r"|alter (?:the )?(?:table|column|schema|database)\b|(?:grant|revoke) (?:all|select|insert|access|permission)"
    r"|create (?:an? |the )?(?:new )?(?:table|view|index|column|database|trigger|user)\b)",
    re.IGNORECASE,
)
_EDIT = regex(
    rf"{_ASKED}(?!.*\b(?:table|view|index|database|schema)\b)"
    r"(?:(?:remove|drop)\b(?! (?:all|every|each) (?!filter|condition|limit)\w+\W*$)"
    r"|delete (?:the |this |that )?(?:\w+ )?column\b"
    r"|(?:add|insert|create) (?:an? |the )?(?:new )?column\b|add an? (?:row|entry) .*\b(?:totals?|sums?|averages?)\b"
    r"|(?:set|change|rename) (?:the|this|that|these|those) (?:(?!of |for |in )\w+ ){0,3}?(?:to|into|as) "
    r"|update (?:the|this|that) (?:query|question|results?|answer|list|output|chart)\b"
    r"|(?:increase|decrease|raise|lower|reduce) the (?:limit|threshold|number of (?:rows|results|decimals)) by )",
    re.IGNORECASE,
)
"""What changes the query of an earlier question: its rows, columns, conditions and order, not those of the database."""


def check_question(question: Question, *, follows: bool = False) -> None:
    """Raise ``QuestionError`` for a question that is empty, not text, or plainly an order to change data.

    What is not plain is left to the model: the pipeline sees what it writes, and refuses then. A question that
    ``follows`` others may change what they asked for ("now drop the last column"): check it again once it stands alone.
    """
    text = question.text.strip()
    if not text:
        raise QuestionError("the question is empty; ask something, such as: how many customers are there?")
    try:
        f"{question.text}{question.evidence}".encode()
    except UnicodeEncodeError:
        raise QuestionError("the question holds bytes that are not UTF-8 text; type it anew") from None
    if _CHANGE.match(text) and not (follows and _EDIT.match(text)):
        raise QuestionError(
            f"{text[:80]!r} asks to change the database, and sqljury only reads; "
            "ask for the rows instead, such as: which rows would that be?"
        )
