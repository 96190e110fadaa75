"""Divide and conquer: sub-questions with partial queries, put together and simplified (CHASE-SQL, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Work
from sqljury.stages.generate import reasoning as worked
from sqljury.stages.generate.base import Given, Request
from sqljury.stages.generate.pool import Shot
from sqljury.stages.generate.reasoning import concluding_sql
from sqljury.types import Task

STOP: Final = (";\n```",)
"""The end of the query and of its block; what a small model adds to that repeats the query."""


FULL: Final = ((worked.LEEDS, "divide/full_leeds"),)
SHORT: Final = ((worked.MOST, "divide/short_most"), (worked.ABOVE, "divide/short_above"))


def divide(task: Task, _work: Work, given: Given) -> Request:
    """The generator for strong models: every sub-question, the query put together from them, and a simpler one."""
    return _request("divide/full", FULL, task, given, ())


def divide_short(task: Task, _work: Work, given: Given) -> Request:
    """The generator for small models: up to three parts in a line each, then the query they make."""
    return _request("divide/short", SHORT, task, given, STOP)


def _request(
    prompt: str, shown: Sequence[tuple[Shot, str]], task: Task, given: Given, stop: tuple[str, ...]
) -> Request:
    examples = [(shot.question, prompts.render(answer, sql=shot.sql)) for shot, answer in shown[: given.examples]]
    return Request(worked.turns(task, prompt, "divide/bare", examples), stop, concluding_sql, reasons=True)
