"""Numbers that the question wants rounded and the query shows with all their digits."""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp

_COUNTS: Final = {"no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}
_DECIMALS: Final = re.compile(
    r"\b(?P<count>no|zero|one|two|three|four|[0-4])[ -]+(?:decimals?\b|decimal (?:place|digit)s?\b|digits? after)",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"\bround(?:ed)?\b[^,.;:]{0,20}\bto (?:the )?(?:nearest |next |full )?(?:whole\b|integer)|"
    r"\bto (?:the )?(?:nearest )?whole \w+|\bto the nearest (?:day|hour|minute|euro|dollar|pound|percent|unit)\b",
    re.IGNORECASE,
)
_CENTS: Final = re.compile(r"\b(?:to|on) (?:the )?(?:nearest )?cents?\b", re.IGNORECASE)
_OTHERWISE: Final = re.compile(r"\bround(?:ed|ing)? (?:up|down)\b|\btruncat|\bcut off\b|\bfractions?\b", re.IGNORECASE)
_WRITTEN: Final = frozenset({"printf", "format", "to_char", "trunc", "truncate"})


def rounded(tree: exp.Query, asked: Asked) -> Change | None:
    """Round averages, ratios and sums to the decimals that the question names, where it names them once.

    Counts and stored values stay, and so do queries that round anything.
    """
    digits = _digits(asked.question.text)
    if digits is None or not isinstance(tree, exp.Select) or tree.find(exp.Round) is not None:
        return None
    terms = [term.unalias() for term in tree.expressions]
    fractions = [term for term in terms if _has(term, exp.Avg, exp.Div) or _is_duration(term)]
    shown = fractions or [term for term in terms if _has(term, exp.Sum)]
    grouped = tree.args.get("group")
    keys = [] if grouped is None else grouped.expressions
    shown = [term for term in shown if term not in keys and (not keys or term.find(exp.AggFunc) is not None)]
    for term in shown:
        number = term.copy()
        if asked.dialect == "postgres" and digits:  # which rounds numeric alone to digits
            number = exp.cast(number, "DECIMAL")
        places = exp.Literal.number(digits) if digits else None
        term.replace(exp.Round(this=number, decimals=places))
    return Change(f"the question wants {digits or 'no'} decimal{'' if digits == 1 else 's'}") if shown else None


def _digits(question: str) -> int | None:
    """The decimals that a question wants; None where it names none, several, or another way to round."""
    if _OTHERWISE.search(question):
        return None
    named = {
        _COUNTS[text] if text in _COUNTS else int(text)
        for text in (match["count"].lower() for match in _DECIMALS.finditer(question))
    }
    named |= {0} if _WHOLE.search(question) else set()
    named |= {2} if _CENTS.search(question) else set()
    return named.pop() if len(named) == 1 else None


def _has(term: exp.Expr, *kinds: type[exp.Expr]) -> bool:
    """Whether an expression has a part of these kinds, and none that settles its digits or hides them."""
    settled = (exp.Floor, exp.Ceil, exp.Trunc, exp.Format, exp.ToChar, exp.Subquery, exp.DPipe)
    return (
        term.find(*kinds) is not None
        and term.find(*settled) is None
        and not any(cast.to.is_type(*exp.DataType.INTEGER_TYPES, *exp.DataType.TEXT_TYPES) for cast in _casts(term))
        and not any(node.name.lower() in _WRITTEN for node in term.find_all(exp.Anonymous))
    )


def _casts(term: exp.Expr) -> list[exp.Cast]:
    """The casts of a whole expression, not of a part of a sum or average."""
    return [cast for cast in term.find_all(exp.Cast) if cast.find_ancestor(exp.AggFunc, exp.Div) is None]


def _is_duration(term: exp.Expr) -> bool:
    """Whether an expression subtracts days of SQLite, which have fractions."""
    return any(node.name.lower() == "julianday" for node in term.find_all(exp.Anonymous)) and _has(term, exp.Sub)
