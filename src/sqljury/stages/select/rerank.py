"""Re-ranking by tests: groups in the order of the tests that they pass (Li & Xie 2024, section 3, step 3).

The paper breaks ties by generation probability. With a model whose expectations are often wrong many groups tie, and
there votes know more than the probability of one text; ``rerank-votes`` lets them speak first, and counts a test by
how sure the model was of what it expects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from sqljury.context import Context
from sqljury.stages.select.base import Selector, groups, members, spokesman
from sqljury.testing import run_tests
from sqljury.types import Candidate, Choice, Task, Tried


def rerank(most: int = 0) -> Selector:
    """The selector of the paper; only the ``most`` largest groups take part, all for 0.

    A group's score is the number of tests that its query passes; ties go to the group with the likeliest query. Where
    no test says anything of the largest group's query, and for a single group, the order by votes stays as it is; a
    single group costs no call.
    """
    return _selector("rerank", most, lambda _: 1.0, by_votes=False)


def rerank_votes(most: int = 0) -> Selector:
    """The same with the sureness of the passed tests as score; ties go to the larger group, then to the likelier."""
    return _selector("rerank-votes", most, lambda test: test.case.sureness, by_votes=True)


def _selector(name: str, most: int, weight: Callable[[Tried], float], *, by_votes: bool) -> Selector:
    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        taking_part = groups(candidates)[: most or None]
        if not taking_part:
            return Choice(None, name)
        best = [spokesman(candidates, group) for group in taking_part]
        queries = [candidates[place].sql for place in best]
        tests = run_tests(queries, task, context) if len(best) > 1 else ()
        scores = tuple(
            round(sum((weight(test) for test in tests if test.passed[at]), 0.0), 9) for at in range(len(best))
        )
        if all(test.passed[0] is None for test in tests):  # that it cannot be run on SQLite says nothing against it
            note = "no test says anything of the query with most votes, so votes decided" if len(best) > 1 else ""
            return Choice(best[0], name, scores, (), tests, note)
        likeliest = [max(_logprob(candidates[place]) for place in members(candidates, one)) for one in taking_part]
        winner = max(range(len(best)), key=lambda at: (scores[at], 0.0 if by_votes else likeliest[at], -at))
        return Choice(best[winner], name, scores, (), tests)

    return select


def _logprob(candidate: Candidate) -> float:
    return -inf if candidate.logprob is None else candidate.logprob
