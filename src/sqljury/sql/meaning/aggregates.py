"""Aggregates of another kind, of another column, or of more rows than the question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.cues import extreme, ranked
from sqljury.language.words import positions, words
from sqljury.patterns import regex
from sqljury.sql.conditions import operands, outer_conjuncts
from sqljury.sql.meaning.base import Asked, Change, held, holds_dates, holds_days, keys_of, single_select
from sqljury.sql.meaning.best import is_aggregate
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier

_AVERAGE: Final = regex(r"\b(?:averages?|mean(?!s|t|ing)|avg)\b", re.IGNORECASE)
_END: Final = regex(r"\b(?:max(?:imum)?|min(?:imum)?|top|bottom|peak|record|at (?:most|least))\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"int|num|dec|real|float|double|money", re.IGNORECASE)
_SEPARATELY: Final = regex(
    r"\b(?:separately|respectively|apart from (?:each other|one another)|split (?:up )?by|(?:each|both) (?:on|by)"
    r" (?:its|their|his|her) own|side by side)\b",
    re.IGNORECASE,
)
_TOGETHER: Final = regex(
    r"\b(?:together|altogether|combined|in total|overall|not (?:\w+ )?(?:separately|split))\b", re.IGNORECASE
)


def average(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the average for the one MAX or MIN of a query, within a subquery, where nothing is found as it is.

    Nothing is above ``SELECT MAX(price)`` of its own column.
    """
    question = asked.question.text
    taken = list(tree.find_all(exp.Max, exp.Min))
    if len(taken) != 1 or tree.find(exp.Avg) is not None or not _AVERAGE.search(question):
        return None
    if extreme(question) or ranked(question) or _END.search(question):
        return None
    [node] = taken
    known, inside = held(node.this, asked.schema), node.find_ancestor(exp.Select)
    if known is None or known.is_text or known.column.name in keys_of(known.table) or holds_days(known, asked.data):
        return None
    if (
        inside is tree
        or inside is None
        or inside.args.get("group")
        or asked.data.rows(tree.sql(dialect=asked.dialect)) != ()
    ):
        return None
    node.replace(exp.Avg(this=node.this.copy()))
    return Change(f"the question asks for the average, not for the {'highest' if node.key == 'max' else 'lowest'}")


def summed_days(tree: exp.Query, asked: Asked) -> Change | None:
    """Sum up ``amount_cents`` for the day ``charged_at`` where "the average charged pledge in cents" is asked for.

    The table has exactly one column of numbers, no key, of whose name the question has a word. SQLite and MySQL alone:
    other engines have means of days, or refuse them.
    """
    if asked.dialect not in ("sqlite", "mysql"):
        return None
    reason = ""
    for call in list(tree.find_all(exp.Avg, exp.Sum)):
        known = held(call.this, asked.schema)
        if known is None or not holds_dates(known, asked.data):
            continue
        keys, shown = keys_of(known.table), {column.name.lower() for column in tree.find_all(exp.Column)}
        meant = [
            column.name
            for column in known.table.columns
            if _NUMBER.search(column.type)
            and column.name not in keys
            and mentions(asked.question.text, {*words(column.name)} - {*words(known.table.name)})
        ]
        if len(meant) == 1 and meant[0].lower() not in shown:
            call.this.set("this", identifier(meant[0], asked.dialect))
            reason = f"{known.table.name}.{known.column.name} holds days, of which there is no sum"
    return Change(reason) if reason else None


def separately(tree: exp.Query, asked: Asked) -> Change | None:
    """Group by a column with several values where the question wants figures for each of these separately.

    ``SELECT AVG(days) ... WHERE status IN ('approved', 'rejected')`` has one figure for both.
    """
    text = asked.question.text
    select = single_select(tree) if _SEPARATELY.search(text) and not _TOGETHER.search(text) else None
    if select is None or not _has_figures_alone(select):
        return None
    question = words(text)
    choices = [_choice(condition, question) for condition in outer_conjuncts(select.args.get("where"))]
    columns = [column for column in choices if column is not None and held(column, asked.schema) is not None]
    if len(columns) != 1:
        return None
    [column] = columns
    where = select.args["where"]
    others = [node for node in select.find_all(exp.Column) if node.find_ancestor(exp.Where) is not where]
    if any(node.name.lower() == column.name.lower() for node in others):
        return None
    select.set("expressions", [column.copy(), *select.expressions])
    select.set("group", exp.Group(expressions=[column.copy()]))
    return Change(f"the question asks for each {column.name} separately")


def _has_figures_alone(select: exp.Select) -> bool:
    """Whether a query shows aggregates of all its rows, and nothing else."""
    parts = ("group", "having", "distinct", "limit", "offset", "order", "with_", "qualify")
    if any(map(select.args.get, parts)) or select.find(exp.Window) is not None:
        return False
    columns = (column for item in select.selects for column in item.find_all(exp.Column))
    aggregated = all(isinstance(column.find_ancestor(exp.AggFunc, exp.Select), exp.AggFunc) for column in columns)
    return aggregated and all(map(is_aggregate, select.selects))


def _choice(condition: exp.Expr, question: Sequence[str]) -> exp.Column | None:
    """The column that a condition compares with several constants, all of which the question says."""
    alternatives = operands(condition, exp.Or)
    if len(alternatives) > 1:
        equal = all(isinstance(part, exp.EQ) for part in alternatives)
        columns = [part.this for part in alternatives]
        constants = [part.expression for part in alternatives] if equal else []
    else:
        node = alternatives[0]
        columns = [node.this] if isinstance(node, exp.In) else []
        constants = list(node.expressions) if isinstance(node, exp.In) else []
    texts = {constant.name.lower() for constant in constants if isinstance(constant, exp.Literal)}
    same = bool(columns) and isinstance(columns[0], exp.Column) and all(column == columns[0] for column in columns)
    known = all(isinstance(constant, exp.Literal) and _is_said(constant.name, question) for constant in constants)
    return columns[0] if same and known and len(texts) > 1 else None


def _is_said(text: str, question: Sequence[str]) -> bool:
    """Whether the question has the words of a text in a row."""
    phrase = words(text)
    return bool(phrase) and any(True for _ in positions(phrase, question))
