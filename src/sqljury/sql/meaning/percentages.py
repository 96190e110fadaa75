"""Ratios that a query shows as fractions where the question asks for percent."""

from __future__ import annotations

import re
from decimal import Decimal
from math import prod
from typing import Final, Literal, NamedTuple

from sqljury.language.words import NUMBER_WORDS, words
from sqljury.sql.meaning.base import Asked, Change, held, stripped
from sqljury.sql.meaning.units import is_small_unit
from sqljury.sql.parse import exp, write

Kind = Literal["count", "sum"]

_UNIT: Final = r"(?:percent(?:ages?)?|per cent)\b|%"
_GIVEN: Final = re.compile(
    r"(?<![\d.])(?:\d{1,3}(?:[.,]\d+)?|\b(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty|(?:a )?hundred"
    rf"|{'|'.join(NUMBER_WORDS)}))[ -]*(?:percent\b|per cent\b|%)|\bpercentage points?\b",
    re.IGNORECASE,
)
"""Percents that the question gives, and differences of percentages."""
_MENTION: Final = re.compile(rf"(?:\b(?P<before>\w+)[ -]+)?(?<!\w)(?:{_UNIT})", re.IGNORECASE)
_OTHERWISE: Final = re.compile(
    r"\bfractions?\b|\bas (?:an? )?(?:ratio|proportion|decimal)s?\b|\b(?:0|zero) (?:and|to) (?:1|one)\b", re.IGNORECASE
)
_ASKED: Final = re.compile(
    rf"\b(?:what|which|in|as|as a|the) (?:{_UNIT})|\bpercent(?:ages?)? (?:of|that|who|which)\b|[,:;(] ?(?:{_UNIT})",
    re.IGNORECASE,
)
_OF_MEANS: Final = re.compile(r"\baverages?\b|\bmean\b|\bby \w* ?percent", re.IGNORECASE)
"""Words for other ratios than shares; a percentage must be asked for in so many words beside them."""
_DEFINED: Final = re.compile(rf"/|\bdivi\w+|\bratio\b|{_UNIT}", re.IGNORECASE)
_STORED: Final = frozenset({"pct", "percent", "percentage", "perc"})
"""Words of names of columns that hold percentages."""
_PART: Final = 3
"""Letters that the name of a column needs to be short for a word: "disc" for "discount"."""
_FACTORS: Final = (1, 10)
_MOST: Final[dict[Kind, float]] = {"count": 1.5, "sum": 10}
"""If every row has a larger ratio, it is hardly one of a part to its whole, or of like amounts."""


class _Ratio(NamedTuple):
    """A division that an output shows, and the constants that it is multiplied by."""

    output: exp.Expr
    division: exp.Div
    top: exp.Expr
    bottom: exp.Expr
    factors: tuple[exp.Expr, ...]

    @property
    def factor(self) -> Decimal:
        """The product of the constants."""
        return prod((Decimal(factor.name) for factor in self.factors), start=Decimal(1))


