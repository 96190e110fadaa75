"""What all services have in common: attempts, samples, limits of what they understand, and honest errors."""

from __future__ import annotations

import json
import logging
import math
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Unpack

from sqljury.errors import (
    CancelledError,
    ContextLengthError,
    ModelError,
    ModelResponseError,
    ModelUnavailableError,
)
from sqljury.llm.api.events import Draft, Event, OverdueError, Usage, checked, interruptible
from sqljury.llm.api.failures import Failure, Retry, translate
from sqljury.llm.api.spec import ApiSpec, read_key, redactor
from sqljury.llm.base import Completion, Message, Reply, Sampling, Streaming, derive_seed
from sqljury.types import Cost

_log = logging.getLogger(__name__)
_BYTES_PER_TOKEN = 3.5  # English and SQL; on the high side of what tokenizers need
_REFUSALS = (400, 422, 501)
_GRACE = 1.0  # seconds that the vendor's library has to give up by itself, which says more
_CHARS_PER_TOKEN, _CHARS_MORE = 64, 64 * 1024  # of a text that goes on beyond its max_tokens, before it is cut off

BEGIN_WITH = "\n\nBegin your reply with exactly the following text, and go on from there:\n"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a service; ``prefix`` is the assistant's turn that the reply continues."""

    messages: tuple[Message, ...]
    sampling: Sampling
    n: int
    stream: bool
    prefix: str = ""


@dataclass
class Gathered:
    """The events of one request, put together."""

    request: Request
    on_text: Callable[[int, str], None] | None = None
    offset: int = 0
    drafts: dict[int, Draft] = field(default_factory=dict)
    usage: Usage | None = None
    failure: Failure | None = None

    def add(self, event: Event) -> None:
        """Take in a piece of text or a count of tokens."""
        if isinstance(event, Usage):
            before = self.usage or Usage()
            more = before.completion + event.completion if event.adds else event.completion
            self.usage = Usage(
                max(before.prompt, event.prompt),
                max(before.completion, more),
                max(before.cached, event.cached),
            )
        elif event.sample < self.request.n:
            self._draft(event.sample).add(event)

    @property
    def shown(self) -> bool:
        """The user has seen a part of it, so it cannot be begun again."""
        return any(draft.emitted for draft in self.drafts.values()) and self.on_text is not None

    def completions(self) -> list[Completion]:
        """In the backend's order."""
        return [self.drafts[index].completion() for index in sorted(self.drafts)]

    def _draft(self, index: int) -> Draft:
        if index not in self.drafts:
            shown = self.offset + index

            def emit(text: str) -> None:
                if self.on_text:
                    self.on_text(shown, text)

            self.drafts[index] = Draft(self.request.prefix, self.request.sampling.stop, emit)
        return self.drafts[index]


