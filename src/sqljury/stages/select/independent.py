"""The independent critic: one answer at a time, right or not; the baseline of MSc-SQL, section 4.1 and Table 5."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Message, derive_seed
from sqljury.prompts import unmarked
from sqljury.stages.select.base import Selector, ask, groups, in_play, shown, spokesman
from sqljury.types import Candidate, Choice, Comparison, Task

_OPTIONS = ("YES", "NO")


def independent(most: int = 0) -> Selector:
    """The selector; only the ``most`` largest groups take part, all for 0.

    A group's score is the probability that its query is said to be right; ties go to the larger group. The comparisons
    hold what each two have of their probabilities together, which no order changes. One group alone costs no call.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        taking_part = groups(candidates)[: most or None]
        if not taking_part:
            return Choice(None, "critic-independent")
        best = {group: spokesman(candidates, group) for group in taking_part}
        if len(taking_part) == 1:
            return Choice(best[0], "critic-independent", (1.0,))
        chances = {group: _right(candidates[place], task, context) for group, place in best.items()}
        winner = max(taking_part, key=lambda group: (chances[group], -group))
        compared = [_compared(first, second, chances) for first, second in combinations(taking_part, 2)]
        return Choice(best[winner], "critic-independent", tuple(chances.values()), tuple(compared))

    return select


def _compared(first: int, second: int, chances: dict[int, float]) -> Comparison:
    both = chances[first] + chances[second]
    share = chances[first] / both if both else 0.5
    return Comparison(first, second, share, share)


def _right(candidate: Candidate, task: Task, context: Context) -> float:
    """The critic's probability that a query answers the question; 0.5 for a reply that is neither yes nor no."""
    asked = conversation(candidate, task)
    yes, _ = ask(asked, _OPTIONS, context, derive_seed(context.seed, "critic", asked[-1].content))
    return yes


def conversation(candidate: Candidate, task: Task) -> list[Message]:
    """What the judge is asked about one query."""
    text = prompts.render(
        "select/alone",
        schema=in_play(task.known, [candidate]),
        question=task.question.whole,
        sql=unmarked(candidate.sql),
        result=shown(candidate.result),
    )
    system = prompts.render("select/alone_system", dialect=task.dialect_name)
    return [Message("system", system), Message("user", text)]
