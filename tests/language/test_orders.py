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
        "Delete requests older than a year",
        "Truncate the orders table to 0 rows",
        "Truncate orders to 0 rows",
        "Add a column with the number of sales",
    ],
)
def test_orders_are_refused(text: str) -> None:
    with pytest.raises(QuestionError, match="only reads"):
        check_question(Question(text))


@pytest.mark.parametrize(
    "text",
    [
        "Add a column with the number of sales.",
        "Add a row with the totals",
        "Now remove the region N.",
        "Can you remove the cancelled orders?",
        "Remove all regions without sales",
        "Remove all filters",
        "Drop the last column.",
        "Delete the last column",
        "Set the limit to 10",
        "Set the year to 2023",
        "Change the order to descending as well",
        "Change that to 2023",
        "Rename the column name to title",
        "Update the list to show only 2023",
        "Increase the number of rows by 10",
    ],
)
def test_a_follow_up_may_change_the_query_before_it(text: str) -> None:
    check_question(Question(text), follows=True)
    with pytest.raises(QuestionError, match="only reads"):
        check_question(Question(text))


@pytest.mark.parametrize(
    "text",
    [
        "delete all of them",
        "Now delete the customers from Rome",
        "Drop the table customers",
        "Now drop the customers table",
        "Drop all customers",
        "Remove every order.",
        "Drop the column price from the table products",
        "Update the price of product 5 to 7",
        "Set the price of product 5 to 10",
        "Set all prices to 0",
        "Change Bob's email to bob@example.org",
        "Raise the price by 5",
        "Add a column phone to the table customers",
        "Add a row for Ann",
        "Insert a new customer called Bob",
        "Truncate orders",
    ],
)
def test_an_order_is_refused_as_a_follow_up_too(text: str) -> None:
    with pytest.raises(QuestionError, match="only reads"):
        check_question(Question(text), follows=True)


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
        "Delete requests per month",
        "Delete requests by month?",
        "Truncate the decimals and show the average price",
        "Truncate the average price to two decimals",
        "Truncate the order dates to the month and count them",
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
