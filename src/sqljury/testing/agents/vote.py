"""Which of several programs is right: the one whose result most of them have (TS-SQL, section 3.1.3).

Which of several programs is right: the one that a model chooses (TS-SQL, sections 3.1.3 and 4.3.2, appendix A.6).

The paper shows two programs to a fine-tuned model. Here all that returned different things are shown at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm import base as choice
from sqljury.llm.base import Message, derive_seed
from sqljury.prompts import unmarked
from sqljury.testing.agents.inspection import Inspection, Ran
from sqljury.testing.trial import alike
from sqljury.types import Result


def vote(results: Sequence[Result]) -> tuple[int, int] | None:
    """The place of the first of the most results that are alike, and how many these are; None when all failed.

    Rows may come in any order. Of equally many the group of the earliest result wins: the first is the likeliest, and
    that of the model which the recipe names first.
    """
    largest = max(groups(results), key=len, default=None)  # the first of the largest
    return (largest[0], len(largest)) if largest else None


def groups(results: Sequence[Result]) -> list[list[int]]:
    """The places of results that are alike, group by group as they come; those that failed are in none."""
    found: list[list[int]] = []
    for place, result in enumerate(results):
        own = next((group for group in found if alike(results[group[0]], result)), None)
        if own is not None:
            own.append(place)
        elif result.ok and not result.truncated:
            found.append([place])
    return found


def select(look: Inspection, ran: Sequence[Ran], context: Context) -> tuple[int, float] | None:
    """The place of the program that ``context``'s model takes for right, with how sure it is.

    One program speaks for all that returned the same. Sureness is the mean probability over both orders of showing,
    since judges prefer a place; of even ones that which most programs returned is taken. It is None where there is
    nothing to choose, where the allowance is spent, and where the programs do not fit into the model's context: then
    votes may choose.
    """
    ranked = sorted(groups([one.result for one in ran]), key=len, reverse=True)[: len(choice.LETTERS)]
    places = [group[0] for group in ranked]
    if len(places) < 2:
        return None
    chances = dict.fromkeys(places, 0.0)
    for order in (places, places[::-1]):
        messages = conversation(look, [ran[place] for place in order])
        reply = context.ask(messages, choice.sampling(derive_seed(context.seed, "select", messages[-1].content)))
        if reply is None:
            return None
        letters = choice.LETTERS[: len(order)]
        for place, chance in zip(order, choice.probabilities(reply.completions[0], letters), strict=True):
            chances[place] += chance / 2
    best = max(places, key=lambda place: round(chances[place], choice.DIGITS))
    return best, chances[best]


def conversation(look: Inspection, shown: Sequence[Ran]) -> list[Message]:
    """What the model is asked: what the programs were written for, and they with what they returned, from A on."""
    programs = [
        prompts.render("tssql/select_program", letter=letter, code=unmarked(one.code), result=look.shown(one.result))
        for letter, one in zip(choice.LETTERS, shown, strict=False)
    ]
    text = prompts.render("tssql/select_question", asked=look.asked[-1].content, programs="\n\n".join(programs))
    system = prompts.render("tssql/select_system", last=choice.LETTERS[len(shown) - 1])
    return [Message("system", system), Message("user", text)]
