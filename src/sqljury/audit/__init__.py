"""Program checks of gold queries: suspected errors, typed as in Appendix C of the TS-SQL paper, without a model.

Each check is a function of a ``Subject`` that yields findings; one that fails on an odd query says nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqlglot.errors import SqlglotError

from sqljury.audit import grouping, joining, kinds, logic, outcome, repeats, selected, values, wording
from sqljury.audit.finding import LIKELY, TYPES, Finding, Type
from sqljury.audit.subject import Data, Subject
from sqljury.sql.parse import quiet

__all__ = ["CHECKS", "LIKELY", "TYPES", "Data", "Finding", "Subject", "Type", "audit"]

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    outcome.fails,
    values.stored,
    values.numbers,
    values.quoted,
    values.other_table,
    kinds.numbers_as_text,
    kinds.sum_of_text,
    kinds.dates_as_text,
    kinds.types_apart,
    selected.not_selected,
    selected.everything,
    selected.not_asked,
    selected.first_or_last,
    selected.name_or_id,
    grouping.group_by_label,
    grouping.bare_columns,
    grouping.missing_aggregate,
    repeats.different,
    repeats.listed_twice,
    repeats.counted_twice,
    repeats.same_listed,
    wording.superlative,
    wording.order_direction,
    wording.comparison,
    wording.age_or_time,
    wording.both_or_either,
    logic.contradiction,
    logic.any_other,
    logic.not_in_null,
    logic.sets_of_labels,
    joining.without_condition,
    joining.unrelated,
    outcome.empty,
    outcome.ties,
)


@quiet()
def audit(subject: Subject) -> list[Finding]:
    """All that the checks find, the surest first; the same fault a second time in one query is not told again."""
    found: dict[str, Finding] = {}
    if subject.result.error_kind == "limit":  # its variants would not end either
        return list(outcome.fails(subject))
    for check in CHECKS:
        try:
            for one in check(subject):
                known = found.get(one.check)
                if known is None or known.confidence < one.confidence:
                    found[one.check] = one
        except (SqlglotError, RecursionError):
            continue
    if sum(one.confidence >= LIKELY for one in found.values()) > 1:
        found.pop("returns-nothing", None)  # the other findings say why
    return sorted(found.values(), key=lambda one: -one.confidence)
