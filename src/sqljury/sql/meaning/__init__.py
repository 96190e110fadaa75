"""Rewrites of queries that run, but that their engine evaluates otherwise than the question means.

Each rule takes the tree of a query, its question, and a way to ask the database for evidence. It rewrites the tree in
place and returns the reason, or None and the tree as it was. Nothing here runs the query itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqljury.sql.meaning.aggregates import average, separately, summed_days
from sqljury.sql.meaning.base import Asked, Change, Data
from sqljury.sql.meaning.below import below_named
from sqljury.sql.meaning.best import best_of_each
from sqljury.sql.meaning.bestrows import extreme_of_each, named_best
from sqljury.sql.meaning.booleans import booleans
from sqljury.sql.meaning.bothof import both_of
from sqljury.sql.meaning.bounds import limit_included, percent_limits, scaled_numbers
from sqljury.sql.meaning.codes import explained, in_words
from sqljury.sql.meaning.counted import (
    counted_different,
    counted_groups,
    counted_matches,
    counted_not_summed,
    counted_once,
    counted_versions,
    summed_keys,
)
from sqljury.sql.meaning.currency import named_currency
from sqljury.sql.meaning.dayforms import day_numbers, day_texts
from sqljury.sql.meaning.division import division
from sqljury.sql.meaning.duplicates import once
from sqljury.sql.meaning.durations import durations, forward_durations
from sqljury.sql.meaning.epochs import epoch_spans, epochs
from sqljury.sql.meaning.extremes import extremes
from sqljury.sql.meaning.fanout import sums_of_lists
from sqljury.sql.meaning.fixed import fixed_measure, fixed_order
from sqljury.sql.meaning.groupkeys import name_of_group, said_group, stray_key
from sqljury.sql.meaning.groups import conditions_of_rows, counted_sets, first_of_each, grouped, totals
from sqljury.sql.meaning.happened import happened, late, not_over
from sqljury.sql.meaning.histories import current_rows
from sqljury.sql.meaning.inside import counted_inside
from sqljury.sql.meaning.itself import flag_of_itself, joined_with_itself, looked_up_in_itself
from sqljury.sql.meaning.joins import along_keys
from sqljury.sql.meaning.letters import code_of_word
from sqljury.sql.meaning.listed import listed_outputs, only_named
from sqljury.sql.meaning.measures import larger_units
from sqljury.sql.meaning.median import median
from sqljury.sql.meaning.named import names_for_keys, names_of_persons
from sqljury.sql.meaning.numbertexts import number_texts
from sqljury.sql.meaning.order import directions, group_of_null, missing_limit, null_order, row_at_place
from sqljury.sql.meaning.parts import part_of_named_year, quarters, whole_named_year, whole_year_in_parts
from sqljury.sql.meaning.percentages import percentages
from sqljury.sql.meaning.periods import missing_period, unsaid_days, whole_periods
from sqljury.sql.meaning.plainer import plainer_column
from sqljury.sql.meaning.ranges import last_day, whole_days
from sqljury.sql.meaning.rounded import rounded
from sqljury.sql.meaning.rowkeys import key_of_named_row
from sqljury.sql.meaning.saidday import said_day
from sqljury.sql.meaning.sorted import sort_output, sorted_as_asked
from sqljury.sql.meaning.superiors import compared_superiors, superiors
from sqljury.sql.meaning.texts import ignored_case, mentioned, misplaced
from sqljury.sql.meaning.today import days_as_numbers, fixed_dates, now_texts
from sqljury.sql.meaning.unasked import included, unasked_days
from sqljury.sql.meaning.units import main_units, minor_units
from sqljury.sql.meaning.unmatched import compared_with_null, kept_without, left_out, not_in_null, unmatched
from sqljury.sql.meaning.unneeded import unneeded_join
from sqljury.sql.meaning.untied import members_by_key, tied
from sqljury.sql.meaning.years import numbers_of_texts, years
from sqljury.sql.parse import errors, exp, parse_one, quiet, read_query, write
from sqljury.sql.translate import as_strings, literals, restrictions

if TYPE_CHECKING:
    from sqljury.sql.meaning.base import Rule

__all__ = ["BEFORE_VALUES", "DOUBTING", "FOR_ERRORS", "RULES", "Asked", "Change", "Data", "Rewrite", "Rewriter"]

RULES: Final[tuple[Rule, ...]] = (
    now_texts,
    days_as_numbers,
    fixed_dates,
    epochs,
    epoch_spans,
    day_numbers,
    day_texts,
    years,
    conditions_of_rows,
    both_of,
    part_of_named_year,
    whole_year_in_parts,
    whole_named_year,
    whole_periods,
    unsaid_days,
    missing_period,
    said_day,
    unasked_days,
    included,
    named_currency,
    current_rows,
    not_over,
    numbers_of_texts,
    number_texts,
    summed_days,
    happened,
    booleans,
    along_keys,
    members_by_key,
    tied,
    looked_up_in_itself,
    flag_of_itself,
    joined_with_itself,
    superiors,
    compared_superiors,
    below_named,
    stray_key,
    said_group,
    separately,
    unneeded_join,
    explained,
    misplaced,
    plainer_column,
    mentioned,
    key_of_named_row,
    ignored_case,
    code_of_word,
    last_day,
    whole_days,
    durations,
    forward_durations,
    unmatched,
    kept_without,
    left_out,
    compared_with_null,
    not_in_null,
    scaled_numbers,
    limit_included,
    late,
    fixed_measure,
    division,
    percent_limits,
    percentages,
    quarters,
    minor_units,
    main_units,
    larger_units,
    counted_inside,
    name_of_group,
    names_for_keys,
    names_of_persons,
    in_words,
    listed_outputs,
    only_named,
    grouped,
    totals,
    first_of_each,
    extreme_of_each,
    counted_sets,
    extremes,
    average,
    summed_keys,
    counted_not_summed,
    counted_groups,
    counted_different,
    counted_once,
    counted_versions,
    counted_matches,
    sort_output,
    sorted_as_asked,
    rounded,
    once,
    missing_limit,
    row_at_place,
    fixed_order,
    directions,
    median,
    best_of_each,
    named_best,
    group_of_null,
    null_order,
    sums_of_lists,
)
"""In the order in which they are applied: one may need what another wrote."""

DOUBTING: Final[tuple[Rule, ...]] = (fixed_dates,)
"""Rules that may not be sure."""

BEFORE_VALUES: Final[tuple[Rule, ...]] = (explained,)
"""Rules to be applied before texts are replaced by stored values: a text may look like the wrong code."""

FOR_ERRORS: Final[tuple[Rule, ...]] = (
    now_texts,
    epochs,
    day_numbers,
    day_texts,
    conditions_of_rows,
    happened,
    explained,
    booleans,
    along_keys,
    median,
)
"""Rules on what is an error on some engines, such as comparing a number with a date, or a function that they lack."""


_FAULTS: Final = (
    *(RecursionError, ValueError, TypeError, AttributeError, LookupError),
    *(ArithmeticError, AssertionError, StopIteration),
)
"""What a rule may raise on an odd query, besides sqlglot's errors, which are imported with the first query."""


