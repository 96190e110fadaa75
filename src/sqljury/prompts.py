"""Prompt texts: files under ``prompts/<step>/<name>.md``, rendered strictly."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_SLOT = re.compile(r"\{\{ *(\w+) *\}\}")


def render(name: str, **values: str) -> str:
    """The prompt ``step/name`` with every ``{{ slot }}`` replaced by the value of that name.

    Values are inserted as they are and never looked into, so content that holds slots stays text. Raises
    ``KeyError`` for a slot without a value or a value without a slot: a prompt that lacks a part is a bug.
    """
    text = _load(name)
    slots = set(_SLOT.findall(text))
    if slots != set(values):
        raise KeyError(f"prompt {name} has the slots {sorted(slots)}, got values for {sorted(values)}")
    return _SLOT.sub(lambda match: values[match[1]], text)


@cache
def _load(name: str) -> str:
    return (files("sqljury") / "prompts" / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
