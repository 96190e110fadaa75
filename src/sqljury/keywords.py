"""Keywords of a question as a model sees them (CHASE-SQL, section 3.1); ``schema.keywords`` needs no model."""

from __future__ import annotations

import json
import threading
from typing import Final

from sqljury import prompts
from sqljury.llm.base import LanguageModel, Message, Sampling
from sqljury.schema.keywords import MAX_KEYWORDS, WORD, by_rules
from sqljury.types import Cost, Question

MAX_TOKENS: Final = 160
_SCHEMA: Final = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_KEYWORDS}


def by_model(
    question: Question, model: LanguageModel, seed: int = 0, cancel: threading.Event | None = None
) -> tuple[tuple[str, ...], Cost]:
    """Keywords as the model sees them, after examples (few-shot), then those of ``by_rules``; and what it cost.

    Only words that are taken from the question or its evidence count, up to ``MAX_KEYWORDS``; a reply that is no list
    counts as an empty one. Raises what the model raises.
    """
    text = question.whole
    conversation = [
        Message("system", prompts.render("keywords/system") + "\n\n" + prompts.render("keywords/examples")),
        Message("user", prompts.render("keywords/question", question=text)),
    ]
    sampling = Sampling(max_tokens=MAX_TOKENS, seed=seed, json_schema=_SCHEMA)
    reply = model.complete(conversation, sampling, cancel=cancel)
    written = [word for word in _list(reply.completions[0].text) if _taken_from(word, text)]
    found = {word.casefold(): word for word in (*by_rules(text), *written)}
    first = {word.casefold(): word for word in written}
    return tuple({**first, **found}.values())[:MAX_KEYWORDS], reply.cost


def _list(reply: str) -> list[str]:
    """The strings of a JSON list, one that was cut off at the end included."""
    start = reply.find("[")
    text = reply[start:] if start >= 0 else ""
    for end in (text, text.rpartition(",")[0] + "]"):
        try:
            found = json.loads(end)
        except (ValueError, RecursionError):
            continue
        return [item.strip() for item in found if isinstance(item, str) and item.strip()]
    return []


def _taken_from(word: str, text: str) -> bool:
    """Whether at least one word of it, or its stem, stands in the text."""
    words = {part.casefold()[:4] for part in WORD.findall(text)}
    return any(part.casefold()[:4] in words for part in WORD.findall(word))
