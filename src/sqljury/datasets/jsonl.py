"""A JSON object a line, as `sqljury bench` writes its answers: ``id``, ``db_id``, ``gold`` and ``sql``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqljury.datasets.pairs import Gold, Known, Prediction
from sqljury.datasets.reading import Document, field, json_of, some_text
from sqljury.errors import DatasetError

_GOLD: Final = ("gold", "query", "sql")


def golds(file: Document) -> list[Gold]:
    """The query is ``gold``, else ``query`` or ``sql``; ``interaction`` may number dialogues.

    Raises ``DatasetError`` that names the line, and where no line has a query.
    """
    entries = list(_entries(file))
    some = some_text((entry for entry, _ in entries), _GOLD)
    return [
        Gold(
            _id(entry, place),
            field(entry, _GOLD, place, may_be_empty=some).strip(),
            field(entry, ("db_id",), place),
            _interaction(entry, place),
            place,
        )
        for entry, place in entries
    ]


def predictions(file: Document, _known: Known) -> list[Prediction]:
    """The query is ``sql``, empty or null where there is none; ``db_id`` may be missing."""
    found = []
    for entry, place in _entries(file):
        sql, db_id = entry.get("sql", 0), entry.get("db_id")
        if not isinstance(sql, str | None):
            raise DatasetError(f"{place}: has no 'sql'; add it, empty for no query")
        if not isinstance(db_id, str | None):
            raise DatasetError(f"{place}: 'db_id' is no text; give it one or leave it out")
        found.append(Prediction(_id(entry, place), (sql or "").strip(), db_id, place=place))
    return found


def _entries(file: Document) -> Iterator[tuple[dict[str, Any], str]]:
    for number, line in enumerate(file.lines, 1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        entry = json_of(line, place)
        if not isinstance(entry, dict):
            raise DatasetError(f"{place}: is no JSON object; write the line again")
        yield entry, place


def _id(entry: dict[str, Any], place: str) -> str:
    name = entry.get("id")
    if not isinstance(name, str | int) or name == "":
        raise DatasetError(f"{place}: has no 'id'; give each line its own")
    return str(name)


def _interaction(entry: dict[str, Any], place: str) -> int:
    number = entry.get("interaction", 0)
    if not isinstance(number, int):
        raise DatasetError(f"{place}: 'interaction' is no whole number; number the dialogues")
    return number
