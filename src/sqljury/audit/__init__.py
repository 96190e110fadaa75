"""Program checks of gold queries: suspected errors, typed as in Appendix C of the TS-SQL paper, without a model.

Each check is a function of a ``Subject`` that yields findings; one that fails on an odd query says nothing of it. Only
checks stand here whose findings were confirmed by reading (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqlglot.errors import SqlglotError

from sqljury.audit import checks_columns, checks_conditions, checks_groups, checks_values
from sqljury.audit.finding import LIKELY, TYPES, Finding, Type
from sqljury.audit.subject import Data, Subject
from sqljury.sql.parse import quiet

__all__ = ["CHECKS", "LIKELY", "TYPES", "Data", "Finding", "Subject", "Type", "audit"]

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    checks_conditions.fails,
    checks_values.stored,
    checks_values.numbers,
    checks_values.quoted,
    checks_values.other_table,
    checks_values.numbers_as_text,
    checks_values.sum_of_text,
    checks_values.dates_as_text,
    checks_columns.not_selected,
    checks_columns.everything,
    checks_columns.not_asked,
    checks_columns.first_or_last,
    checks_groups.group_by_label,
    checks_groups.bare_columns,
    checks_groups.different,
    checks_groups.listed_twice,
    checks_groups.counted_twice,
    checks_groups.sets_of_labels,
    checks_conditions.superlative,
    checks_conditions.order_direction,
    checks_conditions.comparison,
    checks_conditions.age_or_time,
    checks_conditions.without_condition,
    checks_conditions.unrelated,
    checks_conditions.empty,
)


@quiet()
def audit(subject: Subject) -> list[Finding]:
    """All findings, the surest first; the same fault a second time in one query is not listed again."""
    findings: dict[str, Finding] = {}
    if subject.result.error_kind == "limit":  # its variants would not end either
        return list(checks_conditions.fails(subject))
    for check in CHECKS:
        try:
            for finding in check(subject):
                known = findings.get(finding.check)
                if known is None or known.confidence < finding.confidence:
                    findings[finding.check] = finding
        except (SqlglotError, RecursionError):
            continue
    if sum(finding.confidence >= LIKELY for finding in findings.values()) > 1:
        findings.pop("returns-nothing", None)  # the other findings say why
    return sorted(findings.values(), key=lambda finding: -finding.confidence)
