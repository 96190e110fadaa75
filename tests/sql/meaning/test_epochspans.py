"""Numbers for times since 1970: those of the month or year that the question names replace what the model computed."""

from __future__ import annotations

import re

import pytest

from answered import Answered

# 2022-12-31 23:59:59, 2023-01-01, 2023-03-05 12:00, 2023-12-31 23:59:59, 2024-01-01, 2024-05-01
TIMES = (1672531199, 1672531200, 1678017600, 1704067199, 1704067200, 1714521600)


def script(factor: int = 1) -> str:
    rows = ", ".join(f"({number}, {second * factor}, 2000)" for number, second in enumerate(TIMES, 1))
    return (
        "CREATE TABLE review (id INTEGER PRIMARY KEY, reviewed_at INTEGER, points INTEGER);"
        f"INSERT INTO review VALUES {rows}"
    )


@pytest.mark.parametrize("factor", [1, 1000])
@pytest.mark.parametrize(
    ("question", "condition", "found"),
    [
        ("Reviews in 2023", "reviewed_at >= 1677728000 AND reviewed_at < 1728000000", {2, 3, 4}),
        ("Reviews of March 2023", "reviewed_at BETWEEN 1600000000 AND 1700000001", {3}),
        ("Reviews during 2023", "1650000001 <= reviewed_at AND 1699999999 > reviewed_at AND points > 10", {2, 3, 4}),
    ],
)
def test_the_named_time_is_meant(
    answered: Answered, question: str, condition: str, found: set[int], factor: int
) -> None:
    condition = re.sub(r"\d{10}", lambda number: str(int(number[0]) * factor), condition)
    answer = answered(script(factor), question, f"SELECT id FROM review WHERE {condition}")
    assert {row[0] for row in answer.rows} == found, answer.sql


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Reviews of the busiest weeks", "reviewed_at >= 1677728000 AND reviewed_at < 1728000000"),
        ("Reviews in 2023 or 2024", "reviewed_at >= 1677728000 AND reviewed_at < 1728000000"),
        ("Reviews in the first six months of 2023", "reviewed_at >= 1672531200 AND reviewed_at < 1688083201"),
        ("Reviews in 2023", "reviewed_at >= 1640995200 AND reviewed_at < 1672531200"),  # midnights: worked out
        ("Reviews of the films of 2023", "reviewed_at >= 1677728000 AND reviewed_at < 1728000000 AND points = 2023"),
        (
            "Reviews in 2023",
            "reviewed_at >= 1677728000 AND reviewed_at < 1728000000"
            " AND id NOT IN (SELECT r.id FROM review AS r WHERE r.reviewed_at BETWEEN 1640000000 AND 1670000001)",
        ),
        ("Reviews until 2023", "reviewed_at < 1700000000"),
        ("Reviews in 2023 with points between 1900 and 2100", "points BETWEEN 1900 AND 2100"),
        ("Reviews in 2023", "reviewed_at >= 1677728000"),
        ("Reviews in 2023", "reviewed_at > 1677728000 OR reviewed_at < 1600000000"),
    ],
)
def test_other_numbers_stay(answered: Answered, question: str, condition: str) -> None:
    assert condition in answered(script(), question, f"SELECT id FROM review WHERE {condition}").sql
