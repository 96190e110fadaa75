"""Models on this machine's GPUs by vLLM, offline: no server, no port.

vLLM batches what many threads ask at once by itself, sample by sample, and shares the prompts' common beginnings; so
ask it many questions at once (``bench run --batch``). One thread steps the engine, which takes no calls from several.
A reply may differ in its last digits, and then in its words, with what was batched beside it.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Unpack

from sqljury.errors import CancelledError, ContextLengthError, MissingExtraError, ModelError, WeightsError
from sqljury.llm.base import Completion, Message, Reply, Sampling, Streaming, Token
from sqljury.resources import sha256_of
from sqljury.types import Cost

PREFIX: Final = "vllm:"

MAX_LORA_RANK: Final = 64

_ADAPTER: Final = "adapter_model.safetensors"
_POLL_SECONDS: Final = 0.1


class VllmModel:
    """A model of the Hugging Face hub or a folder, behind the ``LanguageModel`` protocol; loaded on first use.

    ``adapter`` is a folder in peft's form, as training writes it. Models of one name share the weights, whatever their
    adapters. Raises ``WeightsError`` for a folder that holds no adapter.
    """

    def __init__(self, base: str, adapter: str = "") -> None:
        self._base = base
        self._adapter = Path(adapter).expanduser().resolve() if adapter else None
        self._digest = "" if self._adapter is None else _digest(self._adapter)

    @property
    def name(self) -> str:
        """The model, and its adapter with a mark that changes when the adapter does."""
        base = f"{PREFIX}{self._base}"
        return base if self._adapter is None else f"{base}+{self._adapter.name}@{self._digest[:8]}"

    @property
    def identity(self) -> str:
        """What else a reply depends on: the library, and the adapter's content."""
        return f"{self.name} {self._digest} vllm {_version()}".replace("  ", " ")

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer ``messages`` ``n`` times, in one request; texts are handed on whole, not as they come.

        Raises ``ContextLengthError`` for a prompt that does not fit, ``ModelError`` for what vLLM refuses,
        ``CancelledError`` once ``cancel`` is set.
        """
        started = time.perf_counter()
        engine = _engine(self._base)
        prompt = engine.prompt(messages)
        if len(prompt) + sampling.max_tokens > engine.context:
            raise ContextLengthError(
                f"the prompt has {len(prompt)} tokens, {sampling.max_tokens} may be written, and the model's context "
                f"is {engine.context}; use a smaller schema form, or a model with a longer context"
            )
        output = engine.ask(prompt, _parameters(sampling, n), self._lora(), streaming.get("cancel"))
        completions = tuple(_completion(completion, sampling.top_logprobs) for completion in output.outputs)
        on_text = streaming.get("on_text")
        for index, completion in enumerate(completions):
            if on_text is not None:
                on_text(index, completion.text)
        written = sum(len(completion.token_ids) for completion in output.outputs)
        cached = getattr(output, "num_cached_tokens", None) or 0
        return Reply(completions, Cost(1, len(prompt), written, cached, time.perf_counter() - started))

    def count_tokens(self, text: str) -> int:
        """The exact number of tokens of ``text``, by the model's own tokenizer."""
        return len(_engine(self._base).tokenizer.encode(text, add_special_tokens=False))

    def close(self) -> None:
        """Free the weights; every model that shares them loads them again when it is used again."""
        with _GUARD:
            engine = _SHARED.pop(self._base, None)
        if engine is not None:
            engine.close()

    def _lora(self) -> Any:
        if self._adapter is None:
            return None
        from vllm.lora.request import LoRARequest

        number = 1 + int(self._digest[:7], 16)  # vLLM tells adapters apart by it
        return LoRARequest(self._digest[:16], number, str(self._adapter))


@dataclass
class _Asked:
    """A request on its way: ``done`` is set when there is an output or an error."""

    prompt: list[int]
    parameters: Any
    lora: Any
    done: threading.Event = field(default_factory=threading.Event)
    output: Any = None
    error: BaseException | None = None
    cancelled: bool = False

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        self.error = error
        self.done.set()


