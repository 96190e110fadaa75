"""The words of texts and names."""

from __future__ import annotations

import pytest

from sqljury.language.words import positions, words


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


@pytest.mark.parametrize(
    ("phrase", "text", "starts"),
    [
        (("new", "york"), ("new", "york", "or", "new", "york"), [0, 3]),
        (("new", "york"), ("new", "old", "york"), []),
        (("new", "york"), ("new",), []),
        (("a", "a"), ("a", "a", "a"), [0, 1]),
        ((), ("a",), [0, 1]),
    ],
)
def test_a_phrase_stands_where_its_words_are_in_a_row(
    phrase: tuple[str, ...], text: tuple[str, ...], starts: list[int]
) -> None:
    assert list(positions(phrase, text)) == starts
    assert list(positions(list(phrase), list(text))) == starts
