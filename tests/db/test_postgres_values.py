from __future__ import annotations

import math

import pytest

from sqljury.db.base import Database


@pytest.mark.parametrize(
    ("expression", "cell"),
    [
        ("NULL", None),
        ("(-9223372036854775808)::int8", -(2**63)),
        ("1.5::float4", 1.5),
        ("0.1::float8 + 0.2::float8", 0.1 + 0.2),
        ("'Infinity'::float8", math.inf),
        ("'-Infinity'::numeric", -math.inf),
        ("12.50::numeric(10, 2)", 12.5),
        ("20::numeric", 20),
        ("20.00::numeric", 20.0),
        ("123456789012345678901234567890::numeric", 123456789012345678901234567890),
        ("1 / 3.0", 0.3333333333333333),
        ("('1' || repeat('0', 400) || '.5')::numeric", "1" + "0" * 400 + ".5"),
        ("true", True),
        ("'größe ✓ 𝄞'", "größe ✓ 𝄞"),
        ("''", ""),
        ("'\\x00ff'::bytea", b"\x00\xff"),
        ("DATE '2024-01-05'", "2024-01-05"),
        ("DATE '0044-03-15 BC'", "0044-03-15 BC"),
        ("'infinity'::date", "infinity"),
        ("TIMESTAMP '2024-01-05 10:00:00.25'", "2024-01-05 10:00:00.25"),
        ("TIMESTAMPTZ '2024-01-05 10:00:00+02' AT TIME ZONE 'UTC'", "2024-01-05 08:00:00"),
        ("TIME '23:59:59'", "23:59:59"),
        ("INTERVAL '1 year 2 days 03:00'", "1 year 2 days 03:00:00"),
        ("ARRAY['a', NULL, 'b c']", '{a,NULL,"b c"}'),
        ("ARRAY[[1, 2], [3, 4]]", "{{1,2},{3,4}}"),
        ('\'{"b": 1, "a": [1, 2]}\'::jsonb', '{"a": [1, 2], "b": 1}'),
        ("'{\"b\":1}'::json", '{"b":1}'),
        ("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("B'101'", "101"),
        ("'10.0.0.1'::inet", "10.0.0.1"),
        ("int4range(1, 5)", "[1,5)"),
        ("ROW(1, 'a')", "(1,a)"),
        ("'customer'::regclass", "customer"),
    ],
)
def test_cells(pg: Database, expression: str, cell: object) -> None:
    result = pg.execute(f"SELECT {expression} AS x")
    assert result.error is None
    assert result.rows == ((cell,),)
    assert type(result.rows[0][0]) is type(cell)


def test_a_time_with_zone_says_which(pg: Database) -> None:
    ((cell,),) = pg.execute("SELECT TIMESTAMPTZ '2024-01-05 10:00:00+00'").rows
    assert cell[:10] == "2024-01-05"
    assert cell[19] in "+-"


def test_not_a_number(pg: Database) -> None:
    ((one, other),) = pg.execute("SELECT 'NaN'::numeric, 'NaN'::float8").rows
    assert math.isnan(one)
    assert math.isnan(other)


def test_text_that_is_not_utf8_does_not_break_a_query(pg: Database) -> None:
    result = pg.execute("SELECT convert_from('\\xff'::bytea, 'SQL_ASCII'), 1")
    assert result.error is not None or result.rows[0][1] == 1


def test_a_hint_helps_the_repair(pg: Database) -> None:
    error = str(pg.execute("SELECT nam FROM customer").error)
    assert error.startswith('column "nam" does not exist (Perhaps you meant')


def test_columns_of_the_same_name_and_of_none(pg: Database) -> None:
    assert pg.execute("SELECT 1 AS a, 2 AS a, 3").columns == ("a", "a", "?column?")
