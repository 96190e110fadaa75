"""A question reads the database again only where it was changed, and then it always does."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Question, Session, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.context import Context, Kept
from sqljury.db import sqlite_opening
from sqljury.db.base import Database
from sqljury.db.contents import content
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import DatabaseError
from sqljury.recipes.parts import GeneratePart, SchemaPart
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import Item, Notes
from sqljury.schema.samples import sample
from sqljury.stages import prepare
from sqljury.stages.generate.made import made
from sqljury.stages.prepare import Preparation, value_index
from sqljury.types import Privacy, QueryFailure, Result

PEOPLE = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, salary INTEGER);
CREATE TABLE town (id INTEGER PRIMARY KEY, title TEXT);
INSERT INTO person VALUES (1, 'Ann', 77123), (2, 'Bo', 88123);
INSERT INTO town VALUES (1, 'Riga');
"""
OTHER_PROGRAM = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()"
QUESTION = "How many people are there?"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_opening, "TICK_NS", 0)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(PEOPLE)
    return file


@pytest.fixture
def db(people: Path) -> Iterator[Database]:
    with connect(people) as opened:
        yield opened


@pytest.fixture
def catalogs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries on the catalogue, and those for samples, that are run from now on."""
    seen: list[str] = []
    catalog, execute = SQLiteDatabase.catalog, SQLiteDatabase.execute

    def catalog_seen(own: SQLiteDatabase, sql: str, *rest: Any) -> Any:
        seen.append(sql)
        return catalog(own, sql, *rest)

    def execute_seen(own: SQLiteDatabase, sql: str, *rest: Any, **options: Any) -> Any:
        if sql.endswith("LIMIT 50"):
            seen.append(sql)
        return execute(own, sql, *rest, **options)

    monkeypatch.setattr(SQLiteDatabase, "catalog", catalog_seen)
    monkeypatch.setattr(SQLiteDatabase, "execute", execute_seen)
    return seen


@pytest.fixture
def session(db: Database) -> Iterator[Session]:
    model = FakeModel("SELECT count(*) FROM person")
    with Session(db, recipe="fast", model=model, cache=False) as opened:
        yield opened


def shown(session: Session) -> str:
    """The prompt of a question asked now."""
    model = session.pipeline.model
    assert isinstance(model, FakeModel)
    model.calls.clear()
    session.ask(QUESTION)
    return "\n".join(message.content for message in model.calls[0].messages)


def changed(file: Path, script: str) -> None:
    subprocess.run([sys.executable, "-c", OTHER_PROGRAM, str(file), script], check=True)


def test_a_second_question_reads_no_catalogue_and_no_samples(session: Session, catalogs: list[str]) -> None:
    first = shown(session)
    assert catalogs
    assert "'Ann'" in first or "Ann |" in first
    catalogs.clear()
    assert shown(session) == first
    assert catalogs == []


@pytest.mark.parametrize("log", [False, True])
def test_rows_that_another_program_wrote_are_shown(session: Session, people: Path, log: bool) -> None:
    if log:
        changed(people, "PRAGMA journal_mode = WAL")
    assert "Cleopatra" not in shown(session)
    changed(people, "INSERT INTO person VALUES (3, 'Cleopatra', 1)")
    assert "Cleopatra" in shown(session)
    changed(people, "UPDATE person SET name = 'Dido' WHERE id = 3")
    again = shown(session)
    assert "Dido" in again
    assert "Cleopatra" not in again


def test_a_program_that_stays_connected_is_followed(session: Session, people: Path) -> None:
    with closing(sqlite3.connect(people, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        for number in range(5):
            writer.execute("INSERT INTO town VALUES (?, ?)", (None, f"Town{number}"))
            writer.execute("DELETE FROM town WHERE title <> ?", (f"Town{number}",))
            prompt = shown(session)
            assert f"Town{number}" in prompt
            assert f"Town{number - 1}" not in prompt


def test_a_changed_schema_is_shown(session: Session, people: Path) -> None:
    assert "email" not in shown(session)
    changed(people, "ALTER TABLE person ADD COLUMN email TEXT")
    assert "email TEXT" in shown(session)
    changed(people, "DROP TABLE town")
    assert "town" not in shown(session)


@pytest.mark.parametrize("how", ["replaced", "written over"])
def test_another_file_is_shown(session: Session, people: Path, tmp_path: Path, how: str) -> None:
    assert "person" in shown(session)
    other = tmp_path / "other.db"
    changed(other, PEOPLE.replace("town", "city").replace("Riga", "Oslo"))
    if how == "replaced":
        os.replace(other, people)
    else:
        shutil.copyfile(other, people)
    prompt = shown(session)
    assert "city" in prompt
    assert "Oslo" in prompt
    assert "town" not in prompt
    assert "Riga" not in prompt


def test_who_may_see_less_never_gets_the_text_of_who_may_see_more(session: Session, db: Database) -> None:
    rules = {
        "no salary": Access(deny=("person.salary",)),
        "no town": Access(deny=("town",)),
        "masked": Access(mask=("person.name",)),
        "one row": Access(rows=("person: name = 'Ann'",)),
    }
    views = {name: session.on(db, access) for name, access in rules.items()}
    for _ in range(2):
        everything = shown(session)
        assert all(text in everything for text in ("salary", "town", "Ann", "Bo", "88123"))
        prompts = {name: shown(view) for name, view in views.items()}
        assert "salary" not in prompts["no salary"]
        assert "88123" not in prompts["no salary"]
        assert "town" in prompts["no salary"]
        assert "town" not in prompts["no town"]
        assert "salary" in prompts["no town"]
        assert "Ann" not in prompts["masked"]
        assert "Ann" in prompts["one row"]
        assert "Bo |" not in prompts["one row"]
        assert "88123" not in prompts["one row"]


def test_rows_that_were_written_are_shown_behind_rules_too(session: Session, db: Database, people: Path) -> None:
    view = session.on(db, Access(rows=("person: salary > 80000",)))
    assert "Cleopatra" not in shown(view)
    changed(people, "INSERT INTO person VALUES (3, 'Cleopatra', 99123), (4, 'Dido', 3)")
    prompt = shown(view)
    assert "Cleopatra" in prompt
    assert "Dido" not in prompt


def test_each_level_of_privacy_has_its_own_text(db: Database) -> None:
    levels: tuple[Privacy, ...] = ("rows", "schema", "values", "rows", "schema", "values")
    texts = [Preparation(SchemaPart()).task(Question(QUESTION), db, shows=level).text for level in levels]
    assert texts[:3] == texts[3:]
    assert [getattr(text, "holds", None) for text in texts[:3]] == list(levels[:3])
    assert "88123" in texts[0]
    assert "Ann" not in texts[1]
    assert "2 | Bo | 88123" in texts[0]
    assert "2 | Bo | 88123" not in texts[2]


def test_notes_have_texts_of_their_own(db: Database) -> None:
    notes = [Notes(), *(Notes(items=(Item("person", "salary", description=text),)) for text in ("a year", "a month"))]
    for _ in range(2):
        texts = [Preparation(SchemaPart()).task(Question(QUESTION), db, one).text for one in notes]
        assert ["a year" in text for text in texts] == [False, True, False]
        assert ["a month" in text for text in texts] == [False, False, True]


def test_notes_that_match_nothing_are_said_each_time(db: Database) -> None:
    notes = Notes(items=(Item("nowhere", description="x", where="notes.yaml:1", optional=True),))
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="nowhere"):
            Preparation(SchemaPart()).task(Question(QUESTION), db, notes)


def test_recipes_have_texts_of_their_own(db: Database) -> None:
    parts = [SchemaPart(), SchemaPart(form="compact"), SchemaPart(sample_rows=0), SchemaPart(sample_rows=1)]
    parts += [
        SchemaPart(types=True),
        SchemaPart(examples=2),
        SchemaPart(examples=2, nearest=True),
        SchemaPart(tokens=30),
    ]
    fresh = []
    for part in parts:
        with connect(db.url) as own:
            fresh.append(Preparation(part).task(Question("Where does Ann live?"), own).text)
    assert len(set(fresh)) > 5
    for _ in range(2):
        assert [Preparation(part).task(Question("Where does Ann live?"), db).text for part in parts] == fresh
    task = Preparation(SchemaPart()).task(Question(QUESTION), db)
    orders = [Preparation(SchemaPart()).reshown(task, db, order=order).text for order in (0, 1, 2, 1, 2)]
    assert orders[1:3] == orders[3:]
    assert len(set(orders)) > 1


def test_a_text_that_lacks_a_table_is_not_kept(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any, **options: Any) -> dict[str, Result]:
        return {**sample(*arguments, **options), "person": Result(error=QueryFailure("limit", "slow"))}

    monkeypatch.setattr(prepare, "sample", failing)
    assert "Ann" not in Preparation(SchemaPart()).task(Question(QUESTION), db).text
    monkeypatch.setattr(prepare, "sample", sample)
    assert "Ann" in Preparation(SchemaPart()).task(Question(QUESTION), db).text


def test_the_value_index_is_opened_once_and_again_when_it_is_damaged(
    db: Database, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, build = [], prepare.open_or_build

    def counted(*arguments: Any) -> Any:
        opened.append(arguments)
        return build(*arguments)

    monkeypatch.setattr(prepare, "open_or_build", counted)

    def index() -> Any:
        return value_index(db, lambda: introspect(db))

    assert index() is index()
    assert len(opened) == 1
    changed(people, "INSERT INTO town VALUES (2, 'Valparaiso')")
    assert [match.value for match in index().search("Valparaiso")][:1] == ["Valparaiso"]
    assert len(opened) == 2

    def broken(*_: Any) -> Any:
        raise IndexError("beyond the end")

    monkeypatch.setattr(index()._searcher, "search", broken)
    with pytest.raises(DatabaseError, match="damaged"):
        index().search("Riga")
    assert index().search("Riga")
    assert len(opened) == 3


def test_a_word_is_searched_once_in_an_open_index(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    index, searched = value_index(db, lambda: introspect(db)), []
    search = index._searcher.search

    def counted(texts: Any, limit: int) -> Any:
        searched.extend((text, limit) for text in texts)
        return search(texts, limit)

    monkeypatch.setattr(index._searcher, "search", counted)
    first = index.search_many(["Riga", "Ann", "Riga"], 3)
    first[0].clear()
    assert [match.value for match in index.search("Riga", 3)] == ["Riga"]
    assert [match.value for match in index.search("Riga", 2)] == ["Riga"]
    assert searched == [("Riga", 3), ("Ann", 3), ("Riga", 2)]


def test_examples_are_made_of_the_rows_as_they_are(db: Database, people: Path) -> None:
    horses = "('Star', 'Arab'), ('Moon', 'Arab'), ('Sun', 'Shire'), ('Dusk', 'Shire'), ('Dawn', 'Arab')"
    changed(people, f"CREATE TABLE horse (name TEXT, breed TEXT); INSERT INTO horse VALUES {horses}")
    kept = Kept()

    def examples() -> str:
        context = Context(db, FakeModel("never asked"), kept=kept)
        task = Preparation(SchemaPart()).task(Question("Which horses have which breed?"), db)
        shown = made(task, GeneratePart(examples=20), (), context).messages[1:-1]
        return " ".join(message.content for message in shown)

    before = examples()
    assert "Arab" in before
    assert "Lipizzan" not in before
    changed(people, "UPDATE horse SET breed = 'Lipizzan' WHERE breed = 'Arab'")
    after = examples()
    assert "Arab" not in after
    assert "Lipizzan" in after


def test_other_engines_are_read_for_every_question(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name,age\nAnn,30\nBo,40\n")
    with connect(file) as opened:
        assert content(opened).version is None


def test_a_question_looks_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    look: Callable[..., object] = SQLiteDatabase.version

    def counted(own: SQLiteDatabase) -> object:
        looks.append(own)
        return look(own)

    monkeypatch.setattr(SQLiteDatabase, "version", counted)
    shown(session)
    assert len(looks) == 1


def test_the_file_is_looked_at_behind_rules(db: Database) -> None:
    one, other = (guard(db, introspect(db), Access(deny=("town",))) for _ in range(2))
    assert content(one).version is not None
    assert content(one) is content(one)
    assert content(one) is not content(other)
