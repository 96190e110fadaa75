"""Direct generation: the schema, the question, one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.language.instructions import Instruction, concerning, expanded, instructions
from sqljury.llm.base import Message
from sqljury.recipes import GeneratePart
from sqljury.sql.text import remark
from sqljury.stages.generate.base import Request
from sqljury.types import Task

EVIDENCE_CHARS: Final = 4_000
"""What a single line of evidence may take of the prompt."""
CONCERNING_CHARS: Final = 2_500
"""What the instructions that concern the question may take."""
OTHER_CHARS: Final = 800
"""What the others may take: they are there in case the question means them in other words."""
LINE_CHARS: Final = 500


def direct(task: Task, _part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator: schema first and question last, so that questions share a prefix."""
    return Request(tuple(messages(task)))


def messages(task: Task) -> list[Message]:
    """The conversation that asks for one query."""
    return [system(task), Message("user", question(task))]


def system(task: Task) -> Message:
    """The opening with the schema, shared by all generators so that a model reads it once."""
    return Message("system", prompts.render("direct/system", dialect=task.dialect_name, schema=task.text))


def question(task: Task) -> str:
    """The question with its evidence and notes.

    One line of evidence stands below the question; of several those that concern it, and some of the others above.
    """
    text, evidence = task.question.text, task.question.evidence
    given = instructions(evidence)
    if len(given) > 1:
        text = _instructed(text, given)
    elif evidence:
        text = prompts.render("direct/evidence", question=text, evidence=remark(evidence, EVIDENCE_CHARS))
    if task.notes:
        text = prompts.render("direct/notes", question=text, notes="\n".join(f"- {note}" for note in task.notes))
    return text


def _instructed(text: str, given: Sequence[Instruction]) -> str:
    """The question with acronyms spelt out, between the lines that do not concern it and those that do."""
    near = concerning(given, text)
    text = expanded(text, near)
    if below := _lines(near, CONCERNING_CHARS):
        text = prompts.render("direct/instructions", question=text, instructions=below)
    if above := _lines([instruction for instruction in given if instruction not in near], OTHER_CHARS):
        text = prompts.render("direct/others", question=text, others=above)
    return text


def _lines(given: Sequence[Instruction], chars: int) -> str:
    """A line for each instruction, as many of the first ones as fit."""
    lines: list[str] = []
    for instruction in given:
        line = f"- {remark(instruction.text, LINE_CHARS)}"
        if len(line) > chars:
            break
        lines.append(line)
        chars -= len(line) + 1
    return "\n".join(lines)
