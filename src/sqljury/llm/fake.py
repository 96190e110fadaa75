"""A language model with scripted replies, for tests.

model = FakeModel("SELECT 1")                                # always this
model = FakeModel(["SELECT 1", ModelError("busy"), ["a", "b"]])  # one item a call; a list holds one text a sample
model = FakeModel({"how many": "SELECT count(*) FROM t"})    # by substring or compiled pattern, first match
model = FakeModel(lambda call: call.messages[-1].content)    # anything else
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Unpack

from sqljury.errors import CancelledError, ModelError, ModelResponseError
from sqljury.llm.base import Completion, Message, Reply, Sampling, Streaming, Token
from sqljury.types import Cost


class Call(NamedTuple):
    """What one ``complete`` was asked."""

    messages: tuple[Message, ...]
    sampling: Sampling
    n: int

    @property
    def prompt(self) -> str:
        """All turns' texts, a blank line between them."""
        return "\n\n".join(message.content for message in self.messages)


Scripted = str | Completion | Exception | Sequence[str | Completion]
Script = Scripted | Mapping[str | re.Pattern[str], Scripted] | Callable[[Call], Scripted]


class FakeModel:
    """Answers from ``script``, records every call in ``calls``, and behaves like a model otherwise.

    Texts honour ``stop`` and ``max_tokens`` and carry log-probabilities that depend on the text alone; a ``Completion``
    is given back as it is; an exception is raised. One text serves all ``n`` samples, several are dealt round.
    ``delay`` is the seconds one call takes. With ``local=False`` it passes for a service, which ``privacy`` keeps
    content from. A call beyond the end of the script, or one that no pattern matches, raises ``ModelResponseError``.
    """

    def __init__(self, script: Script, *, name: str = "fake", delay: float = 0.0, local: bool = True) -> None:
        self.name = name
        self.local = local
        self.calls: list[Call] = []
        self._answer = _reader(script)
        self._delay = delay
        self._lock = threading.Lock()

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Give the script's answer; ``on_text`` receives it token by token."""
        began = time.perf_counter()
        on_text, cancel = streaming.get("on_text"), streaming.get("cancel") or threading.Event()
        call = Call(tuple(messages), sampling, n)
        with self._lock:
            self.calls.append(call)
            scripted = self._answer(call)
        if isinstance(scripted, Exception):
            raise scripted
        if cancel.wait(self._delay):
            raise CancelledError("The call was cancelled.")
        texts = [scripted] if isinstance(scripted, str | Completion) else list(scripted)
        completions = tuple(_completion(texts[i % len(texts)], sampling) for i in range(n))
        for index, completion in enumerate(completions):
            for token in completion.tokens or [Token(completion.text, 0.0)]:
                if cancel.is_set():
                    raise CancelledError("The call was cancelled.")
                if on_text and token.text:
                    on_text(index, token.text)
        return Reply(
            completions,
            Cost(
                calls=1,
                prompt_tokens=self.count_tokens(call.prompt),
                completion_tokens=sum(self.count_tokens(c.text) for c in completions),
                seconds=time.perf_counter() - began,
            ),
        )

    def count_tokens(self, text: str) -> int:
        """Words and marks, each with the blanks before it."""
        return len(_tokens(text))


def _reader(script: Script) -> Callable[[Call], Scripted]:
    if isinstance(script, str | Completion | Exception):
        return lambda _: script
    if isinstance(script, Mapping):
        patterns = script
        return lambda call: _first_match(patterns, call.prompt)
    if callable(script):
        return script
    items: Iterator[Scripted] = iter(list(script))

    def following(call: Call) -> Scripted:
        for item in items:
            return item
        raise ModelResponseError(f"FakeModel's script has ended; the next call asked: {call.prompt[-200:]!r}")

    return following


def _first_match(patterns: Mapping[str | re.Pattern[str], Scripted], prompt: str) -> Scripted:
    for pattern, scripted in patterns.items():
        if pattern in prompt if isinstance(pattern, str) else pattern.search(prompt):
            return scripted
    raise ModelResponseError(f"No pattern of FakeModel's script matches: {prompt[-200:]!r}")


def _completion(scripted: str | Completion, sampling: Sampling) -> Completion:
    if isinstance(scripted, Completion):
        return scripted
    if not isinstance(scripted, str):
        raise ModelError(f"FakeModel's script holds {scripted!r}, which is neither text nor a Completion.")
    text = scripted[: min((at for s in sampling.stop if (at := scripted.find(s)) >= 0), default=None)]
    pieces = _tokens(text)
    kept = pieces[: sampling.max_tokens]
    tokens = tuple(_token(piece, sampling.top_logprobs) for piece in kept)
    return Completion("".join(kept), "length" if len(kept) < len(pieces) else "stop", tokens)


def _tokens(text: str) -> list[str]:
    return re.findall(r"\s*(?:\w+|[^\w\s])|\s+", text)


def _token(piece: str, top: int) -> Token:
    """A probability between 0.5 and 1 by the piece's hash; the alternatives halve what is left."""
    chance = 0.5 + hashlib.sha256(piece.encode()).digest()[0] / 512
    others = [(f"{piece}~{i}", math.log((1 - chance) / 2**i)) for i in range(1, top)]
    return Token(piece, math.log(chance), ((piece, math.log(chance)), *others) if top else ())
