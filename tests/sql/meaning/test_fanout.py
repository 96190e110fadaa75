"""Sums over two lists that one join multiplies, on events with their invoices, sponsors and visitors."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.sql.meaning import Rewriter
from sqljury.sql.meaning.base import Asked
from sqljury.sql.meaning.fanout import sums_of_lists
from sqljury.sql.parse import exp, read_query
from sqljury.types import Column, ForeignKey, Question, Row, Schema, Table

SCRIPT = """
CREATE TABLE venue (venue_id INTEGER PRIMARY KEY, hall TEXT);
CREATE TABLE ev (ev_id INTEGER PRIMARY KEY, ev_name TEXT, kind TEXT, budget REAL, at INTEGER REFERENCES venue);
CREATE TABLE inv (iv_id INTEGER PRIMARY KEY, iv_ev INTEGER REFERENCES ev, net REAL, status TEXT);
CREATE TABLE spons (sp_id INTEGER PRIMARY KEY, sp_ev INTEGER REFERENCES ev, received REAL);
CREATE TABLE visit (vi_id INTEGER PRIMARY KEY, vi_ev INTEGER REFERENCES ev, rating INTEGER);
CREATE TABLE permit (pe_ev INTEGER PRIMARY KEY REFERENCES ev, fee REAL);
INSERT INTO venue VALUES (1, 'Hall'), (2, 'Barn');
INSERT INTO ev VALUES (1, 'Fair', 'fair', 1000, 1), (2, 'Gala', 'ball', 500, 1), (3, 'Run', 'fair', 200, 2),
 (4, 'Dance', 'ball', 100, 2);
