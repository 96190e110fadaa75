"""The project's hostile statements through ``execute_sql``: none does harm, none shows what is denied."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import anyio
import duckdb_shop
import pytest
from access_shop import SQLITE_ACCESS, leaks
from access_shop import build as build_shop
from mcp.client.client import Client
from sql_corpus import statements

from sqljury import FakeModel, Limits
from sqljury.access.rules import Access
from sqljury.mcp.databases import Databases
from sqljury.mcp.server import build

HOSTILE = statements("hostile.sql")
HOSTILE_DUCKDB = statements("hostile_duckdb.sql")
ATTACKS = statements("../access/access_attacks.sql")


def contents(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def replies(database: Path, sqls: list[str], seconds: float, access: Access | None = None) -> list[Any]:
    """What the tool replies to each statement, and that it still answers after them all."""
    options = {"database": database, "model": FakeModel("SELECT 1"), "access": access}

    async def run() -> list[Any]:
        with Databases({"shop": options}, limits=Limits(seconds=seconds, bytes=1_000_000), cache=False) as databases:
            async with Client(build(databases)) as client:
                found = [await client.call_tool("execute_sql", {"sql": sql}) for sql in sqls]
                for _ in range(60):  # a new process may take longer to start than these queries may
                    reply = await client.call_tool("execute_sql", {"sql": "SELECT 7"})
                    if not reply.is_error:
                        break
                assert reply.structured_content["rows"] == [[7]]
                return found

    return anyio.run(run)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return build_shop(tmp_path / "shop" / "shop.db")


def test_hostile_statements_change_nothing(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    before = contents(shop.parent)
    found = replies(shop, HOSTILE, 0.2)
    assert len(found) > 150
    assert contents(shop.parent) == before
    told = [reply.content[0].text for reply in found if reply.is_error]
    assert sum("refused" in text for text in told) > 100
    for sql, reply in zip(HOSTILE, found, strict=True):
        if not sql.upper().lstrip(" (;").startswith(("SELECT", "WITH", "VALUES", "--", "/*")):
            assert reply.is_error, sql
    connection = sqlite3.connect(shop)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_attacks_on_access_rules_see_nothing(shop: Path) -> None:
    found = replies(shop, ATTACKS, 10, SQLITE_ACCESS)
    assert len(found) > 120
    for sql, reply in zip(ATTACKS, found, strict=True):
        assert reply.is_error, sql
        assert "refused" in reply.content[0].text, sql
        assert not leaks(reply.content[0].text.replace(sql, "")) or leaks(sql)


def test_hostile_statements_of_duckdb_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    shop = duckdb_shop.write(tmp_path / "data" / "shop.duckdb")
    monkeypatch.chdir(shop.parent)
    before = contents(shop.parent)
    found = replies(shop, HOSTILE_DUCKDB, 1)  # in which a busy machine starts a process of DuckDB
    assert contents(shop.parent) == before
    assert sum(reply.is_error for reply in found) > len(found) * 0.8
    assert "root:" not in "".join(reply.content[0].text for reply in found)
