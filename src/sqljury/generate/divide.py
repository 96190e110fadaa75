"""Divide and conquer: sub-questions with partial queries, put together and simplified (CHASE-SQL, Algorithm 1)."""

from __future__ import annotations

from typing import Final

from sqljury import prompts
from sqljury.generate import worked
from sqljury.generate.base import Given, Request
from sqljury.generate.concluding import concluding_sql
from sqljury.generate.direct import question, system
from sqljury.llm.base import Message
from sqljury.types import Task
from sqljury.work import Work

STOP: Final = (";\n```",)
"""The end of the query and of its block; what a small model adds to that repeats the query."""


def divide(task: Task, _work: Work, _given: Given) -> Request:
    """The generator for strong models: every sub-question, the query put together from them, and a simpler one."""
    return _request("divide/full", task, ())


def divide_short(task: Task, _work: Work, _given: Given) -> Request:
    """The generator for small models: up to three parts in a line each, then the query they make."""
    return _request("divide/short", task, STOP)


def _request(prompt: str, task: Task, stop: tuple[str, ...]) -> Request:
    turn = prompts.render(prompt, tables=worked.TABLES, question=question(task))
    return Request((system(task), Message("user", turn)), stop, concluding_sql, reasons=True)
