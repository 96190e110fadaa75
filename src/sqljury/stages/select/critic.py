"""Critics: a judge that sees every different answer in one prompt, or each answer alone.

``critic`` is MSc-SQL's (section 4.1). Judges prefer a position, the more so
the more there are to choose from, so each set of queries is shown in several orders and the probabilities are averaged.
Where a prompt cannot hold all queries, a window slides from the smallest groups to the largest (section 4.2); its size
is estimated first and reduced where the judge's context is smaller. All pairs are the selector ``tournament``, one
call in one order is ``ranker``.

``independent`` asks about one answer at a time, right or not: the baseline of MSc-SQL, section 4.1 and Table 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import DIGITS, LETTERS, Message, derive_seed
from sqljury.prompts import Text, held
from sqljury.recipes.parts import Judged
from sqljury.sql.text import tokens
from sqljury.stages.generate.direct import written
from sqljury.stages.select.base import Selector, TooLongError, ask, in_play, representatives, seen, shown
from sqljury.types import Candidate, Choice, Comparison, Task

ORDERS: Final = 4
"""Calls for one set of queries at most; up to so many queries that ran, each stands at every position once."""
TOKENS: Final = 3_000
"""About what the queries with their results may take of a prompt."""
FAILED: Final = 2
"""Queries that failed, shown with their errors after those that ran: an error may tell of a fault in another."""
OPTIONS: Final = ("YES", "NO")

Asked = Sequence[tuple[Sequence[int], Mapping[int, float]]]
"""Each order in which queries were shown, by index, with the probability of each query by index."""


class Round(NamedTuple):
    """The judgement of one set of groups: the mean probability of each, and the comparison of every two."""

    chances: Mapping[int, float]
    comparisons: tuple[Comparison, ...]

    @property
    def winner(self) -> int:
        """The likeliest group; of equally likely ones the larger."""
        return max(self.chances, key=lambda group: (self.chances[group], -group))


def critic(most: int = 0) -> Selector:
    """The selector: all in one prompt, or in a sliding window; only the ``most`` largest groups take part, all for 0.

    A group's score is its mean probability in the last window that it was in, plus the number of windows before that
    one. Failed queries are shown where there is one prompt and room in it. A single group costs no call.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        if not best:
            return Choice(None, "critic")
        queries = {group: candidates[index] for group, index in best.items()}
        rounds = _windows(list(best), Jury(task, context, queries, failed(candidates)))
        scores = dict.fromkeys(best, 1.0)
        for number, judgement in enumerate(rounds):
            scores |= {group: number + chance for group, chance in judgement.chances.items()}
        winner = rounds[-1].winner if rounds else next(iter(best))
        compared = tuple(comparison for judgement in rounds for comparison in judgement.comparisons)
        return Choice(best[winner], "critic", tuple(scores.values()), compared)

    return select


@dataclass(frozen=True)
class Jury:
    """Judges sets of groups: ``queries`` holds one of each group; ``failed`` are shown too, and cannot win."""

    task: Task
    context: Context
    queries: Mapping[int, Candidate]
    failed: tuple[Candidate, ...] = ()

    def judge(self, ranked: Sequence[int]) -> Round:
        """Judge these groups in one prompt, in each of several orders, followed by the failures.

        Failures for which the judge's context has no room are left out. Raises ``UnjudgedError`` as ``base.ask``.
        """
        queries = [self.queries[group] for group in ranked]
        with_failed = [*queries, *self.failed] if len(ranked) == len(self.queries) else queries
        with_failed = with_failed[: max(len(ranked), fitting(with_failed, self.task))]
        try:
            asked = self._ask_turned(len(ranked), with_failed)
        except TooLongError:
            if len(with_failed) == len(ranked):
                raise
            asked = self._ask_turned(len(ranked), queries)
        chances = {
            group: round(sum(probabilities[at] for _, probabilities in asked) / len(asked), DIGITS)
            for at, group in enumerate(ranked)
        }
        compared = [
            _compared((ranked[first], ranked[second]), first, second, asked)
            for first, second in combinations(range(len(ranked)), 2)
        ]
        return Round(chances, tuple(compared))

    def _ask_turned(self, count: int, queries: Sequence[Candidate]) -> Asked:
        """The probabilities in each order of the first ``count`` queries.

        The queries after those keep their positions: turned with the others, they would take positions that some
        groups then never have.
        """
        rest = range(count, len(queries))
        return [(order, self._ask(order, queries)) for order in ([*turned, *rest] for turned in orders(count))]

    def _ask(self, order: Sequence[int], queries: Sequence[Candidate]) -> dict[int, float]:
        schema = self.context.recipe.select.schema
        messages = conversation([queries[at] for at in order], self.task, schema)
        letters = LETTERS[: len(order)]
        seed = derive_seed(self.context.seed, "critic", messages[-1].content)
        return dict(zip(order, ask(messages, letters, self.context, seed), strict=True))


def _windows(ranked: Sequence[int], jury: Jury) -> list[Round]:
    """As many groups at a time as fit, the smallest first; the winner meets the next ones.

    Where the judge's context cannot hold so many, one less is tried, down to two. Raises ``UnjudgedError``.
    """
    waiting, rounds, most = list(ranked), list[Round](), len(LETTERS)
    while len(waiting) > 1:
        fit = max(2, fitting([jury.queries[group] for group in waiting[::-1]], jury.task))
        size = min(most, fit)
        try:
            judgement = jury.judge(waiting[-size:])
        except TooLongError:
            if size == 2:
                raise
            most = size - 1
            continue
        waiting[-size:] = [judgement.winner]
        rounds.append(judgement)
    return rounds


