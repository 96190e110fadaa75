"""Gold queries put right, and the file of them: what a program can correct, and what it leaves alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqljury.audit import Data, Finding, Subject, audit
from sqljury.audit.correction import Exported, corrected, export
from sqljury.datasets import spider
from sqljury.datasets.formats import read_golds, read_pairs
from sqljury.db.connect import connect
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation.run_folder import Record
from sqljury.schema.introspect import introspect
from sqljury.types import Limits

SCRIPT = """
CREATE TABLE airport (id INTEGER PRIMARY KEY, city TEXT, code TEXT);
CREATE TABLE flight (id INTEGER PRIMARY KEY, source TEXT, speed TEXT);
INSERT INTO airport VALUES (1, 'Oslo ', 'OSL'), (2, 'Bergen', 'BGO'), (3, 'OSLO', 'FBU');
INSERT INTO flight VALUES (1, ' osl', '90'), (2, ' osl', '100'), (3, ' bgo', 'null'),
    (4, ' osl', '80');
"""

CASES = [
    ("Codes of Oslo?", "SELECT code FROM airport WHERE city = 'oslo'", [("OSL",), ("FBU",)]),
    ("Who flies from Bergen?", "SELECT f.id FROM flight AS f JOIN airport AS a ON f.source = a.code "
     "WHERE a.city = 'bergen'", [(3,)]),
    ("Which flight is the fastest?", "SELECT id FROM flight ORDER BY speed DESC LIMIT 1", [(2,)]),
    ("What is the greatest speed?", "SELECT max(speed) FROM flight", [(100.0,)]),
    ("What different sources are there?", "SELECT source FROM flight", [(" osl",), (" bgo",)]),
]  # fmt: skip


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[Callable[[str, str], Subject]]:
    file = tmp_path / "air.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    with connect(file) as db:
        data = Data(db, Limits())
        yield lambda question, sql: Subject(question, sql, introspect(db), data)


@pytest.mark.parametrize(("question", "sql", "rows"), CASES)
def test_faults_that_say_how_they_are_put_right(
    subject: Callable[[str, str], Subject], question: str, sql: str, rows: list[tuple[object, ...]]
) -> None:
    wrong = subject(question, sql)
    better = corrected(wrong, audit(wrong))
    assert better
    assert wrong.data.rows(better) == tuple(rows)


def test_what_cannot_be_put_right_stays(subject: Callable[[str, str], Subject]) -> None:
    right = subject("Codes of Bergen?", "SELECT code FROM airport WHERE city = 'Bergen'")
    assert corrected(right, audit(right)) == ""
    spelled = Finding("wrong value", "spelling", 0.9, "", "")
    assert corrected(right, [spelled]) == ""  # nothing changes
    assert corrected(right, [spelled._replace(confidence=0.3)]) == ""
    assert corrected(subject("?", "SELEC"), [spelled]) == ""


def line(correction: str, confidence: float = 0.9) -> Record:
    return {"correction": correction, "findings": [Finding("wrong value", "x", confidence, "", "")._asdict()]}


def test_the_file_holds_all_gold_queries_in_order(data: Path, tmp_path: Path) -> None:
    examples = spider.load(data, "dev")
    checks = {"dev-0000": line("SELECT 7"), "dev-0001": line(""), "dev-0002": line("SELECT 8", 0.2)}
    tests = {"dev-0000": line("SELECT 9"), "dev-0001": line("SELECT\n 10 -- ten"), "dev-0003": line("SELECT '\x1b'")}
    for example in examples:
        own = {"question": example.question.text, "gold": example.gold_sql, "db_id": example.db_id}
        for lines in (checks, tests):
            lines.get(example.id, {}).update(own)
    assert export(tmp_path / "gold.sql", examples, checks, tests, 0.5) == Exported(1, 1, 2)
    golds = read_golds(tmp_path / "gold.sql")
    assert [gold.sql for gold in golds] == [
        "SELECT 7",
        "SELECT 10 /* ten */",
        examples[2].gold_sql,
        examples[3].gold_sql,
    ]
    assert [gold.db_id for gold in golds] == [example.db_id for example in examples]
    (tmp_path / "pred.sql").write_text("SELECT 1\n" * 4)
    assert len(read_pairs(tmp_path / "gold.sql", tmp_path / "pred.sql")) == 4
    assert export(tmp_path / "gold.jsonl", examples, checks, tests, 0.5) == Exported(1, 2, 1)
    assert [gold.sql for gold in read_golds(tmp_path / "gold.jsonl")][3] == "SELECT '\x1b'"
    assert json.loads((tmp_path / "gold.jsonl").read_text().splitlines()[0])["id"] == "dev-0000"


def test_files_that_cannot_be_written(data: Path, tmp_path: Path) -> None:
    entries = json.loads((data / "dev.json").read_text())
    entries[0]["query"] = "SELECT 'a\nb' FROM cat"
    (data / "dev.json").write_text(json.dumps(entries))
    examples = spider.load(data, "dev")
    with pytest.raises(InputError, match=r"dev-0000: .* \.jsonl"):
        export(tmp_path / "gold.sql", examples, {}, {}, 0.5)
    assert not (tmp_path / "gold.sql").exists()
    with pytest.raises(DatasetError, match="cannot be written"):
        export(tmp_path / "none" / "gold.jsonl", examples, {}, {}, 0.5)
