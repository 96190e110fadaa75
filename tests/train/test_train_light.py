from __future__ import annotations

import datetime
import json
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.bench import choices, stored
from sqljury.bench.choices import ALL, Among
from sqljury.datasets import spider
from sqljury.datasets.subset import within
from sqljury.errors import InputError
from sqljury.evaluation import run_folder as folder
from sqljury.experiments.ablation import ablation
from sqljury.llm.fake import Call
from sqljury.llm.open import open_model
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.resources import LOCK
from sqljury.stages.select.base import groups
from sqljury.stages.select.features import JUDGED, features, names
from sqljury.stages.select.light import FORMAT, Weights, read, shares
from sqljury.stages.select.scorers import Scorer
from sqljury.stages.weights import save
from sqljury.train import leaks, logit
from sqljury.train import sketch as sketching
from sqljury.train.light import (
    MIN_QUESTIONS,
    MIN_SCALE,
    VOTES,
    RatedQuestion,
    figures_of,
    train,
    train_from_runs,
    without_logprobs,
)
from sqljury.train.replay import Replayed, evaluation_of_runs, replay, replay_all
from sqljury.train.scores import stored_scores
from sqljury.types import Result, Schema, TestCase, Tried


def made_up(count: int, databases: int, seed: int = 0, signal: float = 2.0) -> list[RatedQuestion]:
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
        found.append(
            RatedQuestion(f"q{number}", f"db{number % databases}", f"{number}", tuple(groups), frozenset([right]))
        )
    return found


def test_what_decides_is_learned_in_its_true_measure() -> None:
    weights = train(made_up(400, 8))
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
        questions.append(RatedQuestion(f"q{number}", f"db{number % 8}", "", groups, frozenset([right])))
    held_out = train(questions).card["held_out"]
    assert held_out["pairs"]["percent"] < 65


def test_where_nothing_can_be_learned_votes_decide() -> None:
    drawn, zeros = random.Random(4), dict.fromkeys(names(), 0.0)
    questions = []
    for number in range(60):
        votes = [{"votes_log": 1.5}, {"votes_log": 0.5}, {"votes_log": 0.0}]
        groups = tuple({**zeros, **{name: drawn.gauss(0, 1) for name in names()[:30]}, **one} for one in votes)
        right = drawn.choices(range(3), weights=[6, 2, 1])[0]
        questions.append(RatedQuestion(f"q{number}", f"db{number % 10}", "", groups, frozenset([right])))
    held_out = train(questions).card["held_out"]
    assert abs(held_out["ex"]["right"] - held_out["ex_votes"]["right"]) <= 3


def test_the_order_of_questions_does_not_matter() -> None:
    questions = made_up(40, 4)
    turned = random.Random(1).sample(questions, len(questions))
    one, other = train(questions), train(turned)
    assert one.card["data"] == other.card["data"]
    assert one.weights == pytest.approx(other.weights, abs=1e-3)
    assert one.card["data"] != train(questions[1:]).card["data"]


def test_of_few_databases_questions_are_left_out() -> None:
    weights = train(made_up(200, 1))
    assert weights.card["held_out_by"] == "question"
    assert weights.card["databases"] == 1
    assert weights.card["held_out"]["ex"]["right"] > weights.card["held_out"]["ex_votes"]["right"]
    assert train(made_up(200, 4)).card["held_out_by"] == "database"


def test_too_few_decided_questions_are_refused() -> None:
    for few in ([], made_up(1, 1)):
        with pytest.raises(InputError, match="too few questions have correct and wrong results"):
            train(few)
    with pytest.raises(InputError, match="too few questions have correct and wrong results"):
        train([replace(one, correct=frozenset()) for one in made_up(30, 6)])


def test_one_database_may_be_left_by_a_fold() -> None:
    """Folds are drawn over all databases, so one may hold all but one of those that are decided."""
    questions = made_up(40, 4)
    undecided = [replace(one, db_id=f"more{at}", correct=frozenset()) for at, one in enumerate(made_up(40, 4))]
    train([*questions, *undecided])


