"""The answers of a run refined: a run again, with what was corrected and what was misled, each worked out by hand."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, recipes
from sqljury.bench import costs, refining, run, stored
from sqljury.bench.refining import Way
from sqljury.bench.versions import data_versions
from sqljury.datasets import spider
from sqljury.errors import DatabaseError, DatasetError, ModelUnavailableError, SandboxError
from sqljury.evaluation import run_folder as folder
from sqljury.llm.base import Reply
from sqljury.llm.fake import Call
from sqljury.llm.ledger import Price
from sqljury.llm.prices import Prices
from sqljury.recipes import FixPart, GeneratePart, Recipe
from sqljury.recipes.parts import TestsPart

COUNT, OLD = "SELECT count(*) FROM cat", "SELECT name FROM cat WHERE age > 5"
UP = "SELECT name FROM cat ORDER BY age"
YOUNG, BROKEN, DOGS = "SELECT name FROM cat WHERE age < 5", "SELECT zzz FROM hound", "SELECT count(*) FROM dog"
ANSWERS = {"How many cats": COUNT, "old cats": YOUNG, "by age": BROKEN, "How many dogs": DOGS}
SUITE = recipes.parse("suited", '[tests]\nkind = "suite"\nshots = 0\n[refine]\nrounds = 2')
TESTS = Way()
BARE = Recipe("bare", generate=(GeneratePart(),), fix=FixPart(names=False, attempts=0))


@pytest.fixture
def before(data: Path, tmp_path: Path) -> Path:
    """One question right, one wrong, one failing, one right."""
    pipeline = Pipeline(BARE, FakeModel(ANSWERS))
    settled = run.settings(pipeline, {"name": "spider", "data": str(data)}, 0)
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "before", settled)
    return tmp_path / "before"


def expecting(call: Call) -> str:
    """Expects of the old cats what they are and of the dogs what they are not; then writes what that asks for."""
    if not call.messages[0].content.startswith("You write SQLite"):
        rows = [line for line in call.messages[1].content.splitlines() if line[:1].isdigit()]
        old = [row.split(", ")[1] for row in rows if int(row.split(", ")[-1]) > 5]
        return ("\n".join(old) or "no rows") if "old cats" in call.prompt else "7"
    if "old cats" in call.messages[1].content:
        return OLD
    return "SELECT 7 FROM dog LIMIT 1" if "dogs" in call.messages[1].content else COUNT


def refined(before: Path, out: Path, data: Path, model: FakeModel, way: Way = TESTS) -> None:
    refining.refine(before, out, data, model, SUITE, way)


def test_what_was_corrected_and_misled_is_counted(before: Path, data: Path, tmp_path: Path) -> None:
    refined(before, tmp_path / "out", data, FakeModel(expecting))
    queries = {record["question"]: record["sql"] for record in folder.records(tmp_path / "out")}
    found = refining.summary(tmp_path / "out", data)
    assert (found["corrected"], found["misled"], found["questions"]) == (1, 1, 4), queries
    assert (found["before"]["right"], found["after"]["right"]) == (2, 2)
    assert found["verdicts"]["wrong"]["failed"] == 2  # the one that failed, made to run, is as wrong
    assert found["cost"]["tests"]["calls"] > 0


def test_both_rules_are_reported_whichever_the_recipe_has(before: Path, data: Path, tmp_path: Path) -> None:
    """The cats' count is tested wrongly and rewritten to what fails too: the last query is that, the better one not."""

    def wavering(call: Call) -> str:
        said = expecting(call)
        asked_again = call.messages[0].content.startswith("You write SQLite") and len(call.messages) > 2
        return "SELECT 3 FROM cat LIMIT 2" if asked_again and "old cats" in call.messages[1].content else said

    def recipe(keep: str) -> Recipe:
        return recipes.parse("suited", f'[tests]\nkind = "suite"\nshots = 0\n[refine]\nrounds = 2\nkeep = "{keep}"')

    for keep, changed in (("better", 2), ("last", 3)):
        refining.refine(before, tmp_path / keep, data, FakeModel(wavering), recipe(keep), TESTS)
        found = refining.summary(tmp_path / keep, data)
        assert (found["keep"], found["changed"], found["corrected"], found["misled"]) == (keep, changed, 0, 1)
        assert [found["kept"][name]["changed"] for name in ("better", "last")] == [2, 3]
        records = folder.records(tmp_path / keep)
        assert [record["sql"] for record in records] == [record[keep] for record in records]
        assert stored.load(tmp_path / keep, data).questions[1].before == YOUNG


