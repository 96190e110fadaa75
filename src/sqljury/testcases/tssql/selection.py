"""Which of several programs is right: the one that a model chooses (TS-SQL, sections 3.1.3 and 4.3.2, appendix A.6).

The paper shows two programs to a fine-tuned model. Here all that returned different things are shown at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqljury import prompts
from sqljury.llm import choice
from sqljury.llm.base import Message, derive_seed
from sqljury.schema.text import unmarked
from sqljury.testcases.tssql.inspection import Inspection, Ran
from sqljury.testcases.tssql.vote import groups
from sqljury.types import Cost
from sqljury.work import Work


def select(look: Inspection, ran: Sequence[Ran], work: Work) -> tuple[tuple[int, float] | None, Cost]:
    """The place of the program that ``work``'s model takes for right, with how sure it is; what that cost.

    One program speaks for all that returned the same. Sureness is the mean probability over both orders of showing,
    since judges prefer a place; of even ones that which most programs returned is taken. It is None where there is
    nothing to choose, where the allowance is spent, and where the programs do not fit into the model's context: then
    votes may choose.
    """
    ranked = sorted(groups([one.result for one in ran]), key=len, reverse=True)[: len(choice.LETTERS)]
    places = [group[0] for group in ranked]
    if len(places) < 2:
        return None, Cost()
    chances = dict.fromkeys(places, 0.0)
    cost = Cost()
    for order in (places, places[::-1]):
        messages = conversation(look, [ran[place] for place in order])
        reply = work.ask(messages, choice.sampling(derive_seed(work.seed, "select", messages[-1].content)))
        if reply is None:
            return None, cost
        cost += reply.cost
        letters = choice.LETTERS[: len(order)]
        for place, chance in zip(order, choice.probabilities(reply.completions[0], letters), strict=True):
            chances[place] += chance / 2
    best = max(places, key=lambda place: round(chances[place], choice.DIGITS))
    return (best, chances[best]), cost


def conversation(look: Inspection, shown: Sequence[Ran]) -> list[Message]:
    """What the model is asked: what the programs were written for, and they with what they returned, from A on."""
    programs = [
        prompts.render("tssql/select_program", letter=letter, code=unmarked(one.code), result=look.shown(one.result))
        for letter, one in zip(choice.LETTERS, shown, strict=False)
    ]
    text = prompts.render("tssql/select_question", asked=look.asked[-1].content, programs="\n\n".join(programs))
    system = prompts.render("tssql/select_system", last=choice.LETTERS[len(shown) - 1])
    return [Message("system", system), Message("user", text)]
