"""Services that lie: replies without end, of wrong types, with halves of characters, or with the key in disguise."""

from __future__ import annotations

import base64
import codecs
import gzip
import html
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from llm_service import SECRET, Said, Service

from extras import needs
from sqljury.errors import CancelledError, ModelError, ModelResponseError, ModelUnavailableError
from sqljury.llm.api import BACKENDS, ApiModel, Retry, open_api_model
from sqljury.llm.api import events as bounded
from sqljury.llm.api.spec import redactor
from sqljury.llm.base import Message, Reply, Sampling

needs("openai", "anthropic", "google.genai")

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("keys")]

ASK = [Message("user", "How many?")]
QUICK = 0.6
"""Seconds that a request may take."""
SOON = 8.0
"""Seconds within which the caller must be back, on however busy a machine."""


def opened(url: str, vendor: str, timeout: float = 20.0) -> ApiModel:
    path = "/v1" if vendor == "openai" else ""
    return open_api_model(f"{vendor}:m@{url}{path}", retry=Retry(attempts=2, sleep=lambda _: None), timeout=timeout)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n"
CHUNK = json.dumps({"choices": [{"index": 0, "delta": {"content": "a"}}]}).encode()
DRIPS = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
    "body": (HEAD % b"application/json" + b'{"choices": [', b" "),
    "comments": (HEAD % b"text/event-stream", b": still here\n\n"),
    "events": (HEAD % b"text/event-stream", b"data: " + CHUNK + b"\n\n"),
}


