"""Direct generation: the schema, the question, one query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.language.instructions import Instruction, concerning, expanded, instructions
from sqljury.llm.base import Message
from sqljury.prompts import Text, unmarked
from sqljury.recipes import GeneratePart
from sqljury.sql.parse import errors, tokenize
from sqljury.sql.text import remark
from sqljury.stages.generate.base import Request
from sqljury.types import Candidate, Task

EVIDENCE_CHARS: Final = 4_000
"""What a single line of evidence may take of the prompt."""
CONCERNING_CHARS: Final = 2_500
"""What the instructions that concern the question may take."""
OTHER_CHARS: Final = 800
"""What the others may take: they are there in case the question means them in other words."""
LINE_CHARS: Final = 500
_BY_MODEL: Final = ("model", "tests")
_CONSTANT: Final = re.compile("STRING|NUMBER|IDENTIFIER")
"""Kinds of tokens that may hold a value."""


def direct(task: Task, _part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator: schema first and question last, so that questions share a prefix."""
    return Request(tuple(messages(task)))


def messages(task: Task) -> list[Message]:
    """The conversation that asks for one query."""
    return [system(task), Message("user", question(task))]


def system(task: Task) -> Message:
    """The opening with the schema, shared by all generators so that a model reads it once."""
    return Message("system", prompts.render("direct/system", "schema", dialect=task.dialect_name, schema=task.text))


def question(task: Task) -> Text:
    """The question with its evidence and notes, all of it written by people.

    One line of evidence stands below the question; of several those that concern it, and some of the others above.
    """
    text, evidence = Text(task.question.text, "schema"), task.question.evidence
    given = instructions(evidence)
    if len(given) > 1:
        text = _instructed(text, given)
    elif evidence:
        text = prompts.render("direct/evidence", "schema", question=text, evidence=remark(evidence, EVIDENCE_CHARS))
    if task.notes:
        text = prompts.render("direct/notes", question=text, notes=prompts.bullets(task.notes))
    return text


def _instructed(text: str, given: Sequence[Instruction]) -> Text:
    """The question with acronyms spelt out, between the lines that do not concern it and those that do."""
    near = concerning(given, text)
    text = Text(expanded(text, near), "schema")
    if below := _lines(near, CONCERNING_CHARS):
        text = prompts.render("direct/instructions", "schema", question=text, instructions=below)
    if above := _lines([instruction for instruction in given if instruction not in near], OTHER_CHARS):
        text = prompts.render("direct/others", "schema", question=text, others=above)
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


def written(candidate: Candidate, task: Task) -> Text:
    """The candidate's query as a prompt may show it.

    Repairs put stored values into queries. Where prompts may hold none, the latest form of the query is shown whose
    constants a model wrote itself.
    """
    if task.shows != "schema":
        return Text(unmarked(candidate.sql), "values")
    forms = candidate.forms
    by_model = [forms[0], *(sql for fix, sql in zip(candidate.fixes, forms[1:], strict=True) if fix.by in _BY_MODEL)]
    names = {name for table in task.known.tables for name in (table.name, *(column.name for column in table.columns))}
    known = names.union(*(_constants(sql, task.known.dialect) or () for sql in by_model))
    latest = (sql for sql in forms[::-1] if sql in by_model or _is_within(_constants(sql, task.known.dialect), known))
    return Text(unmarked(next(latest)), "schema")


def _is_within(constants: set[str] | None, known: set[str]) -> bool:
    return constants is not None and constants <= known


def _constants(sql: str, dialect: str) -> set[str] | None:
    """Texts, numbers and quoted names of a query, which an engine may take for texts; None if it is unreadable."""
    try:
        listed = tokenize(sql, dialect)
    except (errors.SqlglotError, RecursionError, ValueError):
        return None
    return {token.text for token in listed if _CONSTANT.search(token.token_type.name)}
