"""The command line as a user meets it: a process, its output, its exit code, and the database afterwards."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import commands

Start = Callable[..., "subprocess.Popen[str]"]
SQLJURY = Path(sys.executable).with_name("sqljury")


def sqljury(*arguments: str, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    return ran(commands.sqljury(*arguments), cache)


def installed(*arguments: str, cache: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """The program as it was installed, in a Python of its own."""
    return ran([str(SQLJURY), *arguments], cache, **more)


def ran(command: list[str], cache: Path | None, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **more, **({"SQLJURY_CACHE": str(cache)} if cache else {})}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """One line on stderr, nothing on stdout, the documented exit code."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("sqljury: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, legs INTEGER);"
            "INSERT INTO animal VALUES (1, 'ant', 6), (2, 'bear', 4), (3, 'crow', 2);"
        )
    connection.close()
    return path


def test_help_lists_the_commands() -> None:
    done = installed("--help")
    assert done.returncode == 0
    for command in ("ask", "eval", "bench", "models"):
        assert command in done.stdout


def test_version() -> None:
    assert installed("--version").stdout.startswith("sqljury ")


@pytest.mark.parametrize("arguments", [["ask"], ["ask", "q"], ["fly"], ["ask", "q", "--db", "x", "--output", "xml"]])
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    done = sqljury(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    refused(sqljury("ask", "How many?", "--db", str(tmp_path / "none.db")), 3, "none.db")
    assert list(tmp_path.iterdir()) == []  # and none was made


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database, but long enough to look like one\n" * 100)
    refused(sqljury("ask", "How many?", "--db", str(text)), 3, "notes.txt")


def test_a_corrupt_file(db: Path) -> None:
    whole = db.read_bytes()
    db.write_bytes(whole[: len(whole) - 3000])
    refused(sqljury("ask", "How many?", "--db", str(db)), 3, "zoo.db")


def test_a_database_without_tables(tmp_path: Path, db: Path) -> None:
    with sqlite3.connect(db) as connection:
        connection.execute("DROP TABLE animal")
    connection.close()
    refused(sqljury("ask", "How many?", "--db", str(db)), 3, "zoo.db", "tables")


def test_a_locked_database(db: Path) -> None:
    holder = sqlite3.connect(db)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        refused(sqljury("ask", "How many?", "--db", str(db)), 3, "zoo.db", "lock")
    finally:
        holder.rollback()
        holder.close()


@pytest.mark.parametrize("question", ["", "  "])
def test_an_empty_question(question: str, db: Path) -> None:
    refused(sqljury("ask", question, "--db", str(db)), 2, "empty")


def test_a_question_that_asks_for_changes(db: Path) -> None:
    before = digest(db)
    refused(sqljury("ask", "Delete all animals with four legs", "--db", str(db)), 2, "only reads")
    assert digest(db) == before


def test_missing_weights(db: Path, tmp_path: Path) -> None:
    done = sqljury("ask", "How many?", "--db", str(db), cache=tmp_path / "empty")
    refused(done, 5, "sqljury models pull")


def test_weights_with_a_wrong_hash(db: Path, tmp_path: Path) -> None:
    from sqljury.llm import models

    entry = models.entry("smollm2-135m")
    fake = tmp_path / "cache" / "models" / entry.file
    fake.parent.mkdir(parents=True)
    with fake.open("wb") as stream:
        stream.truncate(entry.size)
    done = sqljury("ask", "How many?", "--db", str(db), "--model", "smollm2-135m", cache=tmp_path / "cache")
    refused(done, 5, "damaged", "--force")


def test_pulling_without_network(tmp_path: Path) -> None:
    done = installed(
        *("models", "pull", "smollm2-135m"),
        cache=tmp_path,
        HF_ENDPOINT="http://127.0.0.1:9",
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS="",
        PIP_CONFIG_FILE=os.devnull,
    )
    refused(done, 5, "could not be fetched", "--from FILE")


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [("--model", "gpt-none", 5), ("--recipe", "souffle", 2), ("--model", "nosuch:thing", 2)],
)
def test_unknown_models_and_recipes(db: Path, cached_weights: Path, option: str, value: str, code: int) -> None:
    done = sqljury("ask", "How many?", "--db", str(db), option, value, cache=cached_weights)
    assert done.returncode in (2, 5)
    assert value.split(":")[0] in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("notes", "words"),
    [("tables: {animals: x}\n", ("line 1", "'animals'", "'animal'")), (None, ("notes.yaml", "cannot be read"))],
)
def test_notes_that_do_not_fit(notes: str | None, words: tuple[str, ...], db: Path, start: Start) -> None:
    path = db.with_name("notes.yaml")
    if notes:
        path.write_text(notes)
    process = start("SELECT 1", "ask", "How many?", "--db", str(db), "--notes", str(path))
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert error.count("\n") == 1
    for word in words:
        assert word in error


