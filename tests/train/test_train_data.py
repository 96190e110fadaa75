from __future__ import annotations

import json
import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Question
from sqljury.datasets import spider
from sqljury.datasets.spider import Example
from sqljury.db.connect import connect
from sqljury.errors import InputError
from sqljury.llm.base import Message
from sqljury.recipes.parts import SchemaPart
from sqljury.schema.introspect import introspect
from sqljury.stages import link
from sqljury.stages.prepare import Preparation
from sqljury.stages.select.features import Opinions
from sqljury.train import data, data_judged, data_writer, leaks
from sqljury.train.data import Kind
from sqljury.train.data_writer import GeneratorSet, generator_examples
from sqljury.train.examples import TrainingExample
from sqljury.train.replay import Replayed, replay_all
from sqljury.types import Candidate

PLAIN = SchemaPart()


@pytest.fixture
def examples(benchmark_folder: Path) -> list[Example]:
    return spider.load(benchmark_folder, "train")


@pytest.fixture
def measured(benchmark_folder: Path) -> list[Example]:
    return leaks.evaluation_questions(benchmark_folder)


def linked(examples: list[Example]) -> list[TrainingExample]:
    return [item for item in data.linker_examples(examples, PLAIN) if isinstance(item, TrainingExample)]


def generated(
    examples: list[Example], seed: int = 0, extra: tuple[float, ...] = data_writer.EXTRA_TABLES
) -> list[TrainingExample]:
    options = GeneratorSet(PLAIN, seed, shown="linked", extra_tables=extra)
    return [item for item in generator_examples(examples, options) if isinstance(item, TrainingExample)]


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_linker_learns_the_tables_of_gold_in_the_words_it_will_use(examples: list[Example]) -> None:
    items = {item.meta["question"]: item for item in linked(examples)}
    item = items["List the owners of each dog."]
    with connect(examples[0].database) as db:
        schema = introspect(db)
    assert {schema.tables[place].name for place in link.read(item.answer, schema)} == {"owner", "pet"}
    assert "shop" in item.messages[0].content
    assert item.messages[-1].content.count(item.meta["question"]) == 1


@pytest.mark.parametrize(("weights", "extra"), [((1.0,), {0}), ((0.0, 1.0), {1}), ((0.0, 0.0, 1.0), {1, 2})])
def test_a_generator_sees_golds_tables_and_some_others(
    examples: list[Example], weights: tuple[float, ...], extra: set[int]
) -> None:
    items = generated(examples, extra=weights)
    assert len(items) == len(examples)
    assert {item.meta["extra_tables"] for item in items} == extra  # there are three tables: two may be all there are
    for item, example in zip(items, examples, strict=True):
        shown = item.messages[0].content.count("CREATE TABLE")
        assert shown == item.meta["extra_tables"] + (2 if "JOIN" in example.gold_sql else 1)
        assert "CREATE TABLE pet" in item.messages[0].content
        assert item.answer == example.gold_sql.replace("count(", "COUNT(").replace("avg(", "AVG(")


def test_extra_tables_are_drawn_for_each_question_whatever_the_order(examples: list[Example]) -> None:
    def counts(order: list[Example]) -> dict[str, Any]:
        made = generated(order, seed=5, extra=(1, 1, 1))
        return {item.meta["id"]: item.meta["extra_tables"] for item in made}

    turned = random.Random(0).sample(examples, len(examples))
    assert counts(examples) == counts(turned)
    assert len(set(counts(examples).values())) > 1


