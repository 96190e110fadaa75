"""Direct generation: the schema, the question, one query."""

from __future__ import annotations

from sqljury import prompts
from sqljury.llm.base import Message
from sqljury.types import Task


def messages(task: Task) -> list[Message]:
    """The conversation that asks for one query: schema first and question last, so that questions share a prefix."""
    question = task.question.text
    if task.question.evidence:
        question = prompts.render("direct/evidence", question=question, evidence=task.question.evidence)
    if task.notes:
        notes = "\n".join(f"- {note}" for note in task.notes)
        question = prompts.render("direct/notes", question=question, notes=notes)
    return [
        Message("system", prompts.render("direct/system", dialect=task.dialect_name, schema=task.schema_text)),
        Message("user", question),
    ]