def test_a_database_is_on_one_side_of_a_fold() -> None:
    databases = [f"db{number % 7 if number % 3 else 0}" for number in range(60)]
    dealt = logit.folds(databases, 5, 1)
    assert sorted(place for _, out in dealt for place in out) == list(range(60))
    for learn, out in dealt:
        assert sorted([*learn, *out]) == list(range(60))
        assert not {databases[place] for place in learn} & {databases[place] for place in out}
    assert dealt == logit.folds(databases, 5, 1)
    assert dealt != logit.folds(databases, 5, 2)
    assert len(logit.folds(["a", "b"], 5, 0)) == 2


def test_a_logit_is_where_no_weight_can_be_bettered() -> None:
    import numpy as np

    drawn = random.Random(5)
    questions = [[[drawn.gauss(0, 1) for _ in range(3)] for _ in range(drawn.randint(2, 5))] for _ in range(40)]
    drawn_right = [drawn.sample(range(len(one)), 2 if len(one) > 3 else 1) for one in questions]
    right = [[place in own for place in range(len(one))] for one, own in zip(questions, drawn_right, strict=True)]
    known, penalties = logit.stack(questions, right), np.array([1.0, 2.0, 0.1])

    def height(weights: object) -> float:
        by_hand = 0.0
        for rows, flags in zip(questions, right, strict=True):
            powers = [float(np.exp(np.array(row) @ weights)) for row in rows]
            by_hand -= float(
                np.log(sum(power for power, flag in zip(powers, flags, strict=True) if flag) / sum(powers))
            )
        return by_hand + float(penalties @ np.square(weights)) / 2

    found = logit.fit(known, penalties)
    assert logit.loss(known, known.rows @ found) == pytest.approx(height(found) - float(penalties @ found**2) / 2)
    for place in range(3):
        for by in (-1e-3, 1e-3):
            other = found.copy()
            other[place] += by
            assert height(other) > height(found)
    assert logit.fit(known, penalties, start=found + 3) == pytest.approx(found, abs=1e-6)


def test_what_differs_in_few_questions_is_not_learned_from() -> None:
    questions = [
        replace(one, groups=tuple({**group, "star": float(at < MIN_QUESTIONS - 1 and number in one.correct),
                                   "bounded": float(at < MIN_QUESTIONS and number in one.correct)}
                                  for number, group in enumerate(one.groups)))
        for at, one in enumerate(made_up(80, 8))
    ]  # fmt: skip
    weights = train(questions)
    assert "star" not in weights.weights
    assert "star" in weights.card["too_rare"]
    scales = {name: weights.card["importance"][name] / weights.weights[name] for name in weights.weights}
    assert scales["bounded"] == pytest.approx(MIN_SCALE, rel=1e-3)  # its spread is 0.15: no more weight for that
    assert scales["missing"] > 0.8


def with_judge(questions: Sequence[RatedQuestion], noise: float = 0.8) -> list[RatedQuestion]:
    """The questions with scores of a judge that tends to prefer the right group."""
    drawn = random.Random(3)

    def judged(one: RatedQuestion) -> RatedQuestion:
        scores = [float(number in one.correct) + drawn.gauss(0, noise) for number in range(len(one.groups))]
        groups = (group | {JUDGED: score} for group, score in zip(one.groups, scores, strict=True))
        return replace(one, groups=tuple(groups))

    return [judged(one) for one in questions]


def test_beside_weights_that_stay_the_trust_in_a_judge_is_learned() -> None:
    start = train(made_up(400, 20))
    few = with_judge(made_up(60, 12, seed=5))
    weights = train(few, start=start)
    ratios = [weights.weights[name] / weight for name, weight in start.weights.items() if abs(weight) > 0.01]
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=0.01)
    assert ratios[0] > 0
    assert weights.weights[JUDGED] > 0
    assert set(weights.card["importance"]) == {"start", JUDGED}
    figures, before = weights.card["held_out"], weights.card["start"]
    assert before["digest"] == start.digest
    assert figures["ex"]["right"] > before["ex"]["right"]
    assert figures["log_loss"] < before["log_loss"]
    assert train(few, start=start) == weights


def test_a_judge_that_knows_nothing_leaves_the_weights_as_they_were() -> None:
    start = train(made_up(400, 20))
    weights = train(with_judge(made_up(100, 10, seed=5), noise=1000.0), start=start)
    assert abs(weights.weights[JUDGED]) * 1000 < 0.5