@pytest.mark.parametrize("kind", ["linker", "generator"])
def test_what_gold_needs_is_shown_or_the_question_is_left_out(kind: Kind, tmp_path: Path) -> None:
    """A schema too long for a prompt, of which the museum and its first columns have to do with the questions."""
    file = tmp_path / "wide.sqlite"
    names = [f"reading_of_the_instrument_{number:04}" for number in range(1500)]
    with sqlite3.connect(file) as connection:
        connection.execute(f"CREATE TABLE museum (id INTEGER PRIMARY KEY, visitors INTEGER, {', '.join(names)})")
        connection.execute("CREATE TABLE ledger (id INTEGER PRIMARY KEY, amount INTEGER)")
    connection.close()
    golds = ["SELECT visitors FROM museum", "SELECT amount FROM ledger", f"SELECT {names[-1]} FROM museum",
             "SELECT T1.visitors FROM museum AS T1, ledger AS T2", "SELECT FROM (", "SELECT 1"]  # fmt: skip
    examples = [
        Example(f"{number}", Question(f"How many visitors did museum {number} have?"), gold, "wide", file)
        for number, gold in enumerate(golds)
    ]
    options = GeneratorSet(PLAIN, audited=False)
    made = data.linker_examples(examples, PLAIN) if kind == "linker" else generator_examples(examples, options)
    report = data.write(made, tmp_path / "set.jsonl", kind, 0)
    assert [line["meta"]["id"] for line in read(tmp_path / "set.jsonl")] == ["0"]
    assert (report.items, report.cut, report.unread) == (1, 3, 2)
    card = json.loads((tmp_path / "set.jsonl.card.json").read_text())
    assert (card["cut"], card["unread"]) == (3, 2)


@pytest.mark.parametrize("weights", [(), (0.0, 0.0), (-1.0, 2.0), (1.0, float("inf")), (float("nan"),)])
def test_weights_that_are_none_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="weights of extra tables"):
        GeneratorSet(PLAIN, extra_tables=weights)


def test_the_right_query_stands_at_the_letter(train_run: Path, measured: list[Example]) -> None:
    sides = data_judged.judged_questions(replay_all([train_run], None, measured), PLAIN, 0)
    items = list(data_judged.pairwise_examples(sides, seed=2))
    counted = [item for item in items if item.meta["question"].startswith("How many")]
    assert len(counted) == 6
    for item in counted:
        shown = item.messages[-1].content
        assert shown.partition(f"Query {item.answer}:\n")[2].startswith("SELECT count(*)")
    assert set(Counter(item.answer for item in items)) == {"A", "B"}


def test_judges_are_shown_the_schema_that_the_run_showed_them(train_run: Path, measured: list[Example]) -> None:
    """The part that two queries use, or one schema for all pairs of a question."""
    for shown, has_shops in (("used", {False}), ("linked", {True})):
        questions = (replace(one, judged=shown) for one in replay_all([train_run], None, measured))  # type: ignore[arg-type]
        judged = list(data_judged.judged_questions(questions, PLAIN, 0))
        made = (data_judged.pairwise_examples, data_judged.critic_examples, data_judged.independent_examples)
        for examples in made:
            asked = [one for one in examples(judged, seed=2) if one.meta["question"].startswith("How many")]
            assert {"shop" in "".join(message.content for message in one.messages) for one in asked} == has_shops
    [first, *_] = replay_all([train_run], None, measured)
    assert first.judged == "used"


def test_a_critic_sees_all_answers_and_failures_once(train_run: Path, measured: list[Example]) -> None:
    sides = data_judged.judged_questions(replay_all([train_run], None, measured), PLAIN, 0)
    items = [
        item for item in data_judged.critic_examples(sides, seed=2) if item.meta["question"].startswith("How many")
    ]
    assert len(items) == 6
    for item in items:
        shown = item.messages[-1].content
        assert shown.count("Query ") == 3  # two answers and the query that failed
        assert "Result of C: error: " in shown
        assert shown.partition(f"Query {item.answer}:\n")[2].startswith("SELECT count(*)")
    assert len({item.answer for item in items}) > 1


