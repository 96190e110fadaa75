"""Re-ranking by tests: groups in the order of the tests that they pass (Li & Xie 2024, section 3, step 3).

The paper breaks ties by generation probability. With a model whose expectations are often wrong many groups tie, and
votes are better evidence than the probability of one text: ``rerank-votes`` breaks ties by votes, and weighs each test
by the model's confidence in the expected result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqljury.context import Context
from sqljury.stages.select.base import Selector, members, representatives
from sqljury.stages.select.consistency import likelihood
from sqljury.testing import run_tests
from sqljury.types import Candidate, Choice, Task, Tried


def rerank(most: int = 0) -> Selector:
    """The selector of the paper; only the ``most`` largest groups take part, all for 0.

    A group's score is the number of tests that its query passes; ties go to the group with the likeliest query. Votes
    decide where no test ran the largest group's query. A single group costs no call.
    """
    return _selector("rerank", most, lambda _: 1.0, by_votes=False)


def rerank_votes(most: int = 0) -> Selector:
    """The same with the confidence of the passed tests as score; ties go to the larger group, then to the likelier."""
    return _selector("rerank-votes", most, lambda test: test.case.confidence, by_votes=True)


def _selector(name: str, most: int, weight: Callable[[Tried], float], *, by_votes: bool) -> Selector:
    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        chosen = representatives(candidates, most)
        if not chosen:
            return Choice(None, name)
        best = list(chosen.values())
        queries = [candidates[index].sql for index in best]
        tests = run_tests(queries, task, context) if len(best) > 1 else ()
        scores = tuple(
            round(sum((weight(test) for test in tests if test.passed[at]), 0.0), 9) for at in range(len(best))
        )
        if all(test.passed[0] is None for test in tests):  # not translatable to SQLite: no evidence against it
            note = "no test says anything of the query with most votes, so votes decided" if len(best) > 1 else ""
            return Choice(best[0], name, scores, (), tests, note)
        likeliest = [max(likelihood(candidates[at]) for at in members(candidates, group)) for group in chosen]
        winner = max(range(len(best)), key=lambda at: (scores[at], 0.0 if by_votes else likeliest[at], -at))
        return Choice(best[winner], name, scores, (), tests)

    return select
