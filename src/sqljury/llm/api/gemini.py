"""Gemini, through Google's library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqljury.errors import MissingExtraError, ModelResponseError
from sqljury.llm.api.backend import ApiModel, Request, begin_with
from sqljury.llm.api.events import Event, Piece, Usage, hooks
from sqljury.llm.api.failures import Failure
from sqljury.llm.base import Token

_DEFAULT_URL = "https://generativelanguage.googleapis.com/"
_MOST_SAMPLES = 8
_MOST_STOPS = 5
_MOST_TOP = 20


class GeminiModel(ApiModel):
    """A Gemini model behind the Gemini API.

    Several samples a request and log-probabilities where the model has them; no grammar. A begun reply is asked
    for in words, since the service answers with a new turn.
    """

    optional = ("logprobs", "seed", "top_p", "temperature")

    def _connect(self, key: str, timeout: float) -> Any:
        try:
            from google import genai
        except ImportError:
            raise MissingExtraError("google-genai", "gemini") from None
        self.most_samples = _MOST_SAMPLES
        return genai.Client(
            vertexai=False,
            api_key=key,
            http_options={
                "base_url": self.spec.base_url or _DEFAULT_URL,
                "timeout": int(timeout * 1000),
                "retry_options": {"attempts": 1},
                "client_args": {"follow_redirects": False, "event_hooks": hooks(timeout)},
            },
        )

    def _events(self, request: Request) -> Iterator[Event]:
        models = self._client.models
        ask = models.generate_content_stream if request.stream else models.generate_content
        fields = self._fields(request)
        answers = ask(**fields) if request.stream else [ask(**fields)]
        for answer in answers:
            yield from _read(answer, request)

    def _refuses_samples(self, failure: Failure) -> bool:
        return re.search("candidate", failure.text, re.IGNORECASE) is not None

    def _adapt(self, failure: Failure, request: Request) -> bool:
        if "logprobs" not in self.refused and failure.status == 400 and re.search("(?i)logprobs", failure.text):
            self.refused |= {"logprobs"}
            return True
        return super()._adapt(failure, request)

    def _fields(self, request: Request) -> dict[str, Any]:
        sampling = request.sampling
        self._refuse_grammar(sampling)
        config: dict[str, Any] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p if sampling.top_p != 1.0 else None,
            "seed": sampling.seed,
        }
        config = {name: value for name, value in config.items() if name not in self.refused}
        if "logprobs" not in self.refused:
            config |= {"response_logprobs": True, "logprobs": min(sampling.top_logprobs, _MOST_TOP) or None}
        if sampling.json_schema is not None:
            config |= {
                "response_mime_type": "application/json",
                "response_json_schema": dict(sampling.json_schema),
            }
        config |= {
            "max_output_tokens": sampling.max_tokens,
            "stop_sequences": list(sampling.stop[:_MOST_STOPS]) or None,
            "candidate_count": request.n if request.n > 1 else None,
            "system_instruction": "\n\n".join(m.content for m in request.messages if m.role == "system") or None,
            "automatic_function_calling": {"disable": True},
        }
        turns = [message for message in request.messages if message.role != "system"]
        contents = [
            {"role": "model" if role == "assistant" else "user", "parts": [{"text": content}]}
            for role, content in begin_with(turns, request.prefix)
        ]
        return {"model": self.spec.model, "contents": contents, "config": config}


def _read(answer: Any, request: Request) -> Iterator[Event]:
    candidates = getattr(answer, "candidates", None) or []
    blocked = getattr(getattr(answer, "prompt_feedback", None), "block_reason", None)
    if not candidates and blocked:
        raise ModelResponseError(f"the service refused the prompt: {getattr(blocked, 'value', blocked)}")
    for position, candidate in enumerate(candidates):
        parts = getattr(candidate.content, "parts", None) or []
        reason = getattr(candidate.finish_reason, "value", candidate.finish_reason)
        yield Piece(
            candidate.index if candidate.index is not None else position,
            "".join(part.text or "" for part in parts if not part.thought),
            _tokens(candidate.logprobs_result, request.sampling.top_logprobs),
            ("length" if reason == "MAX_TOKENS" else "stop") if reason else None,
        )
    if usage := getattr(answer, "usage_metadata", None):
        yield Usage(
            usage.prompt_token_count or 0,
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            usage.cached_content_token_count or 0,
        )


def _tokens(result: Any, top: int) -> tuple[Token, ...]:
    chosen = getattr(result, "chosen_candidates", None) or []
    if any(token.log_probability is None for token in chosen):
        return ()
    others = getattr(result, "top_candidates", None) or []
    tops = [[(t.token or "", t.log_probability or 0.0) for t in (o.candidates or [])[:top]] for o in others]
    tops += [[]] * (len(chosen) - len(tops))
    return tuple(
        Token(token.token or "", token.log_probability, tuple(best)) for token, best in zip(chosen, tops, strict=False)
    )
