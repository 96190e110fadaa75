"""The embedded model: GGUF weights run by llama.cpp inside this process.

Weights are in memory once for all models of a process that run the same file, without an adapter or with one each.
The state of a prompt's opening is computed once and kept as a file: the system message, which holds the schema, and the
fixed turns behind it. Every call restores exactly that state and then reads only its own tokens. So a second question
on a known database is quick, in this process or the next, and a reply depends on the request alone, not on what was
asked before.

Calls of several threads take turns, or run ``together``: those with the same opening then share its state and are
written side by side, which makes more tokens a second. Rounding then depends on what runs at the same time, and so may
a reply.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack
from weakref import WeakValueDictionary

from sqljury.errors import ContextLengthError, ModelError, ModelResponseError
from sqljury.llm import adapters, engine, models
from sqljury.llm import states as kept_states
from sqljury.llm.adapters import Adapter
from sqljury.llm.base import Completion, Fixed, Message, Reply, Sampling, Streaming, Token
from sqljury.llm.together import Together
from sqljury.types import Cost

MOST_TOGETHER: Final = 8
"""Calls at once on one machine; more only take memory."""


Opening = tuple[Message, ...]
"""The first turns of a conversation, whose state is kept; empty without a system message."""


class Key(NamedTuple):
    """What makes two models share their weights: the source, and everything the engine is started with."""

    source: str
    slots: int
    context: int
    threads: int
    states: Path
    together: int


class Loaded:
    """An engine that is started when it is needed, and what its slots hold.

    ``turns`` are taken for every use of its slots, ``lock`` is held while it is started, ended, or asked for anything
    else. ``opening`` is what the slots hold of a conversation, ``worn`` the adapter they were computed with; None
    before the first call.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.lock = threading.Lock()
        self.turns = Together(key.together)
        self.engine: engine.Engine | None = None
        self.adapters: dict[str, Adapter] = {}
        self.known: tuple[str, ...] = ()
        self.opening: Opening = ()
        self.worn: str | None = None

    def running(self) -> engine.Engine:
        """The engine with all adapters that are known by now; raises ``WeightsError``.

        llama.cpp takes adapters only when it starts, so one that came later starts it anew: for a call that is alone.
        """
        files = tuple(adapter.file for adapter in self.adapters.values())
        if self.engine is not None and self.engine.options.adapters != files:
            self.close()
        if self.engine is None:
            source, slots, context, threads, states, _ = self.key
            options = engine.Options(models.resolve(source), slots, context, threads, states, files)
            self.engine = engine.Engine(options)
            self.known = tuple(self.adapters)
        return self.engine

    def close(self) -> None:
        """Free the weights; they are loaded again when they are used again."""
        if self.engine is not None:
            self.engine.close()
        self.engine = None
        self.opening = ()
        self.worn = None

    def scales(self, adapter: Adapter | None) -> list[dict[str, float]]:
        """The adapters of a request in llama.cpp's terms.

        All are named, those that are off as well: for a request that names none, it neither turns one off nor
        forgets what the slot read with one.
        """
        worn = adapter.sha256 if adapter else ""
        return [{"id": number, "scale": float(mark == worn)} for number, mark in enumerate(self.known)]


# The one place where models know of each other: the weights fill most of a small machine's memory.
_SHARED: Final[WeakValueDictionary[Key, Loaded]] = WeakValueDictionary()
_GUARD: Final = threading.Lock()


def shared(key: Key, adapter: Adapter | None) -> Loaded:
    """The weights of ``key``, not yet in memory if nothing has used them, ready for ``adapter``."""
    with _GUARD:
        loaded = _SHARED.get(key)
        if loaded is None:
            _SHARED[key] = loaded = Loaded(key)
    if adapter is not None:
        with loaded.lock:  # a call may be running, which models of other weights do not wait for
            loaded.adapters.setdefault(adapter.sha256, adapter)
    return loaded


