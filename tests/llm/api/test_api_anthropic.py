"""Anthropic's own library against a service that speaks its protocol."""

import threading
from typing import Any

import pytest
from llm_service import Said, Service

from extras import needs
from sqljury.errors import (
    CancelledError,
    ContextLengthError,
    MissingExtraError,
    ModelAuthError,
    ModelError,
    ModelResponseError,
    ModelUnavailableError,
)
from sqljury.llm.api import ApiModel, Retry, open_api_model
from sqljury.llm.base import Message, Sampling

needs("anthropic")

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("keys")]

ASK = [Message("system", "Be brief."), Message("user", "How many?")]


def model(service: Service) -> ApiModel:
    return open_api_model(f"anthropic:m@{service.url}", retry=Retry(attempts=3, sleep=lambda _: None))


def message(text: str, reason: str = "end_turn") -> Said:
    return Said(
        {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": text}],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 5,
                "output_tokens": 3,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 1,
            },
        }
    )


def events(*texts: str, reason: str = "end_turn") -> list[Any]:
    start = message("").body | {"content": [], "stop_reason": None}
    start["usage"] = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 4}
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}} for t in texts),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]


def refused(text: str, status: int = 400, kind: str = "invalid_request_error") -> Said:
    return Said({"type": "error", "error": {"type": kind, "message": text}}, status)


def test_a_reply_is_read(service: Service, keys: str) -> None:
    service.answers = [message("SELECT 1")]
    reply = model(service).complete(ASK, Sampling(temperature=1.5, top_p=0.9, max_tokens=9, seed=3, stop=(";", "\n\n")))
    (completion,) = reply.completions
    assert (completion.text, completion.finish_reason, completion.tokens) == ("SELECT 1", "stop", ())
    cost = reply.cost
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.cached_tokens) == (1, 10, 3, 4)
    (asked,) = service.asked
    assert asked.path == "/v1/messages"
    assert asked.headers["authorization"] == f"Bearer {keys}"
    assert asked.body == {
        "model": "m",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "How many?"}],
        "max_tokens": 9,
        "stop_sequences": [";"],
        "temperature": 1.0,
        "top_p": 0.9,
        "stream": False,
    }


def test_a_blank_stop_string_is_applied_here(service: Service) -> None:
    service.answers = [message("one\n\ntwo")]
    assert model(service).complete(ASK, Sampling(stop=("\n\n",))).completions[0].text == "one"
    assert "stop_sequences" not in service.asked[0].body


def test_length_is_told_from_stop(service: Service) -> None:
    service.answers = [message("SELECT", "max_tokens")]
    assert model(service).complete(ASK, Sampling()).completions[0].finish_reason == "length"


def test_each_sample_is_a_request(service: Service) -> None:
    service.answers = [message("a"), message("b"), message("c")]
    opened = model(service)
    assert opened.prompt_per_sample
    reply = opened.complete(ASK, Sampling(temperature=0.8), 3)
    assert [c.text for c in reply.completions] == ["a", "b", "c"]
    assert (reply.cost.calls, reply.cost.completion_tokens) == (1, 9)


def test_text_is_streamed(service: Service) -> None:
    service.answers = [Said(events("SELECT", " 1"))]
    heard: list[tuple[int, str]] = []
    reply = model(service).complete(ASK, Sampling(), 2, on_text=lambda i, t: heard.append((i, t)))
    assert [c.text for c in reply.completions] == ["SELECT 1", "SELECT 1"]
    assert heard == [(0, "SELECT"), (0, " 1"), (1, "SELECT"), (1, " 1")]
    cost = reply.cost
    assert (cost.prompt_tokens, cost.completion_tokens, cost.cached_tokens) == (18, 14, 8)


def test_a_call_is_cancelled(service: Service) -> None:
    cancel = threading.Event()
    service.answers = [Said(events("a", "b"))]
    with pytest.raises(CancelledError):
        model(service).complete(ASK, Sampling(), on_text=lambda *_: cancel.set(), cancel=cancel)


def test_sampling_fields_are_left_out_once_refused(service: Service) -> None:
    service.answers = [
        refused("`temperature` and `top_p` cannot both be specified for this model"),
        refused("`temperature` is deprecated for this model"),
        message("a"),
    ]
    opened = model(service)
    for _ in range(2):
        opened.complete(ASK, Sampling(top_p=0.5))
    assert ["top_p" in asked.body for asked in service.asked] == [True, False, False, False]
    assert ["temperature" in asked.body for asked in service.asked] == [True, True, False, False]


def test_a_json_schema_is_sent(service: Service) -> None:
    schema = {"type": "object", "additionalProperties": False}
    service.answers = [message("{}")]
    model(service).complete(ASK, Sampling(json_schema=schema))
    assert service.asked[0].body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}


def test_a_grammar_is_an_error(service: Service) -> None:
    with pytest.raises(ModelError, match="cannot keep to a grammar"):
        model(service).complete(ASK, Sampling(grammar="G"))
    assert service.asked == []


PREFILLED = [*ASK, Message("assistant", "```sql\n")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_begun_reply_is_continued(service: Service, stream: bool) -> None:
    service.answers = [Said(events("\n", "SELECT 1")) if stream else message("\nSELECT 1")]
    reply = model(service).complete(PREFILLED, Sampling(), cancel=threading.Event() if stream else None)
    assert reply.completions[0].text == "SELECT 1"
    assert service.asked[0].body["messages"][-1] == {"role": "assistant", "content": "```sql"}


def test_newer_models_are_asked_in_words(service: Service) -> None:
    service.answers = [refused("This model does not support assistant message prefill."), message("```sql\nSELECT 1")]
    opened = model(service)
    for _ in range(2):
        assert opened.complete(PREFILLED, Sampling()).completions[0].text == "SELECT 1"
    assert [asked.body["messages"][-1]["role"] for asked in service.asked] == ["assistant", "user", "user"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused("invalid x-api-key", 401, "authentication_error"), ModelAuthError),
        (refused("prompt is too long: 9 tokens > 8 maximum"), ContextLengthError),
        (refused("model: m", 404, "not_found_error"), ModelError),
        (refused("Overloaded", 529, "overloaded_error"), ModelUnavailableError),
        (Said("<html>"), ModelResponseError),
        (Said({"hello": "world"}), ModelResponseError),
        (Said({"content": [None]}), ModelResponseError),
        (Said([*events("a")[:4], refused("Overloaded", 529, "overloaded_error").body]), ModelUnavailableError),
        (Said(events("a")[:4]), ModelUnavailableError),
    ],
)
def test_other_answers_are_errors_of_ours(service: Service, answer: Said, kind: type[ModelError]) -> None:
    service.answers = [answer]
    with pytest.raises(kind):
        model(service).complete(ASK, Sampling(), cancel=threading.Event() if isinstance(answer.body, list) else None)
    assert len(service.asked) == (3 if kind is ModelUnavailableError else 1)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anthropic", None)
    with pytest.raises(MissingExtraError, match=r"sqljury\[anthropic\]"):
        open_api_model("anthropic:m")
