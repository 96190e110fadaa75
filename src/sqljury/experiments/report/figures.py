"""The figures of one run in a report, and the comparison of two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from sqljury.bench.costs import RunCost, in_flight
from sqljury.bench.stored import FIXED, REPAIRED, WRITTEN, Asked, Source, StoredRun, sources
from sqljury.evaluation.report import STEPS, share_of
from sqljury.evaluation.risk import risk
from sqljury.evaluation.run_folder import IN_FLIGHT, Record
from sqljury.evaluation.scores import features
from sqljury.evaluation.verdicts import DEVIATIONS
from sqljury.experiments.ablation import ablation
from sqljury.experiments.bounds import curve
from sqljury.experiments.report.questions import visible
from sqljury.metrics import agreement
from sqljury.metrics.hardness import BIRD_LEVELS, LEVELS

_NAMED: Final = (
    "seed",
    "batch",
    IN_FLIGHT,
    "others",
    "weights",
    "refined",
    "sqljury",
    "code",
    "prompts",
    "python",
    "examples",
    "limits",
    "allowance",
    "identities",
    "cache",
)


def figures(run: StoredRun, records: Mapping[str, Record], cost: RunCost) -> dict[str, Any]:
    """All figures of a run, ready for JSON; ``records`` are its answers by question."""
    questions = run.questions
    answers = [
        (_share(records[one.id].get("confidence")) if one.sql else None, one.right(one.sql)) for one in questions
    ]
    return {
        "folder": str(run.folder),
        "dataset": {key: value for key, value in run.described["dataset"].items() if key != "data"},
        "recipe": run.recipe.name,
        "model": run.described["model"],
        "settings": {key: run.described[key] for key in _NAMED if run.described.get(key) is not None},
        "in_flight": in_flight(run.described),
        "questions": len(questions),
        "faults": [list(fault) for fault in run.faults],
        "accuracy": share_of(one.right(one.sql) for one in questions).figures(),
        "steps": [{"label": step, **share_of(map(right, questions)).figures()} for step, right in _STEPS.items()],
        "slices": _slices(questions),
        "wrong": _wrong(questions),
        "cost": {key: value for key, value in cost.to_json().items() if key != "questions"},
        "distributions": {
            figure: [float(getattr(cost.questions[one.id], figure)) for one in questions]
            for figure in FIGURE_NAMES
            if figure != "usd" or cost.priced
        },
        "overlap": _overlap(run),
        "bounds": curve(sources(run)["all"][0], questions),
        "selectors": ablation(run),
        "risk": risk(answers),
    }


_PREFIXES: Final = {"votes without": "votes without ", "votes, stopping early": "votes, stopping "}
COST_HEAD: Final = ("calls", "prompt", "cached", "written", "seconds", "US dollars")
SPREAD_HEAD: Final = ("a question", "mean", "median", "90 %", "99 %", "most")
FIGURE_NAMES: Final = {
    "seconds": "seconds",
    "computed_tokens": "tokens computed",
    "calls": "calls",
    "usd": "US dollars",
}


def cost_rows(cost: Mapping[str, Any]) -> list[list[str]]:
    """The rows of a table of costs: the answers, what was broken off, all, then steps and models."""
    rows = {"answered questions": cost["answers"], "broken off": cost["broken_off"], "all": cost["spent"]}
    rows |= {f"step {name or '(none)'}": one for name, one in cost["steps"].items()}
    rows |= {f"model {name}": one for name, one in cost["models"].items()}
    keys = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
    return [
        [
            name,
            *(f"{one[key]:,}" for key in keys),
            f"{one['seconds']:,.1f}",
            f"{one['usd']:,.4f}" if cost["priced"] else "-",
        ]
        for name, one in rows.items()
    ]


def spread_rows(cost: Mapping[str, Any]) -> list[list[str]]:
    """The rows of a table of how costs are distributed over questions."""
    return [
        [FIGURE_NAMES[name], *(f"{figure:,.6f}" if name == "usd" else f"{figure:,.1f}" for figure in one.values())]
        for name, one in cost["spread"].items()
        if name != "usd" or cost["priced"]
    ]


def method_name(method: Mapping[str, Any]) -> str:
    """A way to choose as reports name it: an ablation's label says only what is left out."""
    return f"{_PREFIXES.get(method['section'], '')}{method['label']}"


def compared(first: StoredRun, second: StoredRun) -> dict[str, Any] | None:
    """The second run against the first on the questions that both have; None where there are none.

    Accuracies and the difference are in percent; ``won`` are questions that only the second answers rightly, by their
    ids as the list of questions shows them.
    """
    ours = {one.id: one for one in second.questions}
    pairs = [(one, ours[one.id]) for one in first.questions if one.id in ours and ours[one.id].gold == one.gold]
    if not pairs:
        return None
    scores = [[float(one.right(one.sql)) for one in side] for side in zip(*pairs, strict=True)]
    found = agreement.compare(scores[0], scores[1], [one.db_id for one, _ in pairs])
    return {
        "questions": len(pairs),
        "first": round(100 * found.first, 2),
        "second": round(100 * found.second, 2),
        "difference": round(100 * found.difference, 2),
        "low": round(100 * found.interval.low, 2),
        "high": round(100 * found.interval.high, 2),
        "p": found.p,
        "won": [visible(pairs[at][0].id) for at in found.wins],
        "lost": [visible(pairs[at][0].id) for at in found.losses],
    }