def test_a_refined_run_is_a_run(before: Path, data: Path, tmp_path: Path) -> None:
    refined(before, tmp_path / "out", data, FakeModel(expecting))
    loaded = stored.load(tmp_path / "out", data)
    assert loaded.recipe.name == "bare+suited"
    assert [one.sql for one in loaded.questions][1] == OLD
    [written, rewritten] = loaded.questions[1].candidates
    assert (written.queries[-1], rewritten.repairs[-1]) == (YOUNG, (YOUNG, "tests"))
    assert {"1 direct", "tests", "refine"} <= set(loaded.questions[1].steps)


def test_a_broken_off_refinement_goes_on(before: Path, data: Path, tmp_path: Path) -> None:
    def stops(call: Call) -> str | Exception:
        return ModelUnavailableError("gone") if "old cats" in call.prompt else expecting(call)

    with pytest.raises(ModelUnavailableError):
        refined(before, tmp_path / "out", data, FakeModel(stops))
    assert len(folder.records(tmp_path / "out")) == 1
    model = FakeModel(expecting)
    refined(before, tmp_path / "out", data, model)
    assert [one["id"] for one in folder.records(tmp_path / "out")] == [one["id"] for one in folder.records(before)]
    assert not any("How many cats" in call.messages[-1].content for call in model.calls)
    with pytest.raises(DatasetError, match="refined"):
        refined(before, tmp_path / "out", data, model, Way(by="prompt"))


def test_a_database_that_goes_during_a_refinement_ends_it(data: Path, tmp_path: Path) -> None:
    examples, before, out = spider.load(data, "dev"), tmp_path / "before", tmp_path / "out"
    pipeline = Pipeline(BARE, FakeModel(ANSWERS))
    dataset = {"name": "spider", "data": str(data), **data_versions(examples, {})}
    run.run(examples, pipeline, before, run.settings(pipeline, dataset, 0))
    file = Path(examples[3].database)
    file.rename(file.with_suffix(".away"))
    with pytest.raises(DatabaseError, match="more: cannot be opened any more"):
        refined(before, out, data, FakeModel(expecting))
    assert len(folder.records(out)) == 3
    file.with_suffix(".away").rename(file)
    refined(before, out, data, FakeModel(expecting))
    assert [record["fault"] for record in folder.records(out)] == [None] * 4


def test_answers_refined_side_by_side_are_the_same(before: Path, data: Path, tmp_path: Path) -> None:
    threads: set[int] = set()
    two = threading.Event()

    class Waiting(FakeModel):
        def complete(self, *asked: Any, **more: Any) -> Reply:
            threads.add(threading.get_ident())
            if len(threads) == 2:
                two.set()
            assert two.wait(30)  # the other question is asked while this one is
            return super().complete(*asked, **more)

    refined(before, tmp_path / "alone", data, FakeModel(expecting))
    refining.refine(before, tmp_path / "together", data, Waiting(expecting), SUITE, TESTS, batch=2)
    alone, side_by_side = (
        {
            record["id"]: (record["sql"], record["passed"], record["rounds"])
            for record in folder.records(tmp_path / name)
        }
        for name in ("alone", "together")
    )
    assert side_by_side == alone
    assert len(alone) == 4


