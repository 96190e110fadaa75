"""What training sees of runs: candidates of several runs, notes that were shown, datasets of all kinds."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, recipes
from sqljury.bench import choices, refining
from sqljury.bench import run as bench
from sqljury.bench.notes import by_url, notes_of
from sqljury.bench.versions import data_versions
from sqljury.cli import _guarded
from sqljury.datasets import benchmarks
from sqljury.datasets.spider import Example
from sqljury.errors import InputError
from sqljury.evaluation import run_folder as folder
from sqljury.project.folder import load as load_project
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.resources import LOCK
from sqljury.train import sketch
from sqljury.train.light import train_from_runs
from sqljury.train.replay import Replayed, evaluation_of_runs, replay, replay_all

RECIPE = Recipe("four", generate=(GeneratePart(samples=4, temperature=0.8),), fix=FixPart(attempts=0))
RunOn = Callable[[benchmarks.Benchmark, list[Example]], Path]
DESCRIPTION = "which kind of animal it is, in the words of the keeper"


@pytest.fixture
def told(train_run: Path) -> dict[str, list[str]]:
    """The four queries that the model wrote for each question."""
    return {record["question"]: [one["sql"] for one in record["candidates"]] for record in folder.records(train_run)}


@pytest.fixture
def again(train_run: Path, tmp_path: Path) -> Path:
    """A second run on the questions of ``train_run``; it has the right query where that run has none."""
    out = tmp_path / "again"
    shutil.copytree(train_run, out)
    (out / LOCK).unlink(missing_ok=True)
    records = folder.records(out)
    for record in records:
        if record["question"].startswith("List"):
            record["candidates"][0]["sql"] = record["gold"]
    (out / folder.ANSWERS).write_text("".join(json.dumps(record) + "\n" for record in records))
    return out


def groups_of(question: Replayed) -> dict[frozenset[str], int]:
    """The different queries of each group, with its votes."""
    numbers = {one.group for one in question.candidates if one.group is not None}
    return {
        frozenset(one.sql for one in question.candidates if one.group == number): sum(
            one.group == number for one in question.candidates
        )
        for number in numbers
    }


def test_a_question_of_two_runs_has_the_candidates_of_both(train_run: Path, again: Path) -> None:
    alone = list(replay_all([train_run], None, []))
    both = list(replay_all([train_run, again], None, [], merge=True))
    assert [one.id for one in both] == [one.id for one in alone]
    for one, merged in zip(alone, both, strict=True):
        assert len(merged.candidates) == 2 * len(one.candidates)
        if one.task.question.text.startswith("List"):
            assert (len(one.correct), len(merged.correct)) == (0, 1)
            assert one.gold in merged.right
        else:
            assert groups_of(merged) == {queries: 2 * votes for queries, votes in groups_of(one).items()}
            assert merged.correct == one.correct
    first = list(replay_all([train_run, again], None, []))
    assert list(map(groups_of, first)) == list(map(groups_of, alone))


def test_sets_are_made_of_the_candidates_of_all_runs(train_run: Path, again: Path, tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"

    def asked(kind: str, *runs: Path) -> list[dict[str, Any]]:
        given = [text for run in runs for text in ("--run", str(run))]
        assert _guarded(["train", "data", kind, *given, "--gold", "never", "--out", str(out)]) == 0
        return [json.loads(line) for line in out.read_text().splitlines()]

    for kind, alone, both in (("pairwise", 12, 18), ("critic", 12, 18), ("generator", 12, 18)):
        for runs, count in (((train_run,), alone), ((train_run, again), both), ((train_run, train_run), alone)):
            made = asked(kind, *runs)
            assert len({(line["meta"]["db_id"], line["meta"]["question"]) for line in made}) == count
            prompts = Counter(json.dumps([line["messages"], line["answer"]]) for line in made)
            assert set(prompts.values()) == {1}  # equal queries of two runs are shown once
    counts = {line["meta"]["question"]: line["meta"]["votes"] for line in asked("generator", train_run, again)}
    assert counts["How many pets are a dog?"] == 2


def test_runs_with_other_gold_queries_are_not_mixed(train_run: Path, again: Path) -> None:
    records = [{**record, "gold": "SELECT 1"} for record in folder.records(again)]
    (again / folder.ANSWERS).write_text("".join(json.dumps(record) + "\n" for record in records))
    assert {len(one.candidates) for one in replay_all([train_run, again], None, [], merge=True)} == {4}


@pytest.fixture
def noted(benchmark_folder: Path, train_run: Path, told: dict[str, list[str]], tmp_path: Path) -> Path:
    """A context folder of one database, with notes and three approved questions, and a run on it in ``run``."""
    place = tmp_path / "context"
    place.mkdir()
    shutil.copy(benchmark_folder / "database" / "dogs" / "dogs.sqlite", place / "dogs.sqlite")
    (place / "sqljury.toml").write_text('[databases.dogs]\nurl = "dogs.sqlite"\n')
    columns = f"tables:\n  pet:\n    columns:\n      kind:\n        description: {DESCRIPTION}\n"
    (place / "notes.yaml").write_text(columns + "rules: [pets of Ann do not count]\n")
    dogs = [record for record in folder.records(train_run) if record["db_id"] == "dogs"]
    pairs = [{"question": record["question"], "sql": record["gold"]} for record in dogs]
    (place / "examples.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    found, of_project = load_project(place).benchmark()
    notes = notes_of(found.examples, of_project, None)
    model = FakeModel(told)
    pipeline = Pipeline(RECIPE, model, notes=by_url(found.examples, notes))
    dataset = found.settings | {"limit": None} | data_versions(found.examples, notes)
    bench.run(found.examples, pipeline, place / "run", bench.settings(pipeline, dataset, 0))
    assert all(DESCRIPTION in call.prompt for call in model.calls)
    return place


def test_sets_show_the_notes_that_the_run_showed(noted: Path, tmp_path: Path) -> None:
    [first, *_] = replay_all([noted / "run"], None, [])
    assert (DESCRIPTION in first.task.text, first.question.evidence) == (True, "")
    assert first.task.question.evidence == "pets of Ann do not count"
    out = tmp_path / "set.jsonl"
    for kind in ("pairwise", "critic", "generator"):
        assert _guarded(["train", "data", kind, "--run", str(noted / "run"), "--out", str(out)]) == 0
        for line in map(json.loads, out.read_text().splitlines()):
            shown = "".join(message["content"] for message in line["messages"])
            assert shown.count("pets of Ann do not count") == 1
            assert DESCRIPTION in shown or "kind" not in line["answer"] + shown.partition("Query A:")[2]


def test_a_service_gets_no_more_than_the_context_folder_allows(
    noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is shown gold as a hint, with rows, where no candidate is correct."""
    service = FakeModel("SELECT 1", local=False)
    monkeypatch.setattr("sqljury.llm.open.open_model", lambda _: service)
    command = ["train", "data", "pairwise", "--run", str(noted / "run"), "--model", "openai:x"]
    (noted / "sqljury.toml").write_text('privacy = "schema"\n[databases.dogs]\nurl = "dogs.sqlite"\n')
    assert _guarded([*command, "--out", str(tmp_path / "set.jsonl")]) != 0
    assert "may get no rows" in capsys.readouterr().err
    assert service.calls == []
    (noted / "sqljury.toml").write_text('[databases.dogs]\nurl = "dogs.sqlite"\n')
    assert _guarded([*command, "--out", str(tmp_path / "set.jsonl")]) == 0
    assert service.calls


