"""Fitting the confidence: on answers made by chance, whose true probabilities are known."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from sqljury.errors import InputError
from sqljury.stages import confidence as used
from sqljury.stages.confidence import NAMES
from sqljury.stages.weights import save
from sqljury.train.confidence import ALL, ANSWERED, Given, answers_of, auroc, fit, measure, quality
from sqljury.train.replay import replay
from sqljury.types import Result, Schema, TestCase, Tried

pytest.importorskip("numpy")


def given(count: int, seed: int = 0) -> list[Given]:
    """Answers whose log-odds of being right are their ``margin``."""
    chance = random.Random(seed)
    answers = []
    for number in range(count):
        figures = dict.fromkeys(NAMES, 0.0) | {"margin": chance.gauss(0.5, 2), "star": chance.random()}
        right = chance.random() < 1 / (1 + 2.718281828 ** -figures["margin"])
        answers.append(Given(f"db{number % 12}", figures, right, kind="all candidates"))
    return answers


def test_probabilities_are_those_of_the_answers() -> None:
    fitted = fit(given(1500))
    card = fitted.card["held_out"]["all candidates"]
    assert card["ece"] < 0.05
    assert card["auroc"] > 0.8
    assert fitted.weights["margin"] == pytest.approx(1.0, abs=0.2)
    assert abs(fitted.weights.get("star", 0.0)) < 0.4
    likely = dict.fromkeys(NAMES, 0.0) | {"margin": 2.0}
    assert fitted.probability(likely) == pytest.approx(0.88, abs=0.05)


def test_the_same_answers_give_the_same_weights() -> None:
    answers = given(200)
    assert fit(answers, seed=3) == fit(answers, seed=3)


@pytest.mark.parametrize("answers", [[], given(20), [one for one in given(900) if one.db_id == "db1"]])
def test_too_few_answers(answers: list[Given]) -> None:
    with pytest.raises(InputError, match="50 questions of two databases"):
        fit(answers)


@pytest.mark.parametrize(
    ("chances", "right", "expected"),
    [
        ([0.9, 0.8, 0.1], [True, True, False], 1.0),
        ([0.1, 0.9], [True, False], 0.0),
        ([0.5, 0.5], [True, False], 0.5),
        ([0.5], [True], None),
    ],
)
def test_auroc(chances: list[float], right: list[bool], expected: float | None) -> None:
    assert auroc(chances, right) == expected


def test_quality_of_probabilities() -> None:
    figures = quality([0.95] * 8 + [0.25] * 2, [True] * 8 + [False] * 2)
    assert figures["ece"] == pytest.approx((8 * 0.05 + 2 * 0.25) / 10, abs=1e-4)
    assert (figures["accuracy"], figures["sure_80"]) == (0.8, 1.0)


def test_what_the_run_chose_is_measured_beside_votes(train_run: Path, benchmark_folder: Path, tmp_path: Path) -> None:
    """In the first question votes err; here the run's judge did not, and passed a test."""
    run = tmp_path / "run"
    shutil.copytree(train_run, run)
    lines = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    question = lines[0]
    count = next(index for index, one in enumerate(question["candidates"]) if "count(*)" in one["sql"])
    question["sql"] = question["candidates"][count]["sql"]
    case = TestCase(Schema("s", "sqlite", ()), (), Result(rows=((1,),)))
    tried = Tried(case, (question["sql"],), (Result(rows=((1,),)),), (True,))
    scores = [0.1, 0.9]
    question["choice"] = {"index": count, "selector": "light", "scores": scores, "tests": [tried.to_dict()]}
    lines[1]["choice"]["index"] = 99  # names no candidate
    (run / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second, *_ = replay(run, benchmark_folder)
    answers = {one.kind: one for one in answers_of(first)}
    assert (answers[ANSWERED].right, answers[ALL].right) == (True, False)
    known = answers[ANSWERED].figures
    assert (known["without_judge"], known["without_tests"], known["tests_passed"]) == (0, 0, 1)
    assert known["judge"] > 2
    assert answers[ALL].figures["without_judge"] == 1
    assert ANSWERED not in {one.kind for one in answers_of(second)}
    assert next(iter(measure([run], benchmark_folder, fit(given(100))))) == ANSWERED


def test_a_file_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    with pytest.raises(InputError, match="not the file of a calibration"):
        save(fit(given(100)), other)
    assert other.read_text() == "{}"
    with pytest.raises(InputError, match="no folder"):
        used.FORMAT.check_out(tmp_path / "nowhere" / "own.json")
    own = tmp_path / "own.json"
    save(fit(given(100)), own)
    save(fit(given(100)), own)
    assert used.read(str(own)).card == json.loads(own.read_text())["card"]
