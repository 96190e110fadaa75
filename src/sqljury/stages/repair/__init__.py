"""The query fixer: a failed or empty query, what was wrong with it, and another attempt.

CHASE-SQL, section 3.4. Before the model is asked, names are bound to the schema and other dialects' words are
translated, which needs no model call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Literal

from sqljury import prompts
from sqljury.context import Context, State
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.prompts import Text, unmarked
from sqljury.sql.compare import VOTES as ALIKE
from sqljury.sql.compare import same
from sqljury.sql.equated import with_joins
from sqljury.sql.faults import Fault, read_fault
from sqljury.sql.meaning import BEFORE_VALUES
from sqljury.sql.names.bind import rebindings
from sqljury.sql.names.suggest import LINES, unknown
from sqljury.sql.preserve import losses
from sqljury.sql.strict import conform
from sqljury.sql.text import plain, tokens
from sqljury.sql.translate import translations
from sqljury.stages import pace
from sqljury.stages.doubt import is_hopeless
from sqljury.stages.generate.direct import messages, written
from sqljury.stages.repair.hints import Advice, advise, fault_of, stored
from sqljury.stages.repair.meaning import apply_rules, as_meant, meant_to_run
from sqljury.stages.select import VOTES
from sqljury.stages.select.consistency import decided, group, likelihood
from sqljury.types import Candidate, Fix, Privacy, Result, Schema, Task
from sqljury.values.bind import bind_values

REASON_CHARACTERS = 300

By = Literal["schema", "dialect", "values", "instructions", "model"]

_FAULTS: Final = {
    "column": "there is no column {}",
    "table": "there is no table {}",
    "function": "there is no function {}",
    "ambiguous": "the column {} is ambiguous",
    "grouping": "{} is neither grouped nor aggregated",
}
"""What is told of a message of which only the kind and the query's own name may be told."""

ANOTHER_READING: Final = "another reading of its names"
"""Ends the reason of a repair that is not the likeliest one of its query."""


SECONDS: Final = 1.0
"""Repairs may take this long even if the queries were written faster, as replies from a cache are."""
REPLY_TOKENS: Final = 100
"""A rewritten query may have so many tokens more than two of the query before it."""
_ROUNDS: Final = 3
"""Repairs of one query without the model: an engine reports one fault at a time."""
_NAMED: Final = frozenset(("column", "table", "function", "ambiguous", "grouping"))


def repair(state: State, context: Context, before: Sequence[Candidate] = ()) -> State:
    """The stage: what failed is repaired by the model, likeliest first; where no query runs, the closest one first.

    Where votes choose, only as long as a repair could still change the outcome. Equal queries are repaired once, and a
    name whose lack the model could not repair once is not put to it again for another candidate, nor for those that
    were repaired ``before``. The model is asked about an empty result once for each cause. Repairs end once they have
    taken as long as writing did, or the recipe's seconds, or where the question's time does not suffice for one more.
    None begins for a question that will be refused.
    """
    candidates, attempts = list(state.candidates), context.recipe.fix.attempts
    by_votes = context.recipe.select.selector == VOTES
    broken = [index for index, candidate in enumerate(candidates) if needs_fixing(candidate)]
    broken = [index for index in broken if not any(candidates[index] is old for old in before)]
    if broken and attempts and is_hopeless(candidates, state.task, context.least):
        return state
    if any(candidate.result.ok for candidate in candidates):
        broken.sort(key=lambda index: likelihood(candidates[index]), reverse=True)
    else:
        broken.sort(key=lambda index: distance(candidates[index], state.task.known))
    tried = {candidates[index].sql for index in broken} | {candidate.sql for candidate in before}
    with context.step("fix", _seconds(context)):
        repairs = _Repairs(state.task, context, tried, before)
        for done, index in enumerate(broken):
            if not attempts or context.exhausted() or (by_votes and decided(group(candidates), broken[done:])):
                break
            if not pace.repairable(candidates[index], context):
                break
            context.emit("repairing queries", done, len(broken))
            candidates[index] = repairs.of(candidates[index])
    return replace(state, candidates=tuple(candidates))


