"""What every selector is: from candidates, grouped by result, to a choice and the reasons for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqljury.types import Candidate, Choice, Task
from sqljury.work import Work

Selector = Callable[[Sequence[Candidate], Task, Work], Choice]
"""Called with candidates as ``consistency.group`` returns them; never raises for what a candidate is.

One that asks a judge raises ``UnjudgedError`` where the judge cannot be asked; those of ``select.selector`` do not.
"""


SPENT: Final = "the budget is spent"


class UnjudgedError(Exception):
    """The judge could not be asked, for the reason that its text gives."""


class TooLongError(UnjudgedError):
    """The judge's context cannot hold the prompt; one with fewer queries may fit."""


def members(candidates: Sequence[Candidate], group: int) -> list[int]:
    """The places of one group's candidates."""
    return [index for index, candidate in enumerate(candidates) if candidate.group == group]


def groups(candidates: Sequence[Candidate]) -> list[int]:
    """The numbers of the groups there are, from 0, the largest."""
    return sorted({candidate.group for candidate in candidates if candidate.group is not None})
