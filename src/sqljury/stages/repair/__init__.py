"""The query fixer: a failed or empty query, what was wrong with it, and another attempt.

CHASE-SQL, section 3.4. Before the model is asked, names are bound to the schema and other dialects' words are
translated, which needs no model call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from sqljury import prompts
from sqljury.context import Context, State
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.prompts import unmarked
from sqljury.sql.preserve import losses
from sqljury.sql.repair_names import rebind
from sqljury.sql.text import plain
from sqljury.sql.translate import translations
from sqljury.stages.generate.direct import messages
from sqljury.stages.repair.hints import Advice, advise, stored
from sqljury.stages.select import VOTES
from sqljury.stages.select.consistency import decided, group, likelihood
from sqljury.types import Candidate, Fix, QueryFailure, Result, Task
from sqljury.values.bind import bind_values

REASON_CHARACTERS = 300

By = Literal["schema", "dialect", "values", "instructions", "model"]


SECONDS: Final = 1.0
"""Repairs may take this long even if the queries were written faster, as replies from a cache are."""


def repair(state: State, context: Context) -> State:
    """The stage: what failed is repaired by the model, likeliest first.

    Where votes choose, only as long as a repair could still change the outcome. Equal queries are repaired once, and an
    error that the model could not repair once is not put to it again for another candidate. Repairs end once they have
    taken as long as writing did.
    """
    candidates, attempts = list(state.candidates), context.recipe.fix.attempts
    by_votes = context.recipe.select.selector == VOTES
    broken = [index for index, candidate in enumerate(candidates) if needs_fixing(candidate)]
    broken.sort(key=lambda index: likelihood(candidates[index]), reverse=True)
    repairs = _Repairs(state.task, context, {candidates[index].sql for index in broken})
    with context.step("fix", max(_writing_seconds(context), SECONDS)):
        for done, index in enumerate(broken):
            if not attempts or context.exhausted() or (by_votes and decided(group(candidates), broken[done:])):
                break
            context.emit("repairing queries", done, len(broken))
            candidates[index] = repairs.of(candidates[index])
    return replace(state, candidates=tuple(candidates))


class _Repairs:
    """Repairs of one question: each query once, and no error that led nowhere before."""

    def __init__(self, task: Task, context: Context, tried: set[str]) -> None:
        self._task, self._context, self._tried = task, context, tried
        self._repaired: dict[str, Candidate] = {}
        self._hopeless: set[QueryFailure] = set()

    def of(self, candidate: Candidate) -> Candidate:
        """The candidate as it is after repair, with the fixes of its own before those."""
        if candidate.sql not in self._repaired:
            if candidate.result.error in self._hopeless:
                return candidate
            self._repaired[candidate.sql] = self._ask(candidate)
        repaired = self._repaired[candidate.sql]
        fixes = candidate.fixes + repaired.fixes
        return replace(candidate, sql=repaired.sql, result=repaired.result, fixes=fixes)

    def _ask(self, candidate: Candidate) -> Candidate:
        """What the model made of it, with the new fixes alone."""
        part = self._context.recipe.fix
        attempts = 1 if candidate.result.error_kind == "limit" else part.attempts  # each try may take as long again
        repaired = ask_again(
            candidate, self._task, self._context, attempts=attempts, tried=self._tried, hinted=part.hints
        )
        if repaired.sql == candidate.sql and candidate.result.error is not None:
            self._hopeless.add(candidate.result.error)
        return replace(repaired, fixes=repaired.fixes[len(candidate.fixes) :])


def _writing_seconds(context: Context) -> float:
    """How long the model took to write the queries."""
    writing = context.recipe.steps(range(len(context.recipe.generate)))
    return sum(cost.seconds for step, cost in context.budget.steps if step in writing)


def max_tokens(context: Context) -> int:
    """How long a rewritten query may be: as long as any that a part of the recipe writes."""
    return max(part.max_tokens for part in context.recipe.generate)


def needs_fixing(candidate: Candidate) -> bool:
    """The query is missing, failed, or found nothing."""
    return not candidate.sql or not candidate.result.rows


def by_program(candidate: Candidate, task: Task, context: Context, *, names: bool, dialect: bool) -> Candidate:
    """What can be repaired of a failed query without the model: its names, and the words of another dialect."""
    if names:
        candidate = bind_names(candidate, task, context)
    if dialect:
        candidate = translate(candidate, task, context, names=names)
    return put_values(candidate, task, context)


def put_values(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """A query that runs, with stored values for texts that their columns do not have, if it runs so too.

    Whether a column has a text is asked of the database itself, see ``hints.stored``.
    """
    if context.values is None or not candidate.sql or not candidate.result.ok:
        return candidate
    sql = bind_values(candidate.sql, task.known, stored(task.known, context), context.values)
    if sql is None:
        return candidate
    fixed = _fixed(candidate, sql, context.db.execute(sql, context.limits, context.cancel), "values")
    return fixed if fixed.result.ok else candidate


def translate(candidate: Candidate, task: Task, context: Context, *, names: bool) -> Candidate:
    """The first translation of a failed query into the database's dialect that runs; else the candidate as it is."""
    if not candidate.sql or candidate.result.error_kind not in ("sql", "refused"):
        return candidate
    for sql in translations(candidate.sql, task.known):
        fixed = _fixed(candidate, sql, context.db.execute(sql, context.limits, context.cancel), "dialect")
        if names:
            fixed = bind_names(fixed, task, context)
        if fixed.result.ok:
            return fixed
    return candidate


