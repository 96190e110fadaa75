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
CLINIC = Schema(
    "clinic",
    "sqlite",
    (
        Table(
            "custOrder",
            (
                Column("orderNumber", NUMBER),
                Column("orderDate", TEXT),
                Column("custName", TEXT),
                Column("itemCount", NUMBER),
                Column("candidateVotes", NUMBER),
                Column("booked", "DATETIME"),
            ),
            ("orderNumber",),
        ),
        Table("Zahlungen", (Column("ZahlungNr", NUMBER), Column("Datum", TEXT), Column("Betrag", NUMBER))),
        Table("doctorInfo", (Column("doctorId", NUMBER), Column("doctorName", TEXT)), ("doctorId",)),
        Table("visitLog", (Column("visitId", NUMBER), Column("doctorId", NUMBER), Column("fee", NUMBER)), ("visitId",)),
    ),
)
EMPTY = (Result(), Result())
LAST = "SELECT customer_id FROM orders ORDER BY {} DESC LIMIT 1"
BIGGEST = "SELECT name FROM product ORDER BY {} DESC LIMIT 1"
COUNT = "SELECT COUNT({}) FROM order_line"
LAST_CUSTOMER = "SELECT custName FROM custOrder ORDER BY {} DESC LIMIT 1"
VISITS = "SELECT d.doctorName, COUNT(v.visitId) FROM doctorInfo d {} visitLog v {} GROUP BY d.doctorName"
EACH = ("each", "only those with a row in visitLog", "those without a row in visitLog too")
OPEN = [
    (
        SHOP,
        "Who placed the last order?",
        LAST.format("ordered_on"),
        LAST.format("id"),
        ("last", "by ordered_on, the latest first", "by id, the highest first"),
    ),
    (
        SHOP,
        "Who placed the last order?",
        "SELECT T1.name FROM customer T1 JOIN orders T2 ON T2.customer_id = T1.id ORDER BY T2.ordered_on DESC LIMIT 1",
        'SELECT c."name" FROM orders AS o JOIN customer AS c ON c.id = o.customer_id ORDER BY o.id DESC LIMIT 1',
        ("last", "by orders.ordered_on, the latest first", "by orders.id, the highest first"),
    ),
    (
        SHOP,
        "Which is the biggest product?",
        BIGGEST.format("weight"),
        BIGGEST.format("listPrice"),
        ("biggest", "by weight, the highest first", "by listPrice, the highest first"),
    ),
    (
        SHOP,
        "Which product sold best?",
        "SELECT product_id FROM order_line GROUP BY product_id ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT product_id FROM order_line GROUP BY product_id ORDER BY SUM(quantity) DESC LIMIT 1",
        ("best", "the number of rows of order_line", "the sum of quantity"),
    ),
    (
        SHOP,
        "How many pieces were sold?",
        "SELECT COUNT(*) FROM order_line",
        "SELECT SUM(quantity) FROM order_line",
        ("How many pieces", "the number of rows of order_line", "the sum of quantity"),
    ),
    (
        SHOP,
        "How many products were sold?",
        COUNT.format("product_id"),
        COUNT.format("DISTINCT product_id"),
        ("How many products", "every row of order_line counted", "each product_id counted once"),
    ),
    (
        SHOP,
        "List the towns of all customers.",
        "SELECT DISTINCT town FROM customer",
        "SELECT town FROM customer",
        ("towns", "equal rows once", "one row for every row of customer"),
    ),
    (
        SHOP,
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
        SHOP,
        "How many orders came in since 2024?",
        "SELECT COUNT(*) FROM orders WHERE ordered_on > '2024-01-01'",
        "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2024-01-01'",
        ("since", "ordered_on is after '2024-01-01'", "ordered_on is on or after '2024-01-01'"),
    ),
    (
        SHOP,
        "Which products are from Norway?",
        "SELECT name FROM product WHERE maker = 'Norway'",
        "SELECT name FROM product WHERE origin = 'Norway'",
        ("Norway", "maker is 'Norway'", "origin is 'Norway'"),
    ),
    (
        SHOP,
        "What does Alder make?",
        "SELECT name FROM product WHERE maker = 'Alder & Finch'",
        "SELECT name FROM product WHERE maker = 'Alder and Son'",
        ("Alder", "maker is 'Alder & Finch'", "maker is 'Alder and Son'"),
    ),
    (
        SHOP,
        "What is the average price?",
        "SELECT AVG(listPrice) FROM product",
        "SELECT AVG(sale_price) FROM product",
        ("price", "listPrice", "sale_price"),
    ),
    (
        SHOP,
        "How many orders has each customer?",
        "SELECT c.id, COUNT(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
        "SELECT c.id, COUNT(o.id) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
        ("each", "only those with a row in orders", "those without a row in orders too"),
    ),
    (
        CLINIC,
        "Who placed the last order?",
        LAST_CUSTOMER.format("orderDate"),
        LAST_CUSTOMER.format("orderNumber"),
        ("last", "by orderDate, the latest first", "by orderNumber, the highest first"),
    ),
    (
        CLINIC,
        "Who placed the last order?",
        LAST_CUSTOMER.format("booked"),
        LAST_CUSTOMER.format("orderNumber"),
        ("last", "by booked, the latest first", "by orderNumber, the highest first"),
    ),
    (
        CLINIC,
        "What is the first payment?",
        "SELECT Betrag FROM Zahlungen ORDER BY Datum LIMIT 1",
        "SELECT Betrag FROM Zahlungen ORDER BY ZahlungNr LIMIT 1",
        ("first", "by Datum, the earliest first", "by ZahlungNr, the lowest first"),
    ),
    (
        CLINIC,
        "Who has the biggest order?",
        LAST_CUSTOMER.format("itemCount"),
        LAST_CUSTOMER.format("candidateVotes"),
        ("biggest", "by itemCount, the highest first", "by candidateVotes, the highest first"),
    ),
    (
        CLINIC,
        "Which is the heaviest order?",
        LAST_CUSTOMER.format("itemCount"),
        LAST_CUSTOMER.format("candidateVotes"),
        ("heaviest", "by itemCount, the highest first", "by candidateVotes, the highest first"),
    ),
    (
        CLINIC,
        "How many doctors were visited?",
        "SELECT COUNT(doctorId) FROM visitLog",
        "SELECT COUNT(DISTINCT doctorId) FROM visitLog",
        ("How many doctors", "every row of visitLog counted", "each doctorId counted once"),
    ),
    (
        CLINIC,
        "List the fees.",
        "SELECT DISTINCT fee FROM visitLog",
        "SELECT fee FROM visitLog",
        ("fees", "equal rows once", "one row for every row of visitLog"),
    ),
    (
        CLINIC,
        "How many visits has each doctor?",
        VISITS.format("JOIN", "ON d.doctorId = v.doctorId"),
        VISITS.format("LEFT JOIN", "USING (doctorId)"),
        EACH,
    ),
    (
        CLINIC,
        "How many visits has each doctor?",
        VISITS.format("JOIN", "USING (DOCTORID)"),
        VISITS.format("LEFT JOIN", "USING (doctorId)"),
        EACH,
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


def test_votes_of_candidates_are_no_dates() -> None:
    found = difference(LAST_CUSTOMER.format("candidateVotes"), LAST_CUSTOMER.format("orderNumber"), CLINIC)
    assert found is not None
    assert senses(found, "Who placed the last order?", CLINIC, EMPTY) is None


def test_a_column_that_using_could_take_from_two_tables_is_doubt() -> None:
    three = (
        "SELECT v.fee FROM doctorInfo d JOIN visitLog v ON d.doctorId = v.doctorId {} JOIN doctorInfo USING (doctorId)"
    )
    assert difference(three.format(""), three.format("LEFT"), CLINIC) is None


@pytest.mark.parametrize(("schema", "question", "first", "second", "expected"), OPEN, ids=range(len(OPEN)))
def test_words_that_leave_a_difference_open(
    schema: Schema, question: str, first: str, second: str, expected: tuple[str, str, str]
) -> None:
    found, turned = difference(first, second, schema), difference(second, first, schema)
    assert found is not None
    assert turned is not None
    assert senses(found, question, schema, EMPTY) == expected
    assert senses(turned, question, schema, EMPTY) == (expected[0], expected[2], expected[1])


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
    cheapest = difference(every.replace("MAX", "MIN"), one.replace("DESC", "ASC"), SHOP)
    assert cheapest is not None
    said = ("cheapest", "all that share the lowest weight", "a single one with the lowest weight")
    assert senses(cheapest, "Which product is the cheapest?", SHOP, (both, single)) == said


def test_names_as_in_the_question() -> None:
    assert ambiguity.quoted("Who is in upper sedge?", "Upper Sedge") == "upper sedge"
    assert ambiguity.quoted("Who is in Sedgefield?", "Sedge") == ""
    assert ambiguity.superlative("The most recent order", of_time=True) == "most recent"
    assert ambiguity.superlative("at most 3 orders", of_time=False) == ""
    assert ambiguity.bound("from 2020 until 2023, inclusive", ["2020"]) == ""
    assert ambiguity.bound("sold up to 2023-05-01", ["2023-05-01"]) == "up to"
