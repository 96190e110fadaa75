"""A choice among letters or words, read out of the probabilities of a reply's first token."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from sqljury.llm.base import Completion, Sampling

ALTERNATIVES: Final = 20
"""Likeliest tokens asked for; most services give no more."""
LETTERS: Final = "ABCDEFGH"
DIGITS: Final = 9
"""Of a probability: those that differ less are even, whatever order they were added in."""


def sampling(seed: int) -> Sampling:
    """How a model is asked that is to answer with one option."""
    return Sampling(max_tokens=1, top_logprobs=ALTERNATIVES, seed=seed)


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
