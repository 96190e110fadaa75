"""``sqljury check`` as a user meets it: what is shown, and the exit codes that scripts go by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

Start = Callable[..., "object"]
BIG = "SELECT name FROM animal WHERE legs > 3"


@pytest.fixture
def legs(tmp_path: Path) -> Path:
    path = tmp_path / "legs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, legs INTEGER)")
        connection.execute("INSERT INTO animal VALUES (1, 'cr\x1b[31mow', 2), (2, 'bear', 4)")
    connection.close()
    return path


def run(start: Callable[..., object], says: str, sql: str, db: Path, *more: str) -> tuple[int, str, str]:
    """What the model says is both its query and what it expects of small databases."""
    process = start(says, "check", "Which?", "--db", str(db), "--sql", sql, "--recipe", "fast", "--no-cache", *more)
    out, error = process.communicate(timeout=120)  # type: ignore[attr-defined]
    return process.returncode, out, error  # type: ignore[attr-defined]


def test_a_query_that_the_tests_pass_is_right(start: Start, legs: Path) -> None:
    code, out, _ = run(start, '"bear"', BIG, legs)
    assert code == 0
    assert out.startswith("Right: it passes the test.\n")
    assert "bear" in out


def test_a_query_that_fails_without_a_better_one_is_unclear(start: Start, legs: Path) -> None:
    code, out, _ = run(start, '"cow"', BIG, legs)
    assert code == 11
    assert out.startswith("Cannot say: it fails the test, but no other query does better")
    assert "which is not expected" in out
    assert "cow" in out


def test_a_query_that_cannot_be_run_is_wrong_with_one_that_can(start: Start, legs: Path) -> None:
    code, out, _ = run(start, BIG, "SELECT nme FROM animal", legs)
    assert code == 10
    assert out.startswith("Wrong: it cannot be run: no such column: nme.\n")
    assert BIG in out


def test_json_has_all_of_it(start: Start, legs: Path) -> None:
    code, out, _ = run(start, '"bear"', BIG, legs, "--output", "json")
    found = json.loads(out)
    assert (code, found["verdict"], found["correction"]) == (0, "right", None)
    assert found["tests"][0]["expected"]["rows"] == [["bear"]]
    assert [2, "bear", 4] in found["tests"][0]["tables"]["animal"]["rows"]


@pytest.mark.parametrize(
    ("sql", "code", "word"),
    [("DROP TABLE animal", 4, "SELECT"), ("", 2, "--sql"), ("SELECT 1; SELECT 2", 4, "one")],
)
def test_what_is_no_query_to_check_is_one_line(start: Start, legs: Path, sql: str, code: int, word: str) -> None:
    before = legs.read_bytes()
    ended, out, error = run(start, BIG, sql, legs)
    assert (ended, out) == (code, "")
    assert error.startswith("sqljury: ")
    assert error.count("\n") == 1
    assert word in error
    assert legs.read_bytes() == before


def test_content_does_not_steer_the_terminal(start: Start, legs: Path) -> None:
    code, out, _ = run(start, '"ox\x1b[2J"', 'SELECT name AS "n\x1b[31m" FROM animal', legs)
    assert code == 11
    assert "\x1b" not in out
