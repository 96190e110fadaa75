"""Tables computed from small files and a small run, every figure worked out by hand."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from sqljury import FakeModel, Pipeline, recipes
from sqljury.bench import choices, refining, run
from sqljury.datasets import spider
from sqljury.errors import DatasetError, InputError
from sqljury.experiments.papers import refined
from sqljury.experiments.papers.inputs import Inputs
from sqljury.experiments.papers.page import comparison
from sqljury.experiments.papers.registry import Grid, find
from sqljury.experiments.papers.reproduce import METHODS, reproduce
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart

ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared"
GOLD = ("SELECT count(*) FROM pet", "SELECT kind FROM pet WHERE age > 1", "SELECT kind FROM pet ORDER BY age")
GOOD = (GOLD[0], "SELECT kind FROM pet WHERE age >= 2", GOLD[2])
POOR = ("SELECT count(id) FROM pet", "SELECT id FROM pet", "SELECT nothing")


@pytest.fixture(scope="module")
def spider_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spider")
    file = folder / "database/pets/pets.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, age INTEGER);"
            "INSERT INTO pet VALUES (1, 'dog', 3), (2, 'cat', 2), (3, ' dog', 1);"
        )
    connection.close()
    questions = ("How many pets?", "Kinds older than 1?", "Kinds by age?")
    listed = [{"question": one, "query": sql, "db_id": "pets"} for one, sql in zip(questions, GOLD, strict=True)]
    (folder / "dev.json").write_text(json.dumps(listed))
    return folder


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    folder = tmp_path / "predictions"
    folder.mkdir()
    (folder / "gold.txt").write_text("".join(f"{sql}\tpets\n" for sql in GOLD))
    for name, queries in (("DAIL", GOOD), ("other", POOR)):
        (folder / f"{name}.txt").write_text("".join(f"{sql}\n" for sql in queries))
    return folder


@pytest.fixture(scope="module")
def stored_run(spider_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Right of 1 greedy and 2 sampled: 1 of 3 (outvoted), 3 of 3, none."""
    says = {"How many": (["SELECT count(*) FROM pet"], ["SELECT 7"]), "older": ([GOLD[1]], [GOOD[1]])}
    says["by age"] = (["SELECT id FROM pet"], ["SELECT age FROM pet"])

    def answer(call: Call) -> Sequence[str]:
        return next(parts[call.sampling.temperature > 0] for words, parts in says.items() if words in call.prompt)

    parts = (GeneratePart("direct"), GeneratePart("direct", samples=2, temperature=1.0))
    pipeline = Pipeline(Recipe("small", generate=parts), FakeModel(answer))
    out = tmp_path_factory.mktemp("runs") / "small"
    examples = spider.load(spider_folder, "dev")
    run.run(examples, pipeline, out, run.settings(pipeline, {"data": str(spider_folder)}, 0))
    choices.select(out, spider_folder, pipeline.model, SelectPart("first"))
    return out


def values(grid: Grid) -> dict[str, list[float | None]]:
    return {label: [cell and cell.value for cell in cells] for label, cells in grid.rows.items()}


