from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sqljury.evaluation.explain import explain
from sqljury.evaluation.findings import to_json
from sqljury.evaluation.judge import Evaluation
from sqljury.evaluation.targets import Targets
from sqljury.metrics.esm_plus import NUMBERS, Facts
from sqljury.metrics.esm_plus.rules import MEANINGS

Judge = Callable[..., Evaluation]


@pytest.fixture
def facts(files: Mapping[str, Sequence[Path]]) -> Facts:
    targets = Targets(files)
    found = targets.target("pets").facts
    targets.close()
    return found


def explained(judge: Judge, facts: Facts, gold: str, predicted: str, *metrics: str) -> dict[str, Any]:
    evaluation = judge((gold, predicted), metrics=metrics)
    found: dict[str, Any] = to_json(explain(3, evaluation, facts))
    return found


def test_the_rules_that_fired_with_what_they_assume(judge: Judge, facts: Facts) -> None:
    found = explained(judge, facts, "SELECT count(*) FROM pet", "SELECT count(id) FROM pet", "exe", "esm", "esm_plus")
    assert found["index"] == 3
    plus = found["esm_plus"]
    assert plus["matches"]
    assert plus["predicted"]["sql"] == plus["gold"]["sql"] == "SELECT count(*) FROM pet"
    assert plus["predicted"]["fired"] == [{"rule": 7, "meaning": MEANINGS[7], "assumptions": ["pet.id is never NULL"]}]
    assert plus["deciding"] == [7]
    assert {name: metric["score"] for name, metric in found["metrics"].items()} == {"exe": 1, "esm": 0, "esm_plus": 1}
    assert found["metrics"]["esm"]["reason"] == "differs in select"
    assert "esm_plus_strict" not in found
    json.dumps(found)


def test_the_clauses_that_differ_and_the_strict_mode_beside(judge: Judge, facts: Facts) -> None:
    gold, predicted = "SELECT kind FROM pet WHERE (age = 1)", "SELECT kind FROM pet WHERE age = 2"
    found = explained(judge, facts, gold, predicted, "esm_plus", "esm_plus_strict")
    assert found["esm_plus"]["gold"]["error"]
    assert found["esm_plus_strict"]["differs"] == ["where"]
    assert found["esm_plus_strict"]["gold"]["sql"] == "SELECT pet.kind FROM pet WHERE pet.age = 1"


def test_gold_that_cannot_be_run_is_no_verdict(judge: Judge, facts: Facts) -> None:
    found = explained(judge, facts, "SELECT breed FROM pet", "SELECT kind FROM pet", "exe")
    assert found["metrics"]["exe"] == {"title": "EXE", "score": None, "reason": "gold cannot be run"}
    assert "breed" in found["fault"]


def test_every_rule_has_its_meaning() -> None:
    assert set(MEANINGS) == NUMBERS
