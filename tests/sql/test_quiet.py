"""What sqlglot would log of a query reaches nobody who only uses this package."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest
import sqlglot

from sqljury.access.check import Checker
from sqljury.access.rules import Access, compiled
from sqljury.errors import InputError
from sqljury.metrics.esm_plus.strict.reader import read_strictly
from sqljury.metrics.spider.structure import Names
from sqljury.schema.render import render
from sqljury.sql.mutate import neighbours
from sqljury.sql.names.bind import rebindings
from sqljury.sql.parse import quiet
from sqljury.sql.resolve import used
from sqljury.sql.translate import translations
from sqljury.sql.tree import tree_of
from sqljury.testing.ties import ranked
from sqljury.types import Column, Schema, Table
from sqljury.values.bind import bind_values

QUERIES = (
    "VACUUM t \x1b[2J",
    "SELECT nmae FROM t TABLESAMPLE (10) WHERE name = 'x'",
    "SELECT nmae FROM t PIVOT (sum(a) FOR b IN (1, 2)) LIMIT 1",
    "SELECT nmae FROM t ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED",
    "SELECT name FROM t AS OF TIMESTAMP 1",
    "SELECT JSON_EXTRACT(nmae, '$.a[?(@.x)]') FROM t WHERE name = 'x'",  # parsed, but cannot be written again
)
SCHEMA = Schema("s", "sqlite", (Table("t", (Column("name"), Column("a"), Column("b"))), Table("u", (Column("c"),))))


class _Index:
    def search(self, _text: str, _limit: int) -> list[object]:
        from sqljury.values.search import Match

        return [Match("y", "t", "name", 1.0, "code")]


def _view(sql: str) -> None:
    render(Schema("s", "sqlite", (*SCHEMA.tables, Table("v", (Column("a"),), kind="view", definition=sql))))


def _read_strictly(sql: str) -> None:
    with pytest.raises(InputError):
        read_strictly(sql, Names.of_schema(SCHEMA))


USES: dict[str, Callable[[str], object]] = {
    "rebindings": lambda sql: rebindings(sql, SCHEMA),
    "translations": lambda sql: translations(sql, SCHEMA),
    "used": lambda sql: used(SCHEMA, [sql]),
    "bind_values": lambda sql: bind_values(sql, SCHEMA, lambda *_: False, _Index),  # type: ignore[arg-type]
    "a view": lambda sql: _view(f"CREATE VIEW v AS {sql}"),
    "access rules": lambda sql: Checker(compiled(SCHEMA, Access(deny=("u",))).rules).view_passes(
        Table("v", (), kind="view", definition=f"CREATE VIEW v AS {sql}")
    ),
    "neighbours": neighbours,
    "tree_of": tree_of,
    "ranked": lambda sql: ranked(sql, ordered=True),
    "read_strictly": _read_strictly,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("sql", QUERIES)
def test_nothing_of_a_query_is_logged(use: str, sql: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="sqlglot"):
        USES[use](sql)
        assert not caplog.records
        sqlglot.parse_one("VACUUM t", dialect="sqlite")  # the host's own use of it
        assert len(caplog.records) == 1


def test_other_threads_are_heard_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="sqlglot"), quiet():
        with quiet():
            pass
        sqlglot.parse_one("VACUUM t", dialect="sqlite")
        assert not caplog.records
        thread = threading.Thread(target=lambda: sqlglot.parse_one("VACUUM t", dialect="sqlite"))
        thread.start()
        thread.join()
        assert len(caplog.records) == 1
