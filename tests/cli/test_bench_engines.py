"""`sqljury bench spider --engine` and what works on its runs, as processes: servers are started, used and removed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from commands import Start, ended
from servers import Server, postgres_url

SCRIPT = """
    CREATE TABLE Animal (Id INTEGER PRIMARY KEY, Name TEXT, zoo INTEGER REFERENCES Zoo (id));
    CREATE TABLE Zoo (id INTEGER PRIMARY KEY, city TEXT);
    INSERT INTO Zoo VALUES (1, 'Rome');
    INSERT INTO Animal VALUES (1, 'ant', 1), (2, 'bee', NULL);
"""
QUERIES = (
    "SELECT count(*) FROM animal",
    "SELECT NAME, max(id), zoo FROM animal",
    "SELECT name FROM animal WHERE id = 1",
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    (root / "database" / "zoo").mkdir(parents=True)
    with sqlite3.connect(root / "database" / "zoo" / "zoo.sqlite") as connection:
        connection.executescript(SCRIPT)
    connection.close()
    entries = [{"question": f"Question {number}?", "query": sql, "db_id": "zoo"} for number, sql in enumerate(QUERIES)]
    (root / "dev.json").write_text(json.dumps(entries))
    return root


@pytest.mark.parametrize("engine", ["duckdb", "postgresql", "mysql"])
def test_a_run_on_another_engine_is_judged_there(
    start: Start, data: Path, tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue({"postgresql": "postgres_server", "mysql": "mariadb_server"}.get(engine, "tmp_path"))
    run = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(data), "--out", str(run), "--recipe", "fast", "--engine", engine)
    code, _, error = ended(start('SELECT count("Id") FROM "Animal"' if engine != "mysql" else "SELECT 2", *bench))
    assert code == 0, error
    if engine == "mysql":  # which has any row of a group
        assert len((run / "answers.jsonl").read_text().splitlines()) >= 2
    else:
        assert "1 of 3 questions are left out" in error
    settings = json.loads((run / "run.json").read_text())
    assert settings["dataset"]["engine"] == engine
    records = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    assert records[0]["source_gold"] == QUERIES[0]
    assert records[0]["hardness"] == "easy"
    code, report, error = ended(start("", "eval", str(run), "--output", "json"))
    assert code == 0, error
    figures = json.loads(report)
    assert (figures["questions"], figures["ex"]["right"]) == (len(records), 1)
    assert figures["hardness"]["easy"]["total"] >= 2
    code, _, error = ended(start("", *bench, "--strip-keys"))
    assert code == 2
    assert "other settings (dataset.strip_keys differ)" in error


def test_analyses_and_other_choices_of_such_a_run(
    start: Start, data: Path, tmp_path: Path, postgres_server: Server
) -> None:
    run, environment = tmp_path / "run", {"SQLJURY_BENCH_SERVER": postgres_url(postgres_server, "postgres")}
    bench = ("bench", "spider", "--data", str(data), "--out", str(run), "--recipe", "fast", "--engine", "postgresql")
    says = 'SELECT count(*) FROM "Animal"'
    code, report, error = ended(start(says, *bench, "--analyze", "bounds", "--analyze", "errors", env=environment))
    assert code == 0, error
    assert "1 of 2 answers wrong" in report
    code, _, error = ended(start(says, "bench", "select", str(run), "--selector", "first", env=environment))
    assert code == 0, error
    # judged before, so that no server is needed
    nowhere = {"SQLJURY_BENCH_SERVER": "postgresql://nobody@127.0.0.1:1/x"}
    code, report, error = ended(start("", "bench", "analyze", str(run), "--what", "ablation", env=nowhere))
    assert code == 0, error
    refine = ("bench", "refine", str(run), "--out", str(tmp_path / "refined"), "--by", "errors")
    code, report, error = ended(start(says, *refine, env=environment))
    assert code == 0, error
    refined = [json.loads(line) for line in (tmp_path / "refined" / "answers.jsonl").read_text().splitlines()]
    assert [one["hardness"] for one in refined] == ["easy", "easy"]


def test_stripped_files_are_those_that_are_asked(start: Start, data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(data), "--out", str(run), "--recipe", "fast", "--strip-keys")
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench))
    assert code == 0, error
    with sqlite3.connect(run / "databases" / "zoo.sqlite") as connection:
        definitions = " ".join(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master"))
    connection.close()
    assert "KEY" not in definitions.upper()
    assert "REFERENCES" not in definitions.upper()
    lines = (run / "answers.jsonl").read_text().splitlines()
    assert len(lines) == 3
    (run / "answers.jsonl").write_text("".join(f"{line}\n" for line in lines[:1]))  # as if it had been killed
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench))
    assert code == 0, error
    assert "1 of 3 answers; continuing" in error
    for file in (run / "databases").iterdir():
        file.unlink()
    code, report, error = ended(start("", "eval", str(run), "--output", "json"))
    assert code == 0, error
    assert json.loads(report)["ex"]["right"] == 1


def test_a_server_of_another_engine(start: Start, data: Path, tmp_path: Path) -> None:
    bench = ("bench", "spider", "--data", str(data), "--out", str(tmp_path / "run"), "--engine", "postgresql")
    code, _, error = ended(start("", *bench, "--server", "mysql://u:secret@h/x"))
    assert (code, error.count("\n")) == (2, 1)
    assert "give a URL with postgresql://" in error
    assert "secret" not in error
