from __future__ import annotations

import pytest

from sqljury.language.sorting import Sorting, only_sorts, sorting


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("City and amount, highest first.", Sorting(descending=True)),
        ("Kind and total, lowest total first, then by kind", Sorting(False, "total", (), ("kind",))),
        (
            "Names, alphabetically by last name, then first name.",
            Sorting(None, "", ("last name",), ("first name",), named=True, listed="alphabetically by last name"),
        ),
        ("Tour code and date, by date; planned tours only", Sorting(by=("date",), named=True)),
        (
            "Title and opening, in order of opening and then by title",
            Sorting(by=("opening",), then=("title",), named=True, listed="in order of opening and"),
        ),
        ("Inspectors, busiest first", Sorting(True, "busiest")),
        ("Most loans first, then by the newest loan first", Sorting(True, "loans")),
        ("Most first in spring, fewest first in autumn", Sorting()),
        ("What did we pay by cheque, and then what?", Sorting()),
        ("Who was first?", Sorting()),
        ("", Sorting()),
    ],
)
def test_the_order_that_a_question_asks_for(question: str, expected: Sorting) -> None:
    assert sorting(question) == expected


def test_an_end_that_only_sorts() -> None:
    assert only_sorts("First name, last name and hearings, most first")
    assert not only_sorts("The highest fee of each kind, most loans first")
    assert not only_sorts("The highest fee of each kind")
