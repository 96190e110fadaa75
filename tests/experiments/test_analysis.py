"""Bounds, overlap, ablations and judges of a run of four questions, every figure worked out by hand.

Right (R), wrong (W) or failing (X) at the end, by part of the recipe, and in the cases that are repaired:

    question        1 direct, greedy    2 direct, two samples    3 other, three samples     right of direct, other, all
    How many cats   W (7)               W W (7, 9)               R R R                      0/3  3/3  3/6
    old cats        R (names bound)     W W                      W W R                      1/3  1/3  2/6
    by age          R                   W R                      W W W                      2/3  0/3  2/6
    How many dogs   R (by the model)    R R (by the model)       R X X (by the model, -)    3/3  1/3  4/6

All of "by age" is one group, for order does not tell results apart when votes are counted; four of its queries sort
the wrong way. The last two of the dogs stay as they are, since four votes decide against two.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import choices, run, stored
from sqljury.bench.run import Controls
from sqljury.context import Context
from sqljury.datasets import spider
from sqljury.engines.databases import Databases
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import report, targets, verdicts
from sqljury.evaluation import run_folder as folder
from sqljury.experiments import ablation, bounds, judges
from sqljury.experiments import bounds as overlap
from sqljury.llm.base import Message
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart, StopPart
from sqljury.stages.generate import GENERATORS
from sqljury.stages.generate.base import Request
from sqljury.types import Comparison, Task

CATS, OLD = "SELECT count(*) FROM cat", "SELECT name FROM cat WHERE age > 5"
UP, DOWN = "SELECT name FROM cat ORDER BY age", "SELECT name FROM cat ORDER BY age DESC"
ALL, BROKEN = "SELECT name FROM cat", "SELECT zzz FROM dog"
WRITTEN = {
    "How many cats": (["SELECT 7"], ["SELECT 7", "SELECT 9"], [CATS, "SELECT count(id) FROM cat", CATS]),
    "old cats": (["SELECT nme FROM cat WHERE agee > 5"], [ALL, ALL], [ALL, ALL, OLD]),
    "by age": ([UP], [DOWN, UP], [DOWN, DOWN, DOWN]),
    "How many dogs": ([BROKEN], [BROKEN, BROKEN], [BROKEN, BROKEN, BROKEN]),
}
RECIPE = Recipe(
    "test",
    generate=(
        GeneratePart("direct"),
        GeneratePart("direct", samples=2, temperature=1.0),
        GeneratePart("other", samples=3, temperature=0.5),
    ),
)


def other(task: Task, part: GeneratePart, drafts: Sequence[str], context: Context) -> Request:
    """A second generator, which only the temperature tells from the first."""
    asked = GENERATORS["direct"](task, part, drafts, context)
    return replace(asked, messages=(*asked.messages[:-1], Message("user", asked.messages[-1].content + " Think.")))


def says(call: Call) -> Sequence[str]:
    if "refused that query" in call.prompt:
        return ["SELECT count(*) FROM dog"]
    part = {0.0: 0, 1.0: 1, 0.5: 2}[call.sampling.temperature]
    return next(parts[part] for question, parts in WRITTEN.items() if question in call.prompt)


@pytest.fixture
def out(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the run."""
    monkeypatch.setitem(GENERATORS, "other", other)
    pipeline = Pipeline(RECIPE, FakeModel(says))
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", run.settings(pipeline, {}, 0))
    return tmp_path / "run"


@pytest.fixture
def asked(out: Path, data: Path) -> stored.StoredRun:
    return stored.load(out, data)


def rows(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["source"]: row for row in found["rows"]}


def percents(shares: dict[str, dict[str, Any]]) -> list[float]:
    return [share["percent"] for share in shares.values()]


