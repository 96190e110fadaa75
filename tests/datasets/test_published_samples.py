"""Prediction files with several queries of a question: read, paired, weighed, and what is wrong with them."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest

from sqljury.datasets.candidates import Pool, load
from sqljury.datasets.formats import read_predictions
from sqljury.datasets.pairs import Gold, pair
from sqljury.datasets.samples import MOST
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError
from sqljury.types import Question

LISTS = {"0": ["SELECT 1", "SELECT 2\t----- bird -----\tpets"], "1": "SELECT 3", "2": [None]}


def examples(count: int, db_id: str = "pets") -> list[Example]:
    return [Example(str(number), Question(f"How many {number}?"), "", db_id, Path(db_id)) for number in range(count)]


def pool_of(folder: Path, text: str, count: int, name: str = "A.txt", format: str | None = None) -> Pool:
    (folder / name).write_text(text)
    return load([folder / name], examples(count), format)


def queries(pool: Pool) -> list[list[str]]:
    return [[one.sql for one in example.candidates] for example in pool.examples]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("A.txt", "SELECT 1\nSELECT 2\n\nSELECT 3\n\n;\n"),
        ("A.txt", "SELECT 1\tpets\nSELECT 2\tpets\n\n\nSELECT 3\tpets\n\n\n;\tpets\n\n\n\n"),
        ("A.json", json.dumps(LISTS)),
        ("A.json", json.dumps([["SELECT 1", {"sql": "SELECT 2", "db_id": "pets"}], "SELECT 3", []])),
        ("A.json", json.dumps([["SELECT 1", "SELECT 2"], ["SELECT 3"], None])),
        (
            "A.jsonl",
            "".join(
                f'{{"id": {at}, "sql": "{sql}"}}\n'
                for at, sql in [(0, "SELECT 1"), (1, "SELECT 3"), (0, "SELECT 2"), (2, "")]
            ),
        ),
    ],
)
def test_several_queries_of_a_question_in_every_format(tmp_path: Path, name: str, text: str) -> None:
    pool = pool_of(tmp_path, text, 3, name)
    assert queries(pool)[:2] == [["SELECT 1", "SELECT 2"], ["SELECT 3"]]
    assert [len(places) for places in pool.places] == [2, 1, 1]
    assert pool.faults == ()


def test_the_places_are_those_of_the_queries(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, json.dumps(LISTS), 3, "A.json")
    assert pool.places[0][1].endswith("A.json, key '0', query 2")
    assert pool_of(tmp_path, "SELECT 1\n\nSELECT 2\nSELECT 3\n", 2).places[1][1].endswith("A.txt, line 4")


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("SELECT 1\n\nSELECT 2\n", 3, [["SELECT 1"], [""], ["SELECT 2"]]),
        ("SELECT 1\n\n\n", 3, [["SELECT 1"], [""], [""]]),
        ("SELECT 1\nSELECT 2\n\n", 3, [["SELECT 1"], ["SELECT 2"], [""]]),
    ],
)
def test_a_blank_line_is_an_empty_query_where_the_lines_are_as_many_as_the_questions(
    tmp_path: Path, text: str, count: int, expected: list[list[str]]
) -> None:
    assert queries(pool_of(tmp_path, text, count)) == expected


@pytest.mark.parametrize(
    ("text", "count", "format", "message"),
    [
        ("SELECT 1\n\nSELECT 2\n", 2, None, "3 predictions for 2 questions"),  # double-spaced, or one too many
        ("SELECT 1\nSELECT 2\nSELECT 3\n", 1, None, "line 2 is one too many"),
        ("SELECT 1\nSELECT 2\n\nSELECT 3\n", 3, "blocks", "2 groups of predictions for 3 questions: none is left for"),
        ("SELECT 1\nSELECT 2\n\nSELECT 3\n", 1, "blocks", "line 4 is one too many"),
        ("SELECT 1\nSELECT 2\n\n\nSELECT 3\n\nSELECT 4\n", 3, None, "A.txt, line 6: ends 1 blank lines, others are 2"),
        ("\nSELECT 1\nSELECT 2\n\nSELECT 3\n", 2, None, "A.txt, line 1: begins with a blank line"),
    ],
)
def test_groups_of_lines_that_could_be_read_otherwise_are_refused(
    tmp_path: Path, text: str, count: int, format: str | None, message: str
) -> None:
    with pytest.raises(DatasetError, match=message):
        pool_of(tmp_path, text, count, format=format)


def test_groups_of_lines_can_be_asked_for(tmp_path: Path) -> None:
    assert queries(pool_of(tmp_path, "SELECT 1\nSELECT 2\n", 1, format="blocks")) == [["SELECT 1", "SELECT 2"]]


def test_what_is_wrong_with_a_query_costs_that_query(tmp_path: Path) -> None:
    entries = {"0": ["SELECT 1", 5, ["SELECT 2"], {"sql": 1}], "1": 7, "2": ["SELECT 3\t----- bird -----\tother"]}
    pool = pool_of(tmp_path, json.dumps({**entries, "3": [{"sql": "SELECT 4", "probability": 2}]}), 4, "A.json")
    assert queries(pool) == [["SELECT 1"], [], [], ["SELECT 4"]]
    told = "\n".join(pool.faults)
    for place in ("key '0', query 2: is not text", "key '0', query 3: is not text", "key '0', query 4: has no 'sql'"):
        assert f"A.json, {place}" in told
    assert "A.json, key '1': is not text; give a query, or null for none; it is left out" in told
    assert "key '2', query 1: is for 'other', not 'pets'; left out" in told
    assert "key '3', query 1: 'probability' is '2'" in told
    broken = json.dumps([["SELECT 1"], 5, ["SELECT 2"]])
    pool = pool_of(tmp_path, broken, 3, "B.json")
    assert queries(pool) == [["SELECT 1"], [], ["SELECT 2"]]  # nothing is shifted
    for text in ("[[5]]", '[["SELECT 1"]]', "[[]] [", '{"0": [5]}', "[" * 100_000):
        with pytest.raises(DatasetError, match=r"C\.json"):
            pool_of(tmp_path, text, 2, "C.json")


def test_no_question_has_queries_without_end(tmp_path: Path) -> None:
    text = "".join(f'{{"id": 0, "sql": "SELECT {number}"}}\n' for number in range(MOST + 9))
    pool = pool_of(tmp_path, text, 1, "A.jsonl")
    assert len(pool.examples[0].candidates) == MOST == len(pool.places[0])
    assert pool.faults == (
        f"{tmp_path / 'A.jsonl'}, line {MOST + 1}: is query {MOST + 1} of {MOST + 9} for one question; the first "
        f"{MOST} count",
    )


def test_probabilities_of_lists_count_where_every_query_has_one(tmp_path: Path) -> None:
    likely = [{"sql": "SELECT 1", "probability": 0.5}, {"sql": "SELECT 2", "logprob": -3}]
    pool = pool_of(tmp_path, json.dumps([likely, [*likely, "SELECT 3"]]), 2, "A.json")
    assert [one.logprob for one in pool.examples[0].candidates] == [log(0.5), -3.0]
    assert [one.logprob for one in pool.examples[1].candidates] == [None, None, None]


def test_a_system_has_one_vote_however_many_queries_it_has(tmp_path: Path) -> None:
    (tmp_path / "A.json").write_text(json.dumps([["SELECT 1", "SELECT 1", "SELECT 2"]]))
    (tmp_path / "B.txt").write_text("SELECT 3\n")
    pool = load([tmp_path / "A.json", tmp_path / "B.txt"], examples(1))
    shared = pool.weighed().examples[0].candidates
    assert [one.part for one in shared] == [0, 0, 0, 1]
    assert [one.weight for one in shared] == [1 / 3, 1 / 3, 1 / 3, 1.0]
    assert {one.weight for one in pool.weighed("queries").examples[0].candidates} == {1.0}
    assert {one.weight for one in load([tmp_path / "A.json"], examples(1)).weighed().examples[0].candidates} == {1.0}


def test_lines_of_a_system_that_is_left_out_go_with_their_places(tmp_path: Path) -> None:
    asked = examples(3)
    (tmp_path / "A.json").write_text(json.dumps([["SELECT 1 FROM planet", "SELECT 2 FROM planet"]] * 3))
    (tmp_path / "B.txt").write_text("SELECT 1 FROM cat\n" * 3)
    pool = load([tmp_path / "A.json", tmp_path / "B.txt"], asked, tables={"pets": frozenset({"cat"})})
    assert pool.systems == ("B",)
    assert "A.json: 6 of 6 predictions name" in pool.faults[0]
    assert [one.endswith("B.txt, line 2") for one in pool.places[1]] == [True]


def test_an_evaluation_takes_one_query_a_question(tmp_path: Path) -> None:
    (tmp_path / "A.jsonl").write_text('{"id": 0, "sql": "SELECT 1"}\n{"id": 0, "sql": "SELECT 2"}\n')
    with pytest.raises(DatasetError, match="line 2: the id '0' was given before"):
        pair([Gold("0", "SELECT 1", "pets")], read_predictions(tmp_path / "A.jsonl"))
