"""From a person's own questions to an adapter that writes their queries, measured on questions it has not seen.

Each step has a folder in ``out`` and continues there where it stopped:

``questions``   the two files that the questions are divided into: to train on, and held out
``candidates``  a run of the recipe on the questions to train on
``set``         the training set: the run's correct queries, gold where it has none
``before``      a run of the recipe on the held-out questions
``training``    the training, from the adapter that the recipe names
``adapter``     the adapter as llama.cpp reads it
``after``       a run of the recipe with the adapter on the held-out questions
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury import recipes
from sqljury.bench import run as bench
from sqljury.datasets import benchmarks, questions
from sqljury.datasets.spider import Example
from sqljury.db.base import DEFAULT_LIMITS
from sqljury.db.connect import connect
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import run_folder
from sqljury.evaluation.run_folder import Record
from sqljury.llm import adapters, models
from sqljury.llm.base import LanguageModel, derive_seed
from sqljury.llm.open import open_model
from sqljury.metrics.execution import run_gold
from sqljury.pipeline import Pipeline
from sqljury.recipes import Recipe
from sqljury.resources import locked_folder, must_write, sha256_of, write_whole
from sqljury.train import card, examples, gguf_base, lora
from sqljury.train.compare import export_checked
from sqljury.train.data import write
from sqljury.train.data_writer import GeneratorSet, generator_examples, shown_by
from sqljury.train.leaks import HeldOutBy, alike
from sqljury.train.replay import replay_all
from sqljury.train.settings import Settings

ADAPTER: Final = "writer.gguf"
STEPS_AT_LEAST: Final = 40
"""Steps of the training: two passes over 60 examples are six steps, too few to learn anything."""
JUDGED_BY_LOSS: Final = 400
"""Examples from which on some are held out to end the training; the loss of fewer than 20 held-out ones is chance."""
STEPS: Final = ("questions", "candidates", "set", "before", "training", "adapter", "after")

Note = Callable[[str], None]
Answer = Callable[[Sequence[Example], Pipeline, Path, Record], None]
"""Answers the examples by the pipeline into a folder, as ``bench.run.run`` does with these settings of the run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train and measure.

    ``questions`` is a file with gold queries as ``datasets.questions`` reads it, ``databases`` the folder that has
    ``<db_id>/<db_id>.sqlite``. ``held_out`` is the share of questions to measure on: single ones (``question``), none
    of them like one that is trained on, or those of whole databases. ``settings`` are those of the training; an empty
    ``start`` is the adapter that the recipe names for the model, ``none`` the model alone.
    """

    questions: Path
    databases: Path
    out: Path
    recipe: str = "default"
    held_out: float = 0.2
    held_out_by: HeldOutBy = "question"
    settings: Settings = field(default_factory=lambda: Settings("generator", models.DEFAULT))
    processes: int = 1


class Trained(NamedTuple):
    """The adapter, and the runs on the held-out questions without it and with it."""

    adapter: Path
    before: Path
    after: Path


def train_writer(plan: Plan, note: Note, answer: Answer = bench.run) -> Trained:
    """Do what ``plan`` says, or the rest of it where ``plan.out`` has a part.

    ``note`` is told what is done; ``answer`` answers questions. Raises ``MissingExtraError`` and ``WeightsError`` at
    once, ``InputError`` for questions that cannot be divided and for a folder of other ones, and what the steps raise.
    """
    gguf_base.require_libraries()
    models.resolve(plan.settings.base_model)
    work = _Work(plan, recipes.load(plan.recipe), note, answer)
    if work.start:  # candidates are written with it, so a folder of a training will not do
        adapters.find(work.start, plan.settings.base_model)
    with locked_folder(plan.out):
        training, held_out = work.divided()
        candidates = work.answered("candidates", training, work.start)
        learned = work.set_of(candidates, held_out)
        before = work.answered("before", held_out, work.start)
        trained = work.trained(learned)
        adapter = work.exported(trained)
        return Trained(adapter, before, work.answered("after", held_out, str(adapter)))


@dataclass(frozen=True)
class _Work:
    """The steps of one plan; each returns what it has made."""

    plan: Plan
    recipe: Recipe
    note: Note
    answer: Answer

    @property
    def start(self) -> str:
        """The adapter that writes the candidates and that the training starts from; empty for none."""
        given, named = self.plan.settings.start, self.recipe.adapter
        if given:
            return "" if given == adapters.NONE else given
        return named if named and adapters.suits(named, self.plan.settings.base_model) else ""

    def divided(self) -> tuple[Path, Path]:
        """The files of questions to train on and held-out ones."""
        plan, folder = self.plan, self._begun("questions")
        files, kept = (folder / "training.jsonl", folder / "held_out.jsonl"), folder / "division.json"
        facts: Record = {"questions": sha256_of(plan.questions) if plan.questions.is_file() else ""}
        facts |= {"held_out": plan.held_out, "held_out_by": plan.held_out_by, "seed": plan.settings.seed}
        if kept.is_file():
            if json.loads(kept.read_bytes()) != facts:
                raise InputError(
                    f"{plan.out} was made of other questions, or another share of them; give another folder with --out"
                )
            return files
        asked = runnable(questions.load(plan.questions, plan.databases), self.note)
        sides = divided(asked, plan.held_out, plan.held_out_by, plan.settings.seed)
        with must_write(folder, InputError, "name another folder with --out"):
            for file, side in zip(files, sides, strict=True):
                write_whole(file, "".join(json.dumps(_line(example)) + "\n" for example in side))
            write_whole(kept, json.dumps(facts) + "\n")
        return files

    def answered(self, step: str, file: Path, adapter: str) -> Path:
        """The folder of a run of the recipe on the questions in ``file``, by the model with ``adapter``."""
        folder, benchmark = self._begun(step), benchmarks.load(file, "jsonl", databases=self.plan.databases)
        with self._pipeline(adapter) as pipeline:
            dataset = benchmark.settings | {"limit": None, "count": len(benchmark.examples)}
            settled = bench.settings(pipeline, dataset, self.plan.settings.seed)
            self.answer(benchmark.examples, pipeline, folder, settled)
        return folder

    @contextmanager
    def _pipeline(self, adapter: str) -> Iterator[Pipeline]:
        """The recipe with the model and ``adapter``; at the end the weights are freed, for the training needs room."""
        model = self.plan.settings.base_model
        named = adapter or (adapters.NONE if self.recipe.adapter and adapters.suits(self.recipe.adapter, model) else "")
        opened = partial(open_model, base=f"{model}+{named}" if named else model, cache=False)
        pipeline = Pipeline.from_recipe(self.plan.recipe, None, DEFAULT_LIMITS, opened)
        try:
            yield pipeline
        finally:
            for opened_model in (pipeline.model, *pipeline.others()):
                _close(opened_model)

    def set_of(self, run: Path, held_out: Path) -> Path:
        """The training set of a run's candidates."""
        file, seed = self._begun("set") / "generator.jsonl", self.plan.settings.seed
        if file.is_file():  # the run has not changed since: it refuses other settings and questions
            return file
        replayed = replay_all([run], None, (), self.plan.processes)
        made = GeneratorSet(self.recipe.schema, seed, shown=shown_by(self.recipe))
        set_examples = generator_examples(replayed, made, self.plan.processes)
        sources = {"run": str(run), "recipe": self.plan.recipe, "model": run_folder.described(run)["model"]}
        report = write(set_examples, file, "generator", seed, questions.load(held_out), sources)
        left_out = ", ".join(report.left_out()) or "none"
        answers = ", ".join(f"{count} {source}" for source, count in sorted(report.answers.items()))
        self.note(f"{report.items} examples ({answers}) of {report.questions} questions; left out: {left_out}")
        return file

    def trained(self, data: Path) -> Path:
        """The folder of the training."""
        folder, settings = self._begun("training"), replace(self.plan.settings, start=self.start)
        if len(examples.read(data)) < JUDGED_BY_LOSS:
            settings = replace(settings, held_out=0.0)
        lora.train(data, folder, settings, self.note)
        return folder

    def exported(self, training: Path) -> Path:
        """The adapter of a finished training, compared with it; one that is newer than the training stays."""
        file = self._begun("adapter") / ADAPTER
        if not file.is_file() or file.stat().st_mtime < (training / card.JSON).stat().st_mtime:
            export_checked(training, file, self.note)
        return file

    def _begun(self, step: str) -> Path:
        """The folder of a step."""
        self.note(f"step {STEPS.index(step) + 1} of {len(STEPS)}: {step}")
        folder = self.plan.out / step
        with must_write(folder, InputError, "name another folder with --out"):
            folder.mkdir(parents=True, exist_ok=True)
        return folder


