"""Differences of two queries that a word of the question leaves open, and those that are doubt."""

from __future__ import annotations

import pytest

from sqljury.language import ambiguity
from sqljury.sql.ambiguity import senses
from sqljury.sql.differences import difference
from sqljury.types import Column, Result, Schema, Table

NUMBER, TEXT = "INTEGER", "TEXT"
SHOP = Schema(
    "shop",
    "sqlite",
    (
        Table(
            "orders",
            (
                Column("id", NUMBER),
                Column("customer_id", NUMBER),
                Column("ordered_on", TEXT),
                Column("delivery", NUMBER),
            ),
            ("id",),
        ),
        Table(
            "order_line",
            (Column("order_id", NUMBER), Column("product_id", NUMBER), Column("quantity", NUMBER)),
        ),
        Table(
            "product",
            (
                Column("id", NUMBER),
                Column("name", TEXT),
                Column("listPrice", NUMBER),
                Column("sale_price", NUMBER),
                Column("weight", NUMBER),
                Column("maker", TEXT),
                Column("origin", TEXT),
            ),
            ("id",),
        ),
        Table("customer", (Column("id", NUMBER), Column("name", TEXT), Column("town", TEXT)), ("id",)),
    ),
)
LAST = "SELECT customer_id FROM orders ORDER BY {} DESC LIMIT 1"
BIGGEST = "SELECT name FROM product ORDER BY {} DESC LIMIT 1"
COUNT = "SELECT COUNT({}) FROM order_line"
OPEN = [
    (
        "Who placed the last order?",
        LAST.format("ordered_on"),
        LAST.format("id"),
        ("last", "by ordered_on, the latest first", "by id, the highest first"),
    ),
    (
        "Who placed the last order?",
        "SELECT T1.name FROM customer T1 JOIN orders T2 ON T2.customer_id = T1.id ORDER BY T2.ordered_on DESC LIMIT 1",
        'SELECT c."name" FROM orders AS o JOIN customer AS c ON c.id = o.customer_id ORDER BY o.id DESC LIMIT 1',
        ("last", "by orders.ordered_on, the latest first", "by orders.id, the highest first"),
    ),
    (
        "Which is the biggest product?",
        BIGGEST.format("weight"),
        BIGGEST.format("listPrice"),
        ("biggest", "by weight, the highest first", "by listPrice, the highest first"),
    ),
    (
        "Which product sold best?",
        "SELECT product_id FROM order_line GROUP BY product_id ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT product_id FROM order_line GROUP BY product_id ORDER BY SUM(quantity) DESC LIMIT 1",
        ("best", "the number of rows of order_line", "the sum of quantity"),
    ),
    (
        "How many pieces were sold?",
        "SELECT COUNT(*) FROM order_line",
        "SELECT SUM(quantity) FROM order_line",
        ("How many pieces", "the number of rows of order_line", "the sum of quantity"),
    ),
    (
        "How many products were sold?",
        COUNT.format("product_id"),
        COUNT.format("DISTINCT product_id"),
        ("How many products", "every row of order_line counted", "each product_id counted once"),
    ),
    (
        "List the towns of all customers.",
        "SELECT DISTINCT town FROM customer",
        "SELECT town FROM customer",
        ("towns", "equal rows once", "one row for every row of customer"),
    ),
    (
        "How many products cost between 10 and 20?",
        "SELECT COUNT(*) FROM product WHERE sale_price BETWEEN 10 AND 20",
        "SELECT COUNT(*) FROM product WHERE sale_price > 10 AND 20 > sale_price",
        (
            "between",
            "sale_price is at least 10 and sale_price is at most 20",
            "sale_price is more than 10 and sale_price is less than 20",
        ),
    ),
    (
        "How many orders came in since 2024?",
        "SELECT COUNT(*) FROM orders WHERE ordered_on > '2024-01-01'",
        "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2024-01-01'",
        ("since", "ordered_on is after '2024-01-01'", "ordered_on is on or after '2024-01-01'"),
    ),
    (
        "Which products are from Norway?",
        "SELECT name FROM product WHERE maker = 'Norway'",
        "SELECT name FROM product WHERE origin = 'Norway'",
        ("Norway", "maker is 'Norway'", "origin is 'Norway'"),
    ),
    (
        "What does Alder make?",
        "SELECT name FROM product WHERE maker = 'Alder & Finch'",
        "SELECT name FROM product WHERE maker = 'Alder and Son'",
        ("Alder", "maker is 'Alder & Finch'", "maker is 'Alder and Son'"),
    ),
    (
        "What is the average price?",
        "SELECT AVG(listPrice) FROM product",
        "SELECT AVG(sale_price) FROM product",
        ("price", "listPrice", "sale_price"),
    ),
    (
        "How many orders has each customer?",
        "SELECT c.id, COUNT(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
        "SELECT c.id, COUNT(o.id) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
        ("each", "only those with a row in orders", "those without a row in orders too"),
    ),
]
DOUBT = [
    ("What is the last name?", LAST.format("ordered_on"), LAST.format("id")),  # a name, not a rank
    ("Who ordered in the last 30 days?", LAST.format("ordered_on"), LAST.format("id")),
    ("Who placed the order?", LAST.format("ordered_on"), LAST.format("id")),
    ("Which product has the highest sale price?", BIGGEST.format("sale_price"), BIGGEST.format("weight")),  # named
    ("Which is the biggest product?", BIGGEST.format("weight"), BIGGEST.format("id")),  # an id has no size
    ("Which is the biggest product?", BIGGEST.format("weight"), BIGGEST.format("weight").replace("DESC", "ASC")),
    ("Which is the biggest and the cheapest, best product?", BIGGEST.format("weight"), BIGGEST.format("listPrice")),
    ("How many orders are there?", "SELECT COUNT(*) FROM orders", "SELECT SUM(delivery) FROM orders"),
    ("How many pieces is the quantity?", "SELECT COUNT(*) FROM order_line", "SELECT SUM(quantity) FROM order_line"),
    ("How many different products were sold?", COUNT.format("product_id"), COUNT.format("DISTINCT product_id")),
    ("How many orders were placed?", "SELECT COUNT(*) FROM orders", "SELECT COUNT(DISTINCT customer_id) FROM orders"),
    ("List the different towns.", "SELECT DISTINCT town FROM customer", "SELECT town FROM customer"),
    (
        "How many products cost more than 10?",
        "SELECT COUNT(*) FROM product WHERE sale_price > 10",
        "SELECT COUNT(*) FROM product WHERE sale_price >= 10",
    ),
    (
        "Which products are of maker Norway?",
        "SELECT name FROM product WHERE maker = 'Norway'",
        "SELECT name FROM product WHERE origin = 'Norway'",
    ),
    (
        "What does Alder & Finch make?",
        "SELECT name FROM product WHERE maker = 'Alder & Finch'",
        "SELECT name FROM product WHERE maker = 'Alder and Son'",
    ),
    ("What is the sale price?", "SELECT listPrice FROM product", "SELECT sale_price FROM product"),
    ("Which is the last order?", LAST.format("ordered_on"), LAST.format("id") + " OFFSET 1"),
    ("Which is the last order?", LAST.format("ordered_on"), "SELECT 1 UNION SELECT 2"),
    ("Which is the last order?", LAST.format("ordered_on"), "no query"),
    ("Which are the towns?", "SELECT DISTINCT town FROM customer WHERE id > 1", "SELECT town FROM customer"),
]
EMPTY = (Result(), Result())


