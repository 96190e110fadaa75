"""Vendors' exceptions translated to failures, and when a failed request is sent again.

An exception is looked up by the names of its class and that class's bases. The vendors' root classes are left
out, so that a new kind is not mistaken for another: a test fails until it is listed here.
"""

from __future__ import annotations

import email.utils
import json
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqljury.errors import (
    CancelledError,
    ContextLengthError,
    ModelAuthError,
    ModelError,
    ModelResponseError,
    ModelUnavailableError,
    SqljuryError,
)
from sqljury.llm.api.events import whole


class Failure(NamedTuple):
    """Why a request failed: the kind of error, its text without keys, and whether trying again may help.

    ``status`` is the HTTP status or 0, ``parameter`` the field a server found fault with, ``retry_after`` the
    seconds it asked to wait. ``ours`` is set where the error was sqljury's own.
    """

    kind: type[ModelError]
    text: str
    transient: bool = False
    status: int = 0
    parameter: str = ""
    retry_after: float | None = None
    ours: SqljuryError | None = None


class Rule(NamedTuple):
    """What an exception class stands for; kind None means that the HTTP status decides."""

    kind: type[ModelError] | None
    transient: bool = False
    text: str = ""


_BY_STATUS = Rule(None)
_TIMEOUT = Rule(ModelUnavailableError, True, "the request timed out")
_CONNECTION = Rule(ModelUnavailableError, True, "the connection failed")
_AUTH = Rule(ModelAuthError)
_NO_COMPLETION = Rule(ModelResponseError)
_OTHER = Rule(ModelError)

RULES: Mapping[str, Rule] = {
    "openai.APIError": _BY_STATUS,  # also raised for errors inside of a stream
    "openai.APIStatusError": _BY_STATUS,
    "openai.APITimeoutError": _TIMEOUT,
    "openai.APIConnectionError": _CONNECTION,
    "openai.APIResponseValidationError": _NO_COMPLETION,
    "openai.LengthFinishReasonError": _NO_COMPLETION,
    "openai.ContentFilterFinishReasonError": _NO_COMPLETION,
    "openai.SubjectTokenProviderError": _AUTH,
    "openai.InvalidWebhookSignatureError": _OTHER,
    "openai._AmbiguousModuleClientUsageError": _OTHER,
    "openai.WebSocketConnectionClosedError": _CONNECTION,
    "openai.WebSocketQueueFullError": _OTHER,
    "anthropic.APIError": _BY_STATUS,
    "anthropic.APIStatusError": _BY_STATUS,
    "anthropic.APITimeoutError": _TIMEOUT,
    "anthropic.APIConnectionError": _CONNECTION,
    "anthropic.APIResponseValidationError": _NO_COMPLETION,
    "anthropic.APIWebhookValidationError": _OTHER,
    "anthropic.RetryableError": _CONNECTION,
    "anthropic.CredentialsError": _AUTH,
    "anthropic.WorkloadIdentityError": _AUTH,
    "google.APIError": _BY_STATUS,
    "google.UnknownApiResponseError": _NO_COMPLETION,
    "google.UnknownFunctionCallArgumentError": _OTHER,
    "google.UnsupportedFunctionError": _OTHER,
    "google.FunctionInvocationError": _OTHER,
    "google.ContinuationInterruptedError": _OTHER,
    "httpx2.TimeoutException": _TIMEOUT,
    "httpx2.TransportError": _CONNECTION,
    "httpx2.UnsupportedProtocol": _OTHER,
    "httpx2.HTTPStatusError": _BY_STATUS,
    "httpx2.DecodingError": _NO_COMPLETION,
    "httpx2.TooManyRedirects": _NO_COMPLETION,
    "httpx2.StreamError": _NO_COMPLETION,
    "httpx2.InvalidURL": _OTHER,
    "httpx2.CookieConflict": _OTHER,
    "pydantic_core.ValidationError": _NO_COMPLETION,
    "json.JSONDecodeError": _NO_COMPLETION,
}

