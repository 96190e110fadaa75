"""Questions with their gold queries from one file and a folder of databases: Spider's or BIRD's list, or lines of JSON.

For a user's own benchmark, which has no folder in Spider's form.
"""

from __future__ import annotations

from pathlib import Path

from sqljury.datasets.reading import Document, entries_of, field, json_of
from sqljury.datasets.spider import Example, database_file
from sqljury.errors import DatasetError
from sqljury.types import Question


def load(file: str | Path | Document, databases: str | Path | None = None) -> list[Example]:
    """Each entry's ``question``, ``db_id`` and ``gold``, ``query``, ``SQL`` or ``sql``; ``evidence`` may be there.

    The id is ``id`` or ``question_id``, else the place counted from 0. ``databases`` holds
    ``<db_id>/<db_id>.sqlite``; None is for those who want names and texts alone, and no file need be there. Raises
    ``DatasetError`` that names the entry, for one that is repeated too.
    """
    document = Document.of(file)
    found: dict[str, Example] = {}
    for number, (entry, place) in enumerate(_entries(document)):
        name = str(entry.get("id", entry.get("question_id", number)))
        if name in found:
            raise DatasetError(f"{place}: the id {name!r} was given before; keep one")
        db_id, evidence = field(entry, ("db_id",), place), entry.get("evidence", "")
        file_ = database_file(Path(databases or ""), db_id, place, there=databases is not None)
        if not isinstance(evidence, str):
            raise DatasetError(f"{place}: 'evidence' is no text; give it one or leave it out")
        gold = field(entry, ("gold", "query", "SQL", "sql"), place).strip()
        found[name] = Example(name, Question(field(entry, ("question",), place), evidence, name), gold, db_id, file_)
    if not found:
        raise DatasetError(f"{document}: holds no questions; give a file with some")
    return list(found.values())


def _entries(document: Document) -> list[tuple[dict[str, object], str]]:
    if document.text.lstrip().startswith("["):
        items = entries_of(json_of(document.text, str(document)), str(document))
        return [(item, f"{document}, entry {number}") for number, item in enumerate(items)]
    lines = [(line, f"{document}, line {number}") for number, line in enumerate(document.lines, 1) if line.strip()]
    found = [(json_of(line, place), place) for line, place in lines]
    for item, place in found:
        if not isinstance(item, dict):
            raise DatasetError(f"{place}: is no JSON object; write the line again")
    return found
