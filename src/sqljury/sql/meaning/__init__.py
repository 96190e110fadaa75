"""Rewrites of queries that run, but that their engine evaluates otherwise than the question means.

Each rule takes the tree of a query, its question, and a way to ask the database for evidence. It rewrites the tree in
place and returns the reason, or None. Nothing here runs the query itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from sqljury.sql.meaning.base import Asked, Change, Data
from sqljury.sql.meaning.booleans import booleans
from sqljury.sql.meaning.case import ignored_case
from sqljury.sql.meaning.codes import explained
from sqljury.sql.meaning.counted import counted_matches, counted_once
from sqljury.sql.meaning.division import division
from sqljury.sql.meaning.epochs import epochs
from sqljury.sql.meaning.extremes import extremes
from sqljury.sql.meaning.joins import along_keys
from sqljury.sql.meaning.negation import not_in_null
from sqljury.sql.meaning.order import null_order
from sqljury.sql.meaning.ranges import last_day
from sqljury.sql.meaning.today import days_as_numbers, fixed_dates, now_texts
from sqljury.sql.meaning.years import numbers_of_texts, years
from sqljury.sql.parse import errors, exp, parse_one, quiet, read_query, write
from sqljury.sql.translate import as_strings, literals, restrictions

if TYPE_CHECKING:
    from sqljury.sql.meaning.base import Rule

__all__ = ["BEFORE_VALUES", "DOUBTING", "FOR_ERRORS", "RULES", "Asked", "Change", "Data", "Rewrite", "rewrite"]

RULES: Final[tuple[Rule, ...]] = (
    now_texts,
    days_as_numbers,
    fixed_dates,
    epochs,
    years,
    numbers_of_texts,
    booleans,
    along_keys,
    explained,
    ignored_case,
    last_day,
    not_in_null,
    division,
    extremes,
    counted_once,
    counted_matches,
    null_order,
)
"""In the order in which they are applied: one may need what another wrote."""

DOUBTING: Final[tuple[Rule, ...]] = (fixed_dates,)
"""Rules that may not be sure."""

BEFORE_VALUES: Final[tuple[Rule, ...]] = (explained,)
"""Rules to be applied before texts are replaced by stored values: a text may look like the wrong code."""

FOR_ERRORS: Final[tuple[Rule, ...]] = (now_texts, epochs, booleans)
"""Rules on what is an error on some engines, such as a comparison of a number with a date."""


_FAULTS: Final = (
    *(RecursionError, ValueError, TypeError, AttributeError, LookupError),
    *(ArithmeticError, AssertionError, StopIteration),
)
"""What a rule may raise on an odd query, besides sqlglot's errors, which are imported with the first query."""


class Rewrite(NamedTuple):
    """The query as a rule rewrote it, or as it was if the rule only doubts it, with the reason."""

    sql: str
    change: Change


@quiet()
def rewrite(sql: str, rule: Rule, asked: Asked) -> Rewrite | None:
    """The query rewritten by a rule; None where it does not apply or sqlglot cannot write the query exactly."""
    try:
        original = _read(sql, asked.dialect)
        if original is None:
            return None
        tree = original.copy()
        if asked.dialect == "sqlite":
            as_strings(tree, asked.schema)
        change = rule(tree, asked)
        if change is None or not change.sure:
            return None if change is None else Rewrite(sql, change)
        if not _is_exact(sql, original, asked.dialect):
            return None
        after = write(tree, asked.dialect)
        lost = restrictions(original) - restrictions(parse_one(after, asked.dialect))
    except (errors.SqlglotError, *_FAULTS):  # a rule's own bug on an odd query must not cost the answer
        return None
    return None if lost else Rewrite(after, change)


@lru_cache(maxsize=32)
def _read(sql: str, dialect: str) -> exp.Query | None:
    """The tree of a query, which every rule takes a copy of."""
    return read_query(sql, dialect)


def _is_exact(sql: str, tree: exp.Query, dialect: str) -> bool:
    """Whether the query is the same when it is read and written: sqlglot drops arguments that it does not know."""
    written = write(tree, dialect)
    again = write(parse_one(written, dialect), dialect)
    return literals(written, dialect) >= literals(sql, dialect) and again == written
