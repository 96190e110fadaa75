"""The backend of vLLM by contract: a stand-in has the signatures of vLLM's own classes, and refuses what they refuse.

vLLM needs a GPU; where it is installed, tests of the contract still use the stand-in.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sqljury.errors import CancelledError, ContextLengthError, MissingExtraError, ModelError, WeightsError
from sqljury.llm import vllm as backend
from sqljury.llm.base import Message, Sampling
from sqljury.llm.open import open_model
from sqljury.llm.vllm import VllmModel

ASKED = [Message("system", "schema"), Message("user", "how many")]


@dataclass
class StructuredOutputsParams:
    json: Any = None
    grammar: str | None = None


@dataclass
class SamplingParams:
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] | None = None
    max_tokens: int | None = 16
    logprobs: int | None = None
    structured_outputs: StructuredOutputsParams | None = None


@dataclass
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str


@dataclass
class Logprob:
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: list[int]
    logprobs: list[dict[int, Logprob]] | None
    finish_reason: str


@dataclass
class RequestOutput:
    request_id: str
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    finished: bool
    num_cached_tokens: int


class Tokenizer:
    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [len(word) for word in text.split()] + ([0] if add_special_tokens else [])

    def apply_chat_template(
        self,
        conversation: list[dict[str, str]],
        *,
        tokenize: bool = True,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        return_dict: bool = True,
    ) -> list[int]:
        assert tokenize
        assert not return_dict
        assert add_generation_prompt != continue_final_message
        text = " ".join(turn["content"] for turn in conversation)
        return self.encode(text, add_special_tokens=False) + [-1] * add_generation_prompt


@dataclass
class ModelConfig:
    max_model_len: int = 64


@dataclass
class LLMEngine:
    """Finishes every request two steps after it came; a step takes a while, as it does on a GPU."""

    model_config: ModelConfig = field(default_factory=ModelConfig)
    requests: dict[str, tuple[dict[str, Any], SamplingParams, LoRARequest | None]] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    aborted: list[str] = field(default_factory=list)
    largest: int = 0
    broken: bool = False

    def add_request(
        self,
        request_id: str,
        prompt: dict[str, Any],
        params: SamplingParams,
        arrival_time: float | None = None,
        lora_request: LoRARequest | None = None,
    ) -> None:
        if params.structured_outputs is not None and params.structured_outputs.grammar == "bad":
            raise ValueError("the grammar cannot be read")
        self.requests[request_id] = prompt, params, lora_request
        self.steps[request_id] = 0

    def abort_request(self, request_ids: list[str]) -> None:
        self.aborted += request_ids
        for name in request_ids:
            self.steps.pop(name, None)

    def step(self) -> list[RequestOutput]:
        time.sleep(0.05)
        if self.broken:
            raise RuntimeError("out of memory")
        self.largest = max(self.largest, len(self.steps))
        found = []
        for name in list(self.steps):
            prompt, params, _ = self.requests[name]
            if params.max_tokens == 63:  # never ends
                continue
            self.steps[name] += 1
            outputs = [self.output(index) for index in range(params.n)]
            finished = self.steps[name] == 2
            found.append(RequestOutput(name, prompt["prompt_token_ids"], outputs, finished, 1))
            if finished:
                del self.steps[name]
        return found

    def output(self, index: int) -> CompletionOutput:
        likely = {7: Logprob(-0.1, 1, "SELECT"), 8: Logprob(-2.5, 2, "WITH")}
        last = {9: Logprob(-0.2, 1, " 1"), 10: Logprob(-3.0, 2, " 2")}
        return CompletionOutput(index, "SELECT 1", [7, 9], [likely, last], "length" if index else "stop")


class LLM:
    made: list[LLM] = []  # noqa: RUF012

    def __init__(
        self,
        model: str,
        *,
        enable_lora: bool = False,
        max_lora_rank: int = 16,
        enable_prefix_caching: bool | None = None,
        seed: int = 0,
    ) -> None:
        if model == "missing":
            raise OSError("no such model")
        assert enable_lora
        self.llm_engine = LLMEngine()
        LLM.made.append(self)

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[LLM]]:
    modules = {name: ModuleType(name) for name in ("vllm", "vllm.lora", "vllm.lora.request", "vllm.sampling_params")}
    modules["vllm"].__dict__.update(LLM=LLM, SamplingParams=SamplingParams)
    modules["vllm.lora.request"].__dict__.update(LoRARequest=LoRARequest)
    modules["vllm.sampling_params"].__dict__.update(StructuredOutputsParams=StructuredOutputsParams)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    known = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "9.9" if name == "vllm" else known(name))
    LLM.made.clear()
    yield LLM
    for base in list(backend._SHARED):
        VllmModel(base).close()


def test_a_reply_has_its_tokens_and_its_cost(engine: type[LLM]) -> None:
    heard: list[tuple[int, str]] = []
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=20, seed=4, stop=(";",), top_logprobs=2)
    model = open_model("vllm:org/name", cache=False)
    reply = model.complete(ASKED, sampling, 2, on_text=lambda at, text: heard.append((at, text)))
    assert [one.text for one in reply.completions] == ["SELECT 1", "SELECT 1"]
    assert [one.finish_reason for one in reply.completions] == ["stop", "length"]
    first, second = reply.completions[0].tokens
    assert (first.text, first.logprob, second.text) == ("SELECT", -0.1, " 1")
    assert first.top == (("SELECT", -0.1), ("WITH", -2.5))
    cost = reply.cost
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.cached_tokens) == (1, 4, 4, 1)
    assert heard == [(0, "SELECT 1"), (1, "SELECT 1")]
    [(prompt, params, lora)] = engine.made[0].llm_engine.requests.values()
    assert prompt == {"prompt_token_ids": [6, 3, 4, -1]}
    assert params == SamplingParams(2, 0.5, 0.9, 0, 0.0, 4, [";"], 20, 2)
    assert lora is None
    assert model.name == "vllm:org/name"
    assert model.count_tokens("two words") == 2


def test_a_last_turn_of_the_assistant_is_continued(engine: type[LLM]) -> None:
    VllmModel("org/name").complete([*ASKED, Message("assistant", "SELECT")], Sampling(max_tokens=2))
    [(prompt, _, _)] = engine.made[0].llm_engine.requests.values()
    assert prompt == {"prompt_token_ids": [6, 3, 4, 6]}


def test_an_adapter_is_a_request_s_own(engine: type[LLM], tmp_path: Path) -> None:
    folder = tmp_path / "writer"
    folder.mkdir()
    with pytest.raises(WeightsError, match=r"peft's form"):
        open_model(f"vllm:org/name+{folder}", cache=False)
    (folder / "adapter_model.safetensors").write_bytes(b"numbers")
    adapted, plain = open_model(f"vllm:org/name+{folder}", cache=False), VllmModel("org/name")
    for model in (adapted, plain):
        model.complete(ASKED, Sampling(max_tokens=2))
    [made] = engine.made  # weights are shared
    first, second = [lora for _, _, lora in made.llm_engine.requests.values()]
    assert first is not None
    assert (first.lora_path, first.lora_int_id > 0, second) == (str(folder), True, None)
    assert adapted.name.startswith("vllm:org/name+writer@")
    assert "vllm 9.9" in adapted.identity  # type: ignore[attr-defined]


def test_what_many_threads_ask_is_batched(engine: type[LLM]) -> None:
    model = VllmModel("org/name")
    threads = [threading.Thread(target=model.complete, args=(ASKED, Sampling(max_tokens=2))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(engine.made[0].llm_engine.requests) == 8
    assert engine.made[0].llm_engine.largest > 1


def test_constraints_are_handed_on_and_refusals_come_back(engine: type[LLM]) -> None:
    model = VllmModel("org/name")
    model.complete(ASKED, Sampling(max_tokens=2, json_schema={"type": "object"}))
    model.complete(ASKED, Sampling(max_tokens=2, grammar="root ::= 'a'"))
    schema, grammar = [params for _, params, _ in engine.made[0].llm_engine.requests.values()]
    assert schema.structured_outputs == StructuredOutputsParams(json={"type": "object"})
    assert grammar.structured_outputs == StructuredOutputsParams(grammar="root ::= 'a'")
    with pytest.raises(ModelError, match="cannot be read"):
        model.complete(ASKED, Sampling(max_tokens=2, grammar="bad"))
    with pytest.raises(ContextLengthError, match=r"4 tokens, 61 may be written"):
        model.complete(ASKED, Sampling(max_tokens=61))
    engine.made[0].llm_engine.broken = True
    with pytest.raises(ModelError, match="out of memory"):
        model.complete(ASKED, Sampling(max_tokens=2))
    engine.made[0].llm_engine.broken = False
    assert model.complete(ASKED, Sampling(max_tokens=2)).completions


def test_a_cancelled_call_is_taken_back(engine: type[LLM]) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    asked = [Message("user", "x")]
    with pytest.raises(CancelledError):
        VllmModel("org/name").complete(asked[:0], Sampling(max_tokens=63), cancel=cancel)
    made = engine.made[0].llm_engine
    for _ in range(100):
        if made.aborted:
            break
        time.sleep(0.05)
    assert made.aborted == list(made.requests)


def test_weights_and_library_that_are_missing(engine: type[LLM], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WeightsError, match="could not load missing"):
        VllmModel("missing").complete(ASKED, Sampling())
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtraError, match=r"sqljury\[vllm\]"):
        VllmModel("other").complete(ASKED, Sampling())
