from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury.errors import InputError
from sqljury.evaluation.agree import with_labels
from sqljury.evaluation.findings import to_json
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.targets import Targets
from sqljury.experiments.accumulate import STEPS, accumulate
from sqljury.metrics.case import Options
from sqljury.metrics.esm_plus import Options as PlusOptions

Judge = Callable[..., Evaluation]
Files = Mapping[str, Sequence[Path]]

QUERIES = (
    ("SELECT count(*) FROM pet", "SELECT count(id) FROM pet"),
    ("SELECT kind FROM pet WHERE age = 1", "SELECT kind FROM pet WHERE age = '1'"),
    ("SELECT kind FROM pet WHERE age BETWEEN 1 AND 9", "SELECT kind FROM pet WHERE age >= 1 AND age <= 9"),
    ("SELECT kind FROM pet WHERE id = 2", "SELECT kind FROM pet WHERE kind = 'cat'"),
    ("SELECT kind FROM pet WHERE id = 1", "SELECT kind FROM pet WHERE id = 2"),
)


def test_each_rule_takes_away_the_false_negatives_it_is_for(judge: Judge, files: Files) -> None:
    found = to_json(accumulate(judge(*QUERIES, metrics=("exe", "esm")), Targets(files)))
    steps = {step["label"]: step for step in found["steps"]}
    assert list(steps) == ["ESM", *map(str, STEPS)]
    assert (found["reference"], found["queries"], found["accepted"]) == ("exe", 5, 4)
    missed = [steps[label]["missed"] for label in ("0", "6", "7", "10", "11", "18", "19", "20")]
    assert missed == [4, 4, 3, 3, 2, 2, 1, 1]
    assert steps["0"]["percent"] == 80.0
    assert steps["7"]["rule"].startswith("count(c)")
    assert steps["ESM"]["missed"] == 3


def test_a_rule_that_is_off_stays_off(judge: Judge, files: Files) -> None:
    found = judge(*QUERIES, metrics=("exe",), options=replace(Options(), esm_plus=PlusOptions(disabled=frozenset({7}))))
    assert accumulate(found, Targets(files)).steps[-1].missed == 2


def test_execution_has_to_say_what_is_right(judge: Judge, files: Files) -> None:
    with pytest.raises(InputError, match="nothing to agree with"):
        accumulate(judge(*QUERIES, metrics=("esm_plus",)), Targets(files))


def test_pairs_without_a_database_are_passed_over_though_they_are_labelled(judge: Judge, files: Files) -> None:
    missing = ("SELECT 1", "SELECT 2", "nowhere")
    labelled = with_labels(judge(*QUERIES, missing, metrics=("esm_plus",)), [1.0] * 6)
    found = accumulate(labelled, Targets(files))
    assert (found.queries, found.accepted, found.steps[-1].missed) == (5, 5, 2)
