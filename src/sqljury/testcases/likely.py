"""Which result the question makes likeliest, of those that queries return on a small database.

A small model that is asked to write a result often writes a wrong one. It knows better which of some results is the
right one: that whose probability the question raises most. So the log-probability of a result after the question is
compared with that after one that asks for nothing (pointwise mutual information, as Holtzman et al. 2021, "Surface Form
Competition", choose among answers); what is short or frequent then has no advantage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqljury.llm.base import Message, Sampling
from sqljury.llm.choice import shares
from sqljury.testcases.again import judged
from sqljury.testcases.expect import conversation
from sqljury.testcases.shown import show_result
from sqljury.testcases.trial import finds
from sqljury.types import Cost, Question, Tried
from sqljury.work import TestsPart, Work

UNASKED: Final = Question("What is the result?")
"""It says nothing about which rows are wanted."""

CHARS: Final = 400
"""Of a result as the model would write it; a longer one is not weighed, and counts as the least likely."""

_END: Final = "\n\n"  # a result is whole only with what ends it


def weighed(one: Tried, question: Question, part: TestsPart, work: Work) -> tuple[Tried, Cost]:
    """The test with its ``chances``, and the likeliest result as the expected one, as sure as it is likely.

    A result that is too long to be weighed has the least chance. One of nothing (``finds``) has an even one, since
    questions sound as if there were something to find; so has a query that cannot be run here.

    As it was where no two results are there to be weighed, and where the model could not be asked (see ``Work.ask``).
    Raises ``ModelError`` for a model that cannot say how likely a text is.
    """
    texts = [show_result(result) if finds(result) and not result.truncated else "" for result in one.results]
    several = list(dict.fromkeys(text for text in texts if 0 < len(text) <= CHARS))
    if len(several) < 2:
        return one, Cost()
    gains, cost = [0.0] * len(several), Cost()
    for sign, asked in ((1, question), (-1, UNASKED)):
        messages = conversation(one.case, asked, part)
        for at, text in enumerate(several):
            logprob, spent = _logprob(messages, text, work)
            cost += spent
            if logprob is None:
                return one, cost
            gains[at] += sign * logprob
    known = dict(zip(several, shares(gains), strict=True))
    least, even = min(known.values()), 1 / len(several)
    told = zip(texts, one.results, strict=True)
    chances = tuple(known.get(text, least if finds(result) else even) for text, result in told)
    best = max(several, key=lambda text: known[text])
    case = replace(one.case, expected=one.results[texts.index(best)], sureness=known[best])
    return judged(replace(one, case=case, by="model", chances=chances)), cost


def _logprob(messages: Sequence[Message], text: str, work: Work) -> tuple[float | None, Cost]:
    reply = work.ask(messages, Sampling(literal=f"{text}{_END}"))
    return (None, Cost()) if reply is None else (reply.completions[0].logprob, reply.cost)
