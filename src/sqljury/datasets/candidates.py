"""Prediction files of several systems for the same questions: each question with what every system predicted for it.

A system may have several queries for a question, such as samples of one model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final, Literal

from sqljury.datasets import samples
from sqljury.datasets.alignment import NAMED, Alignment, Tables
from sqljury.datasets.reading import Document
from sqljury.datasets.spider import Example
from sqljury.errors import DatasetError
from sqljury.sql.parse import MAX_SQL_CHARS
from sqljury.types import Candidate
from sqljury.types.candidate import equal_votes

MOST_BYTES: Final = 256 << 20
"""Of a prediction file; 1,034 queries have some 150 KB."""

Votes = Literal["systems", "queries"]
"""Who has a vote on a question: each system one, shared by its queries, or each query one."""


@dataclass(frozen=True)
class Pool:
    """Questions with their ``candidates``, in the order of the systems, and within a system in that of its file.

    ``systems`` are their names, by the names of their ``documents``; a candidate's ``part`` is the index of its system.
    ``places`` has for each question the place of each candidate. ``faults`` say which lines and files are not used as
    they are, and why.
    """

    examples: tuple[Example, ...]
    systems: tuple[str, ...]
    documents: tuple[Document, ...]
    places: tuple[tuple[str, ...], ...]
    faults: tuple[str, ...] = ()

    def weighed(self, votes: Votes = "systems") -> Pool:
        """The pool with the weights by which its candidates vote."""
        if votes == "queries":
            return self
        return replace(
            self,
            examples=tuple(replace(example, candidates=equal_votes(example.candidates)) for example in self.examples),
        )


@dataclass
class _Column:
    """One system's predictions, a group for each question; empty where it has none that can be used."""

    document: Document
    groups: list[samples.Group]
    faults: list[str] = field(default_factory=list)


def load(
    files: Sequence[str | Path | Document],
    examples: Sequence[Example],
    format: str | None = None,
    tables: Tables | None = None,
) -> Pool:
    """The pool of these files, of which the first is trusted most; ``format`` is one of ``samples.FORMATS``.

    Predictions with ids are paired by id, where 0 to n-1 may stand for positions; others by position. A file that
    cannot be paired with the questions is left out: ``faults`` name it and the line. So is one that is for others, or
    in another order, as far as ``tables`` show it; single lines that name tables which their question's database lacks
    are among ``faults``, and stay. Where not all systems give a question's probability, none counts: they could not be
    compared. Raises ``DatasetError`` for a file that cannot be read, and where none is left.
    """
    if not examples:
        raise DatasetError("there are no questions; give a file with some")
    columns: list[_Column] = []
    unpaired: list[DatasetError] = []
    for file in files:
        document = document_of(file)
        try:
            columns.append(_column(document, examples, format, tables or {}))
        except DatasetError as error:
            unpaired.append(error)
    if not columns:
        raise unpaired[0]
    documents = tuple(column.document for column in columns)
    systems = system_names([document.file for document in documents])
    rows = list(zip(*(column.groups for column in columns), strict=True))
    pooled = tuple(
        replace(example, candidates=_candidates(row, systems)) for example, row in zip(examples, rows, strict=True)
    )
    locations = tuple(tuple(prediction.place for group in row for prediction in group) for row in rows)
    faults = (*map(_left_out, unpaired), *(fault for column in columns for fault in column.faults))
    return Pool(pooled, systems, documents, locations, faults)


def document_of(file: str | Path | Document) -> Document:
    """The document of predictions; raises ``DatasetError`` for a file that cannot be read, or is too large to be."""
    if not isinstance(file, Document) and Path(file).is_file() and (size := Path(file).stat().st_size) > MOST_BYTES:
        raise DatasetError(f"{file}: has {size:,} bytes, more than {MOST_BYTES:,}; give a file of predictions")
    return Document.of(file)


def _left_out(why: object) -> str:
    return f"a whole file is left out: {why}"


