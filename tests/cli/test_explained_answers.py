"""Explanations and readings on the terminal: printed, piped, and asked for."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sqljury.cli import explanation, show
from sqljury.types import Answer, Candidate, Cost, Effect, Explanation, Question, Reading, Result, Step

Start = Callable[..., "subprocess.Popen[str]"]
TAKEN = "SELECT COUNT(*) FROM orders AS o JOIN employee AS e ON e.id = o.employee_id"
LEFT_OUT = "712 rows of orders have no match in employee by employee_id and are left out by the join"
NASTY = "a\x1b[31m\nb"
PIECES, ROWS = "SELECT SUM(quantity) FROM return_line", "SELECT COUNT(*) FROM return_line"
PROGRAM = """
import sys
from sqljury import FakeModel
from sqljury.cli import main
from sqljury.llm import open as opening
says = sys.argv[1:3]
model = FakeModel(lambda call: says)
opening._bare = lambda name, _together: model
sys.argv = ["sqljury", *sys.argv[3:]]
main()
"""


def answer(**parts: object) -> Answer:
    result = Result(("sum",), ((340,),))
    candidates = (Candidate(PIECES, "direct", result=result, group=0), Candidate(ROWS, "direct", group=1))
    known = Answer(Question("How many?"), PIECES, result.columns, result.rows, False, 0.5, candidates, Cost())
    from dataclasses import replace

    return replace(known, **parts)  # type: ignore[arg-type]


def two(word: str = "How many pieces") -> tuple[Reading, ...]:
    return (
        Reading(word, "the sum of quantity", PIECES, ("sum",), ((340,),), False, 0, 4),
        Reading(word, "the number of rows", ROWS, ("n",), ((1,), (2,), (3,)), False, 1, 4),
    )


def test_explain_tells_the_steps_and_what_they_left_out(shop: Path, start: Start) -> None:
    process = start(TAKEN, "ask", "How many orders are there?", "--db", str(shop), "--explain", "--no-cache")
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    lines = out.splitlines()
    at = lines.index("How the answer came about:")
    assert lines[at + 1 : at + 4] == [
        "  1. Reads orders and employee.",
        "  2. Joins employee where employee.id is orders.employee_id; rows without a match are dropped.",
        "  3. Shows the number of rows.",
    ]
    at = lines.index("What this did to rows:")
    assert lines[at + 1] == f"  - {LEFT_OUT}"
    assert f"Note: {LEFT_OUT}." in lines


def test_without_explain_only_the_warning_is_shown(shop: Path, start: Start) -> None:
    process = start(TAKEN, "ask", "How many orders are there?", "--db", str(shop), "--no-cache", "--output", "json")
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    data = json.loads(out)
    assert data["remarks"] == [LEFT_OUT]
    assert data["explanation"]["effects"][0]["rows"] == 712
    assert "How the answer came about" not in out + error


def test_both_readings_are_printed_below_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    show.answer(answer(readings=two()), "table", None, False)
    out, _ = capsys.readouterr()
    assert out.splitlines()[-3:] == [
        "'How many pieces' can be read in two ways, and the candidates are divided:",
        "  1. the sum of quantity (4 of 2): 340",
        "  2. the number of rows (4 of 2): 3 rows",
    ]
    show.answer(answer(readings=two()), "csv", None, False)
    out, error = capsys.readouterr()
    assert out == "sum\n340\n"
    assert "can be read in two ways" in error
    show.answer(answer(readings=two()), "json", 2, False)
    data = json.loads(capsys.readouterr().out)
    assert [(len(reading["rows"]), reading["truncated"]) for reading in data["readings"]] == [(1, False), (2, True)]


def test_nothing_of_them_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    told = Explanation((Step("read", NASTY), Step("subquery", NASTY, 1)), (Effect("tie", NASTY, 1),), NASTY)
    show.answer(answer(readings=two(NASTY), explanation=told), "table", None, True)
    out, _ = capsys.readouterr()
    assert all(character.isprintable() or character == "\n" for character in out)
    assert out.count("a [31m b") == 5


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda _: pytest.fail("asked"))
    found = answer(readings=two())
    assert explanation.chosen(found) is found


@pytest.mark.parametrize(
    ("typed", "rows", "more"),
    [
        ("2\n", "182", ()),
        ("\n", "340", ()),
        ("x\n2\n", "182", ()),
        ("\x04", "340", ()),
        ("1\n", "340", ("--min-confidence", "0.98")),
        ("2\n", "182", ("--min-confidence", "0.98", "--explain")),
    ],
)
def test_a_user_at_a_terminal_chooses(shop: Path, tmp_path: Path, typed: str, rows: str, more: tuple[str, ...]) -> None:
    mine, theirs = pty.openpty()
    environment = {**os.environ, "SQLJURY_CACHE": str(tmp_path / "cache"), "TERM": "dumb", "COLUMNS": "120"}
    command = [sys.executable, "-c", PROGRAM, PIECES, ROWS, "ask", "How many pieces came back?", "--db", str(shop)]
    command += ["--recipe", str(Path(__file__).parents[1] / "eight.toml"), "--no-cache", *more]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    try:
        while b"Which do you mean?" not in shown:
            shown += os.read(mine, 4096)
        before, shown = shown, b""
        os.write(mine, typed.encode())
        while chunk := _read(mine):
            shown += chunk
    finally:
        os.close(mine)
        process.wait(timeout=60)
    assert process.returncode == 0, shown.decode()
    assert b"can be read in two ways" in before
    assert ("How the answer came about" in shown.decode()) == ("--explain" in more)
    table = shown.decode().split("1 row.")[0]
    assert rows in table
    assert ("182" if rows == "340" else "340") not in table


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the process has ended
        return b""
