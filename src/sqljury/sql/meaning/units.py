"""Columns that hold a small unit by their name, and amounts in cents where a question asks for euros or dollars."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final

from sqljury.language.money import SMALL_UNITS, amounts, main_unit, speaks_of_money
from sqljury.language.words import words
from sqljury.sql.meaning.amounts import Amounts, constant, divided
from sqljury.sql.meaning.base import Asked, Change, Held, held
from sqljury.sql.parse import exp

_MONEY: Final = frozenset({"cent", "penny", "pence"})
_SMALL: Final = _MONEY | frozenset(
    (
        *("ms", "millis", "millisecond", "second", "sec", "minute"),
        *("gram", "milligram", "mg", "millimetre", "millimeter", "mm", "centimetre", "centimeter", "cm"),
        *("metre", "meter", "byte", "kilobyte", "kb", "megabyte", "mb"),
    )
)
"""Words of names of columns that hold a small unit, which is divided to have a larger one."""
_SHORT: Final = frozenset({"ct", "cts", "cent"})
"""Units if a word of money is beside them: "ct" may be a count, "cent" a centre."""
_OF_MONEY: Final = frozenset(
    (
        *("fee", "amt", "amount", "price", "prc", "total", "tot", "cost", "pay", "paid", "sal", "salary", "wage"),
        *("rev", "revenue", "balance", "bal", "net", "gross", "tax", "vat", "fare", "rent", "premium", "due", "budget"),
        *("income", "turnover", "profit", "margin", "sum", "surcharge", "euro", "eur", "dollar", "usd", "money"),
        *("val", "value"),
    )
)
"""Not what is often counted, such as payments, refunds and sales."""
_NEVER_COUNTED: Final = frozenset(
    (
        *("price", "cost", "amount", "amt", "budget", "balance", "salary", "wage", "turnover", "revenue", "income"),
        *("profit", "value", "val"),
    )
)
"""Beside "ct" these say that it is cents, even if the question counts something."""
_NOT_AMOUNTS: Final = frozenset({"id", "code", "count", "cnt", "per", "percent", "pct", "flag", "nr", "no", "num"})
_NUMERIC: Final = re.compile(r"int(?!erval|\d*(?:multi)?range)|serial|num(?!(?:multi)?range)|dec|real|floa|doub", re.I)
_SCALED: Final = re.compile(r",\s*[1-9]")
"""A type with digits after the point: such amounts are hardly cents."""
_IN_CENTS: Final = re.compile(
    r"\b(?:in|as)\s+(?:\w+\s+)?(?:euro-?\s?)?(?:cents?|pence|pennies)\b|^\W*(?:euro-?\s?)?(?:cents|pence)\b"
    r"|\bminor (?:currency )?units?\b",
    re.IGNORECASE,
)
_NOT_IN_CENTS: Final = re.compile(
    r"\b(?:not|never|no longer|formerly|per cent)\b|\b(?:in|as)\s+(?:\w+\s+)?(?:euros?|dollars?|pounds?)\b(?!\W?cent)",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    r"\b(?:number|count) of\b|\bcounts?\b|\bhow many (?!(?:euro|dollar|pound|franc|kron)\w*)", re.IGNORECASE
)
_HUNDRED: Final = frozenset({"100", "100.0", "100.", "100.00", "1e2"})
_HUNDREDS: Final = _HUNDRED | {"0.01", ".01"}
_HUNDREDTH: Final = re.compile(r"%|\b(?:percent\w*|per cent|pct|share|rate|hundred\w*|100|1/100)\b", re.IGNORECASE)
_SHARES: Final = frozenset({"rate", "share", "ratio", "percentage", "discount", "disc", "margin"})
"""Words of names of columns that may hold percentages."""
_WANTS_CENTS: Final = re.compile(
    rf"\b(?:in|as) (?:\w+ ){{0,2}}?(?:euro-?\s?)?(?:{SMALL_UNITS})\b|\bhow many (?:{SMALL_UNITS})\b"
    r"|\bminor (?:currency )?units?\b",
    re.IGNORECASE,
)
_OTHER_HUNDREDS: Final = re.compile(r"\b(?:centi\w+|c[ml]|hectares?|ha)\b", re.IGNORECASE)
"""Units of which a hundred make another one, and which are not money."""
_MISTAKEN: Final = {"10": ("10", "ten"), "1000": ("1000", "1,000")}
"""Divisors that are written for 100, and how a question may ask for them."""


def is_small_unit(column: str) -> bool:
    """Whether a column holds a small unit by its name."""
    return bool(_SMALL & set(words(column)))


def minor_units(tree: exp.Query, asked: Asked) -> Change | None:
    """Show cents as euros where the question asks for euros: ``SUM(fee_cents) / 100.0``, for a division by 10 too.

    ``fee_cents > 50`` becomes ``> 5000`` for "more than 50 euros". Left alone where anything is divided by 100, or
    multiplied by it for another purpose than a percentage.
    """
    question = asked.question.text
    cents = _Cents(asked)
    if main_unit(asked.question.evidence):  # it knows better than a name
        return None
    if not any(map(cents.is_column, tree.find_all(exp.Column))) or _counts_hundreds(tree, cents):
        return None
    changed = _scale_numbers(tree, cents, amounts(question))
    if isinstance(tree, exp.Select) and main_unit(question) and not _filters_currency(tree):
        counted = bool(_COUNTED.search(question))
        for item in list(tree.selects):
            corrected = _correct_divisors(item, cents, question, counted=counted)
            changed = _show_main_unit(item, tree, cents, counted=counted) or corrected or changed
    return Change("the column is in cents, and the question is not") if changed else None


def main_units(tree: exp.Query, asked: Asked) -> Change | None:
    """Show euros as they are stored: ``SUM(amount)`` for ``SUM(amount) / 100.0`` where amounts have fractions.

    So too for ``AVG(amount) * 100``, unless the question asks for cents; "rounded to cents" does not. Such a product
    must be of money by the question or the column's name: metres times 100 are centimetres. Left alone where the
    question asks for a share or gives a number to divide by, or the column names a small unit.
    """
    question, evidence = asked.question.text, asked.question.evidence
    if main_unit(evidence) or _HUNDREDTH.search(asked.question.whole):
        return None
    euros = _Euros(asked)
    divisions = [node for node in tree.find_all(exp.Div) if _is_hundred(node.expression) and euros(_uncast(node.this))]
    divided_by = [(node, node.this) for node in divisions if main_unit(question)]
    products = [] if _WANTS_CENTS.search(asked.question.whole) else list(_hundredfold(tree, euros))
    products = [(node, amount) for node, amount in products if _is_money(amount, asked)]
    for node, amount in [*divided_by, *products]:
        node.replace(amount.copy())
    if products:
        return Change("amounts with fractions were multiplied by 100, as if cents were asked for")
    return Change("amounts with fractions were divided by 100, as if they were cents") if divided_by else None


def _hundredfold(tree: exp.Query, euros: _Euros) -> Iterator[tuple[exp.Mul, exp.Expr]]:
    """Products of an amount and 100 that are no part of a ratio, with the amount."""
    for node in list(tree.find_all(exp.Mul)):
        sides = (node.this, node.expression), (node.expression, node.this)
        amount = next((side for side, other in sides if _is_hundred(other) and euros(_uncast(side))), None)
        if amount is not None and _ratio(node) is None and node.find_ancestor(exp.Predicate) is None:
            yield node, amount


def _is_money(amount: exp.Expr, asked: Asked) -> bool:
    """Whether an amount is money by the name of its column, or by the question, which names no unit such as cm."""
    if any(_OF_MONEY & set(words(column.name)) for column in amount.find_all(exp.Column)):
        return True
    question = asked.question.whole
    return speaks_of_money(question) and not _OTHER_HUNDREDS.search(question)


def _is_hundred(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name in _HUNDRED


class _Euros(Amounts):
    """Whether an expression is an amount whose columns hold fractions, so that it is not in cents."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def is_column(self, node: exp.Expr) -> bool:
        """Whether a column holds numbers with fractions, and neither cents nor a share by its name."""
        known = held(node, self._asked.schema)
        if known is None or not _NUMERIC.search(known.column.type):
            return False
        listed = set(words(known.column.name))
        if listed & (_SMALL | _SHORT | _NOT_AMOUNTS | _SHARES) or _IN_CENTS.search(known.column.comment):
            return False
        values = self._asked.data.values(known.table, known.column.name)
        return any(isinstance(value, float | Decimal) and not _is_whole(value) for value in values)