def distance(candidate: Candidate, schema: Schema) -> tuple[int, float]:
    """How far a failed query is from one that runs: by names that the schema lacks, then by its likelihood.

    One that cannot be read has no names that could be looked up; it is further off than one that can.
    """
    return len(unknown(candidate.sql, schema)) or LINES + 1, -likelihood(candidate)


class _Repairs:
    """Repairs of one question: each query once, and no fault that led nowhere before."""

    def __init__(self, task: Task, context: Context, tried: set[str], before: Sequence[Candidate]) -> None:
        self._task, self._context, self._tried = task, context, tried
        self._repaired: dict[str, Candidate] = {}
        self._hopeless = {_lack(candidate) for candidate in before}
        self._empty_asked = False

    def of(self, candidate: Candidate) -> Candidate:
        """The candidate as it is after repair, with the fixes of its own before those."""
        if candidate.sql not in self._repaired:
            if not candidate.result.ok and candidate.sql:
                candidate = self._as_others(candidate)
            if not needs_fixing(candidate) or self._is_hopeless(candidate):
                return candidate
            self._repaired[candidate.sql] = self._ask(candidate)
        repaired = self._repaired[candidate.sql]
        fixes = candidate.fixes + repaired.fixes
        return replace(candidate, sql=repaired.sql, result=repaired.result, fixes=fixes)

    def _is_hopeless(self, candidate: Candidate) -> bool:
        if candidate.result.error is not None:
            return _lack(candidate) in self._hopeless
        return self._empty_asked and not self._context.recipe.fix.hints  # with hints each cause is asked about

    def _as_others(self, candidate: Candidate) -> Candidate:
        """Bound to the schema over joins that repaired queries have, which the schema may lack; else as it is."""
        queries = [repaired.sql for repaired in self._repaired.values() if repaired.result.rows]
        known = with_joins(self._task.known, queries)
        if known == self._task.known or not self._context.recipe.fix.names:
            return candidate
        return bind_names(candidate, replace(self._task, known=known), self._context)

    def _ask(self, candidate: Candidate) -> Candidate:
        """What the model made of it, with the new fixes alone."""
        part = self._context.recipe.fix
        attempts = 1 if candidate.result.error_kind == "limit" else part.attempts  # each try may take as long again
        self._empty_asked |= candidate.result.ok
        repaired = ask_again(
            candidate, self._task, self._context, attempts=attempts, tried=self._tried, hinted=part.hints
        )
        if repaired.sql == candidate.sql and candidate.result.error is not None:
            self._hopeless.add(_lack(candidate))
        return replace(repaired, fixes=repaired.fixes[len(candidate.fixes) :])


def _lack(candidate: Candidate) -> Fault:
    """What a failed query lacks, the same text for all queries that lack it; else the engine's message."""
    fault = fault_of(candidate)
    return fault if fault.kind in _NAMED else Fault("other", str(candidate.result.error or ""))


def _seconds(context: Context) -> float:
    """How long repairs may still take: as long as the model took to write the queries, and as the recipe allows."""
    part = context.recipe.fix
    writing = context.recipe.steps(range(len(context.recipe.generate)))
    costs = dict(context.budget.steps)
    wrote = sum(cost.seconds for step, cost in costs.items() if step in writing)
    spent = costs["fix"].seconds if "fix" in costs else 0.0
    return max(min(max(wrote, SECONDS), part.seconds) - spent, min(SECONDS, part.seconds))


def max_tokens(context: Context) -> int:
    """How long a rewritten query may be: as long as any that a part of the recipe writes."""
    return max(part.max_tokens for part in context.recipe.generate)


def needs_fixing(candidate: Candidate) -> bool:
    """The query is missing, failed, or found nothing."""
    return not candidate.sql or not candidate.result.rows


