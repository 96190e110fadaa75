"""A model that writes the queries it is told to, and knows what is right on a small database."""

from __future__ import annotations

import sqlite3

from sqljury import FakeModel
from sqljury.llm.fake import Call


def says(truth: str, *queries: str) -> FakeModel:
    """Writes these queries in turn; of a small database it says what ``truth`` selects there."""
    left = list(queries)

    def say(call: Call) -> str | list[str]:
        if call.messages[0].content.startswith("You write SQLite"):
            return [left.pop(0) for _ in range(call.n)]
        return answer(truth, call.prompt)

    return FakeModel(say)


def answer(truth: str, shown: str) -> str:
    """What ``truth`` selects from the table as the prompt shows it; the truth itself where it is no query."""
    if not truth.startswith("SELECT"):
        return truth
    lines = shown.split("Table person, ")[-1].splitlines()[1:]
    names, rows = lines[0], [line for line in lines[1:] if line[:1].isdigit()]
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE person ({names})")
        for row in rows:
            connection.execute(f"INSERT INTO person VALUES ({row})")
        found = connection.execute(truth).fetchall()
    connection.close()
    told = [", ".join(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row) for row in found]
    return "\n".join(told) or "no rows"
