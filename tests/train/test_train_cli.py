from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sqljury.cli import _guarded
from sqljury.stages.select.light import read


@pytest.mark.parametrize("kind", ["linker", "generator"])
def test_sets_of_questions(
    kind: str, benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set.jsonl"
    assert _guarded(["train", "data", kind, "--data", str(benchmark_folder), "--limit", "7", "--out", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 7
    assert {line["meta"]["kind"] for line in lines} == {kind}
    gold = " (7 gold)" if kind == "generator" else ""
    assert f"7 examples{gold} of 7 questions" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["critic", "pairwise"])
def test_sets_of_candidates(kind: str, train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "set.jsonl"
    assert _guarded(["train", "data", kind, "--run", str(train_run), "--out", str(out)]) == 0
    assert {json.loads(line)["answer"] for line in out.read_text().splitlines()} <= set("ABC")
    assert "on 6 databases" in (said := capsys.readouterr().err)
    assert "not checked for leaks" not in said
    assert _guarded(["train", "data", kind, "--run", str(train_run), "--out", str(out), "--gold", "never"]) == 0
    assert "12 questions on 6 databases" in (said := capsys.readouterr().err)
    assert "6 questions that need the gold query" in said


def test_own_questions(benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "own.jsonl", tmp_path / "set.jsonl"
    file.write_text(json.dumps({"id": 7, "question": "How many?", "sql": "SELECT count(*) FROM pet", "db_id": "yaks"}))
    own = ["--questions", str(file), "--db-dir", str(benchmark_folder / "database"), "--out", str(out)]
    assert _guarded(["train", "data", "generator", *own]) == 0
    assert json.loads(out.read_text())["meta"]["id"] == "7"
    assert "was not checked for leaks" in capsys.readouterr().err
    assert json.loads((tmp_path / "set.jsonl.card.json").read_text())["checked"] is None
    assert _guarded(["train", "data", "generator", *own, "--eval-data", str(benchmark_folder)]) == 2
    assert "yaks: these databases belong to the evaluation" in capsys.readouterr().err


def test_questions_of_the_same_database_can_be_held_out(
    benchmark_folder: Path, train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a single database there is no other one to measure on."""
    data, out = tmp_path / "data", tmp_path / "set.jsonl"
    shutil.copytree(benchmark_folder, data)
    asked = [("How many pets are a DOG ?", "dogs"), ("How many pets are a cat?", "dogs"), ("Who is there?", "cows")]
    entries = [{"question": text, "query": "SELECT 1", "db_id": name} for text, name in asked]
    (data / "dev.json").write_text(json.dumps(entries))
    for source in (["--run", str(train_run)], []):
        command = ["train", "data", "generator", "--data", str(data), *source, "--out", str(out)]
        assert _guarded(command) == 2
        assert "dogs: these databases belong to the evaluation" in (said := capsys.readouterr().err)
        assert "--held-out-by question" in said
        assert _guarded([*command, "--held-out-by", "question"]) == 0
        assert "1 question that the evaluation asks too" in capsys.readouterr().err
        learned = {(meta["db_id"], meta["question"]) for line in out.open() if (meta := json.loads(line)["meta"])}
        assert ("dogs", "How many pets are a dog?") not in learned
        assert {("cats", "How many pets are a cat?"), ("dogs", "List the owners of each dog.")} <= learned
        card = json.loads((tmp_path / "set.jsonl.card.json").read_text())
        assert (card["held_out"], card["sources"]["held-out-by"]) == (1, "question")
        assert card["checked"] == {"databases": 2, "questions": 3}
        assert _guarded([*command, "--without-databases", "dogs,cows"]) == 0, "so nothing is left to refuse"
        capsys.readouterr()


def test_a_misspelt_database_of_runs_is_noticed(
    train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "data", "generator", "--run", str(train_run), "--out", str(tmp_path / "set.jsonl")]
    assert _guarded([*command, "--without-databases", "dogz"]) == 2
    assert "no question is on the database 'dogz'; check its name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "queries", "says"),
    [
        ("generator", ["SELECT nothing FROM pet"], "generator set: 1 question whose gold query fails; give other"),
        (
            "generator",
            ["SELECT 1", "SELECT nothing FROM pet"],
            "gold query reads no table, 1 question whose",
        ),
        ("linker", ["SELECT 1", "SELECT 2"], "linker set: 2 questions whose gold query reads no table"),
    ],
)
def test_why_a_set_would_be_empty(
    kind: str, queries: list[str], says: str, benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.jsonl"
    lines = [{"question": f"Which? {sql}", "sql": sql, "db_id": "dogs"} for sql in queries]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    source = ["--questions", str(file), "--db-dir", str(benchmark_folder / "database")]
    assert _guarded(["train", "data", kind, *source, "--out", str(tmp_path / "set.jsonl")]) == 2
    assert "no example for a " in (said := capsys.readouterr().err)
    assert says in said


def test_the_adapter_that_wrote_the_answers_is_named(
    train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A training from the bare weights would lose what that adapter had learned."""
    run = tmp_path / "run"
    shutil.copytree(train_run, run)
    settings = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**settings, "model": "small+writer@1a2b3c4d"}))
    out = tmp_path / "set.jsonl"
    assert _guarded(["train", "data", "generator", "--run", str(run), "--out", str(out)]) == 0
    assert "the model's own queries were written by small+writer@1a2b3c4d; give the adapter" in capsys.readouterr().err
    assert json.loads((tmp_path / "set.jsonl.card.json").read_text())["sources"]["models"] == ["small+writer@1a2b3c4d"]
    assert _guarded(["train", "data", "generator", "--run", str(train_run), "--out", str(out)]) == 0
    assert "own queries were written by" not in capsys.readouterr().err


def test_the_light_judge(train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "light.json"
    assert _guarded(["train", "light", str(train_run), "--out", str(out)]) == 0
    said, noted = capsys.readouterr()
    assert "18 questions on 6 databases, 12 of them decided" in said
    assert "not checked for leaks" not in noted
    assert "light judge  EX  66.7 %" in said
    assert "6 of 6 mistakes corrected, 0 correct answers lost" in said
    assert read(str(out)).card["seed"] == 0
    assert read(str(out)).card["checked"] == {"databases": 1, "questions": 1}


def test_a_light_judge_says_that_nothing_was_checked(
    benchmark_folder: Path, train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(benchmark_folder, tmp_path / "data", ignore=shutil.ignore_patterns("dev.json"))
    out = tmp_path / "light.json"
    assert _guarded(["train", "light", str(train_run), "--data", str(tmp_path / "data"), "--out", str(out)]) == 0
    assert "no evaluation was named (--eval-data), so the set was not checked for leaks" in capsys.readouterr().err
    assert read(str(out)).card["checked"] is None


@pytest.mark.parametrize(
    ("there", "says"),
    [
        (json.dumps({"mine": 1}), "out.json: is not the file of a light judge"),
        (None, "none/out.json: cannot be written (there is no folder"),
    ],
)
def test_where_weights_cannot_be_kept_is_said_before_the_training(
    there: str | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / ("none/out.json" if there is None else "out.json")
    if there is not None:
        out.write_text(there)
    assert _guarded(["train", "light", str(tmp_path / "no run"), "--out", str(out)]) == 2
    assert says in capsys.readouterr().err


def test_a_set_that_has_moved_is_asked_for_before_the_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = dict.fromkeys(("part", "base_model", "base_sha256", "data_sha256"), "x")
    (tmp_path / "training.json").write_text(
        json.dumps({**asked, "max_length": 99, "data": str(tmp_path / "gone.jsonl")})
    )
    assert _guarded(["train", "export", str(tmp_path), "--out", str(tmp_path / "a.gguf")]) == 2
    assert "gone.jsonl has moved; name it with --data" in capsys.readouterr().err
    assert _guarded(["train", "export", str(tmp_path), "--name", "../a"]) == 2
    assert "'../a' is not a name for an adapter" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["data", "critic", "--run"], ["light"]])
def test_a_file_of_questions_is_an_evaluation(
    command: list[str], train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"question": "How many?", "sql": "SELECT count(*) FROM pet", "db_id": "dogs"}))
    given = ["train", *command, str(train_run), "--out", str(tmp_path / "out"), "--eval-data", str(file)]
    assert _guarded(given) == 2
    assert "dogs: these databases belong to the evaluation and may not be trained on" in capsys.readouterr().err


def test_the_evaluation_needs_no_databases(
    benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """BIRD's form: train and dev have a folder of databases each, of which that of train alone is named."""
    own, file, out = tmp_path / "train.json", tmp_path / "dev.json", tmp_path / "set.jsonl"
    own.write_text(json.dumps([{"question": "How many pets?", "SQL": "SELECT count(*) FROM pet", "db_id": "dogs"}]))
    file.write_text(json.dumps([{"question": "How many pets ?", "SQL": "SELECT 1", "db_id": "elsewhere"}]))
    asked = ["train", "data", "linker", "--questions", str(own), "--db-dir", str(benchmark_folder / "database")]
    assert _guarded([*asked, "--out", str(out), "--eval-data", str(file)]) == 0
    assert "1 questions are near-duplicates of evaluation questions" in capsys.readouterr().err
    card = json.loads((tmp_path / "set.jsonl.card.json").read_text())
    assert card["checked"] == {"databases": 1, "questions": 1}
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "dev.json").write_text(json.dumps([{"question": "Who?", "query": "SELECT 1", "db_id": "none"}]))
    assert _guarded([*asked, "--out", str(out), "--eval-data", str(tmp_path / "dev")]) == 0


def test_an_evaluation_that_is_named_and_not_there_is_no_check(
    benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    asked = ["train", "data", "linker", "--data", str(benchmark_folder), "--out", str(tmp_path / "set.jsonl")]
    assert _guarded([*asked, "--eval-data", str(tmp_path / "empty")]) == 2
    assert "there is no" in capsys.readouterr().err


def test_help_for_learning_from_rewards(capsys: pytest.CaptureFixture[str]) -> None:
    assert _guarded(["train", "policy", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(option in said for option in ("--db-dir", "--questions", "--samples", "--answer-tokens", "--start"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--db-dir"),
        (["--db-dir", ".", "--samples", "1"], "--samples"),
        (["--db-dir", ".", "--memory", "much"], "'much' is not a size of memory"),
        pytest.param(["--db-dir", "."], "none.jsonl: the training set cannot be read", marks=pytest.mark.train),
    ],
)
def test_what_learning_from_rewards_lacks_is_said(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "policy", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "out"), *arguments]
    assert _guarded(command) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["data", "linker"], "give either --data"),
        (["data", "critic"], "name a run on a training split with --run"),
        (["data", "linker", "--questions", "q.json"], "give either --data"),
        (["data", "linker", "--run", "runs/a"], "a set for linker from gold queries is not made with --run"),
        (["data", "generator", "--gold", "never"], "a set for generator from gold queries is not made with --gold"),
        (["data", "selector", "--run", "a", "--gold", "never"], "a set for selector from runs is not made with --gold"),
        (["data", "pairwise", "--run", "a", "--independent"], "is not made with --independent"),
        (["data", "critic", "--run", "a", "--independent", "--both-orders"], "leave out --both-orders"),
        (["data", "critic", "--run", "a", "--gold", "always"], "is not made with --gold always"),
        (["data", "linker", "--databases", "3/2", "--data", "x"], "'3/2' is not a share"),
        (["data", "critic", "--run", "runs/a", "--limit", "3"], "a set for critic from runs is not made with --limit"),
        (
            ["data", "critic", "--run", "runs/a", "--db-dir", "x"],
            "a set for critic from runs is not made with --db-dir",
        ),
    ],
)
def test_what_is_missing_is_said(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _guarded(["train", *arguments, "--out", str(tmp_path / "set.jsonl")]) == 2
    assert says in capsys.readouterr().err
