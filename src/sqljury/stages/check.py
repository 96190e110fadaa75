"""Is this query right? It is run, and tried on small databases beside queries that a recipe writes for the question.

TS-SQL (research question 0), for one query; ``audit/model.py`` does the same for a benchmark's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from sqljury.context import Context, State
from sqljury.errors import InputError, QueryLimitError, QueryRefusedError
from sqljury.recipes import Recipe, RefinePart
from sqljury.recipes.parts import TestKind
from sqljury.sql.compare import VOTES, same
from sqljury.stages.conclude import UNUSABLE
from sqljury.stages.refine import by_tests, passes
from sqljury.stages.select.base import representatives
from sqljury.stages.select.consistency import choose
from sqljury.testing import run_tests
from sqljury.types import Candidate, Cost, Question, Result, Tried
from sqljury.types.serialize import cost_dict, result_dict

Verdict = Literal["right", "wrong", "unclear"]

ROUNDS: Final = 3
"""How often a query that fails is written again, where the recipe does not say."""

SURE: Final = 0.6
"""Of the programs, where the recipe has none itself: without a share one program of three would decide."""

RIVALS: Final = 4
"""Of the largest groups with another result, how many are tried beside the query."""

_UNUSABLE: Final = {**UNUSABLE, "refused": QueryRefusedError, "limit": QueryLimitError}


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found of a query, and why.

    ``candidates`` are what the recipe wrote for the question, grouped by result; ``agreeing`` of them have the result
    of the query. The first query of each of ``tests`` is the one that was checked; then come candidates with other
    results, one of each group, and what was written where it failed. ``counted`` tests say anything, and ``passed``
    of them are passed. ``correction`` is a query that does better, run on the database; none but a wrong query has one.
    """

    question: Question
    sql: str
    verdict: Verdict
    why: str
    result: Result
    agreeing: int
    candidates: tuple[Candidate, ...]
    tests: tuple[Tried, ...] = ()
    passed: int = 0
    counted: int = 0
    correction: Candidate | None = None
    cost: Cost = field(default_factory=Cost)
    steps: tuple[tuple[str, Cost], ...] = ()
    model: str = ""
    recipe: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON; the keys are part of the public interface."""
        correction = self.correction
        return {
            "question": self.question.text,
            "sql": self.sql,
            "verdict": self.verdict,
            "why": self.why,
            "result": result_dict(self.result),
            "agreeing": self.agreeing,
            "candidates": [candidate.sql for candidate in self.candidates],
            "passed": self.passed,
            "counted": self.counted,
            "tests": [test.to_dict() for test in self.tests],
            "correction": None if correction is None else {"sql": correction.sql, **result_dict(correction.result)},
            "cost": cost_dict(self.cost),
            "steps": [{"step": step, **cost_dict(cost)} for step, cost in self.steps],
        }


def with_tests(recipe: Recipe, kind: TestKind = "") -> Recipe:
    """The recipe with tests of this kind, its own where that is empty, and a suite where it has none either.

    Where it had no ``agents`` of its own, and says of no share of opinions that it must agree, ``SURE`` of them must.
    """
    kind = kind or recipe.tests.kind or "suite"
    refine = recipe.refine
    if kind == "agents" != recipe.tests.kind:
        refine = replace(refine, sure=refine.sure or SURE)
    return replace(recipe, tests=replace(recipe.tests, kind=kind), refine=refine)


def check_query(sql: str, context: Context, candidates: Callable[[], State]) -> Checked:
    """Whether ``sql`` answers the question of a state, whose ``candidates`` were written for it, run and grouped.

    A query that cannot be run is wrong. One that passes every test that says anything is right, unless a query with
    another result passes as many: then the tests cannot say which is meant. One that fails is wrong if another query
    passes more, one of the recipe's or, asked for with the test that failed, one written for it; if there is none, the
    tests may as well be wrong, and nothing is said. Where most of the recipe's queries that run agree with the query,
    none is asked for: one that is written to pass the test says nothing for the test.
    Raises ``InputError`` without a query, ``QueryRefusedError`` for one that is not a plain read, ``QueryLimitError``
    for one that takes too much, all before a model is asked, and what ``candidates`` and the model raise.
    """
    given = _given(sql, context)
    state = candidates()
    finding = _tested(given, state, context) if given.result.ok else _failing(given, state.candidates)
    passed, counted = passes(sql, finding.tests, context.recipe.refine.sure)
    return Checked(
        question=state.task.question,
        sql=sql,
        verdict=finding.verdict,
        why=finding.why,
        result=given.result,
        agreeing=len(_agreeing(given, state.candidates)),
        candidates=state.candidates,
        tests=finding.tests,
        passed=passed,
        counted=counted,
        correction=finding.correction,
        cost=context.budget.total(),
        steps=context.budget.steps,
        model=context.model.name,
        recipe=context.recipe.name,
    )


def _given(sql: str, context: Context) -> Candidate:
    """The query, run; raises for none and for one that may not be run."""
    if not sql.strip():
        raise InputError("there is no query to check; give one with --sql")
    given = Candidate(sql, "given", result=context.db.execute(sql, context.limits, context.cancel))
    if given.result.error is not None and (kind := given.result.error.kind) in _UNUSABLE:
        raise _UNUSABLE[kind](f"the query: {given.result.error.message}")
    return given


def _agreeing(given: Candidate, written: Sequence[Candidate]) -> list[Candidate]:
    if not given.result.ok:
        return []
    return [
        candidate
        for candidate in written
        if candidate.group is not None and same(candidate.result, given.result, VOTES)
    ]


class _Found(NamedTuple):
    verdict: Verdict
    why: str
    correction: Candidate | None = None
    tests: tuple[Tried, ...] = ()


def _failing(given: Candidate, written: Sequence[Candidate]) -> _Found:
    best = choose(written)
    return _Found("wrong", f"it cannot be run: {given.result.error}", None if best is None else written[best])


def _tested(given: Candidate, state: State, context: Context) -> _Found:
    """The verdict by tests on a query that runs; where it fails and no other is better, one is asked for."""
    written, sure = state.candidates, context.recipe.refine.sure
    rivals = [
        candidate
        for candidate in (written[index] for index in representatives(written).values())
        if not same(candidate.result, given.result, VOTES)
    ][:RIVALS]
    tests = run_tests([given.sql, *(rival.sql for rival in rivals)], state.task, context)
    finding = judged(given, rivals, tests, sure)
    if finding.verdict != "unclear" or not _fails(given, tests, sure):
        return finding
    ran = sum(candidate.group is not None for candidate in written)
    if 2 * len(_agreeing(given, written)) > ran:
        passed, counted = passes(given.sql, tests, sure)
        others = "the query written for the question returns" if ran == 1 else "most written for the question return"
        return finding._replace(why=f"it {_falls(passed, counted)}, but {others} the same: the test may be wrong")
    if context.exhausted():
        return finding
    context.emit("refining the query")
    refine = context.recipe.refine  # its keep does not count: only a query that does better is a correction
    part = RefinePart(refine.rounds or ROUNDS, sure, reasoning=refine.reasoning)
    with context.step("refine"):
        refined = by_tests(given, tests, state.task, context, part)
    if refined.candidate is given:
        return finding._replace(tests=refined.tests)
    return judged(given, [refined.candidate], refined.tests, sure)


def judged(given: Candidate, rivals: Sequence[Candidate], tests: tuple[Tried, ...], sure: float) -> _Found:
    """The verdict on a query that runs, beside others with other results, from tests on which all were tried."""
    passed, counted = passes(given.sql, tests, sure)
    if not counted:
        return _Found("unclear", "no test says anything of it", tests=tests)
    score = {rival.sql: passes(rival.sql, tests, sure)[0] for rival in rivals}
    best = max(rivals, key=lambda rival: score[rival.sql], default=None)
    theirs = score[best.sql] if best else -1
    every = "the test" if counted == 1 else f"all {counted} tests"
    if passed == counted and theirs < passed:
        return _Found("right", f"it passes {every}", tests=tests)
    if passed == counted:
        return _Found("unclear", f"it passes {every}, but so does a query with another result", tests=tests)
    if theirs > passed:
        more = "which another query passes" if counted == 1 else f"and another query passes {theirs}"
        return _Found("wrong", f"it {_falls(passed, counted)}, {more}", best, tests)
    why = f"it {_falls(passed, counted)}, but no other query does better: the test may be wrong"
    return _Found("unclear", why, tests=tests)


def _fails(given: Candidate, tests: Sequence[Tried], sure: float) -> bool:
    passed, counted = passes(given.sql, tests, sure)
    return passed < counted


def _falls(passed: int, counted: int) -> str:
    return "fails the test" if counted == 1 else f"passes {passed or 'none'} of {counted} tests"
