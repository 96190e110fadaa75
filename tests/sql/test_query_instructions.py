"""What queries leave undone of instructions, and what is repaired without a model."""

from __future__ import annotations

import pytest

from sqljury.language.instructions import concerning, demands, instructions
from sqljury.sql.instructions import repaired, unmet
from sqljury.types import Column, Result, Row, Schema, Table


def schema(dialect: str = "sqlite") -> Schema:
    columns = ("id", "name", "city", "price", "distance", "status", "left_on")
    return Schema("s", dialect, (Table("flight", tuple(map(Column, columns))),))


def undone(line: str, question: str, sql: str, rows: tuple[tuple[object, ...], ...] = (), dialect: str = "sqlite"):  # type: ignore[no-untyped-def]
    near = concerning(instructions(line), question)
    result = Result(tuple(f"c{number}" for number in range(len(rows[0]) if rows else 1)), tuple(map(Row, rows)))
    return unmet(sql, result, near, demands(near), schema(dialect), question)


@pytest.mark.parametrize(
    ("line", "question", "wrong", "right"),
    [
        (
            "A senior is older than 60",
            "How many seniors?",
            "SELECT 1 FROM flight",
            "SELECT 1 FROM flight WHERE id > 60",
        ),
        ("A senior is older than 60", "How many seniors?", "SELECT 10", "SELECT 1 FROM flight WHERE id >= 61"),
        (
            "PPM = price / distance",
            "What is the PPM?",
            "SELECT price FROM flight",
            "SELECT price * 1.0 / distance FROM flight",
        ),
        ("LAX = Los Angeles", "Flights to LAX", "SELECT 1 FROM flight WHERE city = 'LAX'", "SELECT city FROM flight"),
        (
            "Cancelled flights do not count: leave out status 'X'",
            "How many flights?",
            "SELECT count(*) FROM flight",
            "SELECT count(*) FROM flight WHERE status <> 'x'",
        ),
        (
            "Compare names in any case",
            "Who is Bo?",
            "SELECT 1 FROM flight WHERE name = 'Bo'",
            "SELECT 1 FROM flight WHERE LOWER(name) = 'bo' AND city = 'Rome'",
        ),
    ],
)
def test_lines_that_are_not_followed(line: str, question: str, wrong: str, right: str) -> None:
    assert len(undone(line, question, wrong)) == 1
    assert undone(line, question, right) == []


@pytest.mark.parametrize("key", ["a", "A", "2"])
def test_figures_are_rounded_and_ordered_as_they_are(key: str) -> None:
    wanted = demands(instructions("Round figures to 2 decimals"))
    result = Result(("name", "a"), (Row(("x", 3.444)),))
    sql = "SELECT name, AVG(price) AS a FROM flight GROUP BY name ORDER BY {} DESC LIMIT 1"
    expected = sql.replace("AVG(price)", "ROUND(AVG(price), 2)").format("AVG(price)")
    assert repaired(sql.format(key), result, wanted, "sqlite", "Which is dearest?") == expected


def test_what_cannot_be_told_is_taken_for_followed() -> None:
    assert undone("A senior is older than 60", "How many people?", "SELECT 1") == []
    assert undone("A senior is older than 60", "How many seniors?", "SELECT FROM WHERE (") == []
    assert undone("Flights are numbered from 10", "How many flights?", "SELECT 1 FROM flight") == []
    assert undone("Only registered nurses count", "How many nurses?", "SELECT 1") == []


def test_case_matters_by_dialect() -> None:
    sql, line = "SELECT 1 FROM flight WHERE name LIKE 'B%'", "filter names with ILIKE"
    assert undone(line, "who?", sql) == []
    assert undone(line, "who?", sql, dialect="postgres") == ["the query compares name by case"]
    assert undone(line, "who?", sql.replace("LIKE", "ILIKE"), dialect="postgres") == []
    assert undone(line, "who?", "SELECT 1 FROM flight WHERE name = 'B'", dialect="mysql") == []


@pytest.mark.parametrize(
    ("line", "sql", "rows", "after"),
    [
        (
            "Round averages to 1 decimal",
            "SELECT city, AVG(price) AS p FROM flight GROUP BY city",
            (("a", 1.25),),
            "SELECT city, ROUND(AVG(price), 1) AS p FROM flight GROUP BY city",
        ),
        ("Round averages to 1 decimal", "SELECT AVG(price) FROM flight", ((1.5,),), None),
        ("Round averages to 1 decimal", "SELECT price FROM flight", ((1.55,),), None),
        ("Round to 2 decimals", "SELECT ROUND(id, 5) FROM flight", ((0.12345,),), "SELECT ROUND(id, 2) FROM flight"),
        ("Always show at most 2 rows", "SELECT id FROM flight", ((1,), (2,), (3,)), "SELECT id FROM flight LIMIT 2"),
        ("Always show at most 2 rows", "SELECT id FROM flight LIMIT 3", ((1,), (2,), (3,)), None),
        ("Never show duplicates", "SELECT city FROM flight", (("a",), ("a",)), "SELECT DISTINCT city FROM flight"),
    ],
)  # fmt: skip
def test_mended(line: str, sql: str, rows: tuple[tuple[object, ...], ...], after: str | None) -> None:
    result = Result(tuple(f"c{number}" for number in range(len(rows[0]))), tuple(map(Row, rows)))
    assert repaired(sql, result, demands(instructions(line)), "sqlite", "which flights?") == after
    if after and "LIMIT" in after:
        assert repaired(sql, result, demands(instructions(line)), "sqlite", "all flights") is None
