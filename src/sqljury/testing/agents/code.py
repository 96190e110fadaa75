"""The code agent: pandas programs for a question and small frames (TS-SQL, section 3.1.2 and appendix A.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import Completion, Message, Sampling, derive_seed
from sqljury.llm.replies import extract_code
from sqljury.recipes.parts import TestsPart
from sqljury.types import Question

TEMPERATURE: Final = 0.7
"""Of all programs but the first, where the recipe names none: without any, samples of one model are all alike."""

STOP: Final = ("\n```\n",)

_NOTES_SHOWN: Final = 6
_ALONE: Final = "this is the only frame: there is nothing to merge"
"""A small model merges a frame with itself if nobody says so."""


class Written(NamedTuple):
    """A program, as ``read`` has it, with the temperature it was written at and the name of the model in the recipe."""

    code: str
    temperature: float
    by: str = ""


def conversation(frames: str, count: int, question: Question, notes: Sequence[str] = ()) -> tuple[Message, ...]:
    """What the model is asked: ``count`` frames as a prompt shows them, notes on the database, the question."""
    lines = "".join(f"# {line}\n" for line in [*([_ALONE] if count == 1 else []), *notes[:_NOTES_SHOWN]])
    asked = question.whole
    text = prompts.render("tssql/code_question", frames=frames, notes=lines, question=asked)
    return Message("system", prompts.render("tssql/code_system")), Message("user", text)


def programs(asked: Sequence[Message], part: TestsPart, context: Context) -> list[Written]:
    """``part.codes`` programs of each of its models, model by model and of each the likeliest first.

    Fewer once the question's allowance is spent, none of a model whose context is too small for the frames.
    """
    names = part.models or ("",)
    return [written for name in names for written in _programs(asked, part, name, context)]


def _programs(asked: Sequence[Message], part: TestsPart, name: str, context: Context) -> list[Written]:
    """Those of one model; of several the seeds are the same, for no other model draws the same with them."""
    found: list[Written] = []
    for number, (count, temperature) in enumerate(((1, 0.0), (part.codes - 1, part.temperature or TEMPERATURE))):
        if not count:
            continue
        sampling = Sampling(
            temperature=temperature,
            max_tokens=part.max_tokens,
            stop=STOP,
            seed=derive_seed(context.seed, "code", number),
        )
        reply = context.of(name).ask(asked, sampling, count)
        if reply is None:
            break
        found += [Written(read(completion), temperature, name) for completion in reply.completions]
    return found


def read(completion: Completion) -> str:
    """The program in a reply; empty without one, and for one that was cut: its end may be what makes it right."""
    if completion.finish_reason == "length" and (completion.text.count("```") < 2 or completion.text.count("```") % 2):
        return ""
    return extract_code(completion.text)
