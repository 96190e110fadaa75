"""Generation along a plan: the steps a database engine would take, then the query (CHASE-SQL, section 3.3)."""

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

FULL: Final = (worked.MOST, worked.NONE, worked.LEEDS)
SHORT: Final = (worked.MOST, worked.NONE)
STOP: Final = (";\n```",)
"""The end of the query and of its block; what a small model adds to that repeats the query."""


def plan(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for strong models: how the tables are found, what is done with them, what is delivered."""
    return _request("plan/full", FULL, task, part, ())


def plan_short(task: Task, part: GeneratePart, _drafts: Sequence[str], _context: Context) -> Request:
    """The generator for small models: a few short steps, then the query."""
    return _request("plan/short", SHORT, task, part, STOP)


def _request(prompt: str, examples: Sequence[Shot], task: Task, part: GeneratePart, stop: tuple[str, ...]) -> Request:
    shown = [
        (shot.question, prompts.render("plan/answer", plan=worked.plan(shot), sql=shot.sql))
        for shot in examples[: part.examples]
    ]
    return Request(worked.turns(task, prompt, "plan/bare", shown), stop, concluding_sql, reasons=True)