def orders(count: int) -> list[list[int]]:
    """Orders of ``count`` queries in which every two stand either way round: all cyclic shifts, ``ORDERS`` at most.

    For more queries these are evenly spread shifts, each with its mirror image: mean positions are even, but only
    ``ORDERS`` queries, the first of all among them, ever stand first.
    """
    shifts = range(count) if count <= ORDERS else [count * number // (ORDERS // 2) for number in range(ORDERS // 2)]
    turned = [[(shift + at) % count for at in range(count)] for shift in shifts]
    return turned if count <= ORDERS else [order for indices in turned for order in (indices, indices[::-1])]


def _compared(numbers: tuple[int, int], first: int, second: int, asked: Asked) -> Comparison:
    """Two queries against each other: the first one's share of their probability, either way round.

    Orders with the same one of them ahead are summed first, so that an order in which both have next to no
    probability counts for next to nothing.
    """
    of_first, both = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for order, chances in asked:
        ahead = order.index(first) < order.index(second)
        of_first[ahead] += chances[first]
        both[ahead] += chances[first] + chances[second]
    forwards, backwards = (of_first[ahead] / both[ahead] if both[ahead] else 0.5 for ahead in (True, False))
    return Comparison(*numbers, forwards, backwards)


def failed(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Some of the queries that failed, each once, the likeliest first and those of unknown likelihood last."""
    by_query = {candidate.sql: candidate for candidate in candidates if candidate.group is None and candidate.sql}
    ranked = sorted(
        by_query.values(), key=lambda candidate: float("inf") if candidate.logprob is None else -candidate.logprob
    )
    return tuple(ranked[:FAILED])


def fitting(candidates: Sequence[Candidate], task: Task) -> int:
    """How many candidates, from the first, stay within ``TOKENS`` together and have a letter each."""
    taken = 0
    for at, candidate in enumerate(candidates[: len(LETTERS)]):
        taken += tokens(_entry("A", candidate, task))
        if taken > TOKENS:
            return at
    return min(len(candidates), len(LETTERS))


def _entry(letter: str, candidate: Candidate, task: Task) -> Text:
    sql, result = written(candidate, task), shown(candidate.result, task.shows)
    return prompts.render("select/critic_query", "schema", letter=letter, sql=sql, result=result)


def _entries(candidates: Sequence[Candidate], task: Task) -> Text:
    """The queries with their results, each under its letter."""
    entries = [_entry(letter, candidate, task) for letter, candidate in zip(LETTERS, candidates, strict=False)]
    return Text("\n\n".join(entries), held(*entries))


def conversation(candidates: Sequence[Candidate], task: Task, schema: Judged = "used") -> list[Message]:
    """What the critic is asked about these queries; see ``lettered``."""
    return lettered("critic", candidates, task, schema)


def lettered(judge: str, candidates: Sequence[Candidate], task: Task, schema: Judged) -> list[Message]:
    """What a judge of several queries is asked, of which the first is A; at most as many as there are letters."""
    text = prompts.render(
        f"select/{judge}",
        "schema",
        schema=in_play(task, candidates, schema),
        question=task.question.whole,
        queries=_entries(candidates, task),
    )
    last = LETTERS[len(candidates) - 1]
    system = prompts.render(f"select/{judge}_system", "schema", dialect=task.dialect_name, last=last, seen=seen(schema))
    return [Message("system", system), Message("user", text)]


def independent(most: int = 0) -> Selector:
    """The selector: each answer alone; only the ``most`` largest groups take part, all for 0.

    A group's score is the probability that its query is right; ties go to the larger group. A comparison holds the
    first one's share of two probabilities, the same in both orders. A single group costs no call.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        if not best:
            return Choice(None, "critic-independent")
        if len(best) == 1:
            return Choice(best[0], "critic-independent", (1.0,))
        chances = {group: _right(candidates[index], task, context) for group, index in best.items()}
        winner = max(best, key=lambda group: (chances[group], -group))
        compared = []
        for first, second in combinations(best, 2):
            both = chances[first] + chances[second]
            share = chances[first] / both if both else 0.5
            compared.append(Comparison(first, second, share, share))
        return Choice(best[winner], "critic-independent", tuple(chances.values()), tuple(compared))

    return select


def _right(candidate: Candidate, task: Task, context: Context) -> float:
    """The judge's probability that a query answers the question; 0.5 for a reply that is neither yes nor no."""
    messages = conversation_alone(candidate, task, context.recipe.select.schema)
    yes, _ = ask(messages, OPTIONS, context, derive_seed(context.seed, "critic", messages[-1].content))
    return yes


def conversation_alone(candidate: Candidate, task: Task, schema: Judged = "used") -> list[Message]:
    """What the independent critic is asked about one query; it answers one of ``OPTIONS``, yes first."""
    text = prompts.render(
        "select/alone",
        "schema",
        schema=in_play(task, [candidate], schema),
        question=task.question.whole,
        sql=written(candidate, task),
        result=shown(candidate.result, task.shows),
    )
    system = prompts.render("select/alone_system", "schema", dialect=task.dialect_name, seen=seen(schema, 1))
    return [Message("system", system), Message("user", text)]