def test_both_orders_and_one_query_at_a_time(train_run: Path, measured: list[Example]) -> None:
    sides = list(data_judged.judged_questions(replay_all([train_run], None, measured), PLAIN, 0))
    pairs = list(data_judged.pairwise_examples(sides, seed=2, both_orders=True))
    assert len(pairs) == 2 * len(list(data_judged.pairwise_examples(sides, seed=2)))
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        assert {one.answer, other.answer} == {"A", "B"}
        queries = [re.findall(r"Query [AB]:\n(.*)", item.messages[-1].content) for item in (one, other)]
        assert queries[0] == queries[1][::-1]
    lists = list(data_judged.critic_examples(sides, seed=2, both_orders=True))
    for one, other in zip(lists[::2], lists[1::2], strict=True):
        shown = [dict(re.findall(r"Query ([A-Z]):\n(.*)", item.messages[-1].content)) for item in (one, other)]
        assert shown[0] != shown[1]
        assert shown[0][one.answer] == shown[1][other.answer]
    alone = list(data_judged.independent_examples(sides, seed=2))
    assert Counter(item.answer for item in alone) == {"Yes": 18, "No": 18}
    for item in alone:
        if item.meta["question"].startswith("How many"):
            assert ("SELECT count(*)" in item.messages[-1].content) == (item.answer == "Yes")


def test_gold_helps_where_nothing_is_right(train_run: Path, measured: list[Example]) -> None:
    replayed = list(replay_all([train_run], None, measured))
    alone = {one.replayed.id: one for one in data_judged.judged_questions(replayed, PLAIN, 0)}
    owners = [one for one in alone.values() if one.replayed.task.question.text.startswith("List")]
    assert len(owners) == 6
    assert all(one.hint == "gold" and one.correct[0].sql == one.replayed.gold for one in owners)

    rewritten = "SELECT name FROM owner WHERE id IN (SELECT owner_id FROM pet WHERE kind = '{}')"
    model = FakeModel(lambda call: rewritten.format(call.prompt.partition("kind = '")[2][:3]))
    hinted = [one for one in data_judged.judged_questions(replayed, PLAIN, 0, model) if one.hint]
    assert len(model.calls) == 6
    assert all(one.hint == "model" and one.correct[0].sql.startswith("SELECT name FROM owner WHERE") for one in hinted)
    assert len(hinted) == 6

    parrot = FakeModel(
        lambda call: "select" + call.prompt.partition("SELECT T2")[2].partition("\n")[0].join(["  T2", ";"])
    )
    copied = [one for one in data_judged.judged_questions(replayed, PLAIN, 0, parrot) if one.hint]
    assert [one.hint for one in copied] == ["gold"] * 6  # in other letters and blanks it is gold all the same

    late = FakeModel(lambda call: ["SELECT 1", call.prompt.partition("rows:\n")[2].partition("\n")[0],
                                   rewritten.format(call.prompt.partition("kind = '")[2][:3]), "SELECT 2"])  # fmt: skip
    assert [one.hint for one in data_judged.judged_questions(replayed, PLAIN, 0, late) if one.hint] == ["model"] * 6

    stubborn = FakeModel("SELECT 1")  # what is not right, is not learned from
    assert not [one for one in data_judged.judged_questions(replayed, PLAIN, 0, stubborn) if one.hint]


def test_the_hint_breaks_marks_of_chat_templates(train_run: Path, measured: list[Example]) -> None:
    replayed = [one for one in replay_all([train_run], None, measured) if one.task.question.text.startswith("List")]
    marked = [replace(one, gold=one.gold + " OR kind = '<|im_end|>'") for one in replayed]
    model = FakeModel("SELECT 1")
    assert not list(data_judged.judged_questions(marked, PLAIN, 0, model))
    assert len(model.calls) == 6
    for call in model.calls:
        assert "OR kind = '< |im_end|>'" in call.prompt
        assert "<|im_end|>" not in call.prompt


@pytest.fixture
def long(tmp_path: Path) -> Replayed:
    """A question whose answer has more rows than a run reads, with a wrong candidate of as many."""
    file, wrong = tmp_path / "long.sqlite", "SELECT i + 1 FROM n"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE page (text TEXT)")
        connection.execute("INSERT INTO page VALUES (?)", ("x" * 9_000,))
        connection.execute("CREATE TABLE n (i INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO n VALUES (?)", ((number,) for number in range(12_000)))
    connection.close()
    with connect(file) as db:
        task = Preparation(PLAIN).task(Question("Which numbers are there?"), db)
        candidate = Candidate(wrong, "direct", result=db.execute(wrong), group=0)
    return Replayed("long", "long", file, task, (candidate,), frozenset(), frozenset(), "SELECT i FROM n", Opinions())


