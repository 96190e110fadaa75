"""``sqljury audit``, as a user meets it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

import commands


def sqljury(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = commands.sqljury("audit", "spider", *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    file = folder / "database/pets/pets.sqlite"
    file.parent.mkdir(parents=True)
    connection = sqlite3.connect(file)
    connection.executescript(
        "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT); INSERT INTO pet VALUES (1, 'dog ');"
    )
    connection.close()
    sqls = ["SELECT id FROM pet WHERE kind = 'dog'", "SELECT id FROM pet"]
    entries = [{"question": f"Which?\x1b[2J {n}", "query": sql, "db_id": "pets"} for n, sql in enumerate(sqls)]
    (folder / "dev.json").write_text(json.dumps(entries))
    return folder


def test_findings_and_counts(data: Path, tmp_path: Path) -> None:
    done = sqljury("--data", data, "--out", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert "kind has no 'dog', but 'dog '" in done.stdout
    assert "1 of 2 gold queries (50.0 %) are suspected" in done.stdout
    assert "\x1b" not in done.stdout
    report = json.loads(sqljury("--data", data, "--out", tmp_path / "out.jsonl", "--output", "json").stdout)
    assert (report["questions"], report["suspected"]) == (2, 1)
    assert report["types"] == {"wrong value": {"spelling": 1}}
    assert report["findings"][0]["id"] == "dev-0000"


def test_confidence_cuts_the_list(data: Path, tmp_path: Path) -> None:
    out = ("--data", data, "--out", tmp_path / "out.jsonl")
    assert "0 of 2 gold queries" in sqljury(*out, "--least", 0.95).stdout
    assert "returns-nothing" in sqljury(*out, "--least", 0.1).stdout


def test_one_question(data: Path, tmp_path: Path) -> None:
    out = ("--data", data, "--out", tmp_path / "out.jsonl")
    assert "spelling" in sqljury(*out, "--explain", "dev-0000").stdout
    assert sqljury(*out, "--explain", "dev-0001").stdout == "nothing was found\n"
    missing = sqljury(*out, "--explain", "dev-0009")
    assert missing.returncode == 2
    assert "no question 'dev-0009'" in missing.stderr


def test_corrected_gold_and_questions_by_their_ids(data: Path, tmp_path: Path) -> None:
    ids, gold = tmp_path / "ids.tsv", tmp_path / "gold.sql"
    ids.write_text("sample\tid\nA\tdev-0000\n")
    done = sqljury("--data", data, "--out", tmp_path / "out.jsonl", "--ids", ids, "--export", gold)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 gold queries" in done.stdout
    assert "1 gold queries corrected by program checks, 0 by tests, 1 as they were" in done.stderr
    assert gold.read_text() == "SELECT id FROM pet WHERE kind = 'dog '\tpets\nSELECT id FROM pet\tpets\n"
    ids.write_text("dev-0001\ndev-9999\n")
    unknown = sqljury("--data", data, "--out", tmp_path / "out.jsonl", "--ids", ids)
    assert (unknown.returncode, "no question 'dev-9999'" in unknown.stderr) == (2, True)
    same = sqljury("--data", data, "--out", tmp_path / "out.jsonl", "--export", tmp_path / "out.jsonl")
    assert (same.returncode, "one file" in same.stderr) == (2, True)


def test_nothing_is_written_among_the_data(data: Path) -> None:
    done = sqljury("--data", data, "--out", data / "out.jsonl")
    assert done.returncode == 2
    assert "only read" in done.stderr
    assert not (data / "out.jsonl").exists()
