"""What a question says about the rows that it asks for."""

from __future__ import annotations

from sqljury.language.wants import Wants, grouped_by, wants


def test_words_after_each_and_all() -> None:
    assert wants("List each teacher with the titles of the courses").each_of == {"teacher"}
    assert wants("Show all of the teachers and their courses").each_of >= {"teacher"}
    assert wants("How many visits per doctor?").each_of == {"doctor"}
    chosen = wants("List all teachers who have a course")
    assert (chosen.each, chosen.each_of, chosen.must_have) == (True, frozenset(), {"course"})


def test_words_for_groups() -> None:
    assert grouped_by("Hours per matter in each practice area, most first") == {"matter", "practice", "area"}
    assert grouped_by("Sales by region and city, going by the office that sold") >= {"region", "office"}
    assert grouped_by("How many offices are there?") == frozenset()


def test_what_is_counted_and_how_many_rows() -> None:
    assert wants("How many female students are there?").counted >= {"female", "student"}
    assert wants("Number of grades").counted == {"grade"}
    assert wants("Show two of the 10 courses").numbers == {"2", "10"}
    assert wants("Show the best two courses").numbers == frozenset()


def test_other_languages_say_nothing() -> None:
    assert wants("Zeige jede Zahlung mit dem Namen des Mitglieds") == Wants()
