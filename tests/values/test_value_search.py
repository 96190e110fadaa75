"""What is found, whatever is stored and whatever is asked."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from value_indexes import searcher

from sqljury.values import grams, spelling
from sqljury.values.search import other_names
from sqljury.values.spelling import fold

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
NAMES = (
    "Aberdeen Regional Airport", "Côte d'Ivoire", "New York City", "Department of Health", "John Smith", "Johnson",
    "Wang", "Miller", "Müller", "Anna Petrovna", "automobile", "bicycle", "F", "M", "United States", "Netherlands",
    "September", "Coca-Cola", "O'Brien", "St. Louis", "Ωμέγα", "日本", "Иванов", "عينة",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(values=st.lists(ANY_TEXT.filter(str.strip), max_size=12), text=ANY_TEXT)
@example(values=["\0", "a\0b", "\u202eabc", "\ud800", "C+", "C-", "c"], text="\udfff")
@example(values=["\u0301", "´", "-", "--", "?"], text=" ")
def test_any_text_can_be_stored_and_searched(values: list[str], text: str) -> None:
    index = searcher({"a": values, "b": values[:3]})
    for found in index.search([text, *values], 5):
        assert len({fold(match.value) for match in found}) <= 5
        assert all(0.2 <= match.score <= 1.0 and match.value in values for match in found)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(ANY_TEXT.filter(str.strip), min_size=1, max_size=30))
@example(values=["smith", "smith john", "Smith", "SMITH "])
@example(values=[f"new york {number}" for number in range(1500)] + ["New York"])
def test_a_value_itself_comes_first(values: list[str]) -> None:
    index = searcher({"a": values})
    for value in values[-5:]:
        (found,) = index.search([value], 3)
        assert (found[0].value, found[0].how, found[0].score) == (value, "exact", 1.0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abcd é", min_size=1).map(fold).filter(bool), min_size=1, unique=True))
def test_words_one_edit_apart_share_a_feature_besides_trigrams(keys: list[str]) -> None:
    for key in keys:
        words = key.split()
        word = max(words, key=len)
        if len(word) > 3:
            at = len(word) // 2
            swapped = word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
            for other in (word[:at] + "x" + word[at + 1 :], word[:at] + word[at + 1 :], swapped, f"{word}x"):
                ours, theirs = (set(grams.features([text])[0].tolist()) for text in (word, other))
                assert ours & theirs


def test_features_do_not_hang_on_neighbours() -> None:
    keys = [fold(name) for name in NAMES]
    hashes, owners = grams.features(keys)
    for number, key in enumerate(keys):
        alone, _ = grams.features([key])
        assert set(hashes[owners == number].tolist()) == set(alone.tolist()), key


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [
        ("cote divoire", "Côte d'Ivoire", "same letters"),
        ("COCA COLA", "Coca-Cola", "same letters"),
        ("Jonhson", "Johnson", "spelling"),
        ("Wnag", "Wang", "spelling"),
        ("Milller", "Miller", "spelling"),
        ("Иваноф", "Иванов", "spelling"),
        ("Aberdeen", "Aberdeen Regional Airport", "words"),
        ("Petrovna Anna", "Anna Petrovna", "words"),
        ("NYC", "New York City", "initials"),
        ("USA", "United States", "code"),
        ("Dept of Health", "Department of Health", "abbreviation"),
        ("car", "automobile", "meaning"),
    ],
)
def test_ways_to_find(text: str, value: str, how: str) -> None:
    (found,) = searcher({"name": NAMES}).search([text], 5)
    assert (found[0].value, found[0].how) == (value, how)


def test_the_first_letter_is_among_the_found() -> None:
    (found,) = searcher({"name": NAMES}).search(["female"], 5)
    assert ("F", "abbreviation") in [(match.value, match.how) for match in found]


def test_a_value_comes_with_every_column_and_spelling() -> None:
    index = searcher({"a": ["Paris", "PARIS"], "b": ["Paris"]})
    (found,) = index.search(["Paris"], 1)
    assert [(match.value, match.column, match.how) for match in found] == [
        ("Paris", "a", "exact"),
        ("Paris", "b", "exact"),
        ("PARIS", "a", "same letters"),
    ]


def test_nothing_to_find() -> None:
    assert searcher({}).search(["a"], 5) == [[]]
    assert searcher({"a": ["Paris"]}).search([" ", "xqzv"], 5) == [[], []]


def test_codes() -> None:
    assert "united states" in other_names("USA")
    assert "texas" in other_names("TX")
    assert "ca" in other_names("California")
    assert "kilogram" in other_names("kg") or "kilograms" in other_names("KG")
    assert other_names("in") == other_names("nonsense") == ()


@pytest.mark.parametrize(
    ("short", "long", "does"),
    [
        ("dept", "department", True),
        ("mgr", "manager", True),
        ("intl airport", "international airport", True),
        ("sept", "september", True),
        ("car", "care", False),
        ("any", "attorney", False),
        ("cat", "dog", False),
    ],
)
def test_abbreviations(short: str, long: str, does: bool) -> None:
    assert (spelling.abbreviates(short, long) > 0) is does


def test_folding() -> None:
    assert fold("  Straße\t") == "strasse"
    assert fold("U.S.A.") == "usa"
    assert fold("St. Louis") == "st louis"
    assert fold("\u202eİzmir\u200f") == "izmir"
    assert fold("--") == "--"
    assert fold(" \n") == ""
