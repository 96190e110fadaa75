"""Questions with their queries, to show as examples; ``generate.similar`` finds those that help with a question."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import Document, entries_of, field, json_of
from sqljury.errors import DatasetError

_QUERY: Final = ("query", "SQL", "sql")
"""In this order: beside its ``query`` Spider keeps the same query taken apart, under ``sql``."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A question, the query that answers it, and the name of its database (empty where unknown)."""

    question: str
    sql: str
    database: str = ""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Pool:
    """Examples to choose from; equal only to itself, as what is prepared for choosing is kept for each pool."""

    shots: tuple[Shot, ...]

    @property
    def fingerprint(self) -> str:
        """What tells this pool from others, for the settings of a run."""
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
    """The examples that come with the package, on small databases of this project's own."""
    folder = files(__package__) / "examples"
    listed = sorted((file for file in folder.iterdir() if file.name.endswith(".jsonl")), key=lambda file: file.name)
    documents = [Document(Path(file.name), file.read_bytes()) for file in listed]
    return Pool(tuple(shot for document in documents for shot in _shots(document)))


def _shots(document: Document) -> tuple[Shot, ...]:
    shots = tuple(dict.fromkeys(_shot(entry, place) for entry, place in _entries(document)))
    if not shots:
        raise DatasetError(f"{document}: holds no example; give a file with questions and their queries")
    return shots


def _entries(document: Document) -> list[tuple[dict[str, Any], str]]:
    if document.text.lstrip().startswith("["):
        entries = entries_of(json_of(document.text, str(document)), str(document))
        return [(entry, f"{document}, entry {number}") for number, entry in enumerate(entries)]
    found: list[tuple[dict[str, Any], str]] = []
    for number, line in enumerate(document.lines, 1):
        place = f"{document}, line {number}"
        if not line.strip():
            continue
        entry = json_of(line, place)
        if not isinstance(entry, dict):
            raise DatasetError(f"{place}: is no object; write a JSON list of objects, or one object a line")
        found.append((entry, place))
    return found


def _shot(entry: dict[str, Any], place: str) -> Shot:
    database = entry.get("db_id") or ""
    if not isinstance(database, str):
        raise DatasetError(f"{place}: 'db_id' is no text; give it one or leave it out")
    return Shot(field(entry, ("question",), place).strip(), field(entry, _QUERY, place).strip(), database)
