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
    assert chosen(",".join(NAMES)) == NAMES  # longer than the name of a file may be


@pytest.mark.parametrize(
    ("only", "without", "says"),
    [
        ("0/2", "", "'0/2' is not a share"),
        ("3/2", "", "'3/2' is not a share"),
        (" , ", "", "no database is named"),
        ("concert", "", "no question is on the database 'concert'"),
        ("", "database_1,concert", "no question is on the database 'concert'"),
        ("database_1", "database_1", "is among database_1 without database_1; give names"),
    ],
)
def test_what_selects_nothing_is_said(only: str, without: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        chosen(only, without)


def test_a_share_that_no_database_falls_into_is_explained() -> None:
    """A share is drawn by names, so of few databases it may have none."""
    few = [example for example in EXAMPLES if example.db_id in NAMES[:3]]
    empty = next(f"{number}/5" for number in range(1, 6) if not any(map(within(f"{number}/5"), NAMES[:3])))
    with pytest.raises(InputError, match=r"\(database_0, database_1, database_2\) is among \d/5;"):
        of_databases(few, empty)
    with pytest.raises(InputError, match=r"database_1, database_10 and 57 more\) is among all without 1/1"):
        of_databases(EXAMPLES, "", "1/1")