def test_one_candidate_of_each_source(asked: stored.StoredRun) -> None:
    found = rows(bounds.bounds(asked))
    assert list(found) == [
        *("1 direct, greedy", "2 direct, 2 at T 1", "3 other, 3 at T 0.5"),
        *("direct", "other", "all"),
    ]
    ex = {source: percents(row["ex"]) for source, row in found.items()}  # as written, repaired, after the fixer
    assert ex == {
        "1 direct, greedy": [25.0, 50.0, 75.0],  # by age; old cats; dogs
        "2 direct, 2 at T 1": [12.5, 12.5, 37.5],  # 1/2 of by age; both dogs
        "3 other, 3 at T 0.5": [33.3, 33.3, 41.7],  # 1 + 1/3; 1/3 of dogs
        "direct": [16.7, 25.0, 50.0],  # 2/3; + 1/3; + 1, of 4
        "other": [33.3, 33.3, 41.7],
        "all": [25.0, 29.2, 45.8],  # 3/6 + 1/6 + 2/6; + 1/6; + 4/6, of 4
    }
    assert [share["right"] for share in found["direct"]["runs"].values()] == [8, 9, 12]
    assert [share["right"] for share in found["other"]["runs"].values()] == [9, 9, 10]
    assert found["other"]["candidates"] == 12
    ends = {source: (row["upper"]["right"], row["lower"]["right"]) for source, row in found.items()}
    assert (ends["direct"], ends["other"], ends["all"]) == ((3, 1), (3, 1), (4, 0))


def test_intervals_are_over_questions(asked: stored.StoredRun) -> None:
    ex = rows(bounds.bounds(asked))["1 direct, greedy"]["ex"]["fixed"]
    assert (ex["right"], ex["total"]) == (3.0, 4)
    assert (ex["low"], ex["high"]) == (30.1, 95.4)  # Wilson's of 3 in 4


def test_bounds_against_the_number_of_candidates(asked: stored.StoredRun) -> None:
    curves = bounds.bounds(asked)["curves"]
    both = [(at["upper"]["percent"], at["lower"]["percent"]) for at in curves["direct"]]
    assert both == [(50.0, 50.0), (66.7, 33.3), (75.0, 25.0)]  # k = 2: 0 + 2/3 + 1 + 1, and 0 + 0 + 1/3 + 1, of 4
    in_order = [(at["upper_in_order"]["right"], at["lower_in_order"]["right"]) for at in curves["direct"]]
    assert in_order == [(3, 3), (3, 1), (3, 1)]
    assert curves["direct"][2]["votes_in_order"]["right"] == 2  # by age and dogs
    assert len(curves["all"]) == 6
    two = curves["all"][1]  # upper 1 - C(n-r,2)/15: .8 + .6 + .6 + 14/15; lower C(r,2)/15: 3 + 1 + 1 + 6
    assert (two["upper"]["percent"], two["lower"]["percent"]) == (73.3, 18.3)
    last = curves["all"][5]
    assert (last["upper"]["right"], last["lower"]["right"], last["votes_in_order"]["right"]) == (4, 0, 2)


def test_the_curve_by_hardness_covers_the_questions(asked: stored.StoredRun) -> None:
    assert [one.hardness for one in asked.questions] == ["easy"] * 4
    assert bounds.bounds(asked)["hardness"] == {"easy": bounds.bounds(asked)["curves"]["all"]}


@pytest.mark.parametrize(
    ("size", "right", "k", "some", "every"),
    [(4, 2, 2, 5 / 6, 1 / 6), (4, 0, 3, 0, 0), (4, 4, 3, 1, 1), (2, 1, 5, 1, 0), (2, 2, 5, 1, 1), (0, 0, 3, 0, 0)],
)
def test_expected_bounds_of_subsets(size: int, right: int, k: int, some: float, every: float) -> None:
    assert bounds.some_right(size, right, k) == pytest.approx(some)
    assert bounds.all_right(size, right, k) == pytest.approx(every)


def test_who_solves_what(asked: stored.StoredRun) -> None:
    found = overlap.overlap(asked)
    regions = {tuple(region["generators"]): region["questions"] for region in found["regions"]}
    assert regions == {("direct", "other"): 2, ("direct",): 1, ("other",): 1}
    assert (found["none"], found["questions"]) == (0, 4)
    own = {
        one["generator"]: (one["asked"], one["candidates"], one["solved"], one["unique"]) for one in found["generators"]
    }
    assert own == {"direct": (4, 12, 3, 1), "other": (4, 12, 3, 1)}
    assert found["generators"][0]["unique_by_hardness"]["easy"] == 1
    assert found["pairs"] == [
        {"first": "direct", "second": "other", "both": 2, "first_only": 1, "second_only": 1, "neither": 0}
    ]
    assert found["databases"] == {"more": {"direct": 1, "other": 1}, "pets": {"direct": 2, "other": 2}}


