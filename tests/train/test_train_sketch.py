from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury.datasets import spider
from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.sql.features import anatomy
from sqljury.train import sketch as training
from sqljury.train.light import train_from_runs
from sqljury.train.replay import replay_all
from sqljury.train.sketch import GoldQuestion, cross_fit, fit, gold_questions
from sqljury.types import Column, Schema, Table

ASKED = (
    ("How many {}s are there?", "SELECT count(*) FROM {}"),
    ("What is the average size of the {}s?", "SELECT avg(size) FROM {}"),
    ("List the size of each {}.", "SELECT size FROM {}"),
    ("Which {} has the greatest size?", "SELECT name FROM {} ORDER BY size DESC LIMIT 1"),
    ("Count the {}s of each name.", "SELECT name, count(*) FROM {} GROUP BY name"),
)
THINGS = ("cat", "dog", "boat", "lake", "tower", "apple", "truck", "planet", "museum", "garden", "bridge", "island")


def told(things: tuple[str, ...] = THINGS) -> list[GoldQuestion]:
    found = []
    for thing in things:
        columns = tuple(map(Column, (f"{thing}_id", "name", "size")))
        schema = Schema(thing, "sqlite", (Table(thing, columns, (f"{thing}_id",)), Table("note", (Column("text"),))))
        found += [
            GoldQuestion(thing, text.format(thing), anatomy(sql.format(thing), schema), schema) for text, sql in ASKED
        ]
    return found


def test_what_is_learned_on_some_databases_holds_on_another() -> None:
    known = told()
    drawn = fit([one for one in known if one.database != "island"])
    for one in known:
        if one.database == "island":
            queries = [other.query for other in known if other.database == "island"]
            figures = drawn.figures(one.text, one.schema, queries)
            best = max(range(len(queries)), key=lambda place: figures[place]["sketch"])
            assert queries[best] == one.query
            assert all(own["tables_expected"] > -0.7 for own in figures)


def test_sketches_of_questions_know_nothing_of_their_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that always counts where others average is expected to average."""
    strange = [
        GoldQuestion(
            "odd",
            "What is the average size of the oddities?",
            anatomy("SELECT count(*) FROM cat", one.schema),
            one.schema,
        )
        for one in told(("cat",))[:1]
    ] * 30
    assert cross_fit(told(), 0) == {}  # too few questions
    monkeypatch.setattr(training, "MIN_QUESTIONS", 10)
    found = cross_fit([*told(), *strange], 0)
    assert found.keys() == {*THINGS, "odd"}
    schema = strange[0].schema
    chances = found["odd"].elements(strange[0].text, schema)
    assert chances["item avg"] > 0.5 > chances["item count"]
    assert cross_fit(told(THINGS[:4]), 0) == {}  # too few databases
    assert cross_fit([*told(), *strange], 0) == found


def test_gold_is_of_the_split_and_of_no_database_that_is_measured_on(
    train_run: Path, benchmark_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = spider.load(benchmark_folder, "train")
    found = gold_questions([train_run, train_run], None, [])
    assert {one.text for one in found} == {one.question.text for one in examples}
    first = examples[0]
    with connect(first.database) as db:
        schema = introspect(db)
    own = next(one for one in found if one.text == first.question.text and one.schema.name == schema.name)
    assert own.query == anatomy(first.gold_sql, schema)
    left = gold_questions([train_run], None, [first])
    assert left
    assert {one.database for one in left} == {one.database for one in found} - {first.db_id.casefold()}
    loud = replace(first, db_id=first.db_id.upper())
    assert gold_questions([train_run], None, [loud]) == left
    monkeypatch.setattr("sqljury.stages.select.sketch.WIDE", 0)
    assert gold_questions([train_run], None, []) == []


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"databases": "{0}"}, lambda names: {names[0]}),
        ({"databases": "{0},{1}", "without": "{1}"}, lambda names: {names[0]}),
        ({"without": "{0}"}, lambda names: set(names[1:])),
        ({"databases": "gone.txt"}, set),  # the file is not there any more: those that the run has answered
    ],
)
def test_gold_is_of_the_databases_that_the_run_was_limited_to(
    train_run: Path, tmp_path: Path, limits: dict[str, str], kept: Callable[[list[str]], set[str]]
) -> None:
    """So a database that was left out to measure on stays unknown to the sketch."""
    names = sorted({one.database for one in gold_questions([train_run], None, [])})
    run = Path(shutil.copytree(train_run, tmp_path / "limited"))
    described = json.loads((run / "run.json").read_text())
    described["dataset"] |= {key: text.format(*names) for key, text in limits.items()}
    (run / "run.json").write_text(json.dumps(described))
    assert {one.database for one in gold_questions([run], None, [])} == kept(names)
    assert {one.database for one in gold_questions([train_run], None, [], names[1].__eq__)} == {names[1]}


def test_a_judge_has_the_sketch_of_its_split(train_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are judged by one that never saw their database, what is kept knows all of them."""
    monkeypatch.setattr(training, "MIN_QUESTIONS", 10)
    monkeypatch.setattr(training, "MIN_DATABASES", 1)
    monkeypatch.setattr(training, "FOLDS", 2)
    weights = train_from_runs([train_run], None, [])
    told = gold_questions([train_run], None, [])
    assert weights.sketch == fit(told)
    assert weights.card["sketch"] == {"questions": len(told), "databases": len({one.database for one in told})}
    assert weights.card["checked"] is None
    crossed_ = cross_fit(told, 0)
    assert crossed_.keys() == {one.database for one in told}
    known = {name: rated for rated in replay_all([train_run], None, []) for name in [rated.db_id.casefold()]}
    assert known.keys() <= crossed_.keys()
