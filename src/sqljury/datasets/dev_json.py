"""The question files of Spider and BIRD, ``dev.json``: a list of objects with query and database."""

from __future__ import annotations

from pathlib import Path

from sqljury.datasets.pairs import Gold
from sqljury.datasets.reading import entries_of, field, json_of, text_of
from sqljury.errors import DatasetError


def golds(file: Path) -> list[Gold]:
    """``query`` (Spider) or ``SQL`` (BIRD) with ``db_id``; the id is ``question_id``, else the place counted from 0.

    Raises ``DatasetError`` that names the entry.
    """
    found = []
    entries = entries_of(json_of(text_of(file), str(file)), str(file))
    named = sum("question_id" in entry for entry in entries)
    for number, entry in enumerate(entries):
        place = f"{file}, entry {number}"
        if named and "question_id" not in entry:
            raise DatasetError(f"{place}: has no 'question_id' although others have; add it")
        sql, db_id = field(entry, ("query", "SQL"), place).strip(), field(entry, ("db_id",), place)
        level = entry.get("difficulty")
        found.append(
            Gold(
                str(entry.get("question_id", number)),
                sql,
                db_id,
                place=place,
                difficulty=level if isinstance(level, str) else "",
            )
        )
    return found