def _first(stage: int) -> Callable[[Asked], bool]:
    return lambda one: bool(one.candidates) and one.right(one.candidates[0].queries[stage])


def _votes(stage: int) -> Callable[[Asked], bool]:
    return lambda one: one.right(one.voted(one.candidates, stage))


_STEPS: Final[dict[str, Callable[[Asked], bool]]] = dict(
    zip(
        STEPS,
        (
            _first(WRITTEN),
            _first(REPAIRED),
            _votes(WRITTEN),
            _votes(REPAIRED),
            lambda one: one.right(one.sql),
            lambda one: any(one.right(each.queries[FIXED]) for each in one.candidates),
        ),
        strict=True,
    )
)


def _share(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _slices(questions: Sequence[Asked]) -> dict[str, list[dict[str, Any]]]:
    """Accuracy by hardness, by database, by clauses of gold and by its number of joins."""
    parts = {one.id: features(one.gold) for one in questions}
    levels = [level for level in (*LEVELS, *BIRD_LEVELS) if any(one.hardness == level for one in questions)]
    return {
        "hardness": _slice(questions, levels, lambda one: [one.hardness]),
        "database": _slice(questions, sorted({one.db_id for one in questions}), lambda one: [one.db_id]),
        "clause": _slice(
            questions,
            sorted({clause for part in parts.values() for clause in part.clauses}),
            lambda one: parts[one.id].clauses,
        ),
        "joins": _slice(questions, ["0", "1", "2", "3+"], lambda one: [_joins(parts[one.id].joins)]),
    }


def _joins(count: int) -> str:
    return "3+" if count > 2 else str(count)


def _slice(
    questions: Sequence[Asked], names: Iterable[str], of: Callable[[Asked], Iterable[str]]
) -> list[dict[str, Any]]:
    found = []
    for name in names:
        within = [one for one in questions if name in of(one)]
        if within:
            found.append({"name": name, **share_of(one.right(one.sql) for one in within).figures()})
    return found


def _wrong(questions: Sequence[Asked]) -> list[dict[str, Any]]:
    """Wrong answers by what they return beside gold; ``had_right`` counts those with a right candidate."""
    wrong = [one for one in questions if not one.right(one.sql)]
    found = []
    for kind, label in DEVIATIONS.items():
        within = [one for one in wrong if one.tried(one.sql).deviation == kind]
        if within:
            had = sum(any(one.right(each.queries[FIXED]) for each in one.candidates) for one in within)
            found.append({"kind": kind, "label": label, "questions": len(within), "had_right": had})
    return found


def _overlap(run: StoredRun) -> dict[str, Any]:
    """Which generators solve which questions; of one generator the parts of the recipe.

    ``regions`` are disjoint: the questions that exactly these solve, the largest first. A source that was not asked,
    since the recipe stopped before, solves nothing.
    """
    by_kind = sources(run)
    kind = "generators" if len(by_kind["generators"]) > 1 else "parts"
    listed = by_kind[kind]
    solved = {one.id: tuple(source.label for source in listed if _solves(source, one)) for one in run.questions}
    regions: dict[tuple[str, ...], int] = {}
    for labels in solved.values():
        regions[labels] = regions.get(labels, 0) + 1
    return {
        "kind": kind,
        "sources": [_source(source, run.questions, solved) for source in listed],
        "regions": [
            {"solved_by": list(labels), "questions": count}
            for labels, count in sorted(regions.items(), key=lambda item: (-item[1], item[0]))
        ],
        "pairs": [
            {
                "first": first.label,
                "second": second.label,
                "both": sum(first.label in own and second.label in own for own in solved.values()),
                "only_first": sum(first.label in own and second.label not in own for own in solved.values()),
                "only_second": sum(second.label in own and first.label not in own for own in solved.values()),
            }
            for first, second in combinations(listed, 2)
        ],
    }


def _source(source: Source, questions: Sequence[Asked], solved: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    asked = [one for one in questions if source.of(one) is not None]
    return {
        "label": source.label,
        **share_of(source.label in solved[one.id] for one in asked).figures(),
        "alone": sum(labels == (source.label,) for labels in solved.values()),
        "candidates": sum(len(source.of(one) or ()) for one in asked),
    }


def _solves(source: Source, question: Asked) -> bool:
    return any(question.right(one.queries[FIXED]) for one in source.of(question) or ())
