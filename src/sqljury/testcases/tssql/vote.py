"""Which of several programs is right: the one whose result most of them have (TS-SQL, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence

from sqljury.testcases.trial import alike
from sqljury.types import Result


def vote(results: Sequence[Result]) -> tuple[int, int] | None:
    """The place of the first of the most results that are alike, and how many these are; None when all failed.

    Rows may come in any order. Of equally many the group of the earliest result wins: the first is the likeliest, and
    that of the model which the recipe names first.
    """
    largest = max(groups(results), key=len, default=None)  # the first of the largest
    return (largest[0], len(largest)) if largest else None


def groups(results: Sequence[Result]) -> list[list[int]]:
    """The places of results that are alike, group by group as they come; those that failed are in none."""
    found: list[list[int]] = []
    for place, result in enumerate(results):
        own = next((group for group in found if alike(results[group[0]], result)), None)
        if own is not None:
            own.append(place)
        elif result.ok and not result.truncated:
            found.append([place])
    return found
