"""Training of the light judge's sketch model: logistic regressions from questions and gold queries, no candidates.

Questions with gold queries are many where candidates are few: a whole training split takes seconds to read, and hours
to write candidates for. A judge learns how far to trust sketches from sketches that never saw the question's database,
as it will use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from sqljury.bench.stored import question_of
from sqljury.datasets import benchmarks
from sqljury.datasets.spider import Example
from sqljury.datasets.subset import Within, every_database, subset
from sqljury.db.connect import connect
from sqljury.engines.databases import Databases, of_run
from sqljury.errors import DatabaseError
from sqljury.evaluation import run_folder
from sqljury.keys import known_schema
from sqljury.language import linking
from sqljury.project.folder import load as load_project
from sqljury.sql.features import Anatomy, anatomy
from sqljury.stages.select.sketch import DIGITS, Sketch, elements, phrases, wide
from sqljury.train import logit
from sqljury.types import Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MIN_QUESTIONS: Final = 400
"""With fewer questions no sketch is learned: a phrase must occur on several databases to mean anything."""
MIN_DATABASES: Final = 4
"""A phrase, or an element of SQL, is learned if it occurs on this many databases."""
FOLDS: Final = 5
PENALTY: Final = 1.0
"""L2, against the sum over questions; on held-out databases of Spider's train split, 3 and 8 are worse."""
STEPS: Final = 100
MIN_WEIGHT: Final = 0.1
"""Smaller log-odds of a phrase are dropped: half of all weights, for a hundredth of the log-probability."""


@dataclass(frozen=True)
class GoldQuestion:
    """A question with its parsed gold query; ``database`` is case-folded, whatever dataset it is of."""

    database: str
    text: str
    query: Anatomy
    schema: Schema


def gold_questions(
    runs: Sequence[Path], data: Path | None, evaluation: Sequence[Example], within: Within = every_database
) -> list[GoldQuestion]:
    """The questions of the splits that the runs were on, with their parsed gold queries.

    Left out are those on databases of ``evaluation``, not ``within`` or left out of the run, on wide databases and on
    ones that cannot be used, and those whose gold query cannot be parsed. ``data`` is the dataset's folder if it has
    moved. Raises what the reader of the dataset raises.
    """
    held_out = {example.db_id.casefold() for example in evaluation}
    examples = {
        (Path(example.database).resolve(), example.question.whole): example
        for run in runs
        for example in split_of(run, data or run_folder.data_of(run))
        if example.db_id.casefold() not in held_out and within(example.db_id)
    }
    schemas: dict[Path, Schema | None] = {}
    questions = []
    for (file, text), example in examples.items():
        if file not in schemas:
            schemas[file] = _schema(file)
        if (schema := schemas[file]) is None:
            continue
        query = anatomy(example.gold_sql, schema)
        if query.parsed and not wide(schema):
            questions.append(GoldQuestion(example.db_id.casefold(), text, query, schema))
    return questions


def split_of(run: Path, folder: Path) -> list[Example]:
    """All questions of the split that a run was on, on the databases that it was limited to.

    The databases need not be there; ``folder`` is the dataset's. Of a file of questions that is gone or has changed, of
    an unknown dataset, and where the file that named the databases is gone, those that the run has answered. Raises
    what the reader of the dataset raises.
    """
    described = run_folder.described(run)
    dataset: Mapping[str, Any] = described["dataset"]
    kind = dataset.get("name")
    if kind == "project":
        return list(load_project(folder).benchmark()[0].examples)
    databases = of_run(described, folder, run)
    if whole := _whole_split(dataset, folder, databases):
        limited = subset(str(dataset.get("databases", "")), str(dataset.get("without", "")))
        whole = [example for example in whole if limited(example.db_id)]
    return list(whole) or [
        Example(record["id"], question_of(record), record["gold"], record["db_id"], databases.file(record["db_id"]))
        for record in run_folder.records(run)
    ]


def _whole_split(dataset: Mapping[str, Any], folder: Path, databases: Databases) -> Sequence[Example]:
    """The questions of a run's split; none where they cannot be had any more."""
    kind, split = dataset.get("name"), dataset.get("split")
    if kind == "jsonl" and Path(file := str(dataset.get("file", ""))).is_file():
        loaded = benchmarks.load(Path(file), "jsonl", databases=databases.files, there=False)
        if loaded.digest == dataset.get("questions"):
            return loaded.examples
    elif kind in get_args(benchmarks.Kind) and kind != "jsonl" and split:
        return benchmarks.load(folder, kind, str(split), there=False).examples
    return ()


def _schema(database: Path) -> Schema | None:
    """The database's schema, None where it cannot be used."""
    try:
        with connect(database) as db:
            return known_schema(db)
    except DatabaseError:
        return None