def bind_names(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """A failed query with its names bound to the schema, if that makes it run; else the candidate as it is."""
    if not candidate.sql or candidate.result.ok:
        return candidate
    sql = rebind(candidate.sql, task.known)
    if sql is None or losses(candidate.sql, sql, task.known):
        return candidate
    result = context.db.execute(sql, context.limits, context.cancel)
    return _fixed(candidate, sql, result, "schema") if result.ok else candidate


def ask_again(
    candidate: Candidate, task: Task, context: Context, *, attempts: int, tried: set[str], hinted: bool = True
) -> Candidate:
    """Let the model rewrite a query that failed or found nothing, up to ``attempts`` times.

    Only a query that keeps every restriction of the one before is accepted, see ``preserve.losses``. With ``hinted``
    the model is asked about an empty result only where a value or a join can be shown to be its cause. It is not asked
    again when it repeats an error or a query of ``tried``, which is added to: decoding is greedy, and the reply would
    be the same. A query that runs is only replaced by one that runs and finds something.
    """
    best = latest = candidate
    lacking: set[str] = set()
    lost: tuple[str, ...] = ()
    for attempt in range(attempts):
        if not latest.sql or context.exhausted():  # looking for advice takes time too
            break
        advice = Advice() if lost else advise(latest, task, context)
        if hinted and latest.result.ok and not lost and not advice.lines:
            break
        lacking.update(advice.lacking)
        request = complaint(latest, advice.lines if hinted else (), lost)
        sql = _rewritten(latest.sql, request, task, context, attempt)
        if not sql or sql in tried:
            break
        before = latest.result.error
        result = context.db.execute(sql, context.limits, context.cancel)
        latest = by_program(_fixed(latest, sql, result, "model"), task, context, names=True, dialect=True)
        lost = losses(candidate.sql, latest.sql, task.known, lacking) if latest.result.ok else ()
        if latest.result.rows and not lost:
            return latest
        tried.update((sql, latest.sql))
        if lost and candidate.result.ok:
            break  # a query that runs is not to be made looser until it finds something
        if latest.result.ok and not lost and not best.result.ok:
            best = latest
        if latest.result.error is not None and latest.result.error == before:
            break
    return best


def _rewritten(sql: str, request: str, task: Task, context: Context, attempt: int) -> str:
    """The model's query after ``request``; empty if it wrote none or could not be asked."""
    conversation = [*messages(task), Message("assistant", unmarked(sql)), Message("user", request)]
    sampling = Sampling(max_tokens=max_tokens(context), stop=STOP, seed=derive_seed(context.seed, "fix", attempt))
    reply = context.ask(conversation, sampling)
    return "" if reply is None else extract_sql(reply.completions[0].text)


def complaint(candidate: Candidate, advice: Sequence[str], lost: Sequence[str] = ()) -> str:
    """What the model is told of its query: the engine's message, that it found nothing, or what it lost, and advice.

    The message may quote content of the database, so that it too must not leave its line.
    """
    if lost:
        return prompts.render("fix/lost", lost=", ".join(lost))
    lines = "\n".join(f"- {line}" for line in advice)
    if candidate.result.error is None:
        return prompts.render("fix/empty_hints", hints=lines) if advice else prompts.render("fix/empty")
    reason = plain(str(candidate.result.error), REASON_CHARACTERS)
    if advice:
        return prompts.render("fix/error_hints", reason=reason, hints=lines)
    return prompts.render("fix/error", reason=reason)


def _fixed(candidate: Candidate, sql: str, result: Result, by: By) -> Candidate:
    reason = str(candidate.result.error or ("no rows" if not candidate.result.rows else "a text that its column lacks"))
    fix = Fix(before=candidate.sql, reason=reason, by=by)
    return replace(candidate, sql=sql, result=result, fixes=(*candidate.fixes, fix))
