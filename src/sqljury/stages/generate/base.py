"""What every generator is: from a task to what the model is asked, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqljury.context import Context
from sqljury.llm.base import Message
from sqljury.llm.replies import STOP, extract_sql
from sqljury.recipes import GeneratePart
from sqljury.types import Task


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation that asks for one query; ``read`` takes the query out of a reply, empty where there is none.

    ``reasons`` says that text may come before the query, which then stands in a fenced block.
    """

    messages: tuple[Message, ...]
    stop: tuple[str, ...] = STOP
    read: Callable[[str], str] = extract_sql
    reasons: bool = False


Generator = Callable[[Task, GeneratePart, Sequence[str], Context], Request]
"""Called with the task, the recipe's part, drafts and the context; drafts are the queries of the parts before it, as
repaired without the model, those that ran first. Never raises for what a question, a database or a reply holds; raises
what the model raises.
"""
