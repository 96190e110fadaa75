"""The prompt of the ESM+ paper's baselines: every column with the value of it that is most like the question.

Section 4.1, Figure 6 and A.2, in our own words: columns with primary keys marked, an example value in brackets, what is
NOT NULL or UNIQUE, and the foreign keys after each table; the question last, and the reply begun with SELECT.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.language.ngrams import Matcher
from sqljury.llm.base import Message
from sqljury.llm.replies import extract_sql
from sqljury.prompts import Text
from sqljury.recipes import GeneratePart
from sqljury.schema.render import SCHEMA_CHARS, Style, render
from sqljury.schema.samples import MASKED, TOO_LARGE, sample
from sqljury.stages.generate.base import Request
from sqljury.stages.generate.direct import question
from sqljury.types import Privacy, Result, Task

ROWS: Final = 1_000
"""Rows of each table whose values are compared with the question."""
LEAST_ROWS: Final = 20
"""Rows that are read where so many take too long."""
BEGUN: Final = "SELECT"


def listed(task: Task, part: GeneratePart, _drafts: Sequence[str], context: Context) -> Request:
    """The generator: one line of columns for each table; the order of the recipe's part holds for them.

    Values are read from the first ``ROWS`` rows of each table, so the prompt of every question is another, and a model
    reads the whole schema again for each. Columns that access rules mask have no value.
    """
    matcher = Matcher(task.question.whole)
    samples = {} if task.shows == "schema" else sample(context.db, task.shown, ROWS, least=LEAST_ROWS)
    near = {
        (table, column): (value,)
        for table, rows in samples.items()
        for column, value in _nearest(rows, matcher).items()
    }
    apart, order = task.shows == "values", part.order or None
    style = Style(rows=0, examples=1, near=near, shuffle=order, question=task.question.whole, apart=apart)
    schema = render(task.shown, samples, form="listed", style=style, max_chars=SCHEMA_CHARS).strip()
    holds: Privacy = "values" if samples else "schema"
    messages = (
        Message("system", prompts.render("listed/system", holds, dialect=task.dialect_name, schema=schema)),
        Message("user", question(task)),
        Message("assistant", Text(BEGUN, "schema")),
    )
    return Request(messages, read=read)


def read(reply: str) -> str:
    """The query of a reply, which goes on after ``BEGUN`` or begins again."""
    whole = reply.lstrip("( \n").upper().startswith((BEGUN, "WITH", "```"))
    return extract_sql(reply if whole else f"{BEGUN} {reply}")


def _nearest(rows: Result, matcher: Matcher) -> dict[str, str]:
    """By column the text that is most like the question; columns of numbers keep one of their values."""
    nearest = {}
    for at, column in enumerate(rows.columns):
        texts = [row[at] for row in rows.rows if isinstance(row[at], str) and row[at] not in (TOO_LARGE, MASKED)]
        if (best := matcher.best(texts)) is not None:
            nearest[column] = best
    return nearest
