"""Wrong semantic logic that shows in the words: the question says one thing and the query does the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from sqljury.audit.finding import Finding
from sqljury.audit.subject import Subject, shown, within
from sqljury.language.cues import HIGHEST, LOWEST
from sqljury.language.words import NUMBER_WORDS

_HIGH: Final = re.compile(rf"\b(?<!\bat )(most(?! recent| poorly)|{HIGHEST}|best paid)\b")
_LOW: Final = re.compile(rf"\b(?<!\bat )(least|{LOWEST})\b")
_RANK: Final = re.compile(r"rank|position|place|order_|level|birth|date|year|found|built")
"""Columns of which the least may be the most: the first rank is the highest."""

_DOWN: Final = re.compile(
    r"\b(descending|decreasing|desc\b|reverse alphabetical|from (?:high|highest|most|largest|biggest) )"
)
_UP: Final = re.compile(
    r"\b(ascending|increasing|(?<!reverse )(?:alphabetical|lexicographic(?:al)?)|from (?:low|lowest|least|smallest) )"
)
_OVER: Final = re.compile(
    r"\b(more than|greater than|higher than|larger than|bigger than|above|over|exceed(?:s|ing)?|longer than|"
    r"heavier than)\b"
)
_UNDER: Final = re.compile(r"\b(less than|fewer than|lower than|smaller than|below|under|shorter than|lighter than)\b")
_AT_LEAST: Final = re.compile(r"\b(at least|or more|or above|no less than|minimum of|or higher|or greater)\b")
_AT_MOST: Final = re.compile(r"\b(at most|or less|or fewer|no more than|or below|maximum of|up to)\b")
NEGATION: Final = re.compile(
    r"\b(not|never|no|without|nor|neither|don't|doesn't|didn't|haven't|hasn't|isn't|aren't|weren't)\b|n't\b"
)


def superlative(subject: Subject) -> Iterator[Finding]:
    """The question asks for the most and the query takes the least, or the other way round."""
    if subject.tree is None:
        return
    text = subject.question.lower()
    high, low = _HIGH.search(text), _LOW.search(text)
    if bool(high) == bool(low):
        return
    taken = set()
    clause: exp.Expr | None = None
    for select in subject.selects:
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None:
            clause = order.expressions[0]
            taken.add("most" if clause.args.get("desc") else "least")
        for node in within(select, exp.Max, exp.Min):
            clause = node
            taken.add("most" if isinstance(node, exp.Max) else "least")
    match = high or low
    wanted = "most" if high else "least"
    ranks = clause is not None and _RANK.search(clause.sql().lower())
    if match and clause is not None and not ranks and taken and wanted not in taken:
        yield Finding(
            "semantic logic",
            "superlative",
            0.8,
            shown(clause),
            f"the question says {match[0]!r}; the query takes the {next(iter(taken))}",
        )


def order_direction(subject: Subject) -> Iterator[Finding]:
    """The question names a direction, and the query sorts in the other."""
    tree = subject.tree
    order = None if tree is None else tree.args.get("order")
    text = subject.question.lower()
    down, up = _DOWN.search(text), _UP.search(text)
    if order is None or bool(down) == bool(up) or "revers" in text:
        return
    directions = {bool(term.args.get("desc")) for term in order.expressions if isinstance(term, exp.Ordered)}
    match = down or up
    if match and directions == {not down}:
        yield Finding(
            "semantic logic", "order-direction", 0.85, shown(order), f"the question says {match[0].strip()!r}"
        )


def comparison(subject: Subject) -> Iterator[Finding]:
    """One comparison in words, one in the query, and they are not the same."""
    if subject.tree is None:
        return
    text = subject.question.lower()
    said = [
        (match, kind)
        for kind, pattern in (("over", _OVER), ("under", _UNDER), ("at least", _AT_LEAST), ("at most", _AT_MOST))
        for match in pattern.finditer(text)
    ]
    kinds: dict[type, str] = {exp.GT: "over", exp.LT: "under", exp.GTE: "at least", exp.LTE: "at most"}
    made = list(subject.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between))
    if (
        len(said) != 1
        or len(made) != 1
        or type(made[0]) not in kinds
        or NEGATION.search(text)
        or re.search(r"\bequal|\bthan at\b", text)
    ):
        return
    match, kind = said[0]
    own = kinds[type(made[0])]
    if own == kind or not _same_number(made[0], text, match.end()):
        return
    high = {"over", "at least"}
    opposite = (own in high) != (kind in high)
    evidence = f"the question says {match[0]!r}; the query has {shown(made[0])}"
    yield Finding("semantic logic", "comparison", 0.8 if opposite else 0.7, shown(made[0]), evidence)


def _same_number(node: exp.Expr, text: str, at: int) -> bool:
    """Whether the query compares with the number of the question itself, and not with the one beside it."""
    right = node.expression
    if not isinstance(right, exp.Literal):
        return True
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    spelled = re.search(rf"\b({'|'.join(NUMBER_WORDS)})\b", text[max(0, at - 40) :])
    if digits:
        return float(digits[0].replace(",", "")) == _float(right.name)
    return spelled is not None and float(NUMBER_WORDS.index(spelled[1])) == _float(right.name)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def both_or_either(subject: Subject) -> Iterator[Finding]:
    """The question asks for what has both values and the query for either, or the other way round."""
    tree, text = subject.tree, subject.question.lower()
    if tree is None:
        return
    both = re.search(r"\bboth\b[^.?!]*\band\b", text)
    either = re.search(r"\beither\b[^.?!]*\bor\b", text)
    if both and not either and " or " not in text and not tree.find(exp.Intersect, exp.Having, exp.In, exp.Exists):
        for node in tree.find_all(exp.Or):
            sides = (node.left, node.right)
            columns = {side.this.sql().lower() for side in sides if isinstance(side, exp.EQ)}
            if len(columns) == 1 and all(isinstance(side, exp.EQ) for side in sides):
                yield Finding(
                    "semantic logic", "both-or-either", 0.6, shown(node), "the question says 'both', the query OR"
                )
                return
    if either and not both and isinstance(tree, exp.Intersect):
        yield Finding(
            "semantic logic", "both-or-either", 0.8, "INTERSECT", "the question says 'either', the query INTERSECT"
        )


_AGED: Final = (
    (re.compile(r"\boldest\b"), re.compile(r"\bage\b|_age\b"), True),
    (re.compile(r"\byoungest\b"), re.compile(r"\bage\b|_age\b"), False),
    (re.compile(r"\boldest\b"), re.compile(r"birth|born|built|found|date|year"), False),
    (re.compile(r"\byoungest\b|\bnewest\b"), re.compile(r"birth|born|built|found|date|year"), True),
    (re.compile(r"\bearliest\b"), re.compile(r"date|year|time"), False),
    (re.compile(r"\blatest\b|\bmost recent(?:ly)?\b"), re.compile(r"date|year|time"), True),
)
"""What the question says, what the column is called, and whether its greatest value is meant."""


def age_or_time(subject: Subject) -> Iterator[Finding]:
    """The oldest, youngest, earliest or latest is asked for, and the query takes the other end."""
    text = subject.question.lower()
    said = {match[0] for phrase, _, _ in _AGED if (match := phrase.search(text))}
    if subject.tree is None or len(said) != 1:
        return
    ends = []
    for select in subject.selects:
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None and len(order.expressions) == 1:
            ends.append((order.expressions[0], bool(order.expressions[0].args.get("desc"))))
        ends += [(node, isinstance(node, exp.Max)) for node in within(select, exp.Max, exp.Min)]
    if len(ends) != 1 or not isinstance(ends[0][0].this, exp.Column):
        return
    node, greatest = ends[0]
    for phrase, name, wanted in _AGED:
        match = phrase.search(text)
        if match and name.search(node.this.name.lower()) and wanted != greatest:
            end = "greatest" if greatest else "least"
            evidence = f"the question says {match[0]!r}; the query takes the {end} {node.this.name}"
            yield Finding("semantic logic", "age-or-time", 0.8, shown(node), evidence)
            return
