"""The query fixer: a failed or empty query, what was wrong with it, and another attempt.

CHASE-SQL, section 3.4. Before the model is asked, names are bound to the schema and other dialects' words are
translated, which needs no model call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from sqljury import prompts
from sqljury.context import Work
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.prompts import unmarked
from sqljury.sql.preserve import losses
from sqljury.sql.rebind import rebind
from sqljury.sql.text import plain
from sqljury.sql.translate import translations
from sqljury.stages.repair.hints import Advice, advise, stored
from sqljury.types import Candidate, Cost, Fix, Result, Task
from sqljury.values.bind import bind_values

REASON_CHARACTERS = 300

By = Literal["schema", "dialect", "values", "model"]


def needs_fixing(candidate: Candidate) -> bool:
    """The query is missing, failed, or found nothing."""
    return not candidate.sql or not candidate.result.rows


def repair(candidate: Candidate, task: Task, work: Work, *, names: bool, dialect: bool) -> Candidate:
    """What can be repaired of a failed query without the model: its names, and the words of another dialect."""
    if names:
        candidate = bind_names(candidate, task, work)
    if dialect:
        candidate = translate(candidate, task, work, names=names)
    return put_values(candidate, task, work)


def put_values(candidate: Candidate, task: Task, work: Work) -> Candidate:
    """A query that runs, with stored values for texts that their columns do not have, if it runs so too.

    Whether a column has a text is asked of the database itself, see ``hints.stored``.
    """
    if work.values is None or not candidate.sql or not candidate.result.ok:
        return candidate
    sql = bind_values(candidate.sql, task.schema, stored(task.schema, work), work.values)
    if sql is None:
        return candidate
    fixed = _fixed(candidate, sql, work.db.execute(sql, work.limits, work.cancel), "values")
    return fixed if fixed.result.ok else candidate


def translate(candidate: Candidate, task: Task, work: Work, *, names: bool) -> Candidate:
    """The first translation of a failed query into the database's dialect that runs; else the candidate as it is."""
    if not candidate.sql or candidate.result.error_kind not in ("sql", "refused"):
        return candidate
    for sql in translations(candidate.sql, task.schema):
        fixed = _fixed(candidate, sql, work.db.execute(sql, work.limits, work.cancel), "dialect")
        if names:
            fixed = bind_names(fixed, task, work)
        if fixed.result.ok:
            return fixed
    return candidate


def bind_names(candidate: Candidate, task: Task, work: Work) -> Candidate:
    """A failed query with its names bound to the schema, if that makes it run; else the candidate as it is."""
    if not candidate.sql or candidate.result.ok:
        return candidate
    sql = rebind(candidate.sql, task.schema)
    if sql is None or losses(candidate.sql, sql, task.schema):
        return candidate
    result = work.db.execute(sql, work.limits, work.cancel)
    return _fixed(candidate, sql, result, "schema") if result.ok else candidate


def ask_again(
    candidate: Candidate,
    conversation: Sequence[Message],
    task: Task,
    work: Work,
    *,
    attempts: int,
    max_tokens: int,
    tried: set[str],
    hinted: bool = True,
) -> tuple[Candidate, Cost]:
    """Let the model rewrite a query that failed or found nothing, up to ``attempts`` times.

    ``conversation`` is the one that asked for the query; the model sees it again with what it wrote and what came
    of it. Only a query that keeps every restriction of the one before is accepted, see ``preserve.losses``; a model
    that dropped one while it repaired an error is told so, once an attempt. An empty result is often the answer: with
    ``hinted`` the model is asked about it only where a value that its column lacks, or a join that finds nothing, can
    be shown to be the cause.

    It is not asked on when it comes back with a query of ``tried``, which holds those of the question that
    led nowhere and is added to, or with the error of the attempt before: decoding is greedy, and the reply would be the
    same. A query that runs is only ever replaced by one that runs and finds something. Nothing is asked once the
    allowance is spent. Returns the candidate, repaired or not, and what the attempts cost.
    """
    best, latest, cost = candidate, candidate, Cost()
    lacking: set[str] = set()
    lost: tuple[str, ...] = ()
    for attempt in range(attempts):
        if not latest.sql or work.over():  # looking for advice takes time too
            break
        advice = Advice() if lost else advise(latest, task, work)
        if hinted and latest.result.ok and not lost and not advice.lines:
            break
        lacking.update(advice.lacking)
        request = complaint(latest, advice.lines if hinted else (), lost)
        turn = [*conversation, Message("assistant", unmarked(latest.sql)), Message("user", request)]
        sampling = Sampling(max_tokens=max_tokens, stop=STOP, seed=derive_seed(work.seed, "fix", attempt))
        reply = work.ask(turn, sampling)
        if reply is None:
            break
        cost += reply.cost
        sql = extract_sql(reply.completions[0].text)
        if not sql or sql in tried:
            break
        before = latest.result.error
        result = work.db.execute(sql, work.limits, work.cancel)
        latest = repair(_fixed(latest, sql, result, "model"), task, work, names=True, dialect=True)
        lost = losses(candidate.sql, latest.sql, task.schema, lacking) if latest.result.ok else ()
        if latest.result.rows and not lost:
            return latest, cost
        tried.update((sql, latest.sql))
        if lost and candidate.result.ok:
            break  # a query that runs is not to be made looser until it finds something
        if latest.result.ok and not lost and not best.result.ok:
            best = latest
        if latest.result.error is not None and latest.result.error == before:
            break
    return best, cost


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