def test_metrics_of_prediction_files(spider_folder: Path, predictions: Path, tmp_path: Path) -> None:
    inputs = Inputs(data=spider_folder, predictions=(predictions,))
    entry, grid = reproduce("esm+/table2", inputs)
    # ESM sees no values, and "> 1" is not ">= 2"; count(id) is count(*) by rule 7
    assert values(grid) == {"DAIL": [100.0, 66.7, 66.7], "other": [33.3, 0.0, 33.3]}
    text = comparison(entry, grid)
    assert "| DAIL  |       83.1 | 100.0 (100 - 100) |" in text
    assert "Differences from the paper:" in text
    assert values(METHODS["files.metric_errors"](inputs))["DAIL"] == [None, None, 0.0, 33.3, 0.0, 33.3]
    accumulated = values(METHODS["files.rules_accumulated"](inputs))
    assert (accumulated["6"], accumulated["7"]) == ([33.3, 33.3], [33.3, 0.0])
    corrected = tmp_path / "corrected.txt"
    corrected.write_text((predictions / "gold.txt").read_text().replace("age > 1", "age > 2"))
    _, changed = reproduce("tssql/table2", replace(inputs, gold=corrected))
    assert values(changed) == {"DAIL": [100.0, 66.7, 1.0, 0.0], "other": [33.3, 33.3, 0.0, 0.0]}
    verdicts = tmp_path / "verdicts"
    verdicts.mkdir()
    head = "index\texe_keep_distinct\tesm\tesm_plus\n"
    (verdicts / "DAIL.tsv").write_text(head + "".join(f"{number}\t1\t1\t1\n" for number in range(3)))
    _, judged = reproduce("esm+/table2", replace(inputs, verdicts=verdicts, predictions=(predictions / "DAIL.txt",)))
    assert any("EXE (DISTINCT kept) 3, ESM 2, ESM+ 2" in note for note in judged.notes), judged.notes
    (verdicts / "DAIL.tsv").write_text(head)
    with pytest.raises(DatasetError, match="no verdict"):
        reproduce("esm+/table2", replace(inputs, verdicts=verdicts))


def test_what_is_missing_is_named_with_the_command_that_makes_it(spider_folder: Path, predictions: Path) -> None:
    with pytest.raises(InputError, match=r"needs --pred PRED_DIR; then: sqljury reproduce esm\+/table2 --data SPIDER_"):
        reproduce("esm+/table2", Inputs(data=spider_folder))
    with pytest.raises(
        InputError, match=r"make it with: sqljury bench spider .*; then: sqljury reproduce chase/table5"
    ):
        reproduce("chase/table5", Inputs())
    with pytest.raises(InputError, match=r"chase/table2 .* is not computed here: BIRD"):
        reproduce("chase/table2", Inputs())
    with pytest.raises(InputError, match=r"figure8 .* is not computed here: an example, a prompt or a diagram"):
        reproduce("esm+/figure8", Inputs())
    with pytest.raises(InputError, match=r"table7 .* is not computed by this command: .*tssql/table2"):
        reproduce("tssql/table7", Inputs())
    with pytest.raises(InputError, match="tssql/table1 does not read --pred; it reads --data"):
        reproduce("tssql/table1", Inputs(data=spider_folder, predictions=(predictions,)))
    with pytest.raises(InputError, match="has no folder database"):
        reproduce("esm+/table2", Inputs(data=predictions, predictions=(predictions,)))
    with pytest.raises(InputError, match="holds no predictions"):
        reproduce("esm+/table2", Inputs(data=spider_folder, predictions=(spider_folder,)))
    with pytest.raises(InputError, match="there are no predictions"):
        reproduce("chase/table3", Inputs(data=spider_folder))
    with pytest.raises(InputError, match="not a refined run"):
        METHODS["refined.tokens"](Inputs(runs=(a_run(predictions),)))


def a_run(folder: Path) -> Path:
    """A folder with the settings of a run, without answers."""
    settings = {"dataset": {}, "recipe": {"name": "fast"}, "model": "m", "seed": 0}
    (folder / "run.json").write_text(json.dumps(settings))
    return folder


