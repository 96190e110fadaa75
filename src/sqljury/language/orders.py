"""Questions that are refused before a model is asked: empty ones, and orders to change data."""

from __future__ import annotations

import re

from sqljury.errors import QuestionError
from sqljury.types import Question

_ALL = r"(?:all|every|each|the|this|these|that|those|my|our|\w+'s)\b"
_CHANGE = re.compile(
    r"(?:(?:please|kindly|now|just|then|go ahead and|(?:can|could|would|will) you|sql:?"
    r"|i(?: want|'d like| would like)(?: you)? to|let's)[\s,]*)*"
    r"(?:(?:delete|truncate|erase|wipe)\b(?! (?:rate|date|time|operation))"
    rf"|(?:remove|drop) (?:{_ALL}|from|table|column|view|index|database)(?! duplicate)"
    r"|insert (?:an?|the|new|into|this|these)\b|add (?:an? )?(?:new )?(?:row|record|entry|column|table)\b"
    rf"|update {_ALL}|(?:set|change|rename) {_ALL}.* (?:to|into|as) "
    rf"|(?:increase|decrease|raise|lower|reduce) {_ALL}.* by "
    r"|alter (?:the )?(?:table|column|schema|database)\b|(?:grant|revoke) (?:all|select|insert|access|permission)"
    r"|create (?:an? |the )?(?:new )?(?:table|view|index|column|database|trigger|user)\b)",
    re.IGNORECASE,
)


def check_question(question: Question) -> None:
    """Raise ``QuestionError`` for a question that is empty, not text, or plainly an order to change data.

    What is not plain is left to the model: the pipeline sees what it writes, and refuses then.
    """
    text = question.text.strip()
    if not text:
        raise QuestionError("the question is empty; ask something, such as: how many customers are there?")
    try:
        f"{question.text}{question.evidence}".encode()
    except UnicodeEncodeError:
        raise QuestionError("the question holds bytes that are not UTF-8 text; type it anew") from None
    if _CHANGE.match(text):
        raise QuestionError(
            f"{text[:80]!r} asks to change the database, and sqljury only reads; "
            "ask for the rows instead, such as: which rows would that be?"
        )