def test_eval_says_the_same(asked: stored.StoredRun, out: Path, data: Path) -> None:
    """The other program over runs, which executes everything itself."""
    for one, verdict in zip(asked.questions, report.judge_run(folder.records(out), Databases(data)), strict=True):
        assert verdict.steps == {
            "first candidate": one.right(one.candidates[0].queries[stored.WRITTEN]),
            "first candidate, names bound": one.right(one.candidates[0].queries[stored.REPAIRED]),
            "votes": one.right(one.voted(one.candidates, stored.WRITTEN)),
            "votes, names bound": one.right(one.voted(one.candidates, stored.REPAIRED)),
            "answer": one.right(one.sql),
            "one of the candidates": any(one.right(candidate.queries[stored.FIXED]) for candidate in one.candidates),
        }
        assert verdict.hardness == one.hardness
        assert verdict.runs == sum(one.runs(candidate.queries[stored.WRITTEN]) for candidate in one.candidates)


def methods(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {method["label"]: method for method in found["methods"]}


def test_ways_to_choose_and_what_is_lost_without_a_part(asked: stored.StoredRun) -> None:
    found = methods(ablation.ablation(asked, (0.5, 1.0)))
    assert {label: method["percent"] for label, method in found.items()} == {
        "the run's answer (consistency)": 50.0,
        "consistency (votes)": 50.0,  # cats and dogs
        "first that runs": 75.0,  # all but cats
        "random, expected": 54.2,  # 3/6 + 2/6 + 2/6 + 4/4
        "oracle (best choice)": 100.0,
        "adversary (worst choice)": 25.0,  # dogs: those that run are all right
        "direct": 50.0,  # cats and dogs
        "other": 50.0,  # by age and dogs
        "the model's fixer": 25.0,  # cats
        "binding names to the schema": 50.0,  # the old cat alone, against four of one mind
        "any repair": 25.0,
        "at a share of 0.5 of at least 2": 50.0,  # by age of direct alone, dogs of all
        "at a share of 1 of at least 2": 75.0,  # cats and dogs of all, by age of direct alone
    }
    em = {label: method["em"] and method["em"]["percent"] for label, method in found.items()}
    assert em["the run's answer (consistency)"] == 25 * sum(one.sql == one.gold for one in asked.questions) > 0
    assert em["consistency (votes)"] == em["the run's answer (consistency)"]
    assert em["first that runs"] == 75.0  # all but cats
    assert em["oracle (best choice)"] is None
    without = found["other"]
    assert (without["difference"], without["won"], without["lost"], without["p"]) == (0.0, 1, 1, 1.0)
    assert found["first that runs"]["of_bound"] == 75.0
    assert found["first that runs"]["difference"] == 25.0


def test_stopping_early_saves_the_parts_that_are_not_asked(asked: stored.StoredRun) -> None:
    found = methods(ablation.ablation(asked, (0.5, 1.0)))
    assert found["at a share of 0.5 of at least 2"]["candidates"] == 3.75  # only the dogs do not agree after three
    assert found["at a share of 1 of at least 2"]["candidates"] == 5.25  # only by age does
    skipped = sum(_tokens(one.steps["3 other"]) for one in asked.questions if "dogs" not in one.text)
    whole = sum(_tokens(cost) for one in asked.questions for cost in one.steps.values())
    assert found["at a share of 0.5 of at least 2"]["tokens"] == pytest.approx((whole - skipped) / 4, abs=0.01)


def test_stopping_early_saves_seconds_of_the_whole(out: Path, data: Path) -> None:
    """The model is not all that takes time: what is saved is the step, and the rest of the question stays."""

    def timed(record: dict[str, Any]) -> None:
        record["cost"]["seconds"] = 10.0
        for step in record["steps"].values():
            step["seconds"] = 2.0

    for place in range(4):
        change(out, place, timed)
    asked = stored.load(out, data)
    found = methods(ablation.ablation(asked, (0.5, 1.0)))
    assert found["at a share of 0.5 of at least 2"]["seconds"] == 8.5  # all but the dogs save one part
    assert found["at a share of 1 of at least 2"]["seconds"] == 9.5
    assert ablation.steps(asked.only({0, 1}))["all"]["seconds"] == 8.0


def test_stopping_early_waits_for_so_many(asked: stored.StoredRun) -> None:
    found = methods(ablation.ablation(asked, (0.5,), stop_least=4))
    assert found["at a share of 0.5 of at least 4"]["candidates"] == 6.0  # the first two parts are but three
    found = methods(ablation.ablation(asked, (0.5,), stop_least=3))
    assert found["at a share of 0.5 of at least 3"]["candidates"] == 3.75
    found = methods(ablation.ablation(replace(asked, recipe=replace(RECIPE, stop=StopPart(least=4))), (0.5,)))
    assert "at a share of 0.5 of at least 4" in found  # the recipe's own rule, unless told otherwise


def _tokens(cost: Any) -> int:
    return int(cost.prompt_tokens - cost.cached_tokens + cost.completion_tokens)


def test_calls_by_step(asked: stored.StoredRun) -> None:
    calls = {step: figures["calls"] for step, figures in ablation.steps(asked).items()}
    assert calls == {"1 direct": 1.0, "2 direct": 1.0, "3 other": 1.0, "fix": 0.25, "all": 3.25}


def test_a_judge_of_pairs(asked: stored.StoredRun) -> None:
    cats, old = asked.questions[:2]
    groups = {one.text: [candidate.group for candidate in one.candidates] for one in (cats, old)}
    assert groups[cats.text] == [1, 1, 2, 0, 0, 0]  # 0 is right
    assert groups[old.text] == [1, 0, 0, 0, 0, 1]  # 1 is right
    found = judges.accuracy(
        [
            (
                cats,
                groups[cats.text],
                [Comparison(0, 1, 0.9, 0.6), Comparison(0, 2, 0.4, 0.3), Comparison(1, 2, 0.8, 0.2)],
            ),
            (old, groups[old.text], [Comparison(0, 1, 0.3, 0.6)]),
        ]
    )
    assert found is not None
    assert (found["pairs"], found["decided"]) == (4, 3)
    assert found["ex"]["right"] == 2  # means of .75, .35 and, for the second, .55
    assert found["shown_first"]["right"] == 1  # .9, .4, .4
    assert found["shown_second"]["right"] == 2  # .6, .3, .7
    assert found["flips"]["right"] == 2  # .8 / .2 and .3 / .6
    assert found["first_place"] == 0.5875  # (.65 + .55 + .8 + .35) / 4
    assert judges.accuracy([(cats, groups[cats.text], [])]) is None


def test_other_selectors_on_the_stored_candidates(out: Path, data: Path) -> None:
    silent = FakeModel([])
    assert choices.select(out, data, silent, SelectPart("first")) == out / "choices-first.jsonl"
    judge = FakeModel("A", name="judge/1")  # always the one shown first
    file = choices.select(out, data, judge, SelectPart("tournament", groups=2))
    assert file == out / "choices-tournament-groups2-judge_1.jsonl"
    assert (len(silent.calls), len(judge.calls)) == (0, 4)  # cats and old cats have two groups among two, both orders
    found = ablation.ablation(stored.load(out, data))
    chosen = methods(found)
    assert (chosen["stored: first"]["percent"], chosen["stored: first"]["total"]) == (75.0, 4)
    assert chosen["stored: tournament-groups2-judge_1"]["percent"] == 50.0  # ties go to the votes
    (own,) = found["judges"].values()
    assert (own["pairs"], own["decided"], own["ex"]["percent"], own["flips"]["percent"]) == (2, 2, 50.0, 100.0)
    assert own["first_place"] == 1.0
    assert found["choosing"]["tournament-groups2-judge_1"]["calls"] == 1.0


def test_a_critic_on_the_stored_candidates(out: Path, data: Path) -> None:
    judge = FakeModel("A")
    file = choices.select(out, data, judge, SelectPart("critic"))
    assert file == out / "choices-critic.jsonl"
    assert len(judge.calls) == 5  # three results of the cats in three orders, two of the old cats in two
    found = ablation.ablation(stored.load(out, data))
    assert methods(found)["stored: critic"]["percent"] == methods(found)["consistency (votes)"]["percent"]
    (own,) = found["judges"].values()
    assert (own["pairs"], own["decided"], own["ex"]["percent"]) == (4, 3, 50.0)
    assert own["first_place"] == 1.0


def test_choices_among_the_first_candidates(out: Path, data: Path) -> None:
    model = FakeModel("A")
    for first in (1, 3):
        file = choices.select(out, data, model, SelectPart("critic"), among=choices.Among(first))
        assert file == out / f"choices-critic-first{first}.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {len(line["groups"]) for line in lines} == {3}
    found = methods(ablation.ablation(stored.load(out, data)))
    assert found["stored: critic-first1"]["percent"] == 75.0  # all but the cats begin with a right query
    assert found["stored: critic-first3"]["percent"] == 50.0  # ties go to the votes: old cats are lost too
    change(out, 1, lambda record: record["candidates"].pop())
    found = methods(ablation.ablation(stored.load(out, data)))
    assert found["stored: critic-first3"]["total"] == 4  # what took no part does not matter


def test_tests_choose_among_the_stored_candidates(out: Path, data: Path) -> None:
    """The model expects one row, which says 9; settings of the tests are settings of the choices."""
    model = FakeModel("9")
    file = choices.select(out, data, model, SelectPart("rerank"))
    assert file == out / "choices-rerank.jsonl"
    assert len(model.calls) == 2  # cats; old cats, whose queries one small database tells apart
    cats, *others = map(json.loads, file.read_text().splitlines())
    assert (cats["sql"], cats["scores"]) == ("SELECT 9", [0.0, 0.0, 1.0])
    assert cats["tests"][0]["passed"] == [False, False, True]
    assert cats["settings"]["shots"] == 7
    assert [one["tests"] for one in others[1:]] == [[], []]
    assert choices.select(out, data, FakeModel([]), SelectPart("rerank")) == file  # all there
    few = replace(choices.SUITE, shots=1, form="sqlite")
    other = choices.select(out, data, model, SelectPart("rerank"), tests=few)
    assert other == out / "choices-rerank-formsqlite-shots1.jsonl"
    assert len(model.calls) == 4
    chosen = methods(ablation.ablation(stored.load(out, data)))
    assert chosen["stored: rerank"]["total"] == chosen["stored: rerank-formsqlite-shots1"]["total"] == 4


def test_votes_choose_again_as_the_run_did(out: Path, data: Path) -> None:
    file = choices.select(out, data, FakeModel([]), SelectPart("consistency"))
    chosen = [json.loads(line) for line in file.read_text().splitlines()]
    answers = folder.records(out)
    assert [one["sql"] for one in chosen] == [one["sql"] for one in answers]
    groups = [[candidate["group"] for candidate in one["candidates"]] for one in answers]
    assert [one["groups"] for one in chosen] == groups


def test_choices_go_on_where_they_stopped(out: Path, data: Path) -> None:
    file = choices.select(out, data, FakeModel("A"), SelectPart("tournament"))
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:1]) + lines[1][:20])
    told: list[int] = []
    model = FakeModel("A")
    choices.select(out, data, model, SelectPart("tournament"), Controls(lambda done, total, _: told.append(done)))
    assert told == [1, 2, 3, 4]
    assert len(model.calls) == 2  # old cats; the others are one group, or were there
    before, after = ([json.loads(line) for line in text] for text in (lines, file.read_text().splitlines()))
    assert [(one["id"], one["sql"], one["groups"]) for one in after] == [
        (one["id"], one["sql"], one["groups"]) for one in before
    ]


