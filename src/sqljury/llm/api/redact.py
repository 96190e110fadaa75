"""Takes keys out of texts that others wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

from sqljury.llm.api.spec import KEY_VARIABLES, OTHER_KEY_VARIABLE

_MARK = "[key]"
_OTHER_VARIABLES = (OTHER_KEY_VARIABLE, "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN")
_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|(?<=Bearer )\S+|(?<=://)[^/\s@]+(?=@)"
)
_SHORTEST = 6  # what is shorter is a stand-in such as "none", and would be found inside of words


def redactor(key: str | None) -> Callable[[str], str]:
    """A function that masks ``key``, every key in the environment, and what looks like one."""

    def redact(text: str) -> str:
        for secret in sorted(_secrets(key), key=len, reverse=True):
            text = text.replace(secret, _MARK)
        return _LOOKS_LIKE_A_KEY.sub(_MARK, text)

    return redact


def _secrets(key: str | None) -> Iterable[str]:
    variables = [*_OTHER_VARIABLES, *(name for names in KEY_VARIABLES.values() for name in names)]
    values = {(value or "").strip() for value in (key, *map(os.environ.get, variables))}
    return {form for value in values if len(value) >= _SHORTEST for form in (value, quote(value, safe=""))}