@pytest.fixture
def dripping() -> Iterator[Callable[[bytes, bytes, float], str]]:
    """From what is sent first, and then over and over with a pause between, to the address of such a server."""
    over = threading.Event()
    listening: list[socket.socket] = []

    def start(first: bytes, again: bytes, pause: float) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)

        def serve(line: socket.socket) -> None:
            try:
                line.recv(65536)
                line.sendall(first)
                while not over.wait(pause):
                    line.sendall(again)
            except OSError:
                pass
            finally:
                line.close()

        def accept() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(line,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield start
    over.set()
    for server in listening:
        server.shutdown(socket.SHUT_RDWR)  # ends the thread that waits in accept, which close alone would leave
        server.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("vendor", sorted(BACKENDS))
@pytest.mark.parametrize("drip", DRIPS)
def test_a_reply_that_drips_is_cut(dripping: Callable[..., str], vendor: str, drip: str, stream: bool) -> None:
    model = opened(dripping(*DRIPS[drip], 0.05), vendor, QUICK)
    began = time.monotonic()
    with pytest.raises(ModelError):
        model.complete(ASK, Sampling(), on_text=(lambda *_: None) if stream else None)
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("drip", DRIPS)
def test_a_dripping_reply_can_be_cancelled(dripping: Callable[..., str], drip: str) -> None:
    model, cancel = opened(dripping(*DRIPS[drip], 0.05), "openai", 600), threading.Event()
    threading.Timer(0.3, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(CancelledError):
        model.complete(ASK, Sampling(), cancel=cancel)
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("drip", ["body", "comments", "events"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_without_end_is_cut(
    dripping: Callable[..., str], monkeypatch: pytest.MonkeyPatch, drip: str, stream: bool
) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 1024**2)
    first, again = DRIPS[drip]
    model = opened(dripping(first, again * (65536 // len(again)), 0.0), "openai", 60)
    began = time.monotonic()
    with pytest.raises(ModelResponseError, match=r"longer than|max_tokens"):
        model.complete(ASK, Sampling(max_tokens=10), on_text=(lambda *_: None) if stream else None)
    assert time.monotonic() - began < 30


def test_a_compressed_reply_is_not_unpacked(dripping: Callable[..., str]) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"
    model = opened(dripping(head + gzip.compress(b" " * 10_000_000), b"", 1.0), "openai", 60)
    with pytest.raises(ModelResponseError, match="compressed"):
        model.complete(ASK, Sampling())


def chat(message: Any = None, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "SELECT 1"} if message is None else message
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    top = {name: fields.pop(name) for name in ("usage", "choices", "id", "model") if name in fields}
    return {"id": "x", "object": "chat.completion", "model": "m", "created": 1, "choices": [choice | fields]} | top


def asked(service: Service, body: Any, vendor: str = "openai", n: int = 1) -> Reply | ModelError:
    service.answers = [Said(body)]
    try:
        return opened(service.url, vendor).complete(ASK, Sampling(top_logprobs=2), n)
    except ModelError as error:
        return error


ODD = ["text", -1, 1e400, float("nan"), True, [], {}, [1], {"a": 1}, "NaN", "\ud800", None]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_log_probability_of_any_type_is_no_traceback(service: Service, odd: Any) -> None:
    token = {"token": "SELECT 1", "logprob": -0.5, "bytes": None, "top_logprobs": []}
    for logprobs in (
        {"content": [token | {"logprob": odd}]},
        {"content": [token | {"token": odd}]},
        {"content": [token | {"top_logprobs": odd}]},
        {"content": [token | {"top_logprobs": [{"token": "a", "logprob": odd}, odd]}]},
        {"content": odd},
        odd,
    ):
        reply = asked(service, chat(logprobs=logprobs))
        if isinstance(reply, Reply):
            [completion] = reply.completions
            assert completion.text == "SELECT 1"
            assert completion.logprob is None or isinstance(completion.logprob, int | float)
            json.dumps([completion.text, completion.tokens], ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_part_of_any_type_is_no_traceback(service: Service, odd: Any) -> None:
    bodies = [chat(**{name: odd}) for name in ("index", "finish_reason", "message", "usage", "choices", "id", "model")]
    bodies += [chat({"role": "assistant", "content": odd}), chat(choices=[odd]), odd]
    bodies += [chat(usage={"prompt_tokens": odd, "completion_tokens": odd, "prompt_tokens_details": odd})]
    block = {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    text = {"type": "text", "text": "SELECT 1"}
    claude = [block | {"content": odd, "usage": usage}, block | {"content": [text], "usage": odd}]
    claude += [block | {"content": [text | {"text": odd}], "usage": {"input_tokens": odd, "output_tokens": odd}}]
    google = [{"candidates": odd}, {"candidates": [{"content": {"parts": [{"text": odd}]}, "index": odd}]}]
    for vendor, said in (("openai", bodies), ("anthropic", claude), ("gemini", google)):
        for body in said:
            reply = asked(service, body, vendor)
            if isinstance(reply, Reply):
                assert all(isinstance(one.text, str) for one in reply.completions)
                assert reply.cost.prompt_tokens >= 0
                assert reply.cost.completion_tokens >= 0


@pytest.mark.parametrize("odd", ["1.2.3", "²", "1e999", "-1", "nan", "Thu, 99 Foo", "9" * 400, "\u0663"])
def test_an_error_of_any_form_is_no_traceback(service: Service, odd: str) -> None:
    service.answers = [
        Said({"error": {"code": odd, "message": [odd], "retryDelay": odd}}, 429, {"Retry-After": "1.2.3"})
    ]
    with pytest.raises(ModelError):
        opened(service.url, "openai").complete(ASK, Sampling())


def test_half_a_character_is_replaced_and_two_halves_are_one(service: Service) -> None:
    reply = asked(service, chat({"role": "assistant", "content": "SELECT '\ud800', '\ud83d\ude00'"}))
    assert isinstance(reply, Reply)
    assert reply.completions[0].text == "SELECT '\ufffd', '\U0001f600'"
    pieces = ["SELECT '", "\ud83d", "\ude00", "\udc00", "\ud800", "'", "\ud800"]
    events = [{"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]"]
    service.answers = [Said(events)]
    heard: list[str] = []
    text = opened(service.url, "openai").complete(ASK, Sampling(), on_text=lambda _, said: heard.append(said))
    assert text.completions[0].text == "SELECT '\U0001f600\ufffd\ufffd'\ufffd" == "".join(heard)


def disguises(key: str) -> dict[str, str]:
    raw = key.encode()
    return {
        "base64": base64.b64encode(raw).decode(),
        "base64 of a url": base64.urlsafe_b64encode(raw).decode().rstrip("="),
        **{f"base64 behind {n}": base64.b64encode(b"x" * n + raw + b"yz").decode() for n in (1, 2, 3)},
        "base32": base64.b32encode(raw).decode(),
        "hex": raw.hex(),
        "HEX": raw.hex(":").upper(),
        "percent": "".join(f"%{byte:02X}" for byte in raw),
        "quoted": quote(key, safe=""),
        "entities": "".join(f"&#{byte};" for byte in raw),
        "escapes": "".join(f"\\u{byte:04x}" for byte in raw),
        "backwards": key[::-1],
        "rot13": codecs.encode(key, "rot13"),
        "spaced": " ".join(key),
        "lines": f"{key[:9]}\n{key[9:]}",
        "halves": f"begins with {key[: len(key) // 2]} and ends with {key[len(key) // 2 :]}",
        "capitals": key.upper(),
        "html": html.escape(key),
        "list": str(list(raw)),
    }


@pytest.mark.parametrize("key", [SECRET, "Qw3rTy7uIoP0aSdF", "tiny/k+y"])
@pytest.mark.parametrize("form", disguises(SECRET))
def test_a_key_in_disguise_is_not_shown(key: str, form: str) -> None:
    if form == "halves" and len(key) < 16:
        pytest.skip("half of a key that short is no secret")
    text = redactor(key)(f"wrong API key: {disguises(key)[form]} (see the account page)")
    assert "[key]" in text
    rest = text.removeprefix("wrong API key: ").removesuffix(" (see the account page)").split("[key]")
    assert all(len(part.strip(" :;&#\\")) < 18 for part in rest), text
    assert disguises(key)[form] not in text


def test_what_is_no_key_is_left_alone() -> None:
    text = "The model gpt-5-mini does not exist; see https://platform.openai.com/account/api-keys (HTTP 404)."
    assert redactor(SECRET)(text) == text


def test_a_service_that_repeats_the_key_in_disguise(service: Service) -> None:
    for form in disguises(SECRET).values():
        service.answers = [Said({"error": {"message": f"no such key {form}"}}, 401)]
        with pytest.raises(ModelError) as caught:
            opened(service.url, "openai").complete(ASK, Sampling())
        assert form not in str(caught.value)


def test_a_reply_that_is_late_is_no_reply(dripping: Callable[..., str]) -> None:
    with pytest.raises(ModelUnavailableError, match="timed out"):
        opened(dripping(*DRIPS["events"], 0.05), "openai", QUICK).complete(ASK, Sampling(), on_text=lambda *_: None)
