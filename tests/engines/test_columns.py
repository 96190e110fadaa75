"""Types of copied columns."""

from __future__ import annotations

import pytest

from sqljury.engines.columns import CopiedType, Kind, converted, type_of
from sqljury.types import Cell


@pytest.mark.parametrize(
    ("declared", "values", "kind", "fits"),
    [
        ("INTEGER", [1, None], "integer", True),
        ("int", [2**40], "bigint", True),
        ("INTEGER", [1, 2.5], "real", False),
        ("INTEGER", [1, ""], "text", False),
        ("BOOLEAN", [0, 1], "integer", True),
        ("bool", ["T", "F"], "text", False),
        ("DECIMAL(10,2)", [1, 2.5], "decimal", True),
        ("double", [1.5], "real", True),
        ("DATE", ["2020-02-29", None], "date", True),
        ("DATE", ["2021-02-29"], "text", False),
        ("date", [2010], "integer", False),
        ("DATETIME", ["2020-01-01 23:59:59"], "timestamp", True),
        ("TIMESTAMP", ["2020-01-01"], "date", False),
        ("TEXT", ["1"], "text", True),
        ("BLOB", [b"\x00"], "bytes", True),
        ("BLOB", [b"\x00", "x"], "text", False),
        ("", [1, 2], "integer", True),
        ("", [1, 2.5], "real", True),
        ("", [], "text", True),
    ],
)
def test_the_declared_type_where_all_values_fit(declared: str, values: list[Cell], kind: Kind, fits: bool) -> None:
    found = type_of(declared, values)
    assert (found.kind, found.fits) == (kind, fits)


def test_declared_lengths_hold_their_texts_or_go() -> None:
    assert type_of("VARCHAR(3)", ["abc", None]) == CopiedType("text", 3)
    assert type_of("varchar(3)", ["abcd"]) == CopiedType("text", 0, fits=False)
    assert type_of("TEXT", ["abcd"]) == CopiedType("text")


def test_values_become_what_the_type_keeps() -> None:
    cells: list[tuple[Cell, Kind, Cell]] = [
        ("7", "bigint", 7),
        (3, "real", 3.0),
        (3, "text", "3"),
        (b"\xff", "text", "\ufffd"),
        ("a\0b", "text", "ab"),
        (None, "date", None),
        (2.5, "decimal", 2.5),
    ]
    for value, kind, expected in cells:
        assert converted(value, kind) == expected
