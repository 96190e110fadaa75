"""Models behind a service: OpenAI-compatible servers, Anthropic, Gemini."""

from __future__ import annotations

from collections.abc import Callable

from sqljury.llm.api.anthropic_messages import AnthropicModel
from sqljury.llm.api.backend import ApiModel
from sqljury.llm.api.failures import Retry
from sqljury.llm.api.gemini import GeminiModel
from sqljury.llm.api.openai_chat import OpenAIChatModel
from sqljury.llm.api.spec import ApiSpec, parse_spec

__all__ = ["BACKENDS", "ApiModel", "ApiSpec", "Retry", "open_api_model", "parse_spec"]

BACKENDS: dict[str, Callable[..., ApiModel]] = {
    "anthropic": AnthropicModel,
    "gemini": GeminiModel,
    "openai": OpenAIChatModel,
}


def open_api_model(spec: str, *, retry: Retry | None = None, timeout: float = 600.0) -> ApiModel:
    """Open ``VENDOR:MODEL`` or ``VENDOR:MODEL@URL``; nothing is sent yet.

    ``timeout`` is the seconds after which a request has failed, whole reply and all. Raises ``InputError`` for a
    specification that cannot be read, ``ModelAuthError`` without a key, ``MissingExtraError`` without the
    vendor's library.
    """
    parsed = parse_spec(spec)
    return BACKENDS[parsed.vendor](parsed, retry=retry, timeout=timeout)
