"""The recipe `mscsql` as it ships, through the pipeline and a bench: a linker, three queries, a critic."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, connect
from sqljury.bench import run as bench
from sqljury.datasets import spider
from sqljury.evaluation.run_folder import records
from sqljury.llm.base import Completion, Token
from sqljury.llm.fake import Call
from sqljury.stages.link import written

SCRIPT = """
    CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
    CREATE TABLE weather (day TEXT, rain REAL);
    CREATE TABLE road (id INTEGER PRIMARY KEY, length REAL);
    INSERT INTO pet VALUES (1, 'Rex', 3), (2, 'Tom', 5);
"""
GOLD, VOTED = "SELECT name FROM pet WHERE age = 5", "SELECT age FROM pet"
SHOWN = re.compile(r"^Query ([A-H]):\n(.*)$", re.M)


def reply(call: Call) -> str | Completion | list[str]:
    """Links one table, writes two queries alike and a third, of which the critic prefers the third."""
    if call.sampling.json_schema:
        return written(["pet"])
    shown = dict(SHOWN.findall(call.messages[-1].content))
    if not shown:
        return [VOTED, VOTED, GOLD]
    chances = {letter: 0.9 if sql == GOLD else 0.1 for letter, sql in shown.items()}
    top = tuple((letter, math.log(chance)) for letter, chance in chances.items())
    best = max(top, key=lambda one: one[1])
    return Completion(best[0], tokens=(Token(*best, top),))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of the user's own in Spider's form, without a ``tables.json``."""
    root = tmp_path / "own"
    file = root / "database" / "pets" / "pets.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    entry = {"question": "Which pet is oldest?", "query": GOLD, "db_id": "pets"}
    (root / "train.json").write_text(json.dumps([entry]))
    return root


def test_linker_and_critic_take_part(data: Path, tmp_path: Path) -> None:
    model, out = FakeModel(reply), tmp_path / "run"
    pipeline = Pipeline.from_recipe("mscsql", model)
    [example] = spider.load(data, "train")
    with connect(example.database) as db:
        answer = pipeline.answer(example.question, db)
    assert answer.linked == ("pet",)
    assert answer.choice is not None
    assert (answer.choice.selector, answer.choice.note) == ("critic", "")
    assert answer.sql == GOLD, "the critic's, against the votes"
    model.calls.clear()
    named = {"name": "spider", "data": str(data), "split": "train", "limit": None}
    bench.run([example], pipeline, out, bench.settings(pipeline, named, 0))
    [record] = records(out)
    assert record["sql"] == GOLD
    writing = [call for call in model.calls if not call.sampling.json_schema and not SHOWN.search(call.prompt)]
    assert sum(call.n for call in writing) == 3
    assert all("weather" not in call.prompt for call in writing), "only what was linked is shown"
