"""Effects on rows, counted on real engines: the same rows give the same effects on each."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import servers
from sqljury import FakeModel, Question, ask, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.budget import Allowance, Budget
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.schema.introspect import introspect
from sqljury.stages.explain import explained
from sqljury.types import Candidate, Effect, Explanation, Fix, Limits, Result, Task

ENGINES = ("sqlite", "duckdb", "postgres", "mysql")
Databases = Callable[[str], Database]
SCRIPT = [
    "CREATE TABLE employee (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, boss_id INTEGER)",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, town VARCHAR(20), age INTEGER)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (id),"
    " employee_id INTEGER REFERENCES employee (id), amount INTEGER NOT NULL)",
    "INSERT INTO employee VALUES (1, 'Ida', NULL), (2, 'Jon', 1), (3, 'Kim', 1)",
    "INSERT INTO customer VALUES (1, 'Ann', 'Faro', 30), (2, 'Ben', NULL, NULL), (3, 'Cleo', 'Villanova', 20),"
    " (4, 'Dan', 'Faro', 30)",
    "INSERT INTO orders VALUES (1, 1, 2, 10), (2, 1, NULL, 20), (3, 3, NULL, 20), (4, 2, 2, 5)",
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Databases]:
    """From the name of an engine to a database on it, made once."""
    opened: dict[str, Database] = {}

    def url(engine: str) -> str:
        folder = tmp_path_factory.mktemp(engine)
        if engine == "sqlite":
            sqlite3.connect(folder / "shop.db").executescript(";\n".join(SCRIPT)).close()
            return str(folder / "shop.db")
        if engine == "duckdb":
            import duckdb

            with duckdb.connect(str(folder / "shop.duckdb")) as connection:
                connection.execute(";\n".join(SCRIPT))
            return str(folder / "shop.duckdb")
        if engine == "postgres":
            server: servers.Server = request.getfixturevalue("postgres_server")
            servers.in_postgres(server, "postgres", "DROP DATABASE IF EXISTS effects", "CREATE DATABASE effects")
            servers.in_postgres(server, "effects", *SCRIPT)
            return servers.postgres_url(server, "effects")
        server = request.getfixturevalue("mariadb_server")
        fresh = ("DROP DATABASE IF EXISTS effects", "CREATE DATABASE effects", "USE effects")
        servers.in_mariadb(server, *fresh, *SCRIPT)
        return servers.mysql_url(server, "effects")

    def database(engine: str) -> Database:
        if engine not in opened:
            opened[engine] = connect(url(engine))
        return opened[engine]

    yield database
    for db in opened.values():
        db.close()


def explanation(db: Database, sql: str, question: str = "How many?", **context: Any) -> Explanation:
    """How an answer with this query would be explained."""
    candidate = Candidate(sql, "direct", result=db.execute(sql))
    schema = db.schema if hasattr(db, "schema") else introspect(db)
    return explained(candidate, Task(Question(question), schema, ""), Context(db, FakeModel(""), **context))


def effects(db: Database, sql: str, question: str = "How many?") -> list[tuple[str, int | None, bool]]:
    return [(effect.kind, effect.rows, effect.warns) for effect in explanation(db, sql, question).effects]


EACH = "How many orders has each customer?"
COUNTS = "SELECT c.name, COUNT(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name"
LEFT = "SELECT c.name, o.amount FROM customer c LEFT JOIN orders o ON o.customer_id = c.id"
INNER = LEFT.replace("LEFT JOIN", "JOIN")
OUTER = COUNTS.replace("JOIN", "LEFT JOIN")
TAKEN = "SELECT COUNT(*) FROM orders o JOIN employee e ON e.id = o.employee_id"
TIED = "SELECT name FROM customer WHERE age > 0 ORDER BY age DESC LIMIT 1"
RIGHT = "SELECT c.name, o.amount FROM orders o RIGHT JOIN customer c ON o.customer_id = c.id"
SUMS = "SELECT c.id, SUM(c.age) AS s FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
COUNTED = "WITH taken AS (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id)"
CASES: list[tuple[str, str, list[tuple[str, int | None, bool]]]] = [
    # two orders of nobody are not in the count, and would be in the list; an idle employee in neither
    ("How many?", TAKEN, [("unmatched", 2, True), ("unmatched", 2, False)]),
    ("How many?", f"{TAKEN} WHERE o.amount > 10", [("unmatched", 2, True)]),
    ("Who?", f"{TAKEN} WHERE e.name = 'Kim'", [("unmatched", 1, False)]),
    ("Who?", "SELECT e.name FROM orders o JOIN employee e ON e.id = o.employee_id WHERE o.id = 1", []),
    ("Who?", "SELECT o.id, e.name FROM orders o, employee e WHERE e.id = o.employee_id AND o.amount < 10", []),
    # Dan has no order
    (EACH, COUNTS, [("unmatched", 1, True)]),
    ("Who has ordered?", COUNTS, [("unmatched", 1, False)]),
    (EACH, f"{COUNTS} HAVING COUNT(*) = 2", [("unmatched", 1, False)]),
    (EACH, f"{COUNTS} HAVING COUNT(*) < 2", [("unmatched", 1, True)]),
    ("Who ordered least?", f"{COUNTS} ORDER BY COUNT(*) LIMIT 2", [("unmatched", 1, True)]),
    ("Who has an order?", COUNTS.replace("COUNT(*)", "AVG(o.amount)"), [("unmatched", 1, False)]),
    # Dan has one row, without an order
    (EACH, OUTER, [("unmatched", 1, True)]),
    ("How many customers are there of each name?", OUTER, [("unmatched", 1, False)]),
    (EACH, OUTER.replace("COUNT(*)", "COUNT(o.id)"), []),
    (EACH, f"{LEFT} WHERE o.amount > 1", [("unmatched", 1, True)]),
    ("Who?", f"{LEFT} WHERE NOT o.amount IS NULL", [("unmatched", 1, False)]),
    (EACH, f"{LEFT} JOIN employee e ON e.id = o.employee_id", [("unmatched", 1, True)]),
    (EACH, f"{LEFT} WHERE o.id IS NULL", []),
    (EACH, f"{LEFT} WHERE COALESCE(o.amount, 0) < 100", []),
    (EACH, f"{LEFT} WHERE o.amount > 1 OR c.id = 4", []),
    (EACH, RIGHT, []),
    (EACH, f"{RIGHT} WHERE o.amount > 1", [("unmatched", 1, True)]),
    (EACH, f"{RIGHT} JOIN employee e ON e.id = o.employee_id", [("unmatched", 1, True)]),
    (EACH, f"{RIGHT.replace('o.amount', 'COUNT(*)')} GROUP BY c.name", [("unmatched", 1, True)]),
    (EACH, f"{LEFT} RIGHT JOIN employee e ON e.id = o.employee_id", [("unmatched", 1, True)]),
    # the towns of customers choose among the pairs that the join makes
    ("Who?", "SELECT o.id FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.amount = c.age", []),
    (
        "Who?",
        "SELECT o.id FROM orders o, customer c WHERE c.id = o.customer_id AND o.amount = c.age",
        [("unmatched", 3, True), ("unmatched", 3, False)],
    ),
    ("List each customer with the amounts.", INNER, [("unmatched", 1, True)]),
    ("Show all customers and their orders.", INNER, [("unmatched", 1, True)]),
    ("List all customers who have ordered.", INNER, [("unmatched", 1, False)]),
    ("How many orders have an employee?", TAKEN, [("unmatched", 2, False), ("unmatched", 2, False)]),
    # Ann has two orders, Ben no age, Dan no order
    (
        "What?",
        "SELECT SUM(c.age) FROM customer c JOIN orders o ON o.customer_id = c.id",
        [("repeated", 1, True), ("unmatched", 1, False), ("null", 1, False)],
    ),
    (
        "What?",
        "SELECT c.name, SUM(c.id) AS s FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
        [("repeated", 1, True), ("unmatched", 1, False)],
    ),
    (
        "What?",
        "SELECT o.id, SUM(c.id) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY o.id",
        [("unmatched", 1, False)],
    ),
    (
        "What?",
        "SELECT SUM(T1.age) FROM customer AS T1 JOIN orders AS T2 ON T2.customer_id = T1.id",
        [("repeated", 1, True), ("unmatched", 1, False), ("null", 1, False)],
    ),
    ("What?", f"{SUMS} HAVING COUNT(*) = 1", [("unmatched", 1, False), ("null", 1, False)]),
    ("What?", f"{SUMS} HAVING COUNT(*) > 1", [("repeated", 1, True), ("unmatched", 1, False), ("null", 1, False)]),
    # Ann's sum is 60 with her two orders
    ("What?", f"{SUMS} HAVING SUM(c.age) < 50", [("repeated", 1, True), ("unmatched", 1, False), ("null", 1, False)]),
    ("What?", f"{SUMS} ORDER BY c.id DESC LIMIT 1", [("unmatched", 1, False), ("null", 1, False)]),
    (
        "What?",
        f"{SUMS} ORDER BY COUNT(*) DESC LIMIT 1",
        [("repeated", 1, True), ("unmatched", 1, False), ("null", 1, False)],
    ),
    (
        "What?",
        "SELECT SUM(o.amount) FROM customer c JOIN orders o ON o.customer_id = c.id",
        [("unmatched", 1, False)],
    ),
    ("Number of ages", "SELECT COUNT(age) FROM customer", [("null", 1, False)]),
    ("Show two customers", "SELECT name FROM customer LIMIT 2", [("cut", 1, False)]),
    ("Show the two oldest customers", "SELECT name FROM customer LIMIT 2", [("cut", 1, True)]),
    # ages: 30, NULL, 20, 30
    ("What?", "SELECT AVG(age) FROM customer", [("null", 1, True)]),
    ("What?", "SELECT COUNT(age) FROM customer WHERE id > 1", [("null", 1, True)]),
    ("What?", "SELECT COUNT(age) * 1.0 / COUNT(*) FROM customer", [("null", 1, False)]),
    ("What?", "SELECT MAX(age) FROM customer", [("null", 1, False)]),
    ("What?", "SELECT AVG(age) FROM customer WHERE age > 25", [("null", 1, False)]),
    ("What?", "SELECT AVG(amount), COUNT(id) FROM orders", []),
    ("Who?", "SELECT name FROM customer WHERE town <> 'Faro'", [("null", 1, True)]),
    ("Who?", "SELECT name FROM customer WHERE town NOT IN ('Faro', 'Rome')", [("null", 1, True)]),
    ("Who?", "SELECT name FROM customer WHERE town NOT LIKE 'F%'", [("null", 1, True)]),
    ("Who?", "SELECT name FROM customer WHERE town = 'Faro' AND id <> 1", []),
    ("Who?", "SELECT name FROM customer WHERE town <> 'Faro' AND town <> 'Rome'", [("null", 1, True)]),
    ("Who?", "SELECT name FROM customer WHERE age <> 20 AND age > 10", [("null", 1, False)]),
    ("Who?", "SELECT name FROM customer WHERE LOWER(town) <> 'faro'", [("null", 1, True)]),
    ("Who?", "SELECT name FROM customer WHERE town <> 'Faro' AND town IS NOT NULL", []),
    ("Who?", "SELECT name FROM employee WHERE id NOT IN (SELECT boss_id FROM employee)", [("null", 1, True)]),
    ("Who?", "SELECT name FROM employee WHERE id NOT IN (SELECT customer_id FROM orders)", []),
    # another part of a row value may differ
    ("Who?", "SELECT name FROM customer WHERE (id, name) NOT IN (SELECT boss_id, name FROM employee)", []),
    # Ann and Dan are both 30; two orders have 20
    (
        "Who?",
        TIED,
        [("tie", 1, True), ("null", 1, False)],
    ),
    (
        "Who?",
        "SELECT name, age FROM customer WHERE age > 0 UNION SELECT name, id FROM employee ORDER BY age DESC LIMIT 1",
        [("tie", 1, True), ("null", 1, False)],
    ),
    ("Who?", f"{COUNTED} SELECT name FROM customer WHERE id = (SELECT n FROM taken ORDER BY n LIMIT 1)", []),
    (
        "Who?",
        f"{COUNTED} SELECT name FROM customer WHERE id = (SELECT customer_id FROM taken ORDER BY n LIMIT 1)",
        [("tie", 1, True)],
    ),
    (
        "Who?",
        f"{COUNTED}, fewest AS (SELECT customer_id FROM taken ORDER BY n LIMIT 1) SELECT * FROM fewest",
        [("tie", 1, True)],
    ),
    ("Who?", "SELECT COUNT(*) FROM (SELECT name FROM customer LIMIT 2) AS two", [("cut", 1, True)]),
    ("Who?", "SELECT COUNT(*) FROM (SELECT 1 AS present FROM customer LIMIT 2) AS two", []),
    ("What?", "SELECT id FROM orders ORDER BY amount DESC LIMIT 2", []),
    # amounts: 5, 10, 20, 20
    ("What?", "SELECT id FROM orders ORDER BY amount DESC LIMIT 1 OFFSET 1", [("tie", 1, True)]),
    ("What?", "SELECT amount FROM orders ORDER BY amount DESC LIMIT 1 OFFSET 1", [("tie", 1, True)]),
    ("What?", "SELECT id FROM orders ORDER BY amount LIMIT 1 OFFSET 2", [("tie", 1, True)]),
    ("What?", "SELECT id FROM orders ORDER BY amount LIMIT 1 OFFSET 1", []),
    ("What?", "SELECT amount FROM orders ORDER BY amount DESC LIMIT 1", []),
    ("What?", "SELECT id FROM orders ORDER BY amount DESC, id LIMIT 1", []),
    (
        "Who?",
        "SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id ORDER BY n LIMIT 1",
        [("tie", 1, True)],
    ),
    ("Who?", "SELECT name FROM customer LIMIT 2", [("cut", 1, True)]),
    ("Who?", "SELECT name FROM customer LIMIT 4", []),
    ("What?", "SELECT COUNT(*) FROM customer LIMIT 1", []),
    (
        "What?",
        f"WITH taken AS ({TAKEN.replace('COUNT(*)', 'o.id, e.name')}) SELECT COUNT(*) FROM taken",
        [("unmatched", 2, True), ("unmatched", 2, False)],
    ),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_effects_are_counted_alike_on_every_engine(engine: str, database: Databases) -> None:
    db = database(engine)
    for question, sql, expected in CASES:
        assert effects(db, sql, question) == expected, sql


def test_a_text_says_what_was_counted_and_the_query_can_be_run_again(database: Databases) -> None:
    db = database("sqlite")
    (taken, idle), (tie, _) = (explanation(db, sql).effects for sql in (TAKEN, TIED))
    assert taken.text == "2 rows of orders have no match in employee by employee_id and are left out by the join"
    assert idle.text == "2 rows of employee have no row in orders and are left out by the join"
    assert tie.text == "1 other row has the same age as the row kept, and LIMIT 1 cuts it off"
    assert db.execute(taken.sql).rows == ((2,),)
    (each,) = explanation(db, COUNTS, EACH).effects
    assert each.text == "1 value of customer.name has no row in orders and is left out by the join"
    (dan,) = explanation(db, OUTER, EACH).effects
    assert dan.text == "1 row of customer has no match in orders and is counted in the number of rows"
    (dan,) = explanation(db, f"{LEFT} WHERE o.amount > 1", EACH).effects
    reason = "but the condition orders.amount is more than 1 drops it"
    assert dan.text == f"1 row of customer has no match in orders: the join keeps it, {reason}"
    ann, *_ = explanation(db, "SELECT SUM(c.age) FROM customer c JOIN orders o ON o.customer_id = c.id").effects
    assert ann.text == "1 row of customer is part of the sum of customer.age more than once: the join repeats it"
    (row,) = explanation(db, COUNTS.replace("BY c.name", "BY c.id, c.name"), EACH).effects
    assert row.text == "1 row of customer has no row in orders and is left out by the join"
    towns = "SELECT town, COUNT(*) FROM customer WHERE id > 1 GROUP BY town ORDER BY COUNT(*) LIMIT 1"
    (tie,) = (effect for effect in explanation(db, towns).effects if effect.kind == "tie")
    assert tie.text == "2 other groups have the same number of rows as the group kept, and LIMIT 1 cuts them off"
    (dan,) = explanation(db, f"{RIGHT} WHERE o.amount > 1", EACH).effects
    assert dan.text == f"1 row of customer has no match in orders: the join keeps it, {reason}"
    (null,) = explanation(db, "SELECT name FROM customer WHERE town <> 'A' AND town <> 'B'").effects
    conditions = "the conditions town is not 'A' and town is not 'B'"
    assert null.text == f"1 row has no value of town and is left out by {conditions}"
    (null,) = explanation(db, "SELECT AVG(age) FROM customer").effects
    assert null.text == "1 row has no value of age and is not part of the average of age"


FETCHED = TIED.replace("LIMIT 1", "FETCH FIRST ROW ONLY")
OF_DUCKDB: list[tuple[str, list[tuple[str, int | None, bool]]]] = [
    (FETCHED, [("tie", 1, True), ("null", 1, False)]),
    (TIED.replace("LIMIT 1", "LIMIT 50 %"), [("null", 1, False)]),
    (SUMS.replace("BY c.id", "BY ALL"), [("repeated", 1, True), ("unmatched", 1, False), ("null", 1, False)]),
    ("SELECT o.id FROM orders o ANTI JOIN employee e ON e.id = o.employee_id", []),
    ("SELECT o.id FROM orders o SEMI JOIN employee e ON e.id = o.employee_id", []),
]


def test_what_only_some_engines_have(database: Databases) -> None:
    for sql, expected in OF_DUCKDB:
        assert effects(database("duckdb"), sql) == expected, sql
    assert effects(database("postgres"), FETCHED) == [("tie", 1, True), ("null", 1, False)]
    assert effects(database("postgres"), FETCHED.replace("ONLY", "WITH TIES")) == [("null", 1, False)]
    tie, _ = explanation(database("duckdb"), FETCHED).effects
    assert tie.text == "1 other row has the same age as the row kept, and FETCH FIRST 1 cuts it off"


def test_rows_without_a_value_that_come_first_and_ties_before_the_offset(database: Databases) -> None:
    db = database("sqlite")
    for limit, text in (
        (1, "the row kept has no value of age, by which the rows are sorted"),
        (2, "1 of the 2 rows kept has no value of age, by which the rows are sorted"),
    ):
        (null,) = explanation(db, f"SELECT name FROM customer ORDER BY age LIMIT {limit}").effects
        assert (null.kind, null.text, null.rows, null.warns) == ("null", text, 1, True)
    assert explanation(db, "SELECT name FROM customer ORDER BY age DESC, id LIMIT 1").effects == ()
    (tie,) = explanation(db, "SELECT id FROM orders ORDER BY amount DESC LIMIT 1 OFFSET 1").effects
    assert tie.text == "the row before has the same amount as the row kept, and OFFSET 1 leaves it out"
    (tie,) = explanation(db, "SELECT id FROM orders ORDER BY amount LIMIT 1 OFFSET 2").effects
    assert tie.text == "1 other row has the same amount as the row kept, and LIMIT 1 cuts it off"


def test_counting_stops_with_the_budget_the_limit_and_the_user(database: Databases) -> None:
    db = database("sqlite")
    spent = explanation(db, TAKEN, budget=Budget(Allowance(seconds=0)))
    assert (spent.effects, spent.uncounted) == ((), "the time for it was spent")
    assert spent.steps
    late = explanation(db, TAKEN, budget=Budget(calls=0))  # a recipe's time is for calls of the model
    assert (len(late.effects), late.uncounted) == (2, "")
    cancelled = threading.Event()
    cancelled.set()
    assert explanation(db, TAKEN, cancel=cancelled).uncounted == "it was stopped"
    candidate = Candidate(TAKEN, "direct", result=db.execute(TAKEN))
    slow = Context(_Slow(db), FakeModel(""))  # type: ignore[arg-type]
    found = explained(candidate, Task(Question("How many?"), introspect(db), ""), slow)
    assert (found.effects, found.uncounted) == ((), "counting took too long")
    assert slow.db.asked == 1  # type: ignore[attr-defined]


class _Slow:
    """A database on which every query takes all the time that it is given."""

    dialect = "sqlite"

    def __init__(self, db: Database) -> None:
        self._db, self.asked = db, 0

    def execute(self, sql: str, limits: Limits, cancel: threading.Event | None = None) -> Result:
        self.asked += 1
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
        return self._db.execute(endless, replace(limits, seconds=min(limits.seconds, 0.2)), cancel)


class _Failing(_Slow):
    """A database on which every query fails."""

    def execute(self, sql: str, limits: Limits, cancel: threading.Event | None = None) -> Result:
        return self._db.execute("SELECT lacking FROM orders", limits, cancel)


def test_a_count_that_fails_is_told(database: Databases) -> None:
    db = database("sqlite")
    candidate = Candidate(TAKEN, "direct", result=db.execute(TAKEN))
    context = Context(_Failing(db), FakeModel(""))  # type: ignore[arg-type]
    explained_answer = explained(candidate, Task(Question("How many?"), introspect(db), ""), context)
    assert (explained_answer.effects, explained_answer.uncounted) == ((), "a count failed: no such column: lacking")


def test_rows_of_a_view_cannot_be_told_apart(tmp_path: Path) -> None:
    script = [*SCRIPT, "CREATE VIEW aged AS SELECT id, age FROM customer WHERE age > 0"]
    sqlite3.connect(tmp_path / "shop.db").executescript(";\n".join(script)).close()
    with connect(str(tmp_path / "shop.db")) as db:
        total = explanation(db, "SELECT SUM(a.age) FROM aged a JOIN orders o ON o.customer_id = a.id")
        alone = explanation(db, "SELECT SUM(age) FROM aged")
    assert total.uncounted == "rows of aged that a join repeats cannot be told apart without a key"
    assert alone.uncounted == ""


def test_what_may_not_be_read_is_not_counted(database: Databases) -> None:
    db = database("sqlite")
    guarded = guard(db, introspect(db), Access(deny=("customer.age", "employee")))
    assert [effect.kind for effect in explanation(guarded, "SELECT AVG(amount) FROM orders").effects] == []
    refused = explanation(guarded, "SELECT AVG(age) FROM customer")
    assert (refused.effects, refused.steps) == ((), ())
    shown = explanation(guarded, "SELECT name FROM customer WHERE town <> 'Faro'")
    assert [effect.rows for effect in shown.effects] == [1]


def replaced(*fixes: Fix, sql: str, db: Database) -> list[Effect]:
    candidate = Candidate(sql, "direct", result=db.execute(sql), fixes=fixes)
    found = explained(candidate, Task(Question("Who?"), introspect(db), ""), Context(db, FakeModel("")))
    return [effect for effect in found.effects if effect.kind == "alike"]


def test_values_that_were_replaced_are_told(database: Databases) -> None:
    db, faro = database("sqlite"), "SELECT name FROM customer WHERE town = 'Faro'"
    (typo,) = replaced(Fix(faro.replace("Faro", "Farro"), "no rows", "values"), sql=faro, db=db)
    assert typo.text == "the query looks for 'Faro' in town, where 'Farro' was written and not found"
    assert (typo.warns, typo.rows) == (True, None)
    (case,) = replaced(Fix(faro.replace("Faro", "FARO"), "no rows", "values"), sql=faro, db=db)
    assert not case.warns
    bound = Fix("SELECT nme FROM customer WHERE town = 'Faro'", "no such column", "schema")
    assert replaced(bound, sql=faro, db=db) == []
    (first,) = replaced(
        Fix("SELECT nme FROM customer WHERE town = 'Vilanov'", "no such column", "schema"),
        Fix("SELECT name FROM customer WHERE town = 'Vilanov'", "no rows", "model"),
        sql="SELECT name FROM customer WHERE town = 'Villanova'",
        db=db,
    )
    assert "'Villanova' in town, where 'Vilanov'" in first.text


@pytest.mark.parametrize(
    ("question", "town", "found"),
    [
        ("Who lives in Vilanova?", "Villanova", "Vilanova"),
        ("Who lives in Upper Segde?", "Upper Sedge", "Upper Segde"),
        ("Who lives in villanova?", "Villanova", None),  # another case
        ("Who lives in Villa Nova?", "Villanova", None),  # other blanks
        ("Who lives by the sea?", "Villanova", None),
        ("Whose note is on death?", "%East%", None),
    ],
)
def test_a_value_that_the_question_spells_otherwise(
    database: Databases, question: str, town: str, found: str | None
) -> None:
    sql = f"SELECT name FROM customer WHERE town {'LIKE' if '%' in town else '='} '{town}'"
    alike = [effect.text for effect in explanation(database("sqlite"), sql, question).effects if effect.kind == "alike"]
    expected = [f"the query looks for '{town}' in town, where the question says '{found}'"]
    assert alike == (expected if found else [])


def test_an_answer_carries_its_explanation_and_warns(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    sqlite3.connect(path).executescript(";\n".join(SCRIPT)).close()
    before = path.read_bytes()
    answer = ask("How many orders are there?", path, model=FakeModel(TAKEN), cache=False)
    warning = "2 rows of orders have no match in employee by employee_id and are left out by the join"
    assert answer.remarks == (warning,)
    assert answer.explanation is not None
    assert answer.explanation.warnings == (warning,)
    data = answer.to_dict()["explanation"]
    assert [step["kind"] for step in data["steps"]] == ["read", "join", "show"]
    assert {effect["kind"] for effect in data["effects"]} == {"unmatched"}
    assert set(data["effects"][0]) == {"kind", "text", "rows", "sql", "warns"}
    assert path.read_bytes() == before


def test_a_misspelt_value_is_told_by_the_whole_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    sqlite3.connect(path).executescript(";\n".join(SCRIPT)).close()
    model = FakeModel("SELECT name FROM customer WHERE town = 'Vilanova'")
    answer = ask("Who lives in Vilanova?", path, model=model, cache=False)
    assert answer.rows == (("Cleo",),)
    assert answer.remarks == ("the query looks for 'Villanova' in town, where 'Vilanova' was written and not found",)
