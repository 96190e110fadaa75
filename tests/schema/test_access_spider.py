"""Spider's gold queries behind rules chosen by chance: SQLite says which of them read what is denied."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import pytest
from read_oracle import reads

from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect
from sqljury.types import Limits, Schema

SPIDER = Path(__file__).resolve().parents[3] / "shared" / "spider"
SEEDS = range(5)
LIMITS = Limits(rows=1_000_000)

pytestmark = pytest.mark.shared


def queries() -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for item in json.loads((SPIDER / "dev.json").read_text(encoding="utf-8")):
        found.setdefault(item["db_id"], set()).add(item["query"])
    return {name: sorted(found[name]) for name in sorted(found)}


def rule(schema: Schema, seed: int) -> tuple[Access, set[tuple[str, str]]]:
    """One column, or one table, and what it denies as the oracle writes it."""
    chance = random.Random(f"{schema.name}/{seed}")
    table = chance.choice(schema.tables)
    if chance.random() < 0.25 and len(schema.tables) > 1:
        denied = {(table.name.lower(), column.name.lower()) for column in table.columns}
        return Access(deny=(f'"{table.name}"',)), {*denied, (table.name.lower(), "")}
    column = chance.choice(table.columns)
    return Access(deny=(f'"{table.name}"."{column.name}"',)), {(table.name.lower(), column.name.lower())}


def test_gold_queries_are_refused_exactly_when_they_read_what_is_denied() -> None:
    free = passed = reading = 0
    wrong = []
    for name, sqls in queries().items():
        path = SPIDER / "database" / name / f"{name}.sqlite"
        plain = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        with SQLiteDatabase(path) as db:
            schema = introspect(db)
            for seed in SEEDS:
                access, denied = rule(schema, seed)
                guarded = guard(db, schema, access)
                for sql in sqls:
                    result = guarded.execute(sql, LIMITS)
                    if not denied.isdisjoint(reads(plain, sql)):
                        reading += 1
                        assert str(result.error or "").startswith("refused: "), (name, access, sql)
                        continue
                    free += 1
                    if result.ok:
                        passed += 1
                        assert result.rows == db.execute(sql, LIMITS).rows
                    else:
                        wrong.append((name, access.deny, sql, result.error))
        plain.close()
    assert reading > 300
    assert passed / free >= 0.97, wrong