def test_a_stored_run(stored_run: Path, spider_folder: Path) -> None:
    inputs = Inputs(data=spider_folder, runs=(stored_run,))

    def figures(name: str) -> dict[str, list[float | None]]:
        return values(reproduce(name, inputs)[1])

    assert figures("chase/table1") == {
        "Single query": [44.4],
        "Self-consistency": [33.3],
        "Upper bound": [66.7],
    }
    assert figures("chase/figure5") == {"`small`, fake": [33.3, 33.3, 33.3]}
    ladder = figures("chase/figure2")
    assert ladder["1"] == [66.7, 66.7, 66.7, None]  # one right, all right, votes, and no choice of the first alone
    assert ladder["3"] == [66.7, 33.3, 33.3, 66.7]
    selectors = reproduce("chase/table6", inputs)[1]
    assert selectors.columns == ("all", "direct 1, T = 0", "direct 2, T = 1")
    assert values(selectors)["upper bound"] == [66.7, 66.7, 33.3]
    assert values(selectors)["first"] == [66.7, None, None]
    assert figures("chase/figure4") == {"pets": [3, 66.7, 33.3]}
    # count(*) is ESM's own; ">= 2" is none; with gold's results expected the outvoted query is found
    reranked = figures("rerank/table4")
    assert reranked["self-consistency"] == [33.3, 33.3]
    assert reranked["re-rank, perfect expectations"] == [66.7, 66.7]
    assert reranked["best choice"] == [66.7, 66.7]
    with pytest.raises(InputError, match="none of the runs has compared pairs"):
        reproduce("chase/table5", inputs)


