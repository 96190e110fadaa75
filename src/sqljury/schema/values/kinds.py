"""Which columns hold names that a question could mention, and why the others do not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MAX_CHARS: Final = 100
"""Longer values are text to read rather than names, and are left out one by one."""

_MOSTLY: Final = 0.9
_PROSE_CHARS, _PROSE_WORDS = 60, 8
_TEXT_TYPE: Final = re.compile(r"char|text|clob|string|enum|^$", re.IGNORECASE)
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_SHAPES: Final = (
    ("numbers, dates or times", re.compile(r"[\d\s.,:;/%$€£+()#*-]*\d[\d\s.,:;/%$€£+()#*-]*(?:e-?\d+)?")),
    ("numbers, dates or times", re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[t ][\d:.,+ -]*(?:z|[ap]m|utc|gmt)?")),
    (
        "numbers, dates or times",
        re.compile(rf"(?:\d{{1,2}}[ -])?{_MONTH}[ -]\d{{1,4}}(?:,? \d{{2,4}})?(?: [\d:apm ]+)?"),
    ),
    ("UUIDs", re.compile(r"\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?")),
    ("hashes", re.compile(r"(?:0x)?(?=[a-f]*\d)[\da-f]{16,}")),
    ("addresses of pages or files", re.compile(r"(?:[a-z][a-z\d+.-]*://|www\.)\S+")),
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
    ("encoded data", re.compile(r"(?=\S*\d)(?=\S*[a-z])[\w+/=-]{20,}")),
    ("documents", re.compile(r"\s*(?:\{.*\}|\[.*\]|<.*>)\s*", re.DOTALL)),
)


def is_text(declared: str) -> bool:
    """Whether a column declared so holds text; one without a type may."""
    return _TEXT_TYPE.search(declared) is not None


def no_names(values: Sequence[str]) -> str | None:
    """What these values of one column are if they are no names, None if they may be."""
    if not values:
        return None
    lowered = [value.strip().lower() for value in values]
    enough = _MOSTLY * len(lowered)
    for what in dict.fromkeys(what for what, _ in _SHAPES):
        shapes = [shape for name, shape in _SHAPES if name == what]
        if sum(any(shape.fullmatch(value) for shape in shapes) for value in lowered) >= enough:
            return what
    chars, words = sum(map(len, lowered)), sum(len(value.split()) for value in lowered)
    if chars > _PROSE_CHARS * len(lowered) and words > _PROSE_WORDS * len(lowered):
        return "long text"
    return None