def _column(document: Document, examples: Sequence[Example], format: str | None, tables: Tables) -> _Column:
    databases = frozenset(example.db_id for example in examples)
    sampled = samples.read(document, format, len(examples), databases)
    if sampled.keyed:
        column = _by_id(document, sampled.groups, examples)
    else:
        column = _by_position(document, sampled.groups, examples, tables)
    if not any(_bare(prediction.sql) for group in column.groups for prediction in group):
        raise DatasetError(f"{document}: holds no query, in {len(sampled.groups)} places; give a file of predictions")
    column.faults += sampled.faults
    elsewhere = [
        (number, prediction, example.db_id)
        for number, (group, example) in enumerate(zip(column.groups, examples, strict=True))
        for prediction in group
        if prediction.db_id not in (None, example.db_id)
    ]
    questions = {number for number, _, _ in elsewhere}
    if 2 * len(questions) > len(examples):
        _, first, expected = elsewhere[0]
        raise DatasetError(
            f"{first.place}: is for the database {first.db_id!r}, its question for {expected!r}, and so are "
            f"{len(questions)} of {len(examples)}; give a file in the order of the questions"
        )
    aligned = Alignment.of(column.groups, examples, tables)
    aligned.refuse_others(document)
    for number, prediction, expected in elsewhere:
        column.groups[number] = tuple(item for item in column.groups[number] if item is not prediction)
        column.faults.append(f"{prediction.place}: is for {prediction.db_id!r}, not {expected!r}; left out")
    for number, group in enumerate(column.groups):
        for prediction in group:
            if len(prediction.sql) > MAX_SQL_CHARS:
                size = f"{len(prediction.sql):,} characters, more than {MAX_SQL_CHARS:,}"
                column.faults.append(f"{prediction.place}: the query has {size}; left out")
        column.groups[number] = tuple(prediction for prediction in group if len(prediction.sql) <= MAX_SQL_CHARS)
    used = [prediction for group in column.groups for prediction in group]
    column.faults += [
        f"{prediction.place}: {prediction.fault}; the query counts without it"
        for prediction in used
        if prediction.fault
    ]
    column.faults += aligned.strangers()
    return column


def _by_position(
    document: Document, groups: Sequence[samples.Group], examples: Sequence[Example], tables: Tables
) -> _Column:
    given = list(groups)
    while len(given) > len(examples) and not any(prediction.sql or prediction.db_id for prediction in given[-1]):
        given.pop()  # blank lines at the end of a file
    if len(given) != len(examples):
        begin = Alignment.of(given, examples, tables).where_others_begin()
        shifted = f"; from {begin} on they are for other databases than the questions" if begin else ""
        if len(given) > len(examples):
            where = (
                f"{next(prediction.place for group in given[len(examples) :] for prediction in group)} is one too many"
            )
        else:
            where = f"none is left for question {examples[len(given)].id!r}"
        single = all(len(group) == 1 for group in given)
        what = "predictions" if single else "groups of predictions"
        wanted = "a line for each question, an empty one" if single else "queries for each question, an empty one"
        raise DatasetError(
            f"{document}: {len(given)} {what} for {len(examples)} questions: {where}{shifted}; give {wanted} where "
            "there is no query"
        )
    return _Column(document, given)


def _by_id(document: Document, groups: Sequence[samples.Group], examples: Sequence[Example]) -> _Column:
    by_id = {group[0].id: group for group in groups}
    first = groups[0][0].place
    names = [example.id for example in examples]
    numbers = [str(number) for number in range(len(examples))]
    _refuse_shifted(by_id.keys(), names, numbers, first)
    if by_id.keys() <= set(numbers) and not by_id.keys() <= set(names):
        names = numbers
    column = _Column(document, [by_id.get(name, ()) for name in names])
    asked = set(names)
    unknown = [group[0] for name, group in by_id.items() if name not in asked]
    if 2 * len(unknown) > len(by_id):
        raise DatasetError(
            f"{unknown[0].place}: there is no question with the id {unknown[0].id!r}, nor with those of {len(unknown)} "
            f"of {len(by_id)} ids; give a file for these questions"
        )
    column.faults += [
        f"{prediction.place}: there is no question with the id {prediction.id!r}; left out" for prediction in unknown
    ]
    missing = [name for name in names if name not in by_id]
    if missing:
        listed = ", ".join(missing[:NAMED])
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        column.faults.append(f"{document}: has no prediction for the questions {listed}{more}")
    return column


def _refuse_shifted(given: Collection[str | None], names: Sequence[str], numbers: Sequence[str], location: str) -> None:
    """Raise ``DatasetError`` for ids that count from 1 where those of the questions count from 0, or are others."""
    last = str(len(numbers))
    from_one = {*numbers[1:], last}
    if last in given and from_one >= set(given) and (names == list(numbers) or not from_one & set(names)):
        asked = f"those of the questions from {names[0]} to {names[-1]}"
        raise DatasetError(f"{location}: the ids run from 1 to {last}, {asked}; give the ids of the questions")


def _candidates(row: Sequence[samples.Group], systems: Sequence[str]) -> tuple[Candidate, ...]:
    predictions = [(number, prediction) for number, group in enumerate(row) for prediction in group]
    likely = all(prediction.logprob is not None for _, prediction in predictions)
    return tuple(
        Candidate(_bare(prediction.sql), systems[number], prediction.logprob if likely else None, part=number)
        for number, prediction in predictions
    )


def _bare(sql: str) -> str:
    """The query without a semicolon at its end."""
    return sql.strip().removesuffix(";").rstrip()


def system_names(files: Sequence[Path]) -> tuple[str, ...]:
    """A name for each system: its file's without the ending, with a number where another has the same."""
    names: list[str] = []
    for file in files:
        name = file.stem or "predictions"
        numbered = (f"{name}-{number}" for number in count(2))
        names.append(name if name not in names else next(label for label in numbered if label not in names))
    return tuple(names)