def test_choices_that_were_broken_off_say_of_how_many_questions_they_are(
    stored_run: Path, spider_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(stored_run, out)
    lines = (out / "choices-first.jsonl").read_text().splitlines(keepends=True)
    (out / "choices-first.jsonl").write_text("".join(lines[:2]))
    inputs = Inputs(data=spider_folder, runs=(out,))
    for name in ("chase/table6", "chase/table7", "mscsql/table5"):
        rows = reproduce(name, inputs)[1].rows
        assert "first" not in rows
        assert "first (2 of 3 questions)" in rows
    assert "first (2 of 3 questions)" in reproduce("chase/figure2", inputs)[1].columns


def test_a_comparison_says_nothing_of_the_runs_that_the_page_keeps(stored_run: Path, spider_folder: Path) -> None:
    """Model, sample and dataset of the figures kept here are those of no other run."""
    inputs = Inputs(data=spider_folder, runs=(stored_run,))
    for name in ("chase/table1", "chase/table6", "chase/table7", "mscsql/table4", "mscsql/table5", "rerank/table4"):
        text = comparison(*reproduce(name, inputs))
        assert not re.search(r"embedded model|\d+ (of the [\d,]+ )?questions of Spider|1\.5 B", text), name
        assert "3 questions" in text


def test_refined_runs(stored_run: Path, spider_folder: Path, tmp_path: Path) -> None:
    """The model's second look takes the first question's query for every question."""
    out, recipe, way = tmp_path / "refined", recipes.load("tssql-small"), refining.Way(by="prompt")
    refining.refine(stored_run, out, spider_folder, FakeModel(GOLD[0]), recipe, way)
    inputs = Inputs(data=spider_folder, runs=(out, out))
    label = "small, by a prompt alone"
    found = values(reproduce("tssql/section4.4.3", inputs)[1])
    assert found == {label: [1, 1, None, 33.3], f"{label}, refined (2)": [1, 1, None, 33.3]}
    table = reproduce("tssql/table5", inputs)[1]
    assert table.columns[-1] == "all"
    assert [row[-1] for row in values(table).values()] == [33.3, 33.3, 33.3]  # before, and after twice
    assert values(reproduce("tssql/table6", inputs)[1])[label][1] == 0  # no test was made
    types = reproduce("tssql/figure6", replace(inputs, runs=(out,)))[1]
    assert types.columns == ("before", "after", "corrected", "misled")
    assert values(types) == {
        "other tables": [1, 0, 1, 0],  # SELECT 7
        "other columns selected": [1, 0, 0, 0],
        "other conditions": [0, 1, 0, 1],
        "anything else, such as groups, order, limit": [0, 1, 0, 0],
    }
    assert len(values(reproduce("tssql/figure6", inputs)[1])) == 8


def test_ways_to_refine_have_labels_of_their_own() -> None:
    assert set(refined.WAYS) == set(get_args(refining.By))
    tests = {"by": "tests", "without": "data"}
    assert refined.label_of(tests, "fast+tssql-small") == "fast+tssql-small, by tests, tssql-small, without data"
    assert refined.label_of(tests | {"share": 0.1}, "fast").endswith("without data, 10% of the rows")


def test_expected_results(tmp_path: Path) -> None:
    base = {"rows": 5, "form": "csv", "shots": 5, "numbers": False, "model": None}
    golds = ("SELECT a FROM t ORDER BY a", "SELECT count(*) FROM t GROUP BY a", "SELECT a FROM t")
    files = []
    for name, change, right in (
        ("a", {}, (True, False, True)),
        ("b", {"shots": 7}, (False, False, True)),
        ("c", {"numbers": True}, (True, True, False)),
    ):
        lines = [{"gold": sql, "exact": one, "settings": base | change} for sql, one in zip(golds, right, strict=True)]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    inputs = Inputs(expected=tuple(files))
    row = values(reproduce("rerank/table1", inputs)[1])["embedded model"]
    assert row == [66.7, None, None, None, None, 33.3, None]
    assert values(reproduce("rerank/table2", replace(inputs, expected=(files[0],)))[1]) == {
        "embedded model": [100.0, 50.0, 0.0, 100.0]
    }
    assert values(reproduce("rerank/table3", inputs)[1]) == {"embedded model": [100.0, 100.0]}
    files[0].write_text('{"gold": "SELECT 1"}\n')
    with pytest.raises(DatasetError, match=r"exact is missing; give a file of benchmarks/expect\.py"):
        reproduce("rerank/table1", inputs)


def test_audits_of_gold(spider_folder: Path) -> None:
    listed = json.loads((spider_folder / "dev.json").read_text())
    folder = spider_folder.parent / "audited"
    folder.mkdir()
    shutil.copytree(spider_folder / "database", folder / "database")
    wrong = {"question": "Who is a 'Dog'?", "query": "SELECT id FROM pet WHERE kind = 'Dog'", "db_id": "pets"}
    (folder / "dev.json").write_text(json.dumps([*listed, wrong]))
    inputs = Inputs(data=folder)
    assert values(reproduce("tssql/table1", inputs)[1])["Spider dev"] == [1, 4, 25.0]
    assert values(reproduce("tssql/figure7", inputs)[1])["wrong value"] == [100.0]


@pytest.mark.shared
def test_kept_figures_come_out_again(tmp_path: Path) -> None:
    """The figures of the page, from Spider and the candidates that are kept with the project."""
    files = Inputs(data=SHARED / "spider", predictions=(SHARED / "predictions/spider_dev/DAIL.txt",))
    assert_kept("esm+/table2", replace(files, verdicts=SHARED / "verdicts/spider_dev"), ["DAIL"])
    with tarfile.open(ROOT / "benchmarks/candidates/dev_light.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    of_run = Inputs(data=SHARED / "spider", runs=(tmp_path / "dev_light",))
    for name in ("chase/table1", "chase/figure5", "mscsql/table4"):
        assert_kept(name, of_run)


def assert_kept(name: str, inputs: Inputs, labels: Sequence[str] = ()) -> None:
    kept = values(find(name).kept[-1].grid)
    computed = reproduce(name, inputs)[1]
    assert values(computed).items() >= {label: kept[label] for label in labels or kept}.items()
    published = [note for note in computed.notes if "as the published programs say" in note]
    assert all(note.endswith("EXE (DISTINCT kept) 1034, ESM 1034, ESM+ 1034") for note in published), published


def test_files_and_runs_of_one_name_are_told_apart(
    spider_folder: Path, predictions: Path, stored_run: Path, tmp_path: Path
) -> None:
    file, run_ = tmp_path / "DAIL.txt", tmp_path / stored_run.name
    file.write_text("".join(f"{sql}\n" for sql in POOR))
    shutil.copytree(stored_run, run_)
    inputs = Inputs(
        data=spider_folder,
        predictions=(predictions / "DAIL.txt", file),
        runs=(stored_run, run_),
        gold=predictions / "gold.txt",
    )
    _, grid = reproduce("esm+/table2", inputs)
    assert [label.partition(":")[0] for label in grid.rows] == ["DAIL (1)", "DAIL (2)", "small (1)", "small (2)"]
