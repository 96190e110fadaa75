from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

import pytest

from sqljury.errors import InputError
from sqljury.language import linking
from sqljury.sql.features import anatomy
from sqljury.stages.select.features import features
from sqljury.stages.select.light import Weights, read
from sqljury.stages.select.sketch import LEAST, NOTHING, WIDE, Sketch, elements, phrases, read_sketch
from sqljury.types import Candidate, Column, ForeignKey, Question, Result, Schema, Table, Task

SINGER = Table("singer", (Column("singer_id"), Column("name"), Column("birth_year")), ("singer_id",))
SONG = Table(
    "song",
    (Column("song_id"), Column("title"), Column("singer_id")),
    ("song_id",),
    (ForeignKey(("singer_id",), "singer", ("singer_id",)),),
)
MUSIC = Schema("music", "sqlite", (SINGER, SONG))
ZOO = Schema("zoo", "sqlite", (Table("animal", (Column("animal_id"), Column("weight"))),))


def sketch(**odds: float) -> Sketch:
    """One that expects COUNT of "how many", and the tables and columns whose names are said in full."""
    return Sketch(
        {"item count": -4.0, "group": -2.0, **odds},
        {"how many": {"item count": 8.0}},
        [-3.0 if name == "start" else 6.0 * (name == "telling") for name in linking.TABLE],
        [-3.0 if name == "start" else 6.0 * (name == "telling") for name in linking.COLUMN],
    )


def test_names_and_constants_are_masked() -> None:
    one = phrases("How many singers were born in 1980 or called 'Joe'?", MUSIC)
    other = phrases("How many animals were born in 7 or called 'Zed'?", ZOO)
    assert one == other
    assert {"how many <table>", "<number> or", "called <text>", "tables 1", "columns 0"} <= one
    assert "birth <column>" not in phrases("birth years", MUSIC)  # both words are of columns: one mask
    assert phrases("", MUSIC) == {"^", "^ $", "$", "columns 0", "tables 0", "ands 0", "commas 0", "length 0"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "SELECT name FROM singer WHERE singer_id IN (SELECT singer_id FROM song WHERE title = 'x')",
            "SELECT T1.name FROM singer AS T1 JOIN song AS T2 ON T1.singer_id = T2.singer_id WHERE T2.title = 'x'",
        ),
        (
            "SELECT name FROM singer ORDER BY birth_year DESC LIMIT 1",
            "SELECT name FROM singer WHERE birth_year = (SELECT max(birth_year) FROM singer)",
        ),
        (
            "SELECT name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM song)",
            "SELECT name FROM singer EXCEPT SELECT a.name FROM singer a JOIN song b ON a.singer_id = b.singer_id",
        ),
    ],
)
def test_ways_to_write_the_same_have_one_sketch(one: str, other: str) -> None:
    assert elements(anatomy(one, MUSIC)) == elements(anatomy(other, MUSIC))


def test_constants_are_counted_however_they_are_written() -> None:
    for constant in ("'Joe'", '"Joe"', "5", "-5"):
        assert "constants 1" in elements(anatomy(f"SELECT name FROM singer WHERE birth_year = {constant}", MUSIC))
    assert "constants 0" in elements(anatomy("SELECT name FROM singer WHERE birth_year > singer_id", MUSIC))


def test_possessives_open_no_quotation() -> None:
    told = phrases("the singers' names and the songs' titles", MUSIC)
    assert "<column> and" in told
    assert "<text>" not in told


def test_words_of_names_are_found_in_any_spelling() -> None:
    camel = Schema("m", "sqlite", (Table("t", (Column("BirthYear"), Column("StuID"))),))
    plain = Schema("m", "sqlite", (Table("t", (Column("birth_year"), Column("stu_id"))),))
    own, other = (linking.columns(linking.Named("student id and birth year", schema)) for schema in (camel, plain))
    assert own["birthyear"] == other["birth_year"]
    assert own["stuid"] == other["stu_id"]


def test_tables_are_known_without_the_name_of_their_schema() -> None:
    order = Table("sales.orders", (Column("id"),), schema="sales")
    named = linking.Named("all orders", Schema("shop", "postgres", (order, Table("item", (Column("id"),)))))
    assert linking.tables(named).keys() == {"orders", "item"}
    assert named.tables["orders"][0] == 1


