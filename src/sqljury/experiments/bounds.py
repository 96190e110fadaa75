"""What the candidates of a run hold: each generator's by itself, and the best and worst choice among k of them.

CHASE-SQL, Table 4 (one candidate of a generator, with and without the fixer) and the figure of section 4.4 that shows
upper and lower bounds against the number of candidates. The upper bound is the share of questions with at least one
right candidate, the lower bound that of questions with no wrong one.

Which generator solves what the others do not: the regions of CHASE-SQL's Venn diagram, and every two side by side.

A generator solves a question when at least one of its candidates is right after the fixer (section 4.4, Figure 2 and
Figure 3 b; Figure 4 of the appendix by database).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb
from typing import Any

from sqljury.bench.stored import FIXED, REPAIRED, WRITTEN, Asked, Source, Stored, StoredRun, sources
from sqljury.evaluation.report import Share
from sqljury.metrics.hardness import levels_of

_KEYS = {WRITTEN: "written", REPAIRED: "repaired", FIXED: "fixed"}


def bounds(run: StoredRun) -> dict[str, Any]:
    """All figures of the bounds, ready for JSON: rows by source, curves by source, and by hardness for all together."""
    by_kind = sources(run)
    everything = by_kind["all"][0]
    present = {question.hardness for question in run.questions}
    levels = [level for level in levels_of(question.hardness for question in run.questions) if level in present]
    return {
        "rows": [
            {"kind": kind, **row(source, run.questions)}
            for kind in ("parts", "generators", "all")
            for source in by_kind[kind]
        ],
        "curves": {
            source.label: curve(source, run.questions) for kind in ("all", "generators") for source in by_kind[kind]
        },
        "hardness": {
            level: curve(everything, [question for question in run.questions if question.hardness == level])
            for level in levels
        },
    }


def row(source: Source, questions: Sequence[Asked]) -> dict[str, Any]:
    """One candidate of a source at each stage: how often it runs, and how often it is right.

    A question counts by the share of its candidates that are right, so the figure is the expected accuracy of one
    candidate drawn at random: for a greedy part simply its accuracy. Intervals are over questions.
    """
    asked = [(question, kept) for question in questions if (kept := source.of(question)) is not None]
    figures: dict[str, Any] = {
        "source": source.label,
        "questions": len(asked),
        "candidates": sum(len(kept) for _, kept in asked),
        "runs": {},
        "ex": {},
    }
    for stage, key in _KEYS.items():
        runs = sum(question.runs(candidate.queries[stage]) for question, kept in asked for candidate in kept)
        figures["runs"][key] = Share(runs, figures["candidates"]).figures()
        right = sum(_right(question, kept, stage) / len(kept) for question, kept in asked if kept)
        figures["ex"][key] = Share(right, len(asked)).figures()
    counts = [(len(kept), _right(question, kept)) for question, kept in asked]
    figures["upper"] = Share(sum(right > 0 for _, right in counts), len(counts)).figures()
    figures["lower"] = Share(sum(0 < size == right for size, right in counts), len(counts)).figures()
    return figures


def curve(source: Source, questions: Sequence[Asked]) -> list[dict[str, Any]]:
    """The bounds among k candidates, for k from 1 to the most that a question has.

    ``upper`` and ``lower`` are expected values over all subsets of k of a question's candidates, exact; in the recipe's
    order the first k are taken, and ``votes`` says what votes make of these. A question that has fewer than k
    candidates counts with all that it has.
    """
    asked = [(question, kept) for question in questions if (kept := source.of(question)) is not None]
    most = max((len(kept) for _, kept in asked), default=0)
    counts = [(len(kept), _right(question, kept)) for question, kept in asked]
    points = []
    for k in range(1, most + 1):
        first = [(question, kept[:k]) for question, kept in asked]
        shares = {
            "upper": Share(sum(some_right(size, right, k) for size, right in counts), len(asked)),
            "lower": Share(sum(all_right(size, right, k) for size, right in counts), len(asked)),
            "upper_in_order": _count(_right(question, kept) > 0 for question, kept in first),
            "lower_in_order": _count(0 < len(kept) == _right(question, kept) for question, kept in first),
            "votes_in_order": _count(question.right(question.voted(kept)) for question, kept in first),
        }
        points.append({"candidates": k, **{key: share.figures() for key, share in shares.items()}})
    return points


def some_right(size: int, right: int, k: int) -> float:
    """The probability that k of ``size`` candidates, drawn without putting back, hold one of the ``right`` ones."""
    k = min(k, size)
    return 1 - comb(size - right, k) / comb(size, k)


def all_right(size: int, right: int, k: int) -> float:
    """The probability that k of ``size`` candidates are all among the ``right`` ones; 0 where there are none."""
    k = min(k, size)
    return comb(right, k) / comb(size, k) if k else 0.0


def _right(question: Asked, candidates: Iterable[Stored], stage: int = FIXED) -> int:
    return sum(question.right(candidate.queries[stage]) for candidate in candidates)


def _count(outcomes: Iterable[bool]) -> Share:
    listed = list(outcomes)
    return Share(sum(listed), len(listed))


def overlap(run: StoredRun) -> dict[str, Any]:
    """Counts of questions, ready for JSON. ``regions`` are disjoint and with ``none`` they sum to ``questions``."""
    solved = [_solvers(question) for question in run.questions]
    names = run.generators
    regions = Counter(solved)
    return {
        "questions": len(solved),
        "none": regions[frozenset()],
        "generators": [_generator(name, run, solved) for name in names],
        "regions": [
            {"generators": list(chosen), "questions": regions[frozenset(chosen)]}
            for size in range(len(names), 0, -1)
            for chosen in combinations(names, size)
        ],
        "pairs": [_pair(first, second, solved) for first, second in combinations(names, 2)],
        "databases": {
            db_id: {
                name: sum(
                    name in solvers
                    for question, solvers in zip(run.questions, solved, strict=True)
                    if question.db_id == db_id
                )
                for name in names
            }
            for db_id in sorted({question.db_id for question in run.questions})
        },
    }


def _solvers(question: Asked) -> frozenset[str]:
    return frozenset(
        candidate.generator for candidate in question.candidates if question.right(candidate.queries[FIXED])
    )


def _generator(name: str, run: StoredRun, solved: list[frozenset[str]]) -> dict[str, Any]:
    asked = [
        question for question in run.questions if any(candidate.generator == name for candidate in question.candidates)
    ]
    alone = [question for question, by in zip(run.questions, solved, strict=True) if by == {name}]
    return {
        "generator": name,
        "asked": len(asked),
        "candidates": sum(candidate.generator == name for question in asked for candidate in question.candidates),
        "solved": sum(name in by for by in solved),
        "unique": len(alone),
        "unique_by_hardness": {
            level: sum(question.hardness == level for question in alone)
            for level in levels_of(question.hardness for question in run.questions)
        },
    }


def _pair(first: str, second: str, solved: list[frozenset[str]]) -> dict[str, Any]:
    return {
        "first": first,
        "second": second,
        "both": sum(first in by and second in by for by in solved),
        "first_only": sum(first in by and second not in by for by in solved),
        "second_only": sum(second in by and first not in by for by in solved),
        "neither": sum(first not in by and second not in by for by in solved),
    }