def test_choices_among_other_candidates_do_not_count(out: Path, data: Path) -> None:
    choices.select(out, data, FakeModel([]), SelectPart("first"))
    change(out, 1, lambda record: record["candidates"].pop())
    found = methods(ablation.ablation(stored.load(out, data)))
    assert found["stored: first"]["total"] == 3
    choices.select(out, data, FakeModel([]), SelectPart("first"))
    found = methods(ablation.ablation(stored.load(out, data)))
    assert found["stored: first"]["total"] == 4


def test_choices_that_are_none(out: Path, data: Path) -> None:
    with pytest.raises(InputError, match="no selector 'best'; known are"):
        choices.select(out, data, FakeModel([]), SelectPart("best"))
    file = choices.select(out, data, FakeModel([]), SelectPart("first"))
    sound = file.read_text()
    for line, what in (("{}\n", "line 1: id is missing"), (sound.replace('"groups": [', '"groups": [0, '), "groups")):
        file.write_text(line)
        with pytest.raises(DatasetError, match=what):
            ablation.ablation(stored.load(out, data))
    file.write_text(sound.replace('"sql": "SELECT 7"', '"sql": "SELECT 1"'))
    with pytest.raises(DatasetError, match="none of the candidates"):
        ablation.ablation(stored.load(out, data))


