"""``sqljury train writer``: how questions are divided, what the steps are given, and the whole with a small model."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Question
from sqljury.cli import _guarded
from sqljury.datasets.spider import Example
from sqljury.errors import InputError
from sqljury.llm import adapters, models
from sqljury.llm.fake import Call
from sqljury.train import gguf_base, lora, writer
from sqljury.train.compare import export_checked
from sqljury.train.settings import Settings

SMALL = "smollm2-135m"
GREEDY = '[[generate]]\ngenerator = "direct"\nsamples = 1\ntemperature = 0.0\nmax_tokens = 24\n[fix]\nattempts = 0\n'
ASKED = (
    ("How many dogs are there?", "SELECT count(*) FROM pet WHERE kind = 'dog'"),
    ("What is the average age?", "SELECT avg(age) FROM pet"),
    ("List the owners of each dog.", "SELECT T2.name FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id"),
    ("Who owns pets?", "SELECT name FROM owner"),
    ("Which ages are there?", "SELECT age FROM pet"),
    ("Where are shops?", "SELECT city FROM shop"),
    ("What kinds of pets exist?", "SELECT DISTINCT kind FROM pet"),
    ("Name the oldest pet.", "SELECT name FROM pet ORDER BY age DESC LIMIT 1"),
)


def asked(number: int, text: str, gold: str, database: str = "dogs") -> Example:
    return Example(str(number), Question(text, id=str(number)), gold, database, Path(f"{database}.sqlite"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Eight questions on one database, and one whose gold query fails."""
    listed = [*ASKED, ("What is wrong?", "SELECT wrong FROM pet")]
    file = tmp_path / "own.jsonl"
    file.write_text(
        "".join(json.dumps({"question": text, "sql": gold, "db_id": "dogs"}) + "\n" for text, gold in listed)
    )
    return file


def test_questions_that_are_alike_stand_on_one_side() -> None:
    """Nearly equal ones, such with the same query, and what is like those; not what another database is asked."""
    listed = [
        asked(n, f"{word} {n}?", f"SELECT {n}") for n, word in enumerate(["alpha", "beta", "gamma", "delta", "epsilon"])
    ]
    pairs = [
        asked(10, "How many singers are from France?", "SELECT count(*) FROM a"),
        asked(11, "how many singers are from france", "SELECT count(*) FROM b"),
        asked(12, "Count them.", "select  COUNT(*) from b;"),
        asked(13, "How many singers are from France?", "SELECT count(*) FROM a", "cats"),
    ]
    sides = [writer.divided([*listed, *pairs], 0.3, "question", seed) for seed in range(12)]
    together = [[one.id for one in held_out if int(one.id) in (10, 11, 12)] for _, held_out in sides]
    assert {len(ids) for ids in together} == {0, 3}
    assert {"13"} < {one.id for _, held_out in sides for one in held_out}
    assert any(
        "13" in [one.id for one in held_out] and not ids for (_, held_out), ids in zip(sides, together, strict=True)
    )
    for learned, held_out in sides:
        assert len(learned) + len(held_out) == len(listed) + len(pairs)
        assert 3 <= len(held_out) <= 5
    assert writer.divided([*listed, *pairs][::-1], 0.3, "question", 4)[1] == sides[4][1][::-1]


def test_whole_databases_are_held_out_where_that_is_asked_for() -> None:
    listed = [asked(n, f"Question {n}?", f"SELECT {n}", f"db{n % 5}") for n in range(20)]
    learned, held_out = writer.divided(listed, 0.2, "database", 1)
    assert (len(learned), len(held_out)) == (16, 4)
    assert not {one.db_id for one in learned} & {one.db_id for one in held_out}


