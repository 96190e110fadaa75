"""Candidates of other systems as a run: three systems on the four questions of ``judging.data``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sqljury import FakeModel
from sqljury.bench import choices, export, given, stored
from sqljury.bench.run import Controls
from sqljury.datasets.candidates import MOST_BYTES
from sqljury.engines.databases import of_run
from sqljury.errors import CancelledError, ContextLengthError, DatabaseError, DatasetError, InputError, RecipeError
from sqljury.evaluation import report
from sqljury.evaluation import run_folder as folder
from sqljury.llm.base import NoModel
from sqljury.llm.ledger import Ledger
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.stages.select.light import Weights
from sqljury.stages.select.scorers import Scorer
from sqljury.stages.weights import save
from sqljury.types import Limits

COUNT, OLD, SORTED, DOGS = (
    "SELECT count(*) FROM cat",
    "SELECT name FROM cat WHERE age > 5",
    "SELECT name FROM cat ORDER BY age",
    "SELECT count(*) FROM dog",
)
SORTED_BOUND = "SELECT cat.name FROM cat ORDER BY age"
FILES = {
    "A.txt": (COUNT, "SELECT name FROM cat", "SELECT nme FROM cat ORDER BY age", "DROP TABLE dog"),
    "B.txt": ("SELECT 7", OLD, SORTED, "SELECT nothing FROM nowhere"),
    "C.txt": (COUNT, OLD + ";", "SELECT DISTINCT name FROM cat", "SELECT count(*)\tFROM dog"),
}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, queries in FILES.items():
        (tmp_path / name).write_text("".join(f"{query}\n" for query in queries))
    return [tmp_path / name for name in FILES]


def read(files: list[Path], data: Path) -> given.Sources:
    return given.read(files, data / "dev.json", data / "database")


def chosen(sources: given.Sources, out: Path | None = None, selector: str = "consistency") -> given.Choices:
    pipeline = given.pipeline_for(sources.pool, NoModel(), selector=selector)
    return given.choose(sources, pipeline, out)


def test_predictions_become_a_run_that_can_be_judged_and_chosen_from_again(
    files: list[Path], data: Path, tmp_path: Path
) -> None:
    sources = read(files, data)
    found = chosen(sources, tmp_path / "run")
    answers = [record["sql"] for record in found.records]
    assert answers[:2] == [COUNT, OLD]
    assert answers[2] == "SELECT cat.name FROM cat ORDER BY age"  # repaired, it agrees with B
    assert answers[3] == "SELECT count(*)\tFROM dog"
    assert found.lines().splitlines()[3] == "SELECT count(*) FROM dog"
    assert json.loads(found.bird())["3"] == "SELECT count(*)\tFROM dog\t----- bird -----\tmore"
    assert found.counts == {"A": 2, "B": 1, "C": 1}
    described, run = folder.described(tmp_path / "run"), tmp_path / "run"
    with of_run(described, folder.data_of(run), run) as databases:
        verdicts = report.judge_run(folder.records(run), databases)
    assert sum(verdict.right for verdict in verdicts) >= 3
    loaded = stored.load(run, data)
    assert loaded.generators == ("A", "B", "C")
    assert [fix[1] for fix in loaded.questions[2].candidates[0].repairs] == ["schema"]
    file = choices.select(run, data, FakeModel("A"), SelectPart("first"))
    assert json.loads(file.read_text().splitlines()[1])["sql"] == "SELECT name FROM cat"


def test_the_first_system_breaks_ties_and_what_fails_is_dropped(files: list[Path], data: Path) -> None:
    pair = chosen(read(files[:2], data))
    assert [record["sql"] for record in pair.records[:2]] == [COUNT, "SELECT name FROM cat"]
    assert pair.records[3]["sql"] == ""
    assert pair.unanswered[0].startswith(
        f"question {pair.records[3]['id']!r}: none of 2 candidate queries could be run"
    )
    assert pair.lines().splitlines()[3] == "SELECT nothing FROM nowhere"  # never DROP TABLE: others may run the file
    alone = chosen(read(files[:1], data))
    assert alone.lines().splitlines()[3] == export.NOTHING
    assert json.loads(alone.bird())["3"].startswith(f"{export.NOTHING}\t")
    reverse = chosen(read([files[1], files[0]], data))
    assert [record["sql"] for record in reverse.records[:2]] == ["SELECT 7", OLD]


@pytest.mark.parametrize(("margin", "kept"), [(0.0, 0), (9.0, 1)])
def test_questions_that_votes_decide_within_the_margin_are_counted(
    files: list[Path], data: Path, tmp_path: Path, margin: float, kept: int
) -> None:
    """With a weight on rows alone, the judge prefers the second system's result on one question."""
    save(Weights({"rows_log": 1.0}, {}, margin), tmp_path / "own.json")
    sources = read([files[1], files[0]], data)  # some cats against all; elsewhere as many rows, or one that runs
    pipeline = given.pipeline_for(sources.pool, NoModel(), selector="light", weights=str(tmp_path / "own.json"))
    found = given.choose(sources, pipeline)
    assert found.within_margin == kept


