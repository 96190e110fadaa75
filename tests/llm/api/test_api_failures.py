import email.utils
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras import Later, needs
from sqljury.errors import (
    CancelledError,
    ContextLengthError,
    ModelAuthError,
    ModelError,
    ModelResponseError,
    ModelUnavailableError,
)
from sqljury.llm.api.failures import Failure, Retry, rule_of, translate

LIBRARIES = ("openai", "anthropic", "google.genai.errors", "httpx2")
needs(*LIBRARIES)
openai, anthropic, google_errors, httpx2 = map(Later, LIBRARIES)


def public_exceptions() -> list[type[Exception]]:
    """Every exception class that the libraries show, and every kind of those."""
    # Only ever raised as one of their kinds.
    roots = {openai.OpenAIError, anthropic.AnthropicError, httpx2.HTTPError, httpx2.RequestError}
    found: set[type[Exception]] = set()
    for name in LIBRARIES:
        for _, value in inspect.getmembers(import_module(name), inspect.isclass):
            if issubclass(value, Exception) and not issubclass(value, Warning):
                root = value.__module__.split(".")[0]
                found |= {value} if root in ("openai", "anthropic", "google", "httpx2") else set()
    return sorted(found - roots, key=lambda kind: f"{kind.__module__}.{kind.__name__}")


def test_every_vendor_exception_is_mapped() -> None:
    kinds = public_exceptions()
    assert len(kinds) > 60
    unmapped = [kind for kind in kinds if rule_of(kind) is None]
    assert unmapped == [], "say in failures.RULES what these exceptions mean"


def plain(text: str) -> str:
    return text


def from_openai(status: int, body: Any, headers: dict[str, str] | None = None) -> Failure:
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:1")
    request = httpx2.Request("POST", "http://127.0.0.1:1")
    response = httpx2.Response(status, headers=headers, content=json.dumps(body), request=request)
    return translate(client._make_status_error_from_response(response), plain)


def from_anthropic(status: int, kind: str, message: str) -> Failure:
    client = anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:1")
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}})
    response = httpx2.Response(status, content=body, request=httpx2.Request("POST", "http://127.0.0.1:1"))
    return translate(client._make_status_error_from_response(response), plain)


def from_google(status: int, message: str, **details: Any) -> Failure:
    body = {"error": {"code": status, "message": message, "status": "SOME", **details}}
    with pytest.raises(google_errors.APIError) as caught:
        google_errors.APIError.raise_error(status, body, None)
    return translate(caught.value, plain)


