"""The question files of Spider and BIRD, ``dev.json``, and the dialogues of CoSQL and SParC: a list of objects."""

from __future__ import annotations

from typing import Any, Final

from sqljury.datasets.pairs import Gold
from sqljury.datasets.reading import Document, entries_of, field, json_of, some_text
from sqljury.errors import DatasetError

_QUERY: Final = ("query", "SQL")


def golds(file: Document) -> list[Gold]:
    """``query`` (Spider) or ``SQL`` (BIRD) with ``db_id``; the id is ``question_id``, else the place counted from 0.

    Entries with ``interaction`` are dialogues of CoSQL or SParC: each of its turns is a query, on ``database_id``;
    ``final``, which says the dialogue's aim, is none. A query may be empty or null where others are not. Raises
    ``DatasetError`` that names the entry.
    """
    entries = entries_of(json_of(file.text, str(file)), str(file))
    dialogues = [number for number, entry in enumerate(entries) if "interaction" in entry]
    if not dialogues:
        return _questions(entries, file)
    if len(dialogues) < len(entries):
        odd = next(number for number in range(len(entries)) if number not in dialogues)
        raise DatasetError(f"{file}, entry {odd}: has no 'interaction' although others have; add it")
    return _turns(entries, file)


def _questions(entries: list[dict[str, Any]], file: Document) -> list[Gold]:
    found = []
    named = sum("question_id" in entry for entry in entries)
    some = some_text(entries, _QUERY)
    for number, entry in enumerate(entries):
        place = f"{file}, entry {number}"
        if named and "question_id" not in entry:
            raise DatasetError(f"{place}: has no 'question_id' although others have; add it")
        sql, db_id = field(entry, _QUERY, place, may_be_empty=some).strip(), field(entry, ("db_id",), place)
        level = entry.get("difficulty")
        name = str(entry.get("question_id", number))
        found.append(Gold(name, sql, db_id, place=place, difficulty=level if isinstance(level, str) else ""))
    return found


def _turns(entries: list[dict[str, Any]], file: Document) -> list[Gold]:
    found: list[Gold] = []
    for number, entry in enumerate(entries):
        place = f"{file}, entry {number}"
        db_id = field(entry, ("database_id", "db_id"), place)
        turns = entries_of(entry["interaction"], f"{place}, 'interaction'")
        some = some_text(turns, _QUERY)
        for at, turn in enumerate(turns):
            where = f"{place}, turn {at}"
            sql = field(turn, ("query",), where, may_be_empty=some).strip()
            found.append(Gold(str(len(found)), sql, db_id, number, where))
    return found