def test_another_judge_is_shown_the_notes_of_the_run(noted: Path) -> None:
    judge = FakeModel("A")
    choices.select(noted / "run", noted, judge, SelectPart("tournament"))
    assert judge.calls
    assert all("pets of Ann do not count" in call.prompt for call in judge.calls)


def test_a_refinement_shows_the_notes_of_the_run(noted: Path, tmp_path: Path) -> None:
    model = FakeModel("SELECT 1")
    recipe = recipes.parse("suited", '[tests]\nkind = "suite"\nshots = 0\n[refine]\nrounds = 1')
    refining.refine(noted / "run", tmp_path / "errors", noted, model, recipe, refining.Way("prompt"))
    assert model.calls
    assert all("pets of Ann do not count" in call.prompt for call in model.calls)


def test_notes_that_have_changed_are_refused(noted: Path, tmp_path: Path) -> None:
    (noted / "notes.yaml").write_text("rules: [pets of Ben do not count]\n")
    recipe = recipes.load("tssql")
    with pytest.raises(InputError, match="the notes on dogs are not those"):
        refining.refine(noted / "run", tmp_path / "refined", noted, FakeModel("A"), recipe, refining.Way())
    with pytest.raises(InputError, match=r"run: the notes on dogs are not those that the run showed; restore them in "):
        list(replay(noted / "run", noted))
    with pytest.raises(InputError, match="the notes on dogs are not those"):
        choices.select(noted / "run", noted, FakeModel("A"), SelectPart("tournament"))
    described = folder.described(noted / "run")
    described["dataset"]["notes"] = "0123456789abcdef"  # of which database is not known
    (noted / "run" / folder.SETTINGS).write_text(json.dumps(described))
    with pytest.raises(InputError, match="run: the notes are not those that the run showed"):
        list(replay(noted / "run", noted))