def test_plain_self_corrections(before: Path, data: Path, tmp_path: Path) -> None:
    refined(before, tmp_path / "looked", data, FakeModel(expecting), Way(by="prompt"))
    looked = refining.summary(tmp_path / "looked", data)
    assert (looked["corrected"], looked["misled"], looked["asked"]) == (1, 1, 4)
    model = FakeModel(UP)
    assert looked["kept"] == {}
    refined(before, tmp_path / "results", data, FakeModel(expecting), Way(by="result"))
    by_result = refining.summary(tmp_path / "results", data)
    assert (by_result["corrected"], by_result["misled"], by_result["asked"]) == (1, 1, 4)
    refined(before, tmp_path / "errors", data, model, Way(by="errors"))
    assert len(model.calls) == 1
    errors = refining.summary(tmp_path / "errors", data)
    assert (errors["corrected"], errors["misled"], errors["changed"]) == (1, 0, 1)


def test_errors_are_seen_to_where_the_answer_was_repaired(data: Path, tmp_path: Path) -> None:
    model = FakeModel(lambda call: UP if len(call.messages) > 2 else BROKEN)
    pipeline = Pipeline(Recipe("mended", generate=(GeneratePart(),)), model)
    examples = [one for one in spider.load(data, "dev") if "by age" in one.question.text]
    settled = run.settings(pipeline, {"name": "spider", "data": str(data)}, 0)
    run.run(examples, pipeline, tmp_path / "mended", settled)
    for start, asked in (("answer", 0), ("written", 1)):
        again = FakeModel(UP)
        refined(tmp_path / "mended", tmp_path / start, data, again, Way("errors", "", start))  # type: ignore[arg-type]
        assert len(again.calls) == asked
        assert refining.summary(tmp_path / start, data)["after"]["right"] == 1


@pytest.mark.parametrize(("agent", "field", "value"), [("data", "data", "real"), ("inspection", "inspections", 0)])
def test_agents_are_left_out(agent: str, field: str, value: object) -> None:
    part = TestsPart(kind="agents")
    assert getattr(refining.changed(part, Way(without=agent)), field) == value  # type: ignore[arg-type]
    assert refining.changed(part, Way()) == part
    assert refining.changed(part, Way(without="code")).by == "model"
    assert refining.changed(part, Way(without="data", share=0.1)).share == 0.1


AGENTS = recipes.parse(
    "small",
    '[tests]\nkind = "agents"\ndata = "program"\ncodes = 1\ninspections = 1\n[refine]\nrounds = 1\nkeep = "last"',
)
COUNTING = "```python\nresult = pd.DataFrame({'n': [len(dog)]})\n```"
WITHOUT = {
    "": Way(limit=1),
    "inspection": Way(without="inspection", limit=1),
    "data": Way(without="data", limit=1),
    "share": Way(without="data", share=0.5, limit=1),
    "code": Way(without="code", limit=1),
}
"""Table 4 and Figure 4, on a question about dogs whose program is right and whose last query is not."""


@pytest.mark.parametrize("name", WITHOUT)
def test_each_ablation_runs_to_its_end(before: Path, data: Path, tmp_path: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    records = [one for one in folder.records(before) if "dogs" in one["question"]]
    wrong = {"sql": "SELECT max(id) + 1 FROM dog"}
    records = [{**one, **wrong, "candidates": [{**one["candidates"][0], **wrong}]} for one in records]
    (before / folder.ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in records))

    def agents(call: Call) -> str:
        if call.messages[0].content.startswith("You write SQLite"):
            return "SELECT 99 FROM dog LIMIT 1"
        return COUNTING if "pandas" in call.messages[0].content else "17"

    try:
        refining.refine(before, tmp_path / "out", data, FakeModel(agents), AGENTS, WITHOUT[name])
    except SandboxError:
        pytest.skip("written code cannot be isolated here")
    [record] = folder.records(tmp_path / "out")
    assert (record["fault"], record["rounds"], record["passed"], record["counted"]) == (None, 1, 0, 1)
    assert (record["last"], record["better"]) == ("SELECT 99 FROM dog LIMIT 1", wrong["sql"])
    [test] = record["tests"]
    assert test["how"] == ("real" if name in ("data", "share") else "fuzzed")
    assert test["by"] == ("model" if name == "code" else "code")
    if name == "share":
        assert len(test["tables"]["dog"]["rows"]) == 2