class _Cents(Amounts):
    """Whether an expression is an amount in cents."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def is_column(self, node: exp.Expr) -> bool:
        """Whether a column holds cents by its name or its comment, and whole numbers by its type and its values."""
        known = held(node, self._asked.schema)
        if known is None or not _NUMERIC.search(known.column.type) or _SCALED.search(known.column.type):
            return False
        if not (self._by_name(known) or self._by_comment(known)):
            return False
        return all(map(_is_whole, self._asked.data.values(known.table, known.column.name)))

    def _by_name(self, known: Held) -> bool:
        name = known.column.name
        listed = set(words(name))
        if listed & _NOT_AMOUNTS:
            return False
        if "pence" in listed or "penny" in listed or re.search(r"cents(?![a-z])", name, re.IGNORECASE):
            return bool(listed & _MONEY)
        return bool(listed & _SHORT and listed & _OF_MONEY)

    @staticmethod
    def _by_comment(known: Held) -> bool:
        comment = known.column.comment
        return bool(_IN_CENTS.search(comment)) and not _NOT_IN_CENTS.search(comment)


def _is_whole(value: object) -> bool:
    try:
        return Decimal(str(value)) % 1 == 0
    except InvalidOperation:
        return False


def _scale_numbers(tree: exp.Query, cents: _Cents, given: frozenset[Decimal]) -> bool:
    """Multiply the question's amounts by 100 where cents are compared with them, unless one was multiplied already."""
    numbers = {id(side): (side, number) for side in _compared_numbers(tree, cents) if (number := constant(side))}
    if any(number / 100 in given for _, number in numbers.values()):
        return False
    scaled = [(side, number) for side, number in numbers.values() if number in given]
    for side, number in scaled:
        side.replace(exp.Literal.number(f"{(number * 100).normalize():f}"))
    return bool(scaled)


