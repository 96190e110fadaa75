"""Every server with OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp's server and others.

How a server continues a turn or takes a grammar is not part of the protocol, so its kind is asked for once, when
one of the two is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from sqljury.errors import MissingExtraError, ModelError, ModelResponseError
from sqljury.llm.api.backend import ApiModel, Request, begin_with
from sqljury.llm.api.events import Event, Piece, Usage, hooks
from sqljury.llm.api.failures import Failure
from sqljury.llm.base import Message, Token

_DEFAULT_URL = "https://api.openai.com/v1"
_MOST_SAMPLES = 128
_MOST_STOPS = 4
_MOST_TOP = 20
_KINDS = {"llamacpp": "llama.cpp", "vllm": "vLLM", "library": "Ollama"}  # by what they name as a model's owner
_VLLM_STRUCTURED_OUTPUTS = (0, 11)


class OpenAIChatModel(ApiModel):
    """A model behind OpenAI's chat completions protocol.

    Gives log-probabilities where the server does. Stop strings that a server does not take are applied here.
    """

    optional = ("top_logprobs", "logprobs", "stream_options", "seed", "top_p", "temperature", "stop")

    def _connect(self, key: str, timeout: float) -> Any:
        try:
            import openai
        except ImportError:
            raise MissingExtraError("openai", "openai") from None
        self.most_samples = _MOST_SAMPLES
        self._kind = "OpenAI" if self.spec.base_url is None else ""
        if self.spec.base_url is None:
            self.refused = frozenset({"max_tokens"})  # renamed there; most other servers know the old name only
        return openai.OpenAI(
            api_key=key,
            base_url=self.spec.base_url or _DEFAULT_URL,
            max_retries=0,
            timeout=openai.Timeout(timeout, connect=min(10.0, timeout)),
            http_client=openai.DefaultHttpxClient(follow_redirects=False, event_hooks=hooks(timeout)),
        )

    def _events(self, request: Request) -> Iterator[Event]:
        fields = self._fields(request)
        answer = self._client.chat.completions.create(**fields)
        if not request.stream:
            yield from _read(answer, "message", request)
            return
        with answer:
            for chunk in answer:
                yield from _read(chunk, "delta", request)

    def _adapt(self, failure: Failure, request: Request) -> bool:
        if failure.status == 400 and "max_completion_tokens" in failure.text and "max_tokens" not in self.refused:
            self.refused |= {"max_tokens"}
            return True
        return super()._adapt(failure, request)

    def _fields(self, request: Request) -> dict[str, Any]:
        sampling = request.sampling
        messages, extra = self._prompt(request)
        tuned = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p if sampling.top_p != 1.0 else None,
            "seed": sampling.seed,
            "stop": list(sampling.stop[:_MOST_STOPS]) or None,
            "logprobs": True,
            # llama.cpp gives no log-probabilities at all for 0, and twenty alternatives a token if it is left out.
            "top_logprobs": max(1, min(sampling.top_logprobs, _MOST_TOP)) if "logprobs" not in self.refused else None,
            "stream_options": {"include_usage": True} if request.stream else None,
        }
        fields: dict[str, Any] = {
            name: value for name, value in tuned.items() if value is not None and name not in self.refused
        }
        if request.n > 1:
            fields["n"] = request.n
        if sampling.json_schema is not None:
            schema = {"name": "reply", "strict": True, "schema": dict(sampling.json_schema)}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        if sampling.grammar is not None:
            extra |= self._grammar(sampling.grammar)
        fields["max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"] = sampling.max_tokens
        return fields | {
            "model": self.spec.model,
            "messages": messages,
            "stream": request.stream,
            "extra_body": extra or None,
        }

    def _prompt(self, request: Request) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """The messages, and what else a server must be told to continue the last of them."""
        extra: dict[str, Any] = {}
        turns = request.messages
        if request.prefix and self._server() in _KINDS.values():
            turns += (Message("assistant", request.prefix),)
            if self._server() == "vLLM":
                extra = {"continue_final_message": True, "add_generation_prompt": False}
        elif request.prefix:
            if request.sampling.grammar is not None:
                raise ModelError(f"{self.name} cannot both continue a begun reply and keep to a grammar.")
            turns = begin_with(turns, request.prefix)
        return [{"role": role, "content": content} for role, content in turns], extra

    def _grammar(self, grammar: str) -> dict[str, Any]:
        """The fields that hold a GBNF grammar; they are not part of the protocol, and most servers ignore them."""
        server = self._server()
        if server == "llama.cpp":
            return {"grammar": grammar}
        if server == "vLLM":
            newer = self._vllm_version() >= _VLLM_STRUCTURED_OUTPUTS
            return {"structured_outputs": {"grammar": grammar}} if newer else {"guided_grammar": grammar}
        raise ModelError(
            f"{self.name} cannot keep to a grammar: of the servers with this protocol, only llama.cpp and vLLM can. "
            "Use a JSON schema, or another model."
        )

    def _server(self) -> str:
        """What kind of server this is, "other" if unknown."""
        if not self._kind:
            import openai

            try:
                owners = [str(getattr(model, "owned_by", "")) for model in self._client.models.list().data or []]
            except (openai.NotFoundError, openai.PermissionDeniedError):
                owners = []
            self._kind = next((_KINDS[owner] for owner in owners if owner in _KINDS), "other")
        return self._kind

    def _vllm_version(self) -> tuple[int, ...]:
        url = re.sub(r"/v1$", "", self.spec.base_url or "") + "/version"
        answer = self._client.get(url, cast_to=dict[str, Any])
        return tuple(int(number) for number in re.findall(r"\d+", str(answer.get("version")))[:2])


def _read(answer: Any, part: Literal["message", "delta"], request: Request) -> Iterator[Event]:
    """The events of a whole reply (its choices hold a message) or of a chunk (they hold a delta)."""
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list):
        raise ModelResponseError("the server answered something that is not a chat completion; check its address")
    for choice in choices:
        message = getattr(choice, part, None)
        if part == "message" and message is None:
            raise ModelResponseError("the server answered a choice without a message")
        finish = choice.finish_reason
        yield Piece(
            choice.index or 0,
            getattr(message, "content", None) or "",
            _tokens(getattr(choice, "logprobs", None), request.sampling.top_logprobs),
            ("length" if finish == "length" else "stop") if finish else None,
        )
    if usage := getattr(answer, "usage", None):
        details = getattr(usage, "prompt_tokens_details", None)
        yield Usage(
            getattr(usage, "prompt_tokens", None) or 0,
            getattr(usage, "completion_tokens", None) or 0,
            getattr(details, "cached_tokens", None) or 0,
            # llama.cpp's server sends a count of its own for each of several completions.
            adds=part == "delta" and not choices,
        )


def _tokens(logprobs: Any, top: int) -> tuple[Token, ...]:
    entries = getattr(logprobs, "content", None) or []
    if any(entry.logprob is None for entry in entries):
        return ()
    return tuple(
        Token(
            entry.token,
            entry.logprob,
            tuple((alternative.token, alternative.logprob) for alternative in (entry.top_logprobs or [])[:top]),
        )
        for entry in entries
    )