def test_one_model_stands_in_for_those_that_the_recipe_names(before: Path, data: Path, tmp_path: Path) -> None:
    settings = folder.described(before)
    settings["recipe"]["generate"][0]["model"] = "+own"
    settings["recipe"]["link"] |= {"kind": "model", "model": "+linker"}
    (before / folder.SETTINGS).write_text(json.dumps(settings))
    refined(before, tmp_path / "out", data, FakeModel(expecting))
    assert [record["fault"] for record in folder.records(tmp_path / "out")] == [None] * 4
    assert folder.described(tmp_path / "out")["recipe"]["generate"][0]["model"] == "+own"  # it has written them


def test_evidence_is_shown_again(before: Path, data: Path, tmp_path: Path) -> None:
    records = folder.records(before)
    records[1]["evidence"] = "old is above five"
    (before / folder.ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in records))
    model = FakeModel(expecting)
    refined(before, tmp_path / "out", data, model)
    asked = [call for call in model.calls if "old cats" in call.prompt and call.messages[0].content.startswith("You w")]
    assert asked
    assert all("old is above five" in call.prompt for call in asked)
    assert folder.records(tmp_path / "out")[1]["evidence"] == "old is above five"


def test_a_run_without_answers_is_none(tmp_path: Path, data: Path, before: Path) -> None:
    (before / folder.ANSWERS).write_text("")
    with pytest.raises(DatasetError, match="no answers yet"):
        refined(before, tmp_path / "out", data, FakeModel("x"))


def test_a_refined_run_keeps_the_places_and_dialogues_of_its_questions(
    before: Path, data: Path, tmp_path: Path
) -> None:
    records = [{**one, "number": 3 - at, "interaction": 3 - at} for at, one in enumerate(folder.records(before))]
    (before / folder.ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in records))
    refined(before, tmp_path / "out", data, FakeModel(expecting))
    kept = [(one["id"], one["number"], one["interaction"]) for one in folder.records(tmp_path / "out")]
    assert kept == [(one["id"], one["number"], one["interaction"]) for one in records]


def test_a_draw_of_a_run_that_has_grown_is_refused(before: Path, data: Path, tmp_path: Path) -> None:
    whole = (before / folder.ANSWERS).read_text()
    (before / folder.ANSWERS).write_text("".join(whole.splitlines(keepends=True)[:3]))
    refined(before, tmp_path / "out", data, FakeModel(expecting), Way(limit=2))
    assert folder.described(tmp_path / "out")["dataset"]["count"] == 2
    assert sorted(record["number"] for record in folder.records(tmp_path / "out")) == [0, 1]
    (before / folder.ANSWERS).write_text(whole)
    with pytest.raises(DatasetError, match=r"refined\.answers was 3, is 4"):
        refined(before, tmp_path / "out", data, FakeModel(expecting), Way(limit=2))
    assert len(folder.records(tmp_path / "out")) == 2


def test_only_refining_is_priced_as_the_model_that_refined(before: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refined(before, out, data, FakeModel(expecting, name="dear"))
    prices = Prices({"fake": Price(0.0, 0.0), "dear": Price(0.0, 1e6)})
    found, written = costs.costs(out, prices), costs.costs(before).models["fake"]
    assert found.models["fake"].completion_tokens == written.completion_tokens > 0
    assert found.models["dear"].usd == found.spent.usd == found.models["dear"].completion_tokens > 0
    lines = [{key: one[key] for key in one if key != "refining"} for one in folder.records(out)]
    (out / folder.ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert costs.costs(out, prices).models == found.models