def test_votes_are_not_overruled_by_a_judge_that_only_harms() -> None:
    """What reverses from one half of the databases to the other teaches nothing; the margin then protects votes."""
    drawn = random.Random(8)
    questions = []
    for number in range(120):
        sign = 1 if number % 8 < 4 else -1
        right = int(drawn.random() < 0.3)
        groups = tuple(
            {**dict.fromkeys(names(), 0.0), VOTES: 1.0 - place, "columns": sign * (place == right) + drawn.gauss(0, 1)}
            for place in range(2)
        )
        questions.append(RatedQuestion(f"q{number}", f"db{number % 8}", "", groups, frozenset([right])))
    weights = train(questions)
    assert weights.margin > 0
    assert weights.card["held_out"]["ex"]["right"] >= weights.card["held_out"]["ex_votes"]["right"] - 3


def figures(right: Sequence[set[int]], scores: Sequence[list[float]], margin: float = 0.0) -> dict[str, object]:
    groups = [tuple(dict.fromkeys(names(), 0.0) for _ in own) for own in scores]
    questions = [RatedQuestion(str(at), "db", "", groups[at], frozenset(right[at])) for at in range(len(scores))]
    return figures_of(questions, scores, [margin] * len(scores))


def test_figures_by_hand() -> None:
    found = figures([{1}, {0}, set(), set(), {0, 1}], [[0.0, 2.0], [1.0, 1.0], [3.0, 1.0], [], [0.0, 1.0, 5.0]])
    # chosen: the second (right), the first (right, as ties go to the larger), wrong, none, the third (wrong)
    assert found["ex"]["right"] == 2  # type: ignore[index]
    assert found["ex_votes"]["right"] == 2  # type: ignore[index]
    assert found["ex_bound"]["right"] == 3  # type: ignore[index]
    assert (found["won"], found["lost"], found["changed"]) == (1, 1, 2)
    assert found["pairs"]["right"] == 1.5  # type: ignore[index]
    assert found["pairs"]["total"] == 4  # type: ignore[index]
    assert found["pairs_votes"]["right"] == 3  # type: ignore[index]


def test_a_margin_leaves_votes_alone() -> None:
    found = figures([{1}, {0}], [[0.0, 2.0], [0.0, 1.0]], margin=1.0)
    assert (found["won"], found["lost"], found["changed"]) == (1, 0, 1)


def test_trained_on_a_run_it_overrules_votes_on_another_database(
    benchmark_folder: Path, train_run: Path, tmp_path: Path
) -> None:
    measured = leaks.evaluation_questions(benchmark_folder)
    weights = train_from_runs([train_run], None, measured, today=datetime.date(2026, 1, 2))
    held_out = weights.card["held_out"]
    assert held_out["ex_votes"]["right"] == 6
    assert held_out["ex"]["right"] == held_out["ex_bound"]["right"] == 12
    assert weights.card["trained"] == "2026-01-02"
    assert weights.card["runs"][0]["recipe"] == "four"
    assert weights.card["near"] > 0
    assert weights.card["checked"] == {"databases": 1, "questions": 1}
    save(weights, tmp_path / "own.json")
    save(weights, tmp_path / "own.json")
    assert read(str(tmp_path / "own.json")) == weights
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not JSON"):
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


@pytest.fixture
def moved(benchmark_folder: Path, train_run: Path, tmp_path: Path) -> Path:
    """A run like ``train_run`` on another dataset, whose questions have the same ids."""
    shutil.copytree(benchmark_folder, tmp_path / "data")
    shutil.copytree(train_run, tmp_path / "run")
    (tmp_path / "run" / LOCK).unlink(missing_ok=True)
    described = folder.described(train_run)
    described["dataset"]["data"] = str(tmp_path / "data")
    (tmp_path / "run" / folder.SETTINGS).write_text(json.dumps(described))
    return tmp_path


def test_one_bad_gold_query_and_one_lost_database_leave_the_rest_to_learn_from(moved: Path) -> None:
    data, file = moved / "data", moved / "run" / folder.ANSWERS
    records = [json.loads(line) for line in file.read_text().splitlines()]
    records[0]["gold"] = "SELECT x FROM nowhere"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    lost = records[-1]["db_id"]
    (data / "database" / lost / f"{lost}.sqlite").unlink()
    known = sum(record["db_id"] != lost for record in records)
    with pytest.warns(UserWarning, match=rf"{len(records) - known + 1} of {len(records)} questions are left out"):
        found = list(replay_all([moved / "run"], data, []))
    assert len(found) == known - 1
    assert lost not in {one.database for one in sketching.gold_questions([moved / "run"], data, [])}


