"""Questions with their queries, to show as examples; ``generate.fewshot`` chooses those similar to a question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import Document, entries_of, field, json_of
from sqljury.errors import DatasetError

_QUERY: Final = ("query", "SQL", "sql")
"""In this order: Spider has the query under ``query``, and the same query parsed under ``sql``."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A question, the query that answers it, and the name of its database (empty where unknown)."""

    question: str
    sql: str
    database: str = ""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Pool:
    """Examples to choose from; a pool equals only itself, since its index is kept for it."""

    shots: tuple[Shot, ...]

    @property
    def fingerprint(self) -> str:
        """A hash of the examples, for the settings of a run."""
        return hashlib.sha256(repr(self.shots).encode()).hexdigest()[:16]


def load(path: str | Path) -> Pool:
    """The examples of a file, each once: a JSON list of objects, or one object a line.

    The question is under ``question``, the query under ``query``, ``SQL`` or ``sql``, the database's name, where there
    is one, under ``db_id``: so do Spider's ``train.json`` and BIRD's. Raises ``DatasetError`` that names the file, the
    entry or line, and what is wrong with it.
    """
    return Pool(_shots(Document.of(path)))


@cache
def default() -> Pool:
    """The examples of the package, on small databases of this project."""
    folder = files(__package__) / "examples"
    listed = sorted((file for file in folder.iterdir() if file.name.endswith(".jsonl")), key=lambda file: file.name)
    documents = [Document(Path(file.name), file.read_bytes()) for file in listed]
    return Pool(tuple(shot for document in documents for shot in _shots(document)))


def _shots(document: Document) -> tuple[Shot, ...]:
    shots = tuple(dict.fromkeys(shot_of(entry, where) for entry, where in _entries(document)))
    if not shots:
        raise DatasetError(f"{document}: holds no example; give a file with questions and their queries")
    return shots


def _entries(document: Document) -> list[tuple[dict[str, Any], str]]:
    if document.text.lstrip().startswith("["):
        listed = entries_of(json_of(document.text, str(document)), str(document))
        return [(entry, f"{document}, entry {number}") for number, entry in enumerate(listed)]
    entries: list[tuple[dict[str, Any], str]] = []
    for number, line in enumerate(document.lines, 1):
        where = f"{document}, line {number}"
        if not line.strip():
            continue
        entry = json_of(line, where)
        if not isinstance(entry, dict):
            raise DatasetError(f"{where}: is not an object; write a JSON list of objects, or one object a line")
        entries.append((entry, where))
    return entries


def shot_of(entry: Mapping[str, Any], where: str) -> Shot:
    """The example in an entry of a file, at ``where``; raises ``DatasetError`` for a field without text."""
    database = entry.get("db_id") or ""
    if not isinstance(database, str):
        raise DatasetError(f"{where}: 'db_id' is not a text; give it one or leave it out")
    return Shot(field(entry, ("question",), where).strip(), field(entry, _QUERY, where).strip(), database)
