"""What a service may send: a reply that ends in time, fits in memory, and holds what it is declared to hold."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from sqljury.errors import ModelResponseError, ModelUnavailableError
from sqljury.llm.api.events import Event, Usage
from sqljury.llm.base import Token

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one reply as it is sent; 32,768 tokens with twenty alternatives each take about half of it."""
MOST_TOKENS: Final = 10**9
"""A larger count is no count."""


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
    """The event, if every part of it has its type; raises ``ModelResponseError`` for a text that is none.

    Where a token or its log-probability is not what it should be, ``tokens`` is None: those of the reply are unknown.
    A count of tokens that is none is 0.
    """
    if isinstance(event, Usage):
        return Usage(_count(event.prompt), _count(event.completion), _count(event.cached), event.adds)
    if not isinstance(event.text, str):
        raise ModelResponseError(f"the server answered with a text that is {type(event.text).__name__}, not text")
    if isinstance(event.sample, bool) or not isinstance(event.sample, int) or event.sample < 0:
        raise ModelResponseError("the server numbered its completions with something that is no number")
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
