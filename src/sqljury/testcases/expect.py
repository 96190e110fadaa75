"""Says what the right query returns on a small database, before any query is looked at (Li & Xie 2024, section 2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from sqljury import prompts
from sqljury.errors import ContextLengthError
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.testcases.agree import agree
from sqljury.testcases.examples import Example, choose
from sqljury.testcases.reply_rows import read_rows
from sqljury.testcases.shown import known, show, show_result
from sqljury.types import Cost, Question, Result, TestCase
from sqljury.work import Shown, TestsPart, Work

TOKENS: Final = 300
"""Of one reply; one that is longer is no answer, for its last row may be cut."""

STOP: Final = ("\n\n",)

_LISTED: Final = "Rows:"
_RESULT: Final = "Result:"


def expect(
    case: TestCase, question: Question, part: TestsPart, work: Work, *, examples: int = 0
) -> tuple[TestCase, Cost]:
    """The case with the result that the model expects there, and what asking cost.

    Of ``part.samples`` replies the most frequent result is taken, its ``sureness`` the share of all replies that say
    it; at temperature 0 they would all be the same, and one is asked for. Rows count in any order when replies are
    compared, for the question may leave it open; the most frequent order of the most frequent rows is taken.
    ``expected`` is None where no reply could be read, or the case is too large for the model's context. ``examples``
    is the seed by which those shown are chosen: the same for all questions, so that a model may keep them read.
    Raises ``ModelError`` and its kinds, ``CancelledError`` once the work is cancelled.
    """
    samples = part.samples if part.temperature > 0 else 1
    messages = conversation(case, question, part, examples=examples)
    seed = derive_seed(work.seed, "expect", messages[-1].content)
    sampling = Sampling(temperature=part.temperature, max_tokens=TOKENS, seed=seed, stop=STOP)
    try:
        reply = work.model.complete(messages, sampling, samples, cancel=work.cancel)
    except ContextLengthError:
        return replace(case, expected=None), Cost()
    cells = known(case)
    whole = (_after(one.text, part.listed) for one in reply.completions if one.finish_reason == "stop")
    read = [result for text in whole if (result := read_rows(text, cells)) is not None]
    if not read:
        return replace(case, expected=None), reply.cost
    expected, votes = _most_frequent(read)
    return replace(case, expected=expected, sureness=votes / len(reply.completions)), reply.cost


def conversation(case: TestCase, question: Question, part: TestsPart, *, examples: int = 0) -> tuple[Message, Message]:
    """What is to be done, with the examples, and the case; only the second message differs between questions."""
    asked = _asked(" ".join((question.text, question.evidence)), show(case, part.form), part.listed)
    return Message("system", _system(part.form, part.shots, part.listed, examples)), Message("user", asked)


def _asked(question: str, database: str, listed: bool) -> str:
    wanted = _LISTED if listed else _RESULT
    return prompts.render("expect/question", question=" ".join(question.split()), database=database, wanted=wanted)


@lru_cache(maxsize=8)
def _system(form: Shown, shots: int, listed: bool, seed: int) -> str:
    chosen = [
        f"{_asked(example.question, show(example.case, form), listed)}\n{_answer(example, listed)}"
        for example in choose(shots, seed)
    ]
    return "\n\n".join((prompts.render("expect/listed" if listed else "expect/system"), *chosen))


def _answer(example: Example, listed: bool) -> str:
    """What a model should have said."""
    result = show_result(example.case.expected or Result())
    if not listed:
        return result
    rows = show_result(Result(rows=example.behind)).splitlines()
    return "\n".join((*(f"{number}) {row}" for number, row in enumerate(rows, 1)), _RESULT, result))


def _after(reply: str, listed: bool) -> str:
    """What stands after the rows that were listed."""
    if not listed:
        return reply
    _, found, rest = f"\n{reply}".rpartition(f"\n{_RESULT}")
    return rest if found else ""


def _most_frequent(results: Sequence[Result]) -> tuple[Result, int]:
    """The result that most of them are, in the order of rows that most of those have, and how many they are."""
    groups: list[list[Result]] = []
    for result in results:
        group = next((group for group in groups if agree(group[0], result, ordered=False)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    largest = max(groups, key=len)
    ((rows, _),) = Counter(result.rows for result in largest).most_common(1)
    return next(result for result in largest if result.rows == rows), len(largest)