@pytest.mark.parametrize(("question", "first", "second", "expected"), OPEN, ids=range(len(OPEN)))
def test_words_that_leave_a_difference_open(
    question: str, first: str, second: str, expected: tuple[str, str, str]
) -> None:
    found, turned = difference(first, second, SHOP), difference(second, first, SHOP)
    assert found is not None
    assert turned is not None
    assert senses(found, question, SHOP, EMPTY) == expected
    assert senses(turned, question, SHOP, EMPTY) == (expected[0], expected[2], expected[1])


@pytest.mark.parametrize(("question", "first", "second"), DOUBT, ids=range(len(DOUBT)))
def test_what_no_word_explains_is_doubt(question: str, first: str, second: str) -> None:
    found = difference(first, second, SHOP)
    assert found is None or senses(found, question, SHOP, EMPTY) is None


def test_a_tie_needs_rows_that_share_the_first_place() -> None:
    one, every = BIGGEST.format("weight"), "SELECT name FROM product WHERE weight = (SELECT MAX(weight) FROM product)"
    found = difference(every, one, SHOP)
    assert found is not None
    question = "Which product has the highest weight?"
    both = Result(("name",), (("Anvil",), ("Bell",)))
    single = Result(("name",), (("Bell",),))
    said = ("highest", "all that share the highest weight", "a single one with the highest weight")
    assert senses(found, question, SHOP, (both, single)) == said
    assert senses(found, question, SHOP, (single, single)) is None
    lowest = difference(every.replace("MAX", "MIN"), one, SHOP)
    assert lowest is None


def test_names_as_in_the_question() -> None:
    assert ambiguity.quoted("Who is in upper sedge?", "Upper Sedge") == "upper sedge"
    assert ambiguity.quoted("Who is in Sedgefield?", "Sedge") == ""
    assert ambiguity.superlative("The most recent order", of_time=True) == "most recent"
    assert ambiguity.superlative("at most 3 orders", of_time=False) == ""
    assert ambiguity.bound("from 2020 until 2023, inclusive", ["2020"]) == ""
    assert ambiguity.bound("sold up to 2023-05-01", ["2023-05-01"]) == "up to"
