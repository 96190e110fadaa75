"""What a model on this machine's cores can still write in the time that a recipe gives a question.

CHASE-SQL has 21 queries written with up to 2,000 tokens of reasoning each, which takes such a model many minutes. In
little time different generators are worth more than many queries of one (section 4.4, Figure 2): so each generator is
asked for a query before any is asked for a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean
from typing import Final

from sqljury.context import Context
from sqljury.recipes import GeneratePart
from sqljury.stages.select.consistency import group
from sqljury.types import Candidate

RATE: Final = 10.0
"""Tokens a second that are written before anything was measured; the embedded model on two cores, several queries at
once."""
READ: Final = 3
"""Tokens that are read in the time of one that is written; the embedded model on two cores."""
TOKENS: Final = {"divide": 350, "plan": 300, "divide-short": 160, "plan-short": 120}
"""Tokens of a query with its reasoning, about; of generators that only write a query ``QUERY``."""
QUERY: Final = 60
EXAMPLE: Final = 60
EXAMPLES: Final = 5
"""Of the examples that the model itself writes, at most."""
BEGUN: Final = 80
"""What reading a part's own prompt takes, in tokens written in the same time."""
FEWER: Final = 450
"""Tokens of a schema of the few tables that earlier queries read, about."""
COMPLAINT: Final = 80
"""What reading takes that a query failed and why, in tokens written in the same time."""
SLOWER: Final = 2.0
"""A call may take so many times as long as the longest one before it."""
_SELF_MADE: Final = "synthetic"


def cut(
    number: int, parts: Mapping[int, GeneratePart], written: Sequence[Candidate], context: Context
) -> GeneratePart | None:
    """One part as far as time allows, given all ``parts`` that are still to be asked, by number; None to leave it out.

    While the queries ``written`` so far have one result there is nothing to judge, and the part may take the time for
    judging too. Without a budget in the recipe the part is asked as it is; with one, but no share of it for writing,
    for as many queries like those written as the time left suffices for. Before anything was written, the shortest of
    the parts is asked for a query even if time suffices for none.
    """
    budget = context.recipe.budget
    if not budget.seconds:
        return parts[number]
    if not budget.share:
        return _in_time(parts[number], written, context)
    contested = len({candidate.group for candidate in group(written)} - {None}) > 1
    tokens = tokens_left(context, budget.share if contested else 1.0)
    waiting = list(parts.values())
    reading = [_reading(part, context) for part in waiting]
    planned = plan(waiting, tokens, reading)
    if not written and not any(planned):
        planned[min(range(len(waiting)), key=lambda at: tokens_of(waiting[at]))] = 1
    samples = planned[list(parts).index(number)]
    if not samples:
        return None
    part = _smaller(parts[number])
    room = int(1.5 * tokens_of(part) * max(1.0, tokens / _cost_of_all(waiting, planned, reading)))
    return replace(part, samples=samples, max_tokens=min(part.max_tokens, max(QUERY, room)))


def plan(parts: Sequence[GeneratePart], tokens: float, reading: Sequence[float] = ()) -> list[int]:
    """How many queries each part writes with so many tokens: one of every generator first, then one of each in turn.

    ``reading`` is what each part takes before its first query besides its own prompt, none by default.
    """
    planned = [0] * len(parts)
    names = [part.generator for part in parts]
    first = [at for at, name in enumerate(names) if name not in names[:at]]
    rounds = [first, *[range(len(parts))] * max((part.samples for part in parts), default=0)]
    for turn in rounds:
        for at in turn:
            if planned[at] == parts[at].samples:
                continue
            begin = 0.0 if planned[at] else _begin(_smaller(parts[at])) + (reading[at] if reading else 0.0)
            cost = tokens_of(parts[at]) + begin
            if cost <= tokens:
                planned[at] += 1
                tokens -= cost
    return planned


def tokens_left(context: Context, share: float = 1.0) -> float:
    """Tokens that can still be written in a ``share`` of the question's time; inf without a budget in the recipe.

    The question's time is the recipe's, or what the caller allows if that is less.
    """
    return seconds_left(context, share) * rate(context) if context.recipe.budget.seconds else inf


