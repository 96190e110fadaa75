from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqljury.cli import _guarded
from sqljury.errors import InputError
from sqljury.recipes.parts import SchemaPart
from sqljury.stages.generate.direct import messages
from sqljury.train import data
from sqljury.train.data import LeftOut
from sqljury.train.data_writer import GeneratorSet, generator_examples
from sqljury.train.examples import TrainingExample
from sqljury.train.replay import Replayed, replay_all
from sqljury.types import Candidate

PLAIN = SchemaPart()
OWNERS = "SELECT T2.name FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id WHERE T1.kind = 'dog'"


@pytest.fixture(scope="module")
def replayed(train_run: Path) -> list[Replayed]:
    return [question for question in replay_all([train_run], None, []) if question.db_id == "dogs"]


def answers(questions: list[Replayed], options: GeneratorSet) -> dict[str, list[tuple[str, str, int]]]:
    made: dict[str, list[tuple[str, str, int]]] = {}
    for item in generator_examples(questions, options):
        if isinstance(item, TrainingExample):
            meta = item.meta
            made.setdefault(meta["question"].split()[0], []).append((item.answer, meta["source"], meta["votes"]))
    return made


def test_own_right_answers_are_learned_and_gold_where_there_are_none(replayed: list[Replayed]) -> None:
    options = GeneratorSet(PLAIN, audited=False)
    many = ("SELECT COUNT(*) FROM pet WHERE kind = 'dog'", "own", 1)
    average = ("SELECT AVG(age) FROM pet", "own", 3)
    assert answers(replayed, options) == {"How": [many], "What": [average], "List": [(OWNERS, "gold", 0)]}
    never = GeneratorSet(PLAIN, gold="never", audited=False)
    assert answers(replayed, never) == {"How": [many], "What": [average]}
    left_out = [item for item in generator_examples(replayed, never) if isinstance(item, LeftOut)]
    assert left_out == [LeftOut("train-0002", "none")]
    [first, *_] = generator_examples(replayed, options)
    assert isinstance(first, TrainingExample)
    assert first.messages == tuple(messages(replayed[0].task))  # the prompt is that of the run


def test_each_text_once_the_most_voted_first_then_the_likeliest(replayed: list[Replayed]) -> None:
    texts = [("select count ( * ) from PET where kind = \"dog\"", -9.0),
             ("SELECT COUNT(id) FROM pet WHERE kind='dog'", -1.0),
             ("SELECT COUNT(*) FROM pet WHERE kind = 'dog'", -8.0), ("SELECT 2", -0.5),
             ("SELECT COUNT(name) FROM pet WHERE kind = 'dog'", -0.9)]  # fmt: skip
    question = replayed[0]
    candidates = tuple(Candidate(sql, "direct", logprob) for sql, logprob in texts)
    right = frozenset(sql for sql, _ in texts if sql != "SELECT 2")
    many = Replayed(**{**{name: getattr(question, name) for name in question.__dataclass_fields__},
                       "candidates": candidates, "right": right})  # fmt: skip
    star, name, number = (f"SELECT COUNT({what}) FROM pet WHERE kind = 'dog'" for what in ("*", "name", "id"))
    made = answers([many], GeneratorSet(PLAIN, per_question=9, audited=False))
    assert made == {"How": [(star, "own", 2), (name, "own", 1), (number, "own", 1)]}
    made = answers([many], GeneratorSet(PLAIN, per_question=1, gold="always", audited=False))
    assert made == {"How": [(star, "own", 2)]}  # which gold is too


def test_what_returns_nothing_proves_nothing_and_suspects_are_left_out(replayed: list[Replayed]) -> None:
    question = replayed[0]
    fields = {name: getattr(question, name) for name in question.__dataclass_fields__}
    empty = "SELECT name FROM pet WHERE kind = 'dog' AND age > 90"
    lucky = "SELECT name FROM owner WHERE id = 77"
    nothing = Replayed(
        **{**fields, "candidates": (Candidate(lucky, "direct"),), "right": frozenset({lucky}), "gold": empty}
    )
    assert answers([nothing], GeneratorSet(PLAIN, audited=False)) == {"How": [(empty, "gold", 0)]}
    suspect = Replayed(**{**fields, "gold": "SELECT count(*) FROM pet WHERE kind = 'Dogg'"})
    fails = Replayed(**{**fields, "gold": "SELECT count(nothing) FROM pet"})
    made = list(generator_examples([suspect, fails], GeneratorSet(PLAIN)))
    assert made == [LeftOut("train-0000", "suspect"), LeftOut("train-0000", "failed")]


def test_both_forms_of_the_schema_and_the_card(train_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    asked = ["train", "data", "generator", "--run", str(train_run), "--out", str(out), "--tables", "both"]
    assert _guarded([*asked, "--keep-suspects", "--databases", "dogs,cats"]) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    card = json.loads((tmp_path / "set.jsonl.card.json").read_text())
    assert card["databases"] == 2
    assert card["questions"] == 6
    assert sum(card["answers"].values()) == len(lines)
    assert {line["meta"]["shown"] for line in lines} == {"whole", "linked"}
    for line in lines:
        tables = line["messages"][0]["content"].count("CREATE TABLE")
        assert tables == (3 if line["meta"]["shown"] == "whole" else min(3, tables))


def test_several_answers_to_one_prompt_are_kept_for_a_generator(tmp_path: Path) -> None:
    meta = {"id": "1", "db_id": "a", "question": "q"}
    items = [TrainingExample((), answer, meta) for answer in ("A", "A", "B")]
    items.append(TrainingExample((), "C", {**meta, "id": "2"}))
    report = data.write(items, tmp_path / "set.jsonl", "generator", 0)
    assert (report.items, report.repeated, report.contradicting) == (2, 1, 1)


def test_less_than_an_answer_is_refused() -> None:
    with pytest.raises(InputError, match="0 answers a question; give at least 1"):
        GeneratorSet(PLAIN, per_question=0)
