"""Two readings of a question from candidates that disagree, by the whole pipeline on the example shop."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.db.base import Database
from sqljury.recipes import FixPart, GeneratePart, Recipe
from sqljury.schema.notes import Notes
from sqljury.types import Answer, Privacy
from sqljury.types.question import LEVELS

PIECES = "SELECT SUM(quantity) FROM return_line"
ROWS = "SELECT COUNT(*) FROM return_line"
ASKED = "How many pieces came back?"


@pytest.fixture(scope="module")
def db(shop: Path) -> Iterator[Database]:
    with connect(shop) as opened:
        yield opened


def answered(db: Database, question: str, queries: Sequence[str], **options: Any) -> Answer:
    recipe = Recipe("all", generate=(GeneratePart(samples=len(queries), temperature=1.0),), fix=FixPart(attempts=0))
    return Pipeline(recipe, FakeModel([list(queries)])).answer(Question(question), db, **options)


def test_readings_bear_the_words_the_meanings_and_both_answers(db: Database) -> None:
    answer = answered(db, ASKED, [PIECES, PIECES, ROWS, PIECES, ROWS])
    mine, other = answer.readings
    assert answer.rows == mine.rows == ((340,),)
    assert (mine.words, mine.meaning, mine.sql, mine.votes) == ("How many pieces", "the sum of quantity", PIECES, 3)
    assert (other.words, other.meaning) == ("How many pieces", "the number of rows of return_line")
    assert (other.sql, other.rows, other.votes) == (ROWS, ((182,),), 2)
    data = answer.to_dict()["readings"]
    assert [list(reading) for reading in data] == 2 * [
        ["words", "meaning", "sql", "columns", "rows", "truncated", "votes"]
    ]
    assert data[1]["rows"] == [[182]]
    html = answer._repr_html_()
    assert "How many pieces can be read in two ways" in html
    assert "<td>182</td>" in html


def test_an_abstention_asks_which_reading_is_meant(db: Database) -> None:
    answer = answered(db, ASKED, [PIECES, PIECES, ROWS, PIECES, ROWS], least=0.98)
    assert answer.abstention is not None
    assert answer.abstention.kind == "unsure"
    asks = "Does 'How many pieces' mean the sum of quantity, or the number of rows of return_line?"
    assert answer.abstention.ask == asks


@pytest.mark.parametrize("reading", [0, 1])
def test_a_chosen_reading_settles_the_doubt(db: Database, reading: int) -> None:
    answer = answered(db, ASKED, [PIECES, PIECES, ROWS, PIECES, ROWS], least=0.98)
    assert answer.read_as(reading).abstention is None
    notes = Notes(glossary=((answer.readings[reading].words, answer.readings[reading].meaning),))
    noted = answered(db, ASKED, [PIECES, PIECES, ROWS, PIECES, ROWS], least=0.98, notes=notes)
    assert (noted.sql, noted.abstention) == (answer.readings[reading].sql, None)


def test_an_answer_that_nobody_reads_asks_the_database_nothing_more(db: Database) -> None:
    silent = answered(db, ASKED, [PIECES, PIECES], explain=False)
    assert (silent.explanation, silent.remarks, silent.rows) == (None, (), ((340,),))
    assert answered(db, ASKED, [PIECES, PIECES]).explanation is not None


def test_an_answer_can_be_read_the_other_way(db: Database) -> None:
    answer = answered(db, ASKED, [PIECES, PIECES, ROWS, PIECES, ROWS])
    other = answer.read_as(1)
    assert (other.sql, other.rows, other.readings) == (ROWS, ((182,),), answer.readings[::-1])
    assert other.choice is not None
    assert other.candidates[other.choice.index or 0].sql == ROWS
    assert other.confidence is None
    assert other.explanation is not None
    assert [step.text for step in other.explanation.steps] == ["Reads return_line.", "Shows the number of rows."]
    assert answer.readings[0].explanation == answer.explanation
    assert other.read_as(1).sql == PIECES
    assert answer.read_as(0) == answer
    with pytest.raises(IndexError):
        answer.read_as(2)


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        (ASKED, [PIECES, PIECES, PIECES, PIECES]),  # they agree
        (ASKED, [PIECES, PIECES, PIECES, ROWS]),  # one vote is no support
        (ASKED, [PIECES] * 7 + [ROWS] * 2),  # nor are two of nine
        (ASKED, [PIECES, PIECES, ROWS + " WHERE id < 0", ROWS + " WHERE id < 0"]),  # which finds nothing
        ("How many return lines are there?", [PIECES, PIECES, ROWS, ROWS]),  # no word leaves it open
        (ASKED, [PIECES, PIECES, ROWS + " WHERE quantity > 1", ROWS + " WHERE quantity > 1"]),  # two differences
        (ASKED, [PIECES]),
    ],
    ids=range(7),
)
def test_doubt_is_not_ambiguity(db: Database, question: str, queries: list[str]) -> None:
    assert answered(db, question, queries).readings == ()


def test_the_reading_with_most_votes_is_compared_first(db: Database) -> None:
    broken = "SELECT no_such FROM return_line"
    queries = [PIECES, PIECES, ROWS, ROWS, broken, "SELECT MAX(quantity) FROM return_line"]
    assert [reading.sql for reading in answered(db, ASKED, queries).readings] == sorted([PIECES, ROWS], reverse=True)


def test_a_meaning_tells_no_value_that_prompts_may_not_hold(tmp_path: Path) -> None:
    """A meaning that somebody chooses becomes a note, and notes are sent whatever the privacy is."""
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, city TEXT);"
            "INSERT INTO person (city) VALUES ('San Josemaria'), ('San Josemaria'), ('San Matthias'), ('Oakland'),"
            " ('San Matthias'), ('San Matthias');"
        )
    connection.close()
    sql = "SELECT count(*) FROM person WHERE city = "
    queries = [f"{sql}'San Josemria'", f"{sql}'San Mathias'"] * 2
    recipe = Recipe("all", generate=(GeneratePart(samples=4, temperature=1.0),), fix=FixPart(values=True))
    meanings: dict[Privacy, list[str]] = {}
    with connect(file) as db:
        for privacy in LEVELS:
            pipeline = Pipeline(recipe, FakeModel(lambda _: queries, local=False), privacy=privacy)
            answer = pipeline.answer(Question("How many people live in San?"), db)
            assert "'San Josemaria'" in answer.sql
            meanings[privacy] = [one.meaning for one in answer.readings]
    repaired = ["city is 'San Josemaria'", "city is 'San Matthias'"]
    assert meanings == {"schema": [], "values": repaired, "rows": repaired}
