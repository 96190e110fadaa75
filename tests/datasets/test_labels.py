from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.datasets.pairs import read_labels
from sqljury.errors import DatasetError


def test_a_table_filled_in_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text("hardness\tRight\tindex\teasy\nhard\t1\t2\t0\n\neasy\t 0 \t0\t1\neasy\t\t1\n")
    assert read_labels(file, 4) == [0.0, None, 1.0, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no tab-separated header"),
        ("index\tgood\n0\t1\n", "has no tab-separated header"),
        ("index\tright\n0\tyes\n", "line 2: 'yes' is not a label"),
        ("index\tright\n0\t1\n4\t1\n", "line 3: has no index of a pair; these are counted from 0 to 3"),
        ("index\tright\n-1\t1\n", "line 2: has no index of a pair"),
        ("index\tright\n0\t1\n0\t1\n", "line 3: pair 0 was judged before"),
        ("index\tright\n0\n1\t\n", "judges no pair"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text(text)
    with pytest.raises(DatasetError, match=message):
        read_labels(file, 4)
