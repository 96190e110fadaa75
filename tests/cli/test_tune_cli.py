"""`sqljury tune`, and `sqljury calibrate` where it measures, as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Start, ended
from sqljury import recipes

SAYS = "SELECT count(*) FROM animal WHERE id > 1"


@pytest.fixture
def questions(zoo: Path, tmp_path: Path) -> tuple[str, ...]:
    """A user's own file of questions on one database, as options; the model answers one of them rightly."""
    file = tmp_path / "data" / "databases" / "zoo" / "zoo.sqlite"
    file.parent.mkdir(parents=True)
    zoo.rename(file)
    lines = [
        {"id": f"q{n}", "question": f"How many animals after {n}?", "db_id": "zoo"}
        | {"gold": f"SELECT count(*) FROM animal WHERE id > {n} OR id < {n - 20}"}
        for n in range(24)
    ]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "--data", str(mine), "--db-dir", str(tmp_path / "data" / "databases"), "--recipe", "fast"


def test_a_search_ends_with_a_recipe(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    search = ("tune", *questions, "--out", str(out), "--what", "repairs", "--rounds", "1", "--trials", "2")
    code, _, error = ended(start(SAYS, *search, "--max-calls", "5"))
    assert (code, "limit of 5 calls" in error) == (6, True), error
    code, shown, error = ended(start(SAYS, *search))
    assert code == 0, error
    assert "No variant was better on the tuning half, so the recipe is the starting one." in shown
    assert "1 repairs" in shown
    assert f"recipe: {out / 'recipe.toml'}" in error
    assert recipes.load(str(out / "recipe.toml")).generate == recipes.load("fast").generate
    assert (out / "tune.md").read_text().count("\n| ") == 1 + 1 + 2
    code, again, error = ended(start("SELECT 3", *search))  # nothing is asked again
    assert (code, again) == (0, shown), error
    code, _, error = ended(start(SAYS, *search, "--what", "luck"))
    assert (code, "there is no step 'luck'; known are forms" in error) == (2, True)


def test_the_approved_pairs_of_a_context_folder_are_searched(start: Start, zoo: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "project", tmp_path / "tuned"
    folder.mkdir()
    zoo.rename(folder / "zoo.db")
    (folder / "sqljury.toml").write_text('[databases.zoo]\nurl = "zoo.db"\n')
    pairs = [(f"How many animals after {n}?", f"SELECT count(*) FROM animal WHERE id > {n}") for n in range(20)]
    lines = [json.dumps({"question": question, "query": sql}) + "\n" for question, sql in pairs]
    (folder / "examples.jsonl").write_text("".join(lines))
    search = ("--recipe", "fast", "--what", "repairs", "--rounds", "1", "--trials", "1", "--out", str(out))
    code, shown, error = ended(start(SAYS, "tune", "--data", str(folder), *search))
    assert (code, "1 repairs" in shown) == (0, True), error
    assert recipes.load(str(out / "recipe.toml")).generate == recipes.load("fast").generate


def test_the_packages_calibration_is_measured(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    run, pictures = tmp_path / "run", tmp_path / "pictures"
    code, _, error = ended(start(SAYS, "bench", "run", *questions, "--out", str(run)))
    assert code == 0, error
    code, shown, error = ended(start("", "calibrate", str(run), "--pictures", str(pictures)))
    assert code == 0, error
    assert shown.startswith("as answered")
    assert "ECE 0." in shown
    assert {file.name for file in pictures.iterdir()} == {"risk.svg", "reliability.svg"}
    code, _, error = ended(start("", "calibrate", str(run), "--out", str(tmp_path / "own.json"), "--pictures", "x"))
    assert (code, "are for measuring" in error) == (2, True)
