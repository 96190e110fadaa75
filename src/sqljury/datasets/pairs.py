"""Gold queries, their predictions, manual judgements of these, and the databases they run on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.datasets.reading import Document, is_file_name
from sqljury.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold query; ``place`` is its file and line or entry.

    ``interaction`` numbers the dialogue of which the query is a turn, always 0 without dialogues. ``difficulty`` is
    the benchmark's level if its file has one (BIRD), else empty.
    """

    id: str
    sql: str
    db_id: str
    interaction: int = 0
    place: str = ""
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted query, empty if the model gave none.

    ``id`` is None in files that pair by position, ``db_id`` in files without databases. ``logprob`` is the
    natural-log probability of the query, None where the file gives none; ``fault`` says what was wrong with it.
    """

    id: str | None
    sql: str
    db_id: str | None = None
    interaction: int = 0
    place: str = ""
    logprob: float | None = None
    fault: str = ""


class Known(NamedTuple):
    """What gold determines about reading predictions: whether there are dialogues, and the databases if known."""

    interactions: bool = False
    databases: frozenset[str] = frozenset()


UNKNOWN: Final = Known()


class Pair(NamedTuple):
    """A gold query and its prediction."""

    gold: Gold
    prediction: Prediction


def pair(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> list[Pair]:
    """A pair for each gold query, in gold's order.

    Predictions with ids are paired by id. Ids 0 to n-1 that are not gold's ids are positions, as in BIRD's prediction
    files. Predictions without ids are paired by position, turn by turn if gold has interactions. Raises
    ``DatasetError``, which names both places, for a wrong count, a missing, repeated or unknown id, or a wrong
    database.
    """
    if not golds:
        raise DatasetError("there are no gold queries; give a file that has some")
    _refuse_repeated(golds)
    keyed = [prediction for prediction in predictions if prediction.id is not None]
    if not keyed:
        pairs = _by_position(golds, predictions)
    elif len(keyed) == len(predictions):
        pairs = _by_id(golds, predictions)
    else:
        odd = next(prediction for prediction in predictions if prediction.id is None)
        raise DatasetError(f"{odd.place}: has no id although others have; give each prediction one")
    for pair_ in pairs:
        _check_database(pair_)
    return pairs


def perfect(golds: Sequence[Gold]) -> list[Prediction]:
    """The gold queries as predictions, which every metric must judge right."""
    return [Prediction(gold.id, gold.sql, gold.db_id, gold.interaction, gold.place) for gold in golds]


def _refuse_repeated(items: Sequence[Gold] | Sequence[Prediction]) -> None:
    locations: dict[str | None, str] = {}
    for item in items:
        if item.id in locations:
            raise DatasetError(f"{item.place}: the id {item.id!r} was given before ({locations[item.id]}); keep one")
        locations[item.id] = item.place


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
            raise DatasetError(f"{message}; add it, empty if necessary")
    known = set(names)
    unknown = next((prediction for prediction in predictions if prediction.id not in known), None)
    if unknown is not None:
        raise DatasetError(f"{unknown.place}: there is no gold query with the id {unknown.id!r}; remove it")
    return [Pair(gold, by_id[name]) for name, gold in zip(names, golds, strict=True)]


def _by_position(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> list[Pair]:
    given = list(predictions)
    while len(given) > len(golds) and not given[-1].sql and not given[-1].db_id:
        given.pop()  # blank lines at the end of a file
    if len({gold.interaction for gold in golds}) > 1:
        _check_turns(golds, given)
    if len(given) != len(golds):
        raise _wrong_count(golds, given)
    aligned = zip(golds, given, strict=True)
    return [Pair(gold, replace(prediction, interaction=gold.interaction)) for gold, prediction in aligned]


def _wrong_count(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> DatasetError:
    """An error that names the first line on which the files differ, as far as databases show it."""
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
        return DatasetError(f"{message}: none is left for {first}{shifted}; give one line for each query")
    return DatasetError(f"{message}: {predictions[len(golds)].place} is one too many{shifted}; remove extra lines")


def _check_turns(golds: Sequence[Gold], predictions: Sequence[Prediction]) -> None:
    expected, predicted = _places(golds), _places(predictions)
    for number, (wanted, given) in enumerate(zip(expected, predicted, strict=False), 1):
        if len(wanted) != len(given):
            message = f"{given[0]}: interaction {number} has {len(given)} turns, gold's {len(wanted)}"
            raise DatasetError(
                f"{message} ({wanted[0]}); separate interactions by blank lines in both files, and write a tab and "
                "the database for a turn without a query"
            )
    if len(expected) > len(predicted):
        message = f"{len(predicted)} interactions are predicted of {len(expected)}"
        raise DatasetError(f"{message}: none is left for {expected[len(predicted)][0]}; add it")
    if len(expected) < len(predicted):
        extra = predicted[len(expected)][0]
        raise DatasetError(f"{extra}: starts interaction {len(expected) + 1}, and gold has {len(expected)}; remove it")


def _places(items: Sequence[Gold] | Sequence[Prediction]) -> list[list[str]]:
    """The places of the turns, by interaction."""
    turns = groupby([(item.interaction, item.place) for item in items], key=itemgetter(0))
    return [[location for _, location in group] for _, group in turns]


def _check_database(pair: Pair) -> None:
    gold, prediction = pair
    if prediction.db_id not in (None, gold.db_id):
        message = f"{prediction.place}: is for the database {prediction.db_id!r}, its gold query ({gold.place})"
        raise DatasetError(f"{message} for {gold.db_id!r}; put the files in the same order, or give ids")


def _file(location: str) -> str:
    return location.rpartition(", ")[0] or location


def database_files(folder: str | Path, golds: Iterable[Gold], *, all_there: bool = True) -> dict[str, tuple[Path, ...]]:
    """For each database of the queries its files ``<db_id>/*.sqlite``: ``<db_id>.sqlite``, then a test suite by name.

    Raises ``DatasetError``, which names the first query on an unknown database. Unless ``all_there``, unknown ones are
    left out as long as one is known.
    """
    files_of: dict[str, tuple[Path, ...]] = {}
    root = Path(folder)
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder; give the one that holds <db_id>/<db_id>.sqlite")
    missing: list[Gold] = []
    for gold in golds:
        if gold.db_id not in files_of:
            files_of[gold.db_id] = _files(root, gold.db_id)
            missing += [] if files_of[gold.db_id] else [gold]
    if missing and (all_there or len(missing) == len(files_of)):
        name = missing[0].db_id
        raise DatasetError(
            f"{missing[0].place}: there is no database {name!r} in {root} ({name}/{name}.sqlite); add it"
        )
    return {name: files for name, files in files_of.items() if files}


def _files(root: Path, name: str) -> tuple[Path, ...]:
    if not is_file_name(name) or not (database := root / name / f"{name}.sqlite").is_file():
        return ()
    return database, *sorted(file for file in database.parent.glob("*.sqlite") if file != database)


_LABELS: Final = {"0": 0.0, "1": 1.0, "": None}


def read_labels(file: str | Path | Document, total: int) -> list[float | None]:
    """Manual judgements of ``total`` pairs: 1 for right, 0 for wrong, None without a judgement.

    The file is a TSV table whose header has ``index`` (counted from 0) and ``right``, in any order and among other
    columns, so that the table of ``sqljury eval --per-query`` can be completed by hand. Raises ``DatasetError``, which
    names the line.
    """
    document = Document.of(file)
    header, *lines = [line.split("\t") for line in document.lines] or [[]]
    names = [name.strip().lower() for name in header]
    if not {"index", "right"} <= set(names):
        raise DatasetError(f"{file}: has no tab-separated header with the columns index and right; add one")
    index, right = names.index("index"), names.index("right")
    judged: dict[int, float | None] = {}
    for number, cells in enumerate(lines, 2):
        if not any(cell.strip() for cell in cells):
            continue
        location = f"{file}, line {number}"
        if len(cells) <= index or not (text := cells[index].strip()).isdecimal() or int(text) >= total:
            raise DatasetError(f"{location}: has no index of a pair; these are counted from 0 to {total - 1}")
        if int(text) in judged:
            raise DatasetError(f"{location}: pair {text} was judged before; remove one of the lines")
        label = cells[right].strip() if len(cells) > right else ""
        if label not in _LABELS:
            raise DatasetError(f"{location}: {label[:20]!r} is not a label; write 1 for right, 0 for wrong, or nothing")
        judged[int(text)] = _LABELS[label]
    if not any(label is not None for label in judged.values()):
        raise DatasetError(f"{file}: judges no pair; write 1 or 0 into the column right")
    return [judged.get(position) for position in range(total)]
