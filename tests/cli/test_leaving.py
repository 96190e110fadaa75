"""How a command ends when the user, the machine or the reader of its output does not play along."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
MANY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9999) SELECT x, x, x, x FROM c"


@pytest.fixture
def start(start_alone: Start) -> Start:
    """Each in a Python of its own: how that starts, handles signals and ends is what is tested."""
    return start_alone


def one_line(process: subprocess.Popen[str], code: int, *words: str) -> None:
    out, error = process.communicate(timeout=60)
    assert process.returncode == code, error
    assert not out
    assert error.startswith("sqljury: ")
    assert error.count("\n") == 1, error
    for word in words:
        assert word in error


def until_computing(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process that this one started has computed for so long: it runs the endless query."""
    if not Path("/proc/self/stat").exists():
        time.sleep(4)
        return
    ends, ticks = time.monotonic() + 120, seconds * os.sysconf("SC_CLK_TCK")
    while time.monotonic() < ends and process.poll() is None:
        for file in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended
                fields = file.read_text().rpartition(")")[2].split()
                if int(fields[1]) == process.pid and int(fields[11]) + int(fields[12]) > ticks:
                    return
        time.sleep(0.05)
    assert process.poll() is None


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("recipe", ["default", "fast"])  # in threads, and in the main thread within SQLite
def test_a_signal_stops_running_queries(start: Start, zoo: Path, recipe: str, asked: signal.Signals) -> None:
    process = start(ENDLESS, "ask", "How many?", "--db", str(zoo), "--timeout", "20", "--recipe", recipe)
    until_computing(process, 0.5)
    began = time.perf_counter()
    process.send_signal(asked)
    out, error = process.communicate(timeout=30)
    assert time.perf_counter() - began < 15
    assert (process.returncode, out, error) == (130, "", "sqljury: stopped\n")


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_a_request_to_end_is_heard_in_the_background_of_a_script(start: Start, zoo: Path, tmp_path: Path) -> None:
    """A shell that runs no terminal starts them with Ctrl-C ignored."""
    pipe = tmp_path / "questions.json"
    os.mkfifo(pipe)
    given = ("--questions", str(pipe), "--db-dir", str(tmp_path), "--out", str(tmp_path / "set.jsonl"))
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    process = start("x", "train", "data", "linker", *given, **ignoring)
    try:
        with pipe.open("w"):  # once it reads there
            process.send_signal(signal.SIGTERM)
            _, error = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, error) == (130, "sqljury: stopped\n")


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_a_signal_leaves_no_copies_of_files_behind(start: Start, tmp_path: Path) -> None:
    table, kept = tmp_path / "zoo.csv", tmp_path / "tmp"
    table.write_bytes("name\nbär\nlöwe\n".encode("cp1252"))
    kept.mkdir()
    process = start(ENDLESS, "ask", "How many?", "--db", str(table), "--timeout", "20", env={"TMPDIR": str(kept)})
    until_computing(process, 1.5)
    assert any("files" in path.name for path in kept.iterdir())
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 130
    assert not [path for path in kept.iterdir() if "files" in path.name]


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_ctrl_c_stops_a_bench_without_a_record(start: Start, zoo: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "database" / "zoo").mkdir(parents=True)
    zoo.rename(data / "database" / "zoo" / "zoo.sqlite")
    (data / "dev.json").write_text(json.dumps([{"question": "How many?", "query": "SELECT 1", "db_id": "zoo"}]))
    run = ("bench", "spider", "--data", str(data), "--out", str(tmp_path / "run"), "--recipe", "fast")
    process = start(ENDLESS, *run, "--timeout", "20")
    until_computing(process, 0.5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=10)
    assert (process.returncode, out, error) == (130, "", "sqljury: stopped\n")
    assert (tmp_path / "run" / "answers.jsonl").read_text() == ""


