"""Words of a question that name things which a schema might lack."""

from __future__ import annotations

import pytest

from sqljury.language.things import things


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Is there nobody taller than nine metres here?", []),
        ("How many litres will be sold tomorrow?", []),
        ("What is the wingspan of the dragons?", ["wingspan", "dragon"]),
    ],
)
def test_places_times_and_units_are_not_things(question: str, named: list[str]) -> None:
    assert things(question) == named
