from __future__ import annotations

import pytest

from sqljury.language.mask import mask, name_words

NAMES = name_words(["ship", "ship_id", "homePort", "crew_count", "average"])


@pytest.mark.parametrize(
    ("question", "masked"),
    [
        ("How many ships are there?", "how many _ are there"),
        ("List the ship's home ports.", "list the _"),
        ("Which ships came from Kiel or New York?", "which _ came from _ or _"),
        ("Show ships with 'no name' built after 1990.", "show _ with _ built after _"),
        ("What is the average count of crews?", "what is the average count of _"),
        ("", ""),
    ],
)
def test_masks(question: str, masked: str) -> None:
    assert mask(question, NAMES) == masked


def test_questions_of_two_databases_become_the_same() -> None:
    one = mask("What are the names of ships heavier than 500 tons?", name_words(["ship", "name", "tons"]))
    other = mask("What are the titles of films heavier than 3 kilos?", name_words(["film", "title", "kilo"]))
    assert one == other
