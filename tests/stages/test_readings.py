"""A query whose names can be read in several ways becomes a candidate for each that runs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqljury import connect
from sqljury.llm.fake import FakeModel
from sqljury.pipeline import Pipeline
from sqljury.stages.repair import ANOTHER_READING
from sqljury.types import Answer, Question

TABLES = """
CREATE TABLE city (city_code TEXT PRIMARY KEY, city_name TEXT);
CREATE TABLE trip (trip_id INTEGER PRIMARY KEY, start_city_code TEXT {key}, end_city_code TEXT {key}, cost INTEGER);
INSERT INTO city VALUES ('b', 'Bern'), ('g', 'Genf'), ('z', 'Zug');
INSERT INTO trip VALUES (1, 'b', 'g', 10), (2, 'z', 'b', 20), (3, 'b', 'g', 30), (4, 'z', 'g', 40);
"""


def answer(folder: Path, question: str, sql: str, key: str = "") -> Answer:
    file = folder / "trips.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(TABLES.format(key=key))
    with connect(file) as db:
        return Pipeline.from_recipe("fast", FakeModel(sql)).answer(Question(question), db)


@pytest.mark.parametrize("key", ["", "REFERENCES city (city_code)"], ids=["no keys", "keys"])
def test_each_reading_with_a_result_of_its_own_is_a_candidate(tmp_path: Path, key: str) -> None:
    found = answer(tmp_path, "Where do trips end that cost over 5?", "SELECT city_name FROM trip WHERE cost > 5", key)
    joins = [candidate.sql.partition("ON ")[2].partition(" WHERE")[0] for candidate in found.candidates]
    assert joins == [f"trip.{end}_city_code = city.city_code" for end in ("end", "start")]
    assert found.sql == found.candidates[0].sql  # with one query alone the ranking decides
    reasons = [candidate.fixes[-1].reason for candidate in found.candidates]
    assert [ANOTHER_READING in reason for reason in reasons] == [False, True]
    assert {fix.by for candidate in found.candidates for fix in candidate.fixes} == {"schema"}


def test_a_reading_that_finds_nothing_comes_last(tmp_path: Path) -> None:
    sql = "SELECT trip_id FROM trip WHERE city_name = 'Genf' AND cost = 10"
    found = answer(tmp_path, "Which trips start in Genf?", sql, "REFERENCES city (city_code)")
    assert [list(candidate.result.rows) for candidate in found.candidates] == [[(1,)], []]


def test_readings_with_the_same_result_are_one_candidate(tmp_path: Path) -> None:
    found = answer(tmp_path, "Where do trips go?", "SELECT DISTINCT city_name FROM trip WHERE cost > 90")
    assert len(found.candidates) == 1
