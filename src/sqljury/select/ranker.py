"""The ranker: all different answers in one prompt, and the judge's probability for each (CHASE-SQL, Table 7).

The paper's ranker agent reads the candidates once. Judges prefer a place, the more so the more there are to choose
from, so here they are shown in several cyclic shifts and the probabilities averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.llm.base import Message, derive_seed
from sqljury.schema.render import render
from sqljury.schema.text import tokens
from sqljury.schema.used import used
from sqljury.select.base import Selector, groups, members
from sqljury.select.judge import LETTERS, ask, shown, spokesman
from sqljury.types import Candidate, Choice, Cost, Task
from sqljury.work import Work

SHIFTS: Final = 3
"""Calls at most: the same queries, each time from another one on."""
TOKENS: Final = 3_000
"""About what the queries with their results may take of the prompt."""


def ranker(most: int = 0) -> Selector:
    """The selector; only the ``most`` largest groups take part, for 0 as many as there are letters.

    Groups whose queries would make the prompt too long do not take part, the smallest first. A group's score is the
    mean probability of its query over the shifts. Ties go to the larger group. One group alone costs no call.
    """

    def select(candidates: Sequence[Candidate], task: Task, work: Work) -> Choice:
        taking_part = groups(candidates)[: min(most or len(LETTERS), len(LETTERS))]
        if not taking_part:
            return Choice(None, "ranker")
        best = [spokesman(candidates, group) for group in taking_part]
        fitting = _fitting([candidates[place] for place in best])
        scores, cost = _scores(fitting, task, work)
        winner = max(range(len(scores)), key=lambda at: (scores[at], len(members(candidates, taking_part[at])), -at))
        return Choice(best[winner], "ranker", tuple(scores), (), cost)

    return select


def _entry(letter: str, candidate: Candidate) -> str:
    return prompts.render("select/ranker_query", letter=letter, sql=candidate.sql, result=shown(candidate.result))


def _fitting(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The first of them that together stay within ``TOKENS``, one at least."""
    used = 0
    for at, candidate in enumerate(candidates):
        used += tokens(_entry("A", candidate))
        if used > TOKENS and at:
            return candidates[:at]
    return candidates


def _scores(candidates: Sequence[Candidate], task: Task, work: Work) -> tuple[list[float], Cost]:
    """The mean probability of each over shifts that are spread evenly."""
    count = len(candidates)
    if count == 1:
        return [1.0], Cost()
    shifts = [count * number // min(count, SHIFTS) for number in range(min(count, SHIFTS))]
    scores, cost = [0.0] * count, Cost()
    for shift in shifts:
        order = [(shift + at) % count for at in range(count)]
        conversation = _conversation([candidates[at] for at in order], task)
        chances, spent = ask(conversation, count, work, derive_seed(work.seed, "ranker", shift))
        for at, chance in zip(order, chances, strict=True):
            scores[at] += chance / len(shifts)
        cost += spent
    return scores, cost


def _conversation(candidates: Sequence[Candidate], task: Task) -> list[Message]:
    text = prompts.render(
        "select/ranker",
        schema=render(used(task.schema, [one.sql for one in candidates])).strip(),
        question=" ".join(filter(None, (task.question.text, task.question.evidence))),
        queries="\n\n".join(_entry(letter, one) for letter, one in zip(LETTERS, candidates, strict=False)),
    )
    last = LETTERS[len(candidates) - 1]
    system = prompts.render("select/ranker_system", dialect=task.dialect_name, last=last)
    return [Message("system", system), Message("user", text)]
