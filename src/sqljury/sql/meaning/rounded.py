"""Numbers that the question wants rounded and the query shows with all their digits."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.words import NUMBER_WORDS
from sqljury.sql.meaning.base import Asked, Change, is_julian
from sqljury.sql.parse import exp
from sqljury.sql.resolve import tables_of

_DECIMALS: Final = re.compile(
    r"(?:\b(?P<count>one|two|three|four|[1-4])|\b(?:to|in|rounded to) (?:no|zero|0))[ -]+"
    r"(?:decimals?\b|decimal (?:place|digit)s?\b|digits? after)",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"\bround(?:ed)?\b[^,.;:]{0,20}\bto (?:the )?(?:nearest |next |full )?(?:whole\b|integer|(?<=nearest )"
    rf"(?!(?:cents?|penny|hal(?:f|ves)|quarters?|dozen|(?:{'|'.join(NUMBER_WORDS)}|hundred|thousand|million)(?:ths?)?)\b)"
    r"[^\W\d]\w*)|\bto whole (?:\w+s|percent)\b",
    re.IGNORECASE,
)
_PARTS: Final = ("tenth", "hundredth", "thousandth")
"""Each a decimal more."""
_NEAREST: Final = re.compile(
    rf"\bto (?:the )?nearest ({'|'.join(_PARTS)})\b(?! of an? (?:thousand|million|billion|cent))", re.IGNORECASE
)
_CENTS: Final = re.compile(r"\b(?:to|on) (?:the )?(?:nearest )?(?:cents?|penny)\b", re.IGNORECASE)
_OTHERWISE: Final = re.compile(r"\bround(?:ed|ing)? (?:up|down)\b|\btruncat|\bcut off\b|\bfractions?\b", re.IGNORECASE)


def rounded(tree: exp.Query, asked: Asked) -> Change | None:
    """Round averages, ratios and durations, or if none is shown sums, to the decimals that the question names once.

    Counts, texts and stored values stay, and so do queries that round anything.
    """
    digits = _digits(asked.question.text)
    if digits is None or not isinstance(tree, exp.Select) or tree.find(exp.Round) is not None:
        return None
    if tree.args.get("distinct") is not None:  # fewer rows would be different
        return None
    terms = [term.unalias() for term in tree.expressions]
    shown = [term for term in terms if _is_fraction(term)] or [term for term in terms if _is_sum(term)]
    grouped = tree.args.get("group")
    keys = [] if grouped is None else grouped.expressions
    shown = [term for term in shown if term not in keys and (not keys or term.find(exp.AggFunc) is not None)]
    for term in shown:
        _keep_exact(tree, term, asked)
        number = term.copy()
        if asked.dialect == "postgres" and digits:  # which rounds numeric alone to digits
            number = exp.cast(number, "DECIMAL")
        decimals = exp.Literal.number(digits) if digits else None
        term.replace(exp.Round(this=number, decimals=decimals))
    return Change(f"the question wants {digits or 'no'} decimal{'' if digits == 1 else 's'}") if shown else None


def _is_fraction(node: exp.Expr) -> bool:
    """Whether the value of an expression is an average, a ratio or a duration, or is computed from one."""
    if isinstance(node, exp.Avg | exp.Div):
        return True
    if isinstance(node, exp.Sub) and (is_julian(node.this) or is_julian(node.expression)):
        return True
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        return _is_fraction(node.this) or _is_fraction(node.expression)
    inner = _inner(node)
    return inner is not None and _is_fraction(inner)


def _is_sum(node: exp.Expr) -> bool:
    """Whether the value of an expression is a sum, or is computed from sums."""
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        return _is_sum(node.this) or _is_sum(node.expression)
    inner = _inner(node)
    return isinstance(node, exp.Sum) or (inner is not None and _is_sum(inner))


def _inner(node: exp.Expr) -> exp.Expr | None:
    """The part of an expression whose fractions it has; a cast to whole numbers or to digits has its own."""
    if isinstance(node, exp.Cast) and (node.to.expressions or not node.to.is_type(*exp.DataType.REAL_TYPES)):
        return None
    kept = (exp.Cast, exp.Paren, exp.Neg, exp.Coalesce, exp.Window, exp.Abs, exp.Max, exp.Min)
    return node.this if isinstance(node, kept) else None


def _keep_exact(tree: exp.Select, term: exp.Expr, asked: Asked) -> None:
    """Sort and filter by the number itself where ORDER BY or HAVING name it: equal when rounded is not equal."""
    alias, position = term.parent, next(at for at, output in enumerate(tree.expressions, 1) if output.unalias() is term)
    name = alias.alias.lower() if isinstance(alias, exp.Alias) else ""
    stored = {column.name.lower() for table in tables_of(tree, asked.schema).values() for column in table.columns}
    order, having = tree.args.get("order"), tree.args.get("having")
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        if (isinstance(key, exp.Literal) and key.name == str(position)) or _is_named(key, name):
            key.replace(term.copy())
    for clause in (order, having):
        for column in list(clause.find_all(exp.Column)) if clause is not None and name not in stored else ():
            if _is_named(column, name) and column.parent_select is tree:
                column.replace(term.copy())


def _is_named(node: exp.Expr, name: str) -> bool:
    return bool(name) and isinstance(node, exp.Column) and not node.table and node.name.lower() == name


def _digits(question: str) -> int | None:
    """The decimals that a question wants; None where it names none, several, or another way to round."""
    if _OTHERWISE.search(question):
        return None
    named = set[int]()
    for match in _DECIMALS.finditer(question):
        count = (match["count"] or "0").lower()
        named.add(NUMBER_WORDS.index(count) if count in NUMBER_WORDS else int(count))
    named |= {_PARTS.index(part.lower()) + 1 for part in _NEAREST.findall(question)}
    named |= {0} if _WHOLE.search(question) else set()
    named |= {2} if _CENTS.search(question) else set()
    return named.pop() if len(named) == 1 else None
