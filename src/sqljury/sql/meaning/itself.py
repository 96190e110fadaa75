"""Joins of a table with itself that say nothing, or nothing that the question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.language.superiors import leads_upward
from sqljury.language.words import words
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, Held, held
from sqljury.sql.parse import exp
from sqljury.sql.resolve import read_sources

_TWO: Final = re.compile(
    r"\b(?:same|other|others|another|each other|pairs?|together|both|also|shared?|sharing|colleagues?|peers?"
    r"|compared?|comparison|than|previous|next|again|twice|repeat\w*|before|after|between|similar|else|alike|co-\w+)\b",
    re.IGNORECASE,
)
"""Words of a question that may be about two rows of one table."""
_OF_KEYS: Final = frozenset(("id", "no", "nr", "num", "number", "key", "ref"))
"""Last words of columns that refer to a row."""


def looked_up_in_itself(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out a join of a table with itself that finds nothing: its numbers are compared with texts.

    ``matters AS b ON b.id = a.practice_area`` was written for the names that the column holds itself.
    """
    changed = False
    for select, join, here, there in _self_joins(tree, asked):
        left, right = held(here, asked.schema), held(there, asked.schema)
        if left is None or right is None:
            continue
        if any(_numbers_and_texts(*pair, asked) for pair in ((left, right), (right, left))):
            join.pop()
            for column in list(select.find_all(exp.Column)):
                if _alias(column) == _alias(there) and column.name.lower() == there.name.lower():
                    column.replace(here.copy())
            _rename(select, there, here)
            changed = True
    return Change("a join of numbers and texts of one table", without=("join", "conditions")) if changed else None


def flag_of_itself(tree: exp.Query, asked: Asked) -> Change | None:
    """Ask for a flag where a join of a table with itself takes it for a key: ``ON b.partner = a.id`` for partners."""
    for select, join, here, there in _self_joins(tree, asked):
        left, right = held(here, asked.schema), held(there, asked.schema)
        if left is None or right is None:
            continue
        for flag, key, node in ((left, right, here), (right, left, there)):
            if _is_flag(flag, asked) and not _is_flag(key, asked):
                join.pop()
                yes = exp.EQ(this=node.copy(), expression=exp.Literal.number(1))
                select.where(yes, copy=False)
                _rename(select, there, here)
                return Change(f"{flag.column.name} is 1 or 0, and no key", without=("join", "conditions"))
    return None


def _is_flag(known: Held, asked: Asked) -> bool:
    """Whether a column holds 1 and 0, and nothing else; not one that refers to a row, where 0 may stand for none."""
    name = known.column.name
    refers = leads_upward(name) or _OF_KEYS & {*words(name)[-1:]}
    if refers or any(name in key.columns for key in known.table.foreign_keys):
        return False
    return {*asked.data.values(known.table, name)} == {0, 1}


def joined_with_itself(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out a join of a table with itself on one column where nothing compares a row with another one.

    ``hearings AS a JOIN hearings AS b ON b.matter_id = a.matter_id`` has a row for each two hearings of a matter.
    """
    if _TWO.search(asked.question.text):
        return None
    changed = False
    for select, join, here, there in _self_joins(tree, asked):
        if here.name.lower() == there.name.lower() and not _compares(select, join, _alias(here), _alias(there)):
            join.pop()
            _rename(select, there, here)
            changed = True
    reason = "a join of a table with itself has a row for each two of its rows"
    return Change(reason, without=("join", "conditions")) if changed else None


def merge_equal_rows(tree: exp.Query, asked: Asked) -> None:
    """Leave out joins of a table with itself on its own key, in place: both rows are the same one."""
    for select, join, here, there in _self_joins(tree, asked):
        known = held(here, asked.schema)
        key = () if known is None else tuple(name.lower() for name in known.table.row_key)
        if key == (here.name.lower(),) == (there.name.lower(),) and not any(map(_is_bare_star, select.selects)):
            join.pop()
            _rename(select, there, here)


def _is_bare_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star)


def _self_joins(tree: exp.Query, asked: Asked) -> Iterator[tuple[exp.Select, exp.Join, exp.Column, exp.Column]]:
    """The inner joins on one equality of columns of two rows of a table: the column of the other row, and its own."""
    for sources in read_sources(tree, asked.schema):
        select = sources.scope.expression
        if not isinstance(select, exp.Select):
            continue
        for join in list(select.args.get("joins") or ()):
            condition = join.args.get("on")
            if join.side or not isinstance(condition, exp.EQ):
                continue
            joined = join.this.alias_or_name.lower()
            here, there = sorted((condition.this, condition.expression), key=lambda side: _alias(side) == joined)
            left, right = held(here, asked.schema), held(there, asked.schema)
            if left is not None and right is not None and left.table is right.table and _alias(here) != _alias(there):
                yield select, join, here, there


def _compares(select: exp.Select, join: exp.Join, here: str, there: str) -> bool:
    """Whether a condition or an output takes both rows, or the same column is asked of each, or one chooses the other.

    One chooses the other where it has a condition, and only the other is shown: "orders that contain a laptop".
    """
    asked_of: dict[str, set[str]] = {here: set(), there: set()}
    joins = [other.args.get("on") for other in select.args["joins"] if other is not join]
    parts = [*conjuncts(select.args.get("where")), *conjuncts(select.args.get("having")), *joins, *select.selects]
    for part in filter(None, parts):
        columns = [column for column in part.find_all(exp.Column) if _alias(column) in asked_of]
        if len({_alias(column) for column in columns}) == len(asked_of):
            return True
        for column in columns:
            asked_of[_alias(column)].add(column.name.lower())
    if asked_of[here] & asked_of[there] or any(item.is_star for item in select.selects):
        return True
    group = select.args.get("group")
    shown = {_alias(column) for part in (*select.selects, group) if part for column in part.find_all(exp.Column)}
    shown &= {*asked_of}
    chosen = {_alias(column) for part in conjuncts(select.args.get("where")) for column in part.find_all(exp.Column)}
    return len(shown) == 1 and bool((chosen & {*asked_of}) - shown)


def _rename(select: exp.Select, there: exp.Column, here: exp.Column) -> None:
    """Take the columns of one row from the other one."""
    alias = _alias(there)
    for column in list(select.find_all(exp.Column)):
        if _alias(column) == alias:
            column.set("table", here.args["table"].copy())


def _alias(column: exp.Expr) -> str:
    return column.table.lower() if isinstance(column, exp.Column) else ""


def _numbers_and_texts(key: Held, other: Held, asked: Asked) -> bool:
    """Whether a column is the key of its table with numbers alone, and another one holds texts that are none."""
    if key.table.row_key != (key.column.name,):
        return False
    numbers, texts = (asked.data.values(known.table, known.column.name) for known in (key, other))
    return (
        bool(numbers and texts)
        and all(isinstance(value, int | float) for value in numbers)
        and all(isinstance(value, str) and not value.strip().isdigit() for value in texts)
    )
