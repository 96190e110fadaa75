"""``sqljury eval`` on files, as a user meets it."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import commands

SHARED = Path(__file__).resolve().parents[3] / "shared"
SPIDER = SHARED / "predictions/spider_dev"


def sqljury(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = commands.sqljury("eval", *arguments)
    environment = {**os.environ, "COLUMNS": "160"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    database = tmp_path / "database/pets/pets.sqlite"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT);"
            "INSERT INTO pet VALUES (1, 'dog'), (2, 'cat'), (3, 'dog');"
        )
    connection.close()
    gold = ["SELECT kind FROM pet", "SELECT id FROM pet WHERE kind = 'dog'", "SELECT id FROM pet WHERE id > 9"]
    (tmp_path / "gold.txt").write_text("".join(f"{sql}\tpets\n" for sql in gold))
    (tmp_path / "good.txt").write_text("".join(f"{sql}\n" for sql in gold))
    (tmp_path / "bad.txt").write_text("SELECT DISTINCT kind FROM pet\nSELECT id FROM pet WHERE kind = 'value'\n\n")
    return tmp_path


def files(folder: Path, pred: str = "bad.txt") -> tuple[object, ...]:
    return "--gold", folder / "gold.txt", "--pred", folder / pred, "--db-dir", folder / "database"


def test_a_table_with_faults_of_gold_first(folder: Path) -> None:
    done = sqljury(*files(folder), "--metrics", "ex,exe")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "1 gold queries return nothing, as many wrong ones do: 2"
    rows = {line.split()[0]: line.split()[1] for line in lines if line.startswith("EX")}
    assert rows == {"EX": "0.0", "EXE": "33.3"}
    assert "SHA-256: gold.txt" in lines[-1]


def test_switches_of_the_published_program(folder: Path) -> None:
    done = sqljury(*files(folder), "--metrics", "exe", "--keep-distinct", "--plug-value", "--output", "json")
    report = json.loads(done.stdout)
    assert report["metrics"]["exe_keep_distinct"]["percent"] == 33.3333
    assert report["provenance"]["databases"].keys() == {"pets"}
    assert report["slices"]["exe_keep_distinct"]["database"] == {"pets": {"queries": 3, "mean": pytest.approx(1 / 3)}}


def test_a_line_a_query(folder: Path) -> None:
    out = folder / "out.tsv"
    done = sqljury(*files(folder), "--metrics", "exe,soft-f1", "--per-query", out)
    assert done.stderr == f"3 lines in {out}\n"
    assert out.read_text().splitlines()[:2] == ["index\thardness\texe\tsoft_f1\tid", "0\teasy\t1\t1.0000\t0"]


def test_partial_match_by_clause(folder: Path) -> None:
    lines = sqljury(*files(folder), "--metrics", "esm", "--partial").stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("partial match, recall"))
    assert lines[start].split()[3:] == ["easy", "all"]
    rows = {line.split("  ")[0]: line.split()[-1] for line in lines[start + 1 : start + 11]}
    assert (rows["select"], rows["where"]) == ("0.667", "0.500")


def test_two_files_side_by_side(folder: Path) -> None:
    done = sqljury(*files(folder, "good.txt"), "--against", folder / "bad.txt", "--metrics", "ex")
    assert done.returncode == 0, done.stderr
    assert "EX: 100.0 against 0.0 of bad.txt, +100.00 points, " in done.stdout
    assert "3 won, 0 lost, McNemar p = 0.25" in done.stdout
    assert "wins: 0, 1, 2" in done.stdout


def test_one_pair_in_full(folder: Path) -> None:
    done = sqljury(*files(folder), "--explain", 1, "--metrics", "exe,esm+,esm+strict")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("pair 1: ")
    assert "EXE: 0; 0 rows where gold has 2" in lines
    assert "ESM+: 0; differs in where" in lines
    assert "ESM+ strict, rewritten: differ in where" in lines
    found = json.loads(sqljury(*files(folder), "--explain", 1, "--output", "json").stdout)
    assert found["esm_plus"]["differs"] == ["where"]
    assert found["metrics"]["esm"]["score"] == 1


def test_a_pair_that_cannot_be_compared_says_why(folder: Path) -> None:
    (folder / "two.txt").write_text("SELECT count(*) FROM pet; DROP TABLE pet\n\n\n")
    done = sqljury(*files(folder, "two.txt"), "--explain", 0, "--metrics", "esm+")
    assert done.returncode == 0, done.stderr
    assert "ESM+, rewritten: cannot be compared" in done.stdout
    assert "    refused: SQLite does not accept it on this schema" in done.stdout.splitlines()


def test_no_such_pair(folder: Path) -> None:
    done = sqljury(*files(folder), "--explain", 3)
    assert done.returncode == 2
    assert "counted from 0 to 2" in done.stderr


def test_agreement_and_rules_one_after_the_other(folder: Path) -> None:
    done = sqljury(*files(folder), "--agreement", "--accumulate-rules")
    assert done.returncode == 0, done.stderr
    assert "EXE accepts and ESM+ refuses 1: select 1" in done.stdout
    assert "  0 (pets): differs in select" in done.stdout
    assert "of 3 queries, 1 right by EXE" in done.stdout
    rows = [line for line in done.stdout.splitlines() if " / " in line]
    assert [row.split("  ")[0] for row in rows[1:]] == ["EX / EXE", "EXE / ESM", "EXE / ESM+", "ESM / ESM+"]
    assert "2 more pairs of metrics: --output json" in done.stdout
    (folder / "wrong.txt").write_text("SELECT 1\n" * 3)
    wrong = sqljury(*files(folder, "wrong.txt"), "--agreement", "--metrics", "ex,exe").stdout
    row = next(line for line in wrong.splitlines() if line.startswith("EX / EXE"))
    assert row.split()[3:] == ["0", "0", "0", "3", "100.0"], "kappa is not known where both refuse all"
    report = json.loads(sqljury(*files(folder), "--accumulate-rules", "--output", "json").stdout)
    assert report["agreement"]["refused"]["esm_plus"]["clauses"] == {"select": 1}
    assert [step["missed"] for step in report["accumulated_rules"]["steps"]] == [0, *[1] * 21]
    done = sqljury(*files(folder), "--agreement", "--metrics", "esm")
    assert (done.returncode, done.stdout) == (2, "")
    assert "add one of exe_keep_distinct, exe" in done.stderr


def test_a_page_on_stdout(folder: Path) -> None:
    done = sqljury(
        *files(folder, "good.txt"), "--against", folder / "bad.txt", "--output", "html", "--metrics", "exe,esm+"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert "<h1>good.txt on gold.txt</h1>" in done.stdout
    assert "Compared with bad.txt." in done.stdout
    done = sqljury(*files(folder), "--explain", 1, "--output", "html")
    assert (done.returncode, done.stdout) == (2, "")


def test_gold_is_checked_by_itself(folder: Path) -> None:
    arguments = ("--gold", folder / "gold.txt", "--db-dir", folder / "database", "--check")
    done = sqljury(*arguments)
    assert done.returncode == 0, done.stderr
    assert "3 gold queries match themselves by EX, EXE, ESM, ESM+" in done.stdout
    (folder / "gold.txt").write_text("SELECT breed FROM pet\tpets\n")
    done = sqljury(*arguments)
    assert done.returncode == 2
    assert "breed" in done.stdout
    assert "1 of 1 gold queries do not match themselves" in done.stderr


def test_no_file_but_such_a_table_is_overwritten(folder: Path) -> None:
    out, database = folder / "out.tsv", folder / "database/pets/pets.sqlite"
    assert sqljury(*files(folder), "--metrics", "ex", "--per-query", out).returncode == 0
    labels = out.read_text()
    assert sqljury(*files(folder), "--metrics", "exe", "--per-query", out).returncode == 0
    assert out.read_text() != labels
    out.write_text("index\thardness\tright\n0\teasy\t1\n")
    kept = {path: path.read_bytes() for path in (folder / "gold.txt", folder / "bad.txt", database, out)}
    beside = folder / "database/pets/more.sqlite"
    for path in (*kept, beside):
        done = sqljury(*files(folder), "--labels", out, "--per-query", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"sqljury: {path}: ")
    assert {path: path.read_bytes() for path in kept} == kept
    assert not beside.exists()


def test_a_place_that_cannot_be_written_is_said_before_judging(folder: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    (folder / "bad.txt").write_text(f"{endless}\n\n\n")
    start = time.monotonic()
    done = sqljury(*files(folder), "--per-query", folder / "nowhere/out.tsv")
    assert time.monotonic() - start < 10
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written (No such file or directory); name another file" in done.stderr


def test_no_query_steers_the_terminal(folder: Path) -> None:
    evil = "VACUUM INTO 'x\x1b]0;evil\x07\x1b[31mRED'"
    (folder / "bad.txt").write_text(f"{evil}\nANALYZE pet\n{evil}\n")
    for more in ((), ("--explain", 0), ("--accumulate-rules",)):
        done = sqljury(*files(folder), "--metrics", "exe,esm+,esm+strict", *more)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert "\x1b" not in done.stdout


def test_a_title_says_what_is_not_as_published(folder: Path) -> None:
    done = sqljury(*files(folder), "--metrics", "exe,esm+", "--disable-rules", "7,13", "--plug-value")
    assert "ESM+, without rules 7, 13" in done.stdout
    assert "EXE, gold's values plugged in" in done.stdout
    plain = sqljury(*files(folder), "--metrics", "exe,esm+").stdout
    assert "without" not in plain
    assert "plugged" not in plain


def test_predictions_from_a_pipe(folder: Path) -> None:
    reading, writing = os.pipe()
    with open(writing, "wb") as stream:
        stream.write((folder / "good.txt").read_bytes())
    command = [sys.executable, "-c", "from sqljury.cli import main; main()", "eval"]
    arguments = map(str, files(folder, f"/dev/fd/{reading}"))
    done = subprocess.run(
        [*command, *arguments, "--metrics", "ex"], capture_output=True, text=True, pass_fds=[reading], check=False
    )
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[3].split()[:2] == ["EX", "100.0"]


def test_gold_is_checked_as_json_and_timed_metrics_are_left_out(folder: Path) -> None:
    arguments = ("--gold", folder / "gold.txt", "--db-dir", folder / "database", "--check")
    done = sqljury(*arguments, "--metrics", "exe,ves", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert "VES is left out" in done.stderr
    report = json.loads(done.stdout)
    assert (report["queries"], report["metrics"], report["mismatches"]) == (3, ["exe"], [])
    done = sqljury(*arguments, "--metrics", "ves")
    assert (done.returncode, done.stdout) == (2, "")
    assert "by a metric that is not timed" in done.stderr
    (folder / "gold.txt").write_text("SELECT breed FROM pet\tpets\n")
    done = sqljury(*arguments, "--metrics", "exe", "--output", "json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["mismatches"][0]["metrics"] == {"exe": "cannot be judged"}


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e9", "0", "-1"])
def test_a_time_that_no_one_waits_is_refused(folder: Path, seconds: str) -> None:
    done = sqljury(*files(folder), "--timeout", seconds)
    assert done.returncode == 2
    assert "is not in the range of 0.1 to 86400 seconds" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--check",), "--pred cannot be used with --check"),
        (("--explain", "1", "--per-query", "x.tsv"), "--per-query cannot be used with --explain"),
        (("--explain", "1", "--output", "html"), "--output html cannot be used with --explain"),
        (("--metrics", "ex", "--partial"), "add esm to --metrics"),
    ],
)
def test_options_that_would_not_be_heeded_are_refused(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = sqljury(*files(folder), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to judge"),
        (("--gold", "gold.txt"), "nothing to judge"),
        (("run", "--gold", "gold.txt"), "--gold cannot be used with a run's folder; leave one of them out"),
        (("--gold", "gold.txt", "--pred", "gone.txt", "--db-dir", "database"), "gone.txt: cannot be read"),
        (("--gold", "gold.txt", "--pred", "bad.txt", "--db-dir", "."), "gold.txt, line 1: there is no database"),
        (
            ("--gold", "gold.txt", "--pred", "bad.txt", "--db-dir", "database", "--metrics", "bleu"),
            "no metric 'bleu'",
        ),
        (
            ("--gold", "gold.txt", "--pred", "bad.txt", "--db-dir", "database", "--metrics", ","),
            "no metric is named",
        ),
        (
            ("--gold", "gold.txt", "--pred", "bad.txt", "--db-dir", "database", "--disable-rules", "x"),
            "give numbers with commas between",
        ),
    ],
)
def test_what_cannot_be_judged_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(folder)
    done = sqljury(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("sqljury: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.shared
def test_spider_dev_in_one_command(tmp_path: Path) -> None:
    out = tmp_path / "DAIL.tsv"
    done = sqljury(
        *("--gold", SPIDER / "gold.txt", "--pred", SPIDER / "DAIL.txt", "--db-dir", SHARED / "spider/database"),
        *("--tables", SHARED / "spider/tables.json", "--metrics", "exe,exe_keep_distinct,esm", "--per-query", out),
    )
    assert done.returncode == 0, done.stderr
    with (SHARED / "verdicts/spider_dev/DAIL.tsv").open(newline="") as theirs, out.open(newline="") as ours:
        for wanted, found in zip(
            csv.DictReader(theirs, delimiter="\t"), csv.DictReader(ours, delimiter="\t"), strict=True
        ):
            assert found == {name: wanted[name] for name in found if name != "id"} | {"id": found["index"]}
