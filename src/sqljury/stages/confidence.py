"""The probability that an answer is right, from all that is known when it is given; no model is asked.

A logistic regression over figures of the chosen query and its rivals, fitted on questions with gold
(``train.confidence``). What is not known, such as log-probabilities that a backend does not report, has figures of 0
and a figure of its own that says so, so one set of weights serves every recipe and model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import Any, ClassVar, Final

from sqljury.errors import InputError
from sqljury.stages import doubt
from sqljury.stages.select import PROBABILITIES
from sqljury.stages.select.features import LEAST_LOGPROB, Described, described
from sqljury.stages.weights import Format, in_measure
from sqljury.types import Candidate, Choice, Task
from sqljury.types.candidate import total_weight

FORMAT: Final = Format(
    "sqljury confidence", 1, "a calibration", "sqljury calibrate", "sqljury.stages", "confidence.json"
)
LEAST: Final = 0.01
MOST: Final = 0.99
"""No answer is surer than this, nor less sure than ``LEAST``: the questions that were learned from are hundreds."""

SIGNALS: Final[Mapping[str, tuple[str, ...]]] = {
    "query": (
        *("joins_unlinked", "tables_idle", "ties_strange", "star", "missing", "extra", "direction", "faults"),
        *("numbers_missing", "texts_unfounded", "words_covered", "tables_unasked", "columns_unasked"),
        *("selected_unasked", "selected_key"),
    ),
    "question": ("words_lacking", "tables", "selects"),
    "result": ("rows_none", "rows_repeat", "cells_null", "only_nothing"),
    "repairs": ("fixed_schema", "fixed_dialect", "fixed_values", "fixed_model"),
    "votes": ("votes_share", "margin", "rivals", "failed", "same_items"),
    "log-probabilities": ("likely", "likely_even", "mass"),
    "tests": ("tests_passed",),
    "judge": ("judge",),
}
"""The figures of each signal; ``votes`` to ``judge`` may be missing, the others are always there.

