from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.datasets import questions
from sqljury.datasets.formats import detect, has_interactions, read_golds, read_pairs, read_predictions
from sqljury.datasets.pairs import Known
from sqljury.errors import DatasetError

SHARED = Path(__file__).resolve().parents[3] / "shared"


def write(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    return file


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.txt", "SELECT 1\tpets\n", "lines"),
        ("a.json", {"0": "SELECT 1"}, "bird"),
        ("a.json", '{\n"0": "SELECT 1",\n"1": "SELECT 2"}', "bird"),
        ("a.json", [{"query": "SELECT 1", "db_id": "pets"}], "dev"),
        ("a.jsonl", '{"id": 1}', "jsonl"),
        ("a.txt", '{"id": 1}\n{"id": 2}\n', "jsonl"),
        ("a.txt", "\ufeff  [", "dev"),
        ("a.txt", "", "lines"),
    ],
)
def test_a_format_shows_in_how_a_file_begins(tmp_path: Path, name: str, content: Any, format: str) -> None:
    assert detect(write(tmp_path, name, content)) == format


def test_a_format_can_be_given(tmp_path: Path) -> None:
    file = write(tmp_path, "a.txt", "[SELECT 1\tpets\n")
    assert read_golds(file, "lines")[0].sql == "[SELECT 1"
    with pytest.raises(DatasetError, match="no format 'csv' of gold queries; give one of lines, bird, dev, jsonl"):
        read_golds(file, "csv")
    with pytest.raises(DatasetError, match="begins as a JSON list, which holds no predictions"):
        read_predictions(file)


