"""Whole months and cents, asked of a SQLite database through ``ask``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sqljury import ask
from sqljury.llm.fake import FakeModel

TABLES = """
    CREATE TABLE inv (inv_no INTEGER PRIMARY KEY, inv_dt DATE NOT NULL);
    CREATE TABLE dun_hist (dun_no INTEGER PRIMARY KEY, inv_no INTEGER NOT NULL REFERENCES inv, fee_ct INTEGER NOT NULL);
    INSERT INTO inv VALUES (1, '2024-03-01'), (2, '2024-03-31'), (3, '2024-04-01'), (4, '2023-12-31');
    INSERT INTO dun_hist VALUES (1, 1, 250), (2, 2, 1000), (3, 4, 7500);
"""


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (
            "How many invoices are dated March 2024?",
            "SELECT COUNT(*) FROM inv WHERE inv_dt = '2024-03-01'",
            ((2,),),
        ),
        ("How many invoices are dated 2024?", "SELECT COUNT(*) FROM inv WHERE inv_dt = '2024-01-01'", ((3,),)),
        (
            "How many invoices are dated 1 March 2024?",
            "SELECT COUNT(*) FROM inv WHERE inv_dt = '2024-03-01'",
            ((1,),),
        ),
        (
            "What do all the dunning fees we charged add up to, in euros?",
            "SELECT SUM(fee_ct) FROM dun_hist",
            ((87.5,),),
        ),
        ("What do all the dunning fees add up to, in cents?", "SELECT SUM(fee_ct) FROM dun_hist", ((8750,),)),
        (
            "How many dunning fees are above 50 euros?",
            "SELECT COUNT(*) FROM dun_hist WHERE fee_ct > 50",
            ((1,),),
        ),
    ],
)
def test_rows(question: str, sql: str, rows: tuple[tuple[object, ...], ...], tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(TABLES)
    assert ask(question, file, recipe="fast", model=FakeModel(sql)).rows == rows
