"""Training of the light judge's sketch: logistic regressions from questions and gold queries, no candidates needed.

Questions are many where candidates are few: those of a whole training split, seconds to read and minutes to write
queries for. A judge learns how far to trust a sketch from sketches that never saw the question's database, as it will
be when it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqljury.datasets import spider
from sqljury.datasets.spider import Example
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError
from sqljury.evaluation import run_folder as folder
from sqljury.language import linking
from sqljury.schema.introspect import introspect
from sqljury.sql.features import Anatomy, anatomy
from sqljury.stages.select.sketch import DIGITS, Sketch, elements, phrases, wide
from sqljury.train import logit
from sqljury.types import Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LEAST_QUESTIONS: Final = 400
"""With fewer nothing is learned: a phrase must be seen on several databases to mean anything."""
LEAST_DATABASES: Final = 4
"""A phrase, and an element, must occur on so many."""
FOLDS: Final = 5
PENALTY: Final = 1.0
"""L2, against the sum over questions; on databases left out of Spider's train 3 and 8 are worse."""
STEPS: Final = 100
SMALLEST: Final = 0.1
"""Log-odds of a phrase that are less are dropped: half of them, for a hundredth of the log-probability."""


@dataclass(frozen=True)
class Told:
    """One question with its gold query; databases of one name are kept together, whatever its case and dataset."""

    database: str
    text: str
    query: Anatomy
    schema: Schema


def gold(runs: Sequence[Path], data: Path | None, measured: Sequence[Example]) -> list[Told]:
    """The questions of the splits that runs were on, with what their gold queries are made of.

    Without those on databases of ``measured``, on wide ones and on ones that cannot be used, and those whose gold no
    parser reads. ``data`` is the datasets' folder where it has moved. Raises what ``spider.load`` raises.
    """
    splits = {(data or folder.data_of(run), str(folder.described(run)["dataset"].get("split", ""))) for run in runs}
    barred = {one.db_id.casefold() for one in measured}
    examples = [one for where, split in sorted(splits) if split for one in spider.load(where, split, databases=False)]
    schemas: dict[Path, Schema | None] = {}
    found = {}
    for one in examples:
        if one.db_id.casefold() in barred:
            continue
        place = one.database.resolve()
        if place not in schemas:
            schemas[place] = _schema(place)
        if (schema := schemas[place]) is None:
            continue
        text = one.question.whole
        query = anatomy(one.gold_sql, schema)
        if query.parsed and not wide(schema):
            found[str(place), text] = Told(one.db_id.casefold(), text, query, schema)
    return list(found.values())


def _schema(database: Path) -> Schema | None:
    """The database's schema, None where it cannot be used."""
    try:
        with connect(database) as db:
            return introspect(db)
    except DatabaseError:
        return None


def fitted(known: Sequence[Told]) -> Sketch:
    """The sketch learned from these questions; there must be one."""
    import numpy as np

    said = [phrases(one.text, one.schema) for one in known]
    there = [elements(one.query) for one in known]
    databases = [one.database for one in known]
    columns, names = _common(said, databases), sorted(_common(there, databases))
    rows = np.zeros((len(known), len(columns) + 1), dtype=np.float32)
    rows[:, -1] = 1
    for row, own in zip(rows, said, strict=True):
        row[[columns[phrase] for phrase in own if phrase in columns]] = 1
    weights = _logistic(rows, np.array([[name in own for name in names] for own in there], dtype=np.float32))
    return Sketch(
        {name: round(float(weight), DIGITS) for name, weight in zip(names, weights[-1], strict=True)},
        {
            phrase: told
            for phrase, place in columns.items()
            if (told := _heavy(dict(zip(names, weights[place].tolist(), strict=True))))
        },
        _linker(known, linking.tables, lambda query: query.tables),
        _linker(known, linking.columns, lambda query: query.columns),
    )


def crossed(known: Sequence[Told], seed: int) -> dict[str, Sketch]:
    """By database a sketch that was learned without it; none where too little is known."""
    databases = [one.database for one in known]
    if len(known) < LEAST_QUESTIONS or len(set(databases)) < FOLDS * 2:
        return {}
    found: dict[str, Sketch] = {}
    for learn, out in logit.folds(databases, FOLDS, seed):
        own = fitted([known[place] for place in learn])
        found |= dict.fromkeys({databases[place] for place in out}, own)
    return found


def _common(told: Sequence[frozenset[str]], databases: Sequence[str]) -> dict[str, int]:
    """What occurs on enough databases, numbered."""
    seen = {(thing, own) for things, own in zip(told, databases, strict=True) for thing in things}
    counted = Counter(thing for thing, _ in seen)
    common = sorted(thing for thing, count in counted.items() if count >= LEAST_DATABASES)
    return {thing: place for place, thing in enumerate(common)}


def _heavy(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(weight, DIGITS) for name, weight in weights.items() if abs(weight) >= SMALLEST}


def _logistic(rows: Floats, there: Floats) -> Floats:
    """One logistic regression for each column of ``there``, by accelerated gradient (Nesterov 1983)."""
    import numpy as np

    steepest = _curvature(rows) / 4 + PENALTY
    weights = ahead = np.zeros((rows.shape[1], there.shape[1]), dtype=np.float32)
    pace = 1.0
    for _ in range(STEPS):
        slope = rows.T @ (1 / (1 + np.exp(-(rows @ ahead))) - there) + PENALTY * ahead
        stepped = ahead - slope / steepest
        faster = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = stepped + (pace - 1) / faster * (stepped - weights)
        weights, pace = stepped, faster
    return weights


def _curvature(rows: Floats) -> float:
    """The greatest eigenvalue of ``rows.T @ rows``, by power iteration; a little more, to be on the safe side."""
    import numpy as np

    along = np.ones(rows.shape[1], dtype=np.float32)
    for _ in range(15):
        along = rows.T @ (rows @ along)
        length = float(np.linalg.norm(along))
        along /= length
    return 1.05 * length


def _linker(
    known: Sequence[Told],
    figures: Callable[[linking.Named], Mapping[str, Sequence[float]]],
    used: Callable[[Anatomy], Collection[str]],
) -> list[float]:
    """The weights of a logistic regression: which of all tables, or columns, a query reads."""
    import numpy as np

    rows: list[Sequence[float]] = []
    right: list[bool] = []
    for one in known:
        reads = frozenset(used(one.query))
        for name, row in figures(linking.Named(one.text, one.schema)).items():
            rows.append(row)
            right.append(name in reads)
    table, there = np.array(rows), np.array(right, dtype=np.float64)
    weights = np.zeros(table.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (chance - there) + weights
        curved = (table * (chance * (1 - chance))[:, None]).T @ table + np.eye(len(weights))
        step = np.linalg.solve(curved, slope)
        weights -= step
        if float(np.abs(step).max()) < 1e-6:
            break
    return [round(float(weight), 4) for weight in weights]