def test_a_run_goes_on_where_it_was_stopped_and_keeps_to_its_files(
    files: list[Path], data: Path, tmp_path: Path
) -> None:
    sources, out = read(files, data), tmp_path / "run"
    controls = Controls()

    def stop(done: int, total: int, _: folder.Record | None) -> None:
        assert total == 4
        if done == 2:
            raise CancelledError("stopped")

    pipeline = given.pipeline_for(sources.pool, NoModel(), selector="consistency")
    with pytest.raises(CancelledError):
        given.choose(sources, pipeline, out, Controls(stop))
    assert len(folder.records(out)) == 2
    assert len(given.choose(sources, pipeline, out, controls).records) == 4
    files[0].write_text(files[0].read_text().replace("count(*)", "count(id)"))
    with pytest.raises(DatasetError, match=r"other settings \(dataset.predictions differ\)"):
        chosen(read(files, data), out)


def test_bad_lines_are_named_and_the_rest_is_judged(data: Path, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    deep = "SELECT " + "(" * 20_000 + "1" + ")" * 20_000
    entries = json.loads((data / "dev.json").read_text())
    entries[1]["db_id"] = "gone"
    for entry in entries:
        entry.pop("query")
    (tmp_path / "asked.json").write_text(json.dumps(entries))
    (tmp_path / "A.txt").write_text("\n".join((endless, OLD, deep, "")) + "\n")
    (tmp_path / "B.txt").write_text("\n".join((COUNT, OLD, SORTED, "")) + "\n")
    sources = given.read([tmp_path / "A.txt", tmp_path / "B.txt"], tmp_path / "asked.json", data / "database")
    assert "question '1': there is no database 'gone'" in sources.faults[0]
    pipeline = given.pipeline_for(sources.pool, NoModel(), limits=Limits(seconds=0.5))
    found = given.choose(sources, pipeline, tmp_path / "run")
    assert [record["sql"] for record in found.records] == [COUNT, "", SORTED, ""]
    assert found.lines().splitlines() == [COUNT, OLD, SORTED, export.NOTHING]
    assert found.unanswered == (f"question '3': {given.NONE_GIVEN}",)  # faults name the database of question 1
    assert [fault.partition(": ")[0] for fault in found.faults[:-1]] == [
        f"{tmp_path / 'A.txt'}, line 1",
        f"{tmp_path / 'A.txt'}, line 3",
    ]
    assert "limit: " in found.faults[0]
    assert (tmp_path / "run" / given.FAULTS).read_text().splitlines() == [*found.faults, *found.unanswered]


def test_a_run_without_gold_says_what_judges_it(files: list[Path], data: Path, tmp_path: Path) -> None:
    entries = json.loads((data / "dev.json").read_text())
    for entry in entries:
        entry.pop("query")
    (tmp_path / "asked.json").write_text(json.dumps(entries))
    chosen(given.read(files, tmp_path / "asked.json", data / "database"), tmp_path / "run")
    with pytest.raises(DatasetError, match=r"none of its 4 questions has a gold query; .* sqljury eval --gold FILE"):
        stored.load(tmp_path / "run", data)


def test_a_database_that_is_not_there_is_named_once(files: list[Path], data: Path, tmp_path: Path) -> None:
    entries = json.loads((data / "dev.json").read_text())
    for entry in entries[1:3]:
        entry["db_id"] = "gone"
        entry["evidence"] = None
    (tmp_path / "asked.json").write_text(json.dumps(entries))
    sources = given.read(files, tmp_path / "asked.json", data / "database")
    [fault] = [one for one in sources.faults if "gone" in one]
    assert "asked.json, 2 questions, the first '1': there is no database 'gone'" in fault


def test_files_that_do_not_go_together(files: list[Path], data: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such folder"):
        given.read(files, data / "dev.json", tmp_path / "nowhere")
    with pytest.raises(DatabaseError, match=r"there is no database 'pets' .*; give the folder of <db_id>"):
        given.read(files, data / "dev.json", tmp_path)
    with pytest.raises(InputError, match="0 prediction files"):
        read([], data)
    tables = tmp_path / "tables.json"
    tables.write_text("[]")
    sources = given.read(files, data / "dev.json", data / "database", tables=tables)
    for out, message in (
        (files[0], "is an input"),
        (tables, "is an input"),
        (tmp_path / "run" / "answers.jsonl", "lies in the folder of the run"),
        (data / "database" / "x.txt", "lies in the folder of the databases"),
        (tmp_path / "no" / "x.txt", "cannot be written"),
    ):
        with pytest.raises(InputError, match=message):
            given.check_out(out, sources, tmp_path / "run")
    own = tmp_path / "own.toml"
    own.write_text("")
    with pytest.raises(InputError, match="is an input"):
        given.check_out(own, sources, also=[str(own), ""])
    with pytest.raises(InputError, match="name another --run"):
        given.check_out(tmp_path / "x.txt", sources, data / "database" / "run")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file"):
        given.check_out(tmp_path / "pipe", sources)


def test_without_a_model_nothing_asks_one(files: list[Path], data: Path) -> None:
    pool = read(files, data).pool
    for selector in ("critic", "tournament"):
        with pytest.raises(RecipeError, match=f"{selector} asks a model; name one with --model, or choose by consist"):
            given.pipeline_for(pool, NoModel(), selector=selector)
    with pytest.raises(RecipeError, match=r"\[refine\] asks a model"):
        given.pipeline_for(pool, NoModel(), "tssql", "consistency")
    assert given.pipeline_for(pool, NoModel(), "default").recipe.fix.attempts == 0
    assert isinstance(open_model("none"), NoModel)
    assert isinstance(open_model("none", ledger=Ledger()), NoModel)


def test_another_selector_keeps_what_else_the_recipe_chooses_by(files: list[Path], data: Path, tmp_path: Path) -> None:
    pool, recipe = read(files, data).pool, tmp_path / "own.toml"
    save(Weights({"votes_log": 1.0}, {}), tmp_path / "own.json")
    chooses = f'[select]\nselector = "light"\nweights = "{tmp_path / "own.json"}"\nschema = "linked"\ngroups = 3\n'
    recipe.write_text(f'summary = "own"\n[[generate]]\ngenerator = "direct"\n{chooses}')
    part = given.pipeline_for(pool, FakeModel("A"), str(recipe), "tournament").recipe.select
    assert part == SelectPart("tournament", 3, schema="linked")
    part = given.pipeline_for(pool, FakeModel("A"), str(recipe), "light").recipe.select
    assert part.weights == str(tmp_path / "own.json")


def test_a_model_repairs_what_fails_where_the_recipe_says_so(files: list[Path], data: Path) -> None:
    sources = read(files[1:2], data)
    model = FakeModel(DOGS)
    found = given.choose(sources, given.pipeline_for(sources.pool, model, "default"))
    assert found.records[3]["sql"] == DOGS
    assert found.records[3]["candidates"][0]["fixes"][-1]["by"] == "model"


def test_keys_of_tables_json_count(files: list[Path], data: Path, tmp_path: Path) -> None:
    entry = {
        "db_id": "pets",
        "table_names_original": ["CAT"],
        "column_names_original": [[-1, "*"], [0, "ID"], [0, "age"], [0, "gone"]],
        "foreign_keys": [[2, 1], [3, 1], [1, 1], [9, 1]],
    }
    tables = tmp_path / "tables.json"
    for value, count in (([{**entry, "foreign_keys": [[2, 1], [3, 1], [1, 1]]}], 1), ([entry], 0), ([], 0)):
        tables.write_text(json.dumps(value))
        sources = given.read(files, data / "dev.json", data / "database", tables=tables)
        assert sum(len(notes.joins) for notes in sources.notes.values()) == count
    tables.write_text(json.dumps([{**entry, "foreign_keys": [[2, 1]]}]))
    sources = given.read(files, data / "dev.json", data / "database", tables=tables)
    assert chosen(sources).records[0]["sql"] == COUNT


def test_a_file_beyond_all_measure_is_not_read(files: list[Path], data: Path) -> None:
    with files[0].open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # no such space is taken on disk
    with pytest.raises(DatasetError, match=r"A.txt: has .* bytes, more than"):
        read(files, data)


def sampled(tmp_path: Path) -> list[Path]:
    """Eight samples of one system that are wrong about the first question, and two systems with a query each."""
    lists = [[OLD] * 5 + ["SELECT 7"] * 3, [OLD, "SELECT name FROM cat"], [SORTED], [DOGS, 7]]
    (tmp_path / "many.json").write_text(json.dumps(lists))
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("\n".join((COUNT, OLD, SORTED, DOGS)) + "\n")
    return [tmp_path / name for name in ("many.json", "one.txt", "two.txt")]


def test_samples_of_one_system_share_its_vote(data: Path, tmp_path: Path) -> None:
    files, out = sampled(tmp_path), tmp_path / "run"
    sources = read(files, data)
    assert [fault.partition(": ")[0] for fault in sources.faults] == [f"{files[0]}, entry 3, query 2"]
    found = chosen(sources, out)
    assert [record["sql"] for record in found.records] == [COUNT, OLD, SORTED, DOGS]
    assert found.counts == {"many": 3, "one": 1, "two": 0}
    assert [one.get("weight") for one in found.records[0]["candidates"]] == [0.125] * 8 + [None] * 2
    assert (out / given.FAULTS).read_text().splitlines() == list(sources.faults)
    by_query = given.read(files, data / "dev.json", data / "database", votes="queries")
    assert chosen(by_query).records[0]["sql"] == OLD
    with pytest.raises(DatasetError, match=r"other settings \(dataset.votes"):
        chosen(by_query, out)


def test_analyses_and_other_selectors_keep_the_weights(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    chosen(read(sampled(tmp_path), data), out)
    run = stored.load(out, data)
    assert run.generators == ("many", "one", "two")
    first = run.questions[0]
    assert first.voted(first.candidates) == COUNT
    file = choices.select(out, data, FakeModel("A"), SelectPart("consistency"))
    assert json.loads(file.read_text().splitlines()[0])["scores"] == [2.0, 0.625, 0.375]
    with of_run(folder.described(out), data, out) as databases:
        verdicts = report.judge_run(folder.records(out), databases)
    assert verdicts[0].steps["votes"]
    lines = (out / folder.ANSWERS).read_text()
    for weight in ("0", "-1", "true", "1e400", '"1"', "1e-9", "8"):
        (out / folder.ANSWERS).write_text(lines.replace('"weight": 0.125', f'"weight": {weight}', 1))
        with pytest.raises(DatasetError, match="weight is not a share of a vote"):
            folder.records(out)


def test_a_sample_that_hangs_is_named_by_its_line(data: Path, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    lines = [{"id": 0, "sql": COUNT}, {"id": 0, "sql": endless}, *({"id": at, "sql": "SELECT 1"} for at in (1, 2, 3))]
    (tmp_path / "A.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    sources = read([tmp_path / "A.jsonl"], data)
    pipeline = given.pipeline_for(sources.pool, NoModel(), limits=Limits(seconds=0.5))
    [fault] = given.choose(sources, pipeline).faults
    assert fault.startswith(f"{tmp_path / 'A.jsonl'}, line 2: limit: ")


def test_weights_of_the_users_own(files: list[Path], data: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    save(Weights({"votes_log": -1.0}, {}), own)  # the fewer votes, the better
    sources, out = read(files, data), tmp_path / "run"
    pipeline = given.pipeline_for(sources.pool, NoModel(), weights=str(own))
    found = given.choose(sources, pipeline, out)
    assert found.records[0]["sql"] == "SELECT 7"
    save(Weights({"votes_log": -2.0}, {}), own)
    with pytest.raises(DatasetError, match=r"other settings \(weights"):
        given.choose(sources, given.pipeline_for(sources.pool, NoModel(), weights=str(own)), out)
    with pytest.raises(InputError, match="--weights are for --selector light"):
        given.pipeline_for(sources.pool, NoModel(), selector="consistency", weights=str(own))
    own.write_text("{}")
    with pytest.raises(InputError, match=r"own\.json"):
        given.pipeline_for(sources.pool, NoModel(), weights=str(own))
    own.unlink()
    save(Weights({"judge_score": 1.0}, {}, scorer=Scorer("critic")), own)
    with pytest.raises(RecipeError, match="asks a model"):
        given.pipeline_for(sources.pool, NoModel(), weights=str(own))


def opinion(
    sources: given.Sources, model: FakeModel, out: Path | None = None, recipe: str = "choose", **options: str
) -> given.Choices:
    pipeline = given.pipeline_for(sources.pool, model, recipe, selector="consistency", **options)  # type: ignore[arg-type]
    return given.choose(sources, pipeline, out)


def test_a_model_is_asked_where_systems_disagree_and_votes(files: list[Path], data: Path, tmp_path: Path) -> None:
    sources, out = read(files[:2], data), tmp_path / "run"
    model = FakeModel({"How many cats?": "SELECT 7", "old cats": OLD, "by age": "SELECT 1", "dogs": DOGS})
    found = opinion(sources, model, out)
    assert [record["sql"] for record in found.records] == ["SELECT 7", OLD, SORTED_BOUND, DOGS]
    assert (found.asked, len(model.calls)) == (3, 3)  # A and B agree on the third question
    assert found.counts == {"A": 1, "B": 2, "fake": 1}  # neither ran on the fourth
    own = [record["candidates"][-1] for record in found.records]
    assert [one.get("opinion") for one in own] == [True, True, None, True]
    assert [one["part"] for one in own] == [2, 2, 1, 2]
    assert own[0]["logprob"] is None
    assert [record["cost"]["calls"] for record in found.records] == [1, 1, 0, 1]
    assert list(found.records[0]["steps"]) == ["3 direct"]
    assert not any("SELECT" in message.content for message in model.calls[0].messages)  # it does not see the others
    assert opinion(sources, FakeModel([]), out).records == found.records  # the run is finished
    with pytest.raises(DatasetError, match=r"recipe.select.opinion"):
        opinion(sources, model, out, opinion="candidate")
    file = choices.select(out, data, FakeModel("A"), SelectPart("first"))
    assert [json.loads(line)["sql"] for line in file.read_text().splitlines()][1:] == [
        "SELECT name FROM cat",
        SORTED_BOUND,
        DOGS,
    ]
    run = stored.load(out, data)
    assert run.questions[0].voted(run.questions[0].candidates) == "SELECT 7"


def test_an_opinion_is_chosen_where_it_may_be(data: Path, tmp_path: Path) -> None:
    for name, lines in (("A", ("SELECT 1", "SELECT 2")), ("B", ("SELECT 4", "SELECT 4"))):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(f"{json.dumps({'id': at, 'sql': line, 'logprob': -1.0})}\n" for at, line in enumerate(lines))
        )
    (tmp_path / "C.jsonl").write_text(json.dumps({"id": 0, "sql": COUNT}) + "\n")
    sources = read([tmp_path / f"{name}.jsonl" for name in "ABC"], data)
    recipe = tmp_path / "own.toml"
    recipe.write_text("[[generate]]\nsamples = 3\ntemperature = 1\n[fix]\nattempts = 0\n")
    samples = [COUNT, "SELECT 9", "SELECT 9"]
    votes = opinion(sources, FakeModel(lambda _: samples), recipe=str(recipe), opinion="votes")
    assert votes.records[0]["sql"] == COUNT  # a vote and a third
    assert votes.records[1]["sql"] == "SELECT 2"
    assert votes.records[2]["sql"] == "SELECT 9"  # no system has a query for it
    assert (votes.asked, votes.counts) == (4, {"A": 1, "B": 0, "C": 1, "fake": 2})
    may = opinion(sources, FakeModel("SELECT 9"), recipe=str(recipe), opinion="candidate", weights="")
    assert [record["sql"] for record in may.records[:2]] == ["SELECT 1", "SELECT 2"]  # the least trusted of three
    assert not any(one.get("opinion") for record in may.records for one in record["candidates"])
    none = opinion(sources, FakeModel([]), recipe=str(recipe), opinion="none")
    assert (none.asked, [record["sql"] for record in none.records]) == (0, ["SELECT 1", "SELECT 2", "", ""])


def test_an_opinion_that_cannot_be_had_changes_nothing(files: list[Path], data: Path, tmp_path: Path) -> None:
    sources = read(files, data)
    with pytest.raises(RecipeError, match="the opinion 'votes' asks a model; name one with --model"):
        given.pipeline_for(sources.pool, NoModel(), opinion="votes")
    assert given.pipeline_for(sources.pool, NoModel()).recipe.select.opinion == "none"
    assert given.pipeline_for(sources.pool, FakeModel("x"), "default").recipe.select.opinion == "none"
    plain = chosen(sources)
    for reply in (ContextLengthError("too long"), "no query here", "SELECT nothing FROM nowhere"):
        found = opinion(sources, FakeModel(lambda _, reply=reply: reply))  # type: ignore[misc]
        assert [one["sql"] for one in found.records] == [one["sql"] for one in plain.records]
    for line in ("SELECT 1", "SELECT 2"):
        (tmp_path / f"{line[-1]}.txt").write_text(f"{line}\n" * 4)
    sources = read([tmp_path / "1.txt", tmp_path / "2.txt"], data)
    found = opinion(sources, FakeModel("DROP TABLE cat"))  # its fault is not that of the systems
    assert [one["sql"] for one in found.records] == ["SELECT 1"] * 4
    with pytest.raises(RecipeError, match="a part is given"):
        Pipeline(Recipe("own", generate=(GeneratePart("A", given=True),)), FakeModel("x"))


def test_a_fallback_writes_where_no_query_runs(data: Path, tmp_path: Path) -> None:
    for name in "AB":
        (tmp_path / f"{name}.txt").write_text("DROP TABLE cat\n" * 4)
    recipe = tmp_path / "own.toml"
    parts = "[[generate]]\n[[generate]]\nsamples = 2\nfallback = true\n[fix]\nattempts = 1\n"
    recipe.write_text(f'{parts}[select]\nopinion = "votes"\n')
    sources = read([tmp_path / "A.txt", tmp_path / "B.txt"], data)
    model = FakeModel(lambda call: "SELECT 5" if call.n == 2 else "SELECT nothing FROM nowhere")
    found = opinion(sources, model, recipe=str(recipe))
    assert {record["sql"] for record in found.records} == {"SELECT 5"}
    assert [len(record["candidates"]) for record in found.records] == [5] * 4


def test_a_choice_is_not_continued_on_databases_that_have_changed(
    files: list[Path], data: Path, tmp_path: Path
) -> None:
    file = data / "database" / "more" / "more.sqlite"
    file.rename(file.with_suffix(".away"))
    assert chosen(read(files, data), tmp_path / "run").records[3]["error"]
    file.with_suffix(".away").rename(file)
    with pytest.raises(DatasetError, match=r"dataset\.schemas, dataset\.unreadable differ"):
        chosen(read(files, data), tmp_path / "run")
