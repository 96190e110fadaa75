"""The OpenAI protocol against llama.cpp's own server with the real weights."""

import json
import threading
import time

import pytest

from extras import needs
from sqljury.errors import CancelledError, ContextLengthError, ModelAuthError, ModelError
from sqljury.llm.api import ApiModel, open_api_model
from sqljury.llm.base import LanguageModel, Message, Sampling

needs("openai")

pytestmark = [pytest.mark.weights, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]

ASK = [Message("user", "Write SQL that counts the rows of the table orders.")]
WARM = Sampling(temperature=0.8, max_tokens=8, seed=5)


@pytest.fixture
def model(llama_server: str, keys: str) -> ApiModel:
    return open_api_model(f"openai:qwen@{llama_server}/v1")


def test_a_greedy_reply_has_tokens_that_make_it_up(model: ApiModel) -> None:
    assert isinstance(model, LanguageModel)
    sampling = Sampling(max_tokens=8, top_logprobs=3)
    reply = model.complete(ASK, sampling)
    (completion,) = reply.completions
    assert completion.finish_reason == "length"
    assert "".join(token.text for token in completion.tokens) == completion.text
    assert len(completion.tokens) == 8
    assert all(token.logprob <= 0 and len(token.top) == 3 for token in completion.tokens)
    assert all(token.top[0] == (token.text, token.logprob) for token in completion.tokens), "greedy takes the likeliest"
    assert reply.cost.prompt_tokens > 10
    assert model.complete(ASK, sampling).cost.cached_tokens > 0


def test_samples_are_counted_in_full_and_repeat_with_the_seed(model: ApiModel) -> None:
    first, second = (model.complete(ASK, WARM, 4) for _ in range(2))
    texts = [completion.text for completion in first.completions]
    assert len(texts) == 4
    assert len(set(texts)) > 1
    assert texts == [completion.text for completion in second.completions]
    assert first.cost.completion_tokens == sum(len(c.tokens) for c in first.completions) > 8
    assert first.cost.calls == 1


def test_more_samples_than_slots_take_several_requests(model: ApiModel) -> None:
    reply = model.complete(ASK, Sampling(temperature=0.8, max_tokens=3, seed=1), 6)
    assert len(reply.completions) == 6
    assert model.most_samples < 6


def test_streamed_and_whole_replies_are_the_same(model: ApiModel) -> None:
    heard = ["", ""]

    def listen(index: int, text: str) -> None:
        heard[index] += text

    streamed = model.complete(ASK, WARM, 2, on_text=listen)
    whole = model.complete(ASK, WARM, 2)
    assert heard == [c.text for c in streamed.completions] == [c.text for c in whole.completions]
    assert streamed.cost.completion_tokens == whole.cost.completion_tokens == 16


def test_a_reply_ends_before_a_stop_string(model: ApiModel) -> None:
    (completion,) = model.complete(ASK, Sampling(max_tokens=30, stop=("COUNT", "count"))).completions
    assert completion.finish_reason == "stop"
    assert "count" not in completion.text.lower()


@pytest.mark.parametrize("stream", [False, True])
def test_a_begun_reply_is_continued(model: ApiModel, stream: bool) -> None:
    messages = [*ASK, Message("assistant", "```sql\nSELECT")]
    cancel = threading.Event() if stream else None
    (completion,) = model.complete(messages, Sampling(max_tokens=6), cancel=cancel).completions
    assert completion.text.lower().lstrip().startswith("count(*)")
    assert "".join(token.text for token in completion.tokens).startswith(completion.text[:6])


def test_a_grammar_holds(model: ApiModel) -> None:
    reply = model.complete(ASK, Sampling(grammar='root ::= "yes" | "no"', max_tokens=4, temperature=1.0), 2)
    assert {completion.text for completion in reply.completions} <= {"yes", "no"}


def test_a_json_schema_holds(model: ApiModel) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    (completion,) = model.complete(ASK, Sampling(json_schema=schema, max_tokens=20)).completions
    assert set(json.loads(completion.text)) == {"ok"}


@pytest.mark.parametrize(
    "sampling", [Sampling(grammar="root ::= ("), Sampling(json_schema={"type": "nonsense"})], ids=["grammar", "schema"]
)
def test_a_constraint_that_cannot_be_read_is_an_error(model: ApiModel, sampling: Sampling) -> None:
    with pytest.raises(ModelError, match="HTTP 400"):
        model.complete(ASK, sampling)


def test_a_cancelled_reply_leaves_the_server_free(model: ApiModel) -> None:
    cancel = threading.Event()
    with pytest.raises(CancelledError):
        model.complete(ASK, Sampling(max_tokens=1500), 4, on_text=lambda *_: cancel.set(), cancel=cancel)
    began = time.monotonic()
    assert len(model.complete(ASK, Sampling(max_tokens=2), 4).completions) == 4
    assert time.monotonic() - began < 20, "four slots would be busy for longer if the server went on"


def test_a_long_prompt_is_told_apart(model: ApiModel) -> None:
    with pytest.raises(ContextLengthError, match="exceeds the available context size"):
        model.complete([Message("user", "word " * 5000)], Sampling(max_tokens=2))


def test_a_wrong_key_is_told_apart(llama_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLJURY_API_KEY", "sk-not-the-right-one")
    with pytest.raises(ModelAuthError) as caught:
        open_api_model(f"openai:qwen@{llama_server}/v1").complete(ASK, WARM)
    assert "sk-not-the-right-one" not in str(caught.value)
