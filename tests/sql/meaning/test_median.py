"""Medians, on the products of a shop."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from answered import Answered
from sqljury import ask, connect
from sqljury.language.cues import wants_median
from sqljury.llm.fake import FakeModel

SCHEMA = """
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, category_id INTEGER REFERENCES category, list_price REAL,
    size TEXT, sold_on TEXT, made_on TEXT);
INSERT INTO category VALUES (1, 'bikes'), (2, 'helmets'), (3, 'bells'), (4, 'locks');
INSERT INTO product VALUES
    (1, 'a', 1, 100, '9', '2024-01-05', '2024-01-01'), (2, 'b', 1, 200, '80', '2024-01-09', '2024-01-01'),
    (3, 'c', 1, 900, '7', '2024-01-31', '2024-01-01'), (4, 'd', 2, 10, '6', '2024-01-02', '2024-01-01'),
    (5, 'e', 2, 20, '5', '2024-01-02', '2024-01-01'), (6, 'f', 2, 30, '4', '2024-01-02', '2024-01-01'),
    (7, 'g', 2, 240, '3', '2024-01-02', '2024-01-01'), (8, 'h', 2, NULL, '2', NULL, '2024-01-01'),
    (9, 'i', 3, NULL, '1', NULL, '2024-01-01');
"""
REASON = "the question asks for the median"
PRICE = "What is the median list price?"
EACH = "What is the median list price of each category?"
JOINED = "FROM product AS p JOIN category AS c ON c.id = p.category_id"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (PRICE, "SELECT AVG(list_price) FROM product", [(100.0,)]),
        (PRICE, "SELECT AVG(list_price) AS median FROM product WHERE category_id = 2", [(25.0,)]),
        (PRICE, "SELECT 0.5 * (SELECT AVG(list_price) FROM product)", [(100.0,)]),
        (PRICE, "SELECT (SELECT AVG(list_price) FROM product) * 0.5 AS median", [(100.0,)]),
        (PRICE, "SELECT 0.5 * AVG(list_price) FROM product", [(100.0,)]),
        (PRICE, "SELECT MEDIAN(list_price) FROM product", [(100.0,)]),
        (PRICE, "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY list_price) FROM product", [(100.0,)]),
        (PRICE, "SELECT PERCENTILE_CONT(list_price, 0.5) FROM product", [(100.0,)]),
        (PRICE, "SELECT QUANTILE(list_price, 0.5) FROM product", [(100.0,)]),
        (PRICE, "SELECT AVG(list_price) FROM product WHERE id > 3 AND id < 3", [(None,)]),
        (f"{PRICE} Mean of the two middle ones if even.", "SELECT AVG(list_price) FROM product", [(100.0,)]),
        (
            EACH,
            f"SELECT c.name, AVG(p.list_price) {JOINED} GROUP BY c.id, c.name ORDER BY c.name",
            [("bells", None), ("bikes", 200.0), ("helmets", 25.0)],
        ),
        (
            EACH,
            f"SELECT c.name, AVG(p.list_price) AS m {JOINED} GROUP BY c.id ORDER BY m DESC LIMIT 2",
            [("bikes", 200.0), ("helmets", 25.0)],
        ),
        (
            "Which category has the highest median list price?",
            f"SELECT c.name {JOINED} GROUP BY c.name ORDER BY AVG(p.list_price) DESC LIMIT 1",
            [("bikes",)],
        ),
        (
            EACH,
            "SELECT category_id, MEDIAN(list_price) FROM product GROUP BY 1 ORDER BY 2 DESC, 1",
            [(1, 200.0), (2, 25.0), (3, None)],
        ),
        (
            "What is the median number of products per category?",
            "SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM product GROUP BY category_id) AS t",
            [(3.0,)],
        ),
        (
            "Median days from making to sale, to one decimal",
            "SELECT ROUND(AVG(JULIANDAY(sold_on) - JULIANDAY(made_on)), 1) FROM product",
            [(1.0,)],
        ),
        (
            "What is the median list price of bikes and helmets, in thousands?",
            "SELECT AVG(list_price) / 1000.0 FROM product WHERE category_id IN (1, 2)",
            [(0.1,)],
        ),
    ],
)
def test_the_median_is_taken(answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]]) -> None:
    found = answered(SCHEMA, question, sql)
    assert list(found.rows) == rows, found.sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the average list price?", "SELECT AVG(list_price) FROM product"),
        ("What are the median and the average list price?", "SELECT AVG(list_price) FROM product"),
        ("How many products are above the median price?", "SELECT AVG(list_price) FROM product"),
        ("What is half of the median list price?", "SELECT 0.5 * AVG(list_price) FROM product"),
        ("The median price of each median category", "SELECT AVG(list_price) FROM product"),
        (PRICE, "SELECT MAX(list_price) FROM product"),
        (PRICE, "SELECT AVG(DISTINCT list_price) FROM product"),
        (PRICE, "SELECT AVG(list_price) FILTER (WHERE id > 2) FROM product"),
        (PRICE, "SELECT AVG(list_price), COUNT(*) FROM product"),
        (PRICE, "SELECT AVG(list_price) - id FROM product GROUP BY id"),
        (PRICE, "SELECT AVG(size) FROM product"),
        (EACH, "SELECT category_id, AVG(list_price) FROM product GROUP BY category_id HAVING COUNT(*) > 1"),
        (EACH, "SELECT category_id, AVG(list_price) FROM product GROUP BY category_id ORDER BY COUNT(*)"),
        (EACH, "SELECT DISTINCT category_id, AVG(list_price) FROM product GROUP BY category_id"),
        (EACH, "SELECT size, AVG(list_price) FROM product GROUP BY category_id"),
        (PRICE, "SELECT AVG(list_price) FROM product WHERE list_price > (SELECT MIN(list_price) FROM product)"),
        (PRICE, "SELECT 2 * (SELECT AVG(list_price) FROM product)"),
        (PRICE, "SELECT AVG(list_price) FROM product WHERE name <> 'median'"),
        (
            PRICE,
            "SELECT AVG(list_price) FROM (SELECT list_price, ROW_NUMBER() OVER (ORDER BY list_price) AS place,"
            " COUNT(*) OVER () AS n FROM product WHERE list_price IS NOT NULL) AS t"
            " WHERE place IN ((n + 1) / 2, (n + 2) / 2)",
        ),
        (
            PRICE,
            "SELECT AVG(list_price) FROM (SELECT list_price FROM product WHERE list_price > 0"
            " ORDER BY list_price LIMIT 1 OFFSET 3) AS t",
        ),
        (
            PRICE,
            "SELECT AVG(list_price) FROM (SELECT a.list_price FROM product AS a JOIN product AS b"
            " GROUP BY a.id, a.list_price) AS t",
        ),
    ],
)
def test_other_figures_stay(answered: Answered, question: str, sql: str) -> None:
    fixes = answered(SCHEMA, question, sql).candidates[0].fixes
    assert REASON not in [fix.reason for fix in fixes]


def test_a_column_of_medians_is_averaged(answered: Answered) -> None:
    script = (
        "CREATE TABLE town (id INTEGER PRIMARY KEY, median_income REAL); INSERT INTO town VALUES (1, 2), (2, 3), (3, 9)"
    )
    sql = "SELECT AVG(median_income) FROM town"
    assert answered(script, "What is the median income of our towns?", sql).sql == sql


def test_duckdb_has_a_median(tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE product (id INTEGER, list_price DOUBLE)")
        made.execute("INSERT INTO product VALUES (1, 1), (2, 2), (3, 30)")
    with connect(file) as db:
        for sql in ("SELECT AVG(list_price) FROM product", "SELECT 0.5 * (SELECT AVG(list_price) FROM product)"):
            answer = ask(PRICE, db, model=FakeModel([sql]), recipe="fast")
            assert answer.rows == ((2.0,),)
            assert answer.sql == "SELECT MEDIAN(list_price) FROM product"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Median salary per department", True),
        ("the median (average of the two middle values) of the fees", True),
        ("Departments with a median and a mean salary", False),
        ("Who earns more than the median salary?", False),
        ("Who earns more than their department's median?", False),
        ("The 90th percentile and the median of the salary", False),
        ("Average salary", False),
        ("Salaries, compared to the median", False),
        ("What is the typical price? Take the median.", False),
    ],
)
def test_median_in_words(question: str, wanted: bool) -> None:
    assert wants_median(question) is wanted
