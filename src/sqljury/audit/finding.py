"""What an audit says of one gold query."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Type = Literal["wrong value", "semantic logic", "data type", "wrong column", "aggregation", "deduplication"]

TYPES: Final[tuple[Type, ...]] = (
    "wrong value",
    "semantic logic",
    "data type",
    "wrong column",
    "aggregation",
    "deduplication",
)
"""The types of wrong gold queries (TS-SQL paper, Appendix C)."""

LIKELY: Final = 0.5
"""From this confidence on a finding is counted as a suspected error; what is below is a remark."""


class Finding(NamedTuple):
    """A suspected error: its type, the check that found it, how sure that check is in [0, 1], the part, the facts."""

    type: Type
    check: str
    confidence: float
    clause: str
    evidence: str
