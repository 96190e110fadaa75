"""A training set: a JSONL file, one object a line, with messages, the answer to learn, and what is known of it.

{"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "..."}],
 "answer": "SELECT 1", "meta": {"db_id": "concert_singer"}}

Examples as tokens: the base's own chat template, and a mask that leaves only the answer to learn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from sqljury.errors import DatasetError
from sqljury.llm.base import Message, Role, derive_seed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


ROLES: Final = get_args(Role)


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation that ends with the user, the reply to learn, and ``meta``, where ``db_id`` is the database."""

    messages: tuple[Message, ...]
    answer: str
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def database(self) -> str:
        """What must not stand on both sides of a split: the database, or the conversation where none is named."""
        named = self.meta.get("db_id")
        return named if isinstance(named, str) and named else self._conversation

    @property
    def question(self) -> str:
        """What takes its place where there is one database alone; several pairs may be of one question."""
        named = self.meta.get("question")
        return named if isinstance(named, str) and named else self._conversation

    @property
    def _conversation(self) -> str:
        return "\x1f".join(content for _, content in self.messages)


def read(file: Path) -> list[Example]:
    """The examples of a training set; raises ``DatasetError`` that names the line that holds none."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise DatasetError(f"{file}: the training set cannot be read ({error.strerror}); check the path") from None
    found = [_example(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise DatasetError(f"{file}: the training set is empty; make one with `sqljury train data`")
    return found


def check_kind(examples: Sequence[Example], part: str, file: Path) -> None:
    """Raise ``DatasetError`` for a set that says it was made for another part; one of your own need not say."""
    other = next((kind for one in examples if (kind := one.meta.get("kind")) not in (None, part)), None)
    if other is not None:
        raise DatasetError(
            f"{file}: this set is for {other!r}, not {part!r}; make one with `sqljury train data {part}`"
        )


def digest(file: Path) -> str:
    """The SHA-256 of the file, in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def split(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """(to learn from, held out): about ``share`` of what ``held_by`` says, at least one of two or more.

    Which ones depends on their names and ``seed`` alone, so a larger set holds out what a smaller one did.
    """
    by = held_by(examples)
    named = [example.database if by == "database" else example.question for example in examples]
    names = sorted(set(named), key=lambda name: derive_seed(seed, "held out", name))
    count = min(ceil(share * len(names)), len(names) - 1)
    held = set(names[:count])
    return (
        [example for example, name in zip(examples, named, strict=True) if name not in held],
        [example for example, name in zip(examples, named, strict=True) if name in held],
    )


def held_by(examples: Sequence[Example]) -> Literal["database", "question"]:
    """What is on one side of a split alone: databases, or where all examples are on one database, questions."""
    return "database" if len({example.database for example in examples}) > 1 else "question"


def _example(file: Path, number: int, line: bytes) -> Example:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise DatasetError(f"{file}, line {number}: not a JSON object") from None
    fault = _fault(data) or (None if _encodable(data) else "text that UTF-8 has no bytes for")
    if fault:
        raise DatasetError(f"{file}, line {number}: {fault}; see docs/training.md for the form of an example")
    messages = tuple(Message(entry["role"], entry["content"]) for entry in data["messages"])
    return Example(messages, data["answer"], data.get("meta", {}))


def _encodable(data: Any) -> bool:
    """False for half of a pair of surrogates, which JSON can write and no tokenizer reads."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _fault(data: Any) -> str | None:
    """What keeps ``data`` from being an example, None when nothing does."""
    if not isinstance(data, dict):
        return "not a JSON object"
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages is no list of messages"
    for entry in messages:
        if not isinstance(entry, dict) or entry.get("role") not in ROLES or not isinstance(entry.get("content"), str):
            return f"a message needs a role ({', '.join(ROLES)}) and a text as content"
    if messages[-1]["role"] != "user":
        return "the last message is not the user's"
    if not isinstance(data.get("answer"), str) or not data["answer"]:
        return "answer is no text"
    return None if isinstance(data.get("meta", {}), dict) else "meta is no object"


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
