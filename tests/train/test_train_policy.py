"""Learning from rewards: weighted trees, and whole trainings on a model of a few random numbers."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqljury.errors import DatasetError
from sqljury.train import card, policy
from sqljury.train.examples import Encoded
from sqljury.train.rewards import Group
from sqljury.train.settings import SamplingOptions, Settings
from sqljury.train.tree import Forest

if TYPE_CHECKING:
    from sqljury.train.policy_loop import PolicyLoop

pytestmark = pytest.mark.train

QUERIES = [f"SELECT({number})" for number in range(1, 5)]
"""Tokens that are queries by themselves: a tiny model soon finds the right one."""
WORDS = [*QUERIES, "FROM", "many", "cats", "dogs", "are", "there", "system", "user", "ask", "```", "end", "?"]
RIGHT_ANSWER = "SELECT(2)"
TEMPLATE = (
    "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}{% if add_generation_prompt %}ask {% endif %}"
)
SETTINGS = Settings(
    "generator",
    "random",
    lora_r=4,
    lora_alpha=8,
    batch_size=4,
    max_steps=6,
    learning_rate=3e-2,
    held_out=0.3,
    eval_steps=3,
    max_length=32,
    patience=0,
)


def options(**given: Any) -> SamplingOptions:
    return SamplingOptions(**{"samples": 8, "temperature": 1.0, "tokens": 4, **given})


@pytest.fixture
def tiny_base(word_model: Callable[..., None]) -> None:
    """A model of a few random numbers in the place of weights."""
    word_model(WORDS, TEMPLATE, initializer_range=0.3)


@pytest.fixture
def databases(tmp_path: Path) -> list[Path]:
    """Two folders with a database each."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, name in zip(folders, ("cats", "dogs"), strict=True):
        (folder / name).mkdir(parents=True)
        with sqlite3.connect(folder / name / f"{name}.sqlite") as connection:
            connection.execute("CREATE TABLE pet (name TEXT)")
        connection.close()
    return folders


def line(question: str, answer: str = RIGHT_ANSWER, **meta: Any) -> str:
    messages = [{"role": "system", "content": "FROM cats dogs"}, {"role": "user", "content": question}]
    known = {"kind": "generator", "db_id": "cats", "id": question, "question": question}
    return json.dumps({"messages": messages, "answer": answer, "meta": {**known, **meta}}) + "\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Ten questions on two databases, all with the same answer; one is there twice, with an answer that is wrong."""
    asked = [" ".join(["many"] * (number + 1)) + " are there" for number in range(5)]
    lines = [line(f"{question} {name}", db_id=name) for question in asked for name in ("cats", "dogs")]
    file = tmp_path / "set.jsonl"
    file.write_text("".join([*lines, line(f"{asked[0]} cats", "SELECT(1)")]))
    return file


def adapter(out: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(out / "adapter" / "adapter_model.safetensors"))


def answers(out: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in (out / "answers.jsonl").read_text().splitlines()]


def test_weighted_trees_give_the_losses_and_gradients_of_separate_sequences() -> None:
    """With weights above and below 0, of answers that share tokens."""
    import torch
    from torch.nn.functional import cross_entropy
    from transformers import Qwen2Config, Qwen2ForCausalLM

    from sqljury.train.adapter import attach
    from sqljury.train.tree_model import TreeModel

    torch.manual_seed(0)
    sizes = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 256}
    heads = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.5}
    model = Qwen2ForCausalLM(Qwen2Config(**sizes, **heads)).eval()
    updates = attach(model, ("q_proj", "v_proj", "down_proj"), 4, 8)
    for matrix in updates.parameters():
        torch.nn.init.normal_(matrix, std=0.1)
    long = list(range(3, 33))
    known = []
    for prompt in (long, [*long, *range(20)], list(range(30, 10, -1))):
        for answer, weight in (([*long[:20], 4, 1], 0.75), ([*long[:20], 5, 1], -0.25), ([9, 1], -0.5), ([1], 0.125)):
            known.append(Encoded([*prompt, *answer], [0] * len(prompt) + [1] * len(answer), weight))
    losses = []
    for ids, mask, weight in known:
        logits = model(torch.tensor([ids])).logits[0, :-1]
        learned = torch.tensor(mask[1:], dtype=torch.bool)
        one = cross_entropy(logits[learned], torch.tensor(ids[1:])[learned], reduction="sum")
        losses.append(0.3 * weight * one)
    expected = torch.stack(losses).sum()
    expected.backward()
    gradients = [matrix.grad.clone() for matrix in updates.parameters()]
    assert max(float(gradient.abs().max()) for gradient in gradients) > 0.01
    for matrix in updates.parameters():
        matrix.grad = None

    trees = Forest(known, 8, 0).sequences(200)
    assert sum(map(len, trees)) < sum(len(one.ids) for one in known) / 1.5
    assert min(weight for tree in trees for weight in tree.weights) < 0
    assert sum(sum(tree.weights) for tree in trees) == pytest.approx(sum(one.weight * sum(one.mask) for one in known))
    adapted = TreeModel(model, updates)
    assert sum(adapted.learn(tree, 0.3).loss for tree in trees) == pytest.approx(expected.item(), rel=1e-5)
    for matrix, gradient in zip(updates.parameters(), gradients, strict=True):
        torch.testing.assert_close(matrix.grad, gradient, atol=1e-5, rtol=1e-4)