def test_a_query_that_cannot_be_read_is_no_likelier_than_the_others() -> None:
    written = ("SELECT name FROM singer", "SELECT count(*) FROM song", "SELECT (")
    candidates = [Candidate(sql, "g", None, Result((), ((at,),)), group=at) for at, sql in enumerate(written)]
    task = Task(Question("List the singers by age."), MUSIC, "")
    figures = features(candidates, task, sketch=sketch())
    for name in NOTHING:
        assert figures[2][name] == min(figures[0][name], figures[1][name])
    assert features(candidates[2:], task, sketch=sketch())[2]["sketch"] == 0


def test_a_sketch_tells_what_a_query_does() -> None:
    counted = elements(anatomy("SELECT title, count(*) FROM song GROUP BY title HAVING count(*) > 2", MUSIC))
    assert counted == {"item count", "items 2", "tables 1", "constants 1", "group", "having", "compare"}


def test_queries_as_expected_are_likelier() -> None:
    queries = [
        anatomy(sql, MUSIC)
        for sql in (
            "SELECT count(*) FROM singer",
            "SELECT name FROM singer",
            "SELECT count(*) FROM song",
            "SELECT birth_year FROM singer",
        )
    ]
    count, name, song, year = sketch().figures("How many singers are there?", MUSIC, queries)
    assert count["sketch"] > name["sketch"]
    assert count["tables_expected"] > song["tables_expected"]
    assert count["columns_expected"] > year["columns_expected"]
    [asked, *_] = sketch().figures("What is the birth year?", MUSIC, queries[3:])
    assert asked["columns_expected"] > year["columns_expected"]


def test_a_log_probability_is_of_all_elements() -> None:
    drawn = Sketch({"item count": 0.0, "group": 100.0}, {}, [0.0] * len(linking.TABLE), [0.0] * len(linking.COLUMN))
    [figures] = drawn.figures("", MUSIC, [anatomy("SELECT count(*) FROM singer", MUSIC)])
    assert figures["sketch"] == pytest.approx(log(0.5) + log(LEAST))
    assert figures["tables_expected"] == pytest.approx(2 * log(0.5))


def test_of_wide_schemas_nothing_is_expected() -> None:
    columns = tuple(Column(f"c{number}") for number in range(WIDE + 1))
    wide = Schema("wide", "sqlite", (Table("t", columns),))
    assert sketch().figures("How many?", wide, [anatomy("SELECT c1 FROM t", wide)]) == [dict(NOTHING)]


def test_the_light_judge_keeps_its_sketch(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    weights = Weights({"sketch": 1.0}, {}, 0.0, sketch())
    file.write_text(json.dumps(weights.to_json()))
    assert read(str(file)) == weights
    assert weights.digest != Weights({"sketch": 1.0}, {}).digest
    wanted, other = (
        Candidate(sql, "g", None, Result((), ((number,),)), group=number)
        for number, sql in enumerate(("SELECT name FROM singer", "SELECT count(*) FROM singer"))
    )
    task = Task(Question("How many singers?"), MUSIC, "")
    with_it, without = (features((wanted, other), task, sketch=drawn) for drawn in (read(str(file)).sketch, None))
    assert with_it[1]["sketch"] > with_it[0]["sketch"]
    assert without[1]["sketch"] == without[0]["sketch"] == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"start": None}, "no phrases, or no elements"),
        ({"start": {"group": "much"}}, "no phrases, or no elements"),
        ({"phrases": {"how many": [7, 1]}}, "the phrase 'how many'"),
        ({"phrases": {"how many": [0]}}, "the phrase 'how many'"),
        ({"phrases": {"how many": [0, 1e300]}}, "the phrase 'how many'"),
        ({"tables": [1.0]}, "other figures of tables"),
        ({"columns": None}, "other figures of columns"),
    ],
)
def test_a_sketch_that_is_none_is_named(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    told = {**sketch().to_json(), **change}
    with pytest.raises(InputError, match=why):
        read_sketch(told)
    file = tmp_path / "own.json"
    file.write_text(json.dumps({**Weights({"sketch": 1.0}, {}).to_json(), "sketch": told}))
    with pytest.raises(InputError, match=r"own\.json: its sketch .*make it again"):
        read(str(file))
