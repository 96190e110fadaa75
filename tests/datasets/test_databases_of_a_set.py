from __future__ import annotations

from pathlib import Path

import pytest

from sqljury import Question
from sqljury.datasets.spider import Example
from sqljury.datasets.subset import of_databases, within
from sqljury.errors import InputError

NAMES = [f"database_{number}" for number in range(60)]
EXAMPLES = [Example(f"train-{number}", Question("How many?"), "SELECT 1", name, name)
            for number, name in enumerate(NAMES)]  # fmt: skip


def chosen(only: str = "", without: str = "") -> list[str]:
    return [example.db_id for example in of_databases(EXAMPLES, only, without)]


def test_shares_divide_the_databases_whatever_others_there_are() -> None:
    halves = [chosen(f"{number}/2") for number in (1, 2)]
    assert sorted(halves[0] + halves[1]) == sorted(NAMES)
    assert all(15 < len(half) < 45 for half in halves)
    assert [name for name in NAMES[:9] if within("1/2")(name.upper())] == [
        name for name in halves[0] if name in NAMES[:9]
    ]
    assert chosen("1/2:7") != halves[0]
    assert chosen(without="1/2") == halves[1]
    assert sorted(name for number in range(1, 6) for name in chosen(f"{number}/5")) == sorted(NAMES)


def test_names_and_files_of_names(tmp_path: Path) -> None:
    file = tmp_path / "held_out.txt"
    file.write_text("DATABASE_3\n\ndatabase_5 \n")
    assert chosen("database_7, Database_3") == ["database_3", "database_7"]
    assert chosen(str(file)) == ["database_3", "database_5"]
    assert chosen("database_3,database_4", str(file)) == ["database_4"]


@pytest.mark.parametrize(
    ("only", "without", "says"),
    [
        ("0/2", "", "'0/2' is not a share"),
        ("3/2", "", "'3/2' is not a share"),
        (" , ", "", "no database is named"),
        ("concert", "", "no question is on the database 'concert'"),
        ("", "database_1,concert", "no question is on the database 'concert'"),
        ("database_1", "database_1", "no question is on these databases"),
    ],
)
def test_what_selects_nothing_is_said(only: str, without: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        chosen(only, without)
