"""Instructions that can be checked: what a program can mend is mended, for the rest the model is asked again."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqljury import prompts
from sqljury.context import Context, State
from sqljury.language.instructions import Demands, Instruction, concerning, demands, instructions
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.prompts import unmarked
from sqljury.schema.notes import Notes
from sqljury.sql.instructions import mended, unmet
from sqljury.sql.text import remark
from sqljury.stages.generate.direct import messages
from sqljury.stages.repair import By, by_program, max_tokens
from sqljury.types import Candidate, Fix, Task

LINES: Final = 4
"""Things not followed that the model, or the user, is told of."""
_CHARS: Final = 200


def follow(state: State, context: Context) -> State:
    """The stage: candidates that do not follow an instruction are mended; if none does then, one is written again.

    Only questions with evidence, or with terms of the notes, are looked at. A query is replaced only by one that runs
    and leaves less undone.
    """
    wanted = _Wanted.of(state.task, context.notes)
    if wanted is None:
        return state
    candidates = [wanted.mended(one, context) for one in state.candidates]
    left = {place: wanted.unmet(one) for place, one in enumerate(candidates) if one.result.ok and one.sql}
    if left and all(left.values()):
        context.emit("checking instructions")
        first = next(iter(left))
        candidates[first] = wanted.asked_again(candidates[first], left[first], context)
    return replace(state, candidates=tuple(candidates))


def not_followed(candidate: Candidate, task: Task, notes: Notes) -> tuple[str, ...]:
    """What instructions ask for and the chosen query does not do, a remark each."""
    wanted = _Wanted.of(task, notes)
    if wanted is None or not candidate.result.ok:
        return ()
    lines = (remark(line, _CHARS) for line in wanted.unmet(candidate)[:LINES])
    return tuple(f"an instruction seems not to be followed: {line}" for line in lines)


class _Wanted:
    """The instructions that concern a question, and what they demand."""

    def __init__(self, task: Task, near: tuple[Instruction, ...], demanded: Demands) -> None:
        self._task, self._near, self._demanded = task, near, demanded

    @classmethod
    def of(cls, task: Task, notes: Notes) -> _Wanted | None:
        """The instructions of the task's evidence and the terms of the notes, None where none concerns the question."""
        terms = [Instruction(f"{term}: {meaning}", term, meaning) for term, meaning in notes.glossary + notes.formulas]
        near = concerning([*instructions(task.question.evidence), *terms], task.question.text)
        return cls(task, near, demands(near)) if near else None

    def unmet(self, candidate: Candidate) -> list[str]:
        """What the candidate leaves undone."""
        task = self._task
        return unmet(candidate.sql, candidate.result, self._near, self._demanded, task.known, task.question.text)

    def mended(self, candidate: Candidate, context: Context) -> Candidate:
        """The candidate with what a program can mend, if it runs so."""
        if not candidate.result.ok or not candidate.sql:
            return candidate
        task = self._task
        sql = mended(candidate.sql, candidate.result, self._demanded, task.known.dialect, task.question.text)
        return candidate if sql is None else self._better(candidate, sql, "instructions", context)

    def asked_again(self, candidate: Candidate, undone: list[str], context: Context) -> Candidate:
        """What the model makes of the candidate when it is told what the candidate leaves undone."""
        lines = "\n".join(f"- {remark(line, _CHARS)}" for line in undone[:LINES])
        request = prompts.render("fix/instructions", undone=lines)
        conversation = [*messages(self._task), Message("assistant", unmarked(candidate.sql)), Message("user", request)]
        sampling = Sampling(max_tokens=max_tokens(context), stop=STOP, seed=derive_seed(context.seed, "instructions"))
        reply = context.ask(conversation, sampling)
        sql = "" if reply is None else extract_sql(reply.completions[0].text)
        if not sql or sql == candidate.sql:
            return candidate
        return self.mended(self._better(candidate, sql, "model", context), context)

    def _better(self, candidate: Candidate, sql: str, by: By, context: Context) -> Candidate:
        """The candidate with this query, if that runs, finds something and leaves less undone."""
        result = context.db.execute(sql, context.limits, context.cancel)
        fix = Fix(candidate.sql, remark("; ".join(self.unmet(candidate)), _CHARS), by)
        fixed = replace(candidate, sql=sql, result=result, fixes=(*candidate.fixes, fix))
        if not result.ok:
            part = context.recipe.fix
            fixed = by_program(fixed, self._task, context, names=part.names, dialect=part.dialect)
        found = fixed.result.ok and (fixed.result.rows or not candidate.result.rows)
        return fixed if found and len(self.unmet(fixed)) < len(self.unmet(candidate)) else candidate
