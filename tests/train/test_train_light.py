from __future__ import annotations

import datetime
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.bench import choices, stored
from sqljury.bench.ablation import ablation
from sqljury.datasets import spider
from sqljury.errors import InputError
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.select.features import names
from sqljury.select.light import Weights, read, shares
from sqljury.train import leaks
from sqljury.train.light import Rated, _folds, figures_of, from_runs, save, train

pytest.importorskip("sklearn")


def made_up(count: int, databases: int, seed: int = 0, signal: float = 2.0) -> list[Rated]:
    """Questions whose right group tends to lack fewer cues; votes tell nothing."""
    drawn = random.Random(seed)
    found = []
    for number in range(count):
        size = drawn.randint(2, 4)
        groups = [
            {**dict.fromkeys(names(), 0.0), "missing": float(drawn.randint(0, 3)), "columns": drawn.gauss(0, 1)}
            for _ in range(size)
        ]
        chances = shares([-signal * one["missing"] for one in groups])
        right = drawn.choices(range(size), weights=chances)[0]
        found.append(Rated(f"q{number}", f"db{number % databases}", f"{number}", tuple(groups), frozenset([right])))
    return found


def test_what_decides_is_learned_in_its_true_measure() -> None:
    weights = train(made_up(500, 8))
    assert weights.weights["missing"] == pytest.approx(-2.0, abs=0.35)
    assert abs(weights.weights["columns"]) < 0.3
    assert set(weights.weights) == {"missing", "columns"}  # what never differs has no weight
    assert weights.card["held_out"]["ece"] < 0.08
    assert weights.card["held_out"]["ex"]["percent"] > weights.card["held_out"]["ex_votes"]["percent"] + 20


def test_figures_are_of_databases_that_were_left_out() -> None:
    """Rightness that only the database explains cannot be learned from the others."""
    drawn = random.Random(3)
    questions = []
    for number in range(240):
        sign = 1 if number % 8 < 4 else -1  # half of the databases reward what the others punish
        groups = tuple({**dict.fromkeys(names(), 0.0), "columns": drawn.gauss(0, 1)} for _ in range(2))
        right = max(range(2), key=lambda place: sign * groups[place]["columns"])
        questions.append(Rated(f"q{number}", f"db{number % 8}", "", groups, frozenset([right])))
    held_out = train(questions).card["held_out"]
    assert held_out["pairs"]["percent"] < 65


def test_where_nothing_can_be_learned_votes_decide() -> None:
    drawn = random.Random(4)
    questions = []
    for number in range(60):
        votes = [{"votes_log": 1.5}, {"votes_log": 0.5}, {"votes_log": 0.0}]
        groups = tuple({**{name: drawn.gauss(0, 1) for name in names()}, **one} for one in votes)
        right = drawn.choices(range(3), weights=[6, 2, 1])[0]
        questions.append(Rated(f"q{number}", f"db{number % 10}", "", groups, frozenset([right])))
    held_out = train(questions).card["held_out"]
    assert abs(held_out["ex"]["right"] - held_out["ex_votes"]["right"]) <= 3


def test_the_order_of_questions_does_not_matter() -> None:
    questions = made_up(40, 4)
    turned = random.Random(1).sample(questions, len(questions))
    one, other = train(questions), train(turned)
    assert one.card["data"] == other.card["data"]
    assert one.weights == pytest.approx(other.weights, abs=1e-3)
    assert one.card["data"] != train(questions[1:]).card["data"]


def test_too_few_databases_are_refused() -> None:
    with pytest.raises(InputError, match="on 3 databases; at least 4 databases are needed"):
        train(made_up(30, 3))
    with pytest.raises(InputError, match="there are 0 pairs"):
        train([replace(one, right=frozenset()) for one in made_up(30, 6)])


def test_one_database_left_by_a_fold_is_refused_in_words() -> None:
    """Folds are drawn over all databases, so one may hold all but one of those that have pairs."""
    import numpy as np

    with pytest.raises(InputError, match="too few databases to leave any out"):
        _folds(np.array(["a", "a"]), 0)


