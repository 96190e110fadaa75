"""Prediction files with one query or several for each question, as `sqljury choose` takes them.

The formats are those of ``datasets.formats``. Several queries of a question are lines of JSONL with the same id, a list
in BIRD's object or in a list of lists, or ``blocks``: a query on each line, and blank lines between the questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from sqljury.datasets.formats import bird_query, detect, prediction_format, prediction_of, read_predictions
from sqljury.datasets.pairs import Known, Prediction
from sqljury.datasets.reading import Document, filled_lines, json_object, json_of
from sqljury.errors import DatasetError

MOST: Final = 64
"""Queries that one file may have for a question: each is run, and may take its time limit."""

_LISTS: Final = re.compile(r"\[\s*(?:\[|null\b)")
"""The beginning of a list with a list of queries for each question."""

Group = tuple[Prediction, ...]


@dataclass(frozen=True)
class Sampled:
    """What a file predicts: a group of predictions for each question, the most trusted first, in the file's order.

    A group may be empty where nothing of it can be read. With ``keyed`` ones, the predictions of a group have the id of
    their question; others are for the question at the place of their group. ``faults`` say what cannot be used, and
    why.
    """

    groups: tuple[Group, ...]
    keyed: bool
    faults: tuple[str, ...] = ()


def read(document: Document, format: str | None, questions: int, databases: frozenset[str] = frozenset()) -> Sampled:
    """The predictions of a file for so many questions on these databases; ``format`` is a key of ``FORMATS``.

    By default it is detected, ``blocks`` where the file has as many groups of lines between blank ones as there are
    questions, more than a query in some, and another number of lines. What is wrong with one line of JSONL, or with one
    query of a list, costs that query. Raises ``DatasetError`` for a file that cannot be read in this format, for an
    unknown format, and where no query can be used.
    """
    name = format or _detected(document, questions)
    sampled = FORMATS[prediction_format(document, name, FORMATS)](document, Known(databases=databases))
    if sampled.faults and not any(sampled.groups):
        raise DatasetError(sampled.faults[0])
    unread = (f"{fault}; it is left out" for fault in sampled.faults)
    too_many = (
        f"{group[MOST].place}: is query {MOST + 1} of {len(group)} for one question; the first {MOST} count"
        for group in sampled.groups
        if len(group) > MOST
    )
    groups = tuple(group[:MOST] for group in sampled.groups)
    return Sampled(groups, sampled.keyed, (*unread, *too_many))


def _detected(document: Document, questions: int) -> str | None:
    """The name of the format, None for one that holds no predictions."""
    name = detect(document)
    if name == "dev":
        return "bird" if _LISTS.match(document.text.lstrip()) else None
    return "blocks" if name == "lines" and _has_blocks(document.lines, questions) else name


def _has_blocks(lines: Sequence[str], questions: int) -> bool:
    """Whether lines are for so many questions only as groups between blank lines, of several queries in some."""
    filled = [bool(line.strip()) for line in lines]
    sizes = [len(list(run)) for is_filled, run in groupby(filled) if is_filled]
    least = len(lines) - next((at for at, is_filled in enumerate(reversed(filled)) if is_filled), len(lines))
    by_line = least <= questions <= len(lines)  # blank lines at the end may be empty predictions
    return not by_line and 1 < len(sizes) == questions and max(sizes) > 1


def _by_line(document: Document, known: Known) -> Sampled:
    return Sampled(tuple((prediction,) for prediction in read_predictions(document, "lines", known)), keyed=False)


def _in_blocks(document: Document, known: Known) -> Sampled:
    """Groups of lines between blank ones; raises ``DatasetError`` where an empty group may be among them."""
    filled = [bool(line.strip()) for line in document.lines]
    ended, gap = 0, 0
    for is_filled, run in groupby(filled):
        size = len(list(run))
        ended += size
        if is_filled or ended == len(filled):  # blank lines at the end of a file mean nothing
            continue
        if ended == size or (gap and size != gap):
            what = "begins with a blank line" if ended == size else f"ends {size} blank lines, others are {gap}"
            raise DatasetError(f"{document}, line {ended}: {what}; separate all questions alike, and leave none out")
        gap = size
    predictions = read_predictions(document, "lines", known._replace(interactions=True))
    grouped = groupby(predictions, key=lambda prediction: prediction.interaction)
    return Sampled(
        tuple(tuple(replace(prediction, interaction=0) for prediction in group) for _, group in grouped), keyed=False
    )


def _jsonl(document: Document, _known: Known) -> Sampled:
    by_id: dict[str | None, list[Prediction]] = {}
    faults = []
    for line, location in filled_lines(document):
        try:
            prediction = prediction_of(json_object(line, location), location)
        except DatasetError as error:
            faults.append(str(error))
        else:
            by_id.setdefault(prediction.id, []).append(prediction)
    return Sampled(tuple(map(tuple, by_id.values())), bool(by_id), tuple(faults))


def _bird(document: Document, _known: Known) -> Sampled:
    """An object from ids to queries or lists of queries, or a list of such lists for the questions in their order."""
    entries: Any = json_of(document.text, str(document))
    faults: list[str] = []
    if isinstance(entries, dict):
        listed = [_queries(value, key, f"{document}, key {key!r}", faults) for key, value in entries.items()]
        return Sampled(tuple(group for group in listed if group), any(listed), tuple(faults))
    if not isinstance(entries, list):
        raise DatasetError(f"{document}: is not an object from numbers to queries; give another format or file")
    listed = [_queries(value, None, f"{document}, entry {at}", faults) for at, value in enumerate(entries)]
    return Sampled(tuple(listed), keyed=False, faults=tuple(faults))


def _queries(value: Any, name: str | None, location: str, faults: list[str]) -> Group:
    """The predictions of one entry; what cannot be used is added to ``faults``."""
    if not isinstance(value, list) or not value:
        items = [(None if value == [] else value, location)]
    else:
        items = [(item, f"{location}, query {number}") for number, item in enumerate(value, 1)]
    predictions = []
    for item, where in items:
        try:
            predictions.append(_query(item, name, where))
        except DatasetError as error:
            faults.append(str(error))
    return tuple(predictions)


def _query(item: Any, name: str | None, location: str) -> Prediction:
    """A query, null for none, or an object as on a line of JSONL without its id."""
    if isinstance(item, dict):
        prediction = prediction_of({**item, "id": "0"}, location)
        sql, db_id = bird_query(prediction.sql)
        return replace(prediction, id=name, sql=sql, db_id=prediction.db_id or db_id)
    if not isinstance(item, str | None):
        raise DatasetError(f"{location}: is not text; give a query, or null for none")
    return Prediction(name, *bird_query(item or ""), place=location)


FORMATS: Final[dict[str, Callable[[Document, Known], Sampled]]] = {
    "lines": _by_line,
    "blocks": _in_blocks,
    "bird": _bird,
    "jsonl": _jsonl,
}
