"""Gold queries and predictions as files hold them, and which prediction answers which gold query.

Where a benchmark keeps its databases: ``<folder>/<db_id>/*.sqlite``, one file or a test suite of several.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold query; ``place`` is the file and line or entry it was read from.

    ``interaction`` numbers the dialogue that the query is a turn of, 0 for all where there are none. ``difficulty`` is
    the benchmark's own level where its file gives one (BIRD), else empty.
    """

    id: str
    sql: str
    db_id: str
    interaction: int = 0
    place: str = ""
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted query, empty where the model gave none.

    ``id`` is None in files that pair by place, ``db_id`` where the file does not say.
    """

    id: str | None
    sql: str
    db_id: str | None = None
    interaction: int = 0
    place: str = ""


class Known(NamedTuple):
    """What gold says of how predictions are to be read: whether blank lines part dialogues, and the databases' names.

    Without ``databases`` nothing is known of them.
    """

    interactions: bool = False
    databases: frozenset[str] = frozenset()


UNKNOWN: Final = Known()


class Pair(NamedTuple):
    """A gold query and its prediction."""

    gold: Gold
    prediction: Prediction


def pair(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> list[Pair]:
    """A pair for each gold query, in gold's order.

    Predictions with ids are paired by id. Ids 0 to n-1 that are not gold's own number gold's entries, as in BIRD's
    prediction files. Those without ids are paired by place, turn by turn where gold has interactions. Raises
    ``DatasetError`` that names both places for a wrong count, a missing, repeated or unknown id, or another database.
    """
    if not golds:
        raise DatasetError("there are no gold queries; give a file that holds some")
    _refuse_repeated(golds)
    keyed = [prediction for prediction in predictions if prediction.id is not None]
    if not keyed:
        pairs = _by_place(golds, predictions)
    elif len(keyed) == len(predictions):
        pairs = _by_id(golds, predictions)
    else:
        odd = next(prediction for prediction in predictions if prediction.id is None)
        raise DatasetError(f"{odd.place}: has no id although others have; give each prediction one")
    for one in pairs:
        _check_database(one)
    return pairs


def perfect(golds: Sequence[Gold]) -> list[Prediction]:
    """Gold's own queries as predictions, which every metric must find right."""
    return [Prediction(gold.id, gold.sql, gold.db_id, gold.interaction, gold.place) for gold in golds]


def _refuse_repeated(items: Sequence[Gold] | Sequence[Prediction]) -> None:
    places: dict[str | None, str] = {}
    for item in items:
        if item.id in places:
            raise DatasetError(f"{item.place}: the id {item.id!r} was given before ({places[item.id]}); keep one")
        places[item.id] = item.place