def test_equal_answers_are_learned_once_and_equal_rewards_teach_nothing() -> None:
    prompt = [7, 8, 9]
    group = Group(prompt, [[1, 0], [2, 0], [1, 0], [3]], [1.0, 0.0, 1.0, -0.25])
    mean = 1.75 / 4
    found = {tuple(one.ids[3:]): (one.mask, one.weight) for one in group.learned()}
    assert found == {
        (1, 0): ([0, 0, 0, 1, 1], pytest.approx(2 * (1 - mean))),
        (2, 0): ([0, 0, 0, 1, 1], pytest.approx(-mean)),
        (3,): ([0, 0, 0, 1], pytest.approx(-0.25 - mean)),
    }
    assert sum(one.weight for one in group.learned()) == pytest.approx(0)
    assert all(one.ids[:3] == prompt for one in group.learned())
    for reward in (1.0, 0.0, -0.25, 0.1):
        assert Group(prompt, [[1, 0], [2, 0], [3, 0]], [reward] * 3).learned() == []


def test_a_training_and_what_its_folder_has(tiny_base: None, data: Path, databases: list[Path], tmp_path: Path) -> None:
    notes: list[str] = []
    out = tmp_path / "out"
    assert policy.train(data, databases, out, SETTINGS, options(), notes.append) == out / "adapter"
    assert {file.name for file in out.iterdir()} >= {"adapter", "answers.jsonl", "card.json", "log.jsonl"}
    assert not (out / "checkpoint.pt").exists()
    log = [json.loads(text) for text in (out / "log.jsonl").read_text().splitlines()]
    facts = json.loads((out / card.JSON).read_text())
    assert facts["log"] == log
    assert facts["counts"] == {"questions": 7, "held_out": 3, "too_long": 0}
    assert facts["settings"]["sampling_samples"] == 8
    assert [entry["step"] for entry in log if "eval_wrong" in entry] == [0, 3, 6]
    assert [entry["step"] for entry in log if "reward" in entry] == [1, 2, 3, 4, 5, 6]
    evaluated = {entry["step"]: entry["eval_wrong"] for entry in log if "eval_wrong" in entry}
    assert facts["results"]["eval_wrong"] == min(evaluated.values())
    assert facts["results"]["base_eval_wrong"] == evaluated[0]
    assert adapter(out)
    written = answers(out)
    assert [one["step"] for one in written] == [0] * 7 + [1] * 4 + [2] * 4 + [3] * 7 + [4] * 4 + [5] * 4 + [6] * 3
    assert all(len(one["queries"]) == len(one["rewards"]) == (1 if one["held_out"] else 8) for one in written)
    held_out = {one["id"] for one in written if one["held_out"]}
    assert len(held_out) == 3
    assert held_out.isdisjoint(one["id"] for one in written if not one["held_out"])
    worth = {query: reward for one in written for query, reward in zip(one["queries"], one["rewards"], strict=True)}
    assert all((reward == 1.0) == (query == RIGHT_ANSWER) for query, reward in worth.items())
    assert worth[""] == -0.25, "what was cut off, or ended at once"
    rewards = [
        sum(map(sum, (one["rewards"] for one in written if one["step"] == step and not one["held_out"]))) / 32
        for step in range(6)
    ]
    assert [entry["reward"] for entry in log if "reward" in entry] == pytest.approx(rewards)

    policy.train(data, databases, out, SETTINGS, options(), notes.append)
    assert "has finished its training" in notes[-1]
    for other, sampled, name in (
        (replace(SETTINGS, learning_rate=1.0), options(), "learning_rate"),
        (SETTINGS, options(samples=4), "sampling_samples"),
        (SETTINGS, options(temperature=0.5), "sampling_temperature"),
    ):
        with pytest.raises(DatasetError, match=rf"other settings \({name} differ\)"):
            policy.train(data, databases, out, other, sampled, notes.append)


