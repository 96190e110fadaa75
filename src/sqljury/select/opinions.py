"""What others say of queries: tests and the critic, as the light judge hears them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

TESTED: Final = "tests_passed"
CRITIC: Final = "critic"
"""With the tests what costs something to know; whoever chooses asks for these only where they have weights."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What others say of queries, by their text: the share of tests that each passed, and the critic's score of it."""

    tests: Mapping[str, float] = field(default_factory=dict)
    critic: Mapping[str, float] = field(default_factory=dict)


NONE: Final = Opinions()


def passed(told: Iterable[tuple[Sequence[str], Sequence[bool | None], float]]) -> dict[str, float]:
    """By query the share of tests that it passed, of those that say; each test has its queries, passes and sureness."""
    weights: dict[str, list[float]] = {}
    for queries, passed, sureness in told:
        for sql, outcome in zip(queries, passed, strict=False):
            if outcome is not None:
                known = weights.setdefault(sql, [0.0, 0.0])
                known[not outcome] += sureness
    return {sql: good / (good + bad) for sql, (good, bad) in weights.items() if good + bad > 0}