_STATUS_OF_TYPE = {  # errors inside of a stream come without a status of their own
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "invalid_request_error": 400,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_TOO_LONG = re.compile(
    r"context.?length|context.?size|context window|maximum context|prompt is too long|"
    r"input token count .* exceeds|too many (input )?tokens",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|spend_limit|credit balance|billing", re.IGNORECASE)
_TRANSIENT_STATUS = {408, 409, 425, 429}
_LONGEST_TEXT = 400
_SECONDS = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"


def rule_of(kind: type[BaseException]) -> Rule | None:
    """The rule for an exception class, None for an unknown class."""
    names = (f"{base.__module__.split('.')[0]}.{base.__name__}" for base in kind.__mro__)
    return next((RULES[name] for name in names if name in RULES), None)


def translate(error: Exception, redact: Callable[[str], str]) -> Failure:
    """What ``error`` means; nothing of the exception itself is kept."""
    if isinstance(error.__cause__, SqljuryError):  # ours, in a vendor's wrapping
        error = error.__cause__
    if isinstance(error, ModelResponseError):  # ours too, from reading a reply
        return Failure(ModelResponseError, redact(str(error)))
    if isinstance(error, SqljuryError):
        return Failure(ModelError, str(error), ours=error)
    rule = rule_of(type(error))
    if rule is None:
        return Failure(ModelResponseError, _shorten(redact(f"{type(error).__name__}: {error}")))
    if rule.kind is None:
        return _by_status(error, redact)
    return Failure(rule.kind, rule.text or _shorten(redact(str(error))), rule.transient)


def _by_status(error: Exception, redact: Callable[[str], str]) -> Failure:
    detail = _detail(error)
    status = _status(error, detail)
    message = str(detail.get("message") or getattr(error, "message", None) or error)
    marks = f"{message} {detail.get('code')} {detail.get('type')} {detail.get('details')}"
    text = f"HTTP {status}: {message}" if status else message
    headers = getattr(getattr(error, "response", None), "headers", {})
    kind, transient = _kind(status, marks)
    return Failure(
        kind,
        _shorten(redact(text)),
        transient and headers.get("x-should-retry") != "false",
        status,
        redact(str(detail.get("param") or "")),
        _retry_after(headers, detail),
    )


def _kind(status: int, marks: str) -> tuple[type[ModelError], bool]:
    if status in (400, 413, 422, 500) and _TOO_LONG.search(marks):
        return ContextLengthError, False
    if status == 402 or (status == 429 and _NO_CREDIT.search(marks)):
        return ModelUnavailableError, False  # waiting brings no money
    if status in (401, 403) or (status == 400 and "API_KEY_INVALID" in marks):
        return ModelAuthError, False
    if status in _TRANSIENT_STATUS or status >= 500:
        return ModelUnavailableError, status not in (501, 505)
    return (ModelError, False) if 300 <= status < 500 else (ModelResponseError, False)


def _detail(error: Exception) -> Mapping[str, Any]:
    """The object that describes the error in the reply's body; vendors nest it differently."""
    body = getattr(error, "body", None) or getattr(error, "details", None)
    for _ in range(2):
        if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
            body = body["error"]
    return body if isinstance(body, Mapping) else {}


def _status(error: Exception, detail: Mapping[str, Any]) -> int:
    for status in (getattr(error, "status_code", None), getattr(error, "code", None), detail.get("code")):
        if re.fullmatch("[3-9][0-9]{2}", str(status)):
            return int(str(status))
    return _STATUS_OF_TYPE.get(str(detail.get("type")), 0)


def _retry_after(headers: Mapping[str, str], detail: Mapping[str, Any]) -> float | None:
    """Seconds from the headers (a number or a date) or from Google's RetryInfo."""
    if re.fullmatch(_SECONDS, milliseconds := headers.get("retry-after-ms", "")):
        return float(milliseconds) / 1000
    value = headers.get("retry-after", "")
    if re.fullmatch(_SECONDS, value):
        return float(value)
    if value:
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    match = re.search(rf'"retryDelay": "({_SECONDS})s"', json.dumps(detail, default=str))
    return float(match[1]) if match else None


def _shorten(text: str) -> str:
    text = " ".join(whole(text).split())
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff with jitter: waits of ``first`` seconds, doubled up to ``longest``.

    At most ``attempts`` requests are sent, and none later than ``total`` seconds after the first. ``sleep`` and
    ``jitter`` (a number between 0 and 1) are for tests.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 30.0
    total: float = 180.0
    sleep: Callable[[float], None] | None = None
    jitter: Callable[[], float] = random.random

    def wait(self, failed: int, elapsed: float, asked: float | None = None) -> float | None:
        """Seconds to wait after ``failed`` attempts, None to give up; ``asked`` is what Retry-After says."""
        if failed >= self.attempts:
            return None
        backoff = min(self.longest, self.first * 2 ** (failed - 1)) * (0.5 + self.jitter() / 2)
        seconds = max(backoff, asked or 0.0)
        return seconds if elapsed + seconds <= self.total else None

    def pause(self, seconds: float, cancel: threading.Event | None) -> None:
        """Wait; raises ``CancelledError`` as soon as ``cancel`` is set."""
        if self.sleep:
            self.sleep(seconds)
        elif cancel:
            cancel.wait(seconds)
        else:
            time.sleep(seconds)
        if cancel and cancel.is_set():
            raise CancelledError("The call was cancelled.")