def change(out: Path, place: int, edit: Any) -> None:
    """Edit one record of a run."""
    file = out / folder.ANSWERS
    records = [json.loads(line) for line in file.read_text().splitlines()]
    edit(records[place])
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_queries_are_judged_once(out: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = stored.load(out, data)
    judged: list[str] = []
    real = verdicts.judge_all

    def counting(asked: Any, *rest: Any) -> Any:
        judged.extend(one.id for one in asked)
        return real(asked, *rest)

    monkeypatch.setattr(verdicts, "judge_all", counting)
    assert stored.load(out, data) == first
    assert judged == []
    change(out, 2, lambda record: record["candidates"][0].update(sql="SELECT 1"))
    changed = stored.load(out, data)
    assert judged == ["dev-0002"]
    assert rows(bounds.bounds(changed))["1 direct, greedy"]["ex"]["fixed"]["percent"] == 50.0
    database = data / "database" / "more" / "more.sqlite"
    os.utime(database, (1, 1))
    stored.load(out, data)
    assert judged == ["dev-0002", "dev-0003"]
    kept = (out / verdicts.VERDICTS).read_text()
    for text in (
        '{"id": 3}\nnonsense\n',
        kept.replace('"form": 0', '"form": 1000000000000'),
        kept.replace('"deviation": "', '"deviation": "x'),
    ):
        judged.clear()
        (out / verdicts.VERDICTS).write_text(text)
        assert stored.load(out, data) == changed
        assert len(judged) == 4


def test_a_query_that_ends_its_process_is_wrong_and_the_rest_is_judged(
    out: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = targets.connect

    class Deadly:
        def __init__(self, file: Path) -> None:
            self.real = real(file)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def execute(self, sql: str, *more: Any) -> Any:
            if sql == CATS:
                os._exit(9)
            return self.real.execute(sql, *more)

    change(out, 0, lambda record: record.update(gold="SELECT count(id) FROM cat"))
    monkeypatch.setattr(targets, "connect", Deadly)
    # A process that is spawned, as beside other threads, would not know of the deadly database.
    monkeypatch.setattr("sqljury.parallel.processes.threading.active_count", lambda: 1)
    asked = stored.load(out, data)
    cats = asked.questions[0]
    assert "its process died" in str(cats.tried(CATS).error)
    assert not cats.right(CATS)
    assert cats.right("SELECT count(id) FROM cat")
    assert asked.faults == ()
    change(out, 0, lambda record: record.update(gold=CATS))
    ((name, fault),) = stored.load(out, data).faults
    assert name == "dev-0000"
    assert "the gold query its process died" in fault


def test_questions_whose_gold_fails_are_left_out(out: Path, data: Path) -> None:
    change(out, 3, lambda record: record.update(gold="SELECT nothing FROM dog"))
    asked = stored.load(out, data)
    assert [one.id for one in asked.questions] == ["dev-0000", "dev-0001", "dev-0002"]
    assert asked.faults[0][0] == "dev-0003"
    assert rows(bounds.bounds(asked))["all"]["upper"]["total"] == 3


def test_a_source_that_was_not_asked_is_not_wrong_but_a_question_without_candidates_is(out: Path, data: Path) -> None:
    change(out, 0, lambda record: record.update(candidates=record["candidates"][:3]))  # stopped before `other`
    change(out, 3, lambda record: record.update(candidates=[], sql=""))  # failed before anything was written
    found = rows(bounds.bounds(stored.load(out, data)))
    assert found["other"]["questions"] == 3
    assert found["other"]["ex"]["fixed"]["right"] == pytest.approx(1 / 3, abs=1e-4)  # old cats alone
    assert found["direct"]["questions"] == 4
    assert found["direct"]["lower"]["right"] == 0


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda record: record["candidates"][0].pop("part"), "part is missing"),
        (lambda record: record["candidates"][0].update(part=7), "part 7 of the recipe is not by 'direct'"),
        (lambda record: record["candidates"][0].update(part=-1), "part -1"),
        (lambda record: record["candidates"][0].update(tokens="x"), "tokens is of the wrong kind"),
        (lambda record: record["candidates"][0].update(part="x"), "part is of the wrong kind"),
        (lambda record: record.update(evidence=3), "evidence is of the wrong kind"),
        (lambda record: record["candidates"][0].update(generator="x"), "is not by 'x'"),
        (lambda record: record.update(steps=[]), "steps"),
        (lambda record: record.update(steps={"fix": {"calls": "1"}}), "a cost is of the wrong kind"),
        (lambda record: record.update(choice={"comparisons": [{}]}), "a comparison: first is missing"),
        (lambda record: record.update(choice={"comparisons": 3}), "comparisons are no list"),
    ],
)
def test_records_that_cannot_be_analysed(out: Path, data: Path, edit: Any, what: str) -> None:
    change(out, 0, edit)
    with pytest.raises(DatasetError, match=what) as error:
        stored.load(out, data)
    assert "'dev-0000'" in str(error.value) or "line 1" in str(error.value)


