"""An answer beside its strongest rival, in Python, JSON, notebooks and on the command line."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, ask, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.cli import show
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.errors import CancelledError
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.recipes.parts import TestsPart
from sqljury.schema.introspect import introspect
from sqljury.stages.contrast import verified
from sqljury.testing import suite
from sqljury.testing.trial import run_case
from sqljury.types import Answer, Schema, TestCase

OVER, FROM = "SELECT name FROM person WHERE age > 30", "SELECT name FROM person WHERE age >= 30"
SAME = "SELECT name FROM person WHERE 30 < age AND 1 = 1"
KEYS = ("SELECT count(*) FROM pet", "SELECT count(*) FROM pet JOIN person ON owner = person.id")
NASTY = "be\x1b[31mar <b>[/x]"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, mail TEXT)")
        rows = [(1, NASTY, 30, "a@x"), (2, "Bo", 31, "b@x"), (3, "Cy", 29, "c@x")]
        connection.executemany("INSERT INTO person VALUES (?, ?, ?, ?)", rows)
        connection.execute("CREATE TABLE pet (owner INTEGER NOT NULL REFERENCES person (id))")
        connection.execute("INSERT INTO pet VALUES (2), (9)")
        connection.execute("CREATE VIEW old AS SELECT * FROM person WHERE age >= 30")
    connection.close()
    return file


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with connect(path) as opened:
        yield opened


def answered(db: Database, *queries: str, recipe: Recipe | None = None) -> Answer:
    made = recipe or Recipe("test", select=SelectPart("consistency"))
    parts = (GeneratePart(samples=len(queries), temperature=1.0),)
    return Pipeline(replace(made, generate=parts), FakeModel([queries])).answer(Question("Who is past thirty?"), db)


def test_the_rows_on_which_two_queries_differ(db: Database) -> None:
    found = verified(answered(db, OVER, OVER, FROM), db).verified
    assert found is not None
    assert (found.outcome, found.rival) == ("differ", 1)
    assert found.test is not None
    rows = sorted((age, name) for _, name, age in found.test.case.tables["person"])
    (_, name), (age, older) = rows  # the fewest on which both find something
    assert (rows[0][0], age > 30) == (30, True)
    assert found.test.queries == (OVER, FROM)
    assert [sorted(result.rows) for result in found.test.results] == [[(older,)], sorted([(name,), (older,)])]
    again = verified(answered(db, OVER, OVER, FROM), db).verified
    assert again is not None
    assert again.test is not None
    assert again.test.case == found.test.case


def test_nothing_else_to_compare_with(db: Database) -> None:
    found = verified(answered(db, OVER, SAME, "SELECT nme FROM nowhere"), db)
    assert found.verified is not None
    assert (found.verified.outcome, found.verified.test) == ("agreed", None)


def test_what_may_mean_the_same_is_said(db: Database) -> None:
    """They differ on this database alone, whose rows do not keep the declared keys."""
    checked = verified(answered(db, *KEYS), db).verified
    assert checked is not None
    assert (checked.outcome, checked.test, checked.rival) == ("together", None, 1)


def test_what_cannot_be_run_on_small_databases_is_said(db: Database) -> None:
    checked = verified(answered(db, "SELECT name FROM old", "SELECT age FROM person"), db).verified
    assert checked is not None
    assert checked.outcome == "untried"
    assert "old" in checked.why


def test_masked_values_are_not_in_the_example(db: Database) -> None:
    guarded = guard(db, introspect(db), Access(mask=("person.mail",)))
    found = answered(guarded, "SELECT mail FROM person WHERE age > 30", "SELECT mail FROM person")
    checked = verified(found, guarded).verified
    assert checked is not None
    assert checked.test is not None
    assert not {"a@x", "b@x", "c@x"} & {cell for row in checked.test.case.tables["person"] for cell in row}


def test_it_can_be_stopped(db: Database) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        verified(answered(db, OVER, FROM), db, cancel=cancel)


def believing(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    def with_expected(case: TestCase, question: Question, part: TestsPart, context: Context) -> TestCase:
        return replace(case, expected=run_case(case, [sql]).results[0], confidence=0.75)

    monkeypatch.setattr(suite, "with_expected", with_expected)


TESTED = Recipe("test", tests=TestsPart(kind="suite"), select=SelectPart("rerank"))


def test_a_test_that_the_answer_has_is_taken(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    believing(monkeypatch, FROM)
    answer = verified(answered(db, OVER, OVER, "SELECT name FROM person", FROM, recipe=TESTED), db)
    assert answer.sql == FROM
    assert answer.choice is not None
    assert answer.verified is not None
    assert answer.verified.test is not None
    assert (answer.verified.test.queries[0], answer.verified.test.passed[0]) == (FROM, True)
    assert answer.verified.test.case in [test.case for test in answer.choice.tests]


def test_json_has_tables_queries_and_who_passed(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    believing(monkeypatch, FROM)
    answer = verified(answered(db, OVER, OVER, FROM, recipe=TESTED), db)
    data = json.loads(json.dumps(answer.to_dict()))
    (test,) = data["choice"]["tests"]
    assert test["tables"]["person"]["columns"] == ["id", "name", "age"]
    assert (test["queries"], test["passed"], test["by"], test["confidence"]) == (
        [OVER, FROM],
        [False, True],
        "model",
        0.75,
    )
    assert test["expected"]["rows"] == test["results"][1]["rows"] != test["results"][0]["rows"]
    assert data["verified"]["outcome"] == "differ"
    assert data["verified"]["test"]["queries"] == [FROM, OVER]


def test_a_notebook_shows_the_rows_and_escapes_them(db: Database) -> None:
    answer = answered(db, OVER, OVER, FROM)
    assert "on these rows" not in answer._repr_html_()
    person = next(table for table in introspect(db).tables if table.name == "person")
    case = TestCase(Schema("s", "sqlite", (person,)), (((1, NASTY, 30, "<i>"),),))
    checked = verified(answer, db)
    assert checked.verified is not None
    assert checked.verified.test is not None
    shown = replace(checked, verified=replace(checked.verified, test=replace(checked.verified.test, case=case)))
    html = shown._repr_html_()
    assert "on these rows" in html
    assert "&lt;b&gt;" in html
    assert "<b>[" not in html
    assert "<i>" not in html


def printed(capsys: pytest.CaptureFixture[str], answer: Answer, output: str = "table") -> tuple[str, str]:
    show.answer(answer, output, None, explain=True)
    return capsys.readouterr()


def test_people_see_the_rows_the_queries_and_what_was_expected(
    db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    believing(monkeypatch, FROM)
    out, _ = printed(capsys, verified(answered(db, OVER, OVER, FROM, recipe=TESTED), db))
    assert all(character.isprintable() or character == "\n" for character in out)
    for line in (
        "Verify by eye: on 2 rows ",
        ", the answer differs from its strongest rival (2 candidates).",
        "The answer returns there what is expected:",
        "The rival returns there, which is not expected:",
        "Before it saw any query, the model expected (75% of its opinions):",
        "* chosen by rerank\n",
        "Tests\n",
    ):
        assert line in out
    row = next(line for line in out.splitlines() if line.startswith("1 ") and "model" in line)
    assert row.split()[-2:] == ["failed", "passed"]


def test_it_is_told_where_no_test_decided(
    db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suite, "with_expected", lambda case, *_: case)
    out, _ = printed(capsys, answered(db, OVER, OVER, FROM, recipe=TESTED))
    assert "* chosen by rerank; no test says anything of the query with most votes, so votes decided\n" in out
    assert "nobody said" in out


def test_machines_find_it_beside_the_data(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    answer = answered(db, OVER, OVER, FROM)
    plain, _ = printed(capsys, answer, "csv")
    out, error = printed(capsys, verified(answer, db), "csv")
    assert out == plain
    assert "Verify by eye" in error


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ((OVER, SAME, "SELECT nme FROM nowhere"), "Nothing to compare: all 2 queries that run return the same.\n"),
        ((OVER,), "Nothing to compare: only one query runs; recipes that write more"),
        (
            ("SELECT name FROM old", "SELECT age FROM person"),
            "and the answer cannot be run there: no such table: old",
        ),
        (KEYS, "No rows were found on which the answer differs from its strongest rival (1 candidate), SELECT"),
    ],
)
def test_where_there_are_no_rows_the_reason_is_told(
    db: Database, capsys: pytest.CaptureFixture[str], queries: Sequence[str], said: str
) -> None:
    assert said in printed(capsys, verified(answered(db, *queries), db))[0]


def test_ask_verifies_on_request(path: Path) -> None:
    answer = ask("Who?", path, model=FakeModel(lambda call: [OVER] if call.n == 1 else [FROM] * 7), verify=True)
    assert answer.verified is not None
    assert answer.verified.outcome == "differ"
    assert ask("Who?", path, model=FakeModel(OVER)).verified is None
