"""Instructions that can be checked: a program repairs what it can, and the model is asked again for the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqljury import prompts
from sqljury.context import Context, State
from sqljury.language.instructions import Demands, Instruction, concerning, demands, instructions
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.schema.notes import Notes
from sqljury.sql.instructions import repaired, unmet
from sqljury.sql.text import remark
from sqljury.stages.generate.direct import messages, written
from sqljury.stages.repair import By, by_program, max_tokens
from sqljury.types import Candidate, Fix, Task

LINES: Final = 4
"""Most unmet instructions that are listed for the model or the user."""
_CHARS: Final = 200


def follow(state: State, context: Context) -> State:
    """The stage: candidates are repaired to follow instructions; if none follows all, one is written again.

    Only questions with evidence, or with terms of the notes, are checked. A query is replaced only by one that runs
    and leaves fewer instructions unmet.
    """
    wanted = _Wanted.of(state.task, context.notes)
    if wanted is None:
        return state
    candidates = [wanted.repaired(candidate, context) for candidate in state.candidates]
    undone = {
        index: wanted.unmet(candidate)
        for index, candidate in enumerate(candidates)
        if candidate.result.ok and candidate.sql
    }
    if undone and all(undone.values()):
        context.emit("checking instructions")
        first = next(iter(undone))
        candidates[first] = wanted.asked_again(candidates[first], undone[first], context)
    return replace(state, candidates=tuple(candidates))


def not_followed(candidate: Candidate, task: Task, notes: Notes) -> tuple[str, ...]:
    """A remark for each thing that instructions ask for and the chosen query does not do."""
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
        """The instructions that the candidate does not follow, a line each."""
        task = self._task
        return unmet(candidate.sql, candidate.result, self._near, self._demanded, task.known, task.question.text)

    def repaired(self, candidate: Candidate, context: Context) -> Candidate:
        """The candidate with the repairs that a program can make, if it runs then."""
        if not candidate.result.ok or not candidate.sql:
            return candidate
        task = self._task
        sql = repaired(candidate.sql, candidate.result, self._demanded, task.known.dialect, task.question.text)
        return candidate if sql is None else self._better(candidate, sql, "instructions", context)

    def asked_again(self, candidate: Candidate, undone: list[str], context: Context) -> Candidate:
        """The candidate as the model rewrites it, given the instructions that it does not follow."""
        lines = "\n".join(f"- {remark(line, _CHARS)}" for line in undone[:LINES])
        request = prompts.render("fix/instructions", undone=lines)
        conversation = [
            *messages(self._task),
            Message("assistant", written(candidate, self._task)),
            Message("user", request),
        ]
        sampling = Sampling(max_tokens=max_tokens(context), stop=STOP, seed=derive_seed(context.seed, "instructions"))
        reply = context.ask(conversation, sampling)
        sql = "" if reply is None else extract_sql(reply.completions[0].text)
        if not sql or sql == candidate.sql:
            return candidate
        return self.repaired(self._better(candidate, sql, "model", context), context)

    def _better(self, candidate: Candidate, sql: str, by: By, context: Context) -> Candidate:
        """The candidate with this query, if that runs, is not newly empty and leaves fewer instructions unmet."""
        result = context.execute(sql)
        fix = Fix(candidate.sql, remark("; ".join(self.unmet(candidate)), _CHARS), by)
        fixed = replace(candidate, sql=sql, result=result, fixes=(*candidate.fixes, fix))
        if not result.ok:
            fixed = by_program(fixed, self._task, context)
        usable = fixed.result.ok and (fixed.result.rows or not candidate.result.rows)
        return fixed if usable and len(self.unmet(fixed)) < len(self.unmet(candidate)) else candidate
