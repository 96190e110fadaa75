"""Access rules from Python and from the command line: what is denied reaches no prompt, no candidate, no answer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import sqljury
from sqljury.access.rules import Access
from sqljury.errors import InputError, NoAnswerError
from sqljury.llm.fake import FakeModel


def test_prompts_and_candidates_hold_nothing_denied(tmp_path: Path) -> None:
    path = _build(tmp_path)
    model = FakeModel("SELECT ssn FROM customer")
    with pytest.raises(NoAnswerError) as failed:
        sqljury.ask("What are the numbers?", path, model=model, access=Access(deny=("customer.ssn", "secret")))
    said = str([call.prompt for call in model.calls]) + str(failed.value) + str(failed.value.candidates)
    assert "CANARY" not in said
    assert "secret" not in said
    assert all(str(candidate.result.error or "").startswith("refused: ") for candidate in failed.value.candidates)
    answer = sqljury.ask("Who?", path, model=FakeModel("SELECT name FROM customer"), access=Access(deny=("secret",)))
    assert answer.rows == (("Ann",),)


def test_a_misspelt_rule_asks_no_model(tmp_path: Path) -> None:
    model = FakeModel("SELECT 1")
    with pytest.raises(InputError, match=r"'custmer\.ssn' matches no table or column"):
        sqljury.ask("Who?", _build(tmp_path), model=model, access=Access(deny=("custmer.ssn",)))
    assert not model.calls


def _build(folder: Path) -> Path:
    path = folder / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, ssn TEXT); CREATE TABLE secret (val TEXT);"
            "INSERT INTO customer VALUES (1, 'Ann', 'CANARY'); INSERT INTO secret VALUES ('CANARY');"
        )
    connection.close()
    return path
