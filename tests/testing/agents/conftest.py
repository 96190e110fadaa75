"""A school with clubs, one warm sandbox for all tests, and what a test of the agents starts from."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.llm.fake import FakeModel, Script
from sqljury.sandbox import Warm
from sqljury.schema.introspect import introspect
from sqljury.types import Limits, Question, Task
from sqljury.values import open_or_build

STATEMENTS = """
    CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);
    CREATE TABLE pupil (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, born DATE,
        club INTEGER REFERENCES club (id));
    CREATE TABLE staff (id INTEGER PRIMARY KEY, wage REAL);
"""
SECRET = "Zacharias"
"""A value that no question names: it must not reach a model."""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "school.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript(STATEMENTS)
        connection.executemany("INSERT INTO club VALUES (?, ?, ?)", [(1, "Chess", "Bath"), (2, "Judo", "York")])
        pupils = [(n, SECRET, 10 + n % 5, f"2011-03-{n:02}", 1 + n % 2) for n in range(1, 20)]
        connection.executemany("INSERT INTO pupil VALUES (?, ?, ?, ?, ?)", pupils)
        connection.commit()
    with connect(file) as opened:
        yield opened


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not sys.platform.startswith("linux"):
        pytest.skip("the sandbox isolates on Linux only")
    held = Warm()
    yield held
    held.close()


@pytest.fixture
def task(db: Database) -> Task:
    return Task(Question("What are the names of pupils in the club Chess who are older than 11?"), introspect(db), "")


@pytest.fixture
def context(db: Database, warm: Warm, monkeypatch: pytest.MonkeyPatch) -> Callable[[Script], Context]:
    """What the agents work with, the model answering from a script; rows that are good enough are soon found."""
    monkeypatch.setattr("sqljury.testing.agents.data.CHANGED", 15)

    def made(script: Script) -> Context:
        schema = introspect(db)
        return Context(db, FakeModel(script), Limits(), 7, values=lambda: open_or_build(db, schema), sandbox=warm)

    return made
