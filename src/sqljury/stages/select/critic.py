"""The critic: all different answers, with what they return, in one prompt, and its probability for each.

MSc-SQL, section 4.1; read once, it is also the ranker agent of CHASE-SQL, Table 7. Judges prefer a place, the more so
the more there are to choose from, so every set of queries is shown in several orders and the probabilities averaged.
Where a prompt cannot hold all queries, some are judged at a time (section 4.2): in a window that slides from the
smallest groups to the largest, or two by two in a bracket. What it can hold is guessed first, and found out where the
judge's context is smaller. All pairs are the selector ``tournament``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import DIGITS, LETTERS, Message, derive_seed
from sqljury.prompts import unmarked
from sqljury.sql.text import tokens
from sqljury.stages.select.base import Selector, TooLongError, ask, groups, in_play, shown, spokesman
from sqljury.types import Candidate, Choice, Comparison, Task

ORDERS: Final = 4
"""Calls for one set of queries at most; up to so many that ran, each of them stands at every place once."""
TOKENS: Final = 3_000
"""About what the queries with their results may take of a prompt."""
FAILED: Final = 2
"""Queries that failed, shown with their errors beside those that ran: what went wrong in one may tell of another."""


class Round(NamedTuple):
    """What one set of groups came to: the mean probability of each, and the comparison of every two."""

    chances: Mapping[int, float]
    comparisons: tuple[Comparison, ...]

    @property
    def winner(self) -> int:
        """The likeliest group; of even ones the larger."""
        return max(self.chances, key=lambda group: (self.chances[group], -group))


@dataclass(frozen=True)
class Jury:
    """Judges sets of groups; ``speakers`` are their queries, ``failed`` queries that none of them can lose to."""

    task: Task
    context: Context
    speakers: Mapping[int, Candidate]
    failed: tuple[Candidate, ...] = ()

    def fitting(self, ranked: Sequence[int]) -> int:
        """How many of these groups one prompt should hold, taken from the first; two at least."""
        return max(2, fitting([self.speakers[group] for group in ranked]))

    def judge(self, ranked: Sequence[int]) -> Round:
        """All of these groups in one prompt, in each of several orders, and behind them what failed.

        Failures that the judge's context has no room for are left out. Raises ``UnjudgedError`` as ``judge.ask``.
        """
        speakers = [self.speakers[group] for group in ranked]
        shown_with = [*speakers, *self.failed] if len(ranked) == len(self.speakers) else speakers
        shown_with = shown_with[: max(len(ranked), fitting(shown_with))]
        try:
            asked = self._turned(len(ranked), shown_with)
        except TooLongError:
            if len(shown_with) == len(ranked):
                raise
            asked = self._turned(len(ranked), speakers)
        chances = {
            group: round(sum(found[at] for _, found in asked) / len(asked), DIGITS) for at, group in enumerate(ranked)
        }
        compared = [
            _compared((ranked[first], ranked[second]), first, second, asked)
            for first, second in combinations(range(len(ranked)), 2)
        ]
        return Round(chances, tuple(compared))

    def _turned(self, count: int, queries: Sequence[Candidate]) -> list[tuple[list[int], dict[int, float]]]:
        """Each order that was asked, and the probability of each query by its place in ``queries``.

        Those behind the first ``count`` keep their places: turned with the others, they would take places that some
        groups then never have.
        """
        behind = range(count, len(queries))
        turned = [[*order, *behind] for order in orders(count)]
        return [(order, self._ask(order, queries)) for order in turned]

    def _ask(self, order: Sequence[int], queries: Sequence[Candidate]) -> dict[int, float]:
        asked = conversation([queries[at] for at in order], self.task)
        letters = LETTERS[: len(order)]
        seed = derive_seed(self.context.seed, "critic", asked[-1].content)
        chances = ask(asked, letters, self.context, seed)
        return dict(zip(order, chances, strict=True))


Way = Callable[[Sequence[int], Jury], list[list[Round]]]
"""From groups, the largest first, to the stages in which they were judged; the last has one round."""


def critic(most: int = 0) -> Selector:
    """The selector: all in one prompt, or in a sliding window; only the ``most`` largest groups take part, all for 0.

    A group's score is its mean probability in the last window that it was in, and the number of windows before that
    one. Failed queries are shown where there is one prompt and room in it. One group alone costs no call.
    """
    return _selector("critic", windows, most)


def bracket(most: int = 0) -> Selector:
    """The selector ``critic`` with two groups a prompt, the winners against each other until one is left."""
    return _selector("critic-bracket", pairs, most)


def _selector(name: str, way: Way, most: int) -> Selector:
    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        taking_part = groups(candidates)[: most or None]
        if not taking_part:
            return Choice(None, name)
        best = {group: spokesman(candidates, group) for group in taking_part}
        speakers = {group: candidates[place] for group, place in best.items()}
        stages = way(taking_part, Jury(task, context, speakers, failed(candidates)))
        scores = dict.fromkeys(taking_part, 1.0)
        for number, stage in enumerate(stages):
            scores |= {group: number + chance for one in stage for group, chance in one.chances.items()}
        winner = stages[-1][0].winner if stages else taking_part[0]
        compared = tuple(comparison for stage in stages for one in stage for comparison in one.comparisons)
        shares = tuple(scores[group] for group in taking_part)
        return Choice(best[winner], name, shares, compared)

    return select


def windows(ranked: Sequence[int], jury: Jury) -> list[list[Round]]:
    """As many groups at a time as fit, the smallest first; the winner meets the next ones.

    Where the judge's context cannot hold so many, one less is tried, down to two. Raises ``UnjudgedError``.
    """
    waiting, stages, most = list(ranked), list[list[Round]](), len(LETTERS)
    while len(waiting) > 1:
        size = min(most, jury.fitting(waiting[::-1]))
        try:
            found = jury.judge(waiting[-size:])
        except TooLongError:
            if size == 2:
                raise
            most = size - 1
            continue
        waiting[-size:] = [found.winner]
        stages.append([found])
    return stages


def pairs(ranked: Sequence[int], jury: Jury) -> list[list[Round]]:
    """The largest group against the smallest, and so on; where one is left over, the largest waits."""
    standing, stages = list(ranked), list[list[Round]]()
    while len(standing) > 1:
        waits = standing[: len(standing) % 2]
        fight = standing[len(waits) :]
        stages.append([jury.judge((fight[at], fight[-1 - at])) for at in range(len(fight) // 2)])
        standing = sorted([*waits, *(one.winner for one in stages[-1])])
    return stages


def orders(count: int) -> list[list[int]]:
    """Orders of ``count`` queries in which every two stand either way round: all cyclic shifts, ``ORDERS`` at most.

    Where there are more queries, shifts that are spread evenly, each with its mirror image: their mean places are even,
    but only ``ORDERS`` of them, the first of all among these, ever stand first.
    """
    shifts = range(count) if count <= ORDERS else [count * number // (ORDERS // 2) for number in range(ORDERS // 2)]
    turned = [[(shift + at) % count for at in range(count)] for shift in shifts]
    return turned if count <= ORDERS else [order for one in turned for order in (one, one[::-1])]


def _compared(
    numbers: tuple[int, int], first: int, second: int, asked: Sequence[tuple[list[int], Mapping[int, float]]]
) -> Comparison:
    """Two of the queries against each other, by what the first has of their probability: either way round.

    Of several orders with the same one of them ahead the probabilities are added up first, so that one in which both
    have next to none says next to nothing.
    """
    own, both = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for order, chances in asked:
        ahead = order.index(first) < order.index(second)
        own[ahead] += chances[first]
        both[ahead] += chances[first] + chances[second]
    forwards, backwards = (own[ahead] / both[ahead] if both[ahead] else 0.5 for ahead in (True, False))
    return Comparison(*numbers, forwards, backwards)


def failed(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Some of the queries that failed, the likeliest first and those of unknown likelihood last, each once."""
    found = {one.sql: one for one in candidates if one.group is None and one.sql}
    ranked = sorted(found.values(), key=lambda one: float("inf") if one.logprob is None else -one.logprob)
    return tuple(ranked[:FAILED])


def fitting(candidates: Sequence[Candidate]) -> int:
    """How many of them, from the first, stay within ``TOKENS`` together and have a letter each."""
    taken = 0
    for at, candidate in enumerate(candidates[: len(LETTERS)]):
        taken += tokens(_entry("A", candidate))
        if taken > TOKENS:
            return at
    return min(len(candidates), len(LETTERS))


def _entry(letter: str, candidate: Candidate) -> str:
    sql, result = unmarked(candidate.sql), shown(candidate.result)
    return prompts.render("select/critic_query", letter=letter, sql=sql, result=result)


def conversation(candidates: Sequence[Candidate], task: Task) -> list[Message]:
    """What the judge is asked about these queries, of which the first is A; at most as many as there are letters."""
    text = prompts.render(
        "select/critic",
        schema=in_play(task.known, candidates),
        question=task.question.whole,
        queries="\n\n".join(_entry(letter, one) for letter, one in zip(LETTERS, candidates, strict=False)),
    )
    last = LETTERS[len(candidates) - 1]
    system = prompts.render("select/critic_system", dialect=task.dialect_name, last=last)
    return [Message("system", system), Message("user", text)]
