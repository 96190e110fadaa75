"""Writes a schema in about the number of tokens that a recipe aims at, for models on this machine.

A model on a CPU reads some 100 tokens a second, and the schema is most of what it reads for the first question on a
database. So a schema that would take more tokens than the recipe aims at is shown in the first of ``STEPS`` that fits.
Every step keeps all tables, columns, keys and comments, and depends on nothing but the schema, so that further
questions share what was read. The last step is taken for schemas that fit in none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from sqljury.schema.render import Style, render
from sqljury.schema.sizes import estimate_tokens
from sqljury.sql.text import CELL_CHARS
from sqljury.types import Result, Schema
from sqljury.types.schema import Form


class Step(NamedTuple):
    """A smaller way to show a schema: at most so many rows of a table, and examples beside its text columns."""

    rows: int
    examples: int = 0
    compact: bool = False
    cell_chars: int = 20


STEPS: Final = (
    Step(rows=2),
    Step(rows=1),
    Step(rows=0, examples=1),
    Step(rows=1, compact=True),
    Step(rows=0, examples=1, compact=True),
    Step(rows=0, compact=True),
)
"""From the largest to the smallest; ``benchmarks/first_question.py`` measures what each is worth."""


def aimed(
    schema: Schema,
    samples: Mapping[str, Result] | None = None,
    *,
    form: Form = "ddl",
    style: Style | None = None,
    tokens: int = 0,
    max_chars: int | None = None,
) -> str:
    """The schema as ``render`` writes it if that takes at most ``tokens`` (0: any number), else by the first step.

    Tokens are those of ``estimate_tokens``. ``max_chars`` holds whatever the step.
    """
    style = style or Style()
    text = render(schema, samples, form=form, style=style, max_chars=max_chars)
    if not tokens or estimate_tokens(text) <= tokens:
        return text
    for step in STEPS:
        smaller = stepped(schema, samples, step, form=form, style=style, max_chars=max_chars)
        if len(smaller) < len(text):
            text = smaller
        if estimate_tokens(text) <= tokens:
            break
    return text


def stepped(
    schema: Schema,
    samples: Mapping[str, Result] | None,
    step: Step,
    *,
    form: Form = "ddl",
    style: Style | None = None,
    max_chars: int | None = None,
) -> str:
    """The schema as one step shows it, never with more than ``style`` has."""
    style = style or Style()
    rows = step.rows if style.rows is None else min(step.rows, style.rows)
    smaller = replace(
        style,
        rows=rows,
        examples=step.examples if step.examples or style.examples is not None else None,
        only_telling=True,
        cell_chars=min(step.cell_chars, style.cell_chars, CELL_CHARS),
    )
    return render(schema, samples, form="compact" if step.compact else form, style=smaller, max_chars=max_chars)
