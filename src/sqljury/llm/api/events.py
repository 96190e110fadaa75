"""A service's reply as it arrives: its pieces, how they become completions, and its limits in time, size and types."""

from __future__ import annotations

import contextlib
import importlib
import math
import queue
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeVar

from sqljury.errors import CancelledError, ModelResponseError, ModelUnavailableError
from sqljury.llm.base import Completion, Token

T = TypeVar("T")
_POLL = 0.05  # seconds until a cancellation is noticed
_HALF = re.compile("[\ud800-\udbff]")

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one reply as it is sent; 32,768 tokens with twenty alternatives each take about half of it."""
MOST_TOKENS: Final = 10**9
"""A larger count is not believed."""


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
    abandoned = threading.Event()

    def read() -> None:
        with contextlib.closing(items):
            for item in items:
                arrived.put([item])
                if abandoned.is_set():
                    break
        arrived.put(None)

    _heed(cancel, math.inf)
    threading.Thread(target=read, name="sqljury-reply", daemon=True).start()
    try:
        while (batch := _next(arrived)) is not None:
            _heed(cancel, ends)
            yield from batch
    finally:
        abandoned.set()


def _heed(cancel: threading.Event | None, ends: float) -> None:
    if cancel is not None and cancel.is_set():
        raise CancelledError("The call was cancelled.")
    if time.monotonic() > ends:
        raise OverdueError


def _next(arrived: queue.SimpleQueue[list[T] | None]) -> list[T] | None:
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


def hooks(seconds: float) -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks of an HTTP client under which a reply of any kind ends within ``seconds`` and ``MOST_BYTES``.

    The client's own timeout is for a single read, so that a server that sends a byte now and then would never be cut.
    """

    def ask_plainly(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"  # a small reply could else become a very large one

    def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise ModelResponseError("the server compressed its reply, which it was asked not to do")
        library = importlib.import_module(type(response).__module__.partition(".")[0])
        response.stream = _bounded(library, response.stream, seconds)

    return {"request": [ask_plainly], "response": [bound]}


def _bounded(library: Any, stream: Any, seconds: float) -> Any:
    """``stream``; raises ``ModelUnavailableError`` when it is late, ``ModelResponseError`` when it is too long."""
    ends = time.monotonic() + seconds

    class Bounded(library.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            taken = 0
            for chunk in stream:
                taken += len(chunk)
                if taken > MOST_BYTES:
                    raise ModelResponseError(f"the reply is longer than {MOST_BYTES // 1024**2} MiB")
                if time.monotonic() > ends:
                    raise ModelUnavailableError(f"the request timed out: its reply had not ended after {seconds:g} s")
                yield chunk

        def close(self) -> None:
            stream.close()

    return Bounded()


def checked(event: Event) -> Event:
    """The event, if every part of it has its type; raises ``ModelResponseError`` where the text is not a text.

    Where a token or its log-probability is not what it should be, ``tokens`` is None: those of the reply are unknown.
    A count of tokens that is not a number is 0.
    """
    if isinstance(event, Usage):
        return Usage(_count(event.prompt), _count(event.completion), _count(event.cached), event.adds)
    if not isinstance(event.text, str):
        raise ModelResponseError(f"the server answered with a text that is {type(event.text).__name__}, not text")
    if isinstance(event.sample, bool) or not isinstance(event.sample, int) or event.sample < 0:
        raise ModelResponseError("the server numbered its completions with something that is not a number")
    good = event.tokens is not None and all(map(_is_token, event.tokens))
    return event if good else event._replace(tokens=None)


def _is_token(token: Token) -> bool:
    pairs = ((token.text, token.logprob), *token.top)
    return all(isinstance(text, str) and _is_logprob(logprob) for text, logprob in pairs)


def _is_logprob(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if whole else 0