class ApiModel(ABC):
    """A model behind a service.

    ``retry`` says when failed requests are sent again, ``timeout`` is the seconds after which one has failed, however
    much of its reply has come. The key comes from the environment and is seen nowhere.
    """

    optional: tuple[str, ...] = ()
    """Request fields that only tune; one that a service refuses is left out from then on."""

    def __init__(self, spec: ApiSpec, *, retry: Retry | None = None, timeout: float = 600.0) -> None:
        key = read_key(spec)
        self.spec = spec
        self.retry = retry or Retry()
        self.most_samples = 1
        self.refused: frozenset[str] = frozenset()
        self._redact = redactor(key)
        self._seconds = timeout
        self._client = self._connect(key or "none", timeout)

    @property
    def name(self) -> str:
        """The specification it was opened with."""
        return self.spec.name

    @property
    def prompt_per_sample(self) -> bool:
        """Each sample is a request of its own, and its prompt is paid again."""
        return self.most_samples == 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer ``messages`` ``n`` times; samples that do not fit in one request get seeds of their own.

        What it raises has the ``cost`` of the requests that were answered.
        """
        began = time.perf_counter()
        turns, prefix = _split_prefix(messages)
        if prefix and sampling.json_schema is not None:
            raise ModelError(
                f"{self.name} cannot both continue a begun reply and keep to a JSON schema; "
                "leave out the assistant's turn at the end of the messages."
            )
        on_text, cancel = streaming.get("on_text"), streaming.get("cancel")
        stream = on_text is not None or cancel is not None
        done: list[Completion] = []
        cost = Cost(calls=1)
        try:
            while len(done) < n:
                seeded = replace(sampling, seed=sample_seed(sampling.seed, len(done)))
                request = Request(turns, seeded, n - len(done), stream, prefix)
                gathered = self._attempt(request, len(done), on_text, cancel)
                cost += self._cost(gathered)
                done += self._checked(gathered)
        except (ModelError, CancelledError) as error:  # the requests that were answered are paid for
            error.cost = replace(cost, seconds=time.perf_counter() - began)
            raise
        return Reply(tuple(done[:n]), replace(cost, seconds=time.perf_counter() - began))

    def count_tokens(self, text: str) -> int:
        """An estimate from the number of bytes: asking the service would cost a request each time."""
        return math.ceil(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN)

    @abstractmethod
    def _connect(self, key: str, timeout: float) -> Any:
        """The vendor's client, its own retries switched off and redirects not followed."""

    @abstractmethod
    def _events(self, request: Request) -> Iterator[Event]:
        """Send one request and yield what comes back; vendor exceptions may leave here."""

    def _refuse_grammar(self, sampling: Sampling) -> None:
        if sampling.grammar is not None:
            raise ModelError(f"{self.name} cannot keep to a grammar; use a JSON schema, or another model.")

    def _attempt(
        self,
        request: Request,
        offset: int,
        on_text: Callable[[int, str], None] | None,
        cancel: threading.Event | None,
    ) -> Gathered:
        began, failed = time.monotonic(), 0
        while True:
            known = self.refused, self.most_samples
            fitting = replace(request, n=min(request.n, self.most_samples))
            gathered = self._once(fitting, Gathered(fitting, on_text, offset), cancel)
            failure = gathered.failure
            if failure is None:
                return gathered
            # Another thread may have learned meanwhile what this request was refused for.
            learned = failure.status in _REFUSALS and known != (self.refused, self.most_samples)
            if not gathered.shown and (self._adapt(failure, fitting) or learned):
                continue
            failed += 1
            elapsed = time.monotonic() - began
            wait = self.retry.wait(failed, elapsed, failure.retry_after) if failure.transient else None
            if wait is None or gathered.shown:
                self._give_up(failure, failed, elapsed)
            _log.info("%s: %s; trying again in %.1f s", self.name, failure.text, wait)
            self.retry.pause(wait, cancel)

    def _once(self, request: Request, gathered: Gathered, cancel: threading.Event | None) -> Gathered:
        most = request.sampling.max_tokens * _CHARS_PER_TOKEN + _CHARS_MORE
        try:
            for event in interruptible(self._guarded(request), cancel, self._seconds + _GRACE):
                if isinstance(event, Failure):
                    gathered.failure = event
                else:
                    gathered.add(event)
                if any(len(draft.raw) > most for draft in gathered.drafts.values()):
                    gathered.failure = Failure(ModelResponseError, "the reply goes on long after its max_tokens")
                    break
        except OverdueError:
            late = f"the request timed out: its reply had not ended after {self._seconds:g} s"
            gathered.failure = Failure(ModelUnavailableError, late)
        if gathered.failure is None:
            if not gathered.drafts:
                gathered.failure = Failure(ModelResponseError, "the reply holds no completion")
            elif any(draft.finish is None for draft in gathered.drafts.values()):
                gathered.failure = Failure(ModelUnavailableError, "the reply broke off", transient=True)
        return gathered

    def _guarded(self, request: Request) -> Generator[Event | Failure]:
        """The events, then a failure if there was one: no vendor exception, and so no header, goes any further."""
        try:
            for event in self._events(request):
                yield checked(event)
            return
        except Exception as error:
            failure = _translated(error, self._redact)
        yield failure

    def _adapt(self, failure: Failure, request: Request) -> bool:
        """Remember what the service does not understand; True if the request can now be put differently."""
        if failure.status not in _REFUSALS or failure.kind is ContextLengthError:
            return False
        if request.n > 1 and self._refuses_samples(failure):
            self.most_samples = min(self.most_samples, request.n // 2)
            return True
        for name in self.optional:
            if name not in self.refused and (failure.parameter == name or _names(failure.text, name)):
                _log.warning("%s does not accept %s; going on without", self.name, name)
                self.refused |= {name}
                return True
        return False

    def _refuses_samples(self, failure: Failure) -> bool:
        return failure.parameter == "n" or _names(failure.text, "n")

    def _give_up(self, failure: Failure, attempts: int, elapsed: float) -> NoReturn:
        if failure.ours:
            # The traceback so far would show the service's answer, which may repeat the key.
            raise failure.ours.with_traceback(None)
        tried = f" (gave up after {attempts} attempts in {elapsed:.0f} s)" if attempts > 1 else ""
        raise failure.kind(f"{self.name}: {failure.text}{tried}")

    def _checked(self, gathered: Gathered) -> list[Completion]:
        """The completions; a server that gives fewer than asked is asked for no more than that from now on."""
        completions = gathered.completions()
        if len(completions) < gathered.request.n:
            self.most_samples = len(completions)
        if gathered.request.sampling.json_schema is not None:
            for completion in completions:
                if completion.finish_reason == "stop" and completion.text:
                    self._check_json(gathered.request.prefix + completion.text)
        return completions

    def _check_json(self, text: str) -> None:
        """Some servers take a schema and ignore it."""
        try:
            json.loads(text)
            return
        except ValueError:
            pass
        raise ModelResponseError(f"{self.name} ignored the JSON schema: it answered {self._redact(text)[:80]!r}.")

    def _cost(self, gathered: Gathered) -> Cost:
        """Tokens of one request, estimated where the service does not count them."""
        usage = gathered.usage
        counted = sum(len(draft.tokens or ()) for draft in gathered.drafts.values())
        if usage is None:
            request = gathered.request
            prompt = sum(self.count_tokens(message.content) for message in request.messages)
            texts = sum(self.count_tokens(draft.raw) for draft in gathered.drafts.values())
            usage = Usage(prompt + self.count_tokens(request.prefix), counted or texts)
        # llama.cpp's server reports one completion's tokens when it wrote several.
        return Cost(
            prompt_tokens=usage.prompt,
            completion_tokens=max(usage.completion, counted),
            cached_tokens=usage.cached,
        )


def _translated(error: Exception, redact: Callable[[str], str]) -> Failure:
    """The failure an error stands for; an error that cannot be read counts as an invalid reply."""
    try:
        return translate(error, redact)
    except Exception:
        return Failure(ModelResponseError, "the server answered with an error that cannot be read")


def sample_seed(seed: int, position: int) -> int:
    """The seed of the sample at ``position``: ``seed`` itself for the first, unrelated ones after it; all of 31 bits.

    Servers take a negative seed, or one of 32 bits set, to mean a new one each time.
    """
    return derive_seed(seed, position) if position else seed & 0x7FFFFFFF


def begin_with(messages: Sequence[Message], prefix: str) -> tuple[Message, ...]:
    """``messages`` with the beginning of the reply asked for in words, for services that cannot continue a turn."""
    if not prefix:
        return tuple(messages)
    *before, last = messages or (Message("user", ""),)
    if last.role == "user":
        return (*before, Message("user", last.content + BEGIN_WITH + prefix))
    return (*before, last, Message("user", (BEGIN_WITH + prefix).strip()))


def _split_prefix(messages: Sequence[Message]) -> tuple[tuple[Message, ...], str]:
    if messages and messages[-1].role == "assistant":
        return tuple(messages[:-1]), messages[-1].content
    return tuple(messages), ""


def _names(text: str, field_name: str) -> bool:
    """``text`` speaks of the field; one whose name is an everyday word must stand in quotes."""
    edge = "[`'\"]" if field_name in ("n", "stop") else r"\b"
    return re.search(f"{edge}{field_name}{edge}", text) is not None
