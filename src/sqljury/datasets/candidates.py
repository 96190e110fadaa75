"""Prediction files of several systems for the same questions: each question with what every system predicted for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final

from sqljury.datasets.formats import read_predictions
from sqljury.datasets.pairs import Known, Prediction
from sqljury.datasets.reading import Document
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError
from sqljury.types import Candidate

NAMED: Final = 5
"""Lines that an error names of those that are wrong in the same way."""

STRANGE: Final = 3
"""Fewer lines that name tables of other databases may be mistakes of their system."""

_QUOTED: Final = re.compile(r"'(?:[^']|'')*'")
_TABLE: Final = re.compile(r"\b(?:from|join)\s+[`\"\[]?([^\W\d]\w*)", re.IGNORECASE)
_DEFINED: Final = re.compile(r"\b([^\W\d]\w*)\s*(?:\([^()]*\)\s*)?\bas\s*\(", re.IGNORECASE)


@dataclass(frozen=True)
class Pool:
    """Questions with their ``candidates``, one of each system at most, in the order of the systems.

    ``systems`` are their names, by the files' names; a candidate's ``part`` is the index of its system. ``places`` has
    for each question the place of each system's prediction. ``faults`` say which lines are not used as they are, and
    why.
    """

    examples: tuple[Example, ...]
    systems: tuple[str, ...]
    places: tuple[tuple[str, ...], ...]
    faults: tuple[str, ...] = ()


@dataclass
class _Column:
    """One system's predictions, by question; None where it has none that can be used."""

    document: Document
    predictions: list[Prediction | None]
    faults: list[str] = field(default_factory=list)


def load(files: Sequence[str | Path | Document], examples: Sequence[Example], format: str | None = None) -> Pool:
    """The pool of these files, of which the first is trusted most.

    Predictions with ids are paired by id, where 0 to n-1 may stand for positions; others by position. Where not all
    systems give a question's probability, none counts: they could not be compared. Raises ``DatasetError``, which names
    file and line, where a file cannot be paired with the questions.
    """
    if not examples:
        raise DatasetError("there are no questions; give a file with some")
    databases = frozenset(example.db_id for example in examples)
    columns = [_column(Document.of(file), examples, databases, format) for file in files]
    systems = _names([column.document.file for column in columns])
    rows = list(zip(*(column.predictions for column in columns), strict=True))
    pooled = tuple(
        replace(example, candidates=_candidates(row, systems)) for example, row in zip(examples, rows, strict=True)
    )
    places = tuple(tuple("" if one is None else one.place for one in row) for row in rows)
    return Pool(pooled, systems, places, tuple(fault for column in columns for fault in column.faults))


