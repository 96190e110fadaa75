"""BIRD's prediction file: one JSON object from the question's number to the query and its database."""

from __future__ import annotations

from typing import Any, Final

from sqljury.datasets.pairs import Gold, Known, Prediction
from sqljury.datasets.reading import Document, json_of
from sqljury.errors import DatasetError

SEPARATOR: Final = "\t----- bird -----\t"


def golds(file: Document) -> list[Gold]:
    """The same form with gold queries, ordered by key.

    Raises ``DatasetError`` for one without a database, and where none has a query.
    """
    found: list[Gold] = []
    for key, text, place in sorted(_items(file), key=lambda item: (len(item[0]), item[0])):
        sql, db_id = _split(text)
        if not db_id:
            raise _misshapen(place)
        found.append(Gold(key, sql, db_id, place=place))
    if found and not any(gold.sql for gold in found):
        raise _misshapen(found[0].place)
    return found


def _misshapen(place: str) -> DatasetError:
    return DatasetError(f"{place}: is not a query, {SEPARATOR.strip()!r} and a database; add what is missing")


def predictions(file: Document, _known: Known) -> list[Prediction]:
    """With the keys as ids; null is an empty prediction. Raises ``DatasetError`` for any other value but text."""
    return [Prediction(key, *_split(text), place=place) for key, text, place in _items(file)]


def _items(file: Document) -> list[tuple[str, str, str]]:
    found: Any = json_of(file.text, str(file))
    if not isinstance(found, dict):
        raise DatasetError(f"{file}: holds no object from numbers to queries; give another format or file")
    for key, value in found.items():
        if not isinstance(value, str | None):
            raise DatasetError(f"{file}, key {key!r}: is no text; give a query, or null for none")
    return [(key, value or "", f"{file}, key {key!r}") for key, value in found.items()]


def _split(text: str) -> tuple[str, str | None]:
    # The separator's tabs get lost in some files.
    sql, _, db_id = text.partition(SEPARATOR.strip())
    return sql.strip(), db_id.strip() or None
