"""The answer to a question on a database made by a script, for a query that the model writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scripted import database
from sqljury import Answer, ask
from sqljury.db.connect import connect
from sqljury.llm.fake import FakeModel

Answered = Callable[[str, str, str], Answer]


@pytest.fixture
def answered(tmp_path: Path) -> Answered:
    """The answer to a question on a database made by a script, where the model writes a given query."""

    def answer(script: str, question: str, sql: str) -> Answer:
        file = tmp_path / "made.db"
        file.unlink(missing_ok=True)
        with connect(database(file, script)) as db:
            return ask(question, db, model=FakeModel([sql]), recipe="fast")

    return answer
