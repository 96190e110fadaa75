"""Ambiguity told apart from doubt: two readings of a question that words of it explain.

Candidates that disagree are mostly doubt: one of them is wrong. Two readings are shown only where both queries ran and
found something, each has the votes of several candidates, they differ in one respect, and a word of the question leaves
just this open. No model is asked, and nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqljury.context import State
from sqljury.prompts import unmarked
from sqljury.schema.notes import Notes
from sqljury.sql import text
from sqljury.sql.ambiguity import senses
from sqljury.sql.differences import difference
from sqljury.sql.parse import quiet
from sqljury.stages.generate.direct import written
from sqljury.types import Answer, Candidate, Reading, Task

LEAST: Final = 2
"""Votes that a reading needs."""
SHARE: Final = 0.25
"""The share of all candidates that a reading needs: two of the seven of ``default``. Judged, not measured."""
_TRIED: Final = 6
"""Queries of other groups that are compared with the answer's."""
_CHARS: Final = 160


@quiet()
def readings(state: State) -> tuple[Reading, ...]:
    """The answer's reading and that of another group, most votes first; none where the candidates only disagree."""
    candidates, choice = state.candidates, state.choice
    if choice is None or choice.index is None or not _supported(choice.index, candidates):
        return ()
    best, asked, schema = candidates[choice.index], state.task.question.text, state.task.known
    if not _is_tellable(best, state.task):
        return ()
    for index in _others(best, candidates):
        if not _is_tellable(candidates[index], state.task):
            continue
        distinction = difference(best.sql, candidates[index].sql, schema)
        results = (best.result, candidates[index].result)
        ambiguity = None if distinction is None else senses(distinction, asked, schema, results)
        if ambiguity is not None:
            word, *meanings = ambiguity
            sides = zip((choice.index, index), meanings, strict=True)
            return tuple(_reading(word, meaning, at, candidates) for at, meaning in sides)
    return ()


def settled(answer: Answer, notes: Notes) -> Answer:
    """The answer by the reading that the notes name, without the other one; itself where they name none.

    They do by a term that is the words, whose meaning is the reading's.
    """
    meant = {(term.casefold(), meaning) for term, meaning in notes.glossary}
    for index, reading in enumerate(answer.readings):
        if (reading.words.casefold(), reading.meaning) in meant:
            remark = f"{reading.words!r} is read as {reading.meaning}, as the notes say."
            chosen = answer.read_as(index)
            return replace(chosen, readings=(), remarks=(*chosen.remarks, remark))
    return answer


def _supported(index: int, candidates: Sequence[Candidate]) -> bool:
    votes = _votes(candidates[index], candidates)
    return votes >= LEAST and votes >= SHARE * len(candidates) and candidates[index].result.finds


def _votes(candidate: Candidate, candidates: Sequence[Candidate]) -> int:
    return sum(voter.group == candidate.group for voter in candidates) if candidate.group is not None else 0


def _is_tellable(candidate: Candidate, task: Task) -> bool:
    """Whether prompts may hold its query: a meaning that is chosen becomes a note, and notes are in prompts."""
    return written(candidate, task) == unmarked(candidate.sql)


def _others(best: Candidate, candidates: Sequence[Candidate]) -> Iterator[int]:
    """The indices of different queries of other groups with enough votes, the largest group first."""
    seen: set[str] = set()
    for index in sorted(range(len(candidates)), key=lambda at: -_votes(candidates[at], candidates)):
        other = candidates[index]
        if len(seen) < _TRIED and other.group != best.group and other.sql not in seen and _supported(index, candidates):
            seen.add(other.sql)
            yield index


def _reading(word: str, meaning: str, index: int, candidates: Sequence[Candidate]) -> Reading:
    candidate = candidates[index]
    result = candidate.result
    votes, shown = _votes(candidate, candidates), text.remark(meaning, _CHARS)
    return Reading(word, shown, candidate.sql, result.columns, result.rows, result.truncated, index, votes)
