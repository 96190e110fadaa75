"""Regular expressions that are compiled once they are needed: a fifth of the start of the program went into them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """Stands in for a compiled pattern, whose attributes become its own when the first of them is asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(re.Pattern, name):
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for known in dir(compiled):
            if not known.startswith("_"):
                self.__dict__[known] = getattr(compiled, known)
        return self.__dict__[name]


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile``, put off until the pattern is used; only by its own methods, the functions of ``re`` refuse it."""
    return cast("re.Pattern[str]", _Pattern(text, flags))