def runnable(asked: Sequence[Example], note: Note) -> list[Example]:
    """The questions whose gold query can be run; ``note`` is told of the others.

    Raises ``InputError`` where there is none: hours of work would end with an empty set.
    """
    succeeded, failed = [], []
    for database, group in groupby(
        sorted(asked, key=lambda example: str(example.database)), key=lambda example: example.database
    ):
        with connect(database) as db:
            for example in group:
                try:
                    run_gold(db, example.gold_sql)
                    succeeded.append(example.id)
                except DatasetError as error:
                    failed.append(f"{example.id}: {error}")
    if failed:
        note(f"{len(failed)} of {len(asked)} questions are left out, since their gold queries fail; {failed[0]}")
    if not succeeded:
        raise InputError(f"no gold query can be run on its database ({failed[0]}); correct the file of questions")
    known = set(succeeded)
    return [example for example in asked if example.id in known]


def divided(asked: Sequence[Example], share: float, by: HeldOutBy, seed: int) -> tuple[list[Example], list[Example]]:
    """(to train on, held out): about ``share`` of the questions are held out, drawn by ``seed``.

    With ``by`` database those of whole databases, else single ones; then questions that are nearly equal, or have the
    same gold query, stand on one side, so fewer may be held out. Raises ``InputError`` where nothing can be.
    """
    together = alike(asked) if by == "question" else [example.db_id.casefold() for example in asked]
    wanted = share * len(asked)
    held_out: set[str] = set()
    count = 0
    for name in sorted(set(together), key=lambda name: derive_seed(seed, "held out", name)):
        size = together.count(name)
        if count < wanted and count + size <= max(1.0, examples.UNEVEN * wanted) and count + size < len(asked):
            held_out.add(name)
            count += size
    if not held_out:
        what = "they are too much alike" if by == "question" else "their databases are too few or too uneven"
        advice = "more different ones" if by == "question" else "--held-out-by question"
        raise InputError(f"none of the {len(asked)} questions can be held out, {what}; give {advice}")
    sides = [(example, name in held_out) for example, name in zip(asked, together, strict=True)]
    return [example for example, held in sides if not held], [example for example, held in sides if held]


def _line(example: Example) -> dict[str, Any]:
    line = {"id": example.id, "question": example.question.text, "db_id": example.db_id, "gold": example.gold_sql}
    return line | ({"evidence": example.question.evidence} if example.question.evidence else {})


def _close(model: LanguageModel) -> None:
    """Free a model that can be freed; one of a service holds nothing."""
    if close := getattr(model, "close", None):
        close()
