"""The end of a question: the answer with its evidence, or one error that says what its queries failed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury.context import Context, State
from sqljury.errors import (
    CancelledError,
    DatabaseError,
    DatabaseLockedError,
    NoAnswerError,
    QuestionError,
    SqljuryError,
)
from sqljury.llm.replies import is_write
from sqljury.sql.names.suggest import unknown
from sqljury.sql.text import plain
from sqljury.stages import confidence, doubt
from sqljury.stages.explain import explained
from sqljury.stages.instructions import not_followed
from sqljury.stages.readings import readings, settled
from sqljury.stages.repair import distance
from sqljury.stages.repair.hints import looser
from sqljury.stages.repair.meaning import doubts
from sqljury.stages.select.features import described_once
from sqljury.types import Answer, Candidate, Question, Schema, Task

UNUSABLE: Final[dict[str, type[SqljuryError]]] = {
    "cancelled": CancelledError,
    "locked": DatabaseLockedError,
    "database": DatabaseError,
}
"""Errors of a query that are not its own fault, by their kind."""

_QUERY_CHARACTERS: Final = 400


def raise_if_order(question: Question, candidates: Sequence[Candidate]) -> None:
    """Raise ``QuestionError`` for a question that most candidates read as an order to change data."""
    if 2 * sum(is_write(candidate.sql) for candidate in candidates) > len(candidates):
        raise QuestionError(
            f"for {question.text.strip()[:80]!r} the model wrote statements that do more than read, and sqljury only "
            "reads; ask about the rows as they are"
        )


def raise_unusable(candidates: Sequence[Candidate]) -> None:
    """Raise an error of ``UNUSABLE`` where no query ran, and that is not the queries' fault."""
    if any(candidate.result.ok for candidate in candidates):
        return
    for kind, error in UNUSABLE.items():
        for candidate in candidates:
            if candidate.result.error is not None and candidate.result.error.kind == kind:
                raise error(candidate.result.error.message)


def none_ran(candidates: Sequence[Candidate], schema: Schema) -> str:
    """Why there is no answer, in one line: the query that came closest, what failed in it, and where its names are.

    Closest is the query with the fewest names that the schema lacks, of even ones the likeliest.
    """
    written = [candidate for candidate in candidates if candidate.sql]
    if not written:
        return "the model answered in prose and wrote no query; rephrase the question, or use another model"
    closest = min(written, key=lambda candidate: distance(candidate, schema))
    tried = f"none of {len(candidates)} candidate queries" if len(candidates) > 1 else "the one candidate query cannot"
    tried += " could be run" if len(candidates) > 1 else " be run"
    reasons = "; ".join([str(closest.result.error or "it failed"), *unknown(closest.sql, schema)])
    query = plain(closest.sql, _QUERY_CHARACTERS)
    return f"{tried}; the closest was {query} and failed with: {reasons}. Rephrase the question with these names"


def answer_of(state: State, context: Context) -> Answer:
    """The chosen candidate with its evidence; raises ``NoAnswerError`` where none was chosen.

    Unless ``context.explain`` is set, it has no explanation, readings and remarks: what only a person reads.
    """
    candidates, choice, task = state.candidates, state.choice, state.task
    if choice is None or choice.index is None:
        raise NoAnswerError(none_ran(candidates, task.known), candidates, context.budget.total())
    best = candidates[choice.index]
    votes = sum(candidate.group == best.group for candidate in candidates)
    known = confidence.figures(candidates, choice, task, described_once(candidates, task, context))
    calibration = confidence.read(context.recipe.select.confidence)
    probability = calibration.probability(known)
    explanation = explained(best, task, context) if context.explain else None
    lacking, read = doubt.missing(task), readings(state) if context.explain else ()
    ask = "" if context.least is None else doubt.between(read) or doubt.settling(candidates, choice, task)
    abstention = doubt.abstention(task, probability, context.least, lacking, ask)
    lacks = () if abstention else doubt.remark(lacking)
    answer = Answer(
        question=task.question,
        sql=best.sql,
        columns=best.result.columns,
        rows=best.result.rows,
        truncated=best.result.truncated,
        confidence=probability,
        agreement=votes / len(candidates) if len(candidates) > 1 else None,
        signals=calibration.signals(known),
        abstention=abstention,
        candidates=candidates,
        remarks=() if explanation is None else (*_remarks(best, task, context), *explanation.warnings, *lacks),
        cost=context.budget.total(),
        steps=context.budget.steps,
        choice=choice,
        linked=tuple(table.name for table in task.shown.tables) if context.recipe.link.kind else (),
        dialect=task.known.dialect,
        model=context.model.name,
        recipe=context.recipe.name,
        explanation=explanation,
        readings=read,
    )
    return settled(answer, context.notes)


def _remarks(best: Candidate, task: Task, context: Context) -> tuple[str, ...]:
    """What the reader of the chosen query should know; some of it is looked up in the database."""
    return (
        *looser(best, task.known, context),
        *doubts(best, task, context),
        *not_followed(best, task, context.notes),
    )
