"""Reads a user's benchmark: a file of questions (JSON list or JSONL) and a folder of databases."""

from __future__ import annotations

from pathlib import Path

from sqljury.datasets.reading import GOLD_KEYS, Document, entries_of, entry_id, field, json_lines, json_of
from sqljury.datasets.spider import Example, database_file
from sqljury.errors import DatasetError
from sqljury.types import Question


def load(
    file: str | Path | Document, databases: str | Path | None = None, *, gold: bool = True, there: bool = True
) -> list[Example]:
    """The examples: ``question``, ``db_id``, ``gold``, ``query``, ``SQL`` or ``sql``, and optionally ``evidence``.

    The id is ``id`` or ``question_id``, else the index of the entry. ``databases`` holds ``<db_id>/<db_id>.sqlite``;
    with None, files are not required, nor unless they must be ``there``. Without ``gold``, queries may be missing.
    Raises ``DatasetError``, which names the entry, also for a repeated id.
    """
    document = Document.of(file)
    examples: dict[str, Example] = {}
    for number, (entry, location) in enumerate(_entries(document)):
        name = entry_id(entry, number)
        if name in examples:
            raise DatasetError(f"{location}: the id {name!r} was given before; keep one")
        db_id, evidence = field(entry, ("db_id",), location), entry.get("evidence")
        evidence = "" if evidence is None else evidence
        file_ = database_file(Path(databases or ""), db_id, location, there=there and databases is not None)
        if not isinstance(evidence, str):
            raise DatasetError(f"{location}: 'evidence' is not text; write a text or leave it out")
        known = gold or any(key in entry for key in GOLD_KEYS)
        sql = field(entry, GOLD_KEYS, location, may_be_empty=not gold).strip() if known else ""
        examples[name] = Example(
            name, Question(field(entry, ("question",), location), evidence, name), sql, db_id, file_
        )
    if not examples:
        raise DatasetError(f"{document}: has no questions; give a file with some")
    return list(examples.values())


def _entries(document: Document) -> list[tuple[dict[str, object], str]]:
    if document.text.lstrip().startswith("["):
        items = entries_of(json_of(document.text, str(document)), str(document))
        return [(item, f"{document}, entry {number}") for number, item in enumerate(items)]
    return list(json_lines(document))
