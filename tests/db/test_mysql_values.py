from __future__ import annotations

import pytest

import servers
from servers import Server
from sqljury.db.base import Database
from sqljury.db.connect import connect


@pytest.mark.parametrize(
    ("expression", "cell"),
    [
        ("NULL", None),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ("1.5e0", 1.5),
        ("12.50", 12.5),
        ("CAST(20 AS DECIMAL(10, 0))", 20),
        ("CAST('12345678901234567890123' AS DECIMAL(40, 0))", 12345678901234567890123),
        ("1 / 3", 0.3333),
        ("TRUE", 1),
        ("'größe ✓ 𝄞'", "größe ✓ 𝄞"),
        ("''", ""),
        ("x'00ff'", b"\x00\xff"),
        ("b'101'", b"\x05"),
        ("DATE '2024-01-05'", "2024-01-05"),
        ("CAST('2024-01-05 10:00:00.25' AS DATETIME(2))", "2024-01-05 10:00:00.25"),
        ("TIME '23:59:59'", "23:59:59"),
        ("sec_to_time(360000)", "100:00:00"),
        ("json_object('a', 1)", '{"a": 1}'),
        ("concat('a', 1)", "a1"),
        ("year('2024-05-01')", 2024),
        ("ifnull(NULL, 'x')", "x"),
        ("md5('x')", "9dd4e461268c8034f5c8564e155c67a6"),
    ],
)
def test_cells(maria: Database, expression: str, cell: object) -> None:
    result = maria.execute(f"SELECT {expression} AS x")
    assert result.error is None
    assert result.rows == ((cell,),)
    assert type(result.rows[0][0]) is type(cell)


KINDS = {
    "tinyint(1)": ("1", 1),
    "bit(3)": ("b'101'", 5),
    "bit(1)": ("1", 1),
    "enum('a','b')": ("'b'", "b"),
    "set('a','b')": ("'a,b'", "a,b"),
    "date": ("'0000-00-00'", "0000-00-00"),
    "datetime": ("'0000-00-00 00:00:00'", "0000-00-00 00:00:00"),
    "datetime(6)": ("'2024-01-05 10:00:00'", "2024-01-05 10:00:00.000000"),
    "time": ("'-838:59:59'", "-838:59:59"),
    "year": ("2024", 2024),
    "float": ("0.1", 0.1),
    "decimal(10,2)": ("12.5", 12.5),
    "bigint unsigned": ("18446744073709551615", 2**64 - 1),
    "int(5) zerofill": ("42", 42),
    "json": ("'[1]'", "[1]"),
    "blob": ("x'ff00'", b"\xff\x00"),
    "binary(3)": ("'ab'", b"ab\x00"),
    "varchar(9) character set latin1": ("'größe'", "größe"),
    "uuid": ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "inet6": ("'::1'", "::1"),
}


def test_stored_values_of_every_type(mariadb_server: Server) -> None:
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(KINDS))
    values = ", ".join(value for value, _ in KINDS.values())
    servers.in_mariadb(
        mariadb_server,
        "CREATE DATABASE kinds",
        f"CREATE TABLE kinds.t ({columns})",
        "SET sql_mode = ''",
        f"INSERT INTO kinds.t VALUES ({values})",
    )
    with connect(servers.mysql_url(mariadb_server, "kinds")) as db:
        (row,) = db.execute("SELECT * FROM t").rows
    assert dict(zip(KINDS, row, strict=True)) == {kind: cell for kind, (_, cell) in KINDS.items()}
    assert [type(cell) for cell in row] == [type(cell) for _, cell in KINDS.values()]


def test_text_that_is_not_utf8_does_not_break_a_query(maria: Database) -> None:
    result = maria.execute("SELECT convert(x'ff41' USING utf8mb4), 1")
    assert result.error is None
    assert result.rows == (("?A", 1),)
