"""Benchmarks as they are unpacked: Spider, BIRD, CoSQL, and a user's own questions."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sqljury.datasets import benchmarks
from sqljury.errors import DatasetError, InputError


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    """Two databases in Spider's layout."""
    for name in ("pets", "more"):
        file = tmp_path / "set" / "database" / name / f"{name}.sqlite"
        file.parent.mkdir(parents=True)
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE cat (id INTEGER)")
        connection.close()
    return tmp_path / "set" / "database"


def write(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
    return file


def test_spider(databases: Path) -> None:
    write(databases.parent / "dev.json", [{"question": "q", "query": "SELECT 1", "db_id": "pets"}])
    found = benchmarks.load(databases.parent)
    assert (found.kind, found.split, found.folder) == ("spider", "dev", "database")
    assert found.settings["questions"] == found.digest
    assert [one.id for one in found.examples] == ["dev-0000"]
    before = found.digest
    write(databases.parent / "dev.json", [{"question": "r", "query": "SELECT 1", "db_id": "pets"}])
    assert benchmarks.load(databases.parent).digest != before


def test_bird_has_levels_evidence_and_descriptions(databases: Path) -> None:
    root = databases.parent
    shutil.move(databases, root / "dev_databases")
    (root / "dev_databases" / "pets" / "database_description").mkdir()
    entry = {"question": "q", "SQL": "SELECT 1", "db_id": "pets", "evidence": "cats are pets", "question_id": 7}
    write(root / "dev.json", [{**entry, "difficulty": "moderate"}, {**entry, "question_id": 8, "difficulty": "odd"}])
    found = benchmarks.load(root)
    assert (found.kind, found.folder) == ("bird", "dev_databases")
    assert [(one.id, one.hardness) for one in found.examples] == [("7", "moderate"), ("8", "")]
    assert found.examples[0].question.evidence == "cats are pets"
    assert found.descriptions == {"pets": root / "dev_databases" / "pets" / "database_description"}
    with pytest.raises(DatasetError, match=r"train\.json: cannot be read"):
        benchmarks.load(root, split="train")


def test_a_turn_of_a_dialogue_knows_what_was_asked_before(databases: Path) -> None:
    turns = [{"utterance": f"turn\n{number}", "query": f"SELECT {number} "} for number in range(3)]
    entry = {"database_id": "pets", "interaction": turns}
    write(databases.parent / "sql_state_tracking" / "cosql_dev.json", [entry, {**entry, "database_id": "more"}])
    found = benchmarks.load(databases.parent)
    assert found.kind == "cosql"
    assert [(one.id, one.interaction, one.db_id) for one in found.examples[2:4]] == [
        ("dev-0000-2", 0, "pets"),
        ("dev-0001-0", 1, "more"),
    ]
    texts = [one.question.text for one in found.examples]
    assert texts[0] == texts[3] == "turn 0"
    assert texts[2] == "Asked before in this dialogue: (1) turn 0 (2) turn 1 Asked now, about that: turn 2"
    assert not any("SELECT" in text for text in texts)
    assert found.examples[2].gold_sql == "SELECT 2"


def test_sparc_needs_its_kind_named(databases: Path) -> None:
    turns = [{"utterance": "q", "query": "SELECT 1"}]
    write(databases.parent / "dev.json", [{"database_id": "pets", "interaction": turns}])
    with pytest.raises(DatasetError, match="has no text for 'question'"):
        benchmarks.load(databases.parent)
    assert len(benchmarks.load(databases.parent, "cosql").examples) == 1


def test_a_file_of_ones_own(databases: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "a", "question": "q", "gold": "SELECT 1", "db_id": "pets"}\n')
    found = benchmarks.load(file, databases=databases)
    assert (found.kind, found.data, found.folder) == ("jsonl", databases.parent, "database")
    assert found.examples[0].database == databases / "pets" / "pets.sqlite"


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("none", {}, DatasetError, "no such file or folder"),
        (".", {}, DatasetError, "has neither database/"),
        (".", {"kind": "spider", "databases": Path()}, InputError, "--db-dir names the databases of a file"),
        ("mine.jsonl", {}, InputError, "is a file of questions: name the folder of its databases with --db-dir"),
        (".", {"kind": "spider", "split": "test"}, DatasetError, "no split 'test'"),
        (".", {"kind": "wiki"}, InputError, "no dataset 'wiki'"),
        (".", {"kind": "cosql"}, DatasetError, "there is no cosql_dev.json"),
        (".", {"kind": "bird"}, DatasetError, "dev.json: cannot be read"),
    ],
)
def test_what_is_none(tmp_path: Path, name: str, options: dict[str, Any], error: type[Exception], words: str) -> None:
    (tmp_path / "mine.jsonl").write_text("{}")
    with pytest.raises(error, match=words):
        benchmarks.load(tmp_path / name, **options)
