"""The best row of each group that a question asks for by a number of the row, on the products of a shop."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.superlatives import wanted_row

SCHEMA = """
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, region TEXT);
CREATE TABLE product (id INTEGER PRIMARY KEY, product_name TEXT, category_id INTEGER REFERENCES category, brand TEXT,
    list_price REAL);
CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product, shop TEXT);
CREATE TABLE student (no INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, class TEXT, age INTEGER, born TEXT);
CREATE TABLE room (hotel TEXT, number INTEGER, price REAL, PRIMARY KEY (hotel, number));
INSERT INTO category VALUES (1, 'bikes', 'n'), (2, 'helmets', 's'), (3, 'bells', 's');
INSERT INTO product VALUES (1, 'a', 1, 'x', 100), (2, 'b', 1, 'y', 900), (3, 'c', 1, 'x', 900), (4, 'd', 2, 'x', 10),
    (5, 'e', 2, 'y', 30), (6, 'f', 2, 'y', NULL), (7, 'g', 3, 'x', 5);
INSERT INTO sale VALUES (1, 1, 'A'), (2, 1, 'A'), (3, 5, 'A'), (4, 4, 'B');
INSERT INTO student VALUES (1, 'Ann', 'Abt', '1a', 12, '2010-01-01'), (2, 'Bob', 'Bo', '1a', 13, '2009-01-01'),
    (3, 'Cy', 'Co', '1b', 11, '2011-01-01');
INSERT INTO room VALUES ('Ritz', 1, 100), ('Ritz', 2, 200);
"""
REASON = "the question asks for the best row of each, and the query shows no row"
JOINED = "FROM product AS T1 JOIN category AS T2 ON T1.category_id = T2.id"
MOST = f"SELECT T2.name, MAX(T1.list_price) {JOINED} GROUP BY T2.id, T2.name"
LEAST = MOST.replace("MAX", "MIN")
DEAREST = "What is the most expensive product in each category?"
STUDENT = "SELECT class, MAX(age) FROM student GROUP BY class"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (
            DEAREST,
            f"{MOST} ORDER BY T2.name",
            [("bells", "g", 5.0), ("bikes", "b", 900.0), ("bikes", "c", 900.0), ("helmets", "e", 30.0)],
        ),
        (
            "List the name and price of the most expensive product for each category",
            f"{MOST.replace('(T1.list_price)', '(T1.list_price) AS m')} ORDER BY m, 1",
            [("bells", "g", 5.0), ("helmets", "e", 30.0), ("bikes", "b", 900.0), ("bikes", "c", 900.0)],
        ),
        (
            "For each category, which is the cheapest product?",
            f"{LEAST} ORDER BY MIN(T1.list_price)",
            [("bells", "g", 5.0), ("helmets", "d", 10.0), ("bikes", "a", 100.0)],
        ),
        (
            "For each category, the cheapest product: category, name, price in thousands",
            f"{LEAST.replace('(T1.list_price)', '(T1.list_price) / 1000.0')} ORDER BY T2.name DESC",
            [("helmets", "d", 0.01), ("bikes", "a", 0.1), ("bells", "g", 0.005)],
        ),
        (
            "Who is the oldest student of every class?",
            f"{STUDENT} ORDER BY 1",
            [("1a", "Bob", "Bo", 13), ("1b", "Cy", "Co", 11)],
        ),
        (
            "Who is the oldest student in each class?",
            "SELECT MIN(born) AS born, class FROM student GROUP BY class ORDER BY class",
            [("Bob", "Bo", "2009-01-01", "1a"), ("Cy", "Co", "2011-01-01", "1b")],
        ),
        (
            "What is the most expensive product sold in each shop?",
            "SELECT s.shop, MAX(p.list_price) FROM sale AS s JOIN product AS p ON p.id = s.product_id GROUP BY s.shop",
            None,
        ),
        (
            "What is the most expensive product of each shop?",
            "SELECT s.shop, MAX(p.list_price) FROM sale AS s JOIN product AS p ON p.id = s.product_id GROUP BY s.shop"
            " ORDER BY s.shop",
            [("A", "a", 100.0), ("B", "d", 10.0)],
        ),
    ],
)
def test_the_best_row_is_shown(
    answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]] | None
) -> None:
    found = answered(SCHEMA, question, sql)
    fixes = [fix.reason for fix in found.candidates[0].fixes]
    assert (REASON in fixes) == (rows is not None)
    assert rows is None or list(found.rows) == rows


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the highest list price in each category?", MOST),
        ("What is the maximum product price in each category?", MOST),
        ("What is the price of the most expensive product in each category?", MOST),
        ("How much is the most expensive product in each category?", MOST),
        ("What does the most expensive product in each category cost?", MOST),
        ("What is the most expensive product price in each category?", MOST),
        ("For each category, show the most expensive product's price", MOST),
        ("For each category, what is the most expensive product worth?", MOST),
        ("What is the most expensive product?", MOST),
        ("What is the cheapest product in each category?", MOST.replace("T2.name, MAX", "T2.name, COUNT(*), MAX")),
        ("What are the three most expensive products in each category?", MOST),
        ("What is the most expensive product in each brand?", MOST),
        ("What is the most expensive category in each region?", MOST),
        ("What is the most expensive and the cheapest product in each category?", MOST),
        (DEAREST, LEAST),
        (DEAREST, MOST.replace("T2.name, MAX", "T2.name, T1.product_name, MAX")),
        (DEAREST, f"{MOST}, T1.id"),
        (DEAREST, f"SELECT T1.category_id, MAX(T1.list_price) {JOINED} GROUP BY T1.category_id, T1.brand"),
        (DEAREST, f"SELECT T2.name, MAX(T1.id + 1) {JOINED} GROUP BY T2.name"),
        (DEAREST, f"SELECT T2.name, SUM(T1.list_price) {JOINED} GROUP BY T2.name"),
        (DEAREST, f"{MOST} HAVING COUNT(*) > 1"),
        (DEAREST, f"{MOST} LIMIT 2"),
        (DEAREST, f"{MOST} ORDER BY COUNT(*)"),
        (DEAREST, f"SELECT MAX(T1.list_price) {JOINED} GROUP BY T2.name"),
        ("What is the most expensive room in each hotel?", "SELECT hotel, MAX(price) FROM room GROUP BY hotel"),
        ("How old is the oldest student in each class?", STUDENT),
        ("What is the age of the oldest student in each class?", STUDENT),
        ("What is the highest age of students in each class?", STUDENT),
    ],
)
def test_other_questions_stay(answered: Answered, question: str, sql: str) -> None:
    assert REASON not in [fix.reason for fix in answered(SCHEMA, question, sql).candidates[0].fixes]


@pytest.mark.parametrize(
    ("question", "each", "descending", "thing"),
    [
        ("Show the highest-paid employee of every department.", ("department",), True, ("employee",)),
        ("For each country, what is the largest city?", ("country",), True, ("city",)),
        ("Name of the cheapest room per hotel", ("hotel",), False, ("room",)),
        ("Which is the largest sales region in each country by population?", ("country",), True, ("sale", "region")),
        ("Who is the youngest player on each team?", ("team",), None, ("player",)),
    ],
)
def test_best_row_in_words(
    question: str, each: tuple[str, ...], descending: bool | None, thing: tuple[str, ...]
) -> None:
    found = wanted_row(question)
    assert found is not None
    assert (found.each[0], found.descending) == (each, descending)
    assert found.is_of(thing)
    assert not found.is_of(("other",))
    assert not found.is_of(thing[:-1])
