"""Exact decimal numbers of a server as plain cells."""

from __future__ import annotations


def number(text: str) -> int | float | str:
    """A decimal number: an int when it has no point, else the nearest float; text where no float is near."""
    if text.lstrip("-").isdecimal():
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")) and "inf" not in text.lower():
        return text
    return value