def test_a_question_is_known_by_its_text_and_database(train_run: Path, moved: Path) -> None:
    (again := moved / "again").mkdir()
    (again / folder.SETTINGS).write_bytes((train_run / folder.SETTINGS).read_bytes())
    first, *_ = (train_run / folder.ANSWERS).read_text().splitlines(keepends=True)
    renamed = {**json.loads(first), "id": "train-0999"}
    (again / folder.ANSWERS).write_text(json.dumps(renamed) + "\n")
    found = list(replay_all([train_run, moved / "run", again], None, []))
    assert len(found) == 2 * 18
    assert Counter(one.id for one in found) == dict.fromkeys({one.id for one in found}, 2)


def test_what_any_run_may_be_measured_on_is_looked_at(train_run: Path, moved: Path, benchmark_folder: Path) -> None:
    dev = json.loads((moved / "data" / "dev.json").read_text())
    (moved / "data" / "dev.json").write_text(json.dumps([{**one, "db_id": "dogs"} for one in dev]))
    found = evaluation_of_runs([train_run, moved / "run"], None, None)
    assert {one.db_id for one in found} == {"yaks", "dogs"}
    with pytest.raises(InputError, match="dogs: these databases belong to"):
        list(replay_all([train_run, moved / "run"], None, found))
    assert {one.db_id for one in evaluation_of_runs([moved / "run"], benchmark_folder, None)} == {"yaks"}


def test_a_judge_learns_from_the_tests_that_the_run_had(moved: Path) -> None:
    lines = [json.loads(line) for line in (moved / "run" / "answers.jsonl").read_text().splitlines()]
    sql = lines[0]["candidates"][0]["sql"]
    case = TestCase(Schema("s", "sqlite", ()), (), Result(rows=((1,),)), 0.75)
    ran = (Result(rows=((1,),)), Result(rows=((2,),)))
    test = Tried(case, (sql, "SELECT 2"), ran, (True, False), "drawn", "model")
    lines[0]["choice"] = {"tests": [test.to_dict(), "no test"]}
    (moved / "run" / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = {one.id: one.opinions.tests for one in replay_all([moved / "run"], None, [])}
    assert found[lines[0]["id"]] == {sql: 1.0, "SELECT 2": 0.0}
    assert found[lines[1]["id"]] == {}


def scored(run: Path, *names: str) -> list[Replayed]:
    """The run's questions of several groups, with the scores of these choices."""
    data = folder.data_of(run)
    return [
        one for one in replay(run, data, scores=stored_scores([run], names)) if len(set(groups(one.candidates))) > 1
    ]


@pytest.mark.parametrize("selector", ["critic", "critic-independent", "tournament"])
def test_a_judge_learns_from_the_scores_of_another(moved: Path, selector: str) -> None:
    run, data = moved / "run", moved / "data"
    assert not any(one.opinions.judge for one in replay(run, data))
    with pytest.raises(InputError, match=rf"no choices '{selector}'; .*run has none; make them with"):
        stored_scores([run], [selector])
    file = choices.select(run, data, FakeModel("A"), SelectPart(selector))
    name = choices.name_of(file)
    several = scored(run, name)
    assert several
    for one in several:
        assert set(one.opinions.judge) == {one.representative(number).sql for number in groups(one.candidates)}
        assert all(0 <= score <= 1 for score in one.opinions.judge.values())
    first, *_ = one.opinions.judge.values()
    assert features(one.candidates, one.task, one.opinions)[0]["judge_score"] == first
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if json.loads(line)["id"] != several[0].id))
    with pytest.raises(InputError, match=f"{several[0].id}' has no scores in the choices that are named"):
        scored(run, name)