def fit(questions: Sequence[GoldQuestion]) -> Sketch:
    """The sketch model learned from these questions; there must be at least one."""
    import numpy as np

    phrases_of = [phrases(question.text, question.schema) for question in questions]
    elements_of = [elements(question.query) for question in questions]
    databases = [question.database for question in questions]
    columns, names = _common(phrases_of, databases), sorted(_common(elements_of, databases))
    rows = np.zeros((len(questions), len(columns) + 1), dtype=np.float32)
    rows[:, -1] = 1
    for row, asked_phrases in zip(rows, phrases_of, strict=True):
        row[[columns[phrase] for phrase in asked_phrases if phrase in columns]] = 1
    targets = np.array([[name in present for name in names] for present in elements_of], dtype=np.float32)
    weights = _logistic(rows, targets)
    return Sketch(
        {name: round(float(weight), DIGITS) for name, weight in zip(names, weights[-1], strict=True)},
        {
            phrase: large
            for phrase, index in columns.items()
            if (large := _large(dict(zip(names, weights[index].tolist(), strict=True))))
        },
        _linker(questions, linking.tables, lambda query: query.tables),
        _linker(questions, linking.columns, lambda query: query.columns),
    )


def cross_fit(questions: Sequence[GoldQuestion], seed: int) -> dict[str, Sketch]:
    """For each database a sketch model that was learned without it; empty where there are too few questions."""
    databases = [question.database for question in questions]
    if len(questions) < MIN_QUESTIONS or len(set(databases)) < FOLDS * 2:
        return {}
    sketches: dict[str, Sketch] = {}
    for training, held_out in logit.folds(databases, FOLDS, seed):
        sketch = fit([questions[index] for index in training])
        sketches |= dict.fromkeys({databases[index] for index in held_out}, sketch)
    return sketches


def _common(features: Sequence[frozenset[str]], databases: Sequence[str]) -> dict[str, int]:
    """The features that occur on at least ``MIN_DATABASES`` databases, numbered."""
    seen = {(feature, database) for present, database in zip(features, databases, strict=True) for feature in present}
    counts = Counter(feature for feature, _ in seen)
    common = sorted(feature for feature, count in counts.items() if count >= MIN_DATABASES)
    return {feature: index for index, feature in enumerate(common)}


def _large(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(weight, DIGITS) for name, weight in weights.items() if abs(weight) >= MIN_WEIGHT}


def _logistic(rows: Floats, targets: Floats) -> Floats:
    """One logistic regression for each column of ``targets``, by accelerated gradient (Nesterov 1983)."""
    import numpy as np

    lipschitz = _curvature(rows) / 4 + PENALTY
    weights = ahead = np.zeros((rows.shape[1], targets.shape[1]), dtype=np.float32)
    momentum = 1.0
    for _ in range(STEPS):
        gradient = rows.T @ (1 / (1 + np.exp(-(rows @ ahead))) - targets) + PENALTY * ahead
        stepped = ahead - gradient / lipschitz
        faster = (1 + (1 + 4 * momentum * momentum) ** 0.5) / 2
        ahead = stepped + (momentum - 1) / faster * (stepped - weights)
        weights, momentum = stepped, faster
    return weights


def _curvature(rows: Floats) -> float:
    """An upper estimate of the greatest eigenvalue of ``rows.T @ rows``, by power iteration."""
    import numpy as np

    vector = np.ones(rows.shape[1], dtype=np.float32)
    for _ in range(15):
        vector = rows.T @ (rows @ vector)
        length = float(np.linalg.norm(vector))
        vector /= length
    return 1.05 * length


def _linker(
    questions: Sequence[GoldQuestion],
    figures: Callable[[linking.Named], Mapping[str, Sequence[float]]],
    used: Callable[[Anatomy], Collection[str]],
) -> list[float]:
    """The weights of a logistic regression that tells which tables, or columns, a query reads."""
    import numpy as np

    features: list[Sequence[float]] = []
    targets: list[bool] = []
    for question in questions:
        reads = frozenset(used(question.query))
        for name, row in figures(linking.Named(question.text, question.schema)).items():
            features.append(row)
            targets.append(name in reads)
    rows, target = np.array(features), np.array(targets, dtype=np.float64)
    weights = np.zeros(rows.shape[1])
    for _ in range(25):
        probabilities = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        gradient = rows.T @ (probabilities - target) + weights
        curvature = (rows * (probabilities * (1 - probabilities))[:, None]).T @ rows + np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if float(np.abs(step).max()) < 1e-6:
            break
    return [round(float(weight), 4) for weight in weights]