def percentages(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the only ratio of a query in percent: ``100.0 * SUM(...) / COUNT(*)`` for ``1.0 * SUM(...) / COUNT(*)``.

    Its order and the conditions on it stay. The ratio must be one of like things: a part of the rows or of a sum, or a
    difference to one of its terms.
    """
    if not _wanted(asked) or not isinstance(tree, exp.Select) or tree.args.get("distinct") is not None:
        return None
    ratio = _only_ratio(tree)
    if ratio is None or _shows_percent(tree, ratio, asked) or _is_grouped_by(tree, ratio):
        return None
    kind = _kind_of_ratio(ratio, asked)
    if kind is None or _exceeds(tree, ratio, _MOST[kind], asked):
        return None
    _keep_conditions(tree, ratio.output, asked)
    _multiply(ratio)
    return Change("the question wants a percentage, and the query shows a fraction")


def _wanted(asked: Asked) -> bool:
    """Whether the question wants percent, other than a threshold or a percentage that a column holds."""
    question = _GIVEN.sub(" ", asked.question.text)
    mentions = [match["before"] or "" for match in _MENTION.finditer(question)]
    if not mentions or _OTHERWISE.search(question) or _DEFINED.search(asked.question.evidence):
        return False
    if _OF_MEANS.search(question) and not _ASKED.search(question):
        return False
    columns = (words(column.name) for table in asked.schema.tables for column in table.columns)
    stored = {word for name in columns if _STORED & {*name} for word in name if word not in _STORED}
    return not all(_names_any(mention.lower(), stored) for mention in mentions)


def _names_any(word: str, names: set[str]) -> bool:
    return word in names or any(len(name) >= _PART and word.startswith(name) for name in names)


def _only_ratio(tree: exp.Select) -> _Ratio | None:
    """The ratio that an output is; None where the outputs have several, or calculate with it."""
    outputs = tree.expressions
    divisions = [
        (output, node)
        for output in outputs
        for node in output.find_all(exp.Div, exp.IntDiv)
        if not isinstance(node.expression.unnest(), exp.Literal)
    ]
    if len(divisions) != 1 or any(output.is_star for output in outputs):
        return None
    output = divisions[0][0].unalias()
    division, factors = _unfactored(stripped(output, _defaults_to_zero))
    if division is not divisions[0][1] or not isinstance(division, exp.Div):
        return None
    top, more = _unfactored(division.this)
    bottom, divisors = _unfactored(division.expression)
    ratio = _Ratio(output, division, top, bottom, (*factors, *more))
    constant = isinstance(_plain(top), exp.Literal) or any(Decimal(divisor.name) != 1 for divisor in divisors)
    return None if constant or ratio.factor not in _FACTORS else ratio


def _unfactored(node: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """An expression without the constants that it is multiplied by, and these."""
    factors = []
    while isinstance(node, exp.Paren | exp.Mul):
        if isinstance(node, exp.Paren):
            node = node.this
            continue
        factor = next((side for side in (node.this, node.expression) if _is_number(side)), None)
        if factor is None:
            break
        factors.append(factor)
        node = node.expression if factor is node.this else node.this
    return node, factors


def _is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _defaults_to_zero(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Coalesce):
        return False
    return all(_is_number(other) and not Decimal(other.name) for other in node.expressions)


def _plain(node: exp.Expr) -> exp.Expr:
    """An expression without what does not change its meaning: casts, factors of 1, and zero for NULL or the reverse."""
    while True:
        inner, factors = _unfactored(node)
        if all(Decimal(factor.name) == 1 for factor in factors):
            node = inner
        if not (isinstance(node, exp.Cast | exp.Nullif | exp.Abs) or _defaults_to_zero(node)):
            return node
        node = node.this


def _shows_percent(tree: exp.Select, ratio: _Ratio, asked: Asked) -> bool:
    """Whether the query has percentages: a column of such, or 100 as a factor or a result.

    Other outputs may be divided by 100.
    """
    columns = (held(column, asked.schema) for column in tree.find_all(exp.Column))
    if any(known is not None and _STORED & {*words(known.column.name)} for known in columns):
        return True
    shown = ratio.output.find_all(exp.Literal)
    if any(_is_hundred(literal) and not _is_compared(literal) for literal in shown):
        return True
    outputs = [output for select in tree.find_all(exp.Select) for output in select.expressions]
    hundreds = [literal for output in outputs for literal in output.find_all(exp.Literal) if _is_hundred(literal)]
    return any(not (_is_compared(literal) or _is_divisor(literal)) for literal in hundreds)


def _is_hundred(node: exp.Expr) -> bool:
    return _is_number(node) and Decimal(node.name) in (100, Decimal("0.01"))


def _is_compared(node: exp.Expr) -> bool:
    return isinstance(node.find_ancestor(exp.Predicate, exp.Select), exp.Predicate)


def _is_divisor(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Div | exp.IntDiv) and node.parent.expression is node


def _is_grouped_by(tree: exp.Select, ratio: _Ratio) -> bool:
    """Whether rows are grouped by the ratio, or by an output's place, which may be its."""
    group, alias = tree.args.get("group"), ratio.output.parent
    name = alias.alias.lower() if isinstance(alias, exp.Alias) else ""
    keys = [] if group is None else group.expressions
    return any(key == ratio.output or isinstance(key, exp.Literal) or key.name.lower() == name != "" for key in keys)


def _kind_of_ratio(ratio: _Ratio, asked: Asked) -> Kind | None:
    """What the ratio is of: counts of rows or like amounts; None for anything else, such as an average."""
    if _is_growth(ratio) or _is_part(ratio):
        return "sum"
    top, bottom = _kind(ratio.top, asked), _kind(ratio.bottom, asked)
    if top == "count" and bottom is not None:
        return None if _is_distinct(ratio.bottom) and not _is_distinct(ratio.top) else "count"
    like = top == bottom == "sum" and not _is_weighted_mean(ratio)
    return "sum" if like and _units(ratio.top) == _units(ratio.bottom) else None


def _is_growth(ratio: _Ratio) -> bool:
    """Whether the ratio is of a difference to one of its terms."""
    difference = _plain(ratio.top)
    if not isinstance(difference, exp.Sub):
        return False
    terms = [_plain(term) for term in (difference.this, difference.expression)]
    whole = _plain(ratio.bottom)
    return whole in terms and not any(isinstance(term, exp.Literal) for term in terms)


def _is_part(ratio: _Ratio) -> bool:
    """Whether the ratio is of a value to the sum of such values: ``amount / SUM(amount) OVER ()``."""
    total = _plain(ratio.bottom)
    total = total.this if isinstance(total, exp.Window) else total
    return isinstance(total, exp.Sum) and total.this == _plain(ratio.top)


def _kind(node: exp.Expr, asked: Asked) -> Kind | None:
    """Whether an expression counts rows, or sums up amounts."""
    node = _plain(node)
    if isinstance(node, exp.Window | exp.Filter):
        return _kind(node.this, asked)
    if isinstance(node, exp.Subquery):
        outputs = node.this.selects if isinstance(node.this, exp.Select) else []
        return _kind(outputs[0].unalias(), asked) if len(outputs) == 1 else None
    if isinstance(node, exp.Add | exp.Sub):
        left, right = _kind(node.this, asked), _kind(node.expression, asked)
        return left if left == right else None
    if isinstance(node, exp.Count | exp.CountIf):
        return "count"
    if isinstance(node, exp.Sum):
        return "count" if _marks_rows(node.this, asked) else "sum"
    return None


def _marks_rows(node: exp.Expr, asked: Asked) -> bool:
    """Whether a value is 1 for the rows that are counted and 0 for others, or a count of rows."""
    node = _plain(node)
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Count):
        return True
    if isinstance(node, exp.Case | exp.If):
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        results = [*(branch.args.get("true") for branch in branches), _otherwise(node)]
        return all(result is None or isinstance(result, exp.Null) or _is_mark(result) for result in results)
    known = held(node, asked.schema)
    values = asked.data.values(known.table, known.column.name) if known is not None else ()
    return bool(values) and {*values} <= {0, 1}


