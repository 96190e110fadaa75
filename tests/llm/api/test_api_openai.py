"""The OpenAI protocol against a service that answers as it is told."""

import logging
import threading
import time
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
from sqljury.llm.ledger import Ledger, Metered, Price

needs("openai")

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("keys")]

ASK = [Message("system", "Be brief."), Message("user", "How many?")]
FAST = Retry(sleep=lambda _: None)


def model(service: Service, **more: Any) -> ApiModel:
    return open_api_model(f"openai:m@{service.url}/v1", retry=more.pop("retry", FAST), **more)


def choice(text: str, index: int = 0, finish: str = "stop", logprobs: bool = False) -> dict[str, Any]:
    entries = [{"token": t, "logprob": -0.5, "top_logprobs": [{"token": t, "logprob": -0.5}]} for t in text.split()]
    return {
        "index": index,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text},
        "logprobs": {"content": entries} if logprobs else None,
    }


def usage(completion: int = 3, cached: int = 2) -> dict[str, Any]:
    return {
        "prompt_tokens": 5,
        "completion_tokens": completion,
        "total_tokens": 5 + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def said(*choices: dict[str, Any], **more: Any) -> Said:
    return Said({"id": "1", "object": "chat.completion", "choices": list(choices), "usage": usage()} | more)


def chunks(*texts: str, finish: str | None = "stop", index: int = 0) -> list[Any]:
    pieces: list[Any] = [{"choices": [{"index": index, "delta": {"content": t}}]} for t in texts]
    if finish:
        pieces.append({"choices": [{"index": index, "delta": {}, "finish_reason": finish}]})
    return pieces


def refused(message: str, status: int = 400, **more: Any) -> Said:
    return Said({"error": {"message": message, **more}}, status)


def test_a_reply_is_read(service: Service, keys: str) -> None:
    service.answers = [said(choice("SELECT 1", logprobs=True))]
    reply = model(service).complete(ASK, Sampling(max_tokens=9, seed=3, stop=(";",), top_logprobs=1, top_p=0.9))
    (completion,) = reply.completions
    assert completion.text == "SELECT 1"
    assert completion.tokens == (
        Token("SELECT", -0.5, (("SELECT", -0.5),)),
        Token("1", -0.5, (("1", -0.5),)),
    )
    cost = reply.cost
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.cached_tokens) == (1, 5, 3, 2)
    assert cost.seconds > 0
    (asked,) = service.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {keys}"
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}],
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 3,
        "stop": [";"],
        "logprobs": True,
        "top_logprobs": 1,
        "max_tokens": 9,
        "stream": False,
    }


def test_length_is_told_from_stop(service: Service) -> None:
    service.answers = [said(choice("SELECT", finish="length"))]
    assert model(service).complete(ASK, Sampling()).completions[0].finish_reason == "length"


def test_samples_come_in_one_request(service: Service) -> None:
    service.answers = [said(choice("a"), choice("b", 1))]
    reply = model(service).complete(ASK, Sampling(), 2)
    assert [c.text for c in reply.completions] == ["a", "b"]
    assert [asked.body["n"] for asked in service.asked] == [2]


def test_a_server_that_ignores_n_is_asked_again_with_other_seeds(service: Service) -> None:
    service.answers = [said(choice("a"))]
    opened = model(service)
    heard: list[tuple[int, str]] = []
    assert not opened.prompt_per_sample
    assert len(opened.complete(ASK, Sampling(seed=7), 3).completions) == 3
    assert service.asked[0].body["seed"] == 7
    assert len({asked.body["seed"] for asked in service.asked}) == 3
    assert opened.prompt_per_sample
    service.answers = [Said([*chunks("x"), "[DONE]"])]
    reply = opened.complete(ASK, Sampling(), 2, on_text=lambda i, t: heard.append((i, t)))
    assert heard == [(0, "x"), (1, "x")]
    assert reply.cost.calls == 1
    assert ["n" in asked.body for asked in service.asked] == [True] + [False] * 4


