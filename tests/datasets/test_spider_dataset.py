from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.datasets.spider import Example, load, sample
from sqljury.errors import DatasetError, InputError
from sqljury.types import Question

SHARED = Path(__file__).resolve().parents[3] / "shared" / "spider"


def entry(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {"question": f"How many, {number}?", "query": f"SELECT {number}", "db_id": "pets", **changes}


def spider(folder: Path, **files: Any) -> Path:
    (folder / "database" / "pets").mkdir(parents=True)
    (folder / "database" / "pets" / "pets.sqlite").touch()
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def test_examples_in_the_order_of_the_file(tmp_path: Path) -> None:
    folder = spider(tmp_path, dev=[entry(1), entry(2, extra="ignored")])
    assert load(folder, "dev") == [
        Example(
            f"dev-000{number - 1}",
            Question(f"How many, {number}?", id=f"dev-000{number - 1}"),
            f"SELECT {number}",
            "pets",
            folder / "database" / "pets" / "pets.sqlite",
        )
        for number in (1, 2)
    ]


def test_evidence_is_read_where_there_is_some(tmp_path: Path) -> None:
    folder = spider(tmp_path, dev=[entry(1, evidence="adult means over 17"), entry(2)])
    assert [one.question.evidence for one in load(folder, "dev")] == ["adult means over 17", ""]


def test_names_and_texts_need_no_databases(tmp_path: Path) -> None:
    folder = spider(tmp_path, dev=[entry(db_id="dogs")])
    assert [one.db_id for one in load(folder, "dev", databases=False)] == ["dogs"]
    (folder / "dev.json").write_text(json.dumps([entry(db_id="../dogs")]))
    with pytest.raises(DatasetError, match="there is no database"):
        load(folder, "dev", databases=False)


def test_train_in_two_files_as_downloaded(tmp_path: Path) -> None:
    folder = spider(tmp_path, train_spider=[entry(1), entry(2)], train_others=[entry(3)])
    examples = load(str(folder), "train")
    assert [(example.id, example.gold_sql) for example in examples] == [
        ("train-0000", "SELECT 1"),
        ("train-0001", "SELECT 2"),
        ("train-0002", "SELECT 3"),
    ]


def test_train_in_one_file(tmp_path: Path) -> None:
    folder = spider(tmp_path, train=[entry(1)], train_spider=[entry(2)], train_others=[])
    assert [example.gold_sql for example in load(folder, "train")] == ["SELECT 1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[{", r"dev\.json: is not JSON"),
        ("[" * 100_000, r"dev\.json: is not JSON"),
        ({"question": "x"}, r"dev\.json: is not a list"),
        ([entry(), 5], r"dev\.json, entry 1: is not an object"),
        ([entry(query=None)], r"dev\.json, entry 0: has no text for 'query'"),
        ([entry(question=" ")], r"entry 0: has no text for 'question'"),
        ([{"question": "x", "query": "y"}], r"entry 0: has no text for 'db_id'"),
        ([entry(), entry(evidence=None)], r"dev\.json, entry 1: 'evidence' is not text"),
        ([entry(evidence=["a"])], r"entry 0: 'evidence' is not text"),
        ([entry(), entry(db_id="dogs")], r"entry 1: there is no database 'dogs'"),
        ([entry(db_id="../database/pets")], r"entry 0: there is no database"),
        ([entry(db_id="..")], r"entry 0: there is no database"),
        ([entry(db_id="pe\0ts")], r"entry 0: there is no database"),
    ],
)
def test_a_file_that_does_not_hold_together(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        load(spider(tmp_path, dev=content), "dev")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = spider(tmp_path)
    (folder / "dev.json").write_bytes(b'["\xff\xfe"]')
    with pytest.raises(DatasetError, match="is not JSON"):
        load(folder, "dev")


def test_a_missing_folder_file_or_split(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such folder"):
        load(tmp_path / "nowhere", "dev")
    with pytest.raises(DatasetError, match=r"no dev\.json"):
        load(tmp_path, "dev")
    with pytest.raises(DatasetError, match=r"no train\.json, or train_spider\.json and train_others\.json"):
        load(tmp_path, "train")
    with pytest.raises(DatasetError, match="no split 'exam'; give one of dev, train"):
        load(tmp_path, "exam")


@given(st.integers(0, 200), st.integers(1, 250), st.integers())
def test_a_sample_keeps_the_order_and_depends_on_the_seed_alone(size: int, limit: int, seed: int) -> None:
    chosen = sample(range(size), limit, seed)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(size, limit)
    assert chosen == sample(range(size), limit, seed)


def test_the_sample_of_a_seed_never_changes() -> None:
    assert sample(range(1034), 5, 7) == [98, 148, 308, 663, 808]
    assert sample("abc", None, 7) == ["a", "b", "c"]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        sample("abc", 0, 7)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared")
@pytest.mark.parametrize(("split", "size", "databases"), [("dev", 1034, 20), ("train", 5784, 110)])
def test_the_real_one(split: str, size: int, databases: int) -> None:
    examples = load(SHARED, split)
    assert len(examples) == size
    assert len({example.db_id for example in examples}) == databases
    assert examples[17].id == f"{split}-0017"
