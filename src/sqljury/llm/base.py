"""The one protocol every model is reached through: messages in, n completions with token log-probabilities out."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any, Final, Literal, NamedTuple, Protocol, TypedDict, Unpack, runtime_checkable

from sqljury.errors import ModelError
from sqljury.prompts import unmarked
from sqljury.types import Cost

Role = Literal["system", "user", "assistant"]

ALTERNATIVES: Final = 20
"""Likeliest tokens asked for; most services give no more."""
LETTERS: Final = "ABCDEFGH"
DIGITS: Final = 9
"""Probabilities that are equal in so many digits are a tie, whatever order they were added in."""


class _Turn(NamedTuple):
    role: Role
    content: str


class Message(_Turn):
    """One turn of a conversation; marks of chat templates in ``content`` are broken, whoever wrote it."""

    __slots__ = ()

    def __new__(cls, role: Role, content: str) -> Message:
        return super().__new__(cls, role, unmarked(content))


class Fixed(Message):
    """A turn that is the same for every question on a database, such as a worked example.

    A local model keeps what it has read of a conversation as far as its turns behind the system message are fixed.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to write the reply.

    ``temperature`` 0 is greedy. ``stop`` strings end the reply and are not part of it. At most one of
    ``json_schema`` (a JSON Schema) and ``grammar`` (GBNF) constrains the reply; a backend that cannot constrain
    raises ``ModelError`` rather than ignore it. ``top_logprobs`` asks for that many alternatives a token.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    stop: tuple[str, ...] = ()
    json_schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    top_logprobs: int = 0


class Token(NamedTuple):
    """A generated token with its natural-log probability; ``top`` are the likeliest (text, logprob) there."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply; ``tokens`` is empty where the backend gives no log-probabilities."""

    text: str
    finish_reason: Literal["stop", "length"] = "stop"
    tokens: tuple[Token, ...] = ()

    @property
    def logprob(self) -> float | None:
        """The sum of the tokens' natural-log probabilities, None where there are none."""
        return sum(token.logprob for token in self.tokens) if self.tokens else None


@dataclass(frozen=True, slots=True)
class Reply:
    """The completions of one call, in the backend's order, and what the call cost.

    ``ahead`` are those of its seconds that did not pass now: a kept reply may cost what it cost when it was made.
    """

    completions: tuple[Completion, ...]
    cost: Cost = field(default_factory=Cost)
    ahead: float = 0.0


class Streaming(TypedDict, total=False):
    """How a call is followed while it runs: ``on_text`` gets (completion index, new text), ``cancel`` stops it."""

    on_text: Callable[[int, str], None] | None
    cancel: threading.Event | None


@runtime_checkable
class LanguageModel(Protocol):
    """A model that answers messages.

    ``name`` identifies the weights or service in caches, logs and reports; it never holds a key. A model may have
    four more members, which wrappers pass on: ``identity``, a text that caches use in place of the name, where more
    than the name shapes a reply; ``close()``, which frees what the model holds until it is used again;
    ``on_cpu``, true for a model that reads its prompts on this machine's cores, some 100 tokens a second; and
    ``local``, true for one that runs in this process, so that a prompt for it leaves nothing outside, see ``privacy``.
    """

    @property
    def name(self) -> str: ...

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer ``messages`` ``n`` times.

        ``messages`` may end with an assistant turn, which the reply then continues. ``on_text`` is called
        as text arrives, where the backend streams. Setting ``cancel`` stops the call, which then raises
        ``CancelledError``. Raises ``ModelError`` and its kinds, nothing else.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """The number of tokens ``text`` takes in a prompt; exact where the model's tokenizer is at hand."""
        ...


class NoModel:
    """In the place of a model where none is to be asked: every call raises ``ModelError``."""

    name = "none"
    local = True

    def complete(
        self, _messages: Sequence[Message], _sampling: Sampling, _n: int = 1, **_streaming: Unpack[Streaming]
    ) -> Reply:
        """Raise ``ModelError``."""
        raise ModelError("this step asks a model, and there is none; name one with --model")

    def count_tokens(self, text: str) -> int:
        """The number of words."""
        return len(text.split())


class Wrapper:
    """What a model around another passes on from the model within."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    @property
    def identity(self) -> str:
        """What the model within says its replies depend on, its name if it says nothing."""
        return str(getattr(self.model, "identity", self.model.name))

    @property
    def local(self) -> bool:
        """Whether the model within runs in this process."""
        return getattr(self.model, "local", False) is True

    @property
    def on_cpu(self) -> bool:
        """Whether the model within reads its prompts on this machine's cores."""
        return bool(getattr(self.model, "on_cpu", False))

    def count_tokens(self, text: str) -> int:
        """As the model within counts."""
        return self.model.count_tokens(text)

    def close(self) -> None:
        """Free what the model within holds."""
        close = getattr(self.model, "close", None)
        if close is not None:
            close()


def derive_seed(*parts: object) -> int:
    """A seed of 31 bits that depends on nothing but ``parts``, such as a question's id and a purpose."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def sampling(seed: int) -> Sampling:
    """Sampling for a reply that is one option: one token, with its alternatives."""
    return Sampling(max_tokens=1, top_logprobs=ALTERNATIVES, seed=seed)


def probabilities(completion: Completion, options: Sequence[str]) -> list[float]:
    """The probability of each option, by the alternatives of the first token, else by the text itself.

    Options are letters or words in capitals, none of which begins with another. All are equal for a reply that
    chooses none.
    """
    weights = dict.fromkeys(options, 0.0)
    for token in completion.tokens[:1]:
        for text, logprob in {token.text: token.logprob, **dict(token.top)}.items():
            if (option := text.strip().strip("*'\"(.").upper()) in weights:
                weights[option] += exp(logprob)
    if not any(weights.values()):
        weights |= {option: 1.0 for option in options if completion.text.strip().upper().startswith(option)}
    total = sum(weights.values())
    return [weight / total if total else 1 / len(options) for weight in weights.values()]