def test_notes_and_a_folder_together(db: Path, start: Start) -> None:
    folder = db.with_name("database_description")
    folder.mkdir()
    (folder / "animal.csv").write_text("original_column_name,column_description\nlegs,how many\nwings,none\n")
    notes = db.with_name("notes.yml")
    notes.write_text("glossary: {quadruped: legs = 4}\n")
    arguments = ("--db", str(db), "--notes", str(notes), "--notes", str(folder), "--output", "csv")
    process = start("SELECT count(*) FROM animal", "ask", "How many quadrupeds?", *arguments)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.splitlines()[1] == "3"
    assert error.splitlines() == [line for line in error.splitlines() if "'wings'" in line]
    assert error.count("'wings'") == 1


@pytest.mark.weights
class TestOnRealWeights:
    """The embedded model asks a real database."""

    QUESTION = "How many animals have four legs?"

    def ask(self, db: Path, cache: Path, *more: str) -> subprocess.CompletedProcess[str]:
        return installed("ask", self.QUESTION, "--db", str(db), *more, cache=cache)

    def test_table(self, db: Path, cached_weights: Path) -> None:
        before = digest(db)
        done = self.ask(db, cached_weights, "--recipe", "fast", "--explain")
        assert done.returncode == 0, done.stderr
        assert "SELECT" in done.stdout.upper()
        assert "1 row." in done.stdout
        assert "right (" in done.stdout
        assert "agree" not in done.stdout  # one candidate agrees with nothing
        assert "Candidates" in done.stdout
        assert "Cost:" in done.stdout
        assert digest(db) == before
        assert [file.name for file in db.parent.iterdir()] == ["zoo.db"]

    def test_json_csv_and_sql_agree(self, db: Path, cached_weights: Path) -> None:
        data = json.loads(self.ask(db, cached_weights, "--output", "json").stdout)
        assert data["question"] == self.QUESTION
        assert data["rows"] == [[1]]
        assert data["truncated"] is False
        assert len(data["candidates"]) in (1, 4, 6)  # three more unless the first is sure, two where these disagree
        assert 0 < data["confidence"] < 1
        assert (data["agreement"] is None) == (len(data["candidates"]) == 1)
        assert not data["abstained"]
        header, row = csv.reader(io.StringIO(self.ask(db, cached_weights, "--output", "csv").stdout))
        assert header == data["columns"]
        assert row == ["1"]
        assert self.ask(db, cached_weights, "--output", "sql").stdout == data["sql"] + ";\n"

    def test_a_model_that_answers_prose(self, db: Path, cached_weights: Path, tmp_path: Path) -> None:
        recipe = tmp_path / "short.toml"  # others write thousands of tokens before they give up
        recipe.write_text("[[generate]]\nsamples = 2\ntemperature = 0.8\nmax_tokens = 60\n[fix]\nattempts = 1\n")
        done = installed(
            *("ask", "Write a poem about the sea. No SQL.", "--db", str(db), "--recipe", str(recipe)),
            *("--model", "gemma-3-270m"),
            cache=cached_weights,
        )
        assert done.returncode in (0, 7)
        assert "Traceback" not in done.stderr
        if done.returncode == 7:
            refused(done, 7)

    @pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
    def test_interrupting(self, db: Path, cached_weights: Path) -> None:
        before = digest(db)
        arguments = ["ask", "List every animal and tell a story", "--db", str(db), "--no-cache"]
        environment = {**os.environ, "SQLJURY_CACHE": str(cached_weights)}
        process = subprocess.Popen(
            [str(SQLJURY), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        assert process.returncode == 130
        assert out == ""
        assert error == "sqljury: stopped\n"
        assert digest(db) == before

    def test_limit_cuts_and_says_so(self, db: Path, cached_weights: Path) -> None:
        arguments = ("ask", "List the names of all animals", "--db", str(db), "--recipe", "fast")
        data = json.loads(installed(*arguments, "--output", "json", "--limit", "2", cache=cached_weights).stdout)
        assert len(data["rows"]) == 2
        assert data["truncated"] is True
        table = installed(*arguments, "--limit", "2", cache=cached_weights).stdout
        assert "3 rows, the first 2 shown." in table

    def test_a_budget(self, db: Path, cached_weights: Path) -> None:
        done = self.ask(db, cached_weights, "--max-tokens", "50", "--no-cache")
        refused(done, 6, "limit of 50 tokens")


def test_models_list_and_path(cached_weights: Path, tmp_path: Path) -> None:
    listed = sqljury("models", "list", cache=tmp_path).stdout
    for name in ("qwen2.5-coder-1.5b", "smollm2-135m", "gemma-3-270m"):
        assert name in listed
    refused(sqljury("models", "path", "smollm2-135m", cache=tmp_path), 5, "sqljury models pull smollm2-135m")


def test_verification_is_part_of_the_answer(start: Start, db: Path) -> None:
    arguments = ("ask", "How many?", "--db", str(db), "--verify")
    out, error = start("SELECT count(*) FROM animal", *arguments).communicate(timeout=60)
    assert (error, out.splitlines()[-1]) == (
        "",
        "Nothing to compare: all 4 queries that run return the same.",
    )
    out, _ = start("SELECT count(*) FROM animal", *arguments, "--output", "json").communicate(timeout=60)
    assert json.loads(out)["verified"] == {"outcome": "agreed", "rival": None, "test": None, "why": ""}
