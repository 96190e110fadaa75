"""Results as files."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from web_servers import TALL, Serve

from sqljury.web.downloads import PARQUET, parquet_bytes


def read(content: bytes, folder: Path) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    """Names and types of the columns, and the rows."""
    file = folder / "rows.parquet"
    file.write_bytes(content)
    with duckdb.connect(":memory:") as connection:
        found = connection.execute("SELECT * FROM read_parquet(?)", [str(file)])
        return [(name, str(kind)) for name, kind, *_ in found.description], found.fetchall()


def test_types_are_kept_and_names_made_different(tmp_path: Path) -> None:
    columns = ['a "b"', "n", "N", "", "x", "large", "mixed"]
    rows = [
        (1, 1.5, Decimal("2.5"), b"\0\xff", None, 2**70, 1),
        (None, 2, None, b"", None, 1, "one"),
    ]
    names, found = read(parquet_bytes(columns, rows), tmp_path)
    kinds = ["BIGINT", "DOUBLE", "DOUBLE", "BLOB", "VARCHAR", "VARCHAR", "VARCHAR"]
    assert names == list(zip(['a "b"', "n", "N 2", "column", "x", "large", "mixed"], kinds, strict=True))
    assert found == [
        (1, 1.5, 2.5, b"\0\xff", None, str(2**70), "1"),
        (None, 2.0, None, b"", None, "1", "one"),
    ]


@pytest.mark.parametrize("cell", ["half \ud800", "nul \0", "'; DROP TABLE result; --", datetime.date(2024, 1, 1)])
def test_any_text_can_be_written(cell: object, tmp_path: Path) -> None:
    _, ((found,),) = read(parquet_bytes(["x"], [(cell,)]), tmp_path)
    assert found == str(cell).encode("utf-8", "replace").decode()


def test_no_rows_keep_their_columns(tmp_path: Path) -> None:
    assert read(parquet_bytes(["a", "b"], []), tmp_path) == ([("a", "VARCHAR"), ("b", "VARCHAR")], [])


def test_a_query_as_parquet(serve: Serve, tmp_path: Path) -> None:
    body = {"database": "people", "sql": "SELECT name, height FROM person"}
    response = serve(rows=1).post("/v1/query", json=body, headers={"Accept": PARQUET})
    assert (response.status_code, response.headers["content-type"]) == (200, PARQUET)
    assert "people.parquet" in response.headers["content-disposition"]
    assert len(read(response.content, tmp_path)[1]) == 3


def test_a_download_is_no_entry_of_the_history(serve: Serve) -> None:
    client = serve()
    client.post("/v1/query", json={"database": "people", "sql": TALL})
    for kind in ("text/csv", "application/vnd.apache.parquet"):
        response = client.post("/v1/query", json={"database": "people", "sql": TALL}, headers={"Accept": kind})
        assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (200, kind)
    assert [entry["kind"] for entry in client.get("/v1/history").json()["entries"]] == ["query"]
