"""Says what the right query returns on a small database, before any query is looked at (Li & Xie 2024, section 2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from sqljury import prompts
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.testcases.agree import agree
from sqljury.testcases.examples import choose
from sqljury.testcases.reply_rows import read_rows
from sqljury.testcases.shown import known, show, show_result
from sqljury.types import Cost, Question, Result, TestCase
from sqljury.work import Shown, TestsPart, Work

TOKENS: Final = 300
"""Of one reply; one that is longer is no answer, for its last row may be cut."""

STOP: Final = ("\n\n",)

_RESULT: Final = "Result:"


def expect(
    case: TestCase, question: Question, part: TestsPart, work: Work, *, examples: int = 0
) -> tuple[TestCase, Cost]:
    """The case with the result that the model expects there, and what asking cost.

    Of ``part.samples`` replies the most frequent result is taken, its ``sureness`` the share of all replies that say
    it; at temperature 0 they would all be the same, and one is asked for. Rows count in any order when replies are
    compared, for the question may leave it open; the most frequent order of the most frequent rows is taken.
    ``expected`` is None where no reply could be read, and where there is none (see ``Work.ask``). ``examples`` is the
    seed by which those shown are chosen: the same for all questions, so that a model may keep them read.
    Raises ``ModelError`` and its kinds, ``CancelledError`` once the work is cancelled.
    """
    messages = conversation(case, question, part, examples=examples)
    answers, cost = _answers(messages, part, work)
    cells = known(case)
    read = [result for text in answers if (result := read_rows(text, cells)) is not None]
    if not read:
        return replace(case, expected=None), cost
    expected, votes = _most_frequent(read)
    return replace(case, expected=expected, sureness=votes / len(answers)), cost


def _answers(messages: Sequence[Message], part: TestsPart, work: Work) -> tuple[list[str], Cost]:
    """Every reply; one that was cut is empty. None where the model could not be asked."""
    seed = derive_seed(work.seed, "expect", messages[0].content, messages[1].content)
    sampling = Sampling(temperature=part.temperature, max_tokens=TOKENS, seed=seed, stop=STOP)
    reply = work.ask(messages, sampling, part.samples if part.temperature > 0 else 1)
    if reply is None:
        return [], Cost()
    return [one.text if one.finish_reason == "stop" else "" for one in reply.completions], reply.cost


def conversation(case: TestCase, question: Question, part: TestsPart, *, examples: int = 0) -> tuple[Message, ...]:
    """What is to be done, with the examples, the same for all questions; then the case."""
    asked = _asked(" ".join((question.text, question.evidence)), show(case, part.form))
    return Message("system", _system(part.form, part.shots, examples)), Message("user", f"{asked}\n{_RESULT}")


def _asked(question: str, database: str) -> str:
    return prompts.render("expect/question", question=" ".join(question.split()), database=database)


@lru_cache(maxsize=8)
def _system(form: Shown, shots: int, seed: int) -> str:
    chosen = [
        "\n".join((_asked(one.question, show(one.case, form)), _RESULT, show_result(one.case.expected or Result())))
        for one in choose(shots, seed)
    ]
    return "\n\n".join((prompts.render("expect/system"), *chosen))


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