class LocalModel:
    """A model of the catalogue, or any GGUF file, behind the ``LanguageModel`` protocol.

    ``slots`` samples are written side by side; more than that in one call take turns. At most ``together`` calls run
    at once, 8 at most, each with ``slots`` and ``context`` of its own. ``context`` is in tokens and shared by the
    samples. ``threads`` defaults to the machine's cores. The weights are loaded on first use; missing or damaged ones
    raise ``WeightsError`` then. ``states`` is the folder to keep read schemas in; where that is not possible they last
    as long as the model, with a warning. ``adapter`` is what ``adapters.find`` takes, or ``none`` for the weights alone
    whatever a recipe says; an unknown one, and one for other weights, raises ``WeightsError`` here. Models of one file
    and equal options share their weights, whatever their adapters.
    """

    on_cpu = True
    local = True

    def __init__(
        self,
        name: str = models.DEFAULT,
        *,
        slots: int = 8,
        context: int = 16_384,
        threads: int | None = None,
        states: Path | None = None,
        adapter: str = "",
        together: int = 1,
    ) -> None:
        self._source = name
        self._slots = slots
        self._together = together = min(together, MOST_TOGETHER)
        self._bare = adapter == adapters.NONE
        self._adapter = adapters.find(adapter, name) if adapter and not self._bare else None
        folder = states or models.cache_dir() / "states"
        key = Key(name, slots * together, context * together, threads or engine.cores(), folder, together)
        self._loaded = shared(key, self._adapter)

    @property
    def name(self) -> str:
        """The catalogue name; for any other file its stem and a mark that changes when the file does.

        An adapter's follow after a plus.
        """
        base, file = self._source, models.expand(self._source)
        if base not in models.CATALOGUE and os.path.isfile(file):
            base = f"{file.stem}@{kept_states.fingerprint(file)[:8]}"
        if self._bare:
            return f"{base}+{adapters.NONE}"
        return f"{base}+{self._adapter.label}" if self._adapter else base

    @property
    def identity(self) -> str:
        """What else a reply depends on, for the keys of caches: weights, adapter, library, how samples are batched."""
        entry = models.CATALOGUE.get(self._source)
        weights = f" {entry.sha256}" if entry else ""
        weights += f" {self._adapter.sha256}" if self._adapter else ""
        batch = f"slots {self._slots} batch {engine.PROMPT_BATCH}"
        together = f" together {self._together}" if self._together > 1 else ""
        return f"{self.name}{weights} xllamacpp {engine.version()} {batch}{together}"

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer ``messages`` ``n`` times; see ``LanguageModel.complete``.

        Raises ``ContextLengthError`` for a prompt that does not fit, ``ModelError`` for a grammar or schema that
        llama.cpp refuses, ``CancelledError`` once ``cancel`` is set.
        """
        started = time.perf_counter()
        on_text, cancel = streaming.get("on_text"), streaming.get("cancel")
        opening = _opening(messages)
        state = (opening, self._adapter.sha256 if self._adapter else "")
        computed: list[int] = []  # the tokens of the opening, where this call has read it
        with self._loaded.turns.taken(state, lambda: computed.append(self._prepare(opening, cancel)), cancel) as turn:
            slot = self._parents[turn]
            running = self._loaded.engine
            assert running is not None  # a turn begins with it
            completions: list[Completion] = []
            cost = Cost()
            while len(completions) < n:
                count = min(n - len(completions), self._slots)
                body = self._body(messages, sampling, len(completions))
                chunks = _Chunks(count, len(completions), on_text)
                with closing(running.stream({**body, "id_slot": slot, "n": count}, cancel)) as stream:
                    for chunk in stream:
                        chunks.take(chunk)
                completions += chunks.completions()
                cost += chunks.cost(sum(computed))
                computed.clear()
        seconds = time.perf_counter() - started
        return Reply(tuple(completions), Cost(1, *_tokens(cost), seconds=seconds))

    def count_tokens(self, text: str) -> int:
        """The exact number of tokens of ``text``, by the model's own tokenizer."""
        with self._loaded.lock:
            running = self._loaded.engine or self._loaded.running()
            return len(running.post("/tokenize", {"content": text})["tokens"])

    def close(self) -> None:
        """Free the weights and remove the engine's private folder; the model loads again when it is used again.

        So does every model that shares the weights.
        """

        def end() -> None:
            with self._loaded.lock:  # tokens are counted without a turn
                self._loaded.close()

        with self._loaded.turns.taken(object(), end):
            pass

    @property
    def _parents(self) -> range:
        """The slots that hold the state, one for each call at once.

        They are the last ones: for its further samples a call takes the first slots that are idle, and these forget.
        """
        slots = self._loaded.key.slots
        return range(slots - self._together, slots)

    def _body(self, messages: Sequence[Message], sampling: Sampling, offset: int) -> dict[str, Any]:
        lora = self._loaded.scales(self._adapter)
        return {**_body(messages, sampling, offset), **({"lora": lora} if lora else {})}

    def _wear(self, running: engine.Engine, cancel: threading.Event | None) -> None:
        """Make the slots those of this model's adapter, empty.

        A slot throws away what it holds when a request's adapter is another than the last one's, and it would do so
        with a state that was restored in between. So a request of nothing changes it first.
        """
        worn = self._adapter.sha256 if self._adapter else ""
        if self._loaded.worn != worn and self._loaded.known:
            self._loaded.worn, self._loaded.opening = None, ()  # if this is cancelled, nobody knows what slots hold
            nothing = self._body([Message("user", "")], Sampling(max_tokens=0), 0)
            for slot in self._parents:
                _read(running, {**nothing, "id_slot": slot}, cancel)
            running.forget()
        self._loaded.worn = worn

    def _prepare(self, opening: Opening, cancel: threading.Event | None) -> int:
        """Bring the opening's state into the slots that hold it; returns the tokens that had to be computed.

        Exactly as it was kept, for each call; where calls run together, once for all that follow each other.
        """
        with self._loaded.lock:
            running = self._loaded.running()
        self._wear(running, cancel)
        if self._together > 1 and opening and opening == self._loaded.opening:
            return 0
        if not opening or (opening != self._loaded.opening and self._together == 1):
            running.forget()
        self._loaded.opening = ()  # until it is there: reading it may fail or be cancelled
        if not opening:
            return 0
        first, *others = self._parents
        computed = self._begin(running, first, opening, cancel)
        for slot in others:
            _restored(running, slot, self._kept(running, opening))
        self._loaded.opening = opening
        return computed

    def _begin(self, running: engine.Engine, slot: int, opening: Opening, cancel: threading.Event | None) -> int:
        """Bring an opening's state into one slot; returns the tokens that had to be computed.

        Fixed turns are read upon the kept state of the system message, whoever reads them first, so that their state
        is always the same.
        """
        kept = self._kept(running, opening)
        if _restored(running, slot, kept):
            return 0
        turns = len(opening) > 1
        computed = self._begin(running, slot, opening[:1], cancel) if turns else 0
        body = self._body([*opening, Message("user", "")], Sampling(max_tokens=0), 0)
        computed += _read(running, {**body, "cache_prompt": turns, "id_slot": slot}, cancel)
        kept_states.keep(running, slot, kept)
        return computed

    def _kept(self, running: engine.Engine, opening: Opening) -> Path:
        return kept_states.of(running, opening, *((self._adapter.sha256,) if self._adapter else ()))


