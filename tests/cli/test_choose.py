"""``sqljury choose`` as a user meets it: prediction files in, one out; and one question."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqljury
from sqljury import Candidate, FakeModel
from sqljury.cli import choose
from sqljury.cli.ask import Output
from sqljury.errors import DatasetError, InputError, NoAnswerError, RecipeError
from sqljury.stages.select.light import Weights
from sqljury.stages.weights import save

FILES = {"pred": [Path("a")], "questions": Path("q"), "db_dir": Path("d"), "out": Path("o")}

Start = Callable[..., "subprocess.Popen[str]"]


def run(start: Start, *arguments: str | Path) -> tuple[int, str, str]:
    process = start("SELECT 0", "choose", *map(str, arguments))
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


@pytest.fixture
def files(tmp_path: Path, zoo: Path) -> list[str | Path]:
    """Arguments for two questions on the zoo."""
    (tmp_path / "db" / "zoo").mkdir(parents=True)
    zoo.rename(tmp_path / "db" / "zoo" / "zoo.sqlite")
    entries = [{"question": "How many animals?", "db_id": "zoo"}, {"question": "Which names?", "db_id": "zoo"}]
    (tmp_path / "asked.json").write_text(json.dumps(entries))
    (tmp_path / "A.txt").write_text("SELECT count(*) FROM animal\nSELECT id FROM animal\n")
    (tmp_path / "B.txt").write_text("SELECT count(*) FROM animal\nSELECT DISTINCT name FROM animal;\n")
    (tmp_path / "C.txt").write_text("SELECT 1\nSELECT name\nFROM animal\n".replace("name\nFROM", "name FROM"))
    systems = [part for name in "ABC" for part in ("--pred", tmp_path / f"{name}.txt")]
    return [*systems, "--questions", tmp_path / "asked.json", "--db-dir", tmp_path / "db", "--model", "none"]


def test_prediction_files_in_one_out(start: Start, files: list[str | Path], tmp_path: Path) -> None:
    out, folder = tmp_path / "out.txt", tmp_path / "run"
    arguments = [*files, "--selector", "consistency", "--out", out, "--run", folder]
    code, _, error = run(start, *arguments)
    assert (code, out.read_text()) == (0, "SELECT count(*) FROM animal\nSELECT DISTINCT name FROM animal\n")
    assert "1 of A, 1 of B, 0 of C" in error
    assert (folder / "answers.jsonl").read_text().count("\n") == 2
    code, _, error = run(start, *arguments)
    assert code == 0
    assert "2 of 2 answers are there; continuing" in error


def test_mistakes_end_with_documented_codes(start: Start, files: list[str | Path], tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    (tmp_path / "B.txt").write_text("SELECT 1\n")
    code, _, error = run(start, *files, "--out", out)
    assert code == 0
    assert "a whole file is left out" in error
    assert "1 predictions for 2 questions" in error
    assert "1 of A, 1 of C" in error
    out.unlink()
    for name in "AC":
        (tmp_path / f"{name}.txt").write_text("SELECT 1\n")
    code, _, error = run(start, *files, "--out", out)
    assert code == 2
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "--pred and --questions and --db-dir and --out: missing"),
        ({"pred": [Path("a")], "out": Path("b")}, "--questions and --db-dir: missing"),
        ({"question": "How many?", "db": "x.db"}, "--sql: missing"),
        ({"sql": [Path("a")]}, "the question and --db: missing"),
        (
            {"question": "How many?", "db": "x.db", "sql": [Path("a")], "out": Path("b")},
            "--out is for prediction files",
        ),
        (
            {"question": "How many?", "db": "x.db", "sql": [Path("a")], "pred_format": "bird"},
            "--pred-format is for pre",
        ),
        (
            {"question": "How many?", "db": "x.db", "sql": [Path("a")], "votes": choose.Votes.QUERIES},
            "--votes is for pre",
        ),
        ({**FILES, "evidence": "x"}, "--evidence is for one question, .* have their own 'evidence'; leave it out"),
        ({**FILES, "explain": True}, "--explain is for one question"),
        ({**FILES, "output": Output.JSON}, "--output is for one question"),
    ],
)
def test_options_that_do_not_go_together(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose.choose(**arguments)


def test_one_question(start: Start, zoo: Path, tmp_path: Path) -> None:
    for name, text in (
        ("a", "SELECT id FROM animal\n"),
        ("b", "SELECT name -- which\nFROM animal"),
        ("c", "SELECT nme FROM animal"),
    ):
        (tmp_path / f"{name}.sql").write_text(text)
    queries = [part for name in "abc" for part in ("--sql", tmp_path / f"{name}.sql")]
    common = ["Which names are there?", "--db", zoo, "--opinion", "none", "--selector", "consistency"]
    code, out, _ = run(start, *common, *queries, "--output", "json")
    answer = json.loads(out)
    assert (code, answer["sql"]) == (0, "SELECT name -- which\nFROM animal")
    assert [len(one["fixes"]) for one in answer["candidates"]] == [0, 0, 1]
    assert [one["generator"] for one in answer["candidates"]] == ["a", "b", "c"]
    (tmp_path / "a.sql").write_text("DELETE FROM animal")
    code, out, error = run(start, *common, "--sql", tmp_path / "a.sql", "--model", "none", "--explain")
    assert (code, out) == (7, "")
    assert "Candidates" in error


@pytest.mark.parametrize("more", [{"selector": "tournament"}, {"recipe": "tssql"}])
def test_none_is_no_model_with_the_cache_too(
    files: list[str | Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "cache"))
    pred = [Path(tmp_path / f"{name}.txt") for name in "ABC"]
    asked, out = {"questions": tmp_path / "asked.json", "db_dir": tmp_path / "db"}, tmp_path / "out.txt"
    with pytest.raises(RecipeError, match="asks a model; name one with --model"):
        choose.choose(pred=pred, **asked, out=out, model="none", **more)
    (tmp_path / "C.txt").write_text("SELECT 1\nSELECT nothing FROM nowhere\n")
    choose.choose(pred=pred[2:], **asked, out=out, model="none", recipe="default")  # would ask for a repair
    assert out.read_text() == "SELECT 1\nSELECT nothing FROM nowhere\n"


def test_files_that_hold_no_query(zoo: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text(" \n")
    with pytest.raises(DatasetError, match=r"a.sql: holds no query"):
        choose.choose(question="How many?", db=str(zoo), sql=[file], model="none")
    file.write_text("DELETE FROM animal")
    with pytest.raises(NoAnswerError):
        choose.choose(question="How many?", db=str(zoo), sql=[file], model="none", cache=False)


def test_one_question_in_python(zoo: Path) -> None:
    ask = ["SELECT count(*) FROM animal", Candidate("SELECT 3", "other")]
    answer = sqljury.choose("How many animals?", zoo, ask, model="none", selector="first")
    assert answer.sql == ask[0]
    assert [(one.generator, one.part, one.group) for one in answer.candidates] == [("given", 0, 0), ("other", 1, 0)]
    likely = [Candidate("SELECT 1", "a", -3.0), Candidate("SELECT 2", "b", -1.0)]
    assert sqljury.choose("How many?", zoo, likely, model="none", selector="consistency").sql == "SELECT 2"
    with pytest.raises(InputError, match="no queries"):
        sqljury.choose("How many?", zoo, [], model="none")
    with pytest.raises(NoAnswerError):
        sqljury.choose("How many?", zoo, ["SELECT x FROM y"], model="none")


def test_samples_in_one_file_and_weights_of_the_users_own(
    files: list[str | Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "A.txt").write_text("SELECT id FROM animal\n" * 3 + "\n" + "SELECT name FROM animal\n" * 2)
    pred, out, own = [tmp_path / "A.txt", tmp_path / "B.txt"], tmp_path / "out.txt", tmp_path / "own.json"
    asked: dict[str, Any] = {"questions": tmp_path / "asked.json", "db_dir": tmp_path / "db", "out": out}
    by_votes = {"model": "none", "selector": "consistency"}
    choose.choose(pred=pred[::-1], **asked, **by_votes)
    assert out.read_text().splitlines()[0] == "SELECT count(*) FROM animal"
    choose.choose(pred=pred[::-1], **asked, **by_votes, votes=choose.Votes.QUERIES)
    assert out.read_text().splitlines()[0] == "SELECT id FROM animal"
    save(Weights({"rows_log": 1.0}, {}), own)
    choose.choose(pred=pred[::-1], **asked, model="none", weights=str(own))
    assert out.read_text().splitlines()[0] == "SELECT id FROM animal"
    assert "1 of B" in capsys.readouterr().err
    with pytest.raises(InputError, match="--weights are for"):
        choose.choose(pred=pred, **asked, **by_votes, weights=str(own))


def test_candidates_of_one_system_share_its_vote_in_python(zoo: Path, tmp_path: Path) -> None:
    samples = [Candidate("SELECT 7", "many")] * 3
    given = [Candidate("SELECT count(*) FROM animal", "one"), *samples]
    asked: dict[str, Any] = {"model": "none", "selector": "consistency"}
    answer = sqljury.choose("How many animals?", zoo, given, **asked)
    assert answer.sql == given[0].sql
    assert answer.agreement == 0.25  # of the candidates, whatever their votes
    assert sqljury.choose("How many animals?", zoo, given, votes="queries", **asked).sql == "SELECT 7"
    save(Weights({"rows_log": 1.0}, {}), tmp_path / "own.json")
    asked = {"model": "none", "weights": str(tmp_path / "own.json")}
    assert sqljury.choose("Which?", zoo, ["SELECT 7", "SELECT id FROM animal"], **asked).sql == "SELECT id FROM animal"


def test_a_model_votes_where_systems_disagree(start: Start, files: list[str | Path], tmp_path: Path) -> None:
    out, folder = tmp_path / "out.txt", tmp_path / "run"
    arguments = [*files[:4], *files[6:-2], "--selector", "consistency", "--out", out, "--run", folder]
    says = "SELECT name FROM animal"

    def choosing(*more: str | Path) -> tuple[int, list[str], str]:
        process = start(says, "choose", *map(str, (*arguments, *more)))
        error = process.communicate(timeout=120)[1]
        return process.returncode, out.read_text().splitlines() if out.exists() else [], error

    (tmp_path / "B.txt").write_text("SELECT count(*) FROM animal\nSELECT DISTINCT name FROM animal;\n")
    code, _, error = choosing("--max-calls", "1", "--opinion", "candidate")
    assert (code, "fake was asked on 1 questions" in error) == (0, True)
    code, lines, error = choosing()
    assert code == 2
    assert "recipe.select.opinion" in error
    arguments[-1] = tmp_path / "votes"
    code, lines, error = choosing("--opinion", "votes")
    assert (code, lines[1]) == (0, "SELECT DISTINCT name FROM animal")
    assert "1 of A, 1 of B" in error
    assert "fake was asked on 1 questions, where these disagree or do not run" in error
    for opinion in ((), ("--opinion", "none")):  # no model is named, or no opinion is wanted
        arguments[-1] = tmp_path / f"none{len(opinion)}"
        code, lines, error = choosing(*opinion)
        assert (code, lines[1]) == (0, "SELECT id FROM animal")
        assert "asked" not in error
    (tmp_path / "A.txt").write_text("SELECT 1\nSELECT id FROM animal\n")
    out.unlink()
    arguments[-1] = tmp_path / "few"
    code, lines, error = choosing("--opinion", "votes", "--max-calls", "1", "--no-cache")
    assert (code, lines) == (6, [])
    code, lines, error = choosing("--opinion", "votes", "--no-cache")
    assert (code, len(lines)) == (0, 2)
    assert "1 of 2 answers are there; continuing" in error


def test_an_opinion_in_python(zoo: Path) -> None:
    ask: dict[str, Any] = {"question": "How many animals?", "database": zoo, "queries": ["SELECT 1", "SELECT 2"]}
    model = FakeModel("SELECT 2")
    answer = sqljury.choose(**ask, model=model, selector="consistency")
    assert (answer.sql, answer.model, answer.cost.calls) == ("SELECT 2", "fake", 1)
    assert [(one.generator, one.part, one.opinion) for one in answer.candidates][2:] == [("direct", 2, True)]
    assert sqljury.choose(**ask, model=FakeModel("SELECT 3")).sql in ask["queries"]
    assert sqljury.choose(**ask, model=model, selector="consistency", opinion="none").sql == "SELECT 1"
    with sqljury.Session(zoo, model=model) as session:
        assert session.choose(ask["question"], ask["queries"], selector="consistency").sql == "SELECT 1"
        by_opinion = session.choose(ask["question"], ask["queries"], selector="consistency", opinion="votes")
        assert by_opinion.sql == "SELECT 2"
    with pytest.raises(RecipeError, match="asks a model"):
        sqljury.choose(**ask, model="none", opinion="votes")


def test_an_opinion_keeps_to_what_may_be_shown(zoo: Path) -> None:
    model = FakeModel("SELECT 2", local=False)
    queries = ["SELECT 1", "SELECT 'bear'"]
    for privacy, shown in (("schema", False), ("rows", True)):
        sqljury.choose("How many ants?", zoo, queries, model=model, privacy=privacy, selector="consistency")
        assert ("żuk" in model.calls[-1].prompt) == shown
        assert "bear" not in model.calls[-1].prompt.replace("be\\x1b", "")
