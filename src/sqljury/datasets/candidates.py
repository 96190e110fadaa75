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
from sqljury.sql.parse import MAX_SQL_CHARS
from sqljury.types import Candidate

NAMED: Final = 5
"""Lines that an error names of those that are wrong in the same way."""

MOST_BYTES: Final = 256 << 20
"""Of a prediction file; 1,034 queries have some 150 KB."""

STRANGE: Final = 3
"""Fewer lines that name tables of other databases may be mistakes of their system."""

_QUOTED: Final = re.compile(r"'(?:[^']|'')*'")
_TABLE: Final = re.compile(r"\b(?:from|join)\s+[`\"\[]?([^\W\d]\w*)", re.IGNORECASE)
_DEFINED: Final = re.compile(r"\b([^\W\d]\w*)\s*(?:\([^()]*\)\s*)?\bas\s*\(", re.IGNORECASE)


@dataclass(frozen=True)
class Pool:
    """Questions with their ``candidates``, one of each system at most, in the order of the systems.

    ``systems`` are their names, by the names of their ``documents``; a candidate's ``part`` is the index of its system.
    ``places`` has for each question the place of each system's prediction. ``faults`` say which lines and files are not
    used as they are, and why.
    """

    examples: tuple[Example, ...]
    systems: tuple[str, ...]
    documents: tuple[Document, ...]
    places: tuple[tuple[str, ...], ...]
    faults: tuple[str, ...] = ()

    def without(self, systems: Collection[str]) -> Pool:
        """The pool without these systems; there must be another."""
        kept = [number for number, name in enumerate(self.systems) if name not in systems]
        parts = {number: part for part, number in enumerate(kept)}
        examples = tuple(
            replace(
                example,
                candidates=tuple(replace(one, part=parts[one.part]) for one in example.candidates if one.part in parts),
            )
            for example in self.examples
        )
        places = tuple(tuple(row[number] for number in kept) for row in self.places)
        names = tuple(self.systems[number] for number in kept)
        documents = tuple(self.documents[number] for number in kept)
        return Pool(examples, names, documents, places, self.faults)


@dataclass
class _Column:
    """One system's predictions, by question; None where it has none that can be used."""

    document: Document
    predictions: list[Prediction | None]
    faults: list[str] = field(default_factory=list)


def load(files: Sequence[str | Path | Document], examples: Sequence[Example], format: str | None = None) -> Pool:
    """The pool of these files, of which the first is trusted most.

    Predictions with ids are paired by id, where 0 to n-1 may stand for positions; others by position. A file that
    cannot be paired with the questions is left out: ``faults`` name it and the line. Where not all systems give a
    question's probability, none counts: they could not be compared. Raises ``DatasetError`` for a file that cannot be
    read, and where none is left.
    """
    if not examples:
        raise DatasetError("there are no questions; give a file with some")
    databases = frozenset(example.db_id for example in examples)
    columns: list[_Column] = []
    unpaired: list[DatasetError] = []
    for file in files:
        document = document_of(file)
        try:
            columns.append(_column(document, examples, databases, format))
        except DatasetError as error:
            unpaired.append(error)
    if not columns:
        raise unpaired[0]
    documents = tuple(column.document for column in columns)
    systems = _names([document.file for document in documents])
    rows = list(zip(*(column.predictions for column in columns), strict=True))
    pooled = tuple(
        replace(example, candidates=_candidates(row, systems)) for example, row in zip(examples, rows, strict=True)
    )
    places = tuple(tuple("" if one is None else one.place for one in row) for row in rows)
    faults = (*map(_left_out, unpaired), *(fault for column in columns for fault in column.faults))
    return Pool(pooled, systems, documents, places, faults)


def document_of(file: str | Path | Document) -> Document:
    """The document of predictions; raises ``DatasetError`` for a file that cannot be read, or is too large to be."""
    if not isinstance(file, Document) and Path(file).is_file() and (size := Path(file).stat().st_size) > MOST_BYTES:
        raise DatasetError(f"{file}: has {size:,} bytes, more than {MOST_BYTES:,}; give a file of predictions")
    return Document.of(file)


def _left_out(why: object) -> str:
    return f"a whole file is left out: {why}"


def checked(pool: Pool, tables: Mapping[str, Collection[str]]) -> Pool:
    """The pool with lines among its ``faults`` whose queries name tables that their question's database lacks.

    ``tables`` are those of each database in lower case; questions on others are not looked at. A file of which most
    lines do, and ``STRANGE`` at least, is left out: it is for other questions, or in another order. Raises
    ``DatasetError`` where no other is left.
    """
    found: list[str] = []
    others: dict[str, str] = {}
    for number, system in enumerate(pool.systems):
        odd, queries = _strangers(pool, number, tables)
        if 2 * len(odd) > queries and len(odd) >= STRANGE:
            first = "; ".join(odd[:NAMED])
            others[system] = (
                f"{len(odd)} of {queries} predictions of {system} name tables that their question's database lacks "
                f"({first}{'; ...' if len(odd) > NAMED else ''}); give a file in the order of the questions"
            )
        else:
            found += odd
    if len(others) == len(pool.systems):
        raise DatasetError(others[pool.systems[0]])
    kept = pool.without(others) if others else pool
    return replace(kept, faults=(*map(_left_out, others.values()), *kept.faults, *found))


def _strangers(pool: Pool, number: int, tables: Mapping[str, Collection[str]]) -> tuple[list[str], int]:
    """The lines of a system that name tables which their question's database lacks; and how many name any."""
    odd, queries = [], 0
    for example, places in zip(pool.examples, pool.places, strict=True):
        own = next((one.sql for one in example.candidates if one.part == number), "")
        named = dict.fromkeys(_tables(own)) if example.db_id in tables else {}
        queries += bool(named)
        if lacking := [name for name in named if name.lower() not in tables[example.db_id]]:
            odd.append(f"{places[number]}: the database {example.db_id!r} has no table {lacking[0]!r}")
    return odd, queries


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
    for number, given in enumerate(column.predictions):
        if given is not None and len(given.sql) > MAX_SQL_CHARS:
            size = f"{len(given.sql):,} characters, more than {MAX_SQL_CHARS:,}"
            column.predictions[number] = None
            column.faults.append(f"{given.place}: the query has {size}; left out")
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
