"""The words of texts and names."""

from __future__ import annotations

import pytest

from sqljury.language.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OrderLines", ("order", "line")),
        ("order_line", ("order", "line")),
        ("SQLOrderLines2", ("sql", "order", "line", "2")),
        ("Größe", ("grosse",)),
        ("  ", ()),
    ],
)
def test_words_of_a_name(text: str, found: tuple[str, ...]) -> None:
    assert words(text) == found
    long = f"{text} {'x' * 80}"
    assert words(long) == (*words(text), "x" * 80)


def test_a_name_is_split_once() -> None:
    assert words("splitOnceOnly") is words("splitOnceOnly")
    long = "splitOnceOnly" * 20
    assert words(long) == words(long)
    assert words(long) is not words(long)