Those of ``question`` say how hard it is: how many of its words the database has no name for, and how many tables and
SELECTs its query needs.
"""
_MOST_LACKING: Final = 3.0
"""More words that the database has no name for say nothing more."""
OPTIONAL: Final = ("votes", "log-probabilities", "tests", "judge")
NAMES: Final = (*(name for names in SIGNALS.values() for name in names), *(f"without_{signal}" for signal in OPTIONAL))


@dataclass(frozen=True)
class Calibration:
    """Weights of the figures in log-odds; ``card`` says what they were fitted on and how well they do."""

    FORMAT: ClassVar[Format] = FORMAT

    intercept: float
    weights: Mapping[str, float]
    card: Mapping[str, Any]

    def probability(self, known: Mapping[str, float]) -> float:
        """The probability that an answer with these figures is right, from ``LEAST`` to ``MOST``."""
        odds = self.intercept + sum(weight * known[name] for name, weight in self.weights.items())
        return min(MOST, max(LEAST, 1 / (1 + exp(-max(-50.0, min(50.0, odds))))))

    def signals(self, known: Mapping[str, float]) -> tuple[str, ...]:
        """The signals that the probability of these figures rests on."""
        present = [signal for signal in SIGNALS if not known.get(f"without_{signal}")]
        return tuple(signal for signal in present if any(self.weights.get(name) for name in SIGNALS[signal]))

    def to_json(self) -> dict[str, Any]:
        """The format that ``read`` accepts."""
        shared = {"intercept": self.intercept, "weights": dict(self.weights), "card": dict(self.card)}
        return {"kind": FORMAT.kind, "version": FORMAT.version, **shared}


def figures(
    candidates: Sequence[Candidate],
    choice: Choice,
    task: Task,
    lacking: Sequence[str],
    known: Described | None = None,
) -> dict[str, float]:
    """The figures of the chosen candidate, by name, in the order of ``NAMES``; candidates are grouped.

    ``lacking`` is what ``doubt.missing`` finds for it, ``known`` what ``select.features.described`` made of all.
    """
    assert choice.index is not None
    chosen = candidates[choice.index]
    assert chosen.group is not None
    values = {
        **(known or described(candidates, task)).groups[chosen.group],
        "words_lacking": min(_MOST_LACKING, doubt.weight(lacking)),
        **_rivals(candidates, chosen.group),
        **_likelihood(candidates, chosen.group),
        **_verdicts(candidates, choice),
    }
    missing = {
        "votes": len(candidates) == 1,
        "log-probabilities": all(
            candidate.logprob is None for candidate in candidates if candidate.group == chosen.group
        ),
        "tests": not choice.tests,
        "judge": not _is_judged(choice),
    }
    without = {name: signal for signal, absent in missing.items() if absent for name in SIGNALS[signal]}
    flags = {f"without_{signal}": float(absent) for signal, absent in missing.items()}
    return {name: flags[name] if name in flags else 0.0 if name in without else values[name] for name in NAMES}


def _is_judged(choice: Choice) -> bool:
    """Whether a judge compared groups and its scores are probabilities, not votes, places or counts of tests."""
    return choice.selector in PROBABILITIES and len(choice.scores) > 1 and max(choice.scores) <= 1


def _rivals(candidates: Sequence[Candidate], group: int) -> dict[str, float]:
    others = {candidate.group for candidate in candidates} - {group, None}
    sizes = [total_weight(candidate for candidate in candidates if candidate.group == rival) for rival in others]
    size = total_weight(candidate for candidate in candidates if candidate.group == group)
    return {
        "margin": log(size / (max(sizes, default=0) + 0.5)),
        "rivals": float(len(sizes)),
        "failed": total_weight(candidate for candidate in candidates if candidate.group is None)
        / total_weight(candidates),
    }


def _likelihood(candidates: Sequence[Candidate], group: int) -> dict[str, float]:
    """Log-probability of the group's likeliest query, the same for 20 characters, and the group's share of all."""
    known = {
        candidate.sql: max(candidate.logprob, LEAST_LOGPROB)
        for candidate in candidates
        if candidate.logprob is not None
    }
    queries = [candidate.sql for candidate in candidates if candidate.group == group and candidate.sql in known]
    if not queries:
        return {"likely": 0.0, "likely_even": 0.0, "mass": 0.0}
    best = max(queries, key=lambda sql: known[sql])
    total = sum(exp(logprob) for logprob in known.values())
    mass = sum(exp(known[sql]) for sql in set(queries)) / total if total > 0 else 0.5
    return {"likely": known[best], "likely_even": 20 * known[best] / max(20, len(best)), "mass": mass}


def _verdicts(candidates: Sequence[Candidate], choice: Choice) -> dict[str, float]:
    """The share of tests that the chosen query passed, and the score that the judge gave its group, in log-odds."""
    chosen = candidates[choice.index or 0]
    outcomes = [
        passed
        for test in choice.tests
        for sql, passed in zip(test.queries, test.passed, strict=False)
        if sql == chosen.sql and passed is not None
    ]
    group = chosen.group or 0
    score = choice.scores[group] if group < len(choice.scores) else 0.5
    bounded = min(MOST, max(LEAST, score))
    return {
        "tests_passed": sum(outcomes) / len(outcomes) if outcomes else 0.5,
        "judge": log(bounded / (1 - bounded)),
    }


def read(file: str = "") -> Calibration:
    """The calibration in a file of ``sqljury calibrate``; without a name, that of the package.

    Raises ``InputError`` for a file that is missing, cannot be read, or is not a calibration of this version.
    """
    return _read(file) if file else _shipped()


@lru_cache(maxsize=1)
def _shipped() -> Calibration:
    return _read("")


def _read(file: str) -> Calibration:
    loaded = FORMAT.read(file, NAMES)
    intercept = loaded.get("intercept")
    if not in_measure(intercept):
        raise InputError(f"{file or FORMAT.own}: has no intercept; make it again with `{FORMAT.made_by}`")
    return Calibration(float(intercept), loaded["weights"], loaded["card"])
