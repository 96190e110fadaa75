"""Ratios that a query shows as fractions where the question asks for percent."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sqljury.language.wants import PERCENT_SAID
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.meaning.ratios import PERCENT_WORDS, Kind, Ratio, is_compared, is_number, kind_of_ratio, ratio_of
from sqljury.sql.parse import exp, write

_UNIT: Final = r"(?:percent(?:ages?)?|per cent)\b|%"
_GIVEN: Final = re.compile(rf"{PERCENT_SAID}|\bpercentage points?\b", re.IGNORECASE)
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
_PART: Final = 3
"""Letters that the name of a column needs to be short for a word: "disc" for "discount"."""
_FACTORS: Final = (1, 10)
_MOST: Final[dict[Kind, float]] = {"count": 1.5, "sum": 10}
"""If every row has a larger ratio, it is hardly one of a part to its whole, or of like amounts."""


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
    kind = kind_of_ratio(ratio, asked)
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
    stored = {word for name in columns if PERCENT_WORDS & {*name} for word in name if word not in PERCENT_WORDS}
    return not all(_names_any(mention.lower(), stored) for mention in mentions)


def _names_any(word: str, names: set[str]) -> bool:
    return word in names or any(len(name) >= _PART and word.startswith(name) for name in names)


def _only_ratio(tree: exp.Select) -> Ratio | None:
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
    ratio = ratio_of(divisions[0][0].unalias())
    known = ratio is not None and ratio.division is divisions[0][1] and ratio.factor in _FACTORS
    return ratio if known else None


def _shows_percent(tree: exp.Select, ratio: Ratio, asked: Asked) -> bool:
    """Whether the query has percentages: a column of such, or 100 as a factor or a result.

    Other outputs may be divided by 100.
    """
    columns = (held(column, asked.schema) for column in tree.find_all(exp.Column))
    if any(known is not None and PERCENT_WORDS & {*words(known.column.name)} for known in columns):
        return True
    shown = ratio.output.find_all(exp.Literal)
    if any(_is_hundred(literal) and not is_compared(literal) for literal in shown):
        return True
    outputs = [output for select in tree.find_all(exp.Select) for output in select.expressions]
    hundreds = [literal for output in outputs for literal in output.find_all(exp.Literal) if _is_hundred(literal)]
    return any(not (is_compared(literal) or _is_divisor(literal)) for literal in hundreds)


def _is_hundred(node: exp.Expr) -> bool:
    return is_number(node) and Decimal(node.name) in (100, Decimal("0.01"))


def _is_divisor(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Div | exp.IntDiv) and node.parent.expression is node


def _is_grouped_by(tree: exp.Select, ratio: Ratio) -> bool:
    """Whether rows are grouped by the ratio, or by an output's place, which may be its."""
    group, alias = tree.args.get("group"), ratio.output.parent
    name = alias.alias.lower() if isinstance(alias, exp.Alias) else ""
    keys = [] if group is None else group.expressions
    return any(key == ratio.output or isinstance(key, exp.Literal) or key.name.lower() == name != "" for key in keys)


def _exceeds(tree: exp.Select, ratio: Ratio, most: float, asked: Asked) -> bool:
    """Whether the ratio is larger than it may be in all rows, or the query cannot be looked at."""
    rows = asked.data.rows(write(tree, asked.dialect))
    if rows is None:
        return True
    index = next(at for at, output in enumerate(tree.selects) if output.unalias() is ratio.output)
    shown = [abs(float(row[index])) for row in rows if row[index] is not None]
    return bool(shown) and min(shown) > most * float(ratio.factor)


def _keep_conditions(tree: exp.Select, ratio: exp.Expr, asked: Asked) -> None:
    """Put the fraction itself for its name in conditions, and where ORDER BY calculates with it."""
    name = ratio.parent.alias.lower() if isinstance(ratio.parent, exp.Alias) else ""
    clauses = [tree.args[part] for part in ("where", "having", "qualify", "order") if tree.args.get(part) is not None]
    for column in [column for clause in clauses for column in clause.find_all(exp.Column)]:
        is_named = not column.table and column.name.lower() == name and column.parent_select is tree
        if is_named and not isinstance(column.parent, exp.Ordered) and held(column, asked.schema) is None:
            column.replace(ratio.copy())


def _multiply(ratio: Ratio) -> None:
    """Make 100 of the factor, or put it before the division."""
    hundred = exp.Literal.number("100.0")
    if ratio.factors:
        max(ratio.factors, key=lambda factor: Decimal(factor.name)).replace(hundred)
    else:
        ratio.division.set("this", exp.Mul(this=hundred, expression=ratio.division.this.copy()))
