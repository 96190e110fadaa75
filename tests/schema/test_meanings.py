"""What values of columns mean, as values for code and as words for prompts."""

from __future__ import annotations

from typing import Any

import pytest

from sqljury.schema.meanings import Meaning, meanings, odd
from sqljury.types import Column, ForeignKey, Result, Table


def found(name: str, kind: str, values: list[Any]) -> Meaning | None:
    table = Table("t", (Column(name, kind),))
    return meanings(table, Result((name,), tuple((value,) for value in values))).get(name)


def spread(first: float, step: float) -> list[float]:
    return [first + step * number for number in range(6)]


TEXTS: list[tuple[list[str], Meaning | None]] = [
    (["20240131 10:00:00", "20231201 23:59:59", "20220228 00:00:00", "19990101 01:02:03", "20001010 12:00:00"],
     Meaning("date", "text", ("YYYYMMDD",), " HH:MI:SS", "all")),
    (["20240131100000", "20231201235959", "20220228000000", "19990101010203", "20001010120000"],
     Meaning("date", "text", ("YYYYMMDD",), "HHMISS", "all")),
    (["31/01/2024", "1/2/2023", "28/02/2022", "01/01/1999", "10/10/2000"], Meaning("date", "text", ("DD/MM/YYYY",))),
    (["01/02/2024 1:05 PM", "1/2/2023 11:00 AM", "02/02/2022 9:00 AM", "01/01/1999 9:00 AM", "10/10/2000 9:00 AM"],
     Meaning("date", "text", ("DD/MM/YYYY", "MM/DD/YYYY"), " HH:MI AM", "all")),
    (["January 1, 1992", "March 30, 1976", "May 5, 1987", "June 6, 1987", "July 7, 1987"],
     Meaning("date", "text", ("Month DD, YYYY",))),
    (["23-OCT-10", "1-SEP-10", "30-SEP-10", "02-MAY-10", "03-FEB-10"], Meaning("date", "text", ("DD-Mon-YY",))),
    (["5 Jan 2024", "12 Sep 2023", "1 May 2023", "7 Dec 2020", "8 Dec 2020"],
     Meaning("date", "text", ("DD Mon YYYY",))),
    (["May 2024", "June 2023", "July 2023", "August 2020", "May 2020"],
     Meaning("month", "text", ("Month YYYY",))),
    (["1 Mai 2024", "12 Sep 2023", "1 May 2023", "7 Dec 2020", "8 Dec 2020"], None),
    (["Y", "N", "Y", "Y", "N"], Meaning("boolean", "text", values=("Y", "N"))),
    (["f", "t", "t", "t", "f"], Meaning("boolean", "text", values=("t", "f"))),
    (["no", "Yes", "No", "yes", "no"], None),  # in several spellings nothing short is true
    (["0", "1", "1", "0", "0"], Meaning("boolean", "text", values=("1", "0"))),
    (["Y", "N", "Y", "?", "N"], None),
    (["9", "10", "11", "12", "13"], Meaning("number", "text", sorts=False)),
    (["1,200", "3", "12,345,678.5", "9", "8"], Meaning("number", "text", grouped=True, sorts=False)),
    (["$1,200.50", "$3", "$12", "$9", "$8"], Meaning("amount", "text", mark="$", grouped=True, sorts=False)),
    (["39%", "47%", "30%", "32%", "50%"], Meaning("amount", "text", mark="%")),
    (["3.78 MB", "4.12 MB", "3.69 MB", "10.5 MB", "1 MB"], Meaning("amount", "text", mark=" MB", sorts=False)),
    (["EUR 3", "EUR 4", "EUR 5", "EUR 6", "EUR 7"], Meaning("amount", "text", mark="EUR")),
    (["3 kg", "4 MB", "5 kg", "6 kg", "7 kg"], None),
    (["A4", "A5", "A6", "A7", "A8"], None),
    (["600a", "007a", "5a", "6a", "7a"], None),
]  # fmt: skip