class _Engine:
    """Loaded weights, stepped by a thread of its own as long as there are requests."""

    def __init__(self, base: str) -> None:
        try:
            from vllm import LLM
        except ImportError:
            raise MissingExtraError("vllm", "vllm") from None
        try:
            self._llm: Any = LLM(
                model=base, enable_lora=True, max_lora_rank=MAX_LORA_RANK, enable_prefix_caching=True, seed=0
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise WeightsError(f"vLLM could not load {base}: {' '.join(str(error).split())[:300]}") from error
        self.tokenizer = self._llm.get_tokenizer()
        self.context = int(self._llm.llm_engine.model_config.max_model_len)
        self._numbers = itertools.count()
        self._wanted: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._held: dict[str, _Asked] = {}
        threading.Thread(target=self._work, name="vllm", daemon=True).start()

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation; a last turn of the assistant is continued."""
        goes_on = bool(messages) and messages[-1].role == "assistant"
        turns = [{"role": role, "content": content} for role, content in messages]
        ids: list[int] = self.tokenizer.apply_chat_template(
            turns, tokenize=True, add_generation_prompt=not goes_on, continue_final_message=goes_on, return_dict=False
        )
        return list(ids)

    def ask(self, prompt: list[int], parameters: Any, lora: Any, cancel: threading.Event | None) -> Any:
        """The output of a request; it is taken back once ``cancel`` is set."""
        asked = _Asked(prompt, parameters, lora)
        self._wanted.put(asked)
        while not asked.done.wait(_POLL_SECONDS):
            if cancel is not None and cancel.is_set():
                asked.cancelled = True
                self._wanted.put(asked)
                raise CancelledError("stopped while the model was writing")
        if asked.error is not None:
            raise ModelError(f"vLLM failed: {' '.join(str(asked.error).split())[:300]}") from asked.error
        return asked.output

    def close(self) -> None:
        """End the thread, and with it the weights."""
        self._wanted.put(None)

    def _work(self) -> None:
        engine = self._llm.llm_engine
        while self._admit(engine):
            try:
                for output in engine.step():
                    if output.finished and (asked := self._held.pop(output.request_id, None)):
                        asked.output = output
                        asked.done.set()
            except Exception as error:
                self._fail(error)
        self._fail(ModelError("the model was closed while it was writing"))
        del self._llm

    def _fail(self, error: Exception) -> None:
        for asked in self._held.values():
            asked.fail(error)
        self._held.clear()

    def _admit(self, engine: Any) -> bool:
        """Hand over what has come; waits for something where nothing is under way. False at the end."""
        while True:
            try:
                wanted = self._wanted.get(block=not self._held)
            except queue.Empty:
                return True
            if wanted is None:
                return False
            if wanted.cancelled:
                names = [name for name, held in self._held.items() if held is wanted]
                engine.abort_request(names)
                self._held = {name: held for name, held in self._held.items() if held is not wanted}
                continue
            name = str(next(self._numbers))
            try:
                prompt = {"prompt_token_ids": wanted.prompt}
                engine.add_request(name, prompt, wanted.parameters, lora_request=wanted.lora)
                self._held[name] = wanted
            except Exception as error:
                wanted.fail(error)


# The one place where models know of each other: weights fill a GPU.
_SHARED: Final[dict[str, _Engine]] = {}
_GUARD: Final = threading.Lock()


def _engine(base: str) -> _Engine:
    with _GUARD:
        if base not in _SHARED:
            _SHARED[base] = _Engine(base)
        return _SHARED[base]


def _parameters(sampling: Sampling, n: int) -> Any:
    """The sampling in vLLM's terms: nothing that it would add by default, such as a model's own top-k."""
    from vllm import SamplingParams

    more: dict[str, Any] = {}
    if sampling.json_schema is not None or sampling.grammar is not None:
        from vllm.sampling_params import StructuredOutputsParams

        constraint: dict[str, Any] = {"grammar": sampling.grammar}
        if sampling.json_schema is not None:
            constraint = {"json": dict(sampling.json_schema)}
        more["structured_outputs"] = StructuredOutputsParams(**constraint)
    return SamplingParams(
        n=n,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=0,
        min_p=0.0,
        max_tokens=sampling.max_tokens,
        seed=sampling.seed,
        stop=list(sampling.stop),
        logprobs=max(1, sampling.top_logprobs),
        **more,
    )


def _completion(output: Any, top: int) -> Completion:
    tokens = []
    for token, likely in zip(output.token_ids, output.logprobs or (), strict=False):
        ranked = sorted(likely.values(), key=lambda token: -token.logprob)[:top]
        alternatives = tuple((str(token.decoded_token), float(token.logprob)) for token in ranked)
        tokens.append(Token(str(likely[token].decoded_token), float(likely[token].logprob), alternatives))
    return Completion(output.text, "length" if output.finish_reason == "length" else "stop", tuple(tokens))


def _digest(folder: Path) -> str:
    try:
        return sha256_of(folder / _ADAPTER)
    except OSError:
        raise WeightsError(
            f"{folder} holds no {_ADAPTER}; vLLM takes adapters in peft's form, as sqljury train writes them"
        ) from None


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vllm")
    except PackageNotFoundError:
        raise MissingExtraError("vllm", "vllm") from None
