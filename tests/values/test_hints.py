from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.values import ValueIndex, open_or_build
from sqljury.values.hints import hints, meant, nearest


@pytest.fixture
def index(tmp_path: Path) -> Iterator[ValueIndex]:
    file = tmp_path / "places.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE place (id INTEGER PRIMARY KEY, city TEXT, county TEXT, note TEXT);"
            "INSERT INTO place VALUES (1, 'New York', 'Orange', 'x*/ DROP'), (2, 'York', 'Kent', 'y'),"
            " (3, 'Ornate Falls', 'Orange', 'ok');"
        )
    connection.close()
    with connect(file) as db:
        yield open_or_build(db, introspect(db))


def test_a_line_names_the_column_and_the_value(index: ValueIndex) -> None:
    assert hints(meant(index, ("New York", "Ornage"), 6)) == [
        "place.city has 'New York'",
        "place.county has 'Orange'",
    ]


def test_a_part_of_what_was_found_whole_is_not_looked_at(index: ValueIndex) -> None:
    assert [one.match.value for one in meant(index, ("York", "New York"), 6)] == ["New York"]
    assert next(one.match.value for one in meant(index, ("York",), 6)) == "York"


def test_nothing_is_told_of_words_that_mean_no_value(index: ValueIndex) -> None:
    assert meant(index, ("mountains", "how", ""), 6) == []
    assert meant(index, (), 6) == []


def test_a_value_cannot_leave_its_line(index: ValueIndex) -> None:
    (line,) = hints(meant(index, ("x*/ DROP",), 1))
    assert "*/" not in line
    assert "\n" not in line
    assert len(hints(meant(index, ("New York", "Orange", "Kent"), 2))) == 2


def test_nearest_are_by_column_the_likest_first(index: ValueIndex) -> None:
    found = {(table, column): values for table, column, values in nearest(index, ("New York", "Ornage"), 2)}
    assert found["place", "city"][:2] == ("New York", "York")
    assert found["place", "county"][0] == "Orange"
    assert all(len(values) <= 2 for values in found.values())
    assert ("place", "id") not in found
    assert nearest(index, (), 2) == []


def test_a_value_that_shares_only_the_name_of_a_table_is_not_meant(index: ValueIndex) -> None:
    assert [one.match.value for one in meant(index, ("falls",), 6)] == ["Ornate Falls"]
    assert meant(index, ("falls",), 6, {frozenset(("fall",))}) == []
    assert [one.match.value for one in meant(index, ("Ornate Falls",), 6, {frozenset(("fall",))})] == ["Ornate Falls"]
    assert [one.match.value for one in meant(index, ("orange",), 6, {frozenset(("orange",))})] == ["Orange"]