def _opening(messages: Sequence[Message]) -> Opening:
    """The system message and the fixed turns behind it."""
    if not messages or messages[0].role != "system":
        return ()
    return (messages[0], *takewhile(lambda turn: isinstance(turn, Fixed), messages[1:]))


def _restored(running: engine.Engine, slot: int, kept: Path) -> bool:
    """Load a kept state, if there is one that llama.cpp accepts, and mark it as used."""
    if not (os.path.isfile(kept) and running.restore(slot, kept)):
        return False
    with contextlib.suppress(OSError):  # another process may just have deleted it
        os.utime(kept)
    return True


def _read(running: engine.Engine, body: dict[str, Any], cancel: threading.Event | None) -> int:
    """Have a prompt read whose reply is not wanted; returns the tokens that were not found in the slot."""
    chunks = _Chunks(1, 0, None)
    with closing(running.stream(body, cancel)) as stream:
        for chunk in stream:
            chunks.take(chunk)
    return chunks.computed_tokens


def _body(messages: Sequence[Message], sampling: Sampling, offset: int) -> dict[str, Any]:
    """The request in llama.cpp's terms: plain temperature and top-p sampling, nothing it would add by default."""
    body: dict[str, Any] = {
        "messages": [{"role": role, "content": content} for role, content in messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "max_tokens": sampling.max_tokens,
        "seed": (sampling.seed + offset) % 2**32,
        "stop": list(sampling.stop),
        "logprobs": True,
        "top_logprobs": max(1, sampling.top_logprobs),
    }
    if sampling.json_schema is not None:
        schema = {"name": "reply", "schema": dict(sampling.json_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if sampling.grammar is not None:
        body["grammar"] = sampling.grammar
    return body


class _Chunks:
    def __init__(self, count: int, offset: int, on_text: Callable[[int, str], None] | None) -> None:
        self._text = [""] * count
        self._tokens: list[list[Token]] = [[] for _ in range(count)]
        self._reason = [""] * count
        self._offset, self._on_text = offset, on_text
        self.prompt_tokens = self._cached = 0

    def take(self, chunk: dict[str, Any]) -> None:
        """Add one chunk; raises the error it holds, if it holds one."""
        if "error" in chunk:
            raise _error(chunk["error"])
        for choice in chunk.get("choices", ()):
            index, text = choice["index"], choice["delta"].get("content")
            for entry in (choice.get("logprobs") or {}).get("content") or ():
                top = tuple((alternative["token"], alternative["logprob"]) for alternative in entry["top_logprobs"])
                self._tokens[index].append(Token(entry["token"], entry["logprob"], top))
            if text:
                self._text[index] += text
                if self._on_text:
                    self._on_text(self._offset + index, text)
            self._reason[index] = choice.get("finish_reason") or self._reason[index]
        if timings := chunk.get("timings"):
            self._cached = timings["cache_n"]
            self.prompt_tokens = timings["prompt_n"] + timings["cache_n"]

    def completions(self) -> list[Completion]:
        if not all(self._reason):
            raise ModelResponseError("llama.cpp ended a reply without a reason; ask again")
        return [
            Completion(text, "length" if reason == "length" else "stop", tuple(tokens))
            for text, reason, tokens in zip(self._text, self._reason, self._tokens, strict=True)
        ]

    @property
    def computed_tokens(self) -> int:
        """The tokens of the prompt that were read, not found in the slot."""
        return self.prompt_tokens - self._cached

    def cost(self, computed: int) -> Cost:
        """What the call took; ``computed`` tokens of the prompt were read for it beforehand, not found."""
        return Cost(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=sum(map(len, self._tokens)),
            cached_tokens=max(0, self._cached - computed),
        )


def _tokens(cost: Cost) -> tuple[int, int, int]:
    return cost.prompt_tokens, cost.completion_tokens, cost.cached_tokens


def _error(error: dict[str, Any]) -> ModelError:
    if error.get("type") == "exceed_context_size_error":
        return ContextLengthError(
            f"the prompt has {error['n_prompt_tokens']} tokens and the model's context {error['n_ctx']}; "
            "use a smaller schema form, or a model with a longer context"
        )
    return ModelError(f"llama.cpp refused the request: {error.get('message', 'no reason given')}")
