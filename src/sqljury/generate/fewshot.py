"""Few-shot generation: similar questions with their queries before the question (DAIL-SQL's organisation)."""

from __future__ import annotations

from typing import Final

from sqljury import prompts
from sqljury.generate import similar, skeleton
from sqljury.generate.base import Given, Request
from sqljury.generate.direct import messages, system
from sqljury.generate.direct import question as asked_with
from sqljury.generate.pool import Shot, default
from sqljury.llm.base import Message
from sqljury.replies import STOP
from sqljury.schema.text import remark
from sqljury.types import Task
from sqljury.work import Work

QUESTION_CHARS: Final = 500
QUERY_CHARS: Final = 1_500
"""What is longer is no example: it would take the room of several."""
ALL_CHARS: Final = 12_000

NEXT: Final = "\nQuestion:"
"""Where a reply ends that goes on with a further example, as small models do."""


def fewshot(task: Task, _work: Work, given: Given) -> Request:
    """The generator: examples from the given pool or the package's, the most similar last, then the question.

    Where the pool has none to show, it asks as ``direct`` does.
    """
    pool = default() if given.pool is None else given.pool
    draft = given.drafts[0] if given.drafts else ""
    shots = similar.index(pool).choose(task.question.text, task.schema, given.examples, draft)
    shown = _shown(shots)
    if not shown:
        return Request(tuple(messages(task)))
    asked = prompts.render("fewshot/question", examples="\n\n".join(shown), question=asked_with(task))
    return Request((system(task), Message("user", asked)), stop=(*STOP, NEXT))


def _shown(shots: list[Shot]) -> list[str]:
    """The examples as the model sees them, the first last, as far as they have room."""
    found = list[str]()
    room = ALL_CHARS
    for shot in shots:
        question, sql = remark(shot.question, QUESTION_CHARS + 1), remark(skeleton.bare(shot.sql), QUERY_CHARS + 1)
        text = prompts.render("fewshot/example", question=question, query=sql)
        if len(question) <= QUESTION_CHARS and len(sql) <= QUERY_CHARS and len(text) <= room:
            found.append(text)
            room -= len(text)
    return found[::-1]