INSERT INTO inv VALUES (1, 1, 100, 'paid'), (2, 1, 50, 'open'), (3, 2, 70, 'paid'), (4, 4, 5, 'paid');
INSERT INTO spons VALUES (1, 1, 10), (2, 1, 10), (3, 1, 30), (4, 3, 7), (5, 3, 8);
INSERT INTO visit VALUES (1, 1, 5), (2, 1, 3), (3, 2, 4), (4, 2, 4), (5, 3, 1);
INSERT INTO permit VALUES (1, 9), (2, 8);
"""
KEYLESS = SCRIPT.replace(" PRIMARY KEY", "").replace(" REFERENCES ev", "").replace(" REFERENCES venue", "")
ASKED = "Net of invoices and money of sponsors"
LEFT = "FROM ev AS T1 LEFT JOIN inv AS T2 ON T2.iv_ev = T1.ev_id LEFT JOIN spons AS T3 ON T3.sp_ev = T1.ev_id"
INNER = LEFT.replace("LEFT ", "")
NET = "(SELECT SUM(T2.net) FROM inv AS T2 WHERE T2.iv_ev = T1.ev_id)"
SPONSORS = "(SELECT COUNT(T3.sp_id) FROM spons AS T3 WHERE T3.sp_ev = T1.ev_id)"
MONEY = "(SELECT SUM(T3.received) FROM spons AS T3 WHERE T3.sp_ev = T1.ev_id)"
BOTH = (
    "EXISTS(SELECT 1 FROM inv AS T2 WHERE T2.iv_ev = T1.ev_id)"
    " AND EXISTS(SELECT 1 FROM spons AS T3 WHERE T3.sp_ev = T1.ev_id)"
)


@pytest.mark.parametrize("script", [SCRIPT, KEYLESS], ids=["keys", "no keys"])
@pytest.mark.parametrize(
    ("sql", "expected", "rows"),
    [
        (
            f"SELECT T1.ev_name, COALESCE(SUM(T2.net), 0), COALESCE(SUM(T3.received), 0) {LEFT} WHERE T1.budget > 100 "
            "GROUP BY T1.ev_id, T1.ev_name",
            f"SELECT T1.ev_name, COALESCE({NET}, 0) AS sum_net, COALESCE({MONEY}, 0) AS sum_received FROM ev AS T1 "
            "WHERE T1.budget > 100",
            [("Fair", 150.0, 50.0), ("Gala", 70.0, 0), ("Run", 0, 15.0)],
        ),
        (
            f"SELECT T1.ev_name, SUM(T2.net) AS total, COUNT(DISTINCT T3.sp_id) {LEFT} GROUP BY T1.ev_name "
            "HAVING total > 60 AND COUNT(T3.sp_id) > 1 ORDER BY SUM(T2.net) DESC LIMIT 2",
            f"SELECT T1.ev_name, {NET} AS total, (SELECT COUNT(DISTINCT T3.sp_id) FROM spons AS T3 WHERE T3.sp_ev = "
            f"T1.ev_id) AS count_sp_id FROM ev AS T1 WHERE {NET} > 60 AND {SPONSORS} > 1 "
            "ORDER BY total DESC LIMIT 2",
            [("Fair", 150.0, 3)],
        ),
        (
            f"SELECT T1.ev_name, SUM(T2.net), SUM(DISTINCT T3.received) {INNER} GROUP BY T1.ev_id",
            f"SELECT T1.ev_name, {NET} AS sum_net, {MONEY} AS sum_received FROM ev AS T1 WHERE {BOTH}",
            [("Fair", 150.0, 50.0)],
        ),
        (
            f"SELECT T1.kind, SUM(T2.net) AS net, COUNT(DISTINCT T1.ev_id), AVG(T3.received) AS mean {LEFT} "
            "GROUP BY T1.kind ORDER BY 1",
            f"SELECT T1.kind, SUM({NET}) AS net, COUNT(DISTINCT T1.ev_id), 1.0 * SUM({MONEY}) / "
            f"SUM({MONEY.replace('SUM', 'COUNT')}) AS mean FROM ev AS T1 GROUP BY T1.kind ORDER BY 1",
            [("ball", 75.0, 2, None), ("fair", 150.0, 2, 13.0)],
        ),
    ],
)
def test_lists_are_summed_up_each_for_itself(
    answered: Answered, script: str, sql: str, expected: str, rows: list[Row]
) -> None:
    answer = answered(script, ASKED, sql)
    assert answer.sql == expected
    assert list(answer.rows) == rows
    assert "was counted once for each row of" in answer.candidates[0].fixes[-1].reason


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (f"SELECT SUM(T2.net), COUNT(T3.sp_id) {LEFT}", [(225.0, 5)]),
        (f"SELECT SUM(T2.net), COUNT(T3.sp_id) {LEFT} WHERE T1.kind = 'none'", [(None, 0)]),
        (f"SELECT COUNT(T1.ev_id), MAX(T2.net), SUM(T3.received) {LEFT}", [(4, 100.0, 65.0)]),
        (
            f"SELECT ev_name, net - money FROM (SELECT ev_name, SUM(net) AS net, SUM(received) AS money {LEFT} "
            "GROUP BY ev_id) WHERE net > 100",
            [("Fair", 100.0)],
        ),
        (
            f"SELECT T1.ev_name, SUM(CASE WHEN T2.status = 'paid' THEN T2.net ELSE 0 END), SUM(T3.received) {LEFT} "
            "GROUP BY T1.ev_id",
            [("Fair", 100.0, 50.0), ("Gala", 70.0, None), ("Run", 0, 15.0), ("Dance", 5.0, None)],
        ),
        (
            f"SELECT T1.ev_name, SUM(T2.net) FILTER (WHERE T2.status = 'open'), COUNT(T3.sp_id) {INNER} "
            "WHERE T2.status = 'paid' OR T2.status = 'open' GROUP BY T1.ev_id",
            [("Fair", 50.0, 3)],
        ),
        (
            f"SELECT v.hall, T1.ev_name, AVG(vi.rating), SUM(T2.net) {LEFT} JOIN visit AS vi ON vi.vi_ev = T1.ev_id "
            "JOIN venue AS v ON v.venue_id = T1.at GROUP BY T1.ev_id, v.hall",
            [("Hall", "Fair", 4.0, 150.0), ("Hall", "Gala", 4.0, 70.0), ("Barn", "Run", 1.0, None)],
        ),
        (
            "SELECT ev_name, SUM(net), SUM(received) FROM ev, inv, spons WHERE iv_ev = ev_id AND sp_ev = ev_id "
            "GROUP BY ev_id",
            [("Fair", 150.0, 50.0)],
        ),
        (
            "SELECT T1.ev_name, COUNT(T2.iv_id) FROM inv T2 JOIN ev T1 ON T2.iv_ev = T1.ev_id JOIN spons T3 ON "
            "T3.sp_ev = T1.ev_id WHERE T3.received > 5 GROUP BY T1.ev_id, T1.ev_name ORDER BY COUNT(T2.iv_id) DESC",
            [("Fair", 2)],
        ),
        (
            f"SELECT T1.ev_name, SUM(T2.net), SUM(T3.received) {LEFT} WHERE T2.net > 60 AND T1.ev_id IN "
            "(SELECT s.sp_ev FROM spons AS s) GROUP BY T1.ev_id HAVING COUNT(T3.sp_id) < 4",
            [("Fair", 100.0, 50.0)],
        ),
    ],
)
def test_rows_count_once(answered: Answered, sql: str, rows: list[Row]) -> None:
    assert list(answered(SCRIPT, ASKED, sql).rows) == rows


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT T1.ev_name, COUNT(*) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, SUM(T2.net * T3.received) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, SUM(T1.budget), SUM(T2.net) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, COUNT(DISTINCT T2.iv_id), MAX(T3.received) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, SUM(T2.net) {LEFT} WHERE T3.sp_id IS NULL GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, SUM(T2.net) {INNER} AND T3.received < T2.net GROUP BY T1.ev_id",
        f"SELECT T2.status, SUM(T3.received) {INNER} GROUP BY T2.status",
        f"SELECT T1.kind, COUNT(DISTINCT T2.status), SUM(T3.received) {LEFT} GROUP BY T1.kind",
        f"SELECT DISTINCT T1.ev_name, SUM(T2.net) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, T2.status, SUM(T3.received) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, SUM(COALESCE(T2.net, T1.budget)), SUM(T3.received) {LEFT} GROUP BY T1.ev_id",
        f"SELECT T1.ev_name, TOTAL(T1.budget), SUM(T3.received) {LEFT} GROUP BY T1.ev_id",
        "SELECT T1.ev_name, SUM(T2.net) FROM ev AS T1 JOIN inv AS T2 ON T2.iv_ev = T1.ev_id JOIN permit AS T3 ON "
        "T3.pe_ev = T1.ev_id GROUP BY T1.ev_id",  # one permit each
        "SELECT T1.hall, SUM(T3.net) FROM venue AS T1 JOIN ev AS T2 ON T2.at = T1.venue_id JOIN inv AS T3 ON "
        "T3.iv_ev = T2.ev_id GROUP BY T1.venue_id",  # one list in another
        "SELECT T1.ev_name, SUM(T2.net) FROM ev AS T1 LEFT JOIN inv AS T2 ON T2.iv_ev = T1.ev_id LEFT JOIN spons AS T3 "
        "ON T3.sp_ev = T1.ev_id AND T3.received > 10 GROUP BY T1.ev_id",  # no event has several
    ],
)
def test_other_sums_stay(answered: Answered, sql: str) -> None:
    assert answered(SCRIPT, ASKED, sql).sql == sql


def table(name: str, key: str, columns: str, parent: str = "") -> Table:
    keys = (ForeignKey((parent,), "ev", ("ev_id",)),) if parent else ()
    listed = tuple(Column(column, "REAL") for column in (key, *columns.split(), *filter(None, [parent])))
    return Table(name, listed, (key,), keys)


TABLES = (
    table("ev", "ev_id", "name day"),
    table("inv", "iv_id", "net", "iv_ev"),
    table("spons", "sp_id", "x", "sp_ev"),
)


class Content:
    """A database in which several rows of a list belong to an event; or it does not tell."""

    def __init__(self, rows: tuple[Row, ...] | None) -> None:
        self._rows = rows

    def rows(self, _sql: str) -> tuple[Row, ...] | None:
        return self._rows


def asked(rows: tuple[Row, ...] | None, dialect: str = "sqlite") -> Asked:
    return Asked(Question("Sums"), Schema("club", dialect, TABLES), Content(rows))  # type: ignore[arg-type]


JOINS = "ev AS a JOIN inv AS b ON b.iv_ev = a.ev_id JOIN spons AS c ON c.sp_ev = {}"
SUMS = f"SELECT a.name, SUM(b.net), SUM(c.x) FROM {JOINS}"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb"])
def test_once_in_every_dialect(dialect: str) -> None:
    query = Rewriter(SUMS.format("a.ev_id GROUP BY a.ev_id, a.name"), asked(((1,),), dialect)).rewrite(sums_of_lists)
    assert query is not None
    exists = [
        f"EXISTS(SELECT 1 FROM {name} AS {alias} WHERE {alias}.{key} = a.ev_id)"
        for name, alias, key in (("inv", "b", "iv_ev"), ("spons", "c", "sp_ev"))
    ]
    assert query.sql == (
        "SELECT a.name, (SELECT SUM(b.net) FROM inv AS b WHERE b.iv_ev = a.ev_id) AS sum_net, "
        "(SELECT SUM(c.x) FROM spons AS c WHERE c.sp_ev = a.ev_id) AS sum_x "
        f"FROM ev AS a WHERE {exists[0]} AND {exists[1]}"
    )
    assert Rewriter(query.sql, asked(((1,),), dialect)).rewrite(sums_of_lists) is None


@pytest.mark.parametrize(
    ("rows", "end"),
    [
        ((), "a.ev_id GROUP BY a.ev_id, a.name"),
        (None, "a.ev_id GROUP BY a.ev_id, a.name"),
        (((1,),), "b.iv_ev GROUP BY a.ev_id, a.name"),
        (((1,),), "a.day GROUP BY a.ev_id, a.name"),
        (((1,),), "a.ev_id GROUP BY a.ev_id, b.iv_id"),
    ],
)
def test_not_without_repeated_rows_and_a_key(rows: tuple[Row, ...] | None, end: str) -> None:
    tree = read_query(SUMS.format(end), "sqlite")
    assert isinstance(tree, exp.Select)
    assert sums_of_lists(tree, asked(rows)) is None
    assert tree.sql("sqlite") == SUMS.format(end)