@pytest.mark.parametrize(
    ("listed", "by", "says"),
    [
        ([asked(n, f"{n} is what?", "SELECT 1") for n in range(9)], "question", "too much alike; give more different"),
        ([asked(n, f"{n} is what?", f"SELECT {n}") for n in range(9)], "database", "give --held-out-by question"),
        ([asked(0, "What?", "SELECT 1")], "question", "none of the 1 questions can be held out"),
    ],
)
def test_what_cannot_be_divided_is_refused(listed: list[Example], by: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        writer.divided(listed, 0.2, by, 0)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the steps that need torch are given; models answer with the gold of every second question."""
    done: list[Any] = []
    gold = dict(ASKED)

    def replies(call: Call) -> list[str]:
        found = next((sql for text, sql in gold.items() if text in call.messages[-1].content), "SELECT 1")
        return [found if len(found) % 2 else "SELECT 7"]

    def train(data: Path, out: Path, settings: Settings, note: Any) -> Path:
        done.append(("train", data, settings))
        if not (out / "card.json").is_file():
            (out / "card.json").write_text(json.dumps({"results": LEARNED}))
        return out

    def export(run: Path, file: Path, note: Any) -> Path:
        done.append(("export", run))
        file.write_bytes(b"GGUF")
        return file

    monkeypatch.setattr(gguf_base, "require_libraries", lambda: None)
    monkeypatch.setattr(models, "resolve", lambda name: Path(name))
    monkeypatch.setattr(adapters, "suits", lambda name, model: "+" not in model)
    monkeypatch.setattr(writer, "open_model", lambda name=None, *, base, cache: FakeModel(replies, name=name or base))
    monkeypatch.setattr(lora, "train", train)
    monkeypatch.setattr(writer, "export_checked", export)
    return done


LEARNED = {"kept_step": 3}


def test_an_adapter_that_learned_nothing_is_not_recommended(
    own: Path,
    steps: list[Any],
    benchmark_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(LEARNED, "kept_step", 0)
    assert _guarded(command(own, benchmark_folder, tmp_path / "out", "--held-out", "0.25")) == 0
    shown, noted = capsys.readouterr()
    assert "the training learned nothing; keep the adapter that you had" in noted
    assert "--adapter" not in shown
    assert "train export" not in noted


def command(own: Path, folder: Path, out: Path, *more: str) -> list[str]:
    return ["train", "writer", str(own), "--db-dir", str(folder / "database"), "--out", str(out), *more]


def test_each_step_gets_what_the_one_before_made(
    own: Path, steps: list[Any], benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert _guarded(command(own, benchmark_folder, out, "--held-out", "0.25", "--minutes", "7")) == 0
    shown, noted = capsys.readouterr()
    assert "2 questions in both runs" in shown
    assert "votes" in shown
    assert f"--adapter {out}/adapter/writer.gguf" in shown
    assert "1 of 9 questions are left out, since their gold queries fail; 8: " in noted
    assert "step 7 of 7: after" in noted
    assert "not better with this adapter" in noted

    sides = [
        [json.loads(line) for line in (out / "questions" / f"{name}.jsonl").open()] for name in ("training", "held_out")
    ]
    assert list(map(len, sides)) == [6, 2]
    wore = [json.loads((out / name / "run.json").read_text())["model"] for name in ("candidates", "before", "after")]
    assert wore == [*["qwen2.5-coder-1.5b+sqljury-writer"] * 2, f"qwen2.5-coder-1.5b+{out}/adapter/writer.gguf"]
    (_, data, settings), _ = steps
    assert (settings.start, settings.minutes, settings.part) == ("sqljury-writer", 7.0, "generator")
    learned = [json.loads(line)["meta"] for line in data.open()]
    assert {one["source"] for one in learned} == {"own", "gold"}
    assert {one["id"] for one in learned} <= {one["id"] for one in sides[0]}
    checked = json.loads((out / "set" / "generator.jsonl.card.json").read_text())
    assert checked["checked"] == {"databases": 1, "questions": 2}
    assert checked["near"]["count"] == 0

    assert _guarded(command(own, benchmark_folder, out, "--held-out", "0.25")) == 0
    assert [name for name, *_ in steps] == ["train", "export", "train"], "what is there is not made again"
    assert _guarded(command(own, benchmark_folder, out, "--held-out", "0.5")) == 2
    assert "was made of other questions, or another share of them" in capsys.readouterr().err


def test_without_the_recipes_adapter(
    own: Path, steps: list[Any], benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert _guarded(command(own, benchmark_folder, out, "--start", "none")) == 0
    assert steps[0][2].start == ""
    assert json.loads((out / "before" / "run.json").read_text())["model"] == "qwen2.5-coder-1.5b+none"


def test_questions_without_a_gold_query_that_runs_are_refused_at_once(
    steps: list[Any], benchmark_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"question": "What?", "sql": "SELECT wrong FROM pet", "db_id": "dogs"}) + "\n")
    assert _guarded(command(file, benchmark_folder, tmp_path / "out")) == 2
    assert "no gold query can be run on its database (0: " in capsys.readouterr().err


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.timeout(900)
def test_one_command_from_questions_to_a_measured_adapter(
    read_once: None,
    own: Path,
    benchmark_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(writer, "export_checked", partial(export_checked, prompts=1))  # eight take minutes
    recipe, out = tmp_path / "greedy.toml", tmp_path / "out"
    recipe.write_text(GREEDY)
    own.write_text("".join(own.read_text().splitlines(keepends=True)[:4]))  # the model takes seconds for each
    options = ("--model", SMALL, "--recipe", str(recipe), "--memory", "3GB", "--epochs", "1", "--lora-r", "4")
    assert _guarded(command(own, benchmark_folder, out, *options)) == 0
    shown, noted = capsys.readouterr()
    assert "1 questions in both runs" in shown
    assert "0 differ where the trained model was sure" in noted
    trained = (out / "training" / "card.json").stat().st_mtime_ns
    file = out / "adapter" / "writer.gguf"
    made = file.stat().st_mtime_ns

    shutil.rmtree(out / "after")  # as if it had been killed before the last step
    assert _guarded(command(own, benchmark_folder, out, *options)) == 0
    again, noted = capsys.readouterr()
    assert again == shown
    assert "has finished its training" in noted
    assert (out / "training" / "card.json").stat().st_mtime_ns == trained
    assert file.stat().st_mtime_ns == made
