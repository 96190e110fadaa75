"""The order of rows that the question asks for in so many words, and outputs that were only written for it.

Small models sort by another number than the one they show, by more columns than the question names, and show a maximum
beside a sum where the question says "highest first".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.alike import covered, mentions, pieces
from sqljury.language.sorting import Sorting, only_sorts, sorting
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, held, holds_days, stripped
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner
from sqljury.sql.terms import meant, outside_queries

_RATIOS: Final = frozenset({"percentage", "percent", "share", "proportion", "ratio", "rate", "quota"})
_MEANS: Final = frozenset({"average", "mean"})
_OF_ANY: Final = frozenset({"", "most", "busiest", "fewest", "least"})
_SUMS: Final = frozenset({"total", "sum"})
_PERIODS: Final = (("year",), ("quarter",), ("month",), ("week",))
"""Last words of columns that hold a period."""
_SINGLE: Final = re.compile(r"\b(?:peak|record|top|best|single|ceiling|cap|upper|lower|range|spread)\b", re.IGNORECASE)
"""Words for a maximum or a minimum."""
_LIKE: Final = 0.55
"""The least likeness of a column's name and the words that the question sorts by."""
_APART: Final = 0.2
"""So much less alike must all other columns be."""


def sort_output(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out MAX or MIN as the last output of groups where the question names an end only for the order.

    It must be of what is added up beside it, of a key of the groups or, where nothing is grouped, of another output,
    of which only one row would be left.
    """
    if not isinstance(tree, exp.Select) or len(tree.selects) < 3:
        return None
    last = tree.selects[-1]
    extreme = stripped(last)
    if not isinstance(extreme, exp.Max | exp.Min) or not only_sorts(asked.question.text):
        return None
    others = tree.selects[:-1]
    if tree.args.get("group") is None:
        if any(item.find(exp.AggFunc) for item in others) or extreme.this not in map(stripped, others):
            return None
        last.pop()
        return Change(f"nothing asks for a {extreme.key.lower()}imum")
    grouped = [stripped(node) for node in tree.args["group"].expressions]
    if not any(item.find(exp.AggFunc) for item in others) or tree.find(exp.Window, exp.Distinct) is not None:
        return None
    if any(isinstance(stripped(item), exp.Max | exp.Min) for item in others):
        return None
    shown = next(
        (
            stripped(item)
            for item in others
            if stripped(item).find(exp.Sum) and _is_same(_inner(item), extreme.this, asked)
        ),
        None,
    )
    if (shown is None and extreme.this not in grouped) or _SINGLE.search(asked.question.text):
        return None
    for ordered in list(tree.args["order"].expressions) if tree.args.get("order") else ():
        key = stripped(meant(ordered.this, tree))
        if key == extreme and shown is not None:
            ordered.set("this", shown.copy())
        elif key == extreme:
            ordered.pop()
    if tree.args.get("order") and not tree.args["order"].expressions:
        tree.set("order", None)
    last.pop()
    return Change(f"nothing asks for a {extreme.key.lower()}imum", without=("ordered",))


def sorted_as_asked(tree: exp.Query, asked: Asked) -> Change | None:
    """Sort by what the question says: "highest percentage first", "then by last name", "by date", "alphabetically".

    Rows of years or months that have no order are sorted by these. Only by outputs, and not with LIMIT, which the order
    decides on.
    """
    if not isinstance(tree, exp.Select) or any(tree.args.get(part) for part in ("limit", "offset")):
        return None
    wanted, dialect = sorting(asked.question.text), asked.dialect
    given: list[exp.Expr] = tree.args["order"].expressions if tree.args.get("order") else []
    if not all(isinstance(key, exp.Ordered) for key in given):
        return None
    keys = [key.sql(dialect=dialect) for key in given]
    target = _first(tree, wanted, given)
    if target is not None:
        others = [key.sql(dialect=dialect) for key in given[1:] if stripped(meant(key.this, tree)) != target]
        keys = [f"{target.sql(dialect=dialect)}{' DESC' if wanted.descending else ''}", *others]
    if wanted.alphabetical and wanted.descending is None and not (wanted.named or wanted.then):
        keys = _alphabetical(tree, given, asked) or keys
    keys = _listed(tree, wanted, keys, given, asked)
    if keys == [key.sql(dialect=dialect) for key in given]:
        return None
    tree.order_by(*keys, append=False, copy=False, dialect=dialect)
    return Change("the question asks for another order", without=("ordered",))


def _listed(tree: exp.Select, wanted: Sorting, keys: list[str], given: Sequence[exp.Expr], asked: Asked) -> list[str]:
    """The keys of the order with the columns that the question lists, or with periods where nothing is said."""
    dialect = asked.dialect
    written = {column: key.sql(dialect=dialect) for key in given for column in [meant(key.this, tree)]}
    if keys:
        first = meant(given[0].this, tree) if given else None
        then = [_output(tree, phrase, asked) for phrase in wanted.then]
        others = [column for column in written if column != first and column not in then]
        known = _words(tree, first) if first is not None else set()
        if wanted.listed and any(mentions(wanted.listed, _words(tree, column) - known) for column in others):
            return keys  # "sorted by country, city, then by shop"
        kept = [
            written.get(column, column.sql(dialect=dialect))
            for column in then
            if column is not None and column != first
        ]
        return [keys[0], *kept] if then and None not in then and not any(map(_is_collated, given)) else keys
    if wanted.descending is not None and not wanted.then:
        return keys
    outputs = [_output(tree, phrase, asked) for phrase in (*wanted.by, *wanted.then)]
    columns = [column for column in outputs if column is not None] if None not in outputs else []
    return [column.sql(dialect=dialect) for column in columns or _periods(tree)]


def _words(tree: exp.Select, node: exp.Expr) -> set[str]:
    """The words of what is sorted by: of the outputs that it is, else of its column."""
    names = [item.alias_or_name for item in tree.selects if item.unalias() == node] or [node.name]
    return {word for name in names for word in pieces(name)}


def _alphabetical(tree: exp.Select, given: Sequence[exp.Expr], asked: Asked) -> list[str]:
    """The first output that is a text as the only key; none where the query sorts by a text already."""
    if given and _is_spelling(meant(given[0].this, tree), asked):
        return []
    name = next((item.unalias() for item in tree.selects if _is_name(item.unalias(), asked)), None)
    return [] if name is None else [name.sql(dialect=asked.dialect)]


def _is_spelling(node: exp.Expr, asked: Asked) -> bool:
    """Whether an expression is a text, in whatever case or collation, or begins with one."""
    node = stripped(node, lambda part: isinstance(part, exp.Lower | exp.Upper | exp.Trim | exp.Collate | exp.DPipe))
    return _is_name(node, asked)


def _is_name(node: exp.Expr, asked: Asked) -> bool:
    """Whether an expression is a column of texts other than days."""
    known = held(node, asked.schema)
    return known is not None and known.is_text and not holds_days(known, asked.data)


def _inner(item: exp.Expr) -> exp.Expr | None:
    """What an output adds up, whatever it is divided by."""
    total = stripped(item).find(exp.Sum)
    return total.this if total is not None else None


def _is_same(node: exp.Expr | None, other: exp.Expr, asked: Asked) -> bool:
    """Whether two expressions are equal, or one column with and without its table."""
    if not isinstance(node, exp.Column) or not isinstance(other, exp.Column):
        return node == other
    owned = owner(node, asked.schema)
    return node == other or (
        node.name.lower() == other.name.lower() and owned is not None and owned == owner(other, asked.schema)
    )


def _first(tree: exp.Select, wanted: Sorting, keys: Sequence[exp.Expr]) -> exp.Expr | None:
    """The aggregate by which the question sorts first, if the query sorts by another; None where that is not clear."""
    if wanted.descending is None or tree.args.get("group") is None:
        return None
    items = [stripped(item) for item in tree.selects]
    shown = [item for item in items if any(isinstance(node, exp.AggFunc) for node in outside_queries(item))]
    given = stripped(meant(keys[0].this, tree)) if keys else None
    target = None if wanted.named else _target(wanted.of, shown, last=items[-1])
    if target is None and len(shown) == 1 and wanted.of in _OF_ANY and given is not None and given not in items:
        is_other = given.find(exp.AggFunc) is not None and shown[0] not in given.walk()  # no difference to it
        target = shown[0] if is_other else None
    if target is None or _sorts_within_groups(tree, keys, target, descending=wanted.descending):
        return None
    return target


def _sorts_within_groups(tree: exp.Select, keys: Sequence[exp.Expr], target: exp.Expr, *, descending: bool) -> bool:
    """Whether the query sorts by an aggregate, at most after groups that it shows: "for each region, highest first"."""
    items = [stripped(item) for item in tree.selects]
    for key in keys:
        value = stripped(meant(key.this, tree))
        if value == target:
            return bool(key.args.get("desc")) == descending
        if value not in items or value.find(exp.AggFunc) is not None:
            return False
    return False


def _target(of: str, shown: Sequence[exp.Expr], last: exp.Expr) -> exp.Expr | None:
    """The one of the aggregates shown that these words are about."""
    terms = set(of.split())
    if not terms:
        return last if last in shown and (len(shown) == 1 or not isinstance(last, exp.Count)) else None
    matches = [
        item
        for item in shown
        if (terms & _RATIOS and _is_ratio(item))
        or (terms & _MEANS and isinstance(item, exp.Avg))
        or (terms & _SUMS and item.find(exp.Sum) and not _is_ratio(item))
    ]
    return matches[0] if len(matches) == 1 else None


def _is_ratio(node: exp.Expr) -> bool:
    return any(not isinstance(part.expression.unnest(), exp.Literal) for part in node.find_all(exp.Div))


def _output(tree: exp.Select, phrase: str, asked: Asked) -> exp.Expr | None:
    """The column among the outputs that the words name, with those of its table; None where none or several may be."""
    named, items = pieces(phrase), tree.selects
    if not named or not items:
        return None
    for called in ([pieces(item.alias_or_name) for item in items], [_called(item, asked) for item in items]):
        scored = sorted(
            ((covered(named, listed) if listed else 0.0, at) for at, listed in enumerate(called)), reverse=True
        )
        clear = len(scored) == 1 or scored[1][0] <= scored[0][0] - _APART
        if scored[0][0] >= _LIKE and clear:
            output = items[scored[0][1]].unalias()
            return output if isinstance(output, exp.Column) else None
    return None


def _is_collated(key: exp.Expr) -> bool:
    return key.find(exp.Collate) is not None


def _called(item: exp.Expr, asked: Asked) -> tuple[str, ...]:
    """The words of an output, and of its table if it is a column."""
    column = item.unalias()
    owned = owner(column, asked.schema) if isinstance(column, exp.Column) else None
    return (*pieces(item.alias_or_name), *(pieces(owned[1].name) if owned is not None else ()))


def _periods(tree: exp.Select) -> list[exp.Expr]:
    """The years, months and the like by which a query groups and which it shows."""
    grouped = [meant(node, tree) for node in tree.args["group"].expressions] if tree.args.get("group") else []
    shown = [item.unalias() for item in tree.selects]
    return [node for node in shown if node in grouped and _is_period(stripped(node))]


def _is_period(node: exp.Expr) -> bool:
    """Whether an expression is a year, a month or another part of a day, or a column of such."""
    if isinstance(node, exp.Column):
        return words(node.name)[-1:] in _PERIODS
    parts = exp.Year | exp.Month | exp.Quarter | exp.Extract | exp.TimeToStr | exp.DateTrunc | exp.TimestampTrunc
    return isinstance(node, parts)