def test_gold_lines_and_where_they_stand(tmp_path: Path) -> None:
    file = write(tmp_path, "gold.txt", "SELECT\t1\tpets\r\nSELECT '\u2028'\tcats\n\n\n SELECT 3 \tcats \n\n")
    found = read_golds(file)
    assert [(gold.id, gold.sql, gold.db_id, gold.interaction) for gold in found] == [
        ("0", "SELECT\t1", "pets", 0),
        ("1", "SELECT '\u2028'", "cats", 0),
        ("2", "SELECT 3", "cats", 1),
    ]
    assert found[2].place == f"{file}, line 5"
    assert has_interactions(found)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("SELECT 1\tpets\nSELECT 2\n", r"gold\.txt, line 2: is not a query, a tab and a database"),
        ("\tpets\n", r"gold\.txt, line 1: is not a query"),
        ("SELECT 1\tpets\nSELECT '\udcff'\tpets\n", r"gold\.txt, line 2: is not UTF-8"),
        ("SELECT 1\tpets\nS\0E\0L\0", r"gold\.txt, line 2: is not UTF-8"),
    ],
)
def test_gold_lines_that_do_not_hold_together(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_golds(write(tmp_path, "gold.txt", content))


def test_a_blank_line_is_an_empty_prediction_or_ends_an_interaction(tmp_path: Path) -> None:
    file = write(tmp_path, "pred.txt", "SELECT 1\n\nSELECT a, b\tpets\n\tpets\n")
    alone = read_predictions(file)
    assert [(one.sql, one.db_id) for one in alone] == [
        ("SELECT 1", None),
        ("", None),
        ("SELECT a, b", "pets"),
        ("", "pets"),
    ]
    turns = read_predictions(file, known=Known(interactions=True))
    assert [(one.sql, one.interaction) for one in turns] == [("SELECT 1", 0), ("SELECT a, b", 1), ("", 1)]


def test_cosql_files_pair_turn_by_turn(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.txt", "g0\tdb\ng1\tdb\n\ng2\tdb\n")
    good = write(tmp_path, "pred.txt", "p0\np1\n\np2\n")
    assert [(pair.prediction.sql, pair.gold.interaction) for pair in read_pairs(gold, good)] == [
        ("p0", 0),
        ("p1", 0),
        ("p2", 1),
    ]
    shifted = write(tmp_path, "shifted.txt", "p0\n\np1\np2\n")
    with pytest.raises(DatasetError, match=r"shifted\.txt, line 1: interaction 1 has 1 turns, gold's 2"):
        read_pairs(gold, shifted)


def test_tabs_inside_a_predicted_query(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.txt", "g0\tpets\ng1\tpets\ng2\tpets\ng3\tpet\n")
    pred = "SELECT count(*)\tFROM\tpet\nSELECT count(*) FROM pet\tp\nSELECT id FROM pet\tpets\nSELECT id FROM\tpet\n"
    assert [
        (one.prediction.sql, one.prediction.db_id) for one in read_pairs(gold, write(tmp_path, "pred.txt", pred))
    ] == [
        ("SELECT count(*)\tFROM\tpet", None),
        ("SELECT count(*) FROM pet\tp", None),
        ("SELECT id FROM pet", "pets"),
        ("SELECT id FROM\tpet", None),
    ]


def test_another_database_on_every_line_is_still_a_shifted_file(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.txt", "g0\tpets\ng1\tpets\n")
    for pred in ("p0\tcats\np1\tcats\n", "p0\tpets\np1\tcats\n", "p0\tcats\n\n"):
        with pytest.raises(DatasetError, match="is for the database 'cats'"):
            read_pairs(gold, write(tmp_path, "pred.txt", pred))


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.txt", "SELECT 1\tpets\n")
    reading, writing = os.pipe()
    with open(writing, "w") as stream:
        stream.write("SELECT 2\n")
    try:
        (found,) = read_pairs(gold, f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    assert found.prediction.sql == "SELECT 2"


def test_dialogues_as_cosql_has_them(tmp_path: Path) -> None:
    def dialogue(name: str, *queries: str) -> dict[str, Any]:
        turns = [{"query": sql, "utterance": "?"} for sql in queries]
        return {"database_id": name, "interaction": turns, "final": {"query": "aim", "utterance": "?"}}

    gold = write(tmp_path, "dev.json", [dialogue("pets", "g0", "g1"), dialogue("cats", "g2")])
    found = read_golds(gold)
    assert [(one.id, one.sql, one.db_id, one.interaction) for one in found] == [
        ("0", "g0", "pets", 0),
        ("1", "g1", "pets", 0),
        ("2", "g2", "cats", 1),
    ]
    assert found[1].place == f"{gold}, entry 0, turn 1"
    assert len(read_pairs(gold, write(tmp_path, "pred.txt", "p0\n\tpets\n\np2\n"))) == 3
    mixed = [dialogue("pets", "g0"), {"query": "g1", "db_id": "pets"}]
    for content, words in (
        (mixed, "entry 1: has no 'interaction' although others have"),
        ([{"interaction": [{"query": "g0"}]}], "entry 0: has no 'database_id' or 'db_id'"),
        ([{"interaction": {}, "database_id": "pets"}], "entry 0, 'interaction': is not a list"),
        ([{"interaction": [{"utterance": "?"}], "database_id": "pets"}], "entry 0, turn 0: has no 'query'"),
    ):
        with pytest.raises(DatasetError, match=words):
            read_golds(write(tmp_path, "dev.json", content))


def test_bird_predictions_are_paired_by_key_in_any_order(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.sql", "SELECT 0\tpets\nSELECT 1\tpets\nSELECT 2\tcats\n")
    content = {
        "2": "SELECT 2\t----- bird -----\tcats",
        "0": "SELECT\n0\t----- bird -----\tpets",
        "1": None,
    }
    pairs = read_pairs(gold, write(tmp_path, "pred.json", content))
    assert [(pair.prediction.sql, pair.prediction.db_id) for pair in pairs] == [
        ("SELECT\n0", "pets"),
        ("", None),
        ("SELECT 2", "cats"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"0": "a"}, r"pred\.json: has no prediction with the id '1' \(.*gold\.sql, line 2\)"),
        ({"0": "a", "1": "b\t----- bird -----\tdogs"}, r"pred\.json, key '1': is for the database 'dogs'"),
        ({"0": "a", "1": 5}, r"pred\.json, key '1': is not text"),
        ('{"0": "a",\n"1": "b", "1": "c"}', r"pred\.json: has the key '1' twice"),
        ('{"0": "a",\n"1": }', r"pred\.json, line 2: is not JSON"),
    ],
)
def test_bird_predictions_that_do_not_fit(tmp_path: Path, content: Any, message: str) -> None:
    gold = write(tmp_path, "gold.sql", "SELECT 0\tpets\nSELECT 1\tpets\n")
    with pytest.raises(DatasetError, match=message):
        read_pairs(gold, write(tmp_path, "pred.json", content))


def test_bird_form_as_gold(tmp_path: Path) -> None:
    keys = {"10": "b\t----- bird -----\tdb", "9": "a\t----- bird -----\tdb"}
    assert [gold.id for gold in read_golds(write(tmp_path, "gold.json", keys))] == ["9", "10"]
    with pytest.raises(DatasetError, match="key '0': is not a query"):
        read_golds(write(tmp_path, "gold.json", {"0": "SELECT 1"}))


def test_dev_json_of_spider_and_of_bird(tmp_path: Path) -> None:
    spider = [{"question": "?", "query": "SELECT 1", "db_id": "pets"}]
    bird = [{"question_id": 7, "SQL": "SELECT 2", "db_id": "cats", "difficulty": "simple"}]
    one, other = (read_golds(write(tmp_path, "dev.json", content))[0] for content in (spider, bird))
    assert (one.id, one.sql, one.db_id, one.difficulty) == ("0", "SELECT 1", "pets", "")
    assert (other.id, other.sql, other.db_id, other.difficulty) == ("7", "SELECT 2", "cats", "simple")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"query": "SELECT 1"}], r"dev\.json, entry 0: has no 'db_id'"),
        ([{"db_id": "pets"}], r"entry 0: has no 'gold' or 'query' or 'SQL' or 'sql'"),
        ([{"db_id": "pets", "query": " "}], r"entry 0: 'query' is not a text"),
        ([5], r"entry 0: is not an object"),
        (
            [{"db_id": "a", "query": "b", "question_id": 1}, {"db_id": "a", "query": "b"}],
            r"entry 1: has no 'question_id'",
        ),
        ("[" * 100_000, r"dev\.json: is not JSON"),
    ],
)
def test_dev_json_that_does_not_hold_together(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_golds(write(tmp_path, "dev.json", content))


@pytest.mark.parametrize("key", ["gold", "query", "SQL", "sql"])
@pytest.mark.parametrize("name", ["id", "question_id", "none"])
def test_questions_that_can_be_run_are_gold_too(tmp_path: Path, key: str, name: str) -> None:
    entries = [{"db_id": "pets", "question": f"{n}?", key: f"SELECT {n}", name: n + 7} for n in range(2)]
    for file in (
        write(tmp_path, "mine.json", entries),
        write(tmp_path, "mine.jsonl", "\n".join(map(json.dumps, entries)) + "\n"),
    ):
        run = [(one.id, one.gold_sql) for one in questions.load(file)]
        assert [(one.id, one.sql) for one in read_golds(file)] == run
        pairs = read_pairs(file, write(tmp_path, "predict.txt", "SELECT 0\nSELECT 1\n"))
        assert [(pair.gold.sql, pair.prediction.sql) for pair in pairs] == [(f"SELECT {n}",) * 2 for n in range(2)]


def test_answers_of_a_run_are_gold_and_predictions(tmp_path: Path) -> None:
    lines = [
        {"id": "dev-0003", "db_id": "pets", "gold": "SELECT 3", "sql": "SELECT 4"},
        {"id": "dev-0001", "db_id": "pets", "gold": "SELECT 1", "sql": None},
    ]
    file = write(tmp_path, "answers.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    assert [(pair.gold.id, pair.gold.sql, pair.prediction.sql) for pair in read_pairs(file, file)] == [
        ("dev-0003", "SELECT 3", "SELECT 4"),
        ("dev-0001", "SELECT 1", ""),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"db_id": "pets", "sql": "x"}', r"pred\.jsonl, line 3: has no 'id'"),
        ('{"id": 1}', r"line 3: has no 'sql'"),
        ('{"id": 1, "sql": "x", "db_id": 3}', r"line 3: 'db_id' is not text"),
        ("[1]", r"line 3: is not a JSON object"),
        ('{"id": 1', r"line 3: is not JSON"),
    ],
)
def test_jsonl_that_does_not_hold_together(tmp_path: Path, line: str, message: str) -> None:
    file = write(tmp_path, "pred.jsonl", f'{{"id": 0, "sql": "x"}}\n\n{line}\n')
    with pytest.raises(DatasetError, match=message):
        read_predictions(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_golds(tmp_path / "nothing.txt")


@given(st.binary(max_size=200), st.sampled_from(["", "[", "{", '{"0": "', '[{"query": ']))
def test_no_content_makes_a_reader_crash(tmp_path_factory: pytest.TempPathFactory, content: bytes, start: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.txt"
    file.write_bytes(start.encode() + content)
    for read in (read_golds, read_predictions):
        with suppress(DatasetError):
            assert isinstance(read(file), list)


@pytest.mark.shared
@pytest.mark.parametrize("model", ["DAIL", "DIN", "C3"])
def test_spider_dev_with_either_gold_file(model: str) -> None:
    predictions = SHARED / "predictions/spider_dev" / f"{model}.txt"
    from_lines = read_pairs(SHARED / "predictions/spider_dev/gold.txt", predictions)
    from_json = read_pairs(SHARED / "spider/dev.json", predictions)
    assert len(from_lines) == len(from_json) == 1034
    assert [pair.gold.db_id for pair in from_lines] == [pair.gold.db_id for pair in from_json]
    assert not has_interactions([pair.gold for pair in from_lines])
