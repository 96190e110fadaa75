"""A query that failed its test is shown to the model with the reason, and written again: TS-SQL, Algorithm 1.

Beside it the ways of self-correction that the paper compares it with (Table 5), which need no test: the query alone is
looked at again, an error, or the rows that it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqljury import prompts
from sqljury.context import Context, State
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import REASONING_TOKENS, STOP, concluded, extract_sql, lines_of
from sqljury.recipes import RefinePart
from sqljury.sql.text import cell_text, plain
from sqljury.stages import repair
from sqljury.stages.generate.direct import messages, written
from sqljury.stages.select.base import representatives, shown
from sqljury.stages.select.consistency import joined
from sqljury.testing import run_tests
from sqljury.types import Candidate, Fix, Result, Task, Tried

CODE_LINES: Final = 60
_LINE_CHARACTERS: Final = 200
_REASON_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Refined:
    """The query in the end, which is the first one where nothing better came of it.

    Each of ``tests`` holds the queries that it held before, and then those that were written for them, in order,
    whether they passed or not. ``rounds`` counts how often the model was asked. Of a refinement by tests both queries
    are there between which ``RefinePart.keep`` chooses: the ``better`` one and the ``last`` one.
    """

    candidate: Candidate
    tests: tuple[Tried, ...] = ()
    rounds: int = 0
    better: Candidate | None = None
    last: Candidate | None = None


def refine(state: State, context: Context) -> State:
    """The stage: the chosen query is put to its tests, and written again where it fails them.

    What is written then is one candidate more. A query that cannot be run is no answer, whatever ``refine.keep`` says.
    """
    choice, candidates = state.choice, state.candidates
    if choice is None or choice.index is None or context.exhausted():
        return state
    best = candidates[choice.index]
    queries = [candidates[index].sql for index in representatives(candidates).values()]
    tests = choice.tests or run_tests(queries, state.task, context)
    context.emit("refining the query")
    refined = by_tests(best, tests, state.task, context, context.recipe.refine)
    if refined.candidate is best or not refined.candidate.result.ok:
        return replace(state, choice=replace(choice, tests=tests))
    more = joined(candidates, refined.candidate)
    group = more[-1].group
    assert group is not None  # only what runs takes the place of another
    choice = replace(choice, index=len(candidates), tests=placed(tests, refined, group))
    return replace(state, candidates=more, choice=choice)


def by_tests(candidate: Candidate, tests: Sequence[Tried], task: Task, context: Context, part: RefinePart) -> Refined:
    """The candidate, or a query that the model writes instead of it in ``part.rounds`` rounds (TS-SQL, Algorithm 1).

    A test counts where the share ``part.sure`` of the opinions, or more, said what is expected there. A round ends the
    loop where its query passes, where the model writes none, or where the allowance is spent.

    With ``part.keep`` as ``last`` the query written last is returned, as the paper has it. With ``better`` a query
    takes the place of another only if it passes every test that the other fails, for a small model's last word is worth
    no more than its first; not if it cannot be run on the user's database where the other can, or finds nothing where
    the other finds something. A query that comes a second time ends that loop, since it fails the same test.
    """
    trail = _Trail(tests, part, task)
    complaint, latest, better = trail.review(candidate), candidate, candidate
    seen, repeated, rounds = {candidate.sql}, False, 0
    while complaint is not None and rounds < part.rounds and not context.exhausted():
        revised = _revised(latest, complaint, task, context, rounds, part.reasoning)
        rounds += 1
        if revised is None:
            break
        repeated = repeated or revised.sql in seen
        if repeated and part.keep == "better":
            break
        seen.add(revised.sql)
        complaint, latest = trail.review(revised), revised
        if complaint is None and not repeated and trail.mended(candidate, revised) and not _worse(revised, candidate):
            better = latest
    fix = Fix(candidate.sql, trail.reason or "it could not be run", "tests")
    better, last = (query if query is candidate else _kept(candidate, query, fix) for query in (better, latest))
    return Refined(last if part.keep == "last" else better, trail.tests, rounds, better, last)


def by_looking(candidate: Candidate, task: Task, context: Context) -> Refined:
    """The candidate after the model was asked, once and without any evidence, to look for mistakes in it.

    The plain self-correction of Table 5: what it writes then is believed, as long as it can be run.
    """
    return _believed(candidate, prompts.render("refine/look"), "looked at again", task, context)


def by_result(candidate: Candidate, task: Task, context: Context) -> Refined:
    """The candidate after the model was shown, once, the first rows that it returns, or its error.

    Self-correction by the result of a query (Table 5, CHESS); what is written then is believed, as long as it runs.
    """
    request = prompts.render("refine/result", result=_result(candidate.result))
    return _believed(candidate, request, "compared with its result", task, context)


def _believed(candidate: Candidate, request: str, reason: str, task: Task, context: Context) -> Refined:
    revised = _revised(candidate, request, task, context, 0)
    if revised is None or _worse(revised, candidate):
        return Refined(candidate, rounds=1)
    return Refined(_kept(candidate, revised, Fix(candidate.sql, reason, "model")), rounds=1)


def by_errors(candidate: Candidate, task: Task, context: Context, rounds: int) -> Refined:
    """The candidate after the model was told, up to ``rounds`` times, that it failed or found nothing, and no more.

    The other self-correction of Table 5: a query that runs and finds something is never doubted.
    """
    if not repair.needs_fixing(candidate):
        return Refined(candidate)
    before = context.budget.total().calls
    fixed = repair.ask_again(candidate, task, context, attempts=rounds, tried=set(), hinted=False)
    return Refined(fixed, rounds=context.budget.total().calls - before)


def counts(tried: Tried, sure: float) -> bool:
    """Whether a test says anything: what is expected is known, by that share of the opinions or more."""
    return tried.case.expected is not None and tried.case.confidence >= sure


def passes(sql: str, tests: Sequence[Tried], sure: float) -> tuple[int, int]:
    """How many of the tests that count the query passes, and of how many that say anything of it."""
    outcomes = [_said(test, sql) for test in tests if counts(test, sure)]
    return sum(outcome is True for outcome in outcomes), sum(outcome is not None for outcome in outcomes)


def placed(before: Sequence[Tried], refined: Refined, group: int) -> tuple[Tried, ...]:
    """The tests as they were before, whose queries go by groups, with the refined query in the place of its group.

    Without it where groups before that were not tested, so that places go on meaning groups.
    """
    sql = refined.candidate.sql
    return tuple(_placed(test, after, sql, group) for test, after in zip(before, refined.tests, strict=True))


def _placed(before: Tried, after: Tried, sql: str, group: int) -> Tried:
    if sql not in after.queries or group > len(before.queries):
        return before
    order = list(range(len(before.queries)))
    order[group : group + 1] = [after.queries.index(sql)]
    return replace(
        after,
        queries=tuple(after.queries[position] for position in order),
        results=tuple(after.results[position] for position in order),
        passed=tuple(after.passed[position] for position in order),
    )


class _Trail:
    """The tests, and what each query written so far does on them."""

    def __init__(self, tests: Sequence[Tried], part: RefinePart, task: Task) -> None:
        self.tests = tuple(tests)
        self._task = task
        self.reason = ""
        self._sure = part.sure
        self._form = "_steps" if part.reasoning else ""

    def review(self, candidate: Candidate) -> str | None:
        """Against a query: that it cannot be run, else the first test that it fails."""
        if not candidate.result.ok:
            return repair.complaint(candidate, self._task, ())
        self.tests = tuple(_with(test, candidate.sql) for test in self.tests)
        for test in self.tests:
            if counts(test, self._sure) and _said(test, candidate.sql) is False:
                return self._failed(test, candidate.sql)
        return None

    def mended(self, candidate: Candidate, revised: Candidate) -> bool:
        """Whether the revised query passes every test that the first one fails; one that cannot run there does not.

        Both are held to the test beside each other: a query that fails by its order alone is not mended by leaving the
        order out, for then order does not count.
        """
        from sqljury.testing.trial import rerun

        failed = [test for test in self.tests if counts(test, self._sure) and _said(test, candidate.sql) is False]
        return all(rerun(test, [candidate.sql, revised.sql]).passed == (False, True) for test in failed)

    def _failed(self, tried: Tried, sql: str) -> str:
        from sqljury.testing.show import show_case

        assert tried.case.expected is not None
        actual, expected = tried.results[tried.queries.index(sql)], tried.case.expected
        self.reason = self.reason or f"on a test it returned {_short(actual)}, expected was {_short(expected)}"
        if tried.code and tried.how == "real":  # rows of the user's, which the agents keep from the model
            return prompts.render(f"refine/hidden{self._form}", code=_program(tried.code))
        parts = {
            "rows": show_case(tried.case, "csv"),
            "actual": _result(actual),
            "expected": _result(expected),
        }
        if not tried.code:
            return prompts.render(f"refine/rows{self._form}", "rows", **parts)
        return prompts.render(f"refine/code{self._form}", "rows", **parts, code=_program(tried.code))


def _revised(
    candidate: Candidate, request: str, task: Task, context: Context, number: int, reasoning: bool = False
) -> Candidate | None:
    """What the model writes when it is told so, run, and repaired without it; None for no query.

    Nor is there one where the model could not be asked (see ``Context.ask``): the query that was there stays. Its fixes
    are those of its own text alone.
    """
    turn = [*messages(task), Message("assistant", written(candidate, task)), Message("user", request)]
    stop = (*STOP, "\n```\n")  # the end of its block, not the beginning of one behind words
    sampling = Sampling(
        max_tokens=repair.max_tokens(context) + REASONING_TOKENS * reasoning,
        stop=() if reasoning else stop,  # reasoning may quote a query with its semicolon
        seed=derive_seed(context.seed, "refine", number),
    )
    reply = context.ask(turn, sampling)
    if reply is None or (reasoning and not concluded(reply.completions[0])):
        return None
    sql = extract_sql(reply.completions[0].text)
    if not sql:
        return None
    result = context.execute(sql)
    rewritten = replace(candidate, sql=sql, result=result, fixes=(), logprob=reply.completions[0].logprob)
    return repair.by_program(rewritten, task, context)


def _kept(candidate: Candidate, revised: Candidate, rewritten: Fix) -> Candidate:
    """The revised query with all that was repaired on the way to it; the old candidate where it is the same query."""
    if revised.sql == candidate.sql:
        return candidate
    return replace(revised, fixes=(*candidate.fixes, rewritten, *revised.fixes), group=None)


def _worse(revised: Candidate, candidate: Candidate) -> bool:
    """Whether the first fails where the other runs, or finds nothing where the other finds something."""
    return (candidate.result.ok and not revised.result.ok) or bool(candidate.result.rows and not revised.result.rows)


def _with(tried: Tried, sql: str) -> Tried:
    """The test with one more query tried on it."""
    if sql in tried.queries:
        return tried
    from sqljury.testing.trial import rerun

    more = rerun(tried, [sql])
    return replace(
        tried,
        queries=(*tried.queries, *more.queries),
        results=(*tried.results, *more.results),
        passed=(*tried.passed, *more.passed),
        classes=(),
    )


def _said(tried: Tried, sql: str) -> bool | None:
    return tried.passed[tried.queries.index(sql)] if sql in tried.queries else None


def _result(result: Result) -> str:
    return shown(result) if result.error is None else f"an error: {plain(str(result.error), _LINE_CHARACTERS)}"


def _program(code: str) -> str:
    """The program as data: the model wrote it, but what it read may have told it what to write."""
    lines = [plain(line, _LINE_CHARACTERS) for line in lines_of(code.replace("```", "'''"))]
    return "\n".join(lines[:CODE_LINES])


def _short(result: Result) -> str:
    """A result in half a line."""
    if result.error is not None:
        return f"an error ({plain(str(result.error), _REASON_CHARACTERS)})"
    if not result.rows:
        return "no rows"
    first = plain(", ".join(map(cell_text, result.rows[0])), _REASON_CHARACTERS)
    more = len(result.rows) - 1
    return first if not more else f"{first} and {more} more row{'' if more == 1 else 's'}"
