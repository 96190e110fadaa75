"""A query that may answer the question, its repairs, and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from sqljury.types.result import Result

FixedBy = Literal["schema", "dialect", "values", "meaning", "instructions", "model", "tests"]


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
    by: FixedBy


DIGITS: Final = 9
"""Decimals of a sum of weights: three thirds of a vote are one, so that ties stay ties."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query that may answer the question.

    ``sql`` is empty if the reply contained no query. ``logprob`` is the sum of the natural-log probabilities of its
    ``tokens`` generated tokens; both are None if the backend reports none. ``group`` numbers the set of candidates
    with the same result (0 is the largest), None if the query failed. ``part`` is the index of the recipe's
    ``[[generate]]`` table that produced it. ``weight`` is the number of votes that it counts for. An ``opinion`` only
    votes: it is not chosen while another candidate runs.
    """

    sql: str
    generator: str
    logprob: float | None = None
    result: Result = field(default_factory=Result)
    group: int | None = None
    fixes: tuple[Fix, ...] = ()
    part: int = 0
    tokens: int | None = None
    weight: float = 1.0
    opinion: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        """The query as it was written, and as each repair left it; the last is ``sql``."""
        return (*(fix.before for fix in self.fixes), self.sql)


def total_weight(candidates: Iterable[Candidate]) -> float:
    """The votes of these candidates together."""
    return round(sum((candidate.weight for candidate in candidates), 0.0), DIGITS)


def equal_votes(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with weights by which every part has as many votes as the one with the fewest candidates.

    A part's candidates share its votes evenly: the linear opinion pool (Stone 1961) of the parts, with equal weights.
    Weights are 1 where all parts have equally many candidates, and at most 1 elsewhere.
    """
    listed = tuple(candidates)
    sizes = Counter(candidate.part for candidate in listed)
    least = min(sizes.values(), default=1)
    return tuple(replace(candidate, weight=least / sizes[candidate.part]) for candidate in listed)


def with_opinion(given: Sequence[Candidate], own: Sequence[Candidate], *, chosen: bool) -> tuple[Candidate, ...]:
    """Given candidates and a model's ``own`` ones, which together vote as the system of them with the fewest votes.

    They are trusted least: they come last, and without log-probabilities, which would break ties. Unless they may be
    ``chosen``, they only vote. Weights are scaled to be at most 1; between systems with equal votes they stay those of
    ``equal_votes``.
    """
    if not own:
        return tuple(given)
    systems = {candidate.part for candidate in given}
    least = min(
        (total_weight(candidate for candidate in given if candidate.part == system) for system in systems), default=1.0
    )
    share = least / len(own)
    scale = max(1.0, share)
    weighed = (replace(candidate, weight=candidate.weight / scale) for candidate in given)
    voting = (replace(candidate, weight=share / scale, logprob=None, opinion=not chosen) for candidate in own)
    return (*weighed, *voting)


def of_systems(queries: Sequence[str | Candidate]) -> tuple[tuple[Candidate, ...], list[str]]:
    """The candidates, each with the number of its system as its ``part``, and the names of the systems.

    A candidate's system is its ``generator``, a text has one of its own. Log-probabilities are kept where all have one.
    """
    likely = all(isinstance(query, Candidate) and query.logprob is not None for query in queries)
    systems: list[str] = []
    numbers: dict[str, int] = {}
    candidates = []
    for query in queries:
        candidate = Candidate(query, "given") if isinstance(query, str) else query
        part = len(systems) if isinstance(query, str) else numbers.setdefault(candidate.generator, len(systems))
        if part == len(systems):
            systems.append(candidate.generator)
        candidates.append(replace(candidate, logprob=candidate.logprob if likely else None, part=part, weight=1.0))
    return tuple(candidates), systems
