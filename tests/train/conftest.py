"""A small benchmark in Spider's form, six databases to train on and one to measure on, and a run over its questions."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run as bench
from sqljury.datasets import spider
from sqljury.recipes import FixPart, GeneratePart, Recipe
from sqljury.train import gguf_base

if TYPE_CHECKING:
    from sqljury.train.gguf_base import Base

SMALL = "smollm2-135m"
KINDS = ("dog", "cat", "cow", "hen", "pig", "owl")
SCRIPT = """
    CREATE TABLE shop (id INTEGER PRIMARY KEY, city TEXT);
    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, age INTEGER, owner_id INTEGER,
                      FOREIGN KEY (owner_id) REFERENCES owner (id));
    INSERT INTO shop VALUES (1, 'Rome');
    INSERT INTO owner VALUES (1, 'Ann'), (2, 'Ben');
    INSERT INTO pet VALUES (1, 'Rex', '{0}', 3, 1), (2, 'Tom', '{0}', 5, 2), (3, 'Ace', 'fox', {1}, 2);
"""
BROKEN = "SELECT nothing FROM nowhere"


def questions(kind: str) -> list[tuple[str, str, list[str]]]:
    """Question, gold, and four candidates: votes err in the first and not in the second, all do in the third."""
    names, many = f"SELECT name FROM pet WHERE kind = '{kind}'", f"SELECT count(*) FROM pet WHERE kind = '{kind}'"
    average, total = "SELECT avg(age) FROM pet", "SELECT sum(age) FROM pet"
    cities = "SELECT city FROM shop"
    return [
        (f"How many pets are a {kind}?", many, [names, names, many, BROKEN]),
        (f"What is the average age of pets, {kind} or not?", average, [average, average, total, average]),
        (f"List the owners of each {kind}.", f"SELECT T2.name FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id "
         f"WHERE T1.kind = '{kind}'", [names, cities, names, cities]),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def benchmark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("spider")
    for number, kind in enumerate((*KINDS, "yak")):
        file = root / "database" / f"{kind}s" / f"{kind}s.sqlite"
        file.parent.mkdir(parents=True)
        with sqlite3.connect(file) as connection:
            connection.executescript(SCRIPT.format(kind, number + 4))
        connection.close()
    train = [
        {"question": question, "query": gold, "db_id": f"{kind}s"}
        for kind in KINDS
        for question, gold, _ in questions(kind)
    ]
    dev = [{"question": "How many pets are a dog ?", "query": "SELECT count(*) FROM pet", "db_id": "yaks"}]
    (root / "train.json").write_text(json.dumps(train))
    (root / "dev.json").write_text(json.dumps(dev))
    return root


@pytest.fixture(scope="session")
def train_run(benchmark_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run over train, with candidates as ``questions`` has them."""
    folder = tmp_path_factory.mktemp("runs") / "train"
    told = {question: written for kind in KINDS for question, _, written in questions(kind)}
    recipe = Recipe("four", generate=(GeneratePart(samples=4, temperature=0.8),), fix=FixPart(attempts=0))
    pipeline = Pipeline(recipe, FakeModel(told))
    examples = spider.load(benchmark_folder, "train")
    named = {"name": "spider", "data": str(benchmark_folder), "split": "train", "limit": None}
    bench.run(examples, pipeline, folder, bench.settings(pipeline, named, 0))
    return folder


@pytest.fixture(scope="session")
def small_base(cached_weights: Path) -> Base:
    """The smallest model, read from its GGUF file once, since that takes a quarter of a minute; change only copies."""
    return gguf_base.load(SMALL)


@pytest.fixture(scope="session")
def small_folder(small_base: Base, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a Hugging Face folder, which another process reads in a second."""
    folder = tmp_path_factory.mktemp("base") / SMALL
    small_base.model.save_pretrained(folder)
    small_base.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def read_once(small_base: Base) -> Iterator[None]:
    """Trainings and checks of this module get copies of weights that were read before."""

    def copied(name: str, *, half: bool = False) -> Base:
        gguf_base.require_libraries()
        assert name == SMALL
        base = copy.deepcopy(small_base)
        return base._replace(model=base.model.bfloat16()) if half else base

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf_base, "load", copied)
        yield


WordModel = Callable[..., None]
"""Puts a model of a few random numbers in the place of weights: its words, chat template, further configuration."""


@pytest.fixture
def word_model(monkeypatch: pytest.MonkeyPatch) -> WordModel:
    """The words end with "end", which ends an answer, and "?", which stands for any other."""

    def put(words: Sequence[str], template: str, **configuration: Any) -> None:
        import torch
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import WhitespaceSplit
        from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

        tokenizer_object = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, unk_token="?"))
        tokenizer_object.pre_tokenizer = WhitespaceSplit()
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer_object, eos_token="end", unk_token="?")
        tokenizer.chat_template = template
        sizes = {"vocab_size": len(words), "hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 128}
        heads = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, **configuration}

        def load(name: str, *, half: bool = False) -> gguf_base.Base:
            torch.manual_seed(0)
            return gguf_base.Base(Qwen2ForCausalLM(Qwen2Config(**sizes, **heads)), tokenizer)

        monkeypatch.setattr(gguf_base, "load", load)
        monkeypatch.setattr(gguf_base, "digest", lambda name: f"hash of {name}")

    return put