@pytest.mark.parametrize(("model", "hint"), [(None, "gold"), (FakeModel("SELECT i AS number FROM n"), "model")])
def test_all_results_that_a_judge_is_shown_are_cut_alike(long: Replayed, model: FakeModel | None, hint: str) -> None:
    [helped] = data_judged.judged_questions([long], PLAIN, 0, model)
    assert helped.hint == hint
    [item] = data_judged.pairwise_examples([helped], 0)
    assert item.messages[-1].content.count("10000+ rows") == 2
    assert "12000" not in item.messages[-1].content


@pytest.mark.parametrize(
    ("gold", "written"),
    [
        ("SELECT i FROM n", "SELECT i FROM n LIMIT 10000"),  # right as far as the cut
        ("SELECT count(*) FROM n", "SELECT count(*) FROM n WHERE i > = 0"),  # judged as right, and fails when shown
        ("SELECT text FROM page, n", None),  # so many bytes that only an evaluation reads them
    ],
)
def test_what_is_not_right_and_shown_so_does_not_help(long: Replayed, gold: str, written: str | None) -> None:
    model = FakeModel(written) if written else None
    assert not list(data_judged.judged_questions([replace(long, gold=gold)], PLAIN, 0, model))


@pytest.mark.parametrize("kind", [data_judged.critic_examples, data_judged.pairwise_examples])
def test_what_only_gold_answers_can_be_left_out(
    kind: Callable[..., Iterator[TrainingExample]], train_run: Path, measured: list[Example], tmp_path: Path
) -> None:
    def made(gold: bool) -> tuple[data.SetReport, Counter[str]]:
        sides = data_judged.judged_questions(replay_all([train_run], None, measured), PLAIN, 0)
        out = tmp_path / f"{gold}.jsonl"
        report = data.write(kind(sides, 0), out, "critic", 0, measured, gold=gold)
        assert json.loads(out.with_name(f"{out.name}.card.json").read_text())["of_gold"] == report.of_gold
        return report, Counter(line["meta"]["hint"] for line in read(out))

    (whole, hints), (without, left) = made(True), made(False)
    assert (whole.questions, without.questions) == (18, 12)
    assert (whole.of_gold, without.of_gold) == (0, 6)
    assert hints["gold"] >= 6
    assert left == {"": hints[""]}


def test_a_set_is_the_same_bytes_again(train_run: Path, measured: list[Example], tmp_path: Path) -> None:
    def made(name: str) -> bytes:
        sides = data_judged.judged_questions(replay_all([train_run], None, measured), PLAIN, 0)
        report = data.write(data_judged.pairwise_examples(sides, 7), tmp_path / name, "pairwise", 7, measured)
        assert report.items == len(read(tmp_path / name))
        return (tmp_path / name).read_bytes()

    assert made("first.jsonl") == made("second.jsonl")
    line = read(tmp_path / "first.jsonl")[0]
    assert set(line) == {"messages", "answer", "meta"}
    assert [one["role"] for one in line["messages"]] == ["system", "user"]


def test_questions_like_those_of_the_evaluation_are_counted(
    examples: list[Example], measured: list[Example], tmp_path: Path
) -> None:
    report = data.write(linked(examples), tmp_path / "set.jsonl", "linker", 0, measured)
    card = json.loads((tmp_path / "set.jsonl.card.json").read_text())
    exact = [one for one in report.near if one.likeness == 100]
    assert [(one.id, one.other) for one in exact] == [("train-0000", "dev-0000")]
    texts = {one.id: one.question.text for one in examples}
    assert len(report.near) > 1  # some other animals are spelt much like a dog
    assert all(one.likeness >= leaks.MIN_SIMILARITY and texts[one.id].startswith("How many") for one in report.near)
    assert card["near"]["count"] == len(report.near)
    assert card["items"] == report.items == 18
    assert card["databases"] == 6
    assert card["checked"] == {"databases": 1, "questions": 1}
    assert (card["cut"], card["unread"]) == (0, 0)


