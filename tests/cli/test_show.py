"""What reaches the terminal, and what reaches a pipe."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import get_args

import pytest

from sqljury.cli import candidate_tables, show, terminal
from sqljury.types import Answer, Candidate, Choice, Comparison, Cost, Fix, Question, Result
from sqljury.types.candidate import FixedBy

NASTY = "be\x1b[31mar\n\t[/x] :dog:\u202e\x9b31m"
SQL = "SELECT 'a\x1b[2J'\nFROM \"t [/x]\" -- \u202e"
ROWS = ((1, NASTY, bytes(range(40))), (2, 'żuk, "x"\r', None))
COLUMNS = ("id", "na\x1b[31mme [/x]", "photo")
RESULT = Result(COLUMNS, ROWS)
FIXED = (Fix("SELECT \x1b[31m", "no such column: \x1b]0;title\x07", "model"),)
ANSWER = Answer(
    Question("Who?"),
    SQL,
    COLUMNS,
    ROWS,
    False,
    1.0,
    (Candidate(SQL, "direct", -1.0, RESULT, 0, FIXED),),
    Cost(calls=1),
    linked=("animal", NASTY),
)


def printed(capsys: pytest.CaptureFixture[str], output: str, explain: bool = False) -> tuple[str, str]:
    show.answer(ANSWER, output, None, explain)
    return capsys.readouterr()


def harmless(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


@pytest.fixture
def somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "at_terminal", lambda: True)


def test_a_table_steers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, "table", explain=True)
    assert harmless(out)
    assert "[/x]" in out  # no markup
    assert ":dog:" in out  # no emoji
    assert "Candidates" in out


@pytest.mark.parametrize("output", ["csv", "json", "sql"])
def test_nothing_steers_a_terminal(capsys: pytest.CaptureFixture[str], output: str, somebody_looks: None) -> None:
    out, error = printed(capsys, output, explain=True)
    assert harmless(out)
    assert harmless(error)
    if output == "json":
        assert json.loads(out)["rows"][0][1] == NASTY
        assert "żuk" in out  # what can be shown stays readable


def test_csv_for_a_pipe_is_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, "csv")
    header, *rows = csv.reader(io.StringIO(out, newline=""))
    assert tuple(header) == COLUMNS
    assert rows == [["1", NASTY, f"0x{bytes(range(40)).hex()}"], ["2", 'żuk, "x"\r', ""]]
    assert out.endswith("\n")
    assert "\r\n" not in out


def test_a_table_shows_numbers_without_what_adding_floats_leaves(
    capsys: pytest.CaptureFixture[str], somebody_looks: None
) -> None:
    numbers = (37163.69999999998, 55523.00000000005, -0.1 - 0.2, 1 / 3, 1e300, float("inf"), 12345678901234567)
    found = replace(ANSWER, columns=("n",), rows=tuple((number,) for number in numbers))
    show.answer(found, "table", None, False)
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for text in ("37163.7", "55523.0", "-0.3", "0.333333333333", "1e+300", "inf", "12345678901234567"):
        assert text in shown
    show.answer(found, "csv", None, False)
    assert capsys.readouterr().out.splitlines()[1:] == [str(number) for number in numbers]


FORMULAS = [
    "=1+1",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\ufeff=1",
    "＝1",
    "-cmd|'/C calc'!A0",
    "−1+1",
]
HARMLESS = ["-5", "+1.5e-3", "plain", "a=b", "", "0x2d", "'=1", "a;=1", 'a"=1', "1-2"]


def test_formulas_are_defused_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    rows = tuple((text, -5, -1.5, None) for text in (*FORMULAS, *HARMLESS))
    found = replace(ANSWER, columns=("=evil", "n", "x", "none"), rows=rows)
    show.answer(found, "csv", None, False)
    plain = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert [row[0] for row in plain] == ["=evil", *FORMULAS, *HARMLESS]
    show.answer(found, "csv", None, False, defuse=True)
    out = capsys.readouterr().out
    safe = list(csv.reader(io.StringIO(out, newline="")))
    assert [row[0] for row in safe] == ["'=evil", *(f"'{text}" for text in FORMULAS), *HARMLESS]
    assert all(row[1:] == ["-5", "-1.5", ""] for row in safe[1:])
    assert ",-5,-1.5," in out  # numbers stay numbers
    assert '"a;=1"' in out  # also where a semicolon begins the next cell


def test_sql_for_a_pipe_is_the_query(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "sql")[0] == f"{SQL}\n;\n"  # the comment at its end would swallow a semicolon


def test_a_table_shows_no_tail_of_a_comment_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    tail = "".join(f"x{end}OR 1" for end in "\u2028\u2029\x85\v\f\x1c\x1d\x1e\r")
    sql = f"SELECT 1 -- {tail}\nFROM t WHERE a = 'b\t\u202e'"
    show.answer(replace(ANSWER, sql=sql, candidates=(Candidate(sql, "direct", result=RESULT),)), "table", None, True)
    out, error = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("SELECT 1 -- x OR 1x OR 1")
    assert lines[1] == "FROM t WHERE a = 'b\\t\\u202e'"
    assert "OR 1 */ FROM t" in out  # on one line, where nothing may become a part of the comment
    assert "were escaped" in error


def test_a_long_query_is_not_broken_into_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal wraps it by itself; a line that is made stays one when it is copied, live behind a comment."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    sql = f"SELECT 1 -- {'long ' * 30}\nFROM t"
    show.answer(replace(ANSWER, sql=sql), "table", None, False)
    plain = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert plain.startswith(f"SELECT 1 -- {('long ' * 30).strip()}\nFROM t\n")


@pytest.mark.parametrize("output", ["csv", "json", "sql"])
def test_evidence_keeps_out_of_what_machines_read(capsys: pytest.CaptureFixture[str], output: str) -> None:
    plain, _ = printed(capsys, output)
    out, error = printed(capsys, output, explain=True)
    assert out == plain
    assert "Candidates" in error
    assert "rewritten by the model" in error
    assert "Cost:" in error
    assert "Tables shown: animal, " in error
    assert harmless(error)


def test_notes_are_single_harmless_lines(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("a\x1b[31m\nb")
    terminal.note("c\x1b[31m\nd")
    assert capsys.readouterr().err == "sqljury: a [31m b\nc [31m d\n"


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice(0, "own", (0.25, 0.75)), "* chosen by own; by group: 1 25%, 2 75%\n"),
        (Choice(0, "critic", (0.62, 0.3), (Comparison(0, 1, 0.7, 0.64),)), "    2   0.30   36%, 30%"),
        (Choice(0, "consistency", (3.0, 1.0)), "* chosen by consistency\n"),
        (
            Choice(0, "light", (0.4, 0.6), (Comparison(0, 1, 0.4, 0.4),)),
            "* chosen by light; it prefers another result by less than its margin, so votes decided\n",
        ),
        (Choice(0, "light", (0.6, 0.4), (Comparison(0, 1, 0.6, 0.6),)), "* chosen by light\n"),
        (
            Choice(0, "consistency", (3.0, 1.0), note="the budget is spent, so votes decided"),
            "* chosen by consistency; the budget is spent, so votes decided\n",
        ),
    ],
)
def test_the_choice_is_explained(capsys: pytest.CaptureFixture[str], choice: Choice, said: str) -> None:
    candidate_tables.evidence(ANSWER.candidates, None, choice=choice)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("by", get_args(FixedBy))
def test_each_kind_of_repair_is_explained(capsys: pytest.CaptureFixture[str], by: FixedBy) -> None:
    one = Candidate("SELECT 2", "direct", -1.0, RESULT, 0, (Fix("SELECT 1", "it was wrong", by),))
    candidate_tables.evidence((one,), None)
    assert " after: it was wrong\n" in capsys.readouterr().out


def test_a_refined_answer_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    by_tests = (Fix("SELECT 1", "on a test it returned 1, expected was 2", "tests"),)
    one = Candidate("SELECT 2", "direct", -1.0, RESULT, 0, by_tests)
    candidate_tables.evidence((one,), None, choice=Choice(0, "consistency"))
    out = capsys.readouterr().out
    assert "rewritten by the model after: on a test it returned 1, expected was 2" in out
    assert "* chosen by consistency, then refined by tests" in out
