"""A run that is stopped at any moment: what is kept, what is asked again, and what it is said to have cost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import calls, costs, run
from sqljury.bench.versions import code_hash, data_versions, prompt_hash
from sqljury.datasets import spider
from sqljury.errors import BudgetExceededError, DatasetError, InputError, ModelUnavailableError
from sqljury.evaluation import run_folder as folder
from sqljury.llm.fake import Call
from sqljury.llm.ledger import Budget, Ledger, Metered, Price
from sqljury.llm.prices import Prices
from sqljury.recipes import GeneratePart, Recipe
from sqljury.schema.notes import Item, Notes
from sqljury.types import Cost

RECIPE = Recipe("test", generate=(GeneratePart(), GeneratePart(samples=2, temperature=1.0)))
CAT = "SELECT count(*) FROM cat"

CHILD = """
import sys, time
from pathlib import Path
from sqljury import FakeModel, Pipeline
from sqljury.bench import run
from sqljury.datasets import spider
from sqljury.recipes import GeneratePart, Recipe

data, out = map(Path, sys.argv[1:])
model = FakeModel("SELECT 1", delay=0.05)
pipeline = Pipeline(Recipe("test", generate=(GeneratePart(), GeneratePart(samples=2, temperature=1.0))), model)
run.run(spider.load(data, "dev"), pipeline, out, run.settings(pipeline, {"name": "spider"}, 0))
"""


def start(data: Path, out: Path, model: object, seed: int = 0) -> None:
    pipeline = Pipeline(RECIPE, model)  # type: ignore[arg-type]
    run.run(spider.load(data, "dev"), pipeline, out, run.settings(pipeline, {"name": "spider"}, seed))


def test_a_killed_run_loses_the_question_in_flight_only(data: Path, tmp_path: Path) -> None:
    out, command = tmp_path / "run", [sys.executable, "-c", CHILD, str(data)]
    kills = 0
    for _ in range(40):
        child = subprocess.Popen([*command, str(out)])
        made = len(calls.calls(out))
        while child.poll() is None and len(calls.calls(out)) <= made:
            time.sleep(0.005)
        if child.poll() is not None:
            break
        os.kill(child.pid, signal.SIGKILL)  # after the first of a question's two calls, or a little later
        child.wait()
        kills += 1
        if kills == 3:
            assert subprocess.run([*command, str(out)], check=False).returncode == 0
            break
    assert kills == 3
    ids = [record["id"] for record in folder.records(out)]
    assert sorted(ids) == [example.id for example in spider.load(data, "dev")]
    found = calls.calls(out)
    assert len(found) <= 2 * len(ids) + kills * 2  # of each kill the calls of one question
    assert costs.costs(out).answers.calls == 2 * len(ids)
    assert costs.costs(out).broken_off.calls == len(found) - 2 * len(ids) > 0


def test_questions_on_one_database_are_asked_together_and_numbered_as_in_the_dataset(
    data: Path, tmp_path: Path
) -> None:
    entries = json.loads((data / "dev.json").read_text())
    (data / "dev.json").write_text(json.dumps([entries[0], entries[3], *entries[1:3]]))
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    records = folder.records(tmp_path / "run")
    assert [record["db_id"] for record in records] == ["pets", "pets", "pets", "more"]
    assert [record["number"] for record in records] == [0, 2, 3, 1]


def test_every_call_is_written_down_with_its_step(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    found = calls.calls(tmp_path / "run")
    assert [(one.id, one.number, one.step) for one in found[:3]] == [
        ("dev-0000", 1, "1 direct"),
        ("dev-0000", 2, "2 direct"),
        ("dev-0001", 1, "1 direct"),
    ]
    by_step = costs.costs(tmp_path / "run").steps
    stored = [record["steps"] for record in folder.records(tmp_path / "run")]
    for step, cost in by_step.items():
        assert cost.completion_tokens == sum(own[step]["completion_tokens"] for own in stored)


def test_a_torn_journal_is_read_and_continued(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    file = tmp_path / "run" / folder.CALLS
    before = len(calls.calls(tmp_path / "run"))
    with file.open("a") as stream:
        stream.write('nonsense\n{"id": "dev-0000", "number": 1}\n{"id": "dev-')
    assert len(calls.calls(tmp_path / "run")) == before
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    assert file.read_bytes().endswith(b"\n")


def test_calls_of_a_question_that_failed_half_way_were_paid(data: Path, tmp_path: Path) -> None:
    answers = [CAT, CAT, CAT, ModelUnavailableError("gone")]
    with pytest.raises(ModelUnavailableError):
        start(data, tmp_path / "run", FakeModel(answers))
    found = costs.costs(tmp_path / "run", Price(1.0, 2.0))
    assert len(found.questions) == 1
    assert (found.answers.calls, found.broken_off.calls, found.spent.calls) == (2, 2, 4)
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    found = costs.costs(tmp_path / "run", Price(1.0, 2.0))
    assert (len(found.questions), found.answers.calls, found.broken_off.calls) == (4, 8, 2)
    spent = found.spent
    assert spent.usd == pytest.approx((spent.prompt_tokens + 2 * spent.completion_tokens) / 1e6)


def test_limits_stop_a_run_in_order_and_hold_when_it_goes_on(data: Path, tmp_path: Path) -> None:
    model = FakeModel("SELECT 1")
    with pytest.raises(BudgetExceededError, match="limit of 5 calls"):
        start(data, tmp_path / "run", Metered(model, Ledger(Budget(calls=5))))
    assert len(folder.records(tmp_path / "run")) == 2
    ledger = Ledger(Budget(calls=9))
    ledger.add(costs.costs(tmp_path / "run").spent)
    start(data, tmp_path / "run", Metered(model, ledger))
    assert (len(folder.records(tmp_path / "run")), len(model.calls)) == (4, 9)


def test_prices_of_several_models(data: Path, tmp_path: Path) -> None:
    recipe = Recipe("test", generate=(GeneratePart(), GeneratePart(model="other")))
    pipeline = Pipeline(recipe, FakeModel("SELECT 1"), models={"other": FakeModel("SELECT 1", name="other")})
    out = tmp_path / "run"
    run.run(spider.load(data, "dev"), pipeline, out, run.settings(pipeline, {"name": "spider"}, 0))
    found = costs.costs(out, Prices({"fake": Price(0.0, 0.0), "oth*": Price(0.0, 1e6)}))
    assert found.models["fake"].usd == 0
    assert found.models["other"].usd == found.models["other"].completion_tokens > 0
    assert found.steps["1 direct"].usd == 0
    with pytest.raises(InputError, match="none for the model 'other'"):
        costs.costs(out, Prices({"fake": Price(0.0, 0.0)}))


def test_questions_in_flight_at_once_share_a_machines_hour(data: Path, tmp_path: Path) -> None:
    """A service takes no notice of how many are in flight: a run goes on with another number, and counts with it."""
    start(data, tmp_path / "run", FakeModel("SELECT 1", delay=0.01))
    hour = Prices({"*": Price(0.0, 0.0, hour=3600.0)})
    seconds = sum(one.cost.seconds for one in calls.calls(tmp_path / "run"))
    assert costs.costs(tmp_path / "run", hour).spent.usd == pytest.approx(seconds)
    pipeline = replace(Pipeline(RECIPE, FakeModel("SELECT 1")), questions=4)
    settled = run.settings(pipeline, {"name": "spider"}, 0)
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", settled)
    assert costs.costs(tmp_path / "run", hour).spent.usd == pytest.approx(seconds / 4)
    assert costs.costs(tmp_path / "run", hour.by_name["*"]).spent.usd == pytest.approx(seconds / 4)


def test_calls_that_the_journal_has_lost_are_counted(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    assert costs.costs(tmp_path / "run").missing == 0
    file = tmp_path / "run" / folder.CALLS
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:5]))
    found = costs.costs(tmp_path / "run")
    assert (found.missing, found.answers.calls) == (3, 8)


def test_an_answer_with_a_damaged_cost_is_named(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    file = tmp_path / "run" / folder.ANSWERS
    file.write_text(file.read_text().replace('"usd": 0.0', '"usd": null', 1))
    with pytest.raises(DatasetError, match=r"answers\.jsonl: 'dev-0000': a cost is of the wrong kind"):
        costs.costs(tmp_path / "run")


def test_a_run_without_a_journal_is_added_up_from_its_answers(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    whole = costs.costs(tmp_path / "run")
    (tmp_path / "run" / folder.CALLS).unlink()
    again = costs.costs(tmp_path / "run")
    assert again.steps == whole.steps
    assert (again.answers, again.broken_off) == (whole.answers, Cost())
    assert whole.spread("calls").most == 2


def test_what_changed_is_shown_and_the_old_run_can_be_put_aside(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    start(data, out, FakeModel("SELECT 1"))
    pipeline = Pipeline(replace(RECIPE, generate=(GeneratePart(), GeneratePart(samples=3))), FakeModel("SELECT 1"))
    settled = run.settings(pipeline, {"name": "spider"}, 0)
    with pytest.raises(DatasetError, match=r"recipe\.generate\.2\.samples was 2, is 3.*--force-new"):
        run.run([], pipeline, out, settled)
    settings = json.loads((out / folder.SETTINGS).read_text())
    assert (settings["code"], settings["prompts"]) == (code_hash(), prompt_hash())
    assert settings["identities"] == {}
    (out / folder.SETTINGS).write_text(json.dumps({**settings, "prompts": "of another version"}))
    with pytest.raises(DatasetError, match=r"\(prompts differ\): prompts was \"of another version\", is"):
        start(data, out, FakeModel("SELECT 1"))
    assert folder.put_aside(out) == out / "before-1"
    start(data, out, FakeModel("SELECT 1"), seed=5)
    assert folder.put_aside(out) == out / "before-2"
    assert [folder.described(out / name)["seed"] for name in ("before-1", "before-2")] == [0, 5]
    assert len(folder.records(out / "before-1")) == 4
    assert folder.put_aside(out) is None


@pytest.mark.parametrize("left", [None, b"", b'{"dataset": {}', b"[]"])
def test_answers_without_settings_are_not_gone_on_with(data: Path, tmp_path: Path, left: bytes | None) -> None:
    out = tmp_path / "run"
    start(data, out, FakeModel("SELECT 1"))
    (out / folder.SETTINGS).unlink()
    if left is not None:
        (out / folder.SETTINGS).write_bytes(left)
    with pytest.raises(DatasetError, match=r"has answers and no readable run\.json.*--force-new"):
        start(data, out, FakeModel("SELECT 1"), seed=5)
    assert len(folder.records(out)) == 4
    assert folder.put_aside(out) == out / "before-1"
    start(data, out, FakeModel("SELECT 1"), seed=5)


def test_only_the_files_of_a_run_are_put_aside(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    start(data, out, FakeModel("SELECT 1"))
    own = ("verdicts.jsonl", "choices-votes.jsonl")
    for name in (*own, "thesis.txt"):
        (out / name).write_text("")
    (out / "data").mkdir()
    assert folder.put_aside(out) == out / "before-1"
    assert {one.name for one in out.iterdir()} == {"before-1", "data", "thesis.txt", "run.lock"}
    assert {one.name for one in (out / "before-1").iterdir()} == {folder.SETTINGS, folder.ANSWERS, folder.CALLS, *own}


def test_databases_and_notes_have_hashes_that_do_not_depend_on_their_place(data: Path, tmp_path: Path) -> None:
    def versions_of(data: Path, description: str = "years") -> dict[str, Any]:
        examples = spider.load(data, "dev")
        item = Item("cat", "age", description, where=f"{data}/notes.yaml, line 1")
        return data_versions(examples, {"pets": Notes((item,))})

    first = versions_of(data)
    copied = Path(shutil.copytree(data, tmp_path / "copied"))
    assert versions_of(copied) == first
    assert first["notes"].keys() == {"pets"}
    assert versions_of(data, "months")["notes"] != first["notes"]
    file = copied / "database" / "pets" / "pets.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE fish (id INTEGER)")
    db.close()
    assert versions_of(copied)["schemas"] != first["schemas"]
    file.write_bytes(b"no database")
    assert versions_of(copied)["schemas"] != first["schemas"]


def test_a_database_is_opened_once_for_neighbouring_questions(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    monkeypatch.setattr(run, "connect", lambda path: opened.append(Path(path).stem) or connect(path))
    connect = spider_connect()
    start(data, tmp_path / "run", FakeModel("SELECT 1"))
    assert opened == ["pets", "more"]


def spider_connect():  # type: ignore[no-untyped-def]
    from sqljury.db.connect import connect

    return connect


def test_identities_are_those_of_the_models(data: Path, tmp_path: Path) -> None:
    class Named(FakeModel):
        identity = "weights abc"

    def says(_: Call) -> str:
        return "SELECT 1"

    start(data, tmp_path / "run", Named(says))
    with pytest.raises(DatasetError, match=r'identities.fake was "weights abc", is not recorded'):
        start(data, tmp_path / "run", FakeModel("SELECT 1"))