def _by_id(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> list[Pair]:
    _refuse_repeated(predictions)
    by_id = {prediction.id: prediction for prediction in predictions}
    names = [gold.id for gold in golds]
    numbers = [str(number) for number in range(len(golds))]
    if by_id.keys() == set(numbers) and by_id.keys() != set(names):
        names = numbers
    for name, gold in zip(names, golds, strict=True):
        if name not in by_id:
            message = f"{_file(predictions[0].place)}: has no prediction with the id {name!r} ({gold.place})"
            raise DatasetError(f"{message}; add it, empty if need be")
    known = set(names)
    unknown = next((prediction for prediction in predictions if prediction.id not in known), None)
    if unknown is not None:
        raise DatasetError(f"{unknown.place}: there is no gold query with the id {unknown.id!r}; remove it")
    return [Pair(gold, by_id[name]) for name, gold in zip(names, golds, strict=True)]


def _by_place(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> list[Pair]:
    found = list(predictions)
    while len(found) > len(golds) and not found[-1].sql and not found[-1].db_id:
        found.pop()  # blank lines at the end of a file stand for nothing
    if len({gold.interaction for gold in golds}) > 1:
        _check_turns(golds, found)
    if len(found) != len(golds):
        raise _wrong_count(golds, found)
    # Turns keep gold's number: where gold has no interactions, the predictions' are none either.
    aligned = zip(golds, found, strict=True)
    return [Pair(gold, replace(prediction, interaction=gold.interaction)) for gold, prediction in aligned]


def _wrong_count(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> DatasetError:
    """An error that names the first line on which the files do not fit, as far as that can be seen."""
    message = f"{len(predictions)} predictions for {len(golds)} gold queries"
    shifted = next(
        (
            f"; from {prediction.place} on they are for other databases than gold's"
            for gold, prediction in zip(golds, predictions, strict=False)
            if prediction.db_id not in (None, gold.db_id)
        ),
        "",
    )
    if len(predictions) < len(golds):
        first = golds[len(predictions)].place
        return DatasetError(f"{message}: none is left for {first}{shifted}; give a line a query, empty if need be")
    return DatasetError(f"{message}: {predictions[len(golds)].place} is one too many{shifted}; remove what is extra")


def _check_turns(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> None:
    ours, theirs = _places(golds), _places(predictions)
    for number, (wanted, given) in enumerate(zip(ours, theirs, strict=False), 1):
        if len(wanted) != len(given):
            message = f"{given[0]}: interaction {number} has {len(given)} turns, gold's {len(wanted)}"
            raise DatasetError(
                f"{message} ({wanted[0]}); blank lines separate interactions in both files, and a tab and the "
                "database are a turn without a query"
            )
    if len(ours) > len(theirs):
        message = f"{len(theirs)} interactions are predicted of {len(ours)}"
        raise DatasetError(f"{message}: none is left for {ours[len(theirs)][0]}; add it")
    if len(ours) < len(theirs):
        extra = theirs[len(ours)][0]
        raise DatasetError(f"{extra}: starts interaction {len(ours) + 1}, and gold has {len(ours)}; remove it")


def _places(items: Sequence[Gold] | Sequence[Prediction]) -> list[list[str]]:
    """By interaction, where its turns stand."""
    turns = groupby([(item.interaction, item.place) for item in items], key=itemgetter(0))
    return [[place for _, place in group] for _, group in turns]


def _check_database(pair: Pair) -> None:
    gold, prediction = pair
    if prediction.db_id not in (None, gold.db_id):
        message = f"{prediction.place}: is for the database {prediction.db_id!r}, its gold query ({gold.place})"
        raise DatasetError(f"{message} for {gold.db_id!r}; put the files in the same order, or give ids")


def _file(place: str) -> str:
    return place.rpartition(", ")[0] or place


def database_files(folder: str | Path, golds: Iterable[Gold], *, all_there: bool = True) -> dict[str, tuple[Path, ...]]:
    """From each database the queries name to its files, ``<db_id>.sqlite`` first and the rest by name.

    Raises ``DatasetError`` that names the first query on an unknown database. Unless ``all_there``, unknown ones are
    left out, as long as one is known.
    """
    found: dict[str, tuple[Path, ...]] = {}
    root = Path(folder)
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder; give the one that holds <db_id>/<db_id>.sqlite")
    missing: list[Gold] = []
    for gold in golds:
        if gold.db_id not in found:
            found[gold.db_id] = _files(root, gold.db_id)
            missing += [] if found[gold.db_id] else [gold]
    if missing and (all_there or len(missing) == len(found)):
        name = missing[0].db_id
        raise DatasetError(
            f"{missing[0].place}: there is no database {name!r} in {root} ({name}/{name}.sqlite); add it"
        )
    return {name: files for name, files in found.items() if files}


def _files(root: Path, name: str) -> tuple[Path, ...]:
    """The database's own file and those beside it; none where there is no such database."""
    # A name, not a path: what a file says does not choose which file outside the folder is opened.
    if Path(name).name == name and name != ".." and "\0" not in name:
        own = root / name / f"{name}.sqlite"
        if own.is_file():
            return own, *sorted(file for file in own.parent.glob("*.sqlite") if file != own)
    return ()
