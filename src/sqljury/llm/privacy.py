"""What of a database's content may leave this process: the one place where every prompt for a service is looked at.

A prompt is sent only if it is known to hold no more than is allowed (``prompts.Text``). What nobody vouches for is not
sent, so that a new stage, or one of a third party, cannot leak by being forgotten here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Unpack

from sqljury.errors import InputError, PrivacyError
from sqljury.llm.base import LanguageModel, Message, Reply, Sampling, Streaming, Wrapper
from sqljury.prompts import held
from sqljury.types.question import LEVELS, Privacy

_HELD: Final = {"values": "values", "rows": "rows, or text of unknown origin,"}
_TYPES: Final = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
"""Words of JSON Schema itself."""


def level(text: str) -> Privacy:
    """The privacy of that name; raises ``InputError`` for another."""
    for known in LEVELS:
        if text == known:
            return known
    raise InputError(f"privacy must be one of {', '.join(LEVELS)}, not {text[:80]!r}")


def is_local(model: LanguageModel) -> bool:
    """Whether the model says that it runs in this process; one that says nothing does not.

    A server on this machine is not local: nobody knows where it sends what it gets.
    """
    return getattr(model, "local", False) is True


def guarded(model: LanguageModel, privacy: Privacy) -> LanguageModel:
    """The model, which gets no more than ``privacy`` allows unless it is local."""
    within = model.model if isinstance(model, Private) else model
    return within if privacy == "rows" or is_local(within) else Private(within, privacy)


class Private(Wrapper):
    """A model that is sent only what is known to hold no more of the database's content than ``privacy``."""

    def __init__(self, model: LanguageModel, privacy: Privacy) -> None:
        super().__init__(model)
        self.privacy = privacy

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer through the model within; raises ``PrivacyError`` before anything is sent or looked up in a cache."""
        texts = [content for _, content in messages]
        most = held(*texts, *_texts(sampling.json_schema), *([sampling.grammar] if sampling.grammar else []))
        if LEVELS.index(most) > LEVELS.index(self.privacy):
            raise PrivacyError(
                f"{self.name} may get no {_HELD[most]} of the database (privacy = {self.privacy}), and a step of this "
                "recipe sends some; use another recipe, a local model, or allow more with --privacy"
            )
        return self.model.complete(messages, sampling, n, **streaming)


def _texts(schema: Any) -> Iterator[str]:
    """The texts of a JSON schema that are not its own words: services put them into the prompt."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "properties" and isinstance(value, Mapping):
                yield from value
            yield from _texts(value)
    elif isinstance(schema, str):
        if schema not in _TYPES:
            yield schema
    elif isinstance(schema, Sequence):
        for item in schema:
            yield from _texts(item)
