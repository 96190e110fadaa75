from __future__ import annotations

import os
from pathlib import Path

import pytest

from sqljury.cli.terminal import table_file
from sqljury.errors import InputError

HEADER = "index\thardness"


def test_a_table_takes_the_place_of_one_or_of_nothing(tmp_path: Path) -> None:
    file = tmp_path / "out.tsv"
    for text in (f"{HEADER}\tex\n0\teasy\t1\n", f"{HEADER}\n"):
        with table_file(file, HEADER) as table:
            assert table is not None
            table.write(text)
        assert file.read_text() == text
    with table_file(None, HEADER) as table:
        assert table is None


@pytest.mark.parametrize("content", ["SELECT 1\tpets\n", "index\n", "\udcff\n"])
def test_other_files_stay_as_they_are(tmp_path: Path, content: str) -> None:
    file = tmp_path / "gold.txt"
    file.write_bytes(before := content.encode(errors="surrogateescape"))
    with (
        pytest.raises(InputError, match=r"gold\.txt: exists and was not written by this command"),
        table_file(file, HEADER),
    ):
        pass
    assert file.read_bytes() == before


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    labels, link, folder = tmp_path / "labels.tsv", tmp_path / "link.tsv", tmp_path / "database"
    labels.write_text(f"{HEADER}\tright\n")
    folder.mkdir()
    os.link(labels, link)
    (tmp_path / "soft.tsv").symlink_to(labels)
    for file in (labels, link, tmp_path / "soft.tsv", folder / "out.tsv", folder / "../database/out.tsv"):
        with (
            pytest.raises(InputError, match="is an input, or lies in a folder"),
            table_file(file, HEADER, [labels, folder]),
        ):
            pass
    assert labels.read_text() == f"{HEADER}\tright\n"
    assert list(folder.iterdir()) == []


def test_failing_half_way_leaves_the_table_of_before_and_no_new_one(tmp_path: Path) -> None:
    old, new = tmp_path / "old.tsv", tmp_path / "new.tsv"
    old.write_text(f"{HEADER}\tex\n")
    for file in (old, new):
        with pytest.raises(KeyboardInterrupt), table_file(file, HEADER):
            raise KeyboardInterrupt
    assert old.read_text() == f"{HEADER}\tex\n"
    assert not new.exists()


@pytest.mark.parametrize("name", ["nowhere/out.tsv", "folder"])
def test_a_place_that_cannot_be_written_is_named_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with (
        pytest.raises(InputError, match=r"cannot be written .*; name another file"),
        table_file(tmp_path / name, HEADER),
    ):
        pass


def test_a_device_takes_a_table() -> None:
    with table_file(Path(os.devnull), HEADER) as table:
        assert table is not None
        table.write(HEADER)
