"""The example database: the same on every build, sound, full of its traps, and answering its questions."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

SHOP = Path(__file__).resolve().parents[2] / "examples" / "shop"
QUESTIONS = [json.loads(line) for line in (SHOP / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
LIMITED = [question for question in QUESTIONS if " LIMIT " in question["sql"]]

# If this changes on purpose, update the row counts in examples/shop/README.md and the answers that docs show.
DUMP_SHA256 = "ef1a745aa283ffd5bff03e73b92eeffe0c1ed325ad7fdd3a17fdfe9a6e9c35cf"


def build(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SHOP / "build.py"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def dump(path: Path) -> str:
    """Schema and rows, by key, as text; unlike ``.dump``, the same on every version of SQLite."""
    with closing(sqlite3.connect(path)) as connection:
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        lines = [repr(entry) for entry in schema]
        for kind, name, _ in schema:
            if kind == "table":
                rows = connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2")
                lines += (f"{name} {row!r}" for row in rows)
    return "\n".join(lines)


@pytest.fixture(scope="module")
def shop_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    done = build(path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def shop(shop_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{shop_path}?mode=ro", uri=True)) as connection:
        yield connection


def number(shop: sqlite3.Connection, sql: str) -> int:
    (value,) = shop.execute(sql).fetchone()
    assert isinstance(value, int)
    return value


def names(shop: sqlite3.Connection, kind: str) -> list[str]:
    rows = shop.execute("SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%'", (kind,))
    return [name for (name,) in rows]


def test_builds_are_the_same_and_known(shop_path: Path, tmp_path: Path) -> None:
    build(tmp_path / "again.db")
    assert dump(tmp_path / "again.db") == dump(shop_path)
    assert hashlib.sha256(dump(shop_path).encode()).hexdigest() == DUMP_SHA256


def test_build_replaces_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_text("not a database")
    assert build(tmp_path / "shop.db").returncode == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["shop.db"]
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert build(tmp_path / "folder").returncode != 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_size(shop: sqlite3.Connection) -> None:
    counts = {table: number(shop, f"SELECT COUNT(*) FROM {table}") for table in names(shop, "table")}
    assert 8 <= len(counts) <= 12
    assert 3000 <= sum(counts.values()) <= 8000
    assert min(counts.values()) >= 6
    readme = (SHOP / "README.md").read_text(encoding="utf-8")
    for table, count in counts.items():
        assert f"| `{table}` | {count} |" in readme


def test_keys_hold(shop: sqlite3.Connection) -> None:
    assert shop.execute("PRAGMA foreign_key_check").fetchall() == []
    for table in names(shop, "table"):
        columns = shop.execute(f"PRAGMA table_info({table})").fetchall()
        assert any(column[5] for column in columns), f"{table}: no primary key"


@pytest.mark.parametrize(
    ("what", "sql"),
    [
        ("orders before the customer joined", "orders AS o JOIN customer AS c ON c.id = customer_id"
         " WHERE ordered_on < joined_on"),
        ("orders taken by someone not at work", "orders JOIN employee AS e ON e.id = employee_id"
         " WHERE ordered_on < hired_on OR ordered_on > left_on"),
        ("web orders with a clerk, or others without",
         "orders WHERE (lower(channel) = 'web') <> (employee_id IS NULL)"),
        ("products sold outside their life",
         "order_line JOIN orders AS o ON o.id = order_id JOIN product AS p"
         " ON p.id = product_id WHERE ordered_on < introduced_on OR ordered_on >= discontinued_on"),
        ("delivered orders with a parcel under way", "orders AS o JOIN shipment AS s ON s.order_id = o.id"
         " WHERE status = 'D' AND delivered_on IS NULL"),
        ("parcels of orders not sent", "orders AS o JOIN shipment AS s ON s.order_id = o.id"
         " WHERE status IN ('N', 'P', 'X') OR delivery = 3"),
        ("more pieces returned than bought", "return_line AS r JOIN order_line AS l USING (order_id, line_no)"
         " WHERE r.quantity > l.quantity"),
        ("returns of orders not delivered",
         "return_line JOIN orders AS o ON o.id = order_id WHERE status <> 'D'"),
        ("days that are not ISO", "orders WHERE date(ordered_on) IS NOT ordered_on"),
        ("days after the last",
         "(SELECT MAX(ordered_on) AS day FROM orders UNION SELECT MAX(sent_on) FROM shipment"
         " UNION SELECT MAX(returned_on) FROM return_line) WHERE day > '2024-12-31'"),
    ],
)  # fmt: skip
def test_world_is_coherent(shop: sqlite3.Connection, what: str, sql: str) -> None:
    assert number(shop, f"SELECT COUNT(*) FROM {sql}") == 0, what


@pytest.mark.parametrize(
    ("what", "sql", "least"),
    [
        ("nullable foreign key", "orders WHERE employee_id IS NULL", 100),
        ("cancelled orders", "orders WHERE status = 'X'", 20),
        ("codes explained by a comment only", "(SELECT DISTINCT delivery FROM orders)", 3),
        ("another date format", "shipment WHERE delivered_on GLOB '[0-3][0-9].[01][0-9].202[2-5]'", 1000),
        ("parcels not arrived", "shipment WHERE delivered_on IS NULL", 10),
        ("orders in two parcels", "shipment WHERE parcel_no = 2", 50),
        ("late parcels",
         "shipment AS s JOIN orders AS o ON o.id = order_id JOIN customer AS c ON c.id = customer_id"
         " JOIN region AS r ON r.code = region_code WHERE julianday(substr(delivered_on, 7) || '-' ||"
         " substr(delivered_on, 4, 2) || '-' || substr(delivered_on, 1, 2)) - julianday(sent_on)"
         " > promised_days", 60),
        ("spellings of the channel", "(SELECT DISTINCT channel FROM orders)", 6),
        ("text numbers that sort wrongly",
         "supplier WHERE lead_days > '10' AND CAST(lead_days AS INTEGER) < 10", 3),
        ("leading zeros", "customer WHERE postcode LIKE '0%'", 100),
        ("no letter by mail", "customer WHERE email IS NULL", 50),
        ("customers without orders", "customer WHERE id NOT IN (SELECT customer_id FROM orders)", 20),
        ("customers of the same name",
         "(SELECT 1 FROM customer GROUP BY first_name, last_name HAVING COUNT(*) > 1)", 5),
        ("very good customers", "(SELECT 1 FROM orders GROUP BY customer_id HAVING COUNT(*) >= 10)", 5),
        ("own make", "product WHERE id NOT IN (SELECT product_id FROM product_supplier)", 5),
        ("several suppliers", "product_supplier WHERE preferred = 0", 5),
        ("discontinued products", "product WHERE discontinued_on IS NOT NULL", 3),
        ("no manager", "employee WHERE manager_id IS NULL", 1),
        ("returns without a reason", "return_line WHERE reason IS NULL", 20),
        ("keyword as a column", "customer WHERE \"group\" = 'school'", 10),
        ("near-duplicate suppliers", "supplier WHERE name IN ('Alder & Finch', 'Alder and Finch')", 2),
        ("prices not those of today", "order_line AS l JOIN product AS p ON p.id = product_id"
         " WHERE unit_cents <> ROUND(list_price * 100)", 500),
    ],
)  # fmt: skip
def test_traps_are_there(shop: sqlite3.Connection, what: str, sql: str, least: int) -> None:
    assert number(shop, f"SELECT COUNT(*) FROM {sql}") >= least, what


def test_view_leaves_out_the_cancelled(shop: sqlite3.Connection) -> None:
    assert names(shop, "view") == ["order_value"]
    orders = number(shop, "SELECT COUNT(*) FROM orders")
    cancelled = number(shop, "SELECT COUNT(*) FROM orders WHERE status = 'X'")
    assert number(shop, "SELECT COUNT(*) FROM order_value") == orders - cancelled


def test_sales_grow_every_year(shop: sqlite3.Connection) -> None:
    by_year = "SELECT substr(ordered_on, 1, 4) AS year, SUM(florins) FROM order_value GROUP BY 1 ORDER BY 1"
    (_, first), (_, second), (_, third) = shop.execute(by_year)
    assert first < second < third


def test_questions_are_well_formed() -> None:
    assert 12 <= len(QUESTIONS) <= 15
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert sum(question.get("demo", False) for question in QUESTIONS) == 3
    for question in QUESTIONS:
        assert set(question) - {"demo"} == {"id", "question", "evidence", "sql"}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_question_has_an_answer(shop: sqlite3.Connection, question: dict[str, str]) -> None:
    rows = shop.execute(question["sql"]).fetchall()
    assert rows
    assert all(value is not None for row in rows for value in row)


@pytest.mark.parametrize("question", LIMITED, ids=lambda question: question["id"])
def test_limit_does_not_cut_a_tie(shop: sqlite3.Connection, question: dict[str, str]) -> None:
    query, limit = question["sql"].rsplit(" LIMIT ", 1)
    figures = [row[-1] for row in shop.execute(query)]  # the last column is what the rows are ordered by
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures[: int(limit) + 1])) == int(limit) + 1
