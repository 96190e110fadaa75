from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.datasets.pairs import Gold, database_files
from sqljury.errors import DatasetError


def gold(db_id: str) -> Gold:
    return Gold("0", "SELECT 1", db_id, place="gold.txt, line 1")


def test_a_test_suite_comes_after_the_database_itself(tmp_path: Path) -> None:
    folder = tmp_path / "pets"
    folder.mkdir()
    for name in ("a_1.sqlite", "pets.sqlite", "b.sqlite", "schema.sql"):
        (folder / name).touch()
    files = database_files(str(tmp_path), [gold("pets"), gold("pets")])
    assert [file.name for file in files["pets"]] == ["pets.sqlite", "a_1.sqlite", "b.sqlite"]


@pytest.mark.parametrize("name", ["cats", "../pets", "..", "pets/../pets", "pe\0ts", ""])
def test_an_unknown_database_names_the_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / "pets.sqlite").touch()
    with pytest.raises(DatasetError, match=r"gold\.txt, line 1: there is no database"):
        database_files(tmp_path, [gold("pets"), gold(name)])


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such folder"):
        database_files(tmp_path / "nowhere", [gold("pets")])