@pytest.fixture
def run_on(told: dict[str, list[str]], tmp_path: Path) -> RunOn:
    """Makes a run on some questions of a dataset."""

    def made(found: benchmarks.Benchmark, examples: list[Example]) -> Path:
        pipeline = Pipeline(RECIPE, FakeModel(told))
        dataset = found.settings | {"limit": None}
        bench.run(examples, pipeline, tmp_path / "run", bench.settings(pipeline, dataset, 0))
        return tmp_path / "run"

    return made


def written(kind: str, benchmark_folder: Path, root: Path) -> benchmarks.Benchmark:
    """The training questions of ``benchmark_folder`` as a dataset of another kind."""
    entries = json.loads((benchmark_folder / "train.json").read_text())
    dev = [{"question": "How many?", "query": "SELECT 1", "SQL": "SELECT 1", "db_id": "yaks"}]
    databases = root / ("train_databases" if kind == "bird" else "database")
    shutil.copytree(benchmark_folder / "database", databases)
    if kind == "jsonl":
        (root / "dev.json").write_text(json.dumps(dev))
        lines = [{"id": f"q{number}", **entry} for number, entry in enumerate(entries)]
        (root / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return benchmarks.load(root / "mine.jsonl", databases=databases)
    if kind == "bird":
        (root / "dev.json").write_text(json.dumps(dev))
        (root / "train.json").write_text(json.dumps([{**entry, "SQL": entry["query"]} for entry in entries]))
    else:
        turns = {"train": entries, "dev": dev}
        for split, asked in turns.items():
            dialogues = [
                {"database_id": one["db_id"], "interaction": [{"utterance": one["question"], "query": one["query"]}]}
                for one in asked
            ]
            (root / f"cosql_{split}.json").write_text(json.dumps(dialogues))
    return benchmarks.load(root, None, "train")


@pytest.fixture(params=["jsonl", "bird", "cosql"])
def dataset(request: pytest.FixtureRequest, benchmark_folder: Path, tmp_path: Path) -> benchmarks.Benchmark:
    root = tmp_path / "data"
    root.mkdir()
    return written(request.param, benchmark_folder, root)


def test_a_light_judge_learns_from_datasets_of_all_kinds(dataset: benchmarks.Benchmark, run_on: RunOn) -> None:
    """Its sketch from all questions of the split, whatever the run was on."""
    run = run_on(dataset, [*dataset.examples[:9], *dataset.examples[12:]])
    evaluation = evaluation_of_runs([run], None, None)
    assert {one.db_id for one in evaluation} == {"yaks"}
    weights = train_from_runs([run], None, evaluation)
    assert weights.card["questions"] == 15
    assert len(sketch.gold_questions([run], None, evaluation)) == 18
    lost = Path(dataset.examples[0].database)
    lost.unlink()  # its questions are left out, whoever reads them
    assert len(sketch.gold_questions([run], None, evaluation)) == 15


def test_a_file_of_questions_that_has_changed_leaves_those_of_the_run(
    benchmark_folder: Path, run_on: RunOn, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    found = written("jsonl", benchmark_folder, tmp_path / "data")
    run = run_on(found, list(found.examples[:6]))
    file = tmp_path / "data" / "mine.jsonl"
    assert len(sketch.gold_questions([run], None, [])) == 18
    file.write_text(file.read_text().replace("SELECT avg", "SELECT sum"))
    assert len(sketch.gold_questions([run], None, [])) == 6
    file.unlink()
    assert len(sketch.gold_questions([run], None, [])) == 6


def test_a_light_judge_learns_from_a_context_folder(noted: Path) -> None:
    assert evaluation_of_runs([noted / "run"], None, None) == []
    assert len(sketch.gold_questions([noted / "run"], None, [])) == 3
    with pytest.raises(InputError, match=r"too few questions have correct and wrong results|no feature differs"):
        train_from_runs([noted / "run"], None, [])