def _otherwise(node: exp.Expr) -> exp.Expr | None:
    otherwise: exp.Expr | None = node.args.get("default" if isinstance(node, exp.Case) else "false")
    return otherwise


def _is_mark(node: exp.Expr) -> bool:
    return _is_number(node) and Decimal(node.name) in (0, 1)


def _is_distinct(node: exp.Expr) -> bool:
    """Whether an expression counts different values."""
    node = _plain(node)
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct)


def _is_weighted_mean(ratio: _Ratio) -> bool:
    """Whether the sum above is of products with what is summed up below: ``SUM(price * qty) / SUM(qty)``."""
    weights = [total.this for total in ratio.bottom.find_all(exp.Sum)]
    return any(side in weights for product in ratio.top.find_all(exp.Mul) for side in product.flatten())


def _units(node: exp.Expr) -> set[bool]:
    """Whether columns are in a small unit by their names: cents to euros may be in percent without a factor."""
    names = [column.name for column in node.find_all(exp.Column) if not _is_compared(column)]
    return {is_small_unit(name) or bool({"ct", "cts"} & {*words(name)}) for name in names}


def _exceeds(tree: exp.Select, ratio: _Ratio, most: float, asked: Asked) -> bool:
    """Whether the ratio is larger than it may be in all rows, or the query cannot be looked at."""
    rows = asked.data.rows(write(tree, asked.dialect))
    if rows is None:
        return True
    place = next(at for at, output in enumerate(tree.selects) if output.unalias() is ratio.output)
    shown = [abs(float(row[place])) for row in rows if row[place] is not None]
    return bool(shown) and min(shown) > most * float(ratio.factor)


def _keep_conditions(tree: exp.Select, ratio: exp.Expr, asked: Asked) -> None:
    """Put the fraction itself for its name in conditions, and where ORDER BY calculates with it."""
    name = ratio.parent.alias.lower() if isinstance(ratio.parent, exp.Alias) else ""
    clauses = [tree.args[part] for part in ("where", "having", "qualify", "order") if tree.args.get(part) is not None]
    for column in [column for clause in clauses for column in clause.find_all(exp.Column)]:
        is_named = not column.table and column.name.lower() == name and column.parent_select is tree
        if is_named and not isinstance(column.parent, exp.Ordered) and held(column, asked.schema) is None:
            column.replace(ratio.copy())


def _multiply(ratio: _Ratio) -> None:
    """Make 100 of the factor, or put it before the division."""
    hundred = exp.Literal.number("100.0")
    if ratio.factors:
        max(ratio.factors, key=lambda factor: Decimal(factor.name)).replace(hundred)
    else:
        ratio.division.set("this", exp.Mul(this=hundred, expression=ratio.division.this.copy()))
