"""Rows below a named one, on the categories of a shop."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER REFERENCES category(id));
INSERT INTO category VALUES (1, 'Food', NULL), (2, 'Bread', 1), (3, 'Fruit', 1), (4, 'Toys', NULL), (5, 'Apples', 3);
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, category_id INTEGER REFERENCES category(id));
INSERT INTO product VALUES (1, 'Roll', 2), (2, 'Pear', 3), (3, 'Ball', 4), (4, 'Plum', 3);
"""
COUNTED = (
    "SELECT c.name, COUNT(*) FROM product AS p JOIN category AS c ON c.id = p.category_id WHERE c.name = '{}' "
    "GROUP BY c.id, c.name"
)


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("Which categories are under Food?", "SELECT name FROM category WHERE name = 'Food'", [("Bread",), ("Fruit",)]),
        (
            "Which categories sit below Food?",
            "SELECT name FROM category WHERE id IN (SELECT parent_id FROM category WHERE name = 'Food')",
            [("Bread",), ("Fruit",)],
        ),
        ("Subcategories of Fruit", "SELECT name FROM category WHERE name = 'Fruit'", [("Apples",)]),
        (
            'For each category under "Food": its name and the number of products',
            COUNTED.format("Food"),
            [("Bread", 1), ("Fruit", 2)],
        ),
    ],
)
def test_rows_below_the_named_one_are_found(
    answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert sorted(map(tuple, answered(SCHEMA, question, sql).rows)) == rows


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # It has products itself.
        ("How many products are under Fruit?", COUNTED.format("Fruit")),
        # They are below it already.
        (
            "Which categories are under Food?",
            "SELECT name FROM category WHERE parent_id = (SELECT id FROM category WHERE name = 'Food')",
        ),
        (
            "Which categories are under Food?",
            "SELECT c.name FROM category AS c JOIN category AS p ON p.id = c.parent_id WHERE p.name = 'Food'",
        ),
        # The one above is asked for.
        (
            "Above which category does Bread stand?",
            "SELECT name FROM category WHERE id IN (SELECT parent_id FROM category WHERE name = 'Bread')",
        ),
        # A subquery for the row of the name.
        (
            "Which products are directly under Fruit?",
            "SELECT name FROM product WHERE category_id = (SELECT id FROM category WHERE name = 'Fruit')",
        ),
        ("Which id do we keep under Food?", "SELECT id FROM category WHERE name = 'Food'"),
        ("Show the category Food", "SELECT name FROM category WHERE name = 'Food'"),
    ],
)
def test_other_rows_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the subtitle of Dune?", "SELECT subtitle FROM book WHERE title = 'Dune'"),
        ("How many subscribers of Dune are there?", "SELECT COUNT(*) FROM book WHERE title = 'Dune' AND id > 5"),
        ("Which books are below Dune?", "SELECT title FROM book WHERE title = 'Dune'"),  # its key leads elsewhere
    ],
)
def test_a_key_that_leads_to_no_superior(answered: Answered, question: str, sql: str) -> None:
    script = """
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, subtitle TEXT, sequel_of INTEGER REFERENCES book(id));
    INSERT INTO book VALUES (1, 'Dune', 'Sand', NULL), (2, 'Dune Messiah', 'More sand', 1);
    """
    assert answered(script, question, sql).sql == sql