class Rewrite(NamedTuple):
    """The query as a rule rewrote it, or as it was if the rule only doubts it, with the reason."""

    sql: str
    change: Change


class Rewriter:
    """One query, and its tree for rules one after another.

    Rules that do not apply leave the tree as it is, so that it is read once, and again after a rule that applied.
    """

    def __init__(self, sql: str, asked: Asked) -> None:
        self._sql, self._asked = sql, asked
        self._tree: exp.Query | None = None
        self._readable = True

    @quiet()
    def rewrite(self, rule: Rule) -> Rewrite | None:
        """The query rewritten by a rule; None where it does not apply or sqlglot cannot write the query exactly."""
        try:
            tree = self._tree = self._tree or self._read()
            if tree is None:
                return None
            change = rule(tree, self._asked)
            if change is None or not change.sure:
                return None if change is None else Rewrite(self._sql, change)
            self._tree = None
            return self._rewritten(tree, change)
        except (errors.SqlglotError, *_FAULTS):  # a rule's own bug on an odd query must not cost the answer
            self._tree = None
            return None

    def _read(self) -> exp.Query | None:
        tree = read_query(self._sql, self._asked.dialect) if self._readable else None
        self._readable = tree is not None
        if tree is not None and self._asked.dialect == "sqlite":
            as_strings(tree, self._asked.schema)
        return tree

    def _rewritten(self, tree: exp.Query, change: Change) -> Rewrite | None:
        original, dialect = parse_one(self._sql, self._asked.dialect), self._asked.dialect
        if not _is_exact(self._sql, original, dialect):
            return None
        after = write(tree if change.query is None else change.query, dialect)
        lost = restrictions(original) - restrictions(parse_one(after, dialect))
        return None if set(lost) - {*change.without} else Rewrite(after, change)


def _is_exact(sql: str, tree: exp.Expr, dialect: str) -> bool:
    """Whether the query is the same when it is read and written: sqlglot drops arguments that it does not know."""
    written = write(tree, dialect)
    again = write(parse_one(written, dialect), dialect)
    return literals(written, dialect) >= literals(sql, dialect) and again == written
