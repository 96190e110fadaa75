"""Google's own library against a service that speaks its protocol."""

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
from sqljury.llm.base import Message, Sampling, Token

needs("google.genai")

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("keys")]

ASK = [Message("system", "Be brief."), Message("user", "How many?")]
USAGE = {
    "promptTokenCount": 5,
    "candidatesTokenCount": 3,
    "thoughtsTokenCount": 10,
    "cachedContentTokenCount": 2,
    "totalTokenCount": 18,
}


def model(service: Service) -> ApiModel:
    return open_api_model(f"gemini:m@{service.url}", retry=Retry(attempts=3, sleep=lambda _: None))


def candidate(text: str, index: int = 0, reason: str | None = "STOP") -> dict[str, Any]:
    parts = [{"text": "hm", "thought": True}, {"text": text}]
    return {"index": index, "content": {"role": "model", "parts": parts}, "finishReason": reason}


def said(*candidates: dict[str, Any]) -> Said:
    return Said({"candidates": list(candidates), "usageMetadata": USAGE})


def refused(text: str, status: int = 400, **more: Any) -> Said:
    return Said({"error": {"code": status, "message": text, "status": "INVALID_ARGUMENT", **more}}, status)


def test_a_reply_is_read(service: Service, keys: str) -> None:
    logprobs = {
        "chosenCandidates": [{"token": "SELECT", "logProbability": -0.5}, {"token": " 1", "logProbability": -1}],
        "topCandidates": [
            {"candidates": [{"token": "SELECT", "logProbability": -0.5}, {"token": "WITH", "logProbability": -2}]}
        ],
    }
    service.answers = [said(candidate("SELECT 1") | {"logprobsResult": logprobs})]
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=9, seed=3, stop=(";",), top_logprobs=2)
    reply = model(service).complete(ASK, sampling)
    (completion,) = reply.completions
    assert completion.text == "SELECT 1"
    assert completion.tokens == (Token("SELECT", -0.5, (("SELECT", -0.5), ("WITH", -2.0))), Token(" 1", -1.0))
    cost = reply.cost
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.cached_tokens) == (1, 5, 13, 2)
    (asked,) = service.asked
    assert asked.path == "/v1/models/m:generateContent"
    assert asked.headers["x-goog-api-key"] == keys
    assert asked.body["contents"] == [{"role": "user", "parts": [{"text": "How many?"}]}]
    assert asked.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert asked.body["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "seed": 3,
        "maxOutputTokens": 9,
        "stopSequences": [";"],
        "responseLogprobs": True,
        "logprobs": 2,
    }


def test_several_samples_come_in_one_request_where_the_model_can(service: Service) -> None:
    service.answers = [said(candidate("a"), candidate("b", 1))]
    assert [c.text for c in model(service).complete(ASK, Sampling(), 2).completions] == ["a", "b"]
    assert service.asked[0].body["generationConfig"]["candidateCount"] == 2


def test_else_they_are_asked_for_one_by_one(service: Service) -> None:
    service.answers = [refused("Multiple candidates is not enabled for this model"), said(candidate("a"))]
    assert len(model(service).complete(ASK, Sampling(), 2).completions) == 2
    assert len({asked.body["generationConfig"]["seed"] for asked in service.asked[1:]}) == 2


def test_log_probabilities_are_left_out_once_refused(service: Service) -> None:
    service.answers = [refused("Logprobs is not enabled for models/m"), said(candidate("a"))]
    opened = model(service)
    for _ in range(2):
        assert opened.complete(ASK, Sampling()).completions[0].tokens == ()
    assert ["responseLogprobs" in asked.body["generationConfig"] for asked in service.asked] == [True, False, False]


def test_text_is_streamed(service: Service) -> None:
    parts = [{"candidates": [candidate(t, reason=r)], "usageMetadata": USAGE} for t, r in (("a", None), ("b", "STOP"))]
    service.answers = [Said(parts)]
    heard: list[tuple[int, str]] = []
    reply = model(service).complete(ASK, Sampling(), on_text=lambda i, t: heard.append((i, t)))
    assert heard == [(0, "a"), (0, "b")]
    assert reply.completions[0].text == "ab"
    assert reply.cost.completion_tokens == 13
    assert service.asked[0].path == "/v1/models/m:streamGenerateContent?alt=sse"


def test_a_call_is_cancelled(service: Service) -> None:
    cancel = threading.Event()
    service.answers = [Said([{"candidates": [candidate(t)]} for t in "ab"])]
    with pytest.raises(CancelledError):
        model(service).complete(ASK, Sampling(), on_text=lambda *_: cancel.set(), cancel=cancel)


def test_a_json_schema_is_sent(service: Service) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    service.answers = [said(candidate('{"a": 1}'))]
    model(service).complete(ASK, Sampling(json_schema=schema))
    config = service.asked[0].body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == schema


def test_a_grammar_is_an_error(service: Service) -> None:
    with pytest.raises(ModelError, match="cannot keep to a grammar"):
        model(service).complete(ASK, Sampling(grammar="G"))
    assert service.asked == []


def test_a_begun_reply_is_asked_for_in_words(service: Service) -> None:
    service.answers = [said(candidate("```sql\nSELECT 1"))]
    reply = model(service).complete([*ASK, Message("assistant", "```sql\n")], Sampling())
    assert reply.completions[0].text == "SELECT 1"
    (turn,) = service.asked[0].body["contents"]
    assert turn["role"] == "user"
    assert turn["parts"][0]["text"].endswith("```sql\n")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused("API key not valid.", details=[{"reason": "API_KEY_INVALID"}]), ModelAuthError),
        (refused("The input token count (9) exceeds the maximum number of tokens allowed (8)."), ContextLengthError),
        (refused("models/m is not found", 404), ModelError),
        (refused("The model is overloaded", 503), ModelUnavailableError),
        (Said("<html>"), ModelResponseError),
        (Said({"promptFeedback": {"blockReason": "SAFETY"}}), ModelResponseError),
        (Said({"hello": "world"}), ModelResponseError),
        (Said([{"candidates": [candidate("a", reason=None)]}]), ModelUnavailableError),
    ],
)
def test_other_answers_are_errors_of_ours(service: Service, answer: Said, kind: type[ModelError]) -> None:
    service.answers = [answer]
    with pytest.raises(kind):
        model(service).complete(ASK, Sampling(), cancel=threading.Event() if isinstance(answer.body, list) else None)
    assert len(service.asked) == (3 if kind is ModelUnavailableError else 1)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "google", None)
    with pytest.raises(MissingExtraError, match=r"sqljury\[gemini\]"):
        open_api_model("gemini:m")
