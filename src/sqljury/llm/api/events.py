"""What a backend says while it answers, and how that becomes completions."""

from __future__ import annotations

import contextlib
import math
import queue
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from sqljury.errors import CancelledError
from sqljury.llm.base import Completion, Token

T = TypeVar("T")
_POLL = 0.05  # seconds until a cancellation is noticed


class Piece(NamedTuple):
    """The next text of completion ``sample``; ``finish`` comes with its last piece.

    ``tokens`` is None where the backend says something of them that cannot be.
    """

    sample: int
    text: str = ""
    tokens: tuple[Token, ...] | None = ()
    finish: Literal["stop", "length"] | None = None


class Usage(NamedTuple):
    """Tokens as the backend counts them.

    ``adds`` says that the completion tokens come on top of those reported before; otherwise they are a new total.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    adds: bool = False


Event = Piece | Usage


class OverdueError(Exception):
    """The items did not come to their end in time."""


def interruptible(items: Generator[T], cancel: threading.Event | None, seconds: float = math.inf) -> Iterator[T]:
    """Pass on ``items``, read in a thread of their own, and raise ``CancelledError`` once ``cancel`` is set.

    Raises ``OverdueError`` where they have not ended after ``seconds``. A read that hangs cannot be broken off from
    outside. So the caller leaves at once, and the thread closes the connection at the next item, which tells the
    server to stop. Reading ``items`` must not raise.
    """
    ends = time.monotonic() + seconds
    arrived: queue.SimpleQueue[list[T] | None] = queue.SimpleQueue()
    left = threading.Event()

    def read() -> None:
        with contextlib.closing(items):
            for item in items:
                arrived.put([item])
                if left.is_set():
                    break
        arrived.put(None)

    _heed(cancel, math.inf)
    threading.Thread(target=read, name="sqljury-reply", daemon=True).start()
    try:
        while (batch := _next(arrived)) is not None:
            _heed(cancel, ends)
            yield from batch
    finally:
        left.set()


def _heed(cancel: threading.Event | None, ends: float) -> None:
    if cancel is not None and cancel.is_set():
        raise CancelledError("The call was cancelled.")
    if time.monotonic() > ends:
        raise OverdueError


def _next(arrived: queue.SimpleQueue[list[T] | None]) -> list[T] | None:
    """What has arrived, after a moment nothing, None at the end."""
    try:
        return arrived.get(timeout=_POLL)
    except queue.Empty:
        return []


@dataclass
class Draft:
    """A completion as it grows: drops a repeated ``prefix``, ends before a stop string, passes on what is sure."""

    prefix: str
    stops: tuple[str, ...]
    emit: Callable[[str], None]
    raw: str = ""
    tokens: list[Token] | None = field(default_factory=list)
    finish: Literal["stop", "length"] | None = None
    emitted: int = 0
    held: str = ""
    """Half of a character at the end of the last piece, whose other half may begin the next one."""

    def add(self, piece: Piece) -> None:
        """Take in a piece, and emit the text that no stop string or prefix can still claim."""
        self.finish = self.finish or piece.finish
        text, self.held = self.held + piece.text, ""
        if not self.finish and _HALF.search(text[-1:]):
            text, self.held = text[:-1], text[-1:]
        self.raw += whole(text)
        if self.tokens is not None and piece.tokens is not None:
            self.tokens += map(_whole_token, piece.tokens)
        else:
            self.tokens = None
        if not self.finish and len(self.raw) < len(self.prefix) and self.prefix.startswith(self.raw):
            return
        text, cut = self._text()
        sure = len(text) if cut or self.finish else len(text) - _begun(text, self.stops)
        if sure > self.emitted:
            self.emit(text[self.emitted : sure])
            self.emitted = sure

    def completion(self) -> Completion:
        """What it has grown to."""
        text, cut = self._text()
        tokens = self.tokens or []
        if self.prefix and "".join(t.text for t in tokens).startswith(self.prefix):
            tokens = _after(tokens, len(self.prefix))
        if cut:
            tokens = _within(tokens, len(text))
        return Completion(text, "stop" if cut else self.finish or "stop", tuple(tokens))

    def _text(self) -> tuple[str, bool]:
        text = self.raw.removeprefix(self.prefix)
        ends = [at for stop in self.stops if stop and (at := text.find(stop)) >= 0]
        return (text[: min(ends)], True) if ends else (text, False)


_HALF = re.compile("[\ud800-\udbff]")


def whole(text: str) -> str:
    """``text`` with halves of characters put together, and U+FFFD for what has no other half: it cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _whole_token(token: Token) -> Token:
    return Token(whole(token.text), token.logprob, tuple((whole(text), logprob) for text, logprob in token.top))


def _begun(text: str, stops: tuple[str, ...]) -> int:
    """The length of the longest end of ``text`` that begins a stop string."""
    lengths = (n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n]))
    return max(lengths, default=0)


def _after(tokens: list[Token], length: int) -> list[Token]:
    """The tokens behind the first ``length`` characters."""
    for at, token in enumerate(tokens):
        if length <= 0:
            return tokens[at:]
        length -= len(token.text)
    return []


def _within(tokens: list[Token], length: int) -> list[Token]:
    """The tokens that begin within the first ``length`` characters."""
    for at, token in enumerate(tokens):
        if length <= 0:
            return tokens[:at]
        length -= len(token.text)
    return tokens