@pytest.mark.parametrize(("values", "meaning"), TEXTS, ids=[values[0] for values, _ in TEXTS])
def test_texts(values: list[str], meaning: Meaning | None) -> None:
    assert found("x", "TEXT", [*values, None]) == meaning
    assert found("x", "character varying(40)", values) == meaning


@pytest.mark.parametrize(
    ("name", "kind", "values", "meaning"),
    [
        ("created_at", "bigint", spread(1_700_000_000, 77), Meaning("epoch seconds", "number")),
        ("last_login", "bigint", spread(1_700_000_000_123, 77), Meaning("epoch milliseconds", "number")),
        ("event_ts", "int8", spread(1_700_000_000_123_456, 77), Meaning("epoch microseconds", "number")),
        ("updated", "double precision", spread(1_700_000_000.25, 77.5), Meaning("epoch seconds", "number")),
        ("phone", "bigint", spread(1_700_000_000, 77), None),
        ("is_active", "integer", [0, 1, 1, 0, 0], Meaning("boolean", "number", values=("1", "0"))),
        ("is_active", "tinyint(1)", [0, 1, 1, 0, 0], None),
        ("children", "integer", [0, 1, 1, 0, 0], None),
        ("waited", "interval", ["1 day", "2 days", "3 days", "4 days", "5 days"], None),
        ("price", "money", ["$1.00", "$2.00", "$3.00", "$4.00", "$5.00"], None),
        ("place", "point", ["(1,2)", "(2,3)", "(1,1)", "(4,4)", "(5,5)"], None),
    ],
)
def test_other_types(name: str, kind: str, values: list[Any], meaning: Meaning | None) -> None:
    assert found(name, kind, values) == meaning


def test_only_what_queries_would_get_wrong_is_odd() -> None:
    given = {
        "born": (["1990-01-02", "1991-01-02", "1992-01-02", "1993-01-02", "1994-01-02"], "dates as text"),
        "day": (["20240131", "20231201", "20220228", "19990101", "20001010"], "dates as YYYYMMDD"),
        "seen": (["4/12/2005 09:30", "4/2/2005 09:30", "3/2/2005 01:30", "3/2/2005 01:31", "3/4/2005 01:31"],
                 "dates as DD/MM/YYYY or MM/DD/YYYY HH:MI"),
        "length": (["9", "10", "11", "12", "13"], "numbers as text"),
        "year": (["2001", "2002", "2003", "2004", "2005"], ""),  # they sort as numbers do
        "room_no": (["9", "10", "11", "12", "13"], ""),
        "owner": (["9", "10", "11", "12", "13"], ""),  # a key
        "share": (["9%", "10%", "11%", "12%", "13%"], "text: numbers with %"),
        "paid": (["Y", "N", "N", "N", "N"], "'Y' or 'N'"),
    }  # fmt: skip
    columns = tuple(Column(name, "text") for name in given)
    table = Table("t", columns, foreign_keys=(ForeignKey(("owner",), "person", ("id",)),))
    sample = Result(tuple(given), tuple(zip(*(values for values, _ in given.values()), strict=True)))
    shown = Result(sample.columns, sample.rows[3:])
    expected = {name: words for name, (_, words) in given.items() if words}
    assert odd(table, meanings(table, sample), "postgres", shown) == expected
    del expected["born"]  # where dates are text, such text is as it should be
    assert odd(table, meanings(table, sample), "sqlite", shown) == expected
    del expected["paid"]  # where both values can be seen, nothing need be said
    assert odd(table, meanings(table, sample), "sqlite", sample) == expected


def test_numbers_for_booleans_are_odd_where_the_engine_tells_them_apart() -> None:
    table = Table("t", (Column("is_open", "integer"),))
    known = {"is_open": Meaning("boolean", "number", values=("1", "0"))}
    assert odd(table, known, "postgres", Result()) == {"is_open": "1 or 0, not boolean"}
    assert odd(table, known, "mysql", Result()) == {}