def test_a_server_that_refuses_n_is_asked_for_less(service: Service) -> None:
    service.answers = [
        refused("Field 'n': Value must be between 1 <= value <= 4, but got 6"),
        said(choice("a"), choice("b", 1), choice("c", 2)),
    ]
    reply = model(service).complete(ASK, Sampling(), 6)
    assert len(reply.completions) == 6
    assert [asked.body.get("n") for asked in service.asked] == [6, 3, 3]


def test_a_call_that_fails_part_way_has_cost_what_was_answered(service: Service) -> None:
    service.answers = [said(choice("a")), refused("the quota of this model is used up")]
    ledger = Ledger()
    opened = Metered(model(service), ledger, Price(input=1.0, output=1.0))
    with pytest.raises(ModelError) as caught:
        opened.complete(ASK, Sampling(), 3)
    assert caught.value.cost is not None
    assert (caught.value.cost.prompt_tokens, caught.value.cost.completion_tokens) == (5, 3)
    spent = ledger.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.cached_tokens) == (1, 5, 3, 2)
    assert spent.usd == pytest.approx(8e-6)
    service.answers = [said(choice("no JSON"))]
    with pytest.raises(ModelResponseError):
        opened.complete(ASK, Sampling(json_schema={"type": "object"}))
    assert (ledger.spent.calls, ledger.spent.prompt_tokens) == (2, 10)


def test_more_choices_than_asked_are_dropped(service: Service) -> None:
    service.answers = [said(choice("a"), choice("b", 1), choice("c", 2))]
    assert len(model(service).complete(ASK, Sampling(), 2).completions) == 2


def test_seeds_never_mean_a_random_one(service: Service) -> None:
    service.answers = [said(choice("a"))]
    for seed in (-1, 2**32 - 1):
        model(service).complete(ASK, Sampling(seed=seed))
    assert all(0 <= asked.body["seed"] < 2**31 for asked in service.asked)


def test_tokens_are_counted_where_the_server_counts_too_few(service: Service) -> None:
    service.answers = [said(choice("a b", logprobs=True), choice("c d", 1, logprobs=True))]
    assert model(service).complete(ASK, Sampling(), 2).cost.completion_tokens == 4


def test_costs_are_estimated_where_the_server_counts_nothing(service: Service) -> None:
    service.answers = [said(choice("some words"), usage=None)]
    cost = model(service).complete(ASK, Sampling()).cost
    assert cost.prompt_tokens == 6
    assert cost.completion_tokens == 3


@pytest.mark.parametrize(
    ("answer", "gone"),
    [
        (refused("Unsupported parameter: 'temperature' is not supported.", param="temperature"), {"temperature"}),
        (refused("logprobs are not supported with reasoning models"), {"logprobs", "top_logprobs"}),
        (refused("Unrecognized request argument supplied: seed", 422), {"seed"}),
        (refused("Unsupported parameter: 'stop'", param="stop"), {"stop"}),
    ],
)
def test_what_only_tunes_is_left_out_once_refused(
    service: Service, caplog: pytest.LogCaptureFixture, answer: Said, gone: set[str]
) -> None:
    service.answers = [answer, said(choice("SELECT 1; more"))]
    opened = model(service)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            (completion,) = opened.complete(ASK, Sampling(stop=(";",))).completions
            assert completion.text == "SELECT 1"
    first, second, third = (set(asked.body) for asked in service.asked)
    assert gone == first - second == first - third
    assert caplog.text.count("does not accept") == 1