@pytest.mark.parametrize("limits", [None, {}, {"seconds": 1.0, "rows": 2.5, "bytes": 9}, {"rows": 1}])
def test_settings_that_cannot_be_used(out: Path, data: Path, limits: Any) -> None:
    settings = json.loads((out / folder.SETTINGS).read_text())
    for wrong in ({"limits": limits}, {"recipe": {"name": "x", "generate": []}}, {"recipe": {"name": "x", "y": 1}}):
        (out / folder.SETTINGS).write_text(json.dumps({**settings, **wrong}))
        with pytest.raises(DatasetError, match=r"run\.json: "):
            stored.load(out, data)


def test_a_database_that_has_gone(out: Path, data: Path) -> None:
    (data / "database" / "more" / "more.sqlite").unlink()
    assert [name for name, _ in stored.load(out, data).faults] == ["dev-0003"]
    (data / "database" / "pets" / "pets.sqlite").unlink()
    assert [name for name, _ in stored.load(out, data).faults] == ["dev-0003"]  # the others' verdicts are kept
    (out / verdicts.VERDICTS).unlink()
    with pytest.raises(DatasetError, match=r"none of its 4 questions can be judged; .*pets\.sqlite.* --data"):
        stored.load(out, data)


def test_a_finished_run_is_known_without_its_model(out: Path, data: Path) -> None:
    examples = spider.load(data, "dev")
    pipeline = Pipeline(RECIPE, FakeModel([]))
    wanted = run.conditions(pipeline.recipe, pipeline.limits, pipeline.allowance, pipeline.pool)
    assert run.is_finished(examples, out, wanted)
    assert not run.is_finished(examples, out.parent / "none", wanted)
    assert not run.is_finished(examples, out, {**wanted, "seed": 3})
    file = out / folder.ANSWERS
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    assert not run.is_finished(examples, out, wanted)
    assert run.is_finished(examples[:3], out, wanted)


def test_parts_alone_are_the_run_without_the_others(asked: stored.StoredRun) -> None:
    direct = asked.only({0, 1})
    assert direct.generators == ("direct",)
    assert [one.right(one.sql) for one in direct.questions] == [False, False, True, True]
    assert [any(one.right(two.queries[stored.FIXED]) for two in one.candidates) for one in direct.questions] == [
        False,
        True,
        True,
        True,
    ]
    assert all("3 other" not in one.steps and "1 direct" in one.steps for one in direct.questions)
    assert [one.cost.calls for one in direct.questions] < [one.cost.calls for one in asked.questions]
    assert set(rows(bounds.bounds(direct))) == {"all", "direct", "1 direct, greedy", "2 direct, 2 at T 1"}
    for parts in (set[int](), {3}, {-1, 0}):
        with pytest.raises(InputError, match="the parts 1 to 3"):
            asked.only(parts)