def openai_body(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("failure", "kind", "transient"),
    [
        (lambda: from_openai(401, openai_body("no such key")), ModelAuthError, False),
        (lambda: from_openai(403, openai_body("not allowed")), ModelAuthError, False),
        (lambda: from_openai(404, openai_body("no such model")), ModelError, False),
        (lambda: from_openai(400, openai_body("bad", code="context_length_exceeded")), ContextLengthError, False),
        (
            lambda: from_openai(
                400, openai_body("exceeds the available context size", type="exceed_context_size_error")
            ),
            ContextLengthError,
            False,
        ),
        (lambda: from_openai(400, openai_body("bad field")), ModelError, False),
        (lambda: from_openai(408, openai_body("slow")), ModelUnavailableError, True),
        (lambda: from_openai(429, openai_body("slow down")), ModelUnavailableError, True),
        (lambda: from_openai(429, openai_body("no money", code="insufficient_quota")), ModelUnavailableError, False),
        (lambda: from_openai(500, openai_body("oops")), ModelUnavailableError, True),
        (lambda: from_openai(501, openai_body("never")), ModelUnavailableError, False),
        (lambda: from_openai(503, openai_body("loading")), ModelUnavailableError, True),
        (lambda: from_openai(503, openai_body("no"), {"x-should-retry": "false"}), ModelUnavailableError, False),
        (lambda: from_openai(307, "moved"), ModelError, False),
        (lambda: from_anthropic(401, "authentication_error", "invalid x-api-key"), ModelAuthError, False),
        (lambda: from_anthropic(402, "billing_error", "pay"), ModelUnavailableError, False),
        (lambda: from_anthropic(429, "rate_limit_error", "slow down"), ModelUnavailableError, True),
        (lambda: from_anthropic(529, "overloaded_error", "overloaded"), ModelUnavailableError, True),
        (lambda: from_anthropic(200, "overloaded_error", "inside of a stream"), ModelUnavailableError, True),
        (
            lambda: from_anthropic(400, "invalid_request_error", "prompt is too long: 9 tokens > 8"),
            ContextLengthError,
            False,
        ),
        (lambda: from_google(429, "quota"), ModelUnavailableError, True),
        (lambda: from_google(400, "bad", details=[{"reason": "API_KEY_INVALID"}]), ModelAuthError, False),
        (lambda: from_google(400, "The input token count (9) exceeds the maximum (8)"), ContextLengthError, False),
        (lambda: translate(httpx2.ReadTimeout("t"), plain), ModelUnavailableError, True),
        (lambda: translate(httpx2.ConnectError("t"), plain), ModelUnavailableError, True),
        (lambda: translate(httpx2.UnsupportedProtocol("t"), plain), ModelError, False),
        (lambda: translate(google_errors.UnknownApiResponseError("t"), plain), ModelResponseError, False),
        (lambda: translate(json.JSONDecodeError("t", "", 0), plain), ModelResponseError, False),
        (lambda: translate(AttributeError("choices"), plain), ModelResponseError, False),
    ],
)
def test_a_failure_is_the_most_specific_error(
    failure: Callable[[], Failure], kind: type[ModelError], transient: bool
) -> None:
    found = failure()
    assert found.kind is kind
    assert found.transient is transient


def test_the_servers_own_words_are_kept_short() -> None:
    assert from_openai(400, openai_body("no\n such  field")).text == "HTTP 400: no such field"
    assert len(from_openai(400, openai_body("x" * 5000)).text) == 400


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert from_openai(429, openai_body("slow"), headers).retry_after == seconds


def test_retry_after_may_be_a_date_or_googles_own() -> None:
    later = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert from_openai(429, openai_body("slow"), {"retry-after": later}).retry_after == pytest.approx(60, abs=3)
    failure = from_google(429, "slow", details=[{"@type": "RetryInfo", "retryDelay": "17.5s"}])
    assert failure.retry_after == 17.5


def test_waits_double_with_jitter_up_to_the_longest() -> None:
    calm = Retry(attempts=9, first=1.0, longest=5.0, total=100.0, jitter=lambda: 1.0)
    assert [calm.wait(failed, 0.0) for failed in (1, 2, 3, 4, 5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert Retry(first=1.0, jitter=lambda: 0.0).wait(1, 0.0) == 0.5
    assert calm.wait(9, 0.0) is None


def test_a_wait_asked_for_is_kept_unless_it_takes_too_long() -> None:
    retry = Retry(total=60.0)
    assert retry.wait(1, 0.0, 42.0) == 42.0
    assert retry.wait(1, 30.0, 42.0) is None


@given(st.integers(1, 20), st.floats(0, 1000), st.none() | st.floats(0, 1000), st.floats(0, 1))
def test_no_wait_passes_the_total(failed: int, elapsed: float, asked: float | None, jitter: float) -> None:
    wait = Retry(jitter=lambda: jitter).wait(failed, elapsed, asked)
    assert wait is None or (elapsed + wait <= 180.0 and wait >= (asked or 0.0))


def test_a_pause_ends_when_cancelled() -> None:
    cancel = threading.Event()
    threading.Timer(0.05, cancel.set).start()
    with pytest.raises(CancelledError):
        Retry().pause(20.0, cancel)


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, sqljury.llm.api, sqljury.llm.fake, sqljury.llm.cache, sqljury.llm.ledger; "
        "print([m for m in ('openai', 'anthropic', 'google', 'httpx2', 'pydantic') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