def test_choices_that_give_no_scores_are_refused(moved: Path) -> None:
    run, data = moved / "run", moved / "data"
    for part, among in (
        (SelectPart("first"), ALL),
        (SelectPart("critic"), Among(first=2)),
        (SelectPart("critic"), ALL),
    ):
        choices.select(run, data, FakeModel("A"), part, among=among)
    for name, says in (
        ("first", "'first' were made by first, which has no scores to learn from; name choices of critic, "),
        ("critic-first2", "are among some of the candidates; make them without --part and --first"),
        ("light", "no choices 'light'; .*run has critic, critic-first2, first; make them"),
    ):
        with pytest.raises(InputError, match=says):
            stored_scores([run], [name])
    choices.select(run, data, FakeModel("A"), SelectPart("tournament", 2))
    with pytest.raises(InputError, match=r"'critic' of .* are of critic, shown the used schema, .* among 2 groups"):
        stored_scores([run], ["critic", "tournament-groups2"])


def test_weights_for_candidates_without_log_probabilities_are_learned_beside() -> None:
    questions, blind = made_up(40, 4), made_up(60, 5)
    weights, alone = train(questions, blind=blind), train(blind)
    assert weights.weights == train(questions).weights
    assert weights.blind is not None
    assert weights.blind.weights == alone.weights != weights.weights
    assert weights.blind.margin >= alone.margin  # votes that are right are kept
    figures = weights.card["blind"]
    assert figures["data"] == alone.card["data"]
    assert figures["held_out"]["lost"] <= alone.card["held_out"]["lost"]
    started = train(with_judge(questions), start=weights, blind=with_judge(blind))
    assert started.blind is not None
    assert JUDGED in started.blind.weights


def test_questions_lose_their_log_probabilities_and_nothing_else(train_run: Path) -> None:
    for question in replay_all([train_run], None, []):
        blind = without_logprobs(question)
        assert all(candidate.logprob is None for candidate in blind.candidates)
        assert Counter(one.sql for one in blind.candidates) == Counter(one.sql for one in question.candidates)
        assert len(groups(blind.candidates)) == len(groups(question.candidates))
        assert {blind.representative(number).sql in question.right for number in blind.correct} <= {True}
        assert len(blind.correct) == len(question.correct)


def test_two_judges_share_the_databases_of_a_run(moved: Path, train_run: Path) -> None:
    """As judges that were trained crosswise do: each judges the half that the other was trained on."""
    run, data = moved / "run", moved / "data"
    one, other = FakeModel("A", name="one"), FakeModel("B", name="other")
    half = within("cats,cows,dogs")
    first = choices.select(run, data, one, SelectPart("tournament"), within=half)
    assert (first.name, len(first.read_text().splitlines())) == ("choices-tournament-one.jsonl", 9)
    names = ["tournament-one", "tournament-other"]
    with pytest.raises(InputError, match="no choices 'tournament-other'"):
        stored_scores([run], names)
    choices.select(run, data, other, SelectPart("tournament"), within=lambda name: not half(name))
    assert len(one.calls) == len(other.calls)
    assert {bool(question.opinions.judge) for question in scored(run, *names)} == {True}
    with pytest.raises(InputError, match="has no scores in the choices that are named"):
        scored(run, "tournament-one")
    kept = train_from_runs([run], None, [], scores=["tournament-one"], start=read(), within=half)
    assert kept.card["databases"] == 3
    assert kept.sketch == read().sketch
    for scores, start in (((), read()), (names, replace(read(), weights={JUDGED: 1.0}, scorer=Scorer("tournament")))):
        with pytest.raises(InputError, match="name the scores, and weights that have none yet"):
            train_from_runs([run], None, [], scores=scores, start=start)
    assert stored_scores([run], ["tournament-*"]) == stored_scores([run], names)
    weights = train_from_runs([run], None, [], scores=names)
    assert weights.scorer is None  # both judges prefer a position, so that all comparisons are even
    assert weights.card["scores"] == {
        "selector": "tournament",
        "groups": 0,
        "schema": "used",
        "choices": [{"tournament-one": ["one"], "tournament-other": ["other"]}],
    }
    choices.select(run, data, other, SelectPart("tournament"))
    with pytest.raises(InputError, match="has scores in the choices 'tournament-one' and 'tournament-other'; name one"):
        scored(run, *names)
    with pytest.raises(InputError, match=f"{train_run} has no choices 'tournament-one' or 'tournament-other'"):
        stored_scores([run, train_run], names)