def _counts_hundreds(tree: exp.Query, cents: _Cents) -> bool:
    """Whether anything is divided or multiplied by 100, or by the hundredth of 1, other than for a percentage."""
    for node in tree.find_all(exp.Div, exp.IntDiv, exp.Mul):
        sides = [_uncast(side) for side in (node.this, node.expression)]
        factors = {side.name for side in sides if isinstance(side, exp.Literal)}
        if factors & _HUNDREDS and not (factors & _HUNDRED and _is_percentage(node, cents)):
            return True
    return False


def _is_percentage(product: exp.Expr, cents: _Cents) -> bool:
    """Whether a product with 100 is a ratio in percent: of two amounts in cents, or of two other values."""
    ratio = _ratio(product) if isinstance(product, exp.Mul) else None
    if ratio is None or ratio.expression.find(exp.Column, exp.AggFunc) is None:
        return False
    return _shows_cents(ratio.this, cents) == _shows_cents(ratio.expression, cents)


def _ratio(product: exp.Mul) -> exp.Div | None:
    """The division that is a side of a product, or whose dividend the product is."""
    sides = [_uncast(side) for side in (product.this, product.expression)]
    inner: exp.Expr = product
    while isinstance(inner.parent, exp.Paren | exp.Cast | exp.Mul):
        inner = inner.parent
    above = inner.parent if inner.arg_key == "this" else None
    return next((node for node in (*sides, above) if isinstance(node, exp.Div)), None)


def _uncast(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return node


def _shows_cents(node: exp.Expr, cents: _Cents) -> bool:
    """Whether the value of an expression comes from columns in cents, other than those that it compares."""
    columns = filter(cents.is_column, node.find_all(exp.Column))
    return any(not isinstance(column.find_ancestor(exp.Predicate, exp.Div), exp.Predicate) for column in columns)


def _compared_numbers(tree: exp.Query, cents: _Cents) -> Iterator[exp.Expr]:
    """Numbers that amounts in cents are compared with."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE):
        for amount, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(other, exp.Literal) and cents(amount):
                yield other
    for between in tree.find_all(exp.Between):
        if cents(between.this):
            yield from (between.args["low"], between.args["high"])


def _filters_currency(tree: exp.Query) -> bool:
    """Whether rows are chosen by a text of a currency: the question then names what it filters by."""
    texts = [literal.name for literal in tree.find_all(exp.Literal) if literal.is_string]
    return any(main_unit(text) or (len(text) == 3 and main_unit(text.upper())) for text in texts)


def _may_be_counts(value: exp.Expr) -> bool:
    """Whether a column may hold a count by its name: "ct" is short for either."""
    names = [set(words(column.name)) for column in value.find_all(exp.Column)]
    return any({"ct", "cts"} & name and not name & _NEVER_COUNTED for name in names)


def _correct_divisors(item: exp.Expr, cents: _Cents, question: str, *, counted: bool) -> bool:
    """Divide cents of an output by 100 where they are divided by 10 or 1000, and the question does not name these."""
    divisions = [node for node in item.find_all(exp.Div) if cents(_uncast(node.this))]
    mistaken = [node.expression for node in divisions if _is_mistaken(node.expression.unnest(), question)]
    if not mistaken or (counted and any(map(_may_be_counts, divisions))):
        return False
    for divisor in mistaken:
        divisor.replace(exp.Literal.number("100.0"))
    return True


def _is_mistaken(divisor: exp.Expr, question: str) -> bool:
    number = constant(divisor)
    names = _MISTAKEN.get(f"{number.normalize():f}", ()) if number else ()
    return bool(names) and re.search(rf"(?<![\d.,])(?:{'|'.join(names)})\b", question, re.IGNORECASE) is None


def _show_main_unit(item: exp.Expr, tree: exp.Select, cents: _Cents, *, counted: bool) -> bool:
    """Divide an output by 100 if it is in cents; its name goes if that says cents and nothing refers to it."""
    value = item.unalias()
    while isinstance(value, exp.Round | exp.Cast | exp.Paren) and not cents(value):
        if isinstance(value, exp.Cast) and re.search(r"int", value.to.sql(), re.IGNORECASE):
            return False
        if isinstance(value, exp.Round) and value.args.get("decimals") is None:
            return False
        value = value.this
    if not cents(value) or (counted and _may_be_counts(value)):
        return False
    if item.alias and {*words(item.alias)} & (_MONEY | _SHORT):
        if any(column.name.lower() == item.alias.lower() for column in tree.find_all(exp.Column)):
            return False
        if item.this is value:
            item.replace(divided(value, "100.0"))
            return True
        item.replace(item.this)
    value.replace(divided(value, "100.0"))
    return True
