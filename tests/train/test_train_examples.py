"""Training sets are read with distrust and split by database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqljury.errors import DatasetError
from sqljury.train import examples


def line(db: str = "shop", **changed: Any) -> dict[str, Any]:
    said = [{"role": "system", "content": "t(n)"}, {"role": "user", "content": "How many?"}]
    return {"messages": said, "answer": "SELECT 1", "meta": {"db_id": db}, **changed}


def written(file: Path, *lines: Any) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return file


def test_an_example_is_read_as_it_was_written(tmp_path: Path) -> None:
    [found] = examples.read(written(tmp_path / "set.jsonl", line()))
    assert [message.role for message in found.messages] == ["system", "user"]
    assert (found.answer, found.database) == ("SELECT 1", "shop")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["a list"], "not a JSON object"),
        (line(messages=[]), "not a list of messages"),
        (line(messages=[{"role": "root", "content": "x"}]), "a role"),
        (line(messages=[{"role": "assistant", "content": "x"}]), "not the user's"),
        (line(answer=""), "answer is not a text"),
        (line(meta=3), "meta is not an object"),
        (line(answer="\ud800"), "cannot encode"),
        (line("\udc80"), "cannot encode"),
    ],
)
def test_a_line_that_is_no_example_is_named(tmp_path: Path, wrong: Any, said: str) -> None:
    with pytest.raises(DatasetError, match=rf"line 2: .*{said}"):
        examples.read(written(tmp_path / "set.jsonl", line(), wrong))


def test_a_set_for_another_part_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "set.jsonl", line(), line(meta={"kind": "generator"}))
    known = examples.read(file)
    examples.check_kind(known, "generator", file)
    with pytest.raises(DatasetError, match=r"set\.jsonl: this set is for 'generator', not 'critic'; make one with"):
        examples.check_kind(known, "critic", file)


def test_a_missing_and_an_empty_set_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="check the path"):
        examples.read(tmp_path / "none.jsonl")
    with pytest.raises(DatasetError, match="is empty"):
        examples.read(written(tmp_path / "set.jsonl"))


def test_no_database_is_on_both_sides(tmp_path: Path) -> None:
    known = examples.read(written(tmp_path / "set.jsonl", *(line(f"db{n % 10}") for n in range(60))))
    learn, held, by = examples.split(known, 0.2, seed=1)
    assert (len(learn), len(held), by) == (48, 12, "database")
    assert not {one.database for one in learn} & {one.database for one in held}
    assert examples.split(known[::-1], 0.2, seed=1)[1] == held[::-1], "the order of the lines does not choose"
    assert {one.database for one in examples.split(known, 0.2, seed=2)[1]} != {one.database for one in held}


def test_of_one_database_questions_are_held_out_whole(tmp_path: Path) -> None:
    lines = (line(meta={"db_id": "shop", "question": f"q{n % 10}"}, answer=f"SELECT {n}") for n in range(30))
    known = examples.read(written(tmp_path / "set.jsonl", *lines))
    learn, held, by = examples.split(known, 0.15, seed=1)
    assert (by, len(learn), len(held)) == ("question", 24, 6)
    assert not {one.question for one in learn} & {one.question for one in held}
    assert {one.question for one in examples.split(known, 0.15, seed=2)[1]} != {one.question for one in held}


@pytest.mark.parametrize(
    ("databases", "by"),
    [
        ({"crm": 290, "warehouse": 10}, "question"),
        ({"shop": 290, "app": 10}, "question"),
        ({f"large{n}": 90 for n in range(6)} | {f"small{n}": 1 for n in range(6)}, "question"),
        ({f"db{n}": 10 for n in range(40)}, "database"),
    ],
)
@pytest.mark.parametrize("seed", [0, 3])
def test_few_or_uneven_databases_are_not_held_out_whole(
    tmp_path: Path, databases: dict[str, int], by: str, seed: int
) -> None:
    """Of few databases the largest could be drawn, and most examples would not be trained on."""
    lines = (
        line(meta={"db_id": db, "question": f"{db} {n}"}, answer=f"SELECT {n}")
        for db, count in databases.items()
        for n in range(count)
    )
    known = examples.read(written(tmp_path / "set.jsonl", *lines))
    learn, held, found = examples.split(known, 0.05, seed=seed)
    assert found == by
    assert len(learn) + len(held) == len(known)
    assert 0.05 * len(known) <= len(held) <= 0.1 * len(known)


def test_a_share_of_nothing_and_one_question_hold_nothing_out(tmp_path: Path) -> None:
    known = examples.read(written(tmp_path / "set.jsonl", line("a"), line("a"), line("b")))
    assert examples.split(known, 0.0, seed=0)[:2] == (known, [])
    assert examples.split(known[:2], 0.5, seed=0)[:2] == (known[:2], [])
