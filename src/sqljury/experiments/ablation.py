"""What each part of a recipe contributes, and what other ways to choose would: all from the candidates of one run.

CHASE-SQL, Tables 6 and 7: ways to choose side by side between the best and the worst choice, and the pipeline without
one of its parts. Beside EX stands EM for the ways that choose one query (Li & Xie 2024, Table 4). What a run without
that part would have written stays as it was: samples do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqljury.bench.choices import Chosen, stored
from sqljury.bench.stored import FIXED, REPAIRED, WRITTEN, Asked, Stored, StoredRun
from sqljury.engines.databases import Engine
from sqljury.evaluation.report import Share
from sqljury.experiments.judges import JudgedPairs, accuracy
from sqljury.metrics import agreement
from sqljury.stages.select.consistency import agreed
from sqljury.types import Cost

STOP_SHARES: Final = (0.5, 0.75, 1.0)
"""Shares of candidates with one result at which stopping early is tried."""

REPAIRS: Final = {
    "schema": "binding names to the schema",
    "dialect": "the database's own dialect",
    "values": "stored values in queries",
}
"""Repairs without the model, each left out with all that came after it."""

Scores = Sequence[float | None]
"""By question: whether it is answered rightly, or the chance of it; None where nothing is known."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to an answer; ``more`` are further figures of it.

    ``matches`` tells of each question whether the text of the answer matches gold's by ESM; None where that is not
    known, or does not apply.
    """

    section: str
    label: str
    scores: Scores
    more: Mapping[str, float]
    matches: Scores | None = None


def ablation(
    run: StoredRun, stop_shares: Sequence[float] = STOP_SHARES, seed: int = 0, stop_least: int | None = None
) -> dict[str, Any]:
    """All figures of the ablations, ready for JSON.

    ``stop_least`` is how many candidates must be there before any share of them stops a run early, by default what the
    recipe says. Choices that `bench select` stored count where they were made among the parts that are looked at.
    ``em`` is the share of exact matches where a method chooses one query on databases in SQLite's dialect, else None.
    ``methods`` are compared with votes over all candidates: the difference in points with its interval (databases are
    drawn), questions won and lost, and McNemar's p. ``of_bound`` is the share of what the best choice gets right.
    """
    chosen = stored(run.folder, run.questions, run.numbers)
    votes = [float(question.right(question.voted(question.candidates))) for question in run.questions]
    oracle: Scores = [float(any(_running_right(question))) for question in run.questions]
    methods = [
        *_selectors(run, oracle, chosen),
        *_without(run),
        *_stopped(run, stop_shares, stop_least or run.recipe.stop.least),
    ]
    return {
        "methods": [_compared(method, votes, oracle, run, seed) for method in methods],
        "judges": _judges(run, chosen),
        "steps": steps(run),
        "choosing": {
            label: _per_question([choice.cost for choice in by_id.values()], len(by_id))
            for label, by_id in chosen.items()
            if by_id
        },
    }


def steps(run: StoredRun) -> dict[str, dict[str, float]]:
    """Means a question of what each step takes that asks the model; ``all`` is the whole, with what asks no model."""
    count = len(run.questions)
    names = dict.fromkeys(step for question in run.questions for step in question.steps)
    by_step = {step: [question.steps[step] for question in run.questions if step in question.steps] for step in names}
    return {
        **{step: _per_question(costs, count) for step, costs in by_step.items()},
        "all": _per_question([question.cost for question in run.questions], count),
    }


def _selectors(run: StoredRun, oracle: Scores, chosen: Mapping[str, Mapping[str, Chosen]]) -> Iterable[Method]:
    """Ways to choose among all candidates, those that need to know gold last."""
    questions = run.questions
    if not run.left_out:  # else there is no such answer, and votes stand in its place
        yield _chosen(run, f"the run's answer ({run.recipe.select.selector})", [question.sql for question in questions])
    yield _chosen(run, "consistency (votes)", [question.voted(question.candidates) for question in questions])
    yield _chosen(run, "first that runs", [next(iter(_running(question)), "") for question in questions])
    yield Method("selectors", "random, expected", [_mean(_running_right(question)) for question in questions], {})
    for label, by_id in chosen.items():
        yield _chosen(
            run,
            f"stored: {label}",
            [by_id[question.id].sql if question.id in by_id else None for question in questions],
        )
    yield Method("selectors", "oracle (best choice)", oracle, {})
    worst = [float(all(rights)) if (rights := _running_right(question)) else 0.0 for question in questions]
    yield Method("selectors", "adversary (worst choice)", worst, {})


def _chosen(run: StoredRun, label: str, queries: Sequence[str | None]) -> Method:
    """A way to choose one query of each question; None where nothing was chosen yet."""
    pairs = list(zip(run.questions, queries, strict=True))
    scores = [None if sql is None else float(question.right(sql)) for question, sql in pairs]
    if Engine.of(run.described["dataset"]).name != "sqlite":
        return Method("selectors", label, scores, {})
    matches = [None if sql is None else float(question.tried(sql).matches) for question, sql in pairs]
    return Method("selectors", label, scores, {}, matches)


def _without(run: StoredRun) -> Iterable[Method]:
    """Votes without one of the generators, and with queries that were repaired less."""

    def voted(keep: Callable[[Stored], bool], stage: int) -> Scores:
        return [
            float(question.right(question.voted(filter(keep, question.candidates), stage)))
            for question in run.questions
        ]

    for name in run.generators if len(run.generators) > 1 else ():
        scores = voted(lambda candidate, name=name: candidate.generator != name, FIXED)  # type: ignore[misc]
        yield Method("votes without", name, scores, {})
    made = {by for question in run.questions for candidate in question.candidates for _, by in candidate.repairs}
    for by, label in REPAIRS.items():
        if by in made:
            kept = [[candidate.without(by) for candidate in question.candidates] for question in run.questions]
            scores = [
                float(question.right(question.voted(candidates)))
                for question, candidates in zip(run.questions, kept, strict=True)
            ]
            yield Method("votes without", label, scores, {})
    yield Method("votes without", "the model's fixer", voted(lambda _: True, REPAIRED), {})
    yield Method("votes without", "any repair", voted(lambda _: True, WRITTEN), {})


def _stopped(run: StoredRun, shares: Sequence[float], least: int) -> Iterable[Method]:
    """Votes when later parts are not asked once that share of so many agrees, with what such a run would have taken.

    The fixer and the selector count in full, though they would have had fewer candidates to work on.
    """
    for share in shares if len(run.recipe.generate) > 1 else ():
        scores: list[float] = []
        taken: list[Cost] = []
        written = 0
        for question in run.questions:
            parts = _asked_parts(question, run, share, least)
            kept = [candidate for candidate in question.candidates if candidate.part < parts]
            scores.append(float(question.right(question.voted(kept))))
            written += len(kept)
            taken.append(question.cost_without(run.recipe.steps(range(parts, len(run.recipe.generate)))))
        means = _per_question(taken, len(run.questions))
        more = {"candidates": round(written / max(1, len(run.questions)), 2), "seconds": means["seconds"]}
        label = f"at a share of {share:g} of at least {least}"
        yield Method("votes, stopping early", label, scores, {**more, "tokens": means["tokens"]})


def _asked_parts(question: Asked, run: StoredRun, share: float, least: int) -> int:
    """How many parts of the recipe are asked by the rule of its ``[stop]``, as the pipeline applies it."""
    for part in range(1, len(run.recipe.generate)):
        before = [question.candidate(candidate, REPAIRED) for candidate in question.candidates if candidate.part < part]
        if before and agreed(before, share, least):
            return part
    return len(run.recipe.generate)


def _compared(method: Method, votes: Sequence[float], oracle: Scores, run: StoredRun, seed: int) -> dict[str, Any]:
    known = [score for score in method.scores if score is not None]
    matches = None if method.matches is None else [match for match in method.matches if match is not None]
    bound = sum(best or 0.0 for best, score in zip(oracle, method.scores, strict=True) if score is not None)
    against = agreement.compare(votes, method.scores, [question.db_id for question in run.questions], seed)
    return {
        "section": method.section,
        "label": method.label,
        **Share(sum(known), len(known)).figures(),
        "em": None if matches is None else Share(sum(matches), len(matches)).figures(),
        "of_bound": round(100 * sum(known) / bound, 1) if bound else None,
        "difference": round(100 * against.difference, 2),
        "interval": [round(100 * end, 2) for end in against.interval],
        "won": len(against.wins),
        "lost": len(against.losses),
        "p": against.p,
        **method.more,
    }


def _judges(run: StoredRun, chosen: Mapping[str, Mapping[str, Chosen]]) -> dict[str, dict[str, Any]]:
    """The run's own judge and those of stored choices, where they compared pairs."""
    run_pairs = [
        (question, [candidate.group for candidate in question.candidates], question.comparisons)
        for question in run.questions
    ]
    by_judge: dict[str, list[JudgedPairs]] = {f"the run's ({run.recipe.select.selector})": [*run_pairs]}
    for label, by_id in chosen.items():
        choices = [(question, by_id[question.id]) for question in run.questions if question.id in by_id]
        by_judge[f"stored: {label}"] = [(question, choice.groups, choice.comparisons) for question, choice in choices]
    accuracies = {label: accuracy(judged) for label, judged in by_judge.items()}
    return {label: figures for label, figures in accuracies.items() if figures is not None}


def _running_right(question: Asked) -> list[bool]:
    """For each candidate that can be run, which is what selectors choose among, whether it is right."""
    return [question.right(sql) for sql in _running(question)]


def _running(question: Asked) -> list[str]:
    final = (candidate.queries[FIXED] for candidate in question.candidates)
    return [sql for sql in final if question.runs(sql)]


def _mean(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes) if outcomes else 0.0


def _per_question(costs: Sequence[Cost], questions: int) -> dict[str, float]:
    """Means over all questions; ``tokens`` are those that were computed, read and written."""
    total = sum(costs, Cost())
    figures = {
        "calls": total.calls,
        "read": total.prompt_tokens,
        "cached": total.cached_tokens,
        "written": total.completion_tokens,
        "tokens": total.computed_tokens,
        "seconds": total.seconds,
    }
    return {name: round(value / max(1, questions), 2) for name, value in figures.items()}
