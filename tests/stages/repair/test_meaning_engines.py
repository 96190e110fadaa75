"""Rules of meaning on real engines: the rows of the query as it was written, and as it is meant."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import servers
from sqljury import ask, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.context import PLAIN, Context, Kept
from sqljury.db.base import Database
from sqljury.llm.fake import FakeModel
from sqljury.schema.introspect import introspect
from sqljury.stages.repair import by_program
from sqljury.stages.repair.meaning import Content, as_meant, doubts
from sqljury.types import Candidate, QueryFailure, Question, Result, Task

CUSTOMERS = [(1, "Ann", 30, "Lisbon"), (2, "Ben", None, "Faro"), (3, "Cleo", 20, "Porto")]
ORDERS = [
    (1, 1, 3, 1, "2023-01-31 10:30:00", "Y", 1675161000),  # the same times as seconds since 1970
    (2, 1, 4, None, "2023-01-15 12:00:00", "N", 1673784000),
    (3, None, 5, None, "2023-02-01 09:00:00", "Y", 1675242000),
    (4, 3, 1, None, "2022-12-30 11:00:00", "N", 1672398000),
    (5, 3, 3, 1, "2023-03-05 08:00:00", "Y", 1678003200),
]
SALES = [(1, 20221231), (2, 20230101), (3, 20230630), (4, 20231231), (5, 20240101)]
BILLS = [
    (1, "31.12.2023", "12/31/23", "31-Dec-2023", "31.12.2023 23:10"),
    (2, "05.01.2024", "01/05/24", "05-Jan-2024", "05.01.2024 08:00"),
    (3, "10.02.2024", "02/10/24", "10-Feb-2024", "10.02.2024 09:30"),
    (4, "02.11.2024", "11/02/24", "02-Nov-2024", "02.11.2024 00:00"),
    (5, "01.03.2025", "03/01/25", "01-Mar-2025", "01.03.2025 10:00"),
    (6, "01.03.2025", "03/01/25", "01-Mar-2025", "01.03.2025 12:00"),
]
ENGINES = ("sqlite", "duckdb", "postgres", "mysql")
Databases = Callable[[str], Database]


def script(engine: str) -> list[str]:
    """The tables and rows; texts tell case apart in MySQL too."""
    collate = " COLLATE utf8mb4_bin" if engine == "mysql" else ""
    text, time = f"VARCHAR(40){collate}", "DATETIME" if engine == "mysql" else "TIMESTAMP"

    def values(row: tuple[Any, ...]) -> str:
        return ", ".join("NULL" if cell is None else repr(cell) for cell in row)

    return [
        f"CREATE TABLE customer (id INTEGER PRIMARY KEY, name {text}, age INTEGER, city {text})",
        f"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, amount INTEGER, paid INTEGER,"
        f" placed {time}, settled {text}, created_at INTEGER)",
        "CREATE TABLE visit (id INTEGER PRIMARY KEY, seen DATE, left_at DATE)",
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, date_key INTEGER)",
        "CREATE TABLE note (id INTEGER PRIMARY KEY, customer_id INTEGER)",
        f"CREATE TABLE bill (id INTEGER PRIMARY KEY, sent {text}, sent_us {text}, sent_oracle {text}, paid_at {text})",
        *(f"INSERT INTO bill VALUES ({values(row)})" for row in BILLS),
        f"CREATE TABLE parcel (id INTEGER PRIMARY KEY, days {text}, weight {text}, mark {text})",
        "INSERT INTO parcel VALUES (1, '9', '1.5', '9'), (2, '120', '10.25', '12a'), (3, '45', '9.0', '7')",
        "INSERT INTO note VALUES (1, 1), (2, 1), (3, 2)",
        *(f"INSERT INTO sale VALUES ({values(row)})" for row in SALES),
        *(f"INSERT INTO customer VALUES ({values(row)})" for row in CUSTOMERS),
        *(f"INSERT INTO orders VALUES ({values(row)})" for row in ORDERS),
        "INSERT INTO visit VALUES (1, CURRENT_DATE, '2021-01-01'), (2, '2020-05-05', NULL)",
    ]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Databases]:
    """From the name of an engine to a database on it, made once."""
    opened: dict[str, Database] = {}

    def url(engine: str) -> str:
        folder, statements = tmp_path_factory.mktemp(engine), script(engine)
        if engine == "sqlite":
            import sqlite3

            sqlite3.connect(folder / "shop.db").executescript(";\n".join(statements)).close()
            return str(folder / "shop.db")
        if engine == "duckdb":
            import duckdb

            with duckdb.connect(str(folder / "shop.duckdb")) as connection:
                connection.execute(";\n".join(statements))
            return str(folder / "shop.duckdb")
        if engine == "postgres":
            server: servers.Server = request.getfixturevalue("postgres_server")
            servers.in_postgres(server, "postgres", "DROP DATABASE IF EXISTS meaning", "CREATE DATABASE meaning")
            servers.in_postgres(server, "meaning", *statements)
            return servers.postgres_url(server, "meaning")
        server = request.getfixturevalue("mariadb_server")
        fresh = ("DROP DATABASE IF EXISTS meaning", "CREATE DATABASE meaning", "USE meaning")
        servers.in_mariadb(server, *fresh, *statements)
        return servers.mysql_url(server, "meaning")

    def database(engine: str) -> Database:
        if engine not in opened:
            opened[engine] = connect(url(engine))
        return opened[engine]

    yield database
    for db in opened.values():
        db.close()


def repairable(db: Database, question: str, sql: str) -> tuple[Candidate, Task, Context]:
    """The candidate as the engine runs it, and what repairs need."""
    context = Context(db, FakeModel(""))
    return (
        Candidate(sql, "direct", result=db.execute(sql)),
        Task(Question(question), introspect(db), ""),
        context,
    )


def cells(candidate: Candidate) -> list[Any] | str:
    """The first column, numbers as floats; the kind of the error of a query that failed."""
    if candidate.result.error is not None:
        return str(candidate.result.error_kind)
    values = [row[0] for row in candidate.result.rows]
    return [round(float(value), 4) if not isinstance(value, str) or "." in value else value for value in values]


SHARE = "What share of the orders is paid?"
AVERAGE = "What is the average amount per order?"
PAID = "Which orders are settled?"
NONE: list[Any] = []
YEAR = {
    "sqlite": "SELECT id FROM orders WHERE strftime('%Y', created_at) = '2022'",
    "duckdb": "SELECT id FROM orders WHERE year(created_at) = 2022",
    "postgres": "SELECT id FROM orders WHERE EXTRACT(YEAR FROM created_at) = 2022",
    "mysql": "SELECT id FROM orders WHERE YEAR(created_at) = 2022",
}
SALES_OF_2023 = "SELECT id FROM sale WHERE date_key BETWEEN '2023-01-01' AND '2023-12-31' ORDER BY id"
SALES_BY_YEAR = {
    "sqlite": "SELECT id FROM sale WHERE strftime('%Y', date_key) = '2023' ORDER BY id",
    "duckdb": "SELECT id FROM sale WHERE year(date_key) = 2023 ORDER BY id",
    "postgres": "SELECT id FROM sale WHERE EXTRACT(YEAR FROM date_key) = 2023 ORDER BY id",
}
LISTS = "customer c LEFT JOIN orders o ON o.customer_id = c.id LEFT JOIN note n ON n.customer_id = c.id"
CASES: list[tuple[str, str, str, Any, Any]] = [
    ("sqlite mysql", "sales of 2023", SALES_OF_2023, NONE, [2.0, 3.0, 4.0]),
    ("duckdb postgres", "sales of 2023", SALES_OF_2023, "sql", [2.0, 3.0, 4.0]),
    ("sqlite", "sales by year", SALES_BY_YEAR["sqlite"], NONE, [2.0, 3.0, 4.0]),
    ("duckdb", "sales by year", SALES_BY_YEAR["duckdb"], "sql", [2.0, 3.0, 4.0]),
    ("postgres", "sales by year", SALES_BY_YEAR["postgres"], "sql", [2.0, 3.0, 4.0]),
    *(("sqlite postgres", SHARE, sql, [0.0], [0.4]) for sql in ("SELECT COUNT(paid) / COUNT(*) FROM orders",)),
    ("duckdb mysql", SHARE, "SELECT COUNT(paid) / COUNT(*) FROM orders", [0.4], [0.4]),
    ("duckdb", SHARE, "SELECT COUNT(paid) // COUNT(*) FROM orders", [0.0], [0.4]),
    ("mysql", SHARE, "SELECT COUNT(paid) DIV COUNT(*) FROM orders", [0.0], [0.4]),
    ("sqlite postgres", AVERAGE, "SELECT SUM(amount) / COUNT(*) FROM orders", [3.0], [3.2]),
    ("postgres", "the percentage paid", "SELECT ROUND(COUNT(paid) * 100 / 3, 2) FROM orders", [66.0], [66.67]),
    ("postgres", "the oldest", "SELECT id FROM customer ORDER BY age DESC LIMIT 1", [2.0], [1.0]),
    ("sqlite duckdb mysql", "the oldest", "SELECT id FROM customer ORDER BY age DESC LIMIT 1", [1.0], [1.0]),
    ("sqlite mysql", "the youngest", "SELECT id FROM customer ORDER BY age LIMIT 1", [2.0], [3.0]),
    ("duckdb postgres", "the youngest", "SELECT id FROM customer ORDER BY age LIMIT 1", [3.0], [3.0]),
    ("sqlite mysql", "Who comes first by age?", "SELECT id FROM customer ORDER BY age LIMIT 1", [2.0], [2.0]),
    ("sqlite mysql", "Which visit was first?", "SELECT id FROM visit ORDER BY left_at LIMIT 1", [2.0], [1.0]),
    ("duckdb postgres", "Which visit was first?", "SELECT id FROM visit ORDER BY left_at LIMIT 1", [1.0], [1.0]),
    ("postgres", "the last visit", "SELECT id FROM visit ORDER BY left_at DESC LIMIT 1", [2.0], [1.0]),
    ("sqlite", "visits before 2021", "SELECT id FROM visit WHERE seen < '2021'", NONE, [2.0]),
    ("sqlite", "visits after 2020", "SELECT id FROM visit WHERE seen > '2020' ORDER BY id", [1.0, 2.0], [1.0]),
    ("sqlite", "visits of 2020", "SELECT id FROM visit WHERE strftime('%Y', seen) = 2020", NONE, [2.0]),
    ("sqlite mysql", "orders by age", "SELECT id FROM customer ORDER BY age LIMIT 1", [2.0], [2.0]),
    *(
        (" ".join(ENGINES), question, sql, before, after)
        for question, sql, before, after in (
            (
                "orders of January 2023",
                "SELECT id FROM orders WHERE placed BETWEEN '2023-01-01' AND '2023-01-31' ORDER BY id",
                [2.0],
                [1.0, 2.0],
            ),
            ("orders until the end of January", "SELECT id FROM orders WHERE placed <= '2023-01-31' ORDER BY id",
             [2.0, 4.0], [1.0, 2.0, 4.0]),
            ("orders of 31 January 2023", "SELECT id FROM orders WHERE placed = '2023-01-31'", NONE, [1.0]),
            ("customers without orders", "SELECT id FROM customer WHERE id NOT IN (SELECT customer_id FROM orders)",
             NONE, [2.0]),
            ("How many orders does each customer have?",
             "SELECT COUNT(*) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id ORDER BY c.id",
             [2.0, 1.0, 2.0], [2.0, 0.0, 2.0]),
            ("amounts and notes of each customer",
             f"SELECT COALESCE(SUM(o.amount), 0), COUNT(n.id) FROM {LISTS} GROUP BY c.id ORDER BY c.id",
             [14.0, 0.0, 4.0], [7.0, 0.0, 4.0]),
            ("amounts and notes", f"SELECT AVG(o.amount), COUNT(n.id) FROM {LISTS}", [3.0], [2.75]),
            ("customers with a mean over 3 and notes",
             f"SELECT c.id, AVG(o.amount) FROM {LISTS} GROUP BY c.id HAVING COUNT(n.id) > 2 ORDER BY AVG(o.amount)",
             [1.0], NONE),
            ("customers with more than 40 percent of their orders settled",
             "SELECT customer_id FROM orders WHERE customer_id = 1 GROUP BY customer_id "
             "HAVING SUM(CASE WHEN settled = 'Y' THEN 1 ELSE 0 END) * 1.0 / COUNT(*) > 40", NONE, [1.0]),
            *(
                ("bills of 2024",
                 f"SELECT id FROM bill WHERE {column} BETWEEN '2024-01-01' AND '2024-12-31' ORDER BY id",
                 NONE, [2.0, 3.0, 4.0])
                for column in ("sent", "sent_us", "sent_oracle", "paid_at")
            ),
            ("bills since 2025", "SELECT id FROM bill WHERE sent_us >= '2025-01-01' ORDER BY id", NONE, [5.0, 6.0]),
            ("the last bill that was paid", "SELECT id FROM bill ORDER BY paid_at DESC LIMIT 1", [1.0], [6.0]),
            ("bills from 2024-11-02 on", "SELECT id FROM bill WHERE sent_oracle >= '02-Nov-2024' ORDER BY id",
             [1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0]),
            ("bills paid on 2024-11-02", "SELECT id FROM bill WHERE paid_at LIKE '2024-11-02%'", NONE, [4.0]),
            ("parcels by days", "SELECT id FROM parcel ORDER BY days", [2.0, 3.0, 1.0], [1.0, 3.0, 2.0]),
            ("the heaviest parcel", "SELECT id FROM parcel ORDER BY weight DESC LIMIT 1", [3.0], [2.0]),
            ("parcels by mark", "SELECT id FROM parcel ORDER BY mark", [2.0, 3.0, 1.0], [2.0, 3.0, 1.0]),
            ("customers in porto", "SELECT id FROM customer WHERE city = 'porto'", NONE, [3.0]),
            ("customers called BEN", "SELECT id FROM customer WHERE name = 'BEN'", NONE, [2.0]),
            ("customers in Porto", "SELECT id FROM customer WHERE city = 'Porto'", [3.0], [3.0]),
            ("visits of the last 30 days", "SELECT id FROM visit WHERE seen >= '2020-01-01' ORDER BY id",
             [1.0, 2.0], [1.0]),
            ("visits of this year", "SELECT id FROM visit WHERE seen BETWEEN '2020-01-01' AND '2020-12-31'",
             [2.0], [1.0]),
            ("visits of today", "SELECT id FROM visit WHERE seen = '2020-05-05'", [2.0], [1.0]),
            ("visits of last year", "SELECT id FROM visit WHERE seen BETWEEN '2020-01-01' AND '2020-12-31'",
             [2.0], NONE),
        )
    ),
    ("sqlite mysql", PAID, "SELECT id FROM orders WHERE settled = 1 ORDER BY id", NONE, [1.0, 3.0, 5.0]),
    ("duckdb postgres", PAID, "SELECT id FROM orders WHERE settled = 1 ORDER BY id", "sql", [1.0, 3.0, 5.0]),
    ("postgres", PAID, "SELECT id FROM orders WHERE settled ORDER BY id", "sql", [1.0, 3.0, 5.0]),
    ("sqlite duckdb postgres", PAID, "SELECT id FROM orders WHERE settled = 'yes' ORDER BY id", NONE, [1.0, 3.0, 5.0]),
    ("mysql", "not settled", "SELECT id FROM orders WHERE settled = 0", [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0]),
    ("sqlite", "orders since", "SELECT id FROM orders WHERE created_at < '2023-01-20'", [1.0, 2.0, 3.0, 4.0, 5.0],
     [2.0, 4.0]),
    ("duckdb postgres", "orders until", "SELECT id FROM orders WHERE created_at < '2023-01-20' ORDER BY id", "sql",
     [2.0, 4.0]),
    ("mysql", "orders until", "SELECT id FROM orders WHERE created_at < '2023-01-20' ORDER BY id", NONE, [2.0, 4.0]),
    ("sqlite mysql", "orders of 2022", "", NONE, [4.0]),
    ("duckdb postgres", "orders of 2022", "", "sql", [4.0]),
    ("sqlite", "visits of the last 30 days", "SELECT id FROM visit WHERE seen >= CURRENT_DATE - 30 ORDER BY id",
     [1.0, 2.0], [1.0]),
    ("mysql", "visits of the last 1300 days", "SELECT id FROM visit WHERE seen >= CURRENT_DATE - 1300 ORDER BY id",
     [1.0, 2.0], [1.0]),
    ("mysql", "visits of today", "SELECT id FROM visit WHERE seen = DATE('now')", NONE, [1.0]),
    ("duckdb", "visits of today", "SELECT id FROM visit WHERE seen = DATE('now')", "sql", [1.0]),
    ("duckdb postgres", "bills of 2024", "SELECT id FROM bill WHERE EXTRACT(YEAR FROM sent) = 2024 ORDER BY id", "sql",
     [2.0, 3.0, 4.0]),
    ("sqlite", "bills of 2024", "SELECT id FROM bill WHERE STRFTIME('%Y', paid_at) = '2024' ORDER BY id", NONE,
     [2.0, 3.0, 4.0]),
    ("postgres", "bills of 2024", "SELECT id FROM bill WHERE sent >= DATE '2024-01-01' AND sent <= DATE '2024-12-31'"
     " ORDER BY id", "sql", [2.0, 3.0, 4.0]),
    ("sqlite mysql", "visits without an end", "SELECT id FROM visit WHERE left_at = 'no'", NONE, [2.0]),
    ("duckdb postgres", "visits without an end", "SELECT id FROM visit WHERE left_at = 'no'", "sql", [2.0]),
    ("sqlite mysql", "visits with an end", "SELECT id FROM visit WHERE left_at = 1", NONE, [1.0]),
    ("duckdb postgres", "visits with an end", "SELECT id FROM visit WHERE left_at = TRUE", "sql", [1.0]),
]  # fmt: skip


def listed() -> Iterator[Any]:
    for engines, question, sql, before, after in CASES:
        for engine in engines.split():
            yield pytest.param(engine, question, sql or YEAR[engine], before, after, id=f"{engine}-{question}")


@pytest.mark.parametrize(("engine", "question", "sql", "before", "after"), list(listed()))
def test_as_written_and_as_meant(
    engine: str, question: str, sql: str, before: Any, after: Any, database: Databases
) -> None:
    candidate, task, context = repairable(database(engine), question, sql)
    assert cells(candidate) == before, candidate.result.error
    meant = as_meant(candidate, task, context)
    assert cells(meant) == after, meant.sql
    changed = meant.sql != candidate.sql
    assert [fix.by for fix in meant.fixes] == ["meaning"] * len(meant.fixes)
    assert changed == bool(meant.fixes) == (before != after)
    assert as_meant(meant, task, context) == meant
    assert cells(by_program(candidate, task, context)) == after
    off = replace(context, recipe=replace(PLAIN, fix=replace(PLAIN.fix, meaning=False)))
    assert as_meant(candidate, task, off) is candidate


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_the_clock_in_the_words_of_sqlite(engine: str, database: Databases) -> None:
    sql = "SELECT id FROM visit WHERE seen >= DATE('now', '-30 days')"
    candidate, task, context = repairable(database(engine), "visits of the last 30 days", sql)
    assert not candidate.result.ok
    repaired = by_program(candidate, task, context)
    assert cells(repaired) == [1.0], repaired.sql
    year = "SELECT id FROM visit WHERE STRFTIME('%Y', seen) = STRFTIME('%Y', 'now')"
    candidate, task, context = repairable(database(engine), "visits of this year", year)
    repaired = by_program(candidate, task, context)
    assert cells(repaired) == [1.0], repaired.sql


@pytest.mark.parametrize("engine", ENGINES)
def test_the_reader_is_told_which_day_it_is(engine: str, database: Databases) -> None:
    db = database(engine)
    today = str(db.execute("SELECT seen FROM visit WHERE id = 1").rows[0][0])[:10]
    candidate, task, context = repairable(db, "visits of today", "SELECT id FROM visit WHERE seen = CURRENT_DATE")
    assert doubts(candidate, task, context) == (f"the query counts from today, {today} by the clock of the database",)
    candidate, task, context = repairable(db, "visits", "SELECT id FROM visit")
    assert doubts(candidate, task, context) == ()


def test_masked_columns_are_not_read(database: Databases) -> None:
    db = database("sqlite")
    masked = guard(db, introspect(db), Access(mask=("orders.settled", "customer.city")))
    sqls = ("SELECT id FROM orders WHERE settled = 1", "SELECT id FROM customer WHERE city = 'porto'")
    for sql in sqls:
        candidate, task, context = repairable(masked, PAID, sql)
        assert as_meant(candidate, task, context) is candidate


def test_what_a_cancelled_question_did_not_read_is_read_again(database: Databases) -> None:
    sql = "SELECT id FROM orders WHERE settled = 1"
    candidate, task, context = repairable(database("sqlite"), PAID, sql)
    stopped = threading.Event()
    stopped.set()
    assert as_meant(candidate, task, replace(context, cancel=stopped)) is candidate
    assert as_meant(candidate, task, context).sql == "SELECT id FROM orders WHERE settled = 'Y'"


def test_a_column_that_could_not_be_read_in_time_is_read_by_the_next_question(database: Databases) -> None:
    db = database("sqlite")
    _, task, context = repairable(db, PAID, "SELECT 1")
    table = next(one for one in task.known.tables if one.name == "orders")

    class Slow:
        url, reads = db.url, 0

        def __getattr__(self, name: str) -> Any:
            return getattr(db, name)

        def execute(self, *_: Any) -> Result:
            self.reads += 1
            return Result(error=QueryFailure("limit", "it took longer than 2 s"))

    slow = Slow()
    hurried = replace(context, db=slow)  # type: ignore[arg-type]
    for _ in range(3):
        assert Content(task, hurried).values(table, "settled") == ()
    assert slow.reads == 1
    assert Content(task, replace(context, once=Kept())).values(table, "settled") != ()


def test_after_a_failed_look_up_no_more_cases_are_looked_up(database: Databases) -> None:
    _, task, context = repairable(database("sqlite"), PAID, "SELECT 1")
    table = next(one for one in task.known.tables if one.name == "customer")
    assert Content(task, context).spellings(table, "city", "porto") == ("Porto",)
    content = Content(task, context)
    assert content.spellings(replace(table, name="nowhere"), "city", "porto") is None
    assert content.spellings(table, "city", "porto") is None


def test_answers_carry_the_repair_and_the_day(database: Databases) -> None:
    model = FakeModel("SELECT COUNT(paid) / COUNT(*), DATE('now') FROM orders")
    answer = ask("What share of the orders is paid?", database("sqlite"), recipe="fast", model=model)
    assert answer.sql == "SELECT COUNT(paid) * 1.0 / COUNT(*), DATE('now') FROM orders"
    today = answer.rows[0][1]
    assert answer.rows == ((0.4, today),)
    assert [(fix.by, fix.reason) for fix in answer.candidates[0].fixes] == [
        ("meaning", "a division of whole numbers drops the fraction")
    ]
    assert answer.remarks == (f"the query counts from today, {today} by the clock of the database",)
    assert answer.to_dict()["candidates"][0]["fixes"][0]["by"] == "meaning"
