from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqljury.datasets.questions import load
from sqljury.errors import DatasetError


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.sqlite").touch()
    return tmp_path


def entry(**more: Any) -> dict[str, Any]:
    return {"question": "How many?", "query": "SELECT 1", "db_id": "shop", **more}


def test_lists_and_lines(databases: Path) -> None:
    listed, lines = databases / "a.json", databases / "a.jsonl"
    listed.write_text(json.dumps([entry(), entry(question_id=9, evidence="all", SQL="unused")]))
    lines.write_text(json.dumps(entry(id="x", gold="SELECT 2")) + "\n\n" + json.dumps(entry()) + "\n")
    first, second = load(listed, databases)
    assert (first.id, first.gold_sql, first.question.evidence) == ("0", "SELECT 1", "")
    assert (second.id, second.question.id, second.question.evidence) == ("9", "9", "all")
    assert [(one.id, one.gold_sql) for one in load(lines, databases)] == [("x", "SELECT 2"), ("1", "SELECT 1")]
    assert first.database == databases / "shop" / "shop.sqlite"


def test_names_and_texts_need_no_databases(tmp_path: Path) -> None:
    (file := tmp_path / "dev.json").write_text(json.dumps([entry(db_id="nowhere", evidence="all")]))
    [one] = load(file)
    assert (one.db_id, one.question.text, one.question.evidence) == ("nowhere", "How many?", "all")
    file.write_text(json.dumps([entry(db_id="../nowhere")]))
    with pytest.raises(DatasetError, match="there is no database"):
        load(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no questions"),
        ("[]", "has no questions"),
        ("[1]", "entry 0: is not an object"),
        ("{}", "line 1: has no 'db_id'"),
        ("3", "line 1: is not a JSON object"),
        (json.dumps([entry(db_id="../shop")]), "there is no database '../shop'"),
        (json.dumps([entry(db_id="none")]), "there is no database 'none'"),
        (json.dumps([entry(evidence=1)]), "'evidence' is not text"),
        (json.dumps([entry(id=1), entry(id="1")]), "entry 1: the id '1' was given before"),
        (json.dumps([entry(question=" ")]), "'question' is not a text"),
    ],
)
def test_what_is_wrong_is_named(databases: Path, text: str, says: str) -> None:
    file = databases / "a.json"
    file.write_text(text)
    with pytest.raises(DatasetError) as error:
        load(file, databases)
    assert says in str(error.value)
    assert str(file) in str(error.value)
