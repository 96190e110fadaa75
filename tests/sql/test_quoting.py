from __future__ import annotations

import sqlite3

import pytest

from sqljury.db.readonly import check
from sqljury.sql.text import RESERVED, quote_name


@pytest.mark.parametrize("name", ["name", "Order_ID", "größe", "_x1", "key", "rank", "date", "year", "type", "user"])
def test_bare(name: str) -> None:
    assert quote_name(name) == name


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("two words", '"two words"'),
        ("order", '"order"'),
        ("SELECT", '"SELECT"'),
        ('a"b', '"a""b"'),
        ("1st", '"1st"'),
        ("", '""'),
        ("a-b", '"a-b"'),
        ("x;y", '"x;y"'),
    ],
)
def test_quoted(name: str, quoted: str) -> None:
    assert quote_name(name) == quoted


def test_mysql_has_its_own_marks() -> None:
    assert quote_name("a`b c", "mysql") == "`a``b c`"


def test_every_keyword_works_as_a_name_once_written_by_quote_name() -> None:
    others = """abort action after begin by cascade columns current desc do end explain fail first groups ignore
        immediate key last match no of over partition plan pragma query range rows temp trigger vacuum view"""
    keywords = {*RESERVED, *others.split()}
    for word in sorted(keywords):
        name = quote_name(word)
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE TABLE {name} ({name} INT, b INT)")
        connection.execute(f"INSERT INTO {name} VALUES (5, 1)")
        sql = f"SELECT {name}, t.{name} FROM {name} AS t WHERE {name} = 5 GROUP BY {name} ORDER BY {name} DESC"
        assert connection.execute(sql).fetchall() == [(5, 5)]
        check(sql, "sqlite")
        connection.close()
