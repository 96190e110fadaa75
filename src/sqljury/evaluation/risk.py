"""How far a run's confidence tells right answers from wrong ones: risk and coverage, and calibration.

Risk-coverage curves are El-Yaniv & Wiener 2010 ("On the foundations of noise-free selective classification"): of the
questions on which the answers are surest, the share that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from sqljury.evaluation import svg

BINS: Final = 10

Answered = tuple[float | None, bool]
"""The confidence in an answer, None where there is no answer, and whether it is right."""


def risk(answers: Sequence[Answered]) -> dict[str, Any] | None:
    """The curve, the area below it and the calibration, ready for JSON; None where no answer has a confidence.

    ``points`` are (coverage, share wrong, least confidence) in percent but for the last; answers of equal confidence
    are taken together. ``area`` is the mean share wrong over all coverages, beside that of answers in random order and
    in the best. ``calibration`` has a bin's mean confidence and share right, ``error`` the mean distance of the two,
    weighted by answers (expected calibration error).
    """
    if not any(confidence is not None for confidence, _ in answers):
        return None
    ordered = sorted(answers, key=_surest)
    points, wrong, taken = [], 0, 0
    for confidence, group in groupby(ordered, key=lambda answer: answer[0]):
        rights = [right for _, right in group]
        taken, wrong = taken + len(rights), wrong + rights.count(False)
        if confidence is not None:
            points.append((100 * taken / len(answers), 100 * wrong / taken, confidence))
    bins = _bins([(confidence, right) for confidence, right in answers if confidence is not None])
    count = sum(bin_["answers"] for bin_ in bins)
    error = sum(bin_["answers"] * abs(bin_["confidence"] - bin_["right"]) for bin_ in bins) / count
    return {
        "points": [tuple(round(figure, 4) for figure in point) for point in points],
        "area": round(_area(ordered), 2),
        "area_random": round(100 * wrong / len(answers), 2),
        "area_best": round(_area(sorted(answers, key=lambda answer: not answer[1]), tied=False), 2),
        "calibration": bins,
        "error": round(error, 2),
        "without": sum(confidence is None for confidence, _ in answers),
    }


def risk_chart(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The curves of risk against coverage by label, beside what the first would be in random order, as SVG."""
    lines = {label: [(x, y) for x, y, _ in figures["points"]] for label, figures in found.items()}
    random = next(iter(found.values()))["area_random"]
    lines["in random order"] = [(0.0, random), (100.0, random)]
    axes = ("answered, % of questions", "wrong, %")
    return svg.curves(lines, "Risk and coverage", axes, (100.0, 0.0), dots=_few(lines))


def reliability_chart(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The share right by confidence, by label, beside what it should be, as SVG."""
    lines = {
        label: [(bin["confidence"], bin["right"]) for bin in figures["calibration"]] for label, figures in found.items()
    }
    lines["calibrated"] = [(0.0, 0.0), (100.0, 100.0)]
    return svg.curves(lines, "Share right by confidence", ("confidence, %", "right, %"), (100.0, 100.0), dots=True)


def _few(lines: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the points of no line are too many to be drawn one by one."""
    return max(map(len, lines.values())) <= 40


def _surest(answer: Answered) -> float:
    return 1.0 if answer[0] is None else -answer[0]


def _area(ordered: Sequence[Answered], *, tied: bool = True) -> float:
    """The mean share wrong among the first 1, 2, ... answers, in percent; ties count as in random order."""
    total, wrong, taken = 0.0, 0.0, 0
    groups = groupby(ordered, key=lambda answer: answer[0]) if tied else (((), [answer]) for answer in ordered)
    for _, group in groups:
        rights = [right for _, right in group]
        share = rights.count(False) / len(rights)
        for _ in rights:
            taken, wrong = taken + 1, wrong + share
            total += wrong / taken
    return 100 * total / len(ordered)


def _bins(answers: Sequence[tuple[float, bool]]) -> list[dict[str, Any]]:
    """Bins of equal width that hold an answer, in percent."""
    bins = []
    for number in range(BINS):
        within = [(sure, right) for sure, right in answers if min(int(sure * BINS), BINS - 1) == number]
        if within:
            mean = 100 * sum(sure for sure, _ in within) / len(within)
            share = 100 * sum(right for _, right in within) / len(within)
            bins.append({"answers": len(within), "confidence": round(mean, 2), "right": round(share, 2)})
    return bins