@pytest.mark.skipif(os.name == "nt", reason="pipes as POSIX has them")
@pytest.mark.parametrize("output", ["csv", "json", "table"])
def test_a_reader_that_goes_ends_it_quietly(start: Start, zoo: Path, output: str) -> None:
    reading, writing = os.pipe()
    arguments = ("ask", "Numbers?", "--db", str(zoo), "--output", output, "--limit", "9999")
    process = start(MANY, *arguments, stdout=writing)
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("output", ["sql", "json"])
def test_a_full_disk(start: Start, zoo: Path, output: str) -> None:
    with open("/dev/full", "w") as full:
        process = start("SELECT 1", "ask", "Numbers?", "--db", str(zoo), "--output", output, stdout=full)
        one_line(process, 1, "No space left on device")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("output", ["table", "csv", "json", "sql"])
def test_an_output_that_lacks_characters(start: Start, zoo: Path, encoding: str, output: str) -> None:
    sql = "SELECT name AS ąę FROM animal"
    arguments = ("ask", "Names?", "--db", str(zoo), "--explain", "--output", output)
    process = start(sql, *arguments, env={"PYTHONIOENCODING": encoding})
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert "Traceback" not in error
    if output == "json":
        assert json.loads(out)["columns"] == ["ąę"]
        assert json.loads(out)["rows"][2] == ["żuk\r"]


def test_a_cache_of_replies_that_cannot_be_used_is_one_line(start: Start, zoo: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    process = start("SELECT 1", "ask", "One?", "--db", str(zoo), "--output", "sql")
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "SELECT 1;\n")
    assert error.startswith("sqljury: The cache of replies")
    assert error.count("\n") == 1


def test_places_that_cannot_be_used(start: Start, zoo: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_bytes(b'summary = "caf\xe9"')
    ask = ("ask", "One?", "--db", str(zoo))
    one_line(start("x", *ask, "--recipe", str(recipe)), 2, "mine.toml", "UTF-8")
    pull = ("models", "pull", "smollm2-135m", "--from", str(recipe))
    (tmp_path / "file").write_text("")
    one_line(start("x", *pull, env={"SQLJURY_CACHE": str(tmp_path / "file")}), 5, "SQLJURY_CACHE")


def test_a_model_in_the_home_of_nobody(zoo: Path, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("sqljury")), "ask", "One?", "--db", str(zoo)]
    process = subprocess.Popen(
        [*command, "--model", "~nosuch/x.gguf"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SQLJURY_CACHE": str(tmp_path)},
    )
    one_line(process, 5, "~nosuch/x.gguf", "check the path")


@pytest.mark.skipif(os.name == "nt", reason="bytes as POSIX has them")
def test_a_question_that_is_no_text(start: Start, zoo: Path) -> None:
    process = start("SELECT 1", "ask", os.fsdecode(b"caf\xe9?"), "--db", str(zoo))
    one_line(process, 2, "UTF-8")


def test_wrong_usage_says_what_it_always_said(start: Start, zoo: Path) -> None:
    process = start("x", "ask", "q", "--output", "x\x1b[31mml")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    usage, advice, blank, problem, end = error.split("\n")
    assert usage.startswith("Usage: sqljury ask [OPTIONS]")
    assert (advice, blank, end) == ("Try 'sqljury ask --help' for help.", "", "")
    assert problem.startswith("Error: Invalid value for '--output'")
    assert "\x1b" not in error
    bare = start("x")
    _, error = bare.communicate(timeout=60)
    assert bare.returncode == 2
    assert "Commands:" in error
    priced = start("x", "ask", "q", "--db", str(zoo), "--price", "much")
    assert "is not a price" in priced.communicate(timeout=60)[1]


def test_what_was_tried_goes_to_stderr_when_nothing_ran(start: Start, zoo: Path) -> None:
    process = start("SELECT nothing FROM nowhere", "ask", "What?", "--db", str(zoo), "--explain", "--output", "json")
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (7, "")
    assert "Candidates" in error
    assert error.splitlines()[-1].startswith("sqljury: none of 6")


def test_the_package_is_a_command_too() -> None:
    ran = subprocess.run([sys.executable, "-m", "sqljury", "--version"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("sqljury ")
