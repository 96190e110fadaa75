"""Claude, through Anthropic's messages protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqljury.errors import MissingExtraError, ModelResponseError
from sqljury.llm.api.backend import ApiModel, Request, begin_with
from sqljury.llm.api.events import Event, Piece, Usage, hooks
from sqljury.llm.api.failures import Failure

_DEFAULT_URL = "https://api.anthropic.com"
_HOTTEST = 1.0
_LENGTH_REASONS = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel(ApiModel):
    """A model behind Anthropic's messages protocol.

    One sample a request, no seeds, no log-probabilities, no grammar. ``temperature`` above 1 is sent as 1.
    """

    optional = ("top_p", "temperature")

    def _connect(self, key: str, timeout: float) -> Any:
        try:
            import anthropic
        except ImportError:
            raise MissingExtraError("anthropic", "anthropic") from None
        return anthropic.Anthropic(
            api_key=key,
            base_url=self.spec.base_url or _DEFAULT_URL,
            max_retries=0,
            timeout=anthropic.Timeout(timeout, connect=min(10.0, timeout)),
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False, event_hooks=hooks(timeout)),
            open_telemetry=False,  # spans would hold prompts
        )

    def _events(self, request: Request) -> Iterator[Event]:
        answer = self._client.messages.create(**self._fields(request))
        native = bool(request.prefix) and "prefill" not in self.refused
        skip = request.prefix[len(request.prefix.rstrip()) :] if native else ""
        if not request.stream:
            blocks = answer.content if isinstance(getattr(answer, "content", None), list) else None
            if blocks is None:
                raise ModelResponseError("the server answered something that is not a message; check its address")
            text = "".join(block.text for block in blocks if block.type == "text")
            yield Piece(0, text.removeprefix(skip), finish=_finish(answer.stop_reason))
            yield _usage(answer.usage)
            return
        with answer:
            for event in answer:
                for piece in _read(event):
                    if skip and isinstance(piece, Piece) and piece.text:
                        piece, skip = piece._replace(text=piece.text.removeprefix(skip)), ""
                    yield piece

    def _adapt(self, failure: Failure, request: Request) -> bool:
        if failure.status == 400 and "prefill" in failure.text and "prefill" not in self.refused:
            self.refused |= {"prefill"}
            return True
        return super()._adapt(failure, request)

    def _fields(self, request: Request) -> dict[str, Any]:
        """The arguments of ``create``; the library has dropped the sampling fields, older models still take them."""
        sampling = request.sampling
        self._refuse_grammar(sampling)
        tuned = {
            "temperature": min(sampling.temperature, _HOTTEST),
            "top_p": sampling.top_p if sampling.top_p != 1.0 else None,
        }
        extra = {name: value for name, value in tuned.items() if value is not None and name not in self.refused}
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        fields: dict[str, Any] = {
            "model": self.spec.model,
            "messages": self._turns(request),
            "max_tokens": sampling.max_tokens,
            "stream": request.stream,
            "extra_body": extra or None,
        }
        if system:
            fields["system"] = system
        # A blank stop string is an error there; those are applied here.
        if stops := [stop for stop in sampling.stop if stop.strip()]:
            fields["stop_sequences"] = stops
        if sampling.json_schema is not None:
            fields["output_config"] = {"format": {"type": "json_schema", "schema": dict(sampling.json_schema)}}
        return fields

    def _turns(self, request: Request) -> list[dict[str, str]]:
        turns = tuple(message for message in request.messages if message.role != "system")
        if request.prefix and "prefill" in self.refused:
            turns = begin_with(turns, request.prefix)
        elif prefix := request.prefix.rstrip():  # it may not end with a blank there
            return [*({"role": r, "content": c} for r, c in turns), {"role": "assistant", "content": prefix}]
        return [{"role": role, "content": content} for role, content in turns]


def _read(event: Any) -> Iterator[Event]:
    if event.type == "message_start":
        yield _usage(event.message.usage)
    elif event.type == "content_block_delta" and event.delta.type == "text_delta":
        yield Piece(0, event.delta.text)
    elif event.type == "message_delta":
        yield Usage(completion=event.usage.output_tokens or 0)
        if event.delta.stop_reason:
            yield Piece(0, finish=_finish(event.delta.stop_reason))


def _finish(reason: str | None) -> Any:
    return "length" if reason in _LENGTH_REASONS else "stop"


def _usage(usage: Any) -> Usage:
    """Anthropic counts the cached part of the prompt beside the rest of it."""
    read = usage.cache_read_input_tokens or 0
    prompt = usage.input_tokens + read + (usage.cache_creation_input_tokens or 0)
    return Usage(prompt, usage.output_tokens or 0, read)