def test_the_other_name_of_the_length_is_tried(service: Service) -> None:
    service.answers = [
        refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens"),
        said(choice("a")),
    ]
    model(service).complete(ASK, Sampling(max_tokens=9))
    assert service.asked[1].body["max_completion_tokens"] == 9
    assert "max_tokens" not in service.asked[1].body


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_a_json_schema_is_sent_and_the_reply_checked(service: Service) -> None:
    service.answers = [said(choice('{"a": 1}')), said(choice("Sure! Here it is"))]
    opened = model(service)
    assert opened.complete(ASK, Sampling(json_schema=SCHEMA)).completions[0].text == '{"a": 1}'
    sent = service.asked[0].body["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
    with pytest.raises(ModelResponseError, match="ignored the JSON schema"):
        opened.complete(ASK, Sampling(json_schema=SCHEMA))


def test_a_refused_constraint_is_an_error_not_a_free_reply(service: Service) -> None:
    service.answers = [refused("response_format is not supported", param="response_format")]
    with pytest.raises(ModelError, match="response_format is not supported"):
        model(service).complete(ASK, Sampling(json_schema=SCHEMA))
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("owner", "version", "expected"),
    [
        ("llamacpp", "", {"grammar": "G"}),
        ("vllm", "0.11.0", {"structured_outputs": {"grammar": "G"}}),
        ("vllm", "0.9.2", {"guided_grammar": "G"}),
    ],
)
def test_a_grammar_is_sent_as_the_server_wants_it(
    service: Service, owner: str, version: str, expected: dict[str, Any]
) -> None:
    service.get = {
        "/v1/models": Said({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]}),
        "/version": Said({"version": version}),
    }
    service.answers = [said(choice("a"))]
    model(service).complete(ASK, Sampling(grammar="G"))
    assert expected.items() <= service.asked[0].body.items()


@pytest.mark.parametrize("owner", ["library", "openai", None])
def test_a_grammar_that_would_be_ignored_is_an_error(service: Service, owner: str | None) -> None:
    if owner:
        service.get = {"/v1/models": Said({"data": [{"id": "m", "owned_by": owner}]})}
    with pytest.raises(ModelError, match="cannot keep to a grammar"):
        model(service).complete(ASK, Sampling(grammar="G"))
    assert service.asked == []


PREFILLED = [*ASK, Message("assistant", "```sql\nSELECT")]


