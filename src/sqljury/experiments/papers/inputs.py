"""What the computations read: prediction files, run folders and the dataset's databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sqljury.bench import stored
from sqljury.bench.stored import StoredRun
from sqljury.datasets.formats import read_golds, read_pairs
from sqljury.datasets.pairs import Gold, Pair, Prediction, database_files
from sqljury.datasets.reading import Document
from sqljury.datasets.spider import sample
from sqljury.engines.databases import Engine
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import run_folder
from sqljury.evaluation.judge import Evaluation, evaluate
from sqljury.evaluation.targets import Targets
from sqljury.experiments.papers.registry import Figure
from sqljury.experiments.report import labels, told_apart
from sqljury.metrics.registry import named

SUFFIXES: Final = frozenset({".txt", ".json", ".jsonl", ".sql"})
"""Of the prediction files in a folder; ``gold`` and ``dev`` are gold."""

SEED: Final = 0
"""Draws the questions of ``limit``."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The options of ``sqljury reproduce``, empty where not given; ``limit`` questions are drawn of each file and run.

    ``predictions`` are files, or folders of them; ``gold`` is the file that they are judged by, by default ``gold.txt``
    beside the first of them, else ``dev.json`` of ``data``.
    """

    data: Path | None = None
    predictions: tuple[Path, ...] = ()
    runs: tuple[Path, ...] = ()
    expected: tuple[Path, ...] = ()
    gold: Path | None = None
    suite: Path | None = None
    verdicts: Path | None = None
    limit: int | None = None
    processes: int = 1
    stop_if_cancelled: Callable[[], None] = lambda: None

    def given(self, option: str) -> bool:
        """Whether the option of this name was given."""
        named = {"pred": self.predictions, "run": self.runs, "expected": self.expected}
        return bool(named[option] if option in named else getattr(self, option))


@dataclass(frozen=True, slots=True)
class System:
    """Predictions of one system beside gold, with the folder of ``<db_id>/<db_id>.sqlite``."""

    label: str
    pairs: tuple[Pair, ...]
    databases: Path
    tables: Path | None

    def targets(self, inputs: Inputs) -> Targets:
        """The databases of the pairs, opened when they are needed."""
        databases = database_files(self.databases, [pair.gold for pair in self.pairs], all_there=False)
        return Targets(databases, None if self.tables is None else Document.of(self.tables), inputs.suite)

    def judged(self, inputs: Inputs, metrics: Sequence[str]) -> Evaluation:
        """The pairs by these metrics; raises ``DatasetError`` where none can be judged."""
        evaluation = evaluate(self.pairs, self.targets(inputs), named(metrics), processes=inputs.processes)
        evaluation.refuse_if_nothing_judged()
        inputs.stop_if_cancelled()
        return evaluation


def systems(inputs: Inputs) -> Iterator[System]:
    """A system for each prediction file, then one for the answers of each run; raises ``InputError`` for none."""
    listed = prediction_files(inputs)
    if not listed and not inputs.runs:
        raise InputError("there are no predictions; name a file or a folder with --pred, or a run with --run")
    if listed:
        data = dataset(inputs)
        gold = gold_document(inputs, data)
        tables = data / "tables.json"
        for file, label in zip(listed, told_apart([file.stem for file in listed]), strict=True):
            pairs = sample(read_pairs(gold, Document.of(file)), inputs.limit, SEED)
            yield System(label, tuple(pairs), data / "database", tables if tables.is_file() else None)
    for run, label in zip(inputs.runs, run_labels(inputs), strict=True):
        yield of_run(run, label, inputs)


def prediction_files(inputs: Inputs) -> list[Path]:
    """The files of the option, those of a folder by name; raises ``InputError`` for a folder without any."""
    listed: list[Path] = []
    for path in inputs.predictions:
        if not path.is_dir():
            listed.append(path)
            continue
        within = sorted(
            file for file in path.iterdir() if file.suffix in SUFFIXES and file.stem.lower() not in ("gold", "dev")
        )
        if not within:
            raise InputError(f"{path}: holds no predictions (.txt, .json, .jsonl, .sql); name a file or another folder")
        listed += within
    return listed


def gold_document(inputs: Inputs, data: Path) -> Document:
    """The gold queries of the prediction files."""
    beside = [path / "gold.txt" if path.is_dir() else path.parent / "gold.txt" for path in inputs.predictions[:1]]
    candidates = [inputs.gold] if inputs.gold else [*beside, data / "dev.json"]
    return Document.of(next((file for file in candidates if file.is_file()), candidates[-1]))


def golds(inputs: Inputs, data: Path) -> list[Gold]:
    """The same, read."""
    return read_golds(gold_document(inputs, data))


def of_run(run: Path, label: str, inputs: Inputs) -> System:
    """The answers of a run beside gold; raises ``DatasetError`` for a run on copies of the databases."""
    described = run_folder.described(run)
    if Engine.of(described["dataset"]).copies:
        raise DatasetError(f"{run}: ran on copies of the databases; give a run on the dataset's own files")
    data = inputs.data or run_folder.data_of(run)
    records = sample(run_folder.records(run), inputs.limit, SEED)
    pairs = tuple(
        Pair(Gold(line["id"], line["gold"], line["db_id"]), Prediction(line["id"], line["sql"])) for line in records
    )
    if not pairs:
        raise DatasetError(f"{run} has no answers yet; continue it with `sqljury bench`")
    tables = data / "tables.json"
    return System(label, pairs, data / "database", tables if tables.is_file() else None)


def stored_runs(inputs: Inputs) -> Iterator[tuple[str, StoredRun]]:
    """Each run with all its candidates judged, by label."""
    for folder, label in zip(inputs.runs, run_labels(inputs), strict=True):
        run = stored.load(folder, inputs.data or run_folder.data_of(folder), inputs.processes)
        inputs.stop_if_cancelled()
        yield label, replace(run, questions=tuple(sample(run.questions, inputs.limit, SEED)))


def run_labels(inputs: Inputs) -> list[str]:
    """Each run by its recipe and model, among several by its folder too."""
    settings = map(run_folder.described, inputs.runs)
    made_by = [f"`{described['recipe']['name']}`, {described['model']}" for described in settings]
    if len(made_by) == 1:
        return made_by
    return [f"{folder}: {label}" for folder, label in zip(labels(inputs.runs), made_by, strict=True)]


def dataset(inputs: Inputs) -> Path:
    """The folder of the dataset; raises ``InputError`` where it is not given or has no databases."""
    if inputs.data is None:
        raise InputError("the databases are missing; name the dataset's folder with --data")
    if not (inputs.data / "database").is_dir():
        raise InputError(f"{inputs.data}: has no folder database/; give the folder that Spider was unpacked into")
    return inputs.data


def share(figures: dict[str, float | int]) -> Figure:
    """The figure of a share as analyses write it (``Share.figures``)."""
    return Figure(figures["percent"], figures["low"], figures["high"])
