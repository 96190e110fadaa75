"""Spider's gold queries, where the shared folder is: none is refused, and each gives what SQLite gives."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from sqljury.db.readonly import check
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.types import Limits

SPIDER = Path(__file__).resolve().parents[3] / "shared" / "spider"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SPIDER.exists(), reason="no ../shared folder"),
]


@pytest.mark.parametrize("split", ["dev", "train"])
def test_no_gold_query_is_refused(split: str) -> None:
    for item in json.loads((SPIDER / f"{split}.json").read_text(encoding="utf-8")):
        check(item["query"], "sqlite")


def test_gold_queries_of_dev_give_the_same_rows() -> None:
    queries: dict[str, set[str]] = {}
    for item in json.loads((SPIDER / "dev.json").read_text(encoding="utf-8")):
        queries.setdefault(item["db_id"], set()).add(item["query"])
    for name in sorted(queries):
        path = SPIDER / "database" / name / f"{name}.sqlite"
        plain = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        plain.text_factory = lambda data: data.decode(errors="replace")
        with SQLiteDatabase(path) as db:
            for sql in sorted(queries[name]):
                result = db.execute(sql, Limits(rows=1_000_000))
                assert result.error is None, sql
                assert list(result.rows) == plain.execute(sql).fetchall(), sql
        plain.close()
