"""A training example: chat messages, the answer to learn, and ``meta``; as a line of JSON and as tokens.

{"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "..."}],
 "answer": "SELECT 1", "meta": {"db_id": "concert_singer"}}

Tokens come from the base model's own chat template; a mask leaves only the answer to learn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from sqljury.errors import DatasetError
from sqljury.llm.base import Message, Role, derive_seed
from sqljury.train.leaks import HeldOutBy

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ROLES: Final = get_args(Role)
MIN_DATABASES: Final = 4
"""With fewer databases questions are held out: one database can be most of the examples."""
UNEVEN: Final = 2.0
"""Databases are not held out where they have this many times the share of examples that was asked for, or more."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A conversation that ends with the user, and the reply to learn.

    ``meta`` of the sets made here holds ``kind``, ``id``, ``db_id`` and ``question``; other sets may leave it out.
    """

    messages: tuple[Message, ...]
    answer: str
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def database(self) -> str:
        """What may stand on one side of a split only: the database, or the conversation where none is named."""
        return self._named("db_id")

    @property
    def question(self) -> str:
        """What takes the database's place where all examples are on one; several examples may share a question."""
        return self._named("question")

    def _named(self, key: str) -> str:
        name = self.meta.get(key)
        return name if isinstance(name, str) and name else "\x1f".join(content for _, content in self.messages)

    def to_line(self) -> str:
        """A line of JSON with its line end."""
        messages = _as_dicts(self.messages)
        return json.dumps({"messages": messages, "answer": self.answer, "meta": self.meta}, ensure_ascii=False) + "\n"

    def prompt_hash(self) -> str:
        """SHA-256 of the messages."""
        text = json.dumps([[role, content] for role, content in self.messages])
        return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def read(file: Path) -> list[TrainingExample]:
    """The examples of a training set; raises ``DatasetError`` that names a line which is not an example."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise DatasetError(f"{file}: the training set cannot be read ({error.strerror}); check the path") from None
    examples = [_example(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not examples:
        raise DatasetError(f"{file}: the training set is empty; make one with `sqljury train data`")
    return examples


def check_kind(examples: Sequence[TrainingExample], part: str, file: Path) -> None:
    """Raise ``DatasetError`` for a set whose ``meta`` says that it was made for another part."""
    set_kind = next((kind for example in examples if (kind := example.meta.get("kind")) not in (None, part)), None)
    if set_kind is not None:
        raise DatasetError(
            f"{file}: this set is for {set_kind!r}, not {part!r}; make one with `sqljury train data {part}`"
        )


class Split(NamedTuple):
    """Examples to train on and held-out ones, and what was held out: whole databases, or questions."""

    training: list[TrainingExample]
    held_out: list[TrainingExample]
    by: HeldOutBy


def split(examples: Sequence[TrainingExample], share: float, seed: int) -> Split:
    """About ``share`` of the databases or of the questions are held out.

    Questions where databases are fewer than ``MIN_DATABASES``, and where those that are drawn have more than
    ``UNEVEN`` times the share of all examples, or less than that part of it. At least one name of two or more is held
    out, unless ``share`` is 0.
    The draw depends on names and ``seed`` alone, so a larger set holds out what a smaller one did by the same names.
    """
    databases = [example.database for example in examples]
    by: HeldOutBy = "database"
    held_out = draw(databases, share, seed)
    drawn = sum(name in held_out for name in databases)
    names, wanted = databases, share * len(examples)
    if len(set(databases)) < MIN_DATABASES or not wanted / UNEVEN <= drawn <= wanted * UNEVEN:
        names = [example.question for example in examples]
        held_out, by = draw(names, share, seed), "question"
    pairs = list(zip(examples, names, strict=True))
    return Split(
        [example for example, name in pairs if name not in held_out],
        [example for example, name in pairs if name in held_out],
        by,
    )


def draw(names: Iterable[str], share: float, seed: int) -> set[str]:
    """About ``share`` of the different ``names``, rounded up, but never all of them."""
    ordered = sorted(set(names), key=lambda name: derive_seed(seed, "held out", name))
    return set(ordered[: max(0, min(ceil(share * len(ordered)), len(ordered) - 1))])


def _example(file: Path, number: int, line: bytes) -> TrainingExample:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise DatasetError(f"{file}, line {number}: not a JSON object") from None
    fault = _fault(data) or (None if _encodable(data) else "text that UTF-8 cannot encode")
    if fault:
        raise DatasetError(f"{file}, line {number}: {fault}; see docs/training.md for the form of an example")
    messages = tuple(Message(entry["role"], entry["content"]) for entry in data["messages"])
    return TrainingExample(messages, data["answer"], data.get("meta", {}))


def _encodable(data: Any) -> bool:
    """False for half of a surrogate pair, which JSON can write and no tokenizer reads."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _fault(data: Any) -> str | None:
    """What is wrong with ``data`` as an example, None if nothing is."""
    if not isinstance(data, dict):
        return "not a JSON object"
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages is not a list of messages"
    for entry in messages:
        if not isinstance(entry, dict) or entry.get("role") not in ROLES or not isinstance(entry.get("content"), str):
            return f"a message needs a role ({', '.join(ROLES)}) and a text as content"
    if messages[-1]["role"] != "user":
        return "the last message is not the user's"
    if not isinstance(data.get("answer"), str) or not data["answer"]:
        return "answer is not a text"
    return None if isinstance(data.get("meta", {}), dict) else "meta is not an object"


class Encoded(NamedTuple):
    """Token ids, and a mask: 1 for tokens of the answer and its end, 0 for tokens of the prompt.

    ``weight`` is that of the answer in the loss; below 0 for an answer to become less likely.
    """

    ids: list[int]
    mask: list[int]
    weight: float = 1.0


def prompt_text(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """The text that the model sees before it answers ``messages``."""
    return str(tokenizer.apply_chat_template(_as_dicts(messages), tokenize=False, add_generation_prompt=True))


def tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """The tokens of ``text``, without special tokens: the chat template has already written them."""
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def encode(tokenizer: PreTrainedTokenizerBase, example: TrainingExample) -> Encoded:
    """The tokens of ``example``.

    Prompt and answer are tokenised separately, as they are at inference: no token spans the border.
    """
    prompt = tokens(tokenizer, prompt_text(tokenizer, example.messages))
    answer = [*tokens(tokenizer, example.answer), end_token(tokenizer, example)]
    return Encoded([*prompt, *answer], [0] * len(prompt) + [1] * len(answer))


def end_token(tokenizer: PreTrainedTokenizerBase, example: TrainingExample) -> int:
    """The token that ends an answer: what the template writes behind one, or the tokenizer's own end token."""
    conversation = [*_as_dicts(example.messages), {"role": "assistant", "content": example.answer}]
    whole = str(tokenizer.apply_chat_template(conversation, tokenize=False))
    before = prompt_text(tokenizer, example.messages) + example.answer
    behind = tokens(tokenizer, whole.removeprefix(before)) if whole.startswith(before) else []
    return behind[0] if behind else int(tokenizer.eos_token_id)


def _as_dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in messages]
