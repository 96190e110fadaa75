"""Readers of gold and prediction files: one for each format, chosen by name or by how the file begins.

``lines`` is a query on each line, as in Spider's, SParC's and CoSQL's gold and prediction files and in BIRD's
``dev_gold.sql``; ``bird`` BIRD's prediction file, a JSON object from numbers to queries; ``dev`` the question files of
Spider and BIRD and the dialogues of CoSQL and SParC, a JSON list of objects; ``jsonl`` a JSON object on each line, as
`sqljury bench` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.pairs import UNKNOWN, Gold, Known, Pair, Prediction, pair
from sqljury.datasets.reading import (
    GOLD_KEYS,
    Document,
    entries_of,
    entry_id,
    field,
    json_lines,
    json_of,
    some_text,
)
from sqljury.errors import DatasetError

_SEPARATOR: Final = "\t----- bird -----\t"
_TURN_QUERY: Final = ("query",)
_DATABASE: Final = re.compile(r"[\w.-]+")
_UNFINISHED: Final = re.compile(
    r"(\b(select|distinct|all|from|join|on|as|where|and|or|not|in|like|between|is|by|having|limit|offset|union|"
    r"intersect|except|case|when|then|else)|[-,.=<>+*/%|(])$",
    re.IGNORECASE,
)
"""Endings that no query has, so that a tab and a word after them continue the query."""

_LEAST_LIKELY: Final = 1e6
"""The largest absolute log-probability of a query that is read."""


def detect(file: str | Path | Document) -> str:
    """The format's name, by the beginning of the file.

    ``[`` begins ``dev``. ``{`` begins ``jsonl`` if the file's suffix says so or the first line is a whole object
    followed by others, else ``bird``. Everything else is ``lines``.
    """
    document = Document.of(file)
    text = document.text.lstrip()
    if text.startswith("["):
        return "dev"
    if not text.startswith("{"):
        return "lines"
    first, _, rest = text.partition("\n")
    several = first.rstrip().endswith("}") and rest.lstrip().startswith("{")
    return "jsonl" if document.file.suffix == ".jsonl" or several else "bird"


def read_golds(file: str | Path | Document, format: str | None = None) -> list[Gold]:
    """The gold queries of a file, in its order; ``format`` is a key of ``GOLD``, by default detected.

    Raises ``DatasetError``, which names file and line, for a malformed file and for an unknown format.
    """
    document = Document.of(file)
    name = format or detect(document)
    if name not in GOLD:
        raise DatasetError(f"{document}: there is no format {name!r} of gold queries; give one of {', '.join(GOLD)}")
    return GOLD[name](document)


def read_predictions(
    file: str | Path | Document, format: str | None = None, known: Known = UNKNOWN
) -> list[Prediction]:
    """The predictions of a file; ``known`` is what the gold file determines about reading it.

    Raises ``DatasetError`` as ``read_golds`` does.
    """
    document = Document.of(file)
    return PREDICTIONS[prediction_format(document, format)](document, known)


def prediction_format(document: Document, format: str | None, known: Collection[str] = ()) -> str:
    """The name of a format of predictions among the ``known`` ones, by default ``PREDICTIONS``.

    Without a name it is detected. Raises ``DatasetError`` for another.
    """
    known = known or PREDICTIONS
    name = format or detect(document)
    if name in known:
        return name
    if format is None:
        raise DatasetError(
            f"{document}: begins as a JSON list, which holds no predictions; write an object from ids to queries "
            '(BIRD), or a line {"id": ..., "sql": ...} for each question (JSONL)'
        )
    raise DatasetError(f"{document}: there is no format {name!r} of predictions; give one of {', '.join(known)}")


def read_pairs(
    gold: str | Path | Document,
    predictions: str | Path | Document,
    gold_format: str | None = None,
    format: str | None = None,
) -> list[Pair]:
    """The gold queries of one file paired with the predictions of another; raises as the readers and ``pair`` do."""
    golds = read_golds(gold, gold_format)
    known = Known(has_interactions(golds), frozenset(gold.db_id for gold in golds))
    return pair(golds, read_predictions(predictions, format, known))


def has_interactions(golds: Sequence[Gold]) -> bool:
    """Whether the queries belong to several dialogues."""
    return len({gold.interaction for gold in golds}) > 1


def _golds_of_lines(file: Document) -> list[Gold]:
    """``SQL TAB db_id`` on each line; blank lines separate interactions. Ids count the queries from 0.

    Raises ``DatasetError`` for a line without a database, and if no line has a query.
    """
    golds: list[Gold] = []
    for interaction, location, line in _numbered(file):
        sql, tab, db_id = line.rstrip().rpartition("\t")
        if not tab or not db_id.strip():
            raise _incomplete(location, "a tab")
        golds.append(Gold(str(len(golds)), sql.strip(), db_id.strip(), interaction, location))
    if golds and not any(gold.sql for gold in golds):
        raise _incomplete(golds[0].place, "a tab")
    return golds


def _predictions_of_lines(file: Document, known: Known) -> list[Prediction]:
    """``SQL`` or ``SQL TAB db_id`` on each line, without ids.

    Blank lines separate interactions if gold has some; otherwise a blank line is an empty prediction. Queries may
    contain tabs: the text after the last one is a database if all lines have one, or if gold has one of this name.
    """
    numbered = _numbered(file, separated=known.interactions)
    listed = [(interaction, location, *_parted(line)) for interaction, location, line in numbered]
    everywhere = all(db_id for _, _, sql, db_id in listed if sql or db_id)
    predictions = []
    for interaction, location, sql, db_id in listed:
        if db_id and not everywhere and known.databases and db_id not in known.databases:
            sql, db_id = f"{sql}\t{db_id}", ""
        predictions.append(Prediction(None, sql, db_id or None, interaction, location))
    return predictions


def _parted(line: str) -> tuple[str, str]:
    """The query, and what may be a database after its last tab, or an empty text."""
    sql, tab, db_id = line.rpartition("\t")
    if not tab or not _DATABASE.fullmatch(db_id.strip()) or _UNFINISHED.search(sql.rstrip()):
        return line.strip(), ""
    return sql.strip(), db_id.strip()


def _numbered(file: Document, separated: bool = True) -> Iterator[tuple[int, str, str]]:
    """Interaction, place and text of each line; blank lines only if they do not separate interactions."""
    interaction, fresh = 0, True
    for number, line in enumerate(file.lines, 1):
        if line.strip() or not separated:
            fresh = False
            yield interaction, f"{file}, line {number}", line
        elif not fresh:
            interaction, fresh = interaction + 1, True


def _golds_of_bird(file: Document) -> list[Gold]:
    """Gold queries ordered by key; raises ``DatasetError`` for one without a database, and if none has a query."""
    golds: list[Gold] = []
    for key, text, location in sorted(_bird_items(file), key=lambda item: (len(item[0]), item[0])):
        sql, db_id = bird_query(text)
        if not db_id:
            raise _incomplete(location, repr(_SEPARATOR.strip()))
        golds.append(Gold(key, sql, db_id, place=location))
    if golds and not any(gold.sql for gold in golds):
        raise _incomplete(golds[0].place, repr(_SEPARATOR.strip()))
    return golds


def _predictions_of_bird(file: Document, _known: Known) -> list[Prediction]:
    """The keys are the ids, and null is an empty prediction; raises ``DatasetError`` for other values than text."""
    return [Prediction(key, *bird_query(text), place=location) for key, text, location in _bird_items(file)]


def _bird_items(file: Document) -> list[tuple[str, str, str]]:
    entries: Any = json_of(file.text, str(file))
    if not isinstance(entries, dict):
        raise DatasetError(f"{file}: is not an object from numbers to queries; give another format or file")
    for key, value in entries.items():
        if not isinstance(value, str | None):
            raise DatasetError(f"{file}, key {key!r}: is not text; give a query, or null for none")
    return [(key, value or "", f"{file}, key {key!r}") for key, value in entries.items()]


def bird_query(text: str) -> tuple[str, str | None]:
    """The query and the database of a text in BIRD's form; None where it names no database."""
    # The separator's tabs get lost in some files.
    sql, _, db_id = text.partition(_SEPARATOR.strip())
    return sql.strip(), db_id.strip() or None


def _golds_of_dev(file: Document) -> list[Gold]:
    """``query`` (Spider), ``SQL`` (BIRD) or another of ``GOLD_KEYS`` with ``db_id``; ids as ``entry_id`` has them.

    Entries with ``interaction`` are dialogues of CoSQL or SParC, in which each turn is a query on ``database_id``;
    ``final``, the dialogue's aim, is not. Some queries may be empty or null. Raises ``DatasetError``, which names the
    entry.
    """
    entries = entries_of(json_of(file.text, str(file)), str(file))
    dialogues = [number for number, entry in enumerate(entries) if "interaction" in entry]
    if not dialogues:
        return _dev_questions(entries, file)
    if len(dialogues) < len(entries):
        odd = next(number for number in range(len(entries)) if number not in dialogues)
        raise DatasetError(f"{file}, entry {odd}: has no 'interaction' although others have; add it")
    return _dev_turns(entries, file)


def _dev_questions(entries: list[dict[str, Any]], file: Document) -> list[Gold]:
    golds = []
    named = sum("question_id" in entry for entry in entries)
    some = some_text(entries, GOLD_KEYS)
    for number, entry in enumerate(entries):
        location = f"{file}, entry {number}"
        if named and "question_id" not in entry:
            raise DatasetError(f"{location}: has no 'question_id' although others have; add it")
        sql, db_id = field(entry, GOLD_KEYS, location, may_be_empty=some).strip(), field(entry, ("db_id",), location)
        level = entry.get("difficulty")
        name = entry_id(entry, number)
        golds.append(Gold(name, sql, db_id, place=location, difficulty=level if isinstance(level, str) else ""))
    return golds


def _dev_turns(entries: list[dict[str, Any]], file: Document) -> list[Gold]:
    golds: list[Gold] = []
    for number, entry in enumerate(entries):
        location = f"{file}, entry {number}"
        db_id = field(entry, ("database_id", "db_id"), location)
        turns = entries_of(entry["interaction"], f"{location}, 'interaction'")
        some = some_text(turns, _TURN_QUERY)
        for at, turn in enumerate(turns):
            where = f"{location}, turn {at}"
            sql = field(turn, _TURN_QUERY, where, may_be_empty=some).strip()
            golds.append(Gold(str(len(golds)), sql, db_id, number, where))
    return golds


def _golds_of_jsonl(file: Document) -> list[Gold]:
    """The query is the first of ``GOLD_KEYS``; ``interaction`` may number dialogues; without ids, places count.

    Raises ``DatasetError``, which names the line, also if no line has a query.
    """
    entries = list(json_lines(file))
    some = some_text((entry for entry, _ in entries), GOLD_KEYS)
    return [
        Gold(
            _jsonl_id(entry, location) if "id" in entry else entry_id(entry, number),
            field(entry, GOLD_KEYS, location, may_be_empty=some).strip(),
            field(entry, ("db_id",), location),
            _jsonl_interaction(entry, location),
            location,
        )
        for number, (entry, location) in enumerate(entries)
    ]


def _predictions_of_jsonl(file: Document, _known: Known) -> list[Prediction]:
    """The query is ``sql``, empty or null for no query; ``db_id``, ``logprob`` and ``probability`` may be missing."""
    return [prediction_of(entry, location) for entry, location in json_lines(file)]


def prediction_of(entry: Mapping[str, Any], place: str) -> Prediction:
    """The prediction of a line of JSONL; raises ``DatasetError`` where it has no query or no id."""
    sql, db_id = entry.get("sql", 0), entry.get("db_id")
    if not isinstance(sql, str | None):
        raise DatasetError(f"{place}: has no 'sql'; add it, empty for no query")
    if not isinstance(db_id, str | None):
        raise DatasetError(f"{place}: 'db_id' is not text; give a name or leave it out")
    likely, fault = _likelihood(entry)
    name = _jsonl_id(entry, place)
    return Prediction(name, (sql or "").strip(), db_id, place=place, logprob=likely, fault=fault)


def _likelihood(entry: Mapping[str, Any]) -> tuple[float | None, str]:
    """The log-probability that a line gives, and what is wrong with it; None where it gives none or none is usable."""
    name = next((name for name in ("logprob", "probability") if entry.get(name) is not None), "")
    if not name:
        return None, ""
    value = entry[name]
    number = float(value) if type(value) in (int, float) and abs(value) <= _LEAST_LIKELY else None
    if name == "logprob" and number is not None and number <= 0:
        return number, ""
    if name == "probability" and number is not None and 0 < number <= 1:
        return log(number), ""
    wanted = "a natural logarithm, 0 or less" if name == "logprob" else "a number above 0, 1 at most"
    return None, f"{name!r} is {str(value)[:20]!r}, not {wanted}"


def _jsonl_id(entry: Mapping[str, Any], location: str) -> str:
    name = entry.get("id", entry.get("question_id"))
    if not isinstance(name, str | int) or name == "":
        raise DatasetError(f"{location}: has no 'id'; give each line its own")
    return str(name)


def _jsonl_interaction(entry: dict[str, Any], location: str) -> int:
    number = entry.get("interaction", 0)
    if not isinstance(number, int):
        raise DatasetError(f"{location}: 'interaction' is not a whole number; number the dialogues")
    return number


def _incomplete(location: str, separator: str) -> DatasetError:
    return DatasetError(f"{location}: is not a query, {separator} and a database; add what is missing")


GOLD: Final[dict[str, Callable[[Document], list[Gold]]]] = {
    "lines": _golds_of_lines,
    "bird": _golds_of_bird,
    "dev": _golds_of_dev,
    "jsonl": _golds_of_jsonl,
}
PREDICTIONS: Final[dict[str, Callable[[Document, Known], list[Prediction]]]] = {
    "lines": _predictions_of_lines,
    "bird": _predictions_of_bird,
    "jsonl": _predictions_of_jsonl,
}
