from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import database
from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.errors import ContextLengthError, RecipeError
from sqljury.llm.base import Message
from sqljury.llm.local import LocalModel
from sqljury.recipes import FixPart, GeneratePart, Recipe
from sqljury.recipes.parts import LinkPart, SchemaPart
from sqljury.schema.introspect import introspect
from sqljury.schema.joins import Joins
from sqljury.schema.retrieve import Indexes
from sqljury.stages.link import ask, link, read, reply_schema, scored, written
from sqljury.stages.prepare import Preparation
from sqljury.types import Column, ForeignKey, Limits, Schema, Table, Task
from sqljury.types.schema import only_tables

SCRIPT = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE wrote (author_id INT REFERENCES author (id), book_id INT REFERENCES book (id));
    CREATE TABLE "odd ""name" (price REAL);
    CREATE TABLE weather (day TEXT, rain REAL);
    INSERT INTO author VALUES (1, 'Ann');
    INSERT INTO book VALUES (1, 'Sea');
    INSERT INTO weather VALUES ('Monday', 0.5);
"""
MODEL = LinkPart("model", samples=3, temperature=0.5, share=1.0)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with connect(database(tmp_path / "library.db", SCRIPT)) as opened:
        yield opened


def task(db: Database, question: str, evidence: str = "") -> Task:
    return Preparation(SchemaPart()).task(Question(question, evidence), db)


def linked(db: Database, question: str, part: LinkPart, model: FakeModel) -> list[str]:
    schema = link(task(db, question), part, Context(db, model, Limits(), 7))
    return [table.name for table in schema.tables]


def test_tables_of_all_replies_are_kept_with_those_that_join_them(db: Database) -> None:
    model = FakeModel([[written(["author"]), written(["author", "book"]), written(["author"])]])
    assert linked(db, "Which author?", MODEL, model) == ["author", "book", "wrote"]
    (call,) = model.calls
    assert call.n == 3
    assert call.sampling.temperature == 0.5


def test_retrieval_adds_what_no_reply_names(db: Database) -> None:
    model = FakeModel(written(["author"]))
    assert "weather" in linked(db, "How much rain does the weather bring?", MODEL, model)
    assert linked(db, "How much rain does the weather bring?", LinkPart("retrieval", share=1.0), FakeModel([])) == [
        "weather"
    ]


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_retrieval_that_knows_nothing_leaves_it_to_the_model(db: Database, share: float) -> None:
    question, part = "Which one?", LinkPart("model", share=share)
    assert set(scored(task(db, question), Indexes())) == {0.0}
    assert linked(db, question, part, FakeModel(written(["weather"]))) == ["weather"]
    assert len(linked(db, question, LinkPart("retrieval", share=share), FakeModel([]))) == 5


def test_tables_that_hold_what_the_question_names_score_more(db: Database) -> None:
    for question, table in (("Where is Ann?", "author"), ("Where is Sea?", "book")):
        asked = Preparation(SchemaPart(values=6)).task(Question(question), db)
        assert [hit[:2] for hit in asked.hits] == [(table, "name" if table == "author" else "title")]
        schema = link(asked, LinkPart("retrieval", share=1.0), Context(db, FakeModel([]), Limits(), 7))
        assert [one.name for one in schema.tables] == [table]


def test_a_smaller_share_keeps_more(db: Database) -> None:
    question = "Which author wrote the book about rain?"
    kept = [set(linked(db, question, LinkPart("retrieval", share=share), FakeModel([]))) for share in (1, 0.5, 0)]
    assert kept[0] < kept[1] < kept[2]
    assert len(kept[2]) == 5


@pytest.mark.parametrize("part", [LinkPart(), LinkPart("model", whole=5)])
def test_no_linker_and_small_schemas_ask_nothing(db: Database, part: LinkPart) -> None:
    assert len(linked(db, "Which author?", part, FakeModel([]))) == 5


@pytest.mark.parametrize("reply", ["", "none of them", '{"tables": ["magazine"]}', '{"tables": "author'])
def test_a_reply_that_names_no_table_cuts_nothing(db: Database, reply: str) -> None:
    assert len(linked(db, "Which author?", MODEL, FakeModel(reply))) == 5


def test_a_prompt_too_long_for_the_linker_leaves_the_pick_to_retrieval(db: Database) -> None:
    model = FakeModel([ContextLengthError("the prompt is too long"), "SELECT rain FROM weather"])
    answer = Pipeline(recipe(MODEL), model).answer(Question("How much rain does the weather bring?"), db)
    assert (answer.sql, answer.linked) == ("SELECT rain FROM weather", ("weather",))
    assert "link" not in {step for step, cost in answer.steps if cost.calls}
    assert len(linked(db, "Which one?", MODEL, FakeModel(ContextLengthError("too long")))) == 5  # nothing scores


def test_replies_are_held_to_the_schemas_own_names(db: Database) -> None:
    model = FakeModel(written(["author"]))
    linked(db, "Which author?", MODEL, model)
    schema = model.calls[0].sampling.json_schema
    assert schema is not None
    names = ["author", "book", "wrote", 'odd "name', "weather"]
    assert sorted(schema["properties"]["tables"]["items"]["enum"]) == sorted(names)


def test_what_is_written_can_be_read(db: Database) -> None:
    schema = introspect(db)
    for name in (table.name for table in schema.tables):
        (place,) = read(written([name]), schema)
        assert schema.tables[place].name == name
    both = written(["book", 'odd "name'])
    assert len(read(both, schema)) == 2
    assert len(read(both[: both.index("odd")], schema)) == 1  # cut off
    json.dumps(reply_schema(schema))


@pytest.mark.weights
def test_a_real_model_is_held_to_names_of_any_kind(db: Database, small_model: LocalModel) -> None:
    context = Context(db, small_model, Limits(), 7)
    named = ask(task(db, "Which price is odd?"), LinkPart("model", samples=2, temperature=2.0), context)
    assert named
    assert context.budget.total().calls == 1


def test_names_that_are_escaped_are_read() -> None:
    schema = Schema("s", "sqlite", (Table("größe", (Column("a"),)), Table("b", (Column("a"),))))
    assert read('{"tables": ["gr\\u00f6\\u00dfe"]}', schema) == read('{"tables": ["größe"]}', schema) == {0}


def test_the_key_of_the_list_is_no_table() -> None:
    schema = Schema("s", "sqlite", (Table("tables", (Column("a"),)), Table("b", (Column("a"),))))
    assert read(written(["b"]), schema) == {1}
    assert read(written(["tables"]), schema) == read('["tables"]', schema) == {0}


def test_questions_on_a_database_share_their_opening(db: Database) -> None:
    model = FakeModel(written(["author"]))
    for question in ("Which author?", "How much rain?"):
        linked(db, question, MODEL, model)
    openings: set[Message] = {call.messages[0] for call in model.calls}
    assert len(openings) == 1
    assert "wrote(author_id int -> author.id" in next(iter(openings)).content
    assert all("rain?" not in one.content for one in openings)


def test_tables_are_joined_by_the_shortest_way(db: Database) -> None:
    joins = Joins.of(introspect(db))
    names = [table.name for table in introspect(db).tables]
    closed = joins.closed([names.index("author"), names.index("book")], [0.0] * 5)
    assert {names[place] for place in closed} == {"author", "book", "wrote"}
    alone = joins.closed([names.index("author"), names.index("weather")], [0.0] * 5)
    assert {names[place] for place in alone} == {"author", "weather"}
    assert joins.closed([], [0.0] * 5) == set()


def test_certain_ways_come_before_likely_ones() -> None:
    """From a to d lead four ways of two keys: of equally short ones that of certain, or more probable, keys is best."""
    keys = {"certain": (1.0, 1.0), "likely": (0.9, 0.9), "mixed": (1.0, 0.6), "rare": (0.5, 0.9)}

    def way(*names: str, scores: float = 0.0) -> list[str]:
        columns = (Column("id"), *(Column(name) for name in names))

        def key(column: str, table: str, score: float) -> ForeignKey:
            return ForeignKey((column,), table, ("id",), declared=score == 1, score=score)

        tables = [Table("a", columns, foreign_keys=tuple(key(name, name, keys[name][0]) for name in names))]
        tables += [Table(name, (Column("id"), Column("d")), (), (key("d", "d", keys[name][1]),)) for name in names]
        tables.append(Table("d", (Column("id"),)))
        found = Joins.of(Schema("s", "sqlite", tuple(tables)))
        path = found.path(0, {len(tables) - 1}, [scores * (place == 1) for place in range(len(tables))])
        return [tables[place].name for place in path]

    assert way("likely", "rare", "certain", scores=9.0) == ["certain", "d"]
    assert way("mixed", "rare", "likely") == ["likely", "d"]
    assert way("rare", "mixed") == ["mixed", "d"]
    assert way("rare") == ["rare", "d"]


@given(st.integers(1, 8), st.data())
def test_what_is_kept_hangs_together_as_it_did(count: int, data: st.DataObject) -> None:
    """Two chosen tables that keys connect in the schema, they connect in what is kept; nothing chosen is lost."""
    places = st.integers(0, count - 1)
    keys = data.draw(st.lists(st.tuples(places, places), max_size=10))
    tables = tuple(
        Table(
            f"t{own}",
            (Column("a"),),
            foreign_keys=tuple(ForeignKey(("a",), f"t{other}", ("a",)) for one, other in keys if one == own),
        )
        for own in range(count)
    )
    whole = Joins.of(Schema("s", "sqlite", tables))
    chosen = data.draw(st.sets(places))
    closed = sorted(whole.closed(chosen, [float(place % 3) for place in range(count)]))
    assert chosen <= set(closed)
    before = whole.components()
    after = Joins.of(only_tables(Schema("s", "sqlite", tables), {f"t{place}" for place in closed})).components()
    for one in chosen:
        for other in chosen:
            assert (before[one] == before[other]) == (after[closed.index(one)] == after[closed.index(other)])


def recipe(part: LinkPart, *, form: str = "") -> Recipe:
    return Recipe("test", link=part, generate=(GeneratePart(form=form),), fix=FixPart(attempts=0))


@pytest.mark.parametrize("form", ["", "compact"])
def test_the_model_that_writes_sees_the_linked_tables_alone(db: Database, form: str) -> None:
    model = FakeModel([written(["weather"]), "SELECT rain FROM weather"])
    answer = Pipeline(recipe(MODEL, form=form), model).answer(Question("How much rain?"), db)
    assert answer.sql == "SELECT rain FROM weather"
    asked = model.calls[1].messages[0].content
    assert "weather" in asked
    assert "author" not in asked
    assert [step for step, _ in answer.steps] == ["link", "1 direct"]
    assert answer.linked == ("weather",)
    assert answer.to_dict()["linked"] == ["weather"]


def test_repairs_reach_tables_that_the_linker_left_out(db: Database) -> None:
    model = FakeModel([written(["author"]), "SELECT title FROM author"])
    answer = Pipeline(recipe(MODEL), model).answer(Question("Which author?"), db)
    assert answer.candidates[0].result.ok
    assert "book" in answer.sql


def test_the_linker_may_be_another_model(db: Database, tmp_path: Path) -> None:
    file = tmp_path / "linked.toml"
    file.write_text('[link]\nkind = "model"\nmodel = "trained"\n[[generate]]\n')
    linker, writer = FakeModel(written(["weather"]), name="trained"), FakeModel("SELECT rain FROM weather")
    pipeline = Pipeline.from_recipe(str(file), writer, opened=lambda name: {"trained": linker}[name])
    pipeline.answer(Question("How much rain?"), db)
    assert (len(linker.calls), len(writer.calls)) == (1, 1)
    with pytest.raises(RecipeError, match="names the model 'trained'; give Pipeline that model"):
        Pipeline(recipe(LinkPart("model", model="trained")), writer)


def test_judge_and_linker_of_one_name_are_one_model(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text('[link]\nkind = "model"\nmodel = "trained"\n[select]\nselector = "critic"\njudge = "trained"\n')
    opened: list[str] = []

    def opening(name: str) -> FakeModel:
        opened.append(name)
        return FakeModel("", name=name)

    pipeline = Pipeline.from_recipe(str(file), FakeModel(""), opened=opening)
    assert [model.name for model in pipeline.others()] == ["trained"]
    assert opened == ["trained"]
