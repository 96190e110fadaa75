"""Generation along a plan: the steps a database engine would take, then the query (CHASE-SQL, section 3.3)."""

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

FULL: Final = (worked.MOST, worked.NONE, worked.LEEDS)
SHORT: Final = (worked.MOST, worked.NONE)
STOP: Final = (";\n```",)
"""The end of the query and of its block; what a small model adds to that repeats the query."""


def plan(task: Task, _work: Work, given: Given) -> Request:
    """The generator for strong models: how the tables are found, what is done with them, what is delivered."""
    return _request("plan/full", FULL, task, given, ())


def plan_short(task: Task, _work: Work, given: Given) -> Request:
    """The generator for small models: a few short steps, then the query."""
    return _request("plan/short", SHORT, task, given, STOP)


def _request(prompt: str, examples: Sequence[Shot], task: Task, given: Given, stop: tuple[str, ...]) -> Request:
    shown = [
        (shot.question, prompts.render("plan/answer", plan=worked.plan(shot), sql=shot.sql))
        for shot in examples[: given.examples]
    ]
    return Request(worked.turns(task, prompt, "plan/bare", shown), stop, concluding_sql, reasons=True)
