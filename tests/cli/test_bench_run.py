"""`sqljury bench run`, `bench export`, `cost` and `report` as processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


@pytest.fixture
def questions(zoo: Path, tmp_path: Path) -> tuple[str, ...]:
    """A user's own file of two questions, as options of `bench run`."""
    file = tmp_path / "data" / "databases" / "zoo" / "zoo.sqlite"
    file.parent.mkdir(parents=True)
    zoo.rename(file)
    lines = [
        {"id": name, "question": f"How many animals? {name}", "gold": "SELECT count(*) FROM animal", "db_id": "zoo"}
        for name in ("a", "b")
    ]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "--data", str(mine), "--db-dir", str(tmp_path / "data" / "databases"), "--recipe", "fast"


def test_from_questions_to_a_report(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    bench = ("bench", "run", *questions, "--out", out)
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench, "--max-calls", "1"))
    assert code == 6, error
    assert "limit of 1 calls" in error
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench, "--max-calls", "2", "--price", "1/2"))
    assert code == 0, error
    assert "has 1 of 2 answers; going on" in error
    code, shown, error = ended(start("", "cost", out))
    assert code == 0, error
    assert "answered questions" in shown
    code, shown, error = ended(start("", "cost", out, "--output", "json", "--price", "1/2"))
    figures = json.loads(shown)
    assert (figures["answered"], figures["spent"]["calls"]) == (2, 2)
    assert figures["spent"]["usd"] > 0
    predictions = tmp_path / "predictions.txt"
    code, _, error = ended(start("", "bench", "export", out, "--out", str(predictions)))
    assert code == 0, error
    assert predictions.read_text() == "SELECT count(*) FROM animal\n" * 2
    for form, begins in (("html", "<!doctype html>"), ("markdown", "<!--"), ("json", "{")):
        file = tmp_path / f"report.{form}"
        for _ in range(2 if form == "html" else 1):  # a report is replaced
            code, _, error = ended(start("", "report", out, "--format", form, "--out", str(file)))
            assert code == 0, error
        assert file.read_text().startswith(begins)
    code, shown, error = ended(start("", "eval", out, "--output", "json"))
    assert (code, json.loads(shown)["ex"]["right"]) == (0, 2), error


def test_a_changed_run_is_refused_unless_begun_anew(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench = ("bench", "run", *questions, "--out", str(out))
    assert ended(start("SELECT 3", *bench))[0] == 0
    code, _, error = ended(start("SELECT 3", *bench, "--seed", "3"))
    assert (code, "seed was 0, is 3" in error, "--force-new" in error) == (2, True, True)
    code, _, error = ended(start("SELECT 3", *bench, "--seed", "3", "--force-new"))
    assert code == 0, error
    assert "before-1" in error
    assert json.loads((out / "before-1" / "run.json").read_text())["seed"] == 0
    assert json.loads((out / "run.json").read_text())["seed"] == 3


def test_options_that_do_not_go_together(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    out, prices = str(tmp_path / "run"), tmp_path / "prices.toml"
    prices.write_text('["other"]\ninput = 1\noutput = 1\n')
    bench = ("bench", "run", *questions, "--out", out)
    for options, words in (
        (("--price", "1/2", "--prices", str(prices)), "--price and --prices both say"),
        (("--max-usd", "1"), "needs the model's price"),
        (("--max-usd", "1", "--prices", str(prices)), "needs the model's price"),
        (("--dataset", "bird"), "--db-dir names the databases of a file"),
    ):
        code, _, error = ended(start("SELECT 3", *bench, *options))
        assert (code, words in error) == (2, True), error
    mine = tmp_path / "mine.html"
    mine.write_text("<p>my own page</p>")
    assert ended(start("SELECT 3", *bench))[0] == 0
    code, _, error = ended(start("", "report", out, "--out", str(mine)))
    assert (code, mine.read_text()) == (2, "<p>my own page</p>"), error
    code, _, error = ended(start("", "cost", str(tmp_path)))
    assert (code, "is no run" in error) == (2, True)


def test_a_context_folder_is_a_dataset(start: Start, zoo: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "project", str(tmp_path / "run")
    folder.mkdir()
    zoo.rename(folder / "zoo.db")
    (folder / "sqljury.toml").write_text('[databases.zoo]\nurl = "zoo.db"\n')
    bench = ("bench", "run", "--data", str(folder), "--recipe", "fast", "--out", out)
    code, _, error = ended(start("SELECT 1", *bench))
    assert (code, "no approved examples" in error) == (2, True), error
    pairs = [("How many animals?", "SELECT count(*) FROM animal"), ("Names?", "SELECT name FROM animal")]
    lines = [json.dumps({"question": question, "query": sql}) for question, sql in pairs]
    (folder / "examples.jsonl").write_text("\n".join(lines) + "\n")
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench))
    assert code == 0, error
    code, shown, error = ended(start("", "eval", out, "--output", "json"))
    assert (code, json.loads(shown)["ex"]["right"], json.loads(shown)["ex"]["total"]) == (0, 1, 2), error
    (folder / "notes.yaml").write_text("tables:\n  animal:\n    description: what lives here\n")
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench))
    assert (code, "dataset.questions" in error) == (2, True), error
    (folder / "sqljury.toml").write_text(
        '[databases.zoo]\nurl = "zoo.db"\n[databases.zoo.access]\ndeny = ["animal.photo"]\n'
    )
    code, _, error = ended(start("SELECT 1", *bench))
    assert (code, "has access rules" in error) == (2, True), error


def test_questions_in_flight_at_once(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench = ("bench", "run", *questions, "--out", str(out), "--batch", "4")
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench))
    assert code == 0, error
    records = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert {record["id"]: record["number"] for record in records} == {"a": 0, "b": 1}
    assert len((out / "calls.jsonl").read_text().splitlines()) == 2
    code, shown, error = ended(start("", "scale", str(out), "--rates", "5", "--out", str(tmp_path / "scale.html")))
    assert (code, "2 workers" in shown) == (0, True), error
    assert "<svg" in (tmp_path / "scale.html").read_text()
    code, _, error = ended(start("", "scale", str(out), "--rates", "fast"))
    assert (code, "--rates" in error) == (2, True), error
    code, _, error = ended(start("SELECT 1", *bench, "--workers", "2"))
    assert (code, "--workers is for --cluster" in error) == (2, True), error
    code, _, error = ended(start("SELECT 1", *bench, "--cluster", "http://127.0.0.1"))
    assert (code, "ray://" in error) == (2, True), error
