from __future__ import annotations

import pytest

from sqljury.language.ngrams import Matcher


@pytest.mark.parametrize(
    ("question", "texts", "best"),
    [
        ("Who lives in New York City?", ["York", "new york", "City of York"], "new york"),
        ("Cars by Ford Motor", ["Ford", "General Motors", "Ford Motor Company"], "Ford Motor Company"),
        ("Flights to Zurich", ["Zürich HB", "Zuerich", "Paris"], "Zuerich"),  # no word in common: by letters
        ("How many?", ["b", "a"], "b"),  # nothing in common: the first
        ("", ["x"], "x"),
        ("anything", [""], ""),
    ],
)
def test_the_text_with_the_longest_common_run(question: str, texts: list[str], best: str) -> None:
    assert Matcher(question).best(texts) == best


def test_no_texts_and_long_ones() -> None:
    assert Matcher("x").best([]) is None
    assert Matcher("needle " * 10_000).best(["hay " * 10_000, "a needle"]) == "a needle"
