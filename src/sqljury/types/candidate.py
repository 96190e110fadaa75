"""A query that may answer the question, its repairs, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqljury.types.result import Result


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair of a candidate: the query before it, the reason, and the kind of repair.

    ``schema`` bound names to the schema, ``dialect`` translated constructs of another engine, ``values`` replaced
    texts that a column does not hold by stored values, ``meaning`` rewrote what the engine takes otherwise than the
    question, ``instructions`` added what evidence asks for, ``model`` asked the model again after an error or an
    instruction that was not followed, ``tests`` after a failed test.
    """

    before: str
    reason: str
    by: Literal["schema", "dialect", "values", "meaning", "instructions", "model", "tests"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query that may answer the question.

    ``sql`` is empty if the reply contained no query. ``logprob`` is the sum of the natural-log probabilities of its
    ``tokens`` generated tokens; both are None if the backend reports none. ``group`` numbers the set of candidates
    with the same result (0 is the largest), None if the query failed. ``part`` is the index of the recipe's
    ``[[generate]]`` table that produced it.
    """

    sql: str
    generator: str
    logprob: float | None = None
    result: Result = field(default_factory=Result)
    group: int | None = None
    fixes: tuple[Fix, ...] = ()
    part: int = 0
    tokens: int | None = None