def test_questions_of_several_datasets_may_have_the_same_ids(measured: list[Example], tmp_path: Path) -> None:
    """Two runs on train of two datasets both have a train-0003."""
    text = measured[0].question.text
    metas = [
        {"id": "train-0003", "db_id": db_id, "question": question}
        for db_id, question in (("dogs", text), ("cats", text), ("dogs", "Who?"), ("cats", "Who?"))
    ]
    items = [TrainingExample((Message("user", f"{number}"),), "A", meta) for number, meta in enumerate(metas)]
    report = data.write(items, tmp_path / "set.jsonl", "critic", 0, measured)
    assert report.questions == 4
    assert [(one.id, one.db_id) for one in report.near] == [("train-0003", "dogs"), ("train-0003", "cats")]
    hinted = [replace(item, meta={**item.meta, "hint": data.GOLD}) for item in items[:3]]
    report = data.write([*hinted, items[3]], tmp_path / "set.jsonl", "critic", 0, measured, gold=False)
    assert (report.questions, report.of_gold) == (1, 3)


def test_what_is_measured_on_is_not_trained_on(benchmark_folder: Path, train_run: Path) -> None:
    dev = spider.load(benchmark_folder, "dev")
    with pytest.raises(InputError, match=r"^YAKS: .* --eval-data"):
        leaks.refuse(["dogs", "YAKS"], dev)
    leaks.refuse(["dogs"], dev)
    with pytest.raises(InputError, match="cats, cows, dogs and 3 more"):
        next(replay_all([train_run], None, spider.load(benchmark_folder, "train")))


def test_repeated_and_contradicting_examples_are_left_out(tmp_path: Path) -> None:
    meta = {"id": "1", "db_id": "a", "question": "q"}
    items = [TrainingExample((), answer, meta) for answer in ("A", "A", "B")]
    report = data.write(items, tmp_path / "set.jsonl", "pairwise", 0)
    assert (report.items, report.repeated, report.contradicting) == (1, 1, 1)
    assert len(read(tmp_path / "set.jsonl")) == 1


def test_what_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    before = TrainingExample((), "B", {"id": "0", "db_id": "a", "question": "q"}).to_line()
    out.write_text(before)

    def broken() -> Any:
        yield TrainingExample((), "A", {"id": "1", "db_id": "a", "question": "q"})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data.write(broken(), out, "critic", 0)
    assert [file.name for file in tmp_path.iterdir()] == ["set.jsonl"]
    assert out.read_text() == before
    with pytest.raises(InputError, match="no example for a critic set; give other"):
        data.write([], out, "critic", 0)
    assert out.read_text() == before
    with pytest.raises(InputError, match="cannot be written"):
        data.write([], tmp_path / "no" / "set.jsonl", "critic", 0)


def test_what_was_left_by_a_program_that_was_killed_is_removed(tmp_path: Path) -> None:
    left = {"set.jsonl.12.part", "set.jsonl.card.json.12.part"}
    kept = {"set.jsonl.13.part", "other.jsonl.12.part", "set.jsonl.old.part"}
    for name in left | kept:
        (tmp_path / name).write_text("x")
    for name in {*left, *kept} - {"set.jsonl.13.part"}:  # which somebody writes just now
        os.utime(tmp_path / name, (0, 0))
    data.write(
        [TrainingExample((), "A", {"id": "1", "db_id": "a", "question": "q"})], tmp_path / "set.jsonl", "critic", 0
    )
    assert {file.name for file in tmp_path.iterdir()} == kept | {"set.jsonl", "set.jsonl.card.json"}


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt: exists and is not a training set"):
        data.write([TrainingExample((), "A", {"id": "1", "db_id": "a", "question": "q"})], out, "critic", 0)
    assert out.read_text() == "mine"


def test_several_runs_have_each_question_once(train_run: Path, measured: list[Example]) -> None:
    twice = [one.id for one in replay_all([train_run, train_run], None, measured)]
    assert len(twice) == len(set(twice)) == 18
