"""What every judge of queries shares: how candidates are shown, and how a letter is read out of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from sqljury.llm.base import Completion, Message, Sampling
from sqljury.schema.render import render
from sqljury.schema.text import cell_text, remark
from sqljury.schema.used import used
from sqljury.select import consistency
from sqljury.select.base import SPENT, UnjudgedError
from sqljury.types import Candidate, Cost, Result, Schema
from sqljury.work import Work

ROWS: Final = 5
CELLS: Final = 8
ALTERNATIVES: Final = 20
"""Likeliest tokens asked for; most services give no more."""
LETTERS: Final = "ABCDEFGH"
SCHEMA_CHARS: Final = 36_000
"""What the tables and columns in play may take of the prompt."""


def spokesman(candidates: Sequence[Candidate], group: int) -> int:
    """The place of the candidate that votes would take if this group were the largest."""
    place = consistency.choose_in(candidates, group)
    assert place is not None
    return place


def shown(result: Result) -> str:
    """The first rows on a few lines, or why there are none; unable to look like anything else."""
    if result.error is not None:
        return f"error: {remark(result.error)}"
    if not result.rows:
        return "no rows"
    lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
    count = f"{len(result.rows)}{'+' if result.truncated else ''} row{'' if len(result.rows) == 1 else 's'}"
    return "\n".join((count, *lines, *(["..."] if len(result.rows) > ROWS else [])))


def in_play(schema: Schema, queries: Sequence[Candidate]) -> str:
    """The part of the schema that these queries use, as a judge sees it."""
    return render(used(schema, [one.sql for one in queries]), max_chars=SCHEMA_CHARS).strip()


def ask(conversation: Sequence[Message], options: Sequence[str], work: Work, seed: int) -> tuple[list[float], Cost]:
    """The model's probability of each option as its reply, and what the call cost.

    Raises ``UnjudgedError`` once the allowance is spent, and where the queries do not fit into the model's context.
    """
    sampling = Sampling(max_tokens=1, top_logprobs=ALTERNATIVES, seed=seed)
    reply = work.ask(conversation, sampling)
    if reply is None:
        raise UnjudgedError(SPENT if work.over() else "the queries are too long for the judge's context")
    return probabilities(reply.completions[0], options), reply.cost


def probabilities(completion: Completion, options: Sequence[str]) -> list[float]:
    """Of each option against the others, by the first token's alternatives, else by the text itself.

    Options are letters or words that no other begins with, in capitals. All are equal for a reply that is no choice.
    """
    weights = dict.fromkeys(options, 0.0)
    for token in completion.tokens[:1]:
        for text, logprob in {token.text: token.logprob, **dict(token.top)}.items():
            if (option := text.strip().strip("*'\"(.").upper()) in weights:
                weights[option] += exp(logprob)
    if not any(weights.values()):
        weights |= {one: 1.0 for one in options if completion.text.strip().upper().startswith(one)}
    total = sum(weights.values())
    return [weight / total if total else 1 / len(options) for weight in weights.values()]
