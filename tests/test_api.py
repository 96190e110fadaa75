"""The front door: what one call can do."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

import sqljury
from sqljury import FakeModel, Session, connect
from sqljury.access.rules import Access
from sqljury.budget import Allowance
from sqljury.context import Progress
from sqljury.errors import (
    BudgetExceededError,
    CancelledError,
    DatabaseError,
    InputError,
    NoAnswerError,
    NotesError,
    QuestionError,
    RecipeError,
)
from sqljury.llm.ledger import Budget as Limit
from sqljury.llm.ledger import Ledger, Metered, Price
from sqljury.schema.introspect import introspect
from sqljury.sql.parse import MAX_READ_WORDS

TALL, SHORT = "SELECT name FROM person WHERE height > 180", "SELECT name FROM person WHERE height < 180"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, height INTEGER, salary INTEGER);"
            "INSERT INTO person VALUES (1, 'Ann', 185, 10), (2, 'Bo', 170, 20), (3, 'Cy', 190, 30);"
        )
    connection.close()
    return file


def test_a_session_answers_many_questions_on_one_database(path: Path) -> None:
    with Session(path, recipe="fast", model=FakeModel([TALL, SHORT])) as session:
        assert session.ask("Who is tall?").rows == (("Ann",), ("Cy",))
        assert session.ask("Who is short?").rows == (("Bo",),)
        database = session.database
    assert database.execute("SELECT 1").error is not None  # closed with the session


def test_what_was_given_open_stays_open(path: Path) -> None:
    with connect(path) as db:
        with Session(db, recipe="fast", model=FakeModel([TALL])) as session:
            session.ask("Who is tall?")
        assert db.execute("SELECT 1").ok


def test_a_ledger_counts_the_calls_of_a_given_model_too_and_once(path: Path) -> None:
    price = Price(input=1.0, output=1.0)
    for meters in (0, 1):
        ledger = Ledger()
        given = Metered(FakeModel(TALL), ledger, price) if meters else FakeModel(TALL)
        with Session(path, recipe="fast", model=given, ledger=ledger, price=price) as session:
            answer = session.ask("Who is tall?")
        assert (ledger.spent.calls, answer.cost.calls) == (1, 1)
        assert ledger.spent.usd == answer.cost.usd > 0
    with (
        Session(path, recipe="fast", model=FakeModel(TALL), ledger=Ledger(Limit(calls=0))) as session,
        pytest.raises(BudgetExceededError),
    ):
        session.ask("Who is tall?")


def test_every_step_is_told_and_the_answer_says_what_it_cost(path: Path) -> None:
    seen: list[Progress] = []
    with Session(path, recipe="fast", model=FakeModel([TALL]), progress=seen.append) as session:
        answer = session.ask("Who is tall?")
    steps = ["reading the schema", "writing queries", "running the queries", "choosing"]
    assert [step.step for step in seen if step.step in steps] == steps
    assert answer.cost.calls == sum(cost.calls for _, cost in answer.steps) == 1


def test_a_question_can_be_cancelled(path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with Session(path, recipe="fast", model=FakeModel([TALL]), cancel=cancel) as session:
        with pytest.raises(CancelledError):
            session.ask("Who is tall?")
        cancel.clear()
        assert session.ask("Who is tall?").sql == TALL


def test_rules_notes_and_examples_reach_the_model(path: Path, tmp_path: Path) -> None:
    notes, examples = tmp_path / "notes.yaml", tmp_path / "examples.json"
    notes.write_text("tables:\n  person:\n    columns:\n      height: in centimetres\n")
    examples.write_text(
        '[{"question": "Who is heaviest?", "query": "SELECT name FROM person ORDER BY weight LIMIT 1"}]'
    )
    recipe = tmp_path / "shots.toml"
    recipe.write_text('[[generate]]\ngenerator = "fewshot"\n')
    model = FakeModel([TALL])
    access = Access(deny=("person.salary",))
    with Session(path, recipe=str(recipe), model=model, notes=notes, examples=examples, access=access) as session:
        session.ask("Who is tall?", evidence="tall means above 180")
    prompt = model.calls[0].prompt
    assert "in centimetres" in prompt
    assert "Who is heaviest?" in prompt
    assert "tall means above 180" in prompt
    assert "salary" not in prompt


def test_describe_needs_no_model(path: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.yaml"
    notes.write_text("tables: {person: {columns: {height: in centimetres}}}\nnot_joins: [person.id = person.salary]")
    steps: list[Progress] = []
    found = sqljury.describe(path, access=Access(deny=("*.salary",)), progress=steps.append)
    assert [column.name for column in found.schema.tables[0].columns] == ["id", "name", "height"]
    assert steps
    hidden = sqljury.describe(path, access=Access(deny=("*.salary",)), notes=notes)
    assert [column.comment for column in hidden.schema.tables[0].columns] == ["", "", "in centimetres"]
    assert "salary" not in str(hidden.to_dict()), "what the rules hide is left out of the notes too"
    notes.write_text("tables: {person: {columns: {weight: in kilograms}}}")
    with pytest.raises(NotesError, match="no column of person called 'weight'"):
        sqljury.describe(path, access=Access(deny=("*.salary",)), notes=notes)
    notes.write_text("tables: {person: {columns: {height: in centimetres}}}\nnot_joins: [person.id = person.salary]")
    with Session(path, recipe="fast", model=FakeModel([TALL]), notes=notes) as session:
        described = session.describe()
        assert described == sqljury.describe(path, notes=notes)
        assert described.schema.tables[0].columns[2].comment == "in centimetres"
        assert session.database.execute("SELECT 1").ok
    (table,) = described.to_dict()["tables"]
    assert (table["name"], table["columns"][2]["comment"]) == ("person", "in centimetres")
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        sqljury.describe(path, cancel=cancel)


def test_check_writes_candidates_and_runs_no_query_that_is_refused(path: Path) -> None:
    model = FakeModel([TALL] * 9)
    with Session(path, recipe="fast", model=model) as session:
        with pytest.raises(InputError):
            session.check("Who is tall?", " ")
        with pytest.raises(sqljury.errors.QueryRefusedError):
            session.check("Who is tall?", "DROP TABLE person")
        assert model.calls == []
        wrong = session.check("Who is tall?", "SELECT nothing FROM person")
        assert (wrong.verdict, wrong.correction and wrong.correction.sql) == ("wrong", TALL)


def test_prepare_makes_what_the_first_question_would_wait_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLJURY_CACHE", str(path.parent / "cache"))
    seen: list[Progress] = []
    with Session(path, recipe="default", model=FakeModel([]), progress=seen.append) as session:
        schema = session.prepare()
        assert schema == introspect(session.database)
    assert any(step.step == "indexing" for step in seen)


def test_several_callers_share_a_session_each_with_rules_and_progress_of_its_own(path: Path) -> None:
    seen: list[Progress] = []
    cancel = threading.Event()
    cancel.set()
    with connect(path) as db, Session(db, recipe="fast", model=FakeModel(lambda _: TALL)) as session:
        session.following(seen.append).ask("Who is tall?")
        ran = [candidate for step in seen for candidate in step.candidates]
        assert [(candidate.sql, len(candidate.result.rows)) for candidate in ran] == [(TALL, 2)]
        with pytest.raises(CancelledError):
            session.following(seen.append, cancel).ask("Who is tall?")
        hidden = session.on(db, Access(deny=("*.height",)))
        assert hidden.query("SELECT height FROM person").error_kind == "refused"
        with pytest.raises(NoAnswerError):
            hidden.ask("Who is tall?")
        assert session.query("SELECT height FROM person WHERE id = 1").rows == ((185,),)
        hidden.close()
        assert session.ask("Who is tall?").rows == (("Ann",), ("Cy",))  # it closes nothing of the others


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"recipe": "nowhere"}, RecipeError),
        ({"notes": "nowhere.yaml"}, NotesError),
        ({"examples": "nowhere.json"}, InputError),
        ({"schemas": ("sales",)}, DatabaseError),
    ],
)
def test_what_cannot_be_used_is_said_when_the_session_opens(
    path: Path, given: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Session(path, model=FakeModel([]), **given)  # type: ignore[arg-type]


def test_errors_of_one_call(path: Path, tmp_path: Path) -> None:
    with pytest.raises(QuestionError):
        sqljury.ask("delete all persons", tmp_path / "is not looked for.db", model=FakeModel([]))
    with pytest.raises(DatabaseError):
        sqljury.ask("Who?", tmp_path / "missing.db", model=FakeModel([]))
    with pytest.raises(NoAnswerError) as caught:
        sqljury.ask("Who?", path, recipe="fast", model=FakeModel("no idea"), allowance=Allowance(tokens=1))
    assert caught.value.cost.calls == 1


def test_a_query_that_is_too_long_to_be_understood_still_counts_by_its_result(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.executescript("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)")
    within = ", ".join(["1"] * MAX_READ_WORDS)
    queries = [f"SELECT count(*) FROM t WHERE a IN ({within})", f"SELECT count(a) FROM t WHERE a IN ({within})"]
    with Session(tmp_path / "t.db", model="none", recipe="choose") as session:
        for selector in ("consistency", "light"):
            answer = session.choose("How many?", ["SELECT count(*) FROM t", *queries], selector=selector)
            assert [one.result.rows for one in answer.candidates] == [((2,),), ((1,),), ((1,),)]
        assert session.choose("How many?", ["SELECT 7", *queries], selector="consistency").sql == queries[0]
