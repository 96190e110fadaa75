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
        (_share(records[question.id].get("confidence")) if question.sql else None, question.right(question.sql))
        for question in questions
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
        "accuracy": share_of(question.right(question.sql) for question in questions).figures(),
        "steps": [{"label": step, **share_of(map(right, questions)).figures()} for step, right in _STEPS.items()],
        "slices": _slices(questions),
        "wrong": _wrong(questions),
        "cost": {key: value for key, value in cost.to_json().items() if key != "questions"},
        "distributions": {
            figure: [float(getattr(cost.questions[question.id], figure)) for question in questions]
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
    rows |= {f"step {name or '(none)'}": sums for name, sums in cost["steps"].items()}
    rows |= {f"model {name}": sums for name, sums in cost["models"].items()}
    keys = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
    return [
        [
            name,
            *(f"{sums[key]:,}" for key in keys),
            f"{sums['seconds']:,.1f}",
            f"{sums['usd']:,.4f}" if cost["priced"] else "-",
        ]
        for name, sums in rows.items()
    ]


def spread_rows(cost: Mapping[str, Any]) -> list[list[str]]:
    """The rows of a table of how costs are distributed over questions."""
    return [
        [FIGURE_NAMES[name], *(f"{figure:,.6f}" if name == "usd" else f"{figure:,.1f}" for figure in spread.values())]
        for name, spread in cost["spread"].items()
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
    ours = {question.id: question for question in second.questions}
    pairs = [
        (question, ours[question.id])
        for question in first.questions
        if question.id in ours and ours[question.id].gold == question.gold
    ]
    if not pairs:
        return None
    scores = [[float(question.right(question.sql)) for question in side] for side in zip(*pairs, strict=True)]
    comparison = agreement.compare(scores[0], scores[1], [question.db_id for question, _ in pairs])
    return {
        "questions": len(pairs),
        "first": round(100 * comparison.first, 2),
        "second": round(100 * comparison.second, 2),
        "difference": round(100 * comparison.difference, 2),
        "low": round(100 * comparison.interval.low, 2),
        "high": round(100 * comparison.interval.high, 2),
        "p": comparison.p,
        "won": [visible(pairs[at][0].id) for at in comparison.wins],
        "lost": [visible(pairs[at][0].id) for at in comparison.losses],
    }


def _first(stage: int) -> Callable[[Asked], bool]:
    return lambda question: bool(question.candidates) and question.right(question.candidates[0].queries[stage])


def _votes(stage: int) -> Callable[[Asked], bool]:
    return lambda question: question.right(question.voted(question.candidates, stage))


_STEPS: Final[dict[str, Callable[[Asked], bool]]] = dict(
    zip(
        STEPS,
        (
            _first(WRITTEN),
            _first(REPAIRED),
            _votes(WRITTEN),
            _votes(REPAIRED),
            lambda question: question.right(question.sql),
            lambda question: any(question.right(candidate.queries[FIXED]) for candidate in question.candidates),
        ),
        strict=True,
    )
)


def _share(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _slices(questions: Sequence[Asked]) -> dict[str, list[dict[str, Any]]]:
    """Accuracy by hardness, by database, by clauses of gold and by its number of joins."""
    parts = {question.id: features(question.gold) for question in questions}
    levels = [level for level in (*LEVELS, *BIRD_LEVELS) if any(question.hardness == level for question in questions)]
    return {
        "hardness": _slice(questions, levels, lambda question: [question.hardness]),
        "database": _slice(
            questions, sorted({question.db_id for question in questions}), lambda question: [question.db_id]
        ),
        "clause": _slice(
            questions,
            sorted({clause for part in parts.values() for clause in part.clauses}),
            lambda question: parts[question.id].clauses,
        ),
        "joins": _slice(questions, ["0", "1", "2", "3+"], lambda question: [_joins(parts[question.id].joins)]),
    }


def _joins(count: int) -> str:
    return "3+" if count > 2 else str(count)


def _slice(
    questions: Sequence[Asked], names: Iterable[str], of: Callable[[Asked], Iterable[str]]
) -> list[dict[str, Any]]:
    shares = []
    for name in names:
        within = [question for question in questions if name in of(question)]
        if within:
            shares.append({"name": name, **share_of(question.right(question.sql) for question in within).figures()})
    return shares


def _wrong(questions: Sequence[Asked]) -> list[dict[str, Any]]:
    """Wrong answers by what they return beside gold; ``had_right`` counts those with a right candidate."""
    wrong = [question for question in questions if not question.right(question.sql)]
    kinds = []
    for kind, label in DEVIATIONS.items():
        within = [question for question in wrong if question.tried(question.sql).deviation == kind]
        if within:
            had = sum(
                any(question.right(candidate.queries[FIXED]) for candidate in question.candidates)
                for question in within
            )
            kinds.append({"kind": kind, "label": label, "questions": len(within), "had_right": had})
    return kinds


def _overlap(run: StoredRun) -> dict[str, Any]:
    """Which generators solve which questions; of one generator the parts of the recipe.

    ``regions`` are disjoint: the questions that exactly these solve, the largest first. A source that was not asked,
    since the recipe stopped before, solves nothing.
    """
    by_kind = sources(run)
    kind = "generators" if len(by_kind["generators"]) > 1 else "parts"
    listed = by_kind[kind]
    solved = {
        question.id: tuple(source.label for source in listed if _solves(source, question)) for question in run.questions
    }
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
                "both": sum(first.label in labels and second.label in labels for labels in solved.values()),
                "only_first": sum(first.label in labels and second.label not in labels for labels in solved.values()),
                "only_second": sum(second.label in labels and first.label not in labels for labels in solved.values()),
            }
            for first, second in combinations(listed, 2)
        ],
    }


def _source(source: Source, questions: Sequence[Asked], solved: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    asked = [question for question in questions if source.of(question) is not None]
    return {
        "label": source.label,
        **share_of(source.label in solved[question.id] for question in asked).figures(),
        "alone": sum(labels == (source.label,) for labels in solved.values()),
        "candidates": sum(len(source.of(question) or ()) for question in asked),
    }


def _solves(source: Source, question: Asked) -> bool:
    return any(question.right(candidate.queries[FIXED]) for candidate in source.of(question) or ())
