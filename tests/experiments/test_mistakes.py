"""Wrong answers by kind, on queries whose mistake is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run, stored
from sqljury.datasets import spider
from sqljury.errors import DatasetError
from sqljury.evaluation import run_folder as folder
from sqljury.experiments import bounds, mistakes
from sqljury.recipes import GeneratePart, Recipe

OLD = "SELECT name FROM cat WHERE age > 5"  # Kit and Mog, of Tom (3), Kit (9) and Mog (7)

CASES = [
    (OLD, "SELECT name, age FROM cat WHERE age > 5", "columns", "wrong column"),
    (OLD, "SELECT name FROM cat WHERE age > 8", "fewer", "wrong value"),
    (OLD, "SELECT name FROM cat WHERE age > 90", "none", "wrong value"),
    (OLD, "SELECT name FROM cat", "more", "semantic logic"),
    (OLD, "SELECT name FROM cat GROUP BY age", "more", "aggregation"),
    (OLD, "SELECT CAST(age AS TEXT) FROM cat WHERE age > 5", "cells", "data type"),
    (OLD, "SELECT zzz FROM cat WHERE age > 5", "fails", "wrong column"),
    (OLD, "SELECT name FROM hound", "fails", "tables"),
    (OLD, "SELECT cat.name FROM cat JOIN hound", "fails", "tables added"),
    (OLD, "SELECT 'Kit'", "fewer", "tables missing"),
    (OLD, "WITH old AS (SELECT * FROM cat WHERE age > 8) SELECT name FROM old", "fewer", "semantic logic"),
    (OLD, "SELECT name FROM cat WHERE (", "fails", "unread"),
    (OLD, f"SELECT {'(' * 3000}1{')' * 3000}", "fails", "unread"),
    ("SELECT name FROM cat ORDER BY age", "SELECT name FROM cat ORDER BY age DESC", "order", "semantic logic"),
    ("SELECT age > 5 FROM cat", "SELECT DISTINCT age > 5 FROM cat", "fewer", "deduplication"),
    ("SELECT name FROM cat WHERE age > 50", "SELECT name FROM cat WHERE age > 5", "some", "wrong value"),
    # a text in double quotes is no column
    ('SELECT age FROM cat WHERE name = "Kit"', "SELECT age FROM cat WHERE name = 'Tom'", "cells", "wrong value"),
    ('SELECT "age" FROM cat WHERE age > 5', 'SELECT "id" FROM cat WHERE age > 5 AND id', "cells", "wrong column"),
]
"""Gold, the answer, what is wrong with its result and how its text differs."""


@pytest.fixture
def out(data: Path, tmp_path: Path) -> Path:
    """A run whose answers are all right."""
    examples = spider.load(data, "dev")
    right = {one.question.text: one.gold_sql for one in examples}
    pipeline = Pipeline(Recipe("test", generate=(GeneratePart(),)), FakeModel(right))
    run.run(examples, pipeline, tmp_path / "run", run.settings(pipeline, {}, 0))
    return tmp_path / "run"


def answered(out: Path, gold: str, candidates: Sequence[str], sql: str, before: str = "") -> None:
    """Change the second question's record."""
    records = folder.records(out)
    one = records[0]["candidates"][0]
    fixes = [{"before": before, "by": "model", "reason": ""}] if before else []
    records[1] |= {"gold": gold, "sql": sql, "candidates": [{**one, "sql": own, "fixes": fixes} for own in candidates]}
    (out / folder.ANSWERS).write_text("".join(json.dumps(record) + "\n" for record in records))


def kinds(out: Path, data: Path) -> dict[str, Any]:
    """The kind of the one wrong answer, by view."""
    found = mistakes.mistakes(stored.load(out, data))
    assert found["wrong"] == 1
    for view in ("candidates", "results", "queries"):
        assert [one["ids"] for one in found[view]] == [["dev-0001"]]
    return {view: found[view][0]["kind"] for view in ("candidates", "results", "queries")}


def test_right_answers_are_no_mistakes(out: Path, data: Path) -> None:
    found = mistakes.mistakes(stored.load(out, data))
    assert (found["questions"], found["wrong"]) == (4, 0)
    assert found["candidates"] == found["results"] == found["queries"] == []
    assert found["databases"]["pets"]["percent"] == 0


