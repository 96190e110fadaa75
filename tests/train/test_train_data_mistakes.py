from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import recipes
from sqljury.cli import _guarded
from sqljury.datasets import spider
from sqljury.datasets.spider import Example
from sqljury.db.connect import connect
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.train.data import LeftOut
from sqljury.train.data_mistakes import mistake_examples
from sqljury.train.examples import TrainingExample, read

RECIPE = recipes.load("fast")


@pytest.fixture
def examples(benchmark_folder: Path) -> list[Example]:
    return spider.load(benchmark_folder, "train")


def made(examples: list[Example], seed: int = 0, pairs: int = 1, **options: bool) -> list[TrainingExample]:
    found = mistake_examples(examples, RECIPE, seed, pairs, **options)
    return [one for one in found if isinstance(one, TrainingExample)]


def queries(example: TrainingExample) -> tuple[str, str]:
    """The right query of a pair and the wrong one."""
    text = example.messages[-1].content
    first, second = (text.split(f"Query {letter}:\n")[1].split("\n")[0] for letter in "AB")
    return (first, second) if example.answer == "A" else (second, first)


def test_gold_stands_against_queries_that_return_something_else(examples: list[Example]) -> None:
    pairs = made(examples, pairs=3)
    by_id = {example.id: example for example in examples}
    assert len(pairs) > len(examples)
    assert {one.answer for one in pairs} == {"A", "B"}
    for one in pairs:
        example = by_id[one.meta["id"]]
        right, wrong = queries(one)
        with connect(example.database) as db:
            gold = run_gold(db, example.gold_sql)
            assert judge(gold, db.execute(right), EX.ordered(example.gold_sql)).correct
            mistaken = db.execute(wrong)
            assert mistaken.rows
            assert not judge(gold, mistaken, EX.ordered(example.gold_sql)).correct


def test_the_set_hangs_on_seed_and_questions_alone(examples: list[Example]) -> None:
    made = [
        list(mistake_examples(examples, RECIPE, seed, 1, processes)) for seed, processes in ((0, 1), (0, 2), (1, 1))
    ]
    assert made[0] == made[1] != made[2]


def test_both_orders_show_each_pair_twice(examples: list[Example]) -> None:
    pairs = made(examples, pairs=2, both_orders=True)
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert {first.answer, second.answer} == {"A", "B"}
        assert queries(first) == queries(second)


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        ("SELECT name FROM pet WHERE kind = 'unicorn'", "none"),  # an empty result says too little
        ("SELECT nothing FROM nowhere", "failed"),
        ("SELECT count(*) FROM", "failed"),
    ],
)
def test_questions_without_a_mistake_are_left_out(examples: list[Example], gold: str, why: str) -> None:
    example = replace(examples[0], gold_sql=gold)
    assert list(mistake_examples([example], RECIPE, 0, 1)) == [LeftOut(example.id, why)]  # type: ignore[arg-type]


def test_the_command_writes_a_set_without_a_run(
    benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pairs.jsonl"
    asked = ["train", "data", "pairwise", "--data", str(benchmark_folder), "--mistakes", "2", "--out", str(out)]
    assert _guarded(asked) == 0
    assert len(read(out)) > 20
    assert "examples of" in capsys.readouterr().err
    assert _guarded(["train", "data", "critic", *asked[3:]]) == 2
    assert "a set for critic from gold queries is not made with --mistakes" in capsys.readouterr().err
    assert _guarded([*asked, "--run", "runs/a"]) == 2
    assert "is not made with --run" in capsys.readouterr().err
