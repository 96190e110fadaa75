from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqljury.datasets.pool import Shot, load
from sqljury.errors import DatasetError

SPIDER = {"db_id": "port", "query": "SELECT 1", "sql": {"select": []}, "question": "One?"}
BIRD = {"db_id": "port", "SQL": "SELECT 2", "evidence": "two is 2", "question": "Two?"}


def test_training_sets_of_spider_and_bird(tmp_path: Path) -> None:
    file = tmp_path / "train.json"
    file.write_text(json.dumps([SPIDER, BIRD, SPIDER]))
    assert load(file).shots == (Shot("One?", "SELECT 1", "port"), Shot("Two?", "SELECT 2", "port"))


def test_an_object_a_line(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"question": "One? ", "sql": "SELECT 1"}\n\n{"question": "Two?", "query": "SELECT 2", "db_id": null}'
    )
    assert load(file).shots == (Shot("One?", "SELECT 1"), Shot("Two?", "SELECT 2"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no example"),
        ("[]", "holds no example"),
        ("[1]", "entry 0: is not an object"),
        ("17", "line 1: is not an object"),
        ("[{]", "is not JSON"),
        ('{"question": "a", "sql": "b"}\n{"question": "a"}', "line 2: has no 'query' or 'SQL' or 'sql'; add it"),
        ('[{"question": "", "sql": "b"}]', "entry 0: 'question' is not a text"),
        ('[{"question": "a", "sql": {"select": 1}}]', "entry 0: 'sql' is not a text"),
        ('{"question": "a", "sql": "b", "db_id": 3}', "line 1: 'db_id' is not a text"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "train.json"
    file.write_text(text)
    with pytest.raises(DatasetError, match=message) as raised:
        load(file)
    assert "train.json" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none\.json: cannot be read"):
        load(tmp_path / "none.json")
    (tmp_path / "binary").write_bytes(b"[\xff\xfe")
    with pytest.raises(DatasetError, match="is not UTF-8"):
        load(tmp_path / "binary")
