"""The chart that is proposed for a result."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import pytest

from sqljury.types.chart import CATEGORIES, chart

MONTHS = [("2024-01", 3), ("2024-02", 5)]
DAYS = [f"2024-03-{day:02}" for day in range(1, 10)]


def kind(columns: list[str], rows: list[Any]) -> str:
    """The mark and the fields on its axes."""
    made = chart(columns, rows)
    if made is None:
        return ""
    json.dumps(made, allow_nan=False)
    channels = [f"{axis}={one['field']}" for axis, one in made["encoding"].items()]
    return " ".join((made["mark"]["type"], *channels))


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (["month", "orders"], MONTHS, "line x=c0 y=c1"),
        (["orders", "month"], [(3, "2024-01"), (5, "2024-02")], "line x=c1 y=c0"),
        (["year", "orders"], [(2023, 3), (2024, 5)], "line x=c0 y=c1"),
        (["strftime('%Y', t)", "count(*)"], [("2023", 3), ("2024", 5)], "line x=c0 y=c1"),
        (["day", "n"], [(datetime.date(2024, 1, 1), 1), (datetime.date(2024, 1, 2), 2)], "line x=c0 y=c1"),
        (["month", "shop", "n"], [("2024-01", "A", 1), ("2024-01", "B", 2)], "line x=c0 y=c2 color=c1"),
        (["name", "height"], [("Ann", 185), ("Bo", None)], "bar x=c0 y=c1"),
        (["id", "name", "height"], [(1, "Ann", 185), (2, "Bo", 170)], "bar x=c1 y=c2"),
        (["name", "total"], [("Ann", Decimal("1.50")), ("Bo", Decimal(2))], "bar x=c0 y=c1"),
        (["height", "weight"], [(185, 80.5), (170, 70)], "point x=c0 y=c1"),
        (["count(*)"], [(12,)], "text text=c0"),
    ],
)
def test_the_types_propose_the_chart(columns: list[str], rows: list[Any], expected: str) -> None:
    assert kind(columns, rows) == expected


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["n"], []),
        (["name"], [("Ann",), ("Bo",)]),
        (["name"], [("Ann",)]),
        (["name", "n"], [("Ann", 1)]),
        (["name", "n"], [("Ann", 1), ("Ann", 2)]),
        (["name", "n"], [(f"name {n}", n) for n in range(CATEGORIES + 1)]),
        (["month", "n"], [("2024-01", 1), ("2024-01", 2)]),
        (["month", "shop", "n"], [("2024-01", f"shop {n}", n) for n in range(9)]),
        (["name", "n"], [("Ann", None), ("Bo", None)]),
        (["name", "n"], [("Ann", 2**60), ("Bo", 1)]),
        (["name", "n"], [("Ann", float("nan")), ("Bo", Decimal("NaN"))]),
        (["name", "n"], [("Ann", 10**400), ("Bo", 1)]),
        (["picture", "n"], [(b"\0", 1), (b"\1", 2)]),
        (["id", "customer_id"], [(1, 2), (2, 3)]),
    ],
)
def test_nothing_is_drawn_that_would_not_help(columns: list[str], rows: list[Any]) -> None:
    assert kind(columns, rows) == ""


def test_bars_have_the_highest_first_but_months_their_order() -> None:
    made = chart(["name", "n"], [("Ann", 1), ("Bo", 2)])
    assert made is not None
    assert made["encoding"]["x"]["sort"] == "-y"
    made = chart(["month", "n"], [("01", 1), ("02", 2)])
    assert made is not None
    assert made["encoding"]["x"]["sort"] == "ascending"


@pytest.mark.parametrize(
    ("time", "form"),
    [
        ("2024", "%Y"),
        ("2024-05-01", "%Y-%m-%d"),
        ("2024-05-01 10:00:00", "%Y-%m-%d %H:%M:%S"),
        ("2024-05-01T10:00:00", "%Y-%m-%dT%H:%M:%S"),
        ("2024-05-01 10:00:00+02:00", "%Y-%m-%d %H:%M:%S%Z"),
    ],
)
def test_times_are_read_in_utc_so_that_no_day_moves(time: str, form: str) -> None:
    made = chart(["at", "n"], [(time, 1), (time.replace("2024", "2023"), 2)])
    assert made is not None
    assert made["data"]["format"]["parse"] == {"c0": f"utc:'{form}'"}
    assert made["encoding"]["x"]["scale"] == {"type": "utc"}


def test_numbers_that_only_look_like_years_are_not_times() -> None:
    assert kind(["price", "n"], [(2023, 3), (2024, 5)]) == "point x=c0 y=c1"
    assert kind(["code", "n"], [("2901", 3), ("2902", 5)]) == "bar x=c0 y=c1"


def test_every_column_that_can_be_drawn_is_listed() -> None:
    made = chart(["day", "a.b[0]", "n", "blob"], [(day, "x", 1, b"") for day in DAYS])
    assert made is not None
    listed = [(one["field"], one["title"], one["type"]) for one in made["usermeta"]["columns"]]
    assert listed == [("c0", "day", "temporal"), ("c1", "a.b[0]", "nominal"), ("c2", "n", "quantitative")]
    assert made["data"]["values"][0] == {"c0": DAYS[0], "c1": "x", "c2": 1, "c3": "0x"}
