"""Which of several programs is right: that whose result most of them return, or that which a model chooses.

TS-SQL, sections 3.1.3 and 4.3.2, appendix A.6. The paper shows two programs to a fine-tuned model; here all that
returned different results are shown at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import DIGITS, LETTERS, Message, derive_seed, probabilities, sampling
from sqljury.prompts import Text, held, unmarked
from sqljury.sql.compare import TRIAL
from sqljury.testing.agents.code import Ran
from sqljury.testing.trial import grouped
from sqljury.types import Result


def majority(results: Sequence[Result]) -> tuple[int, int] | None:
    """The index of the first result of the largest group of equal ones, and the group's size; None when all failed.

    Rows may come in any order. Of groups of one size that of the earliest result wins: the first is the likeliest, and
    that of the model which the recipe names first.
    """
    largest = max(grouped(results, TRIAL), key=len, default=None)  # the first of the largest
    return (largest[0], len(largest)) if largest else None


def choose_program(
    asked: str, ran: Sequence[Ran], shown: Callable[[Result], str], context: Context
) -> tuple[int, float] | None:
    """The index of the program that ``context``'s model takes for right, and its confidence.

    ``asked`` is what the programs were written for, ``shown`` writes a result as the model may see it: neither
    programs nor results hold more of the database's content than ``asked`` does. One program
    stands for all that returned the same. The confidence is the mean probability over both orders of showing, since
    judges are biased by position; of equal ones the result of most programs is taken. None where there is nothing to
    choose, the budget is exhausted, or the programs do not fit into the model's context.
    """
    largest_first = sorted(grouped([program.result for program in ran], TRIAL), key=len, reverse=True)
    firsts = [group[0] for group in largest_first[: len(LETTERS)]]
    if len(firsts) < 2:
        return None
    chances = dict.fromkeys(firsts, 0.0)
    for order in (firsts, firsts[::-1]):
        messages = choosing(asked, [ran[index] for index in order], shown)
        reply = context.ask(messages, sampling(derive_seed(context.seed, "select", messages[-1].content)))
        if reply is None:
            return None
        letters = LETTERS[: len(order)]
        for index, chance in zip(order, probabilities(reply.completions[0], letters), strict=True):
            chances[index] += chance / 2
    best = max(firsts, key=lambda index: round(chances[index], DIGITS))
    return best, chances[best]


def choosing(asked: str, ran: Sequence[Ran], shown: Callable[[Result], str]) -> list[Message]:
    """The prompt for a choice: what the programs were written for, then they with what they returned, from A on."""
    programs = [
        prompts.render(
            "tssql/select_program",
            held(asked),
            letter=letter,
            code=unmarked(program.code),
            result=shown(program.result),
        )
        for letter, program in zip(LETTERS, ran, strict=False)
    ]
    listed = Text("\n\n".join(programs), held(*programs))
    text = prompts.render("tssql/select_question", asked=asked, programs=listed)
    system = prompts.render("tssql/select_system", "schema", last=LETTERS[len(ran) - 1])
    return [Message("system", system), Message("user", text)]