def test_queries_are_read_as_a_generator_reads_them(
    tiny_base: None, data: Path, databases: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fence around a query is no part of it, and text without a query is none."""
    from sqljury.train import sampling

    written = [[WORDS.index(word) for word in words] for words in (["```", RIGHT_ANSWER, "```", "end"], ["are", "end"])]
    monkeypatch.setattr(
        sampling, "sample", lambda _, prompts, options, *__: [written[:1] * options.samples] * len(prompts)
    )
    policy.train(data, databases, tmp_path / "fenced", replace(SETTINGS, max_steps=1), options(), print)
    assert {*map(tuple, (one["queries"] for one in answers(tmp_path / "fenced")))} == {
        (RIGHT_ANSWER,),
        (RIGHT_ANSWER,) * 8,
    }
    monkeypatch.setattr(
        sampling, "sample", lambda _, prompts, options, *__: [written[1:] * options.samples] * len(prompts)
    )
    policy.train(data, databases, tmp_path / "prose", replace(SETTINGS, max_steps=1), options(), print)
    assert {reward for one in answers(tmp_path / "prose") for reward in one["rewards"]} == {-0.25}


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("killed", [True, False])
def test_a_training_that_was_stopped_goes_on_to_the_same_end(
    killed: bool,
    tiny_base: None,
    data: Path,
    databases: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answers that were written after the checkpoint are there once, also after Ctrl-C in the middle of a step."""
    from sqljury.train.policy_loop import PolicyLoop

    notes: list[str] = []
    settings = replace(SETTINGS, checkpoint_minutes=0.0 if killed else 600.0)
    policy.train(data, databases, tmp_path / "whole", settings, options(), notes.append)
    out, step = tmp_path / "stopped", PolicyLoop._step

    def until_the_fifth(loop: PolicyLoop, indexes: Any) -> Any:
        learned = step(loop, indexes)
        if loop.progress.step == 4:
            raise Killed if killed else KeyboardInterrupt
        return learned

    monkeypatch.setattr(PolicyLoop, "_step", until_the_fifth)
    with pytest.raises(Killed if killed else KeyboardInterrupt):
        policy.train(data, databases, out, settings, options(), notes.append)
    monkeypatch.setattr(PolicyLoop, "_step", step)
    assert answers(out)[-1]["step"] == 4
    with (out / "answers.jsonl").open("a") as stream:
        stream.write('{"step": 4, "held')  # cut off while it was written
    with pytest.raises(DatasetError, match=r"other settings \(seed differ\)"):
        policy.train(data, databases, out, replace(settings, seed=1), options(), notes.append)
    policy.train(data, databases, out, replace(settings, minutes=600.0), options(), notes.append)
    assert "continuing from step 4 of 6" in notes
    one, other = adapter(tmp_path / "whole"), adapter(out)
    assert one.keys() == other.keys()
    assert all((one[key] == other[key]).all() for key in one)
    assert answers(out) == answers(tmp_path / "whole")


def test_ctrl_c_in_an_evaluation_has_it_made_again(
    tiny_base: None, data: Path, databases: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqljury.train.policy_loop import PolicyLoop

    policy.train(data, databases, tmp_path / "whole", SETTINGS, options(), print)
    out, store = tmp_path / "stopped", PolicyLoop._store

    def until_the_second(loop: PolicyLoop, entries: Any) -> None:
        entries = list(entries)
        store(loop, entries)
        if entries[0]["step"] == 3 and entries[0]["held_out"]:
            raise KeyboardInterrupt

    monkeypatch.setattr(PolicyLoop, "_store", until_the_second)
    with pytest.raises(KeyboardInterrupt):
        policy.train(data, databases, out, SETTINGS, options(), print)
    monkeypatch.setattr(PolicyLoop, "_store", store)
    policy.train(data, databases, out, SETTINGS, options(), print)
    assert answers(out) == answers(tmp_path / "whole")


def test_a_training_without_a_checkpoint_begins_its_answers_anew(
    tiny_base: None, data: Path, databases: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqljury.train.policy_loop import PolicyLoop

    out, step = tmp_path / "out", PolicyLoop._step

    def never(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(PolicyLoop, "_step", never)
    with pytest.raises(Killed):
        policy.train(data, databases, out, SETTINGS, options(), print)
    monkeypatch.setattr(PolicyLoop, "_step", step)
    policy.train(data, databases, out, SETTINGS, options(), print)
    assert sum(one["held_out"] and one["step"] == 0 for one in answers(out)) == 3


def test_steps_in_which_nothing_is_decided_change_nothing(
    tiny_base: None, databases: list[Path], tmp_path: Path
) -> None:
    """Gold that returns nothing says nothing, so all rewards are 0: no gradient, and steps are counted."""
    file, out = tmp_path / "set.jsonl", tmp_path / "out"
    file.write_text("".join(line("many " * number + "cats", "SELECT name FROM pet") for number in range(1, 6)))
    policy.train(file, databases, out, replace(SETTINGS, held_out=0.0), options(), print)
    assert all((matrix == 0).all() for name, matrix in adapter(out).items() if ".lora_B." in name)
    log = [json.loads(text) for text in (out / "log.jsonl").read_text().splitlines()]
    steps = [entry for entry in log if "reward" in entry]
    assert len(steps) == 6
    assert all((one["undecided"], one["loss"], one["gradient"], one["reward"]) == (1, 0, 0, 0) for one in steps)


def test_what_cannot_be_trained_on_is_refused(
    tiny_base: None, data: Path, databases: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match="the database 'dogs' is in none of the folders of --db-dir"):
        policy.train(data, databases[:1], tmp_path / "a", SETTINGS, options(), print)
    twice = [*databases, Path(shutil.copytree(databases[0], tmp_path / "copy"))]
    with pytest.raises(DatasetError, match="the database 'cats' is in two folders of --db-dir; rename one"):
        policy.train(data, twice, tmp_path / "a", SETTINGS, options(), print)
    for name in (None, "", "../one/cats", 7):
        file = tmp_path / "set-of-another.jsonl"
        file.write_text(line("many cats", db_id=name))
        with pytest.raises(DatasetError, match="an example names no database"):
            policy.train(file, databases, tmp_path / "b", SETTINGS, options(), print)
        (tmp_path / "b" / "training.json").unlink()
    file.write_text(line("many cats", kind="critic"))
    with pytest.raises(DatasetError, match="this set is for 'critic'"):
        policy.train(file, databases, tmp_path / "c", SETTINGS, options(), print)
    with pytest.raises(DatasetError, match="every prompt is too long; raise --max-length"):
        policy.train(data, databases, tmp_path / "d", SETTINGS, options(tokens=30), print)
    with pytest.raises(DatasetError, match="no sequence of 32 tokens fits the memory; raise --memory"):
        policy.train(data, databases, tmp_path / "e", replace(SETTINGS, memory_gb=0.5), options(), print)


def test_long_prompts_are_left_out_and_counted(
    tiny_base: None, data: Path, databases: list[Path], tmp_path: Path
) -> None:
    with data.open("a") as stream:
        stream.write(line("many " * 40 + "cats"))
    out = tmp_path / "out"
    policy.train(data, databases, out, replace(SETTINGS, held_out=0.0, max_steps=1), options(), print)
    assert json.loads((out / card.JSON).read_text())["counts"] == {"questions": 10, "held_out": 0, "too_long": 1}


@pytest.fixture
def one_thread() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_the_reward_rises(tiny_base: None, one_thread: None, data: Path, databases: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = replace(SETTINGS, max_steps=40, eval_steps=20, learning_rate=1e-2)
    policy.train(data, databases, out, settings, options(samples=16, tokens=3), print)
    facts = json.loads((out / card.JSON).read_text())
    rewards = [entry["reward"] for entry in facts["log"] if "reward" in entry]
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.25
    assert facts["results"]["base_eval_wrong"] == 1.0
    assert facts["results"]["eval_wrong"] == 0.0
    assert facts["results"][card.KEPT] > 0
    assert card.has_learned(out)
