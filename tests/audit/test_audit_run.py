"""An audit over a small benchmark: complete, resumable, and distrustful of the file it goes on with."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury.audit import run as audit
from sqljury.audit.correction import export
from sqljury.datasets import spider
from sqljury.errors import CancelledError, DatasetError

QUESTIONS = [
    ("How many cats are there?", "SELECT count(*) FROM cat", "pets"),
    ("Which cats are called Tom?", "SELECT id FROM cat WHERE name = 'tom'", "pets"),
    ("Give the names in descending order of age.", "SELECT name FROM cat ORDER BY age", "pets"),
    ("Which dogs are called Rex?", "SELECT id FROM dog WHERE name = 'Rex'", "more"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name, script in {
        "pets": "CREATE TABLE cat (id INTEGER PRIMARY KEY, name TEXT, age INT);"
        "INSERT INTO cat VALUES (1, 'Tom', 3), (2, 'Mia', 5);",
        "more": "CREATE TABLE dog (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO dog VALUES (1, 'Rex');",
    }.items():
        file = folder / "database" / name / f"{name}.sqlite"
        file.parent.mkdir(parents=True)
        connection = sqlite3.connect(file)
        connection.executescript(script)
        connection.close()
    entries = [{"question": question, "query": sql, "db_id": name} for question, sql, name in QUESTIONS]
    (folder / "dev.json").write_text(json.dumps(entries))
    return folder


def settled(seconds: float = 5.0) -> dict[str, Any]:
    return audit.settings({"name": "spider", "split": "dev"}, seconds)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_line_a_question(data: Path, tmp_path: Path, processes: int) -> None:
    examples = spider.load(data, "dev")
    lines = audit.run(examples, tmp_path / "out.jsonl", settled(), processes=processes)
    assert [line["id"] for line in lines] == [example.id for example in examples]
    assert [[one.check for one in audit.findings_of(line)] for line in lines] == [
        [],
        ["spelling"],
        ["order-direction"],
        [],
    ]
    assert audit.counts(lines) == {"wrong value": {"spelling": 1}, "semantic logic": {"order-direction": 1}}
    assert not any(line["error"] for line in lines)
    written = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(written[0]) == settled()
    assert sorted(json.loads(line)["id"] for line in written[1:]) == [line["id"] for line in lines]


def test_it_goes_on_where_it_stopped(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "out.jsonl"
    with pytest.raises(CancelledError, match="same command"):
        audit.run(examples, out, settled(), stopped=lambda: True)
    before = out.read_bytes()
    assert len(before.splitlines()) == 2
    with out.open("ab") as stream:
        stream.write(b'{"id": "dev-0001", "fi')  # killed in the middle of a line
    seen: list[str] = []
    lines = audit.run(examples, out, settled(), on_line=lambda line: seen.append(line["id"]))
    assert seen == ["dev-0001", "dev-0002", "dev-0003"]
    assert out.read_bytes().startswith(before)
    assert lines == audit.run(examples, tmp_path / "other.jsonl", settled())
    after = out.read_bytes()
    assert audit.run(examples, out, settled()) == lines
    assert out.read_bytes() == after


def test_another_audit_is_refused(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "out.jsonl"
    audit.run(examples, out, settled())
    with pytest.raises(DatasetError, match=r"another audit \(seconds differ\)"):
        audit.run(examples, out, settled(6.0))


@pytest.mark.parametrize("content", ["no audit\n", "[1]\n", '{"id": "dev-0000"}\n', "no line end"])
def test_a_file_of_something_else_is_left_alone(data: Path, tmp_path: Path, content: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(content)
    with pytest.raises(DatasetError, match="holds no audit"):
        audit.run(spider.load(data, "dev"), out, settled())
    assert out.read_text() == content


@pytest.mark.parametrize("line", ["{}", "5", '{"id": 1}'])
def test_a_broken_line_is_named(data: Path, tmp_path: Path, line: str) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "out.jsonl"
    audit.run(examples[:1], out, settled())
    with out.open("a") as stream:
        stream.write(f"{line}\n")
    with pytest.raises(DatasetError, match=r"line 3: .*delete that line"):
        audit.run(examples, out, settled())


def test_a_line_twice_is_named(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "out.jsonl"
    audit.run(examples[:1], out, settled())
    with out.open("a") as stream:
        stream.write(out.read_text().splitlines()[1] + "\n")
    with pytest.raises(DatasetError, match="line 3: was audited before"):
        audit.run(examples, out, settled())


def test_a_query_that_never_ends_is_a_finding(data: Path, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    (data / "dev.json").write_text(json.dumps([{"question": "How many?", "query": endless, "db_id": "pets"}]))
    (line,) = audit.run(spider.load(data, "dev"), tmp_path / "out.jsonl", settled(0.3))
    assert [one.check for one in audit.findings_of(line)] == ["fails"]
    assert "limit" in audit.findings_of(line)[0].evidence


def test_a_database_that_cannot_be_read_is_told(data: Path, tmp_path: Path) -> None:
    (data / "database/more/more.sqlite").write_text("no database")
    lines = audit.run(spider.load(data, "dev"), tmp_path / "out.jsonl", settled())
    assert [line["error"] is None for line in lines] == [True, True, True, False]


def test_a_question_that_failed_is_audited_again(data: Path, tmp_path: Path) -> None:
    file, out = data / "database/more/more.sqlite", tmp_path / "out.jsonl"
    content = file.read_bytes()
    file.write_text("no database")
    examples = spider.load(data, "dev")
    audit.run(examples, out, settled())
    seen: list[str] = []
    [*_, failed] = audit.run(examples, out, settled(), on_line=lambda line: seen.append(line["id"]))
    assert failed["error"]
    file.write_bytes(content)
    [*_, last] = audit.run(examples, out, settled(), on_line=lambda line: seen.append(line["id"]))
    assert seen == ["dev-0003", "dev-0003"]
    assert last["error"] is None
    assert audit.run(examples, out, settled())[-1] == last


def test_a_question_whose_gold_was_corrected_is_audited_again(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "out.jsonl"
    [line] = audit.run(examples[1:2], out, settled())
    assert "Tom" in line["correction"]
    changed = [replace(examples[1], gold_sql="SELECT id FROM cat WHERE name = 'Tom'")]
    for asked, checks in ((changed, []), (changed, []), (examples[1:2], ["spelling"])):
        [line] = audit.run(asked, out, settled())
        assert line["gold"] == asked[0].gold_sql
        assert [one.check for one in audit.findings_of(line)] == checks
    assert len(out.read_text().splitlines()) == 4
    file = tmp_path / "gold.jsonl"
    export(file, changed, {line["id"]: line}, {}, 0.5)
    assert json.loads(file.read_text())["gold"] == changed[0].gold_sql


def test_two_audits_do_not_write_one_file(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "out.jsonl"

    def again(_: object) -> None:
        with pytest.raises(DatasetError, match="another program is writing it"):
            audit.run(examples, out, settled())

    audit.run(examples, out, settled(), on_line=again)
    assert len(out.read_text().splitlines()) == 5
