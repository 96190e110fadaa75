"""The end of a question: the answer with its evidence, or one error that says what its queries failed with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

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
from sqljury.stages.repair.hints import NotHeld, looser, texts_not_held
from sqljury.stages.repair.meaning import doubts
from sqljury.stages.select.features import described_once
from sqljury.types import Answer, Candidate, Choice, Explanation, Question, Schema, Task

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


def closest(candidates: Sequence[Candidate], schema: Schema) -> Candidate | None:
    """The candidate whose query has the fewest names that the schema lacks, of even ones the likeliest; None if none
    wrote a query.
    """
    written = [candidate for candidate in candidates if candidate.sql]
    return min(written, key=lambda candidate: distance(candidate, schema), default=None)


def none_ran(candidates: Sequence[Candidate], schema: Schema) -> str:
    """Why there is no answer, in one line: the ``closest`` query, what failed in it, and where its names are."""
    nearest = closest(candidates, schema)
    if nearest is None:
        return "the model answered in prose and wrote no query; rephrase the question, or use another model"
    tried = f"none of {len(candidates)} candidate queries" if len(candidates) > 1 else "the one candidate query cannot"
    tried += " could be run" if len(candidates) > 1 else " be run"
    names = [] if nearest.result.error_kind == "refused" else unknown(nearest.sql, schema)  # refusals say more
    reasons = "; ".join(names) or str(nearest.result.error or "it failed")
    query = plain(nearest.sql, _QUERY_CHARACTERS)
    advice = "Rephrase the question, or correct the query if you wrote it"
    return f"{tried}; the closest was {query} and failed with: {reasons}. {advice}"


class Rated(NamedTuple):
    """How likely a choice is right, and the signals that say so.

    ``lacking`` and ``invented`` are the words of ``doubt.missing`` and ``doubt.invented``, and ``texts`` are those that
    the query compares with columns that lack them; all bound the probability.
    """

    probability: float
    signals: tuple[str, ...]
    lacking: Sequence[str]
    invented: Sequence[str]
    texts: Sequence[NotHeld]


def rated(candidates: Sequence[Candidate], choice: Choice, task: Task, context: Context) -> Rated:
    """The confidence in one of the candidates, which are grouped; ``choice`` has chosen one."""
    assert choice.index is not None
    lacking, invented = doubt.missing(task, candidates[choice.index]), doubt.invented(candidates, task)
    known = confidence.figures(candidates, choice, task, lacking, described_once(candidates, task, context))
    calibration = confidence.read(context.recipe.select.confidence)
    probability = doubt.bounded(calibration.probability(known), task, lacking, invented)
    texts = texts_not_held(candidates[choice.index], task, context)
    return Rated(doubt.bounded_by_texts(probability, texts), calibration.signals(known), lacking, invented, texts)


def answer_of(state: State, context: Context) -> Answer:
    """The chosen candidate with its evidence; raises ``NoAnswerError`` where none was chosen.

    A question that the schema cannot answer has an abstention, also where no candidate ran. Unless ``context.explain``
    is set, the answer has no explanation, readings and remarks: what only a person reads.
    """
    candidates, choice, task = state.candidates, state.choice, state.task
    if choice is None or choice.index is None:
        return _refused(state, context, doubt.invented(candidates, task))
    best = candidates[choice.index]
    votes = sum(candidate.group == best.group for candidate in candidates)
    probability, signals, lacking, made_up, texts = rated(candidates, choice, task, context)
    read = readings(state) if context.explain else ()
    shown = {choice.index, *(reading.candidate for reading in read)} if context.explain else ()
    explanations = {index: _told(candidates[index], task, context) for index in shown}
    explanation, remarks = explanations.get(choice.index, (None, ()))
    read = tuple(
        replace(reading, explanation=explanations[reading.candidate][0], remarks=explanations[reading.candidate][1])
        for reading in read
    )
    ask = ""
    if context.least is not None:
        ask = doubt.between(read) or doubt.settling(candidates, choice, task) or doubt.confirming(explanation)
    abstention = doubt.abstention(task, probability, context.least, lacking, ask, made_up)
    lacks = () if abstention or not context.explain else doubt.remark(lacking)
    shows = context.explain and bool(best.result.rows)
    not_held = [text.line(task, context) for text in texts] if shows else []
    answer = replace(
        _unexplained(best, state, context),
        confidence=probability,
        agreement=votes / len(candidates) if len(candidates) > 1 else None,
        signals=signals,
        abstention=abstention,
        remarks=(*remarks, *not_held, *lacks),
        explanation=explanation,
        readings=read,
    )
    return settled(answer, context.notes)


def _refused(state: State, context: Context, made_up: Sequence[str]) -> Answer:
    """The answer to a question that the schema cannot answer, with the closest of the queries, none of which ran.

    Raises ``NoAnswerError`` for another question, and where every answer is to be given.
    """
    candidates, task = state.candidates, state.task
    nearest = closest(candidates, task.known)
    abstention = doubt.abstention(task, confidence.LEAST, context.least, doubt.missing(task), "", made_up)
    if nearest is not None and abstention is not None and abstention.kind == "unanswerable":
        return replace(_unexplained(nearest, state, context), confidence=confidence.LEAST, abstention=abstention)
    reason = none_ran(candidates, task.known)
    if made_up:
        reason = f"{doubt.lacking(made_up)}, so it may be that it cannot answer this question: {reason}"
    raise NoAnswerError(reason, candidates, context.budget.total())


def _unexplained(query: Candidate, state: State, context: Context) -> Answer:
    """The candidate as an answer, with nothing said of how sure it is and how it came about."""
    return Answer(
        question=state.task.question,
        sql=query.sql,
        columns=query.result.columns,
        rows=query.result.rows,
        truncated=query.result.truncated,
        confidence=None,
        candidates=state.candidates,
        cost=context.budget.total(),
        steps=context.budget.steps,
        choice=state.choice,
        linked=tuple(table.name for table in state.task.shown.tables) if context.recipe.link.kind else (),
        dialect=state.task.known.dialect,
        model=context.model.name,
        recipe=context.recipe.name,
    )


def _told(query: Candidate, task: Task, context: Context) -> tuple[Explanation, tuple[str, ...]]:
    """How a query comes to its rows, and what its reader should know; some of it is looked up in the database."""
    explanation = explained(query, task, context)
    remarks = (
        *looser(query, task.known, context),
        *doubts(query, task, context),
        *not_followed(query, task, context.notes),
    )
    return explanation, (*remarks, *explanation.warnings)
