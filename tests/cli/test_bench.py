"""`sqljury bench` and `sqljury eval` as processes, on the smallest real model."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Start, ended
from sqljury import FakeModel
from sqljury.cli import bench, ladder
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import run_folder

SQLJURY = Path(sys.executable).with_name("sqljury")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "spider"


def sqljury(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SQLJURY_CACHE": str(cache)}
    return subprocess.run(
        [str(SQLJURY), *arguments], capture_output=True, text=True, env=environment, timeout=300, check=False
    )


@pytest.fixture
def spider(zoo: Path, tmp_path: Path) -> Path:
    """A benchmark of one question."""
    data = tmp_path / "data"
    (data / "database" / "zoo").mkdir(parents=True)
    zoo.rename(data / "database" / "zoo" / "zoo.sqlite")
    entry = {"question": "How many animals?", "query": "SELECT count(*) FROM animal", "db_id": "zoo"}
    (data / "dev.json").write_text(json.dumps([entry]))
    return data


def test_names_are_no_markup_and_steer_nothing(start: Start, spider: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "[red]x[dim]\x1b[31m.toml"
    recipe.write_text('summary = "mine"')
    out = str(tmp_path / "run")
    bench = ("bench", "spider", "--data", str(spider), "--out", out, "--recipe", str(recipe))
    code, _, error = ended(start("SELECT count(*), '\x1b[31m' FROM animal", *bench))
    assert code == 0, error
    assert "\x1b" not in error
    (tmp_path / "run" / "run.json").write_text((tmp_path / "run" / "run.json").read_text().replace("[dim]", "[/dim]"))
    code, report, error = ended(start("", "eval", out))
    assert code == 0, error
    assert "recipe [red]x[/dim] [31m, model fake" in report
    assert "\x1b" not in report


def test_places_that_cannot_be_written(start: Start, spider: Path, tmp_path: Path) -> None:
    bench = ("bench", "spider", "--data", str(spider), "--recipe", "fast")
    code, _, error = ended(start("SELECT 3", *bench, "--out", "/dev/null/x"))
    assert (code, error.count("\n")) == (2, 1)
    assert "/dev/null/x: cannot be written" in error
    out = str(tmp_path / "run")
    assert ended(start("SELECT 3", *bench, "--out", out))[0] == 0
    code, _, error = ended(start("", "eval", out, "--per-query", "/dev/null/x.tsv"))
    assert (code, error.count("\n")) == (2, 1)
    assert "/dev/null/x.tsv: cannot be written" in error


def test_a_run_on_some_of_the_databases(start: Start, spider: Path, tmp_path: Path) -> None:
    bench = ("bench", "spider", "--data", str(spider), "--recipe", "fast", "--out", str(tmp_path / "run"))
    code, _, error = ended(start("SELECT 3", *bench, "--databases", "farm"))
    assert code == 2
    assert "no question is on the database 'farm'" in error
    assert ended(start("SELECT 3", *bench, "--databases", "Zoo"))[0] == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["dataset"]["databases"] == "Zoo"
    code, _, error = ended(start("SELECT 3", *bench))
    assert (code, "dataset.databases differ" in error) == (2, True)


def test_runs_that_are_none(start: Start, spider: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(spider), "--recipe", "fast", "--out", str(run))
    assert ended(start("SELECT 3", *bench))[0] == 0
    record, settings = run / "answers.jsonl", run / "run.json"
    for file, text in ((record, "{}\n"), (record, ""), (settings, "[]")):
        file.write_text(text)
        code, out, error = ended(start("", "eval", str(run)))
        assert (code, out, error.count("\n")) == (2, "", 1), error
        assert error.startswith("sqljury: ")


def test_a_finished_run_is_analysed_without_a_model(start: Start, spider: Path, tmp_path: Path) -> None:
    out, figures = tmp_path / "run", tmp_path / "figures.json"
    bench = ("bench", "spider", "--data", str(spider), "--out", str(out), "--recipe", "fast")
    assert ended(start("SELECT 3, '[/x]\x1b[31m'", *bench))[0] == 0
    wanted = ("bounds", "overlap", "ablation", "errors")
    analyses = (*(word for name in wanted for word in ("--analyze", name)), "--json", str(figures))
    environment = {"SQLJURY_MODEL": "openai:none", "OPENAI_API_KEY": ""}
    code, report, error = ended(start("", *bench, *analyses, env=environment))
    assert (code, error) == (0, "")
    for words in ("of k candidates", "solved by exactly", "stopping early", "oracle (best choice)", "1 direct, greedy"):
        assert words in report
    assert "\x1b" not in report
    found = json.loads(figures.read_text())
    assert list(found) == ["sqljury_analysis", "run", "questions", "faults", "parts", *wanted]
    assert "1 of 1 answers wrong" in report
    assert found["errors"]["results"] == [
        {"kind": "columns", "label": "another number of columns", "ids": ["dev-0000"]}
    ]
    assert found["questions"] == 1
    assert (out / "verdicts.jsonl").is_file()
    assert ended(start("", *bench, "--seed", "3", *analyses, env=environment))[0] != 0  # not that run


def test_what_a_run_has_so_far_is_analysed(start: Start, spider: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert (
        ended(start("SELECT 3", "bench", "spider", "--data", str(spider), "--out", str(out), "--recipe", "fast"))[0]
        == 0
    )
    analyze = ("bench", "analyze", str(out), "--what", "bounds", "--part")
    code, report, error = ended(start("", *analyze, "1", env={"SQLJURY_MODEL": "openai:none", "OPENAI_API_KEY": ""}))
    assert (code, error) == (0, "")
    assert "1 direct, greedy" in report
    code, _, error = ended(start("", *analyze, "3"))
    assert (code, error.count("\n")) == (2, 1)
    assert "the parts 1 to 2" in error


def test_analysis_follows_an_unfinished_run(start: Start, spider: Path, tmp_path: Path) -> None:
    bench = ("bench", "spider", "--data", str(spider), "--out", str(tmp_path / "run"), "--recipe", "fast")
    code, report, error = ended(start("SELECT count(*) FROM animal", *bench, "--analyze", "bounds"))
    assert code == 0, error
    assert "1/1" in error
    assert "dev, 1 questions, recipe fast, model fake" in report


def test_analyses_that_cannot_be_had(start: Start, spider: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(spider), "--out", str(out), "--recipe", "fast")
    for options, what in (
        (("--json", str(tmp_path / "x.json")), "--json is for analyses"),
        (("--analyze", "bounds", "--stop-share", "0.5"), "--stop-share is for --analyze ablation"),
        (("--analyze", "bounds", "--stop-least", "4"), "--stop-least is for --analyze ablation"),
        (("--part", "1"), "--part is for analyses"),
    ):
        code, _, error = ended(start("SELECT 3", *bench, *options))
        assert (code, error.count("\n")) == (2, 1)
        assert what in error
    assert not out.exists()  # nothing was run for them
    assert ended(start("SELECT 3", *bench))[0] == 0
    mine = tmp_path / "mine.json"
    mine.write_text("[]")
    for file in (mine, out / "answers.jsonl", spider / "dev.json"):
        before = file.read_text()
        code, report, error = ended(start("SELECT 3", *bench, "--analyze", "bounds", "--json", str(file)))
        assert (code, report, error.count("\n")) == (2, "", 1), error
        assert file.read_text() == before
    assert "--analyze" in ended(start("", *bench, "--analyze", "venn"))[2]


def test_another_selector_on_a_run(start: Start, spider: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(spider), "--out", str(out), "--recipe", "fast")
    assert ended(start("SELECT count(*) FROM animal", *bench))[0] == 0
    code, _, error = ended(start("A", "bench", "select", str(out), "--selector", "first"))
    assert code == 0, error
    assert "1/1 SELECT count(*) FROM animal" in error
    assert (out / "choices-first.jsonl").is_file()
    _, report, error = ended(start("", *bench, "--analyze", "ablation"))
    assert "stored: first" in report
    code, _, error = ended(start("A", "bench", "select", str(out), "--selector", "best"))
    assert (code, error.count("\n")) == (2, 1)
    assert "there is no selector 'best'; known are bracket, consistency, critic, critic-independent" in error
    code, _, error = ended(start("A", "bench", "select", str(tmp_path), "--selector", "first"))
    assert (code, error.count("\n")) == (2, 1)
    assert "is no run" in error


@pytest.mark.weights
@pytest.mark.shared
def test_a_run_is_made_continued_and_judged(cached_weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    recipe = tmp_path / "short.toml"  # others write thousands of tokens, since this model hardly writes SQL
    recipe.write_text('[schema]\nform = "compact"\n[[generate]]\nmax_tokens = 60\n[fix]\nattempts = 1\n')
    bench = ("bench", "spider", "--data", str(SHARED), "--out", str(out), "--recipe", str(recipe), "--seed", "7")
    bench = (*bench, "--model", "smollm2-135m", "--limit", "2")
    done = sqljury(*bench, cache=cached_weights)
    assert done.returncode == 0, done.stderr
    assert "2/2" in done.stderr
    again = sqljury(*bench, cache=cached_weights)
    assert "has 2 of 2 answers; continuing" in again.stderr
    per_query = tmp_path / "lines.tsv"
    judged = sqljury("eval", str(out), "--output", "json", "--per-query", str(per_query), cache=cached_weights)
    figures = json.loads(judged.stdout)
    assert figures["questions"] == 2
    assert figures["run"]["recipe"]["name"] == "short"
    header, *lines = per_query.read_text().splitlines()
    assert header.split("\t") == ["id", "db_id", "hardness", "ex", "exe", "seconds", "reason"]
    assert len(lines) == 2
    table = sqljury("eval", str(out), cache=cached_weights)
    assert "EX, DISTINCT dropped" in table.stdout


def test_eval_of_nothing(tmp_path: Path) -> None:
    done = sqljury("eval", str(tmp_path), cache=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sqljury: ")
    assert "is no run" in done.stderr


def test_bench_without_data(tmp_path: Path) -> None:
    done = sqljury("bench", "spider", "--data", str(tmp_path), "--out", str(tmp_path / "run"), cache=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sqljury: ")
    assert not (tmp_path / "run").exists()


def test_choices_among_parts_and_the_rule_for_stopping_are_named(start: Start, spider: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    recipe = tmp_path / "two.toml"
    recipe.write_text("[[generate]]\n[[generate]]\ntemperature = 1.0\nsamples = 2\n")
    bench = ("bench", "spider", "--data", str(spider), "--out", out, "--recipe", str(recipe))
    assert ended(start("SELECT count(*) FROM animal", *bench))[0] == 0
    code, _, error = ended(start("A", "bench", "select", out, "--selector", "first", "--part", "2", "--first", "1"))
    assert code == 0, error
    assert (tmp_path / "run" / "choices-first-parts2-first1.jsonl").is_file()
    analyze = ("bench", "analyze", out, "--what", "ablation", "--part", "2")
    code, report, error = ended(start("", *analyze, "--stop-share", "1", "--stop-least", "2"))
    assert code == 0, error
    assert "stored: first-parts2-first1" in report
    assert "at a share of 1 of at least 2" in report
    code, _, error = ended(start("A", "bench", "select", out, "--selector", "first", "--part", "3"))
    assert (code, error.count("\n")) == (2, 1)
    assert "the parts 1 to 2" in error


def test_choices_by_tests_take_the_settings_that_are_given(start: Start, spider: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    bench = ("bench", "spider", "--data", str(spider), "--out", out, "--recipe", "fast")
    assert ended(start("SELECT count(*) FROM animal", *bench))[0] == 0
    select = ("bench", "select", out, "--selector", "rerank", "--shots", "2", "--form", "sqlite")
    code, _, error = ended(start("3", *select))
    assert code == 0, error
    assert (tmp_path / "run" / "choices-rerank-formsqlite-shots2.jsonl").is_file()
    more = ("bench", "select", out, "--selector", "rerank", "--cases", "5", "--keep", "all", "--draw", "fuzzing")
    code, _, error = ended(start("3", *more))
    assert code == 0, error
    assert (tmp_path / "run" / "choices-rerank-cases5-drawfuzzing-keepall.jsonl").is_file()
    code, _, error = ended(start("3", *select, "--as-drawn"))
    assert code == 0, error
    assert (tmp_path / "run" / "choices-rerank-reduceFalse-formsqlite-shots2.jsonl").is_file()
    code, _, error = ended(start("3", *more, "--tests", "agents"))
    assert (code, "for the databases of a suite" in error) == (2, True)


def test_repeated_runs_and_the_ladder_print_their_tables(
    spider: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sqljury.llm.open._bare", lambda _, __: FakeModel("SELECT count(*) FROM animal"))
    out, figures = tmp_path / "runs", tmp_path / "figures.json"
    bench.spider(spider, out, seeds="1,2", recipe="fast", json_file=figures)
    assert json.loads((out / "seed2" / "run.json").read_text())["seed"] == 2
    first = capsys.readouterr().out
    assert "variance" in first
    assert [metric["percent"] for metric in json.loads(figures.read_text())["metrics"]] == [[100.0, 100.0]] * 4
    monkeypatch.setattr("sqljury.llm.open._bare", None)
    bench.spider(spider, out, seeds="1,2", recipe="fast")
    assert capsys.readouterr().out == first, "finished runs are only judged"
    monkeypatch.setattr("sqljury.llm.open._bare", lambda _, __: FakeModel("SELECT count(*) FROM animal"))
    bench.spider(spider, tmp_path / "together", recipe="fast", batch=2)
    assert json.loads((tmp_path / "together" / "run.json").read_text())["in_flight"] == 2
    alone, together = (run_folder.records(place) for place in (out / "seed1", tmp_path / "together"))
    assert [one["sql"] for one in together] == [one["sql"] for one in alone]
    capsys.readouterr()
    ladder.ladder(spider, tmp_path / "ladder", samples="1,2", json_file=figures.with_name("ladder.json"))
    shown = capsys.readouterr().out
    for step in ("write", "+ link", "votes", "independent", "joint", "bracket", "oracle"):
        assert step in shown
    assert json.loads(figures.with_name("ladder.json").read_text())["questions"] == 1
    for wrong in ("0,2", "x", "65"):
        with pytest.raises(InputError, match="--samples"):
            ladder.ladder(spider, tmp_path / "ladder", samples=wrong)


def test_a_run_records_its_databases_and_cache_and_is_refused_on_changed_ones(
    spider: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqljury.llm.open._bare", lambda _, __: FakeModel("SELECT count(*) FROM animal"))
    out, steps = tmp_path / "run", tmp_path / "ladder"
    bench.spider(spider, out, recipe="fast")
    ladder.ladder(spider, steps, samples="1")
    for folder in (out, steps / "link"):
        described = json.loads((folder / "run.json").read_text())
        assert described["cache"] is False
        assert len(described["dataset"]["schemas"]) == 16
    with pytest.raises(DatasetError, match=r"other settings \(cache"):
        bench.spider(spider, out, recipe="fast", cache=True)
    with sqlite3.connect(spider / "database" / "zoo" / "zoo.sqlite") as db:
        db.execute("CREATE TABLE keeper (id INTEGER)")
    db.close()
    with pytest.raises(DatasetError, match=r"other settings \(dataset.schemas"):
        bench.spider(spider, out, recipe="fast")
    with pytest.raises(DatasetError, match=r"other settings \(dataset.schemas"):
        ladder.ladder(spider, steps, samples="1")