def strangers(pool: Pool, tables: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Lines whose queries name tables that their question's database lacks, and which tables.

    ``tables`` are those of each database in lower case; questions on others are not looked at. Raises ``DatasetError``
    for a file of which most lines do, and ``STRANGE`` at least: it is for other questions, or in another order.
    """
    found = []
    for number, system in enumerate(pool.systems):
        odd, queries = [], 0
        for example, places in zip(pool.examples, pool.places, strict=True):
            own = next((one.sql for one in example.candidates if one.part == number), "")
            named = dict.fromkeys(_tables(own)) if example.db_id in tables else {}
            queries += bool(named)
            if lacking := [name for name in named if name.lower() not in tables[example.db_id]]:
                odd.append(f"{places[number]}: the database {example.db_id!r} has no table {lacking[0]!r}")
        if 2 * len(odd) > queries and len(odd) >= STRANGE:
            first = "; ".join(odd[:NAMED])
            raise DatasetError(
                f"{len(odd)} of {queries} predictions of {system} name tables that their question's database lacks "
                f"({first}{'; ...' if len(odd) > NAMED else ''}); give a file in the order of the questions"
            )
        found += odd
    return tuple(found)


def _tables(sql: str) -> Iterator[str]:
    """The names behind FROM and JOIN, but for those that the query defines."""
    text = _QUOTED.sub("''", sql)
    defined = {name.lower() for name in _DEFINED.findall(text)}
    return (name for name in _TABLE.findall(text) if name.lower() not in defined)


def _column(document: Document, examples: Sequence[Example], databases: frozenset[str], format: str | None) -> _Column:
    predictions = read_predictions(document, format, Known(databases=databases))
    keyed = sum(prediction.id is not None for prediction in predictions)
    if keyed and keyed < len(predictions):
        odd = next(prediction for prediction in predictions if prediction.id is None)
        raise DatasetError(f"{odd.place}: has no id although others have; give each prediction one")
    column = (_by_id if keyed else _by_position)(document, predictions, examples)
    elsewhere = [
        (number, prediction, example.db_id)
        for number, (prediction, example) in enumerate(zip(column.predictions, examples, strict=True))
        if prediction is not None and prediction.db_id not in (None, example.db_id)
    ]
    if elsewhere and 2 * len(elsewhere) > len(examples):
        _, first, expected = elsewhere[0]
        raise DatasetError(
            f"{first.place}: is for the database {first.db_id!r}, its question for {expected!r}, and so are "
            f"{len(elsewhere)} of {len(examples)}; give a file in the order of the questions"
        )
    for number, prediction, expected in elsewhere:
        column.predictions[number] = None
        column.faults.append(f"{prediction.place}: is for {prediction.db_id!r}, not {expected!r}; left out")
    used = [prediction for prediction in column.predictions if prediction is not None]
    column.faults += [f"{one.place}: {one.fault}; the query counts without it" for one in used if one.fault]
    return column


def _by_position(document: Document, predictions: Sequence[Prediction], examples: Sequence[Example]) -> _Column:
    given = list(predictions)
    while len(given) > len(examples) and not given[-1].sql and not given[-1].db_id:
        given.pop()  # blank lines at the end of a file
    if len(given) != len(examples):
        shifted = next(
            (
                f"; from {prediction.place} on they are for other databases than the questions"
                for prediction, example in zip(given, examples, strict=False)
                if prediction.db_id not in (None, example.db_id)
            ),
            "",
        )
        if len(given) > len(examples):
            where = f"{given[len(examples)].place} is one too many"
        else:
            where = f"none is left for question {examples[len(given)].id!r}"
        raise DatasetError(
            f"{document}: {len(given)} predictions for {len(examples)} questions: {where}{shifted}; give a line for "
            "each question, an empty one where there is no query"
        )
    return _Column(document, list(given))


def _by_id(document: Document, predictions: Sequence[Prediction], examples: Sequence[Example]) -> _Column:
    by_id: dict[str | None, Prediction] = {}
    for prediction in predictions:
        if prediction.id in by_id:
            before = by_id[prediction.id].place
            raise DatasetError(f"{prediction.place}: the id {prediction.id!r} was given before ({before}); keep one")
        by_id[prediction.id] = prediction
    names = [example.id for example in examples]
    numbers = [str(number) for number in range(len(examples))]
    if by_id.keys() <= set(numbers) and not by_id.keys() <= set(names):
        names = numbers
    column = _Column(document, [by_id.get(name) for name in names])
    unknown = [prediction for name, prediction in by_id.items() if name not in set(names)]
    if 2 * len(unknown) > len(predictions):
        raise DatasetError(
            f"{unknown[0].place}: there is no question with the id {unknown[0].id!r}, nor with those of {len(unknown)} "
            f"of {len(predictions)} predictions; give a file for these questions"
        )
    column.faults += [f"{one.place}: there is no question with the id {one.id!r}; left out" for one in unknown]
    missing = [name for name in names if name not in by_id]
    if missing:
        listed = ", ".join(missing[:NAMED])
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        column.faults.append(f"{document}: has no prediction for the questions {listed}{more}")
    return column


def _candidates(row: Sequence[Prediction | None], systems: Sequence[str]) -> tuple[Candidate, ...]:
    there = [(number, one) for number, one in enumerate(row) if one is not None]
    likely = all(one.logprob is not None for _, one in there)
    return tuple(
        Candidate(_bare(one.sql), systems[number], one.logprob if likely else None, part=number)
        for number, one in there
    )


def _bare(sql: str) -> str:
    """The query without a semicolon at its end."""
    return sql.strip().removesuffix(";").rstrip()


def _names(files: Sequence[Path]) -> tuple[str, ...]:
    """A name for each system: its file's without the ending, with a number where another has the same."""
    names: list[str] = []
    for file in files:
        name = file.stem or "predictions"
        numbered = (f"{name}-{number}" for number in count(2))
        names.append(name if name not in names else next(other for other in numbered if other not in names))
    return tuple(names)
