from __future__ import annotations

import pytest

from sqljury.errors import DatasetError
from sqljury.metrics.spider import Names
from sqljury.types import Column, Schema, Table

ENTRY = {
    "db_id": "pets",
    "table_names_original": ["Pet", "Owner"],
    "column_names_original": [[-1, "*"], [0, "ID"], [0, "Kind"], [1, "Name"]],
}


def test_names_from_tables_json() -> None:
    assert Names.of_entry(ENTRY).tables == {"pet": ("id", "kind"), "owner": ("name",)}


def test_names_from_a_schema_leave_views_out() -> None:
    columns = (Column("ID"), Column("Kind"))
    schema = Schema("pets", "sqlite", (Table("Pet", columns), Table("Old", columns, kind="view")))
    assert Names.of_schema(schema).tables == {"pet": ("id", "kind")}


@pytest.mark.parametrize(
    "entry",
    [
        {"db_id": "pets"},
        {**ENTRY, "column_names_original": [[7, "x"]]},
        {**ENTRY, "column_names_original": [5]},
        {**ENTRY, "table_names_original": [None]},
    ],
)
def test_a_malformed_entry_is_named(entry: dict[str, object]) -> None:
    with pytest.raises(DatasetError, match="'pets'"):
        Names.of_entry(entry)
