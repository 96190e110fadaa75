"""A question that points back to earlier ones, such as "and in 2023?", written so that it stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury import prompts
from sqljury.context import Context
from sqljury.language.ambiguity import edits, points_back
from sqljury.llm.base import Message, Sampling, derive_seed
from sqljury.sql.text import remark

FOLLOW: Final = "follow"
"""The name of the step in what an answer has cost."""
UNDERSTOOD: Final = "understood as"
"""What progress says before the question that was written."""
EARLIER: Final = 4
"""Of the earlier questions, the latest ones: what people point back to is near."""
_CHARS: Final = 600
_TOKENS: Final = 160
_LABEL: Final = re.compile(r"^(?:you write|last|question|rewritten(?: question)?|answer)\s*:\s*", re.IGNORECASE)
_QUERY: Final = re.compile(r"^(?:select|with)\b.*\bfrom\b|```", re.IGNORECASE)


def standalone(question: str, earlier: Sequence[str], context: Context) -> str:
    """The question as it is understood after ``earlier`` ones, the latest last; itself where it stands alone.

    The model is asked only for a question that has the marks of a follow-up, and what is not a question in its reply is
    not taken. Raises what the model raises.
    """
    if not earlier or question == earlier[-1] or not points_back(question):
        return question
    context.emit("reading the follow-up")
    shown = "\n".join(remark(text, _CHARS) for text in earlier[-EARLIER:])
    messages = (
        Message("system", prompts.render("follow/changes" if edits(question) else "follow/system")),
        Message("user", prompts.render("follow/question", "schema", earlier=shown, question=remark(question, _CHARS))),
    )
    sampling = Sampling(max_tokens=_TOKENS, seed=derive_seed(context.seed, "follow"), stop=("\n\n",))
    reply = context.ask(messages, sampling)
    lines = reply.completions[0].text.strip().splitlines() if reply else []
    written = _LABEL.sub("", lines[0].strip()).strip("\"'“” ") if lines else ""
    if not 0 < len(written) <= _CHARS or _QUERY.search(written) or written == question:
        return question
    context.emit(f"{UNDERSTOOD} {written}")
    return written
