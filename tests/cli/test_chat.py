"""``sqljury chat``: at a prompt, from a pipe, and what it completes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from sqljury import FakeModel, Session
from sqljury.cli.chat import COMMANDS, HELP, Chat, prompting
from sqljury.cli.completion import Words
from sqljury.project import load

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def session(shop: Path) -> Iterator[Session]:
    """The shop, on a model that disagrees with itself."""
    both = ["SELECT count(*) FROM orders", "SELECT count(*) FROM customer"]
    model = FakeModel(lambda call: "SELECT count(*) FROM customer" if call.n == 1 else both)
    with Session(shop, model=model, cache=False) as opened:
        yield opened


def said(talk: Chat, line: str, capsys: pytest.CaptureFixture[str], *, goes_on: bool = True) -> str:
    assert talk.take(line) is goes_on
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_a_conversation(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    talk = Chat(session)
    assert "there is no answer yet" in said(talk, "\\why", capsys)
    assert "SELECT count(*) FROM customer" in said(talk, "How many customers are there?", capsys)
    assert said(talk, "\\sql", capsys).strip() == "SELECT count(*) FROM customer"
    why = said(talk, "\\why", capsys)
    assert "Verify by eye" in why
    assert "Candidates" in why
    assert "customer(id, first_name" in said(talk, "\\schema", capsys)
    assert "promised_days" in said(talk, "\\schema REGION", capsys)
    assert "there is no table 'moon'" in said(talk, "\\schema moon", capsys)
    assert "table  customer" in said(talk, "\\find customer", capsys)
    assert "7" in said(talk, "\\sql SELECT 7 AS x", capsys)
    assert "only SELECT is allowed" in said(talk, "\\sql DROP TABLE customer", capsys)
    assert "there is no command \\fly" in said(talk, "\\fly", capsys)
    assert "sqljury init" in said(talk, "\\good", capsys)
    listed = said(talk, "\\help", capsys)
    assert all(entry in listed for entry in HELP)
    assert said(talk, "  ", capsys) == ""
    for leaving in ("\\quit", "exit", "Quit"):
        assert said(talk, leaving, capsys, goes_on=False) == ""


def test_errors_end_nothing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Session(shop, model=FakeModel("I do not know"), recipe="fast", cache=False) as session:
        talk = Chat(session)
        assert "only reads" in said(talk, "delete all customers", capsys)
        said(talk, "How many customers?", capsys)
        assert "Candidates" in said(talk, "\\why", capsys)


def test_feedback_is_kept_in_the_folder(
    session: Session, shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sqljury.toml").write_text(f'[databases.shop]\nurl = "{shop}"\n')
    talk = Chat(session, load(tmp_path), "shop")
    queries = ("SELECT 1", "with few as (select 1) select * from few;")
    comments = (
        "a regular is a customer with three orders",
        "with sales we mean net sales",
        "selected the wrong region",
        "select only open orders",
    )
    for line in ("How many?", "\\good", *(f"\\bad {text}" for text in (*queries, *comments))):
        said(talk, line, capsys)
    lines = [json.loads(line) for line in (tmp_path / "feedback.jsonl").read_text().splitlines()]
    assert [(line.get("correction"), line.get("comment")) for line in lines] == [
        (None, None),
        *((query, None) for query in queries),
        *((None, comment) for comment in comments),
    ]


def completions(words: Words, text: str) -> list[str]:
    return [one.text for one in words.get_completions(Document(text), CompleteEvent())]


def test_completion_of_commands_names_and_values(session: Session) -> None:
    words = Words(session, COMMANDS)
    assert completions(words, "\\s") == ["\\schema", "\\sql"]
    assert completions(words, "orders per cust")[:2] == ["customer", "customer_id"]
    assert "promised_days" in completions(words, "what is DAYS")
    assert "Tarnhill" in completions(words, "customers called tarnh")
    assert completions(words, "a") == completions(words, "orders ") == []


def test_a_hidden_value_is_not_completed(shop: Path) -> None:
    from sqljury.access.rules import Access

    with Session(shop, model="none", access=Access(mask=("customer.last_name", "employee.last_name"))) as session:
        assert "Tarnhill" not in completions(Words(session, COMMANDS), "tarnh")


def test_the_prompt_edits_completes_and_remembers(session: Session, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path))
    with create_pipe_input() as keys:
        prompt = prompting(session, input=keys, output=DummyOutput())
        keys.send_text("How many custx\x7f?\r")
        assert prompt.prompt("> ") == "How many cust?"
        keys.send_text("\x1b[A\r")  # the arrow up
        assert prompt.prompt("> ") == "How many cust?"
        keys.send_text("\x04")
        with pytest.raises(EOFError):
            prompt.prompt("> ")
    history = tmp_path / "chat_history"
    assert "How many cust?" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_lines_from_a_pipe(zoo: Path, start: Start) -> None:
    process = start("SELECT count(*) FROM animal", "chat", "--db", str(zoo), stdin=subprocess.PIPE)
    out, error = process.communicate("How many?\n\n\x1b[31m\\sql\n\\quit\nnot asked\n", timeout=120)
    assert process.returncode == 0
    assert "> How many?" in out
    assert "not asked" not in out
    assert "\x1b" not in out + error


def test_a_follow_up_is_written_out_and_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def reply(call: Any) -> str:
        if "You write:" in call.prompt:
            return "How many customers live in Wales?"
        return "SELECT count(*) FROM customer"

    model = FakeModel(reply)
    with Session(shop, recipe="fast", model=model, cache=False) as opened:
        talk = Chat(opened)
        assert "Understood as" not in said(talk, "How many customers live in Scotland?", capsys)
        assert "Understood as: How many customers live in Wales?" in said(talk, "and in Wales?", capsys)
        assert "How many customers live in Scotland?" in model.calls[1].prompt
        assert "How many customers live in Wales?" in model.calls[-1].prompt
        assert talk.answer is not None
        assert talk.answer.steps[0][0] == "follow"
        assert "2 calls" in said(talk, "\\why", capsys)
        said(talk, "\\new", capsys)
        assert "Understood as" not in said(talk, "and in Wales?", capsys)


def test_rows_as_bars(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT 'north' AS region, 40 AS sold UNION ALL SELECT 'south', 80 UNION ALL SELECT 'east', -20"
    with Session(shop, recipe="fast", model=FakeModel(sql), cache=False) as opened:
        talk = Chat(opened)
        assert "there is no answer yet" in said(talk, "\\chart", capsys)
        said(talk, "How many were sold in each region?", capsys)
        drawn = said(talk, "\\chart", capsys).splitlines()
        assert drawn == ["sold", f"south  {'█' * 40} 80", f"north  {'█' * 20} 40", f"east   {'░' * 10} -20"]
    with Session(shop, recipe="fast", model=FakeModel("SELECT name FROM region"), cache=False) as opened:
        talk = Chat(opened)
        said(talk, "Which regions are there?", capsys)
        assert "no chart for these rows" in said(talk, "\\chart", capsys)
