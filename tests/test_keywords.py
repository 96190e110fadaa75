from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury import FakeModel, Question
from sqljury.context import Context
from sqljury.language.keywords import MAX_KEYWORDS, by_rules
from sqljury.stages.prepare import by_model


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many cars were made in Japan?", {"Japan", "cars"}),
        ("What is the GDP of the United States of America?", {"United States", "America", "GDP"}),
        ("Find colleges in LA with more than 13000 students", {"LA", "colleges"}),
        ("Show orders of “Miller & Sons” and 'night owls' since 2021-03-04.", {"Miller & Sons", "night owls"}),
        ("Documents with the type code BK?", {"BK", "type code"}),
        ("names of female nurses on ward 4B", {"female nurses", "female", "4B"}),
        ("Wie viele Kunden wohnen in Köln-Süd?", {"Köln-Süd"}),
    ],
)
def test_what_may_be_a_value_is_found(question: str, wanted: set[str]) -> None:
    assert wanted <= set(by_rules(question))


def test_what_only_asks_and_bare_numbers_are_not() -> None:
    assert by_rules("What are the names of those that have the most and at least 3?") == ()
    assert by_rules("") == by_rules("???") == ()


def test_quoted_words_come_first_and_each_once() -> None:
    found = by_rules("Is Rex or 'rex' in the kennel of Rex?")
    assert found[0] == "rex"
    assert len({keyword.casefold() for keyword in found}) == len(found)


@given(st.text(max_size=200))
def test_any_question_is_taken(question: str) -> None:
    found = by_rules(question)
    assert len(found) <= MAX_KEYWORDS
    assert all(keyword.strip() for keyword in found)


def asked(text: str, model: FakeModel) -> tuple[tuple[str, ...], Context]:
    context = Context(None, model)  # type: ignore[arg-type]
    return by_model(Question(text), context), context


def test_the_model_adds_to_the_rules_and_invents_nothing() -> None:
    model = FakeModel(['["comedies", "comedy", "Lisbon", "Paris"'])
    found, context = asked("Which comedies play in Lisbon?", model)
    assert found[:3] == ("comedies", "comedy", "Lisbon")
    assert "Paris" not in found
    assert context.budget.total().calls == 1


def test_a_reply_that_is_no_list_counts_as_an_empty_one() -> None:
    question = Question("Which comedies play in Lisbon?")
    for reply in ("", "none", "{}", "[1, 2]", "[[["):
        assert asked(question.text, FakeModel([reply]))[0] == by_rules(question.text)
