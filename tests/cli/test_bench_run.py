"""`sqljury bench run`, `bench export`, `cost` and `report` as processes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from commands import Start, ended


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
    assert "has 1 of 2 answers; continuing" in error
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


def test_a_limit_in_dollars_counts_what_was_spent_without_a_price(
    start: Start, questions: tuple[str, ...], tmp_path: Path
) -> None:
    out, price = str(tmp_path / "run"), ("--price", "100000/100000")
    bench = ("bench", "run", *questions, "--out", out)
    assert ended(start("SELECT count(*) FROM animal", *bench, "--max-calls", "1"))[0] == 6
    spent = json.loads(ended(start("", "cost", out, "--output", "json", *price))[1])["spent"]["usd"]
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench, *price, "--max-usd", "1"))
    assert (code, f"{spent:,.6g} spent" in error) == (6, True), error
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench, *price))
    assert code == 0, error
    code, shown, error = ended(start("", "cost", out))
    assert (code, "1 of 2 calls have no price" in error) == (0, True), shown + error
    assert "no price" not in ended(start("", "cost", out, *price))[2]


def test_a_changed_run_is_refused_unless_begun_anew(start: Start, questions: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench = ("bench", "run", *questions, "--out", str(out))
    assert ended(start("SELECT 3", *bench))[0] == 0
    code, _, error = ended(start("SELECT 3", *bench, "--seed", "3", "--cache"))
    assert (code, "seed was 0, is 3" in error, "cache was false, is true" in error) == (2, True, True)
    (tmp_path / "data" / "databases").rename(tmp_path / "data" / "moved")
    moved = [one.replace("databases", "moved") for one in bench]
    code, _, error = ended(start("SELECT 3", *moved))
    assert code == 0, error
    assert json.loads((out / "run.json").read_text())["dataset"]["folder"] == "moved"
    with sqlite3.connect(tmp_path / "data" / "moved" / "zoo" / "zoo.sqlite") as db:
        db.execute("CREATE TABLE keeper (id INTEGER)")
    db.close()
    code, _, error = ended(start("SELECT 3", *moved))
    assert (code, "dataset.schemas was" in error, "--force-new" in error) == (2, True, True), error
    code, _, error = ended(start("SELECT 3", *moved, "--seed", "3", "--force-new"))
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
        (("--max-usd", "1", "--prices", str(prices)), "table of prices has none for the model 'fake'"),
        (("--prices", str(prices)), "table of prices has none for the model 'fake'"),
        (("--price", "nan/1"), "not a price"),
        (("--dataset", "bird"), "--db-dir names the databases of a file of questions, and"),
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


def test_a_limit_with_several_in_flight_throws_no_answer_away(
    start: Start, questions: tuple[str, ...], tmp_path: Path
) -> None:
    mine, out = tmp_path / "mine.jsonl", tmp_path / "run"
    mine.write_text("".join(line.replace('"id": "', f'"id": "{at}') for at in "123" for line in mine.open()))
    bench = ("bench", "run", *questions, "--out", str(out), "--batch", "2", "--price", "1/2")
    answered = 0
    for limit in ("1", "3"):  # raised in small steps, each of which brings answers
        code, _, error = ended(start("SELECT count(*) FROM animal", *bench, "--max-calls", limit))
        assert (code, f"limit of {limit} calls" in error) == (6, True), error
        before, answered = answered, len((out / "answers.jsonl").read_text().splitlines())
        assert before < answered < 6
    _, shown, error = ended(start("", "cost", str(out), "--output", "json"))
    figures = json.loads(shown)
    assert (figures["spent"]["calls"], figures["broken_off"]["calls"]) == (answered, 0), error
    code, _, error = ended(start("SELECT count(*) FROM animal", *bench, "--max-calls", "20", "--max-usd", "1"))
    assert code == 0, error


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
    lasting = [{**record, "cost": {**record["cost"], "seconds": 100.0}} for record in records]
    (out / "answers.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lasting))
    called = [json.loads(line) | {"seconds": 50.0} for line in (out / "calls.jsonl").read_text().splitlines()]
    (out / "calls.jsonl").write_text("".join(json.dumps(call) + "\n" for call in called))
    for slots, seconds in (("1", "200"), ("2", "100")):
        code, shown, error = ended(start("", "scale", str(out), "--rates", "1", "--workers", "1", "--slots", slots))
        assert (code, shown.splitlines()[-1].split()[:3]) == (0, ["1", "worker", seconds]), error
    for option, wrong in (("--rates", "fast"), ("--workers", "0.5"), ("--workers", "2.7")):
        code, _, error = ended(start("", "scale", str(out), option, wrong))
        assert (code, option in error) == (2, True), error
    code, _, error = ended(start("SELECT 1", *bench, "--workers", "2"))
    assert (code, "--workers is for --cluster" in error) == (2, True), error
    code, _, error = ended(start("SELECT 1", *bench, "--cluster", "http://127.0.0.1"))
    assert (code, "ray://" in error) == (2, True), error


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize("batch", ["1", "2"])
def test_a_signal_stops_a_run_that_can_go_on(
    start: Start, questions: tuple[str, ...], tmp_path: Path, batch: str
) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    out = tmp_path / "run"
    process = start(endless, "bench", "run", *questions, "--out", str(out), "--batch", batch, "--timeout", "60")
    for _ in range(600):
        if (out / "calls.jsonl").is_file() and (out / "calls.jsonl").stat().st_size:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    code, _, error = ended(process)
    assert (code, error) == (130, "sqljury: stopped; the same command goes on with the run\n")