def seconds_left(context: Context, share: float = 1.0) -> float:
    """What is left of a ``share`` of the question's time, which is the recipe's or what the caller allows."""
    seconds = min(context.recipe.budget.seconds, context.budget.allowance.seconds)
    return max(0.0, seconds * share - context.budget.total().seconds)


def repairable(candidate: Candidate, context: Context) -> bool:
    """Whether there is time for the model to rewrite this query, which takes about what writing it took."""
    return tokens_left(context) >= COMPLAINT + (candidate.tokens or QUERY)


def rate(context: Context) -> float:
    """Tokens written a second in the calls of this question so far, ``RATE`` before the first.

    What was read counts as the tokens that could have been written in its time: the schema is read once, and later
    calls do not take as long.
    """
    costs = [cost for step, cost in context.budget.steps if step[:1].isdigit()]
    seconds, written = sum(cost.seconds for cost in costs), sum(cost.completion_tokens for cost in costs)
    read = sum(cost.computed_tokens for cost in costs) - written
    return (written + read / READ) / seconds if seconds > 0 and written else RATE


def tokens_of(part: GeneratePart) -> int:
    """The tokens that one query of the part takes, about."""
    return min(part.max_tokens, TOKENS.get(part.generator, QUERY))


def _in_time(part: GeneratePart, written: Sequence[Candidate], context: Context) -> GeneratePart | None:
    if not written:
        return part
    query = fmean(candidate.tokens or QUERY for candidate in written)
    samples = min(part.samples, int(max(0.0, tokens_left(context) - _reading(part, context)) / query))
    if not samples and not any(candidate.result.ok for candidate in written) and _may_call(context):
        samples = 1  # a query that runs, late, is better than none
    return replace(part, samples=samples) if samples else None


def _may_call(context: Context) -> bool:
    """Whether a call may take ``SLOWER`` times as long as the longest of this question did and still end in time.

    A short first call that waited for those of other questions makes the model look slower than it is.
    """
    calls = [cost for step, cost in context.budget.steps if step[:1].isdigit()]
    longest = max((cost.seconds / max(cost.calls, 1) for cost in calls), default=0.0)
    return seconds_left(context) >= SLOWER * longest


def _reading(part: GeneratePart, context: Context) -> float:
    """What reading the schema as this part shows it takes, in tokens written in the same time.

    Nothing if another part has shown it so. Else what the first part had to read: if that found the schema read, for an
    earlier question, this part will too. The few tables of earlier queries are read for the question.
    """
    generate, costs = context.recipe.generate, dict(context.budget.steps)
    names = context.recipe.steps(range(len(generate)))
    asked = [(other, costs[name]) for other, name in zip(generate, names, strict=True) if name in costs]
    if not asked or any(_is_shown_alike(part, other) for other, _ in asked):
        return 0.0
    if part.tables:
        return FEWER / READ
    first = asked[0][1]
    return (first.computed_tokens - first.completion_tokens) / READ


def _is_shown_alike(part: GeneratePart, other: GeneratePart) -> bool:
    return (part.form, part.order, part.tables) == (other.form, other.order, other.tables)


def _begin(part: GeneratePart) -> int:
    """What a part costs before its first query: its prompt, and examples that the model has to write."""
    return BEGUN + (EXAMPLE * part.examples if part.generator == _SELF_MADE else 0)


def _cost_of_all(parts: Sequence[GeneratePart], planned: Sequence[int], reading: Sequence[float]) -> float:
    costs = [
        _begin(_smaller(part)) + begin + count * tokens_of(part)
        for part, count, begin in zip(parts, planned, reading, strict=True)
        if count
    ]
    return max(1.0, sum(costs))


def _smaller(part: GeneratePart) -> GeneratePart:
    return replace(part, examples=min(part.examples, EXAMPLES)) if part.generator == _SELF_MADE else part
