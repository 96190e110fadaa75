"""``sqljury suite``, as a user meets it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

import commands


def sqljury(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = commands.sqljury("suite", *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    database = tmp_path / "database/pets/pets.sqlite"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, age INT);"
            "INSERT INTO pet VALUES (1, 'dog', 3), (2, 'cat', 2), (3, 'dog', 5);"
        )
    connection.close()
    gold = ["SELECT id FROM pet WHERE kind = 'dog'", "SELECT id FROM pet WHERE age >= 3"]
    (tmp_path / "gold.txt").write_text("".join(f"{sql}\tpets\n" for sql in gold))
    (tmp_path / "pred.txt").write_text("SELECT id FROM pet WHERE age > 2\nSELECT id FROM pet WHERE NOT age < 3\n")
    return tmp_path


def test_build_then_run(folder: Path) -> None:
    common = ("--gold", folder / "gold.txt", "--db-dir", folder / "database")
    built = sqljury("build", *common, "--out", folder / "suite", "--databases", 3, "--candidates", 6)
    assert built.returncode == 0, built.stderr
    manifest = (folder / "suite/suite.json").read_text()
    judged = ("--pred", folder / "pred.txt", "--suite", folder / "suite")
    done = sqljury("run", *common, *judged, "--output", "json")
    report = json.loads(done.stdout)
    assert (report["queries"], report["correct"], report["rejected"]) == (2, 2, 1)
    (found,) = report["counterexamples"]
    assert found["index"] == 0
    assert Path(found["counterexample"]).is_file()
    text = sqljury("run", *common, *judged).stdout
    assert "1 of these (50.0 %) are wrong on the suite" in text
    assert "predicted SELECT id FROM pet WHERE age > 2" in text
    changed = [path.stat().st_mtime_ns for path in (folder / "suite/pets").iterdir()]
    again = sqljury("build", *common, "--out", folder / "suite", "--databases", 3, "--candidates", 6)
    assert again.stdout == built.stdout
    assert [path.stat().st_mtime_ns for path in (folder / "suite/pets").iterdir()] == changed
    assert (folder / "suite/suite.json").read_text() == manifest


def test_a_suite_without_the_database_is_one_line(folder: Path) -> None:
    common = ("--gold", folder / "gold.txt", "--db-dir", folder / "database")
    done = sqljury("run", *common, "--pred", folder / "pred.txt", "--suite", folder / "nowhere")
    assert done.returncode == 2
    assert "has no databases for 'pets'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_users_databases_are_never_written_to(folder: Path) -> None:
    own = folder / "database/pets/pets.sqlite"
    before = own.read_bytes()
    for out in (folder / "database", folder / "database/pets", folder / "gold.txt"):
        done = sqljury("build", "--gold", folder / "gold.txt", "--db-dir", folder / "database", "--out", out)
        assert done.returncode == 2
        assert done.stderr.startswith(f"sqljury: {out}: ")
        assert done.stderr.count("\n") == 1
    assert own.read_bytes() == before
    assert [path.name for path in (folder / "database").rglob("*")] == ["pets", "pets.sqlite"]


def test_all_databases_of_one_name_count_as_in_eval(folder: Path) -> None:
    second = folder / "database/pets/pets_2.sqlite"
    with sqlite3.connect(second) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, age INT); INSERT INTO pet VALUES (1, 'cat', 3);"
        )
    connection.close()
    common = ("--gold", folder / "gold.txt", "--db-dir", folder / "database")
    assert sqljury("build", *common, "--out", folder / "suite", "--candidates", 4).returncode == 0
    done = sqljury("run", *common, "--pred", folder / "pred.txt", "--suite", folder / "suite", "--output", "json")
    report = json.loads(done.stdout)
    assert (report["queries"], report["correct"], report["rejected"]) == (2, 1, 0)


def test_a_query_without_end_costs_what_is_allowed(folder: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    (folder / "pred.txt").write_text(f"{endless}\nSELECT id FROM pet WHERE age >= 3\n")
    common = ("--gold", folder / "gold.txt", "--db-dir", folder / "database")
    assert sqljury("build", *common, "--out", folder / "suite", "--candidates", 4).returncode == 0
    judged = ("--pred", folder / "pred.txt", "--suite", folder / "suite", "--timeout", 0.3, "--processes", 2)
    start = time.monotonic()
    done = sqljury("run", *common, *judged)
    assert time.monotonic() - start < 30
    assert "1 of 2 predictions are right on the given data (EXE)" in done.stdout, done.stderr


def test_only_what_can_be_printed_is_offered(folder: Path) -> None:
    common = ("--gold", folder / "gold.txt", "--db-dir", folder / "database")
    done = sqljury("run", *common, "--pred", folder / "pred.txt", "--suite", folder, "--output", "html")
    assert done.returncode == 2
    assert "'html' is not one of" in done.stderr