@pytest.mark.parametrize("owner", ["llamacpp", "vllm", "library"])
@pytest.mark.parametrize("echo", ["", "```sql\nSELECT"])
def test_a_begun_reply_is_continued(service: Service, owner: str, echo: str) -> None:
    service.get = {"/v1/models": Said({"data": [{"id": "m", "owned_by": owner}]})}
    service.answers = [said(choice(echo + " 1"))]
    assert model(service).complete(PREFILLED, Sampling()).completions[0].text == " 1"
    body = service.asked[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": "```sql\nSELECT"}
    assert ("continue_final_message" in body) == (owner == "vllm")


@pytest.mark.parametrize("echo", ["", "```sql\nSELECT"])
def test_a_begun_reply_is_asked_for_in_words_elsewhere(service: Service, echo: str) -> None:
    heard: list[str] = []
    service.answers = [Said([*chunks(*(echo + " 1")), "[DONE]"])]
    reply = model(service).complete(PREFILLED, Sampling(), on_text=lambda _, text: heard.append(text))
    assert reply.completions[0].text == " 1" == "".join(heard)
    last = service.asked[0].body["messages"][-1]
    assert last["role"] == "user"
    assert last["content"].endswith("go on from there:\n```sql\nSELECT")


def test_a_begun_reply_and_a_schema_exclude_each_other(service: Service) -> None:
    with pytest.raises(ModelError, match="JSON schema"):
        model(service).complete(PREFILLED, Sampling(json_schema=SCHEMA))
    with pytest.raises(ModelError, match="grammar"):
        model(service).complete(PREFILLED, Sampling(grammar="G"))
    assert service.asked == []


def test_text_is_streamed_up_to_a_stop_string(service: Service) -> None:
    final = {"choices": [], "usage": usage(9)}
    service.answers = [Said([*chunks("SELECT", " 1 -", " 2 --", " no"), final, "[DONE]"]), refused("'stop'")]
    heard: list[tuple[int, str]] = []
    stops = ("a", "b", "c", "d", "--")  # one more than the protocol allows
    reply = model(service).complete(ASK, Sampling(stop=stops), on_text=lambda i, t: heard.append((i, t)))
    assert reply.completions[0].text == "SELECT 1 - 2 "
    assert "".join(text for _, text in heard) == "SELECT 1 - 2 "
    assert heard[0] == (0, "SELECT")
    assert reply.cost.completion_tokens == 9
    assert service.asked[0].body["stop"] == ["a", "b", "c", "d"]
    assert service.asked[0].body["stream_options"] == {"include_usage": True}


def test_interleaved_samples_are_told_apart(service: Service) -> None:
    first, second = chunks("a", "b"), chunks("x", "y", index=1)
    counts = {"choices": [], "usage": usage(2)}  # llama.cpp counts each of them apart
    mixed = [first[0], second[0], second[1], first[1], first[2], counts, second[2], counts, "[DONE]"]
    service.answers = [Said(mixed)]
    heard: list[tuple[int, str]] = []
    reply = model(service).complete(ASK, Sampling(), 2, on_text=lambda i, t: heard.append((i, t)))
    assert [c.text for c in reply.completions] == ["ab", "xy"]
    assert heard == [(0, "a"), (1, "x"), (1, "y"), (0, "b")]
    assert (reply.cost.prompt_tokens, reply.cost.completion_tokens) == (5, 4)


def test_cancelling_leaves_at_once_and_closes_the_connection(service: Service) -> None:
    cancel, hold = threading.Event(), threading.Event()
    service.answers = [Said([*chunks(*["word "] * 200), "[DONE]"], hold=hold)]
    service.answers[0].body[0:0] = chunks("first", finish=None)

    def stop(_: int, text: str) -> None:
        cancel.set()

    with pytest.raises(CancelledError):
        model(service).complete(ASK, Sampling(), on_text=stop, cancel=cancel)
    hold.set()

    silent = Said({}, hold=threading.Event())
    service.answers = [silent]
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(CancelledError):
        model(service).complete(ASK, Sampling(), cancel=cancel)
    assert time.monotonic() - began < 15
    assert silent.hold is not None
    silent.hold.set()


def test_an_error_in_on_text_is_the_callers_own(service: Service) -> None:
    service.answers = [Said([*chunks("a", "b"), "[DONE]"])]

    def fail(_: int, text: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model(service).complete(ASK, Sampling(), on_text=fail)


def test_transient_failures_are_tried_again(service: Service) -> None:
    waits: list[float] = []
    retry = Retry(first=1.0, jitter=lambda: 1.0, sleep=waits.append)
    service.answers = [
        Said({"error": {"message": "slow down"}}, 429, {"Retry-After": "9"}),
        refused("oops", 500),
        Said({}, broken=True),
        said(choice("a")),
    ]
    reply = model(service, retry=retry).complete(ASK, Sampling())
    assert reply.completions[0].text == "a"
    assert waits == [9.0, 2.0, 4.0]
    assert reply.cost.calls == 1
    assert len(service.asked) == 4


def test_the_vendors_library_does_not_try_again_itself(service: Service) -> None:
    service.answers = [refused("oops", 500)]
    with pytest.raises(ModelUnavailableError, match=r"HTTP 500: oops \(gave up after 3 attempts"):
        model(service, retry=Retry(attempts=3, sleep=lambda _: None)).complete(ASK, Sampling())
    assert len(service.asked) == 3


def test_nothing_is_shown_twice(service: Service) -> None:
    service.answers = [Said(chunks("half", finish=None)), said(choice("whole"))]
    heard: list[str] = []
    with pytest.raises(ModelUnavailableError, match="broke off"):
        model(service).complete(ASK, Sampling(), on_text=lambda _, text: heard.append(text))
    assert heard == ["half"]
    service.answers = [Said(chunks("half", finish=None)), Said([*chunks("whole"), "[DONE]"])]
    reply = model(service).complete(ASK, Sampling(), cancel=threading.Event())
    assert reply.completions[0].text == "whole"


def test_a_slow_server_times_out(service: Service) -> None:
    service.answers = [Said({}, hold=threading.Event())]
    with pytest.raises(ModelUnavailableError, match="timed out"):
        model(service, timeout=0.2, retry=Retry(attempts=1)).complete(ASK, Sampling())
    assert service.answers[0].hold is not None
    service.answers[0].hold.set()


def test_nobody_there(service: Service) -> None:
    gone = open_api_model("openai:m@http://127.0.0.1:9/v1", retry=Retry(attempts=2, sleep=lambda _: None))
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:9/v1: the connection failed"):
        gone.complete(ASK, Sampling())


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused("bad key", 401), ModelAuthError),
        (refused("too long", code="context_length_exceeded"), ContextLengthError),
        (refused("no such model", 404), ModelError),
        (Said("<html>hello</html>"), ModelResponseError),
        (Said("not json", headers={"X": "y"}), ModelResponseError),
        (Said({"choices": []}), ModelResponseError),
        (Said({"choices": None}), ModelResponseError),
        (Said({"choices": [None]}), ModelResponseError),
        (Said({"hello": "world"}), ModelResponseError),
        (Said({}, 302, {"Location": "http://127.0.0.1:9/"}), ModelError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_other_answers_are_errors_of_ours(service: Service, answer: Said, kind: type[ModelError], stream: bool) -> None:
    if stream and answer.status == 200 and isinstance(answer.body, dict):
        answer = Said([answer.body, "[DONE]"])
    service.answers = [answer]
    with pytest.raises(kind):
        model(service).complete(ASK, Sampling(), on_text=(lambda *_: None) if stream else None)


def test_a_choice_without_a_message(service: Service) -> None:
    service.answers = [Said({"choices": [{}]})]
    with pytest.raises(ModelResponseError):
        model(service).complete(ASK, Sampling())


def test_an_empty_count_is_no_error(service: Service) -> None:
    service.answers = [said(choice("a"), usage={})]
    assert model(service).complete(ASK, Sampling()).completions[0].text == "a"


def test_an_error_inside_of_a_stream(service: Service) -> None:
    error = {"error": {"message": "the model crashed", "type": "server_error", "code": 500}}
    service.answers = [Said([*chunks("a", finish=None), error])]
    with pytest.raises(ModelUnavailableError, match="the model crashed"):
        model(service).complete(ASK, Sampling(), on_text=lambda *_: None)


def test_a_filtered_reply_is_empty(service: Service) -> None:
    service.answers = [said(choice("") | {"message": {"content": None, "refusal": "no"}})]
    assert model(service).complete(ASK, Sampling(json_schema=SCHEMA)).completions[0].text == ""


def test_openai_itself_is_asked_in_its_newer_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_api_model("openai:gpt-x")
    fields = opened._fields.__func__  # type: ignore[attr-defined]
    from sqljury.llm.api.backend import Request

    sent = fields(opened, Request(tuple(ASK), Sampling(max_tokens=9), 1, False))
    assert sent["max_completion_tokens"] == 9
    assert str(opened._client.base_url) == "https://api.openai.com/v1/"
    with pytest.raises(ModelError, match="grammar"):
        opened.complete(ASK, Sampling(grammar="G"))


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"sqljury\[openai\]"):
        open_api_model("openai:m")


def test_tokens_are_estimated_without_a_request(service: Service) -> None:
    opened = model(service)
    assert opened.count_tokens("") == 0
    assert opened.count_tokens("SELECT count(*) FROM orders") == 8
    assert service.asked == []


def test_threads_that_are_refused_together_both_go_on(service: Service) -> None:
    hold = threading.Event()
    no = refused("Unsupported parameter: 'temperature'", param="temperature")
    no.hold = hold
    service.answers = [no, no, said(choice("a"))]
    opened = model(service)
    heard: list[str] = []

    def ask() -> None:
        heard.append(opened.complete(ASK, Sampling()).completions[0].text)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    while len(service.asked) < 2:
        time.sleep(0.01)
    hold.set()
    for thread in threads:
        thread.join(10)
    assert heard == ["a", "a"]
