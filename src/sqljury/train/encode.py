"""Examples as tokens: the base's own chat template, and a mask that leaves only the answer to learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqljury.llm.base import Message
from sqljury.train.examples import Example

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class Encoded(NamedTuple):
    """Token ids, and for each 1 where it belongs to the answer or ends it, 0 where it belongs to the prompt."""

    ids: list[int]
    mask: list[int]


def prompt_text(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """The text that the model sees before it answers ``messages``."""
    said = [{"role": role, "content": content} for role, content in messages]
    return str(tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True))


def tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """The tokens of ``text``; the chat template has already written what a text begins and ends with."""
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def encode(tokenizer: PreTrainedTokenizerBase, example: Example) -> Encoded:
    """The tokens of ``example``.

    Prompt and answer are cut into tokens apart from each other, as they are when the model writes: a token never
    reaches over the border.
    """
    prompt = tokens(tokenizer, prompt_text(tokenizer, example.messages))
    answer = [*tokens(tokenizer, example.answer), end(tokenizer, example)]
    return Encoded([*prompt, *answer], [0] * len(prompt) + [1] * len(answer))


def end(tokenizer: PreTrainedTokenizerBase, example: Example) -> int:
    """The token that ends an answer: what the template writes behind one, or the tokenizer's own end."""
    said = [{"role": role, "content": content} for role, content in example.messages]
    said.append({"role": "assistant", "content": example.answer})
    whole = str(tokenizer.apply_chat_template(said, tokenize=False))
    before = prompt_text(tokenizer, example.messages) + example.answer
    behind = tokens(tokenizer, whole.removeprefix(before)) if whole.startswith(before) else []
    return behind[0] if behind else int(tokenizer.eos_token_id)
