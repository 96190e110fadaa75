"""What every judge of queries shares: how candidates are shown, and how a letter is read out of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from sqljury.llm.base import Completion, Message, Sampling
from sqljury.schema.text import cell_text
from sqljury.select import consistency
from sqljury.types import Candidate, Cost, Result
from sqljury.work import Work

ROWS: Final = 5
CELLS: Final = 8
ALTERNATIVES: Final = 20
"""Likeliest tokens asked for; most services give no more."""
LETTERS: Final = "ABCDEFGH"


def spokesman(candidates: Sequence[Candidate], group: int) -> int:
    """The place of the candidate that votes would take if this group were the largest."""
    place = consistency.choose_in(candidates, group)
    assert place is not None
    return place


def shown(result: Result) -> str:
    """The first rows on a few lines, unable to look like anything else."""
    if not result.rows:
        return "no rows"
    lines = [" | ".join(cell_text(cell) for cell in row[:CELLS]) for row in result.rows[:ROWS]]
    count = f"{len(result.rows)}{'+' if result.truncated else ''} row{'' if len(result.rows) == 1 else 's'}"
    return "\n".join((count, *lines, *(["..."] if len(result.rows) > ROWS else [])))


def ask(conversation: Sequence[Message], letters: int, work: Work, seed: int) -> tuple[list[float], Cost]:
    """The model's probability of each of the first ``letters``, and what the call cost."""
    sampling = Sampling(max_tokens=1, top_logprobs=ALTERNATIVES, seed=seed)
    reply = work.model.complete(conversation, sampling, cancel=work.cancel)
    return probabilities(reply.completions[0], letters), reply.cost


def probabilities(completion: Completion, letters: int) -> list[float]:
    """Of each letter against the others, by the first token's alternatives, else by the text itself.

    All are equal for a reply that is no choice.
    """
    weights = dict.fromkeys(LETTERS[:letters], 0.0)
    for token in completion.tokens[:1]:
        for text, logprob in {token.text: token.logprob, **dict(token.top)}.items():
            if (letter := text.strip().strip("*'\"(.").upper()) in weights:
                weights[letter] += exp(logprob)
    if not any(weights.values()) and (said := completion.text.strip().upper()[:1]) in weights:
        weights[said] = 1.0
    total = sum(weights.values())
    return [weight / total if total else 1 / letters for weight in weights.values()]