def figures(right: Sequence[set[int]], scores: Sequence[list[float]]) -> dict[str, object]:
    groups = [tuple(dict.fromkeys(names(), 0.0) for _ in own) for own in scores]
    questions = [Rated(str(at), "db", "", groups[at], frozenset(right[at])) for at in range(len(scores))]
    return figures_of(questions, scores)


def test_figures_by_hand() -> None:
    found = figures([{1}, {0}, set(), set(), {0, 1}], [[0.0, 2.0], [1.0, 1.0], [3.0, 1.0], [], [0.0, 1.0, 5.0]])
    # chosen: the second (right), the first (right, as ties go to the larger), wrong, none, the third (wrong)
    assert found["ex"]["right"] == 2  # type: ignore[index]
    assert found["ex_votes"]["right"] == 2  # type: ignore[index]
    assert found["ex_bound"]["right"] == 3  # type: ignore[index]
    assert (found["won"], found["lost"]) == (1, 1)
    assert found["pairs"]["right"] == 1.5  # type: ignore[index]
    assert found["pairs"]["total"] == 4  # type: ignore[index]
    assert found["pairs_votes"]["right"] == 3  # type: ignore[index]


def test_trained_on_a_run_it_overrules_votes_on_another_database(
    benchmark_folder: Path, train_run: Path, tmp_path: Path
) -> None:
    measured = leaks.evaluation(benchmark_folder)
    weights = from_runs([train_run], None, measured, today=datetime.date(2026, 1, 2))
    held_out = weights.card["held_out"]
    assert held_out["ex_votes"]["right"] == 6
    assert held_out["ex"]["right"] == held_out["ex_bound"]["right"] == 12
    assert weights.card["trained"] == "2026-01-02"
    assert weights.card["runs"][0]["recipe"] == "four"
    assert weights.card["near"] > 0
    save(weights, tmp_path / "own.json")
    save(weights, tmp_path / "own.json")
    assert read(str(tmp_path / "own.json")) == weights
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is no JSON"):
        save(weights, tmp_path / "notes.txt")

    written = ["SELECT name FROM pet", "SELECT name FROM pet", "SELECT count(*) FROM pet", "SELECT id FROM shop"]
    part = SelectPart("light", weights=str(tmp_path / "own.json"))
    recipe = Recipe("own", generate=(GeneratePart(samples=4, temperature=0.8),), fix=FixPart(attempts=0), select=part)
    with connect(benchmark_folder / "database" / "yaks" / "yaks.sqlite") as db:
        answer = Pipeline(recipe, FakeModel([written])).answer(Question("How many pets are there?"), db)
    assert answer.sql == "SELECT count(*) FROM pet"
    assert answer.choice is not None
    assert answer.choice.selector == "light"
    assert sum(answer.choice.scores) == pytest.approx(1)
    assert len(answer.choice.comparisons) == 3


def test_stored_choices_are_those_of_their_weights(
    benchmark_folder: Path, train_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = {"missing_count": -9.0}
    own, other = tmp_path / "own.json", tmp_path / "other" / "own.json"
    other.parent.mkdir()
    save(Weights(counts, {}), own)
    save(Weights({"votes_log": 1.0}, {}), other)
    model = FakeModel("never asked", name="fake")

    def chosen(file: Path) -> list[dict[str, object]]:
        made = choices.select(train_run, benchmark_folder, model, SelectPart("light", weights=str(file)))
        assert made.name == "choices-light-own.jsonl"
        return [json.loads(line) for line in made.read_text().splitlines()]

    first = chosen(own)
    assert chosen(own) == first  # known, so not chosen again
    assert len(chosen(other)) == 2 * len(first)
    assert model.calls == []
    run = stored.load(train_run, benchmark_folder)
    assert set(choices.stored(train_run, run.questions)) == {"light-own"}
    chosen(own)
    found = ablation(run)
    judged = found["judges"]["stored: light-own"]
    assert judged["decided"] == 12
    assert judged["flips"]["percent"] == 0
    assert {one["label"]: one["right"] for one in found["methods"]}["stored: light-own"] == 12


def test_a_run_on_the_evaluation_is_refused(benchmark_folder: Path, train_run: Path) -> None:
    with pytest.raises(InputError, match="may not be trained on"):
        from_runs([train_run], None, spider.load(benchmark_folder, "train"))
