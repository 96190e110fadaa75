"""Which generator solves what the others do not: the regions of CHASE-SQL's Venn diagram, and every two side by side.

A generator solves a question when at least one of its candidates is right after the fixer (section 4.4, Figure 2 and
Figure 3 b; Figure 4 of the appendix by database).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

from sqljury.bench.stored import FIXED, Asked, StoredRun
from sqljury.metrics.hardness import LEVELS


def overlap(run: StoredRun) -> dict[str, Any]:
    """Counts of questions, ready for JSON. ``regions`` are disjoint and with ``none`` they sum to ``questions``."""
    solved = [_solvers(one) for one in run.questions]
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
                name: sum(name in own for one, own in zip(run.questions, solved, strict=True) if one.db_id == db_id)
                for name in names
            }
            for db_id in sorted({one.db_id for one in run.questions})
        },
    }


def _solvers(question: Asked) -> frozenset[str]:
    return frozenset(one.generator for one in question.candidates if question.right(one.queries[FIXED]))


def _generator(name: str, run: StoredRun, solved: list[frozenset[str]]) -> dict[str, Any]:
    own = [one for one in run.questions if any(candidate.generator == name for candidate in one.candidates)]
    alone = [one for one, by in zip(run.questions, solved, strict=True) if by == {name}]
    return {
        "generator": name,
        "asked": len(own),
        "candidates": sum(candidate.generator == name for one in own for candidate in one.candidates),
        "solved": sum(name in by for by in solved),
        "unique": len(alone),
        "unique_by_hardness": {level: sum(one.hardness == level for one in alone) for level in LEVELS},
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
