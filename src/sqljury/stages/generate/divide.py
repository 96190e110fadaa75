"""Divide and conquer: sub-questions with partial queries, put together and simplified (CHASE-SQL, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.datasets.pool import Shot
from sqljury.recipes import GeneratePart
from sqljury.stages.generate import reasoning as worked
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.reasoning import concluding_sql
from sqljury.types import Task

STOP: Final = (";\n```",)
"""The end of the query and of its block; what a small model adds to that repeats the query."""


FULL: Final = ((worked.LEEDS, "divide/full_leeds"),)
SHORT: Final = ((worked.MOST, "divide/short_most"), (worked.ABOVE, "divide/short_above"))


def divide(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for strong models: every sub-question, the query put together from them, and a simpler one."""
    return _request("divide/full", FULL, task, part, ())


def divide_short(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for small models: up to three parts in a line each, then the query they make."""
    return _request("divide/short", SHORT, task, part, STOP)


def _request(
    prompt: str, shown: Sequence[tuple[Shot, str]], task: Task, part: GeneratePart, stop: tuple[str, ...]
) -> Request:
    examples = [(shot.question, prompts.render(answer, sql=shot.sql)) for shot, answer in shown[: part.examples]]
    return Request(worked.turns(task, prompt, "divide/bare", examples), stop, concluding_sql, reasons=True)