def by_program(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """What can be repaired without the model, as far as the recipe has it.

    Names and other dialects' words of a query that failed, values, and what its engine takes otherwise than meant.
    """
    return all_by_program(candidate, task, context)[0]


def all_by_program(candidate: Candidate, task: Task, context: Context) -> list[Candidate]:
    """What ``by_program`` gives, and after it the other readings of the query's names that run."""
    part = context.recipe.fix
    bound = readings(candidate, task, context) if part.names else [candidate]
    bound[0] = meant_to_run(bound[0], task, context)
    if part.dialect:
        bound[0] = conforming(bound[0], task, context, names=part.names)
        bound[0] = translate(bound[0], task, context, names=part.names)
    explained = (apply_rules(reading, task, context, BEFORE_VALUES) for reading in bound)
    running = (put_values(reading, task, context) for reading in explained)
    return [as_meant(reading, task, context) if reading.result.ok else reading for reading in running]


def put_values(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """A query that runs, with stored values for texts that their columns do not have, if it runs so too.

    Whether a column has a text is asked of the database itself, see ``hints.stored``.
    """
    if context.values is None or not candidate.sql or not candidate.result.ok:
        return candidate
    sql = bind_values(candidate.sql, task.known, stored(task.known, context), context.values)
    if sql is None:
        return candidate
    fixed = _fixed(candidate, sql, context.execute(sql), "values")
    return fixed if fixed.result.ok else candidate


def translate(candidate: Candidate, task: Task, context: Context, *, names: bool) -> Candidate:
    """The first translation of a failed query into the database's dialect that runs; else the candidate as it is."""
    if not candidate.sql or candidate.result.error_kind not in ("sql", "refused"):
        return candidate
    for sql in translations(candidate.sql, task.known):
        fixed = _fixed(candidate, sql, context.execute(sql), "dialect")
        if names:
            fixed = bind_names(fixed, task, context)
        fixed = conforming(fixed, task, context, names=names)
        if fixed.result.ok:
            return fixed
    return candidate


def conforming(candidate: Candidate, task: Task, context: Context, *, names: bool) -> Candidate:
    """A failed query as a stricter engine accepts it, if it runs then; else the candidate as it is.

    With ``names`` its names are bound first: engines look at names before they look at what is grouped.
    """
    sql, result = candidate.sql, candidate.result
    if names and sql and not result.ok:
        bound = rebindings(sql, task.known, task.question.text)[:1]
        sql = next((rebound for rebound in bound if not losses(sql, rebound, task.known)), sql)
    for _ in range(_ROUNDS):
        if result.error is None or result.error.kind not in ("sql", "refused"):
            break
        rewritten = conform(sql, task.known, read_fault(result.error.message)).sql
        if rewritten is None or rewritten == sql:
            break
        sql, result = rewritten, context.execute(rewritten)
    return _fixed(candidate, sql, result, "dialect") if result.ok and sql != candidate.sql else candidate


def bind_names(candidate: Candidate, task: Task, context: Context) -> Candidate:
    """A failed query with its names bound to the schema, if that makes it run; else the candidate as it is."""
    return readings(candidate, task, context)[0]


def readings(candidate: Candidate, task: Task, context: Context) -> list[Candidate]:
    """A failed query with its names bound to the schema: the readings that run, best first, each with another result.

    One that finds nothing comes after those that find something. The candidate as it is where none runs.
    """
    if not candidate.sql or candidate.result.ok:
        return [candidate]
    bound: list[Candidate] = []
    for sql in rebindings(candidate.sql, task.known, task.question.text):
        if losses(candidate.sql, sql, task.known):
            continue
        fixed = _fixed(candidate, sql, context.execute(sql), "schema")
        if fixed.result.ok and not any(same(reading.result, fixed.result, ALIKE) for reading in bound):
            bound.append(fixed)
    bound.sort(key=lambda reading: not reading.result.finds)
    return [*bound[:1], *map(_another_reading, bound[1:])] or [candidate]


def _another_reading(candidate: Candidate) -> Candidate:
    """Marked as one of several readings of the query that was written, not the likeliest."""
    last = candidate.fixes[-1]
    return replace(candidate, fixes=(*candidate.fixes[:-1], replace(last, reason=f"{last.reason}; {ANOTHER_READING}")))


def ask_again(
    candidate: Candidate, task: Task, context: Context, *, attempts: int, tried: set[str], hinted: bool = True
) -> Candidate:
    """Let the model rewrite a query that failed or found nothing, up to ``attempts`` times.

    Only a query that keeps every restriction of the one before is accepted, see ``preserve.losses``; one that runs is
    replaced only by one that runs and finds something. With ``hinted`` the model is asked about an empty result only if
    a value or a join is shown to be its cause, once for each cause. A repeated error, or a query in ``tried``, to which
    causes and queries are added, ends the attempts: decoding is greedy, and the reply would be the same.
    """
    best = latest = candidate
    lacking: set[str] = set()
    lost: tuple[str, ...] = ()
    for attempt in range(attempts):
        if not latest.sql or context.exhausted():  # looking for advice takes time too
            break
        advice = Advice() if lost else advise(latest, task, context)
        if hinted and latest.result.ok and not lost:
            cause = "\n".join(advice.lines)
            if not cause or cause in tried:
                break
            tried.add(cause)
        lacking.update(advice.lacking)
        request = complaint(latest, task, advice.lines if hinted else (), lost)
        sql = _rewritten(latest, request, task, context, attempt)
        if not sql or sql in tried:
            break
        before = latest.result.error
        result = context.execute(sql)
        latest = by_program(_fixed(latest, sql, result, "model"), task, context)
        lost = _lost(candidate, latest.sql, task, lacking) if latest.result.ok else ()
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


def _lost(candidate: Candidate, sql: str, task: Task, lacking: Collection[str]) -> tuple[str, ...]:
    """What a repair lost of a query, or of what its engine takes for that query."""
    lost = losses(candidate.sql, sql, task.known, lacking)
    if lost and not candidate.result.ok:
        base = conform(candidate.sql, task.known, fault_of(candidate)).sql
        if base is not None and not losses(base, sql, task.known, lacking):
            return ()
    return lost


def _rewritten(candidate: Candidate, request: str, task: Task, context: Context, attempt: int) -> str:
    """The model's query after ``request``; empty if it wrote none or could not be asked."""
    conversation = [*messages(task), Message("assistant", written(candidate, task)), Message("user", request)]
    longest = min(
        max_tokens(context), REPLY_TOKENS + 2 * tokens(candidate.sql)
    )  # a model that begins to talk is cut short
    sampling = Sampling(max_tokens=longest, stop=STOP, seed=derive_seed(context.seed, "fix", attempt))
    reply = context.ask(conversation, sampling)
    return "" if reply is None else extract_sql(reply.completions[0].text)


def complaint(candidate: Candidate, task: Task, advice: Sequence[str], lost: Sequence[str] = ()) -> Text:
    """What the model is told of its query: the engine's message, that it found nothing, or what it lost, and advice.

    The message may quote content of the database, so that it too must not leave its line.
    """
    # What is said of a query's own text says no more than that text does.
    holds: Privacy = "schema" if written(candidate, task) == unmarked(candidate.sql) else "values"
    if lost:
        return prompts.render("fix/lost", holds, lost=", ".join(lost))
    lines = "\n".join(f"- {line}" for line in advice)
    if candidate.result.error is None:  # that nothing was found tells of the content, too
        message = prompts.render("fix/empty_hints", hints=lines) if advice else prompts.render("fix/empty")
        return Text(message, "values")
    reason = _reason(candidate, task)
    if advice:
        return prompts.render("fix/error_hints", holds, reason=reason, hints=lines)
    return prompts.render("fix/error", holds, reason=reason)


def _reason(candidate: Candidate, task: Task) -> Text:
    """The engine's message; without what it may quote of the content where prompts may hold none."""
    if task.shows != "schema":
        return Text(plain(str(candidate.result.error), REASON_CHARACTERS), "values")
    fault = fault_of(candidate)
    named = fault.kind in _NAMED and fault.name and fault.name in written(candidate, task).lower()
    return Text(_FAULTS[fault.kind].format(fault.name) if named else "it is not valid", "schema")


def _fixed(candidate: Candidate, sql: str, result: Result, by: By) -> Candidate:
    reason = str(candidate.result.error or ("no rows" if not candidate.result.rows else "a text that its column lacks"))
    fix = Fix(before=candidate.sql, reason=reason, by=by)
    return replace(candidate, sql=sql, result=result, fixes=(*candidate.fixes, fix))