def test_what_is_wrong_with_an_answer(out: Path, data: Path) -> None:
    like = folder.records(out)[1]
    records = []
    for gold, sql, _, _ in CASES:
        candidates = [{**like["candidates"][0], "sql": sql}]
        records.append({**like, "id": f"dev-{len(records):04d}", "gold": gold, "sql": sql, "candidates": candidates})
    (out / folder.ANSWERS).write_text("".join(json.dumps(record) + "\n" for record in records))
    found = mistakes.mistakes(stored.load(out, data))
    assert (found["wrong"], [one["kind"] for one in found["candidates"]]) == (len(CASES), ["none right"])
    by_id = [{id_: one["kind"] for one in found[view] for id_ in one["ids"]} for view in ("results", "queries")]
    assert [
        (sql, *(kinds[record["id"]] for kinds in by_id)) for record, (_, sql, _, _) in zip(records, CASES, strict=True)
    ] == [(sql, result, text) for _, sql, result, text in CASES]


CORRECTED = [
    ("SELECT zzz FROM cat", OLD, "syntax", ""),
    ("SELECT 1", "SELECT 2", "table", "table"),
    ("SELECT DISTINCT name FROM cat WHERE age > 8", OLD, "filter", ""),
    ("SELECT id FROM cat WHERE age > 5", OLD, "column", ""),
    (OLD, "SELECT name FROM cat WHERE age > 8", "", "filter"),
    ("SELECT upper(name) FROM cat WHERE age > 5", OLD, "string", ""),
    ("SELECT name FROM cat WHERE substr(name, 1, 1) = 'T'", OLD, "string", ""),
    ("SELECT name FROM cat WHERE age > 5 LIMIT 1", "SELECT name FROM cat", "other", "filter"),
]
"""The query before and after refinement, and the types of their errors."""


def test_types_of_errors_before_and_after_refinement(out: Path, data: Path) -> None:
    assert mistakes.mistakes(stored.load(out, data))["refined"] == []
    like = folder.records(out)[1]
    records = []
    for before, after, _, _ in CORRECTED:
        made = [{**like["candidates"][0], "sql": sql} for sql in dict.fromkeys((before, after))]
        one = {**like, "id": f"dev-{len(records):04d}", "gold": OLD, "sql": after, "before": before, "candidates": made}
        records.append(one)
    (out / folder.ANSWERS).write_text("".join(json.dumps(record) + "\n" for record in records))
    run_ = stored.load(out, data)
    found = {row["kind"]: row for row in mistakes.mistakes(run_)["refined"]}
    began, ended = ([kinds[at] for kinds in CORRECTED if kinds[at]] for at in (2, 3))
    assert {kind: (row["before"], row["after"]) for kind, row in found.items()} == {
        kind: (began.count(kind), ended.count(kind)) for kind in {*began, *ended}
    }
    assert found["filter"]["misled"] == ["dev-0004"]
    assert sum(len(row["corrected"]) for row in found.values()) == 5
    (out / folder.ANSWERS).write_text(json.dumps({**records[0], "before": "SELECT 5"}) + "\n")
    with pytest.raises(DatasetError, match="none of its candidates"):
        stored.load(out, data)


def test_whether_another_candidate_was_right(out: Path, data: Path) -> None:
    wrong = "SELECT name FROM cat"
    answered(out, OLD, [OLD, wrong], wrong)
    assert kinds(out, data)["candidates"] == "not chosen"
    answered(out, OLD, [wrong], wrong, before=OLD)
    assert kinds(out, data)["candidates"] == "unmade"
    for candidates in ([], [""]):
        answered(out, OLD, candidates, "")
        assert kinds(out, data) == {"candidates": "none", "results": "fails", "queries": "unread"}
    found = mistakes.mistakes(stored.load(out, data))
    assert (found["hardness"]["easy"]["right"], found["hardness"]["easy"]["total"]) == (1, 4)
    assert (found["databases"]["pets"]["right"], found["databases"]["more"]["right"]) == (1, 0)


def test_levels_that_a_benchmark_gives_are_shown(out: Path, data: Path) -> None:
    levels = ("simple", "moderate", "challenging")
    records = [{**one, "hardness": levels[at % 3]} for at, one in enumerate(folder.records(out))]
    (out / folder.ANSWERS).write_text("".join(json.dumps(record) + "\n" for record in records))
    loaded = stored.load(out, data)
    assert {level: own["total"] for level, own in mistakes.mistakes(loaded)["hardness"].items()} == dict(
        zip(levels, (2, 1, 1), strict=True)
    )
    assert tuple(bounds.bounds(loaded)["hardness"]) == levels
