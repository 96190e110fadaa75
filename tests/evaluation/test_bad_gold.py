"""A gold query that cannot be judged by costs its own question and no other: wherever gold is read, it is left out."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run, stored
from sqljury.cli.evaluate_run import evaluate_run
from sqljury.datasets import spider
from sqljury.datasets.formats import read_golds
from sqljury.datasets.pairs import database_files
from sqljury.db.readonly import MAX_SQL_CHARS
from sqljury.engines.databases import Databases
from sqljury.errors import DatasetError
from sqljury.evaluation import report
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.findings import to_json
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.page import page
from sqljury.evaluation.scores import findings, provenance, tsv
from sqljury.evaluation.verdicts import VERDICTS
from sqljury.experiments import bounds
from sqljury.metrics.case import Score
from sqljury.metrics.esm_plus import Facts, esm_plus
from sqljury.metrics.spider import Names, Query, parse_or_empty
from sqljury.metrics.spider.parser import tokenize
from sqljury.recipes import GeneratePart, Recipe
from sqljury.types import Schema

Judge = Callable[..., Evaluation]

LONG = "SELECT '" + "x" * 3_000_000 + "'"
BAD = {
    "a table that is not there": ("SELECT name FROM nowhere", "no such table: nowhere"),
    "no query": ("  ", "there is no query"),
    "prose": ("It is all of them, I think (", "fails"),
    "several queries": ("SELECT 1; SELECT 2", "one statement"),
    "a change": ("DELETE FROM cat", "only SELECT"),
    "a text without end": (LONG, f"has {len(LONG)} characters; {MAX_SQL_CHARS} are the most"),
    "long nonsense": ("(" * 2_000_000, "has 2000000 characters"),
}
SAYS = {
    "How many cats": "SELECT count(*) FROM cat",
    "old cats": "SELECT name FROM cat WHERE age > 5",
    "by age": "SELECT name FROM cat",
    "How many dogs": "SELECT count(*) FROM dog",
}


@pytest.fixture
def out(data: Path, tmp_path: Path) -> Path:
    """A run of four questions, of which the third is answered wrongly."""
    pipeline = Pipeline(Recipe("test", generate=(GeneratePart(),)), FakeModel(SAYS))
    settled = run.settings(pipeline, {"name": "spider", "split": "dev", "data": str(data)}, 0)
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", settled)
    return tmp_path / "run"


def change(out: Path, golds: dict[int, str]) -> None:
    file = out / folder.ANSWERS
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for place, gold in golds.items():
        records[place]["gold"] = gold
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def gone(data: Path) -> None:
    """The database of the last question is not there."""
    (data / "database" / "more" / "more.sqlite").unlink()


def damaged(data: Path) -> None:
    (data / "database" / "more" / "more.sqlite").write_bytes(b"no database, but long enough to be looked at" * 100)


@pytest.mark.parametrize("name", BAD)
def test_the_rest_of_a_run_is_judged(out: Path, data: Path, name: str) -> None:
    gold, words = BAD[name]
    change(out, {1: gold})
    found = to_json(report.summary(report.judge_run(folder.records(out), Databases(data))))
    ((id_, fault),) = found["faults"]
    assert id_ == "dev-0001"
    assert words in fault
    assert len(fault) < 1000
    assert (found["questions"], found["ex"]["right"], found["ex"]["total"]) == (3, 2, 3)
    assert {found[key]["total"] for key in ("ex", "exe", "executable")} == {3}
    assert {step["total"] for step in found["steps"].values()} == {3}
    assert sum(level["total"] for level in found["hardness"].values()) == 3


def test_all_kinds_at_once_are_left_out_of_an_analysis(out: Path, data: Path) -> None:
    for gold, words in [BAD["a text without end"], BAD["no query"], BAD["prose"]]:
        change(out, {0: gold})
        run_ = stored.load(out, data)
        ((id_, fault),) = run_.faults
        assert (id_, words in fault, len(run_.questions)) == ("dev-0000", True, 3)
        assert bounds.bounds(run_)["rows"][0]["questions"] == 3


@pytest.mark.parametrize("harm", [gone, damaged])
def test_a_database_that_cannot_be_used_costs_its_own_questions(
    out: Path, data: Path, harm: Callable[[Path], None]
) -> None:
    whole = (data / "database" / "more" / "more.sqlite").read_bytes()
    harm(data)
    found = to_json(report.summary(report.judge_run(folder.records(out), Databases(data))))
    assert [id_ for id_, _ in found["faults"]] == ["dev-0003"]
    assert found["faults"][0][1].startswith("its database cannot be used: ")
    assert (found["questions"], found["ex"]["right"]) == (3, 2)
    analysed = stored.load(out, data)
    assert [id_ for id_, _ in analysed.faults] == ["dev-0003"]
    assert len((out / VERDICTS).read_text().splitlines()) == 3  # what is wrong today is asked again
    (data / "database" / "more" / "more.sqlite").write_bytes(whole)
    assert stored.load(out, data).faults == ()


def test_where_nothing_can_be_judged_that_is_an_error(out: Path, data: Path) -> None:
    change(out, dict.fromkeys(range(4), "SELECT name FROM nowhere"))
    with pytest.raises(DatasetError, match=r"none of its 4 questions can be judged; dev-0000: .* no such table"):
        stored.load(out, data)
    with pytest.raises(DatasetError, match=r"none of its 4 questions can be judged; dev-0000"):
        evaluate_run(out, data, None, as_json=True)
    with pytest.raises(DatasetError, match=r"if the dataset has moved, name .* with --data"):
        evaluate_run(out, data / "elsewhere", None, as_json=True)


def test_the_report_of_a_run_names_them(out: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(out, {0: BAD["a table that is not there"][0], 1: ""})
    lines = out / "lines.tsv"
    evaluate_run(out, data, lines, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [id_ for id_, _ in found["faults"]] == ["dev-0000", "dev-0001"]
    assert (found["questions"], found["ex"]["total"]) == (2, 2)
    with lines.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [(row["ex"], row["exe"]) for row in rows] == [("", ""), ("", ""), ("0", "0"), ("1", "1")]
    assert "no such table" in rows[0]["reason"]
    evaluate_run(out, data, None, as_json=False)
    shown = capsys.readouterr().out
    assert "2 questions, recipe test" in shown
    assert "2 of 4 questions are left out" in shown
    assert "left out: dev-0001: no query can be judged by gold: there is no query" in shown


RIGHT = ("SELECT kind FROM pet", "SELECT kind FROM pet")


def test_files_are_judged_without_them(judge: Judge) -> None:
    pairs = [RIGHT, *((gold, "SELECT 1") for gold, _ in BAD.values()), (RIGHT[0], LONG), ("SELECT 1", "SELECT 1", "no")]
    found = judge(*pairs, metrics=("ex", "exe", "soft_f1", "esm", "esm_plus"))
    places = range(1, len(BAD) + 1)
    for name in ("ex", "soft_f1"):
        assert found.column(name) == [1, *[None for _ in places], 0, None]
    assert found.judged[1].scores["exe"] is None  # EXE runs the first of several queries, as the published program does
    for place, (_, words) in zip(places, BAD.values(), strict=True):
        assert words in found.judged[place].fault
    assert "there is no database 'no'" in found.judged[-1].fault
    assert found.column("esm")[-3:] == found.column("esm_plus")[-3:] == [None, 0, None]
    wrong = found.judged[-2].scores["esm"]
    assert wrong == Score(0.0, f"the query has {len(LONG)} characters; {MAX_SQL_CHARS} are the most that is run")


def test_tables_and_pages_agree_on_how_many(judge: Judge) -> None:
    found = judge(RIGHT, (LONG, "SELECT 1"), ("", "SELECT 1"), (RIGHT[0], "SELECT 1"), metrics=("ex", "exe", "esm"))
    told = to_json(findings(found))
    assert (told["queries"], told["left_out"], [one["index"] for one in told["gold"]]) == (4, 2, [1, 2])
    assert {metric["judged"] for metric in told["metrics"].values()} == {2}
    assert [metric["percent"] for metric in told["metrics"].values()] == [50, 50, 50]
    assert [line.split("\t")[2:5] for line in tsv(found).splitlines()[1:]] == [
        *(["1"] * 3, [""] * 3, [""] * 3, ["0"] * 3)
    ]
    html = page(found, replace(findings(found), provenance=provenance([], {})), "title")
    assert "4 queries, 2 of them left out" in html
    assert "2 gold queries cannot be judged by" in html
    assert len(html) < 100_000
    found.refuse_if_nothing_judged()
    with pytest.raises(DatasetError, match=r"there is no query; none of the 2 queries"):
        judge(("", "SELECT 1"), ("", "SELECT 1"), metrics=("ex",)).refuse_if_nothing_judged()


def test_a_database_of_bad_gold_alone_is_none_to_draw_from(judge: Judge) -> None:
    found = to_json(findings(judge(RIGHT, (RIGHT[0], "SELECT 1"), ("SELECT 1", "SELECT 1", "no"), metrics=("ex",))))
    ex = found["metrics"]["ex"]
    assert (ex["judged"], ex["low"], ex["percent"], ex["high"]) == (2, 0, 50, 100)


def test_dialogues_of_bad_gold_alone_are_not_right(judge: Judge) -> None:
    turns = [(*RIGHT, "pets", 0), ("", "SELECT 1", "pets", 1), (*RIGHT, "pets", 2), ("", "SELECT 1", "pets", 2)]
    found = to_json(findings(judge(*turns, metrics=("ex",))))["metrics"]["ex"]["interactions"]
    assert (found["interactions"], found["percent"]) == (2, 100)
    assert {turn: part["queries"] for turn, part in found["turns"].items()} == {"1": 2, "2": 0}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gold.txt", "SELECT 1\tpets\n\tpets\n"),
        ("gold.json", json.dumps({"0": "SELECT 1\t----- bird -----\tpets", "1": "\t----- bird -----\tpets"})),
        ("dev.json", json.dumps([{"query": "SELECT 1", "db_id": "pets"}, {"query": None, "db_id": "pets"}])),
        ("a.jsonl", '{"id": 0, "gold": "SELECT 1", "db_id": "pets"}\n{"id": 1, "gold": "", "db_id": "pets"}\n'),
    ],
)
def test_an_empty_gold_query_among_others_is_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert [(gold.sql, gold.db_id) for gold in read_golds(tmp_path / name)] == [("SELECT 1", "pets"), ("", "pets")]


def test_databases_that_are_not_there_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / "pets.sqlite").touch()
    (tmp_path / "gold.txt").write_text("SELECT 1\tpets\nSELECT 1\tcats\nSELECT 1\t../pets\n")
    golds = read_golds(tmp_path / "gold.txt")
    assert list(database_files(tmp_path, golds, all_there=False)) == ["pets"]
    with pytest.raises(DatasetError, match=r"gold\.txt, line 2: there is no database"):
        database_files(tmp_path, golds[1:], all_there=False)


def test_what_is_too_long_is_not_parsed() -> None:
    names = Names.of_schema(Schema("x", "sqlite", ()))
    assert parse_or_empty(LONG, names) == Query()
    match: Any = esm_plus(LONG, "SELECT 1", Facts.of_schema(Schema("x", "sqlite", ())))
    assert "characters" in match.gold.error


def test_blanks_behind_a_full_stop_take_no_time_squared() -> None:
    began = time.process_time()
    assert tokenize("SELECT a ." + " " * 60_000 + "x") == ["select", "a", ".", "x"]
    assert time.process_time() - began < 5
