"""Which of several programs is right: the one whose result most of them have (TS-SQL, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence

from sqljury.testcases.trial import alike
from sqljury.types import Result


def vote(results: Sequence[Result]) -> tuple[int, int] | None:
    """The place of the first of the most results that are alike, and how many these are; None when all failed.

    Rows may come in any order. Of equally many the group of the earliest result wins: the first is the likeliest.
    """
    groups: list[list[int]] = []
    for place, result in enumerate(results):
        own = next((group for group in groups if alike(results[group[0]], result)), None)
        if own is not None:
            own.append(place)
        elif result.ok and not result.truncated:
            groups.append([place])
    if not groups:
        return None
    largest = max(groups, key=len)  # the first of the largest
    return largest[0], len(largest)
