"""Why a question has no answer: what its queries failed with, told as one error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury.db.base import error_kind
from sqljury.errors import CancelledError, DatabaseError, DatabaseLockedError, QuestionError, SqljuryError
from sqljury.replies import is_write
from sqljury.types import Candidate, Question

UNUSABLE: Final[dict[str, type[SqljuryError]]] = {
    "cancelled": CancelledError,
    "locked": DatabaseLockedError,
    "database": DatabaseError,
}
"""Errors of a query that are not its own fault, by ``error_kind``."""


def raise_unusable(question: Question, candidates: Sequence[Candidate]) -> None:
    """Raise what is not the queries' fault.

    ``QuestionError`` for a question read as an order, else an error of ``UNUSABLE`` where no query ran.
    """
    if 2 * sum(is_write(candidate.sql) for candidate in candidates) > len(candidates):
        raise QuestionError(
            f"for {question.text.strip()[:80]!r} the model wrote statements that do more than read, and sqljury only "
            "reads; ask about the rows as they are"
        )
    if any(candidate.result.ok for candidate in candidates):
        return
    for kind, error in UNUSABLE.items():
        for candidate in candidates:
            if error_kind(candidate.result) == kind:
                raise error(str(candidate.result.error).removeprefix(f"{kind}: "))


def none_ran(candidates: Sequence[Candidate]) -> str:
    """Why there is no answer, in one line: what most of the queries failed with."""
    tried = f"none of {len(candidates)} candidate queries could be run"
    errors = [candidate.result.error or "" for candidate in candidates]
    if not any(candidate.sql for candidate in candidates):
        return "the model answered in prose and wrote no query; rephrase the question, or use another model"
    common = max(errors, key=errors.count)  # of even ones the first
    return f"{tried} (most often: {common}); rephrase the question with the names the database uses, or see --explain"
