"""Direct generation: the schema, the question, one query."""

from __future__ import annotations

from collections.abc import Sequence

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message
from sqljury.recipes import GeneratePart
from sqljury.stages.generate.base import Request
from sqljury.types import Task


def direct(task: Task, _part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator: schema first and question last, so that questions share a prefix."""
    return Request(tuple(messages(task)))


def messages(task: Task) -> list[Message]:
    """The conversation that asks for one query."""
    return [system(task), Message("user", question(task))]


def system(task: Task) -> Message:
    """The opening that all generators share, with the schema: a model reads it once for all of them."""
    return Message("system", prompts.render("direct/system", dialect=task.dialect_name, schema=task.text))


def question(task: Task) -> str:
    """The question with its evidence and with what is known beside it."""
    text = task.question.text
    if task.question.evidence:
        text = prompts.render("direct/evidence", question=text, evidence=task.question.evidence)
    if task.notes:
        text = prompts.render("direct/notes", question=text, notes="\n".join(f"- {note}" for note in task.notes))
    return text
