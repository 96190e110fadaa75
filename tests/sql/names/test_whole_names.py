"""The whole name of a person, in tables that have a first and a last name."""

from __future__ import annotations

import pytest

from sqljury.sql.names.bind import bindings
from sqljury.types import Column, Schema, Table


def table(name: str, *columns: str) -> Table:
    return Table(name, tuple(Column(column, "TEXT") for column in columns), primary_key=columns[:1])


SCHEMA = Schema(
    "foundation",
    "sqlite",
    (
        table("Staff", "StaffId", "FirstName", "LastName", "SupervisorId"),
        table("BoardMember", "MemberId", "FullName"),
        table("drv", "drv_no", "fnm", "lnm"),
    ),
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT T1.FullName, T2.FullName FROM Staff AS T1 JOIN Staff AS T2 ON T2.StaffId = T1.SupervisorId",
            "SELECT T1.FirstName, T1.LastName, T2.FirstName, T2.LastName "
            "FROM Staff AS T1 JOIN Staff AS T2 ON T2.StaffId = T1.SupervisorId",
        ),
        (
            "SELECT T1.StaffName, COUNT(*) FROM Staff AS T1 GROUP BY T1.StaffName ORDER BY T1.StaffName DESC",
            "SELECT T1.FirstName, T1.LastName, COUNT(*) FROM Staff AS T1 GROUP BY T1.FirstName, T1.LastName "
            "ORDER BY T1.LastName DESC, T1.FirstName DESC",
        ),
        ("SELECT name FROM drv", "SELECT drv.fnm, drv.lnm FROM drv"),
        ("SELECT name AS who FROM drv", "SELECT drv.fnm, drv.lnm FROM drv"),
    ],
)
def test_a_whole_name_is_two_columns(sql: str, expected: str) -> None:
    assert bindings(sql, SCHEMA)[0].sql == expected


def test_part_of_a_condition_is_another_matter() -> None:
    assert all("fnm, " not in binding.sql for binding in bindings("SELECT drv_no FROM drv WHERE name = 'Bo'", SCHEMA))
