"""``sqljury reproduce``, as a user meets it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import commands

ROOT = Path(__file__).parents[2]
Start = Callable[..., "subprocess.Popen[str]"]


def sqljury(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = commands.sqljury("reproduce", *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    file = tmp_path / "database/pets/pets.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT); INSERT INTO pet VALUES (1, 'dog');"
        )
    connection.close()
    questions = [{"question": "How many pets?", "query": "SELECT count(*) FROM pet", "db_id": "pets"}]
    (tmp_path / "dev.json").write_text(json.dumps(questions))
    predictions = tmp_path / "predictions"
    predictions.mkdir()
    (predictions / "DIN|\x1b[31m.txt").write_text("SELECT count(id) FROM pet\n")
    return tmp_path


def test_the_list_a_table_and_its_file(folder: Path) -> None:
    listed = sqljury()
    assert listed.returncode == 0, listed.stderr
    assert "esm+/table2" in listed.stdout
    assert "--data SPIDER_DIR --pred PRED_DIR" in listed.stdout
    out = folder.parent / f"{folder.name}.md"
    done = sqljury("esm+/table2", "--data", folder, "--pred", folder / "predictions", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == out.read_text()
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| here: DIN\\|"))
    assert row.count("100.0") == 2  # EXE and ESM+; ESM takes count(id) for something else
    assert "\x1b" not in done.stdout
    other = folder / "predictions" / "DIN|\x1b[31m.txt"
    refused = sqljury("esm+/table2", "--data", folder, "--pred", folder / "predictions", "--out", other)
    assert refused.returncode == 2
    assert other.read_text() == "SELECT count(id) FROM pet\n"


def test_errors_say_what_is_missing(folder: Path) -> None:
    for arguments, words in (
        (("esm+/table2", "--data", folder), "needs --pred PRED_DIR"),
        (("chase/table2",), "is not computed here: BIRD"),
        (("chase/table9",), "there is no table 'chase/table9'"),
        (("--data", folder), "no table is named"),
    ):
        done = sqljury(*arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
        assert not done.stdout


def test_a_run_that_is_missing_is_made_with_a_model(
    folder: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    out = folder / "run"
    arguments = ("chase/table1", "--data", folder, "--run", out, "--model", "fake", "--limit", "1")
    process = start("SELECT count(*) FROM pet", "reproduce", *map(str, arguments))
    printed, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert json.loads((out / "run.json").read_text())["model"] == "fake"
    (row,) = (line for line in printed.splitlines() if line.startswith("| Upper bound"))
    assert [cell.strip() for cell in row.split("|")[2:4]] == ["82.79", "100.0 (21 - 100)"]
    assert "sqljury bench spider" in errors
