from __future__ import annotations

import pytest

from sqljury.errors import QuestionError
from sqljury.language.orders import check_question
from sqljury.types import Question


@pytest.mark.parametrize(
    "text",
    [
        "Delete all customers from Rome",
        "delete customers without orders",
        "please drop the table orders",
        "Can you remove the cancelled orders?",
        "Could you please delete all orders?",
        "I'd like to delete all orders",
        "SQL: DELETE FROM orders",
        "Update the price of every product by 10%",
        "Set the price of product 3 to 5",
        "Change Bob's email to bob@example.org",
        "Increase all prices by 10 %",
        "insert a new customer called Bob",
        "Create a table of results",
        "add a new row for Ann",
        "TRUNCATE orders",
        "rename the column name to title",
        "Grant all rights to Ann",
    ],
)
def test_orders_are_refused(text: str) -> None:
    with pytest.raises(QuestionError, match="only reads"):
        check_question(Question(text))


@pytest.mark.parametrize(
    "text",
    [
        "Which orders were deleted last week?",
        "How many updates did each user make?",
        "Create a list of all customers",
        "Add up the prices of all orders",
        "Show the customers who were removed",
        "What is the drop in sales since May?",
        "Drop in revenue in 2020?",
        "Drop-off points per city?",
        "Grant amounts by department?",
        "Update history of order 5?",
        "Update me on the open orders",
        "Remove duplicates and list all cities",
        "Insert dates of all rows?",
        "Set of colours per product?",
        "Increase in sales by month?",
    ],
)
def test_questions_about_changes_are_questions(text: str) -> None:
    check_question(Question(text))


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_is_no_question(text: str) -> None:
    with pytest.raises(QuestionError, match="empty"):
        check_question(Question(text))


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(QuestionError, match="UTF-8"):
        check_question(Question("How many \udcff?"))