def test_a_judge_of_pairs_that_knows_is_a_feature_and_is_asked(moved: Path, benchmark_folder: Path) -> None:
    """Two runs, each with choices of another judge, of which each is right; a recipe with the weights asks it."""
    run, data, again = moved / "run", moved / "data", moved / "again"
    shutil.copytree(run, again)
    shutil.copytree(data, moved / "other")
    described = folder.described(again)
    described["dataset"]["data"] = str(moved / "other")
    (again / folder.SETTINGS).write_text(json.dumps(described))
    for place, name in ((run, "one"), (again, "two")):
        choices.select(place, folder.data_of(place), knowing(name), SelectPart("tournament"))
    weights = train_from_runs([run, again], None, [], scores=["tournament-one", "tournament-two"])
    assert weights.scorer == Scorer("tournament")
    assert weights.weights["judge_score"] > 0
    save(weights, file := moved / "own.json")
    assert read(str(file)) == weights

    written = ["SELECT name FROM pet", "SELECT name FROM pet", "SELECT count(*) FROM pet", "SELECT id FROM shop"]
    part = SelectPart("light", weights=str(file), judge="judge")
    recipe = Recipe("own", generate=(GeneratePart(samples=4, temperature=0.8),), fix=FixPart(attempts=0), select=part)
    judge = knowing("judge")
    with connect(benchmark_folder / "database" / "yaks" / "yaks.sqlite") as db:
        Pipeline(recipe, FakeModel([written]), models={"judge": judge}).answer(Question("How many pets?"), db)
    assert len(judge.calls) == 6  # three groups, each pair in both orders
    with pytest.raises(InputError, match="use scores of the tournament, which asks a model; name one"):
        choices.select(run, data, open_model("none"), replace(part, judge=""))


def knowing(name: str) -> FakeModel:
    """A judge of pairs that prefers queries that count or take a mean or join."""

    def chosen(call: Call) -> str:
        text = call.messages[-1].content
        first, second = text.index("\nSELECT"), text.rindex("\nSELECT")
        known = [any(word in text[at : at + 40] for word in ("count", "avg", "T2")) for at in (first, second)]
        return "B" if known[1] and not known[0] else "A"

    return FakeModel(chosen, name=name)


def test_votes_in_place_of_a_judge_are_no_opinion(moved: Path) -> None:
    file = choices.select(moved / "run", moved / "data", FakeModel("A"), SelectPart("critic"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    voted = [{**line, "scores": [3.0, 1.0], "note": "too long, so votes decided"} for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in voted))
    assert not any(one.opinions.judge for one in scored(moved / "run", "critic"))


def test_a_judge_learns_from_the_task_that_the_run_had(train_run: Path, moved: Path) -> None:
    described = folder.described(moved / "run")
    described["recipe"]["schema"]["values"] = 6
    (moved / "run" / folder.SETTINGS).write_text(json.dumps(described))
    [told, *_] = replay(moved / "run", moved / "data")
    assert told.task.hits[0][:2] == ("pet", "kind")
    assert told.task.notes
    [untold, *_] = replay(train_run, moved / "data")
    assert untold.task.hits == ()


def test_a_run_that_refines_its_answers_is_refused(moved: Path) -> None:
    described = folder.described(moved / "run")
    described["recipe"]["refine"]["rounds"] = 1
    described["recipe"]["tests"]["kind"] = "suite"
    (moved / "run" / folder.SETTINGS).write_text(json.dumps(described))
    with pytest.raises(InputError, match=r"run: its recipe four refines answers; make a run without \[refine\]"):
        list(replay(moved / "run", moved / "data"))


def test_weights_of_another_version_are_replaced(tmp_path: Path) -> None:
    out = tmp_path / "own.json"
    out.write_text(json.dumps({**Weights({"star": 1.0}, {}).to_json(), "version": 1}))
    FORMAT.check_out(out)
    save(Weights({"star": 2.0}, {}, 0.5), out)
    assert read(str(out)) == Weights({"star": 2.0}, {}, 0.5)
    (tmp_path / "empty").write_text("")
    FORMAT.check_out(tmp_path / "empty")
    with pytest.raises(InputError, match="there is no folder"):
        FORMAT.check_out(tmp_path / "none" / "own.json")
    with pytest.raises(InputError, match="cannot be read"):
        FORMAT.check_out(tmp_path)


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
        train_from_runs([train_run], None, spider.load(benchmark_folder, "train"))
