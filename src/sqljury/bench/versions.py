"""What a run's answers rest on beside its settings: code, prompts, models, databases and notes, by hashes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.spider import Example
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, QueryError
from sqljury.pipeline import Pipeline
from sqljury.schema.notes import Notes
from sqljury.types import Row

_AFTERWARDS: Final = frozenset(
    {"audit", "bench", "cli", "evaluation", "experiments", "mcp", "metrics", "prompts", "train", "web"}
)
"""Folders of the package that do not shape an answer, and that of the prompts, which have a hash of their own."""

_SOURCES: Final = (".py", ".json", ".toml", ".sql", ".jsonl", ".txt")


def versions(pipeline: Pipeline) -> dict[str, object]:
    """The hashes, and what each model says that its replies depend on beside its name, such as its weights' hash."""
    models = {model.name: str(getattr(model, "identity", model.name)) for model in (pipeline.model, *pipeline.others())}
    return {
        "code": code_hash(),
        "prompts": prompt_hash(),
        "identities": {name: identity for name, identity in models.items() if identity != name},
    }


def data_versions(examples: Sequence[Example], notes: Mapping[str, Notes]) -> dict[str, Any]:
    """A hash of the questions' databases, by schemas and sizes, and by name that of the ``notes`` on each.

    Files may be copied: neither their times nor their places count. A database that cannot be read counts with its
    size and is named as ``unreadable``; its questions are answered with an error.
    """
    files_ = sorted({example.db_id: Path(example.database) for example in examples}.items())
    contents = {name: _contents(file) for name, file in files_}
    hashes: dict[str, Any] = {"schemas": _digest([(name, size, rows or []) for name, (size, rows) in contents.items()])}
    if unreadable := [name for name, (_, rows) in contents.items() if rows is None]:
        hashes["unreadable"] = unreadable
    if notes:
        hashes["notes"] = {name: database_notes.fingerprint for name, database_notes in sorted(notes.items())}
    return hashes


def refuse_if_gone(error: str | None, dataset: Mapping[str, Any], db_id: str, database: str | os.PathLike[str]) -> None:
    """Raise ``DatabaseError`` for a question with an ``error`` whose database cannot be opened any more.

    That is one which was readable when the run began, as its settings say of the ``dataset``. All questions on it would
    end with the same error, which is none of theirs, and would count as wrong answers.
    """
    if not error or "schemas" not in dataset or db_id in dataset.get("unreadable", ()):
        return
    try:
        with connect(database):
            return
    except DatabaseError:
        raise DatabaseError(
            f"{db_id}: cannot be opened any more ({error}); once it can be, the same command goes on with the run"
        ) from None


def _contents(file: Path) -> tuple[int, list[Row] | None]:
    """The size of a database, and its schema; None where it cannot be read."""
    size = file.stat().st_size if file.is_file() else 0
    try:
        with connect(file) as db:
            return size, db.catalog("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    except (DatabaseError, QueryError):
        return size, None


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()[:16]


@cache
def code_hash() -> str:
    """A hash of the modules and data of the package that shape answers."""
    package = files("sqljury")
    parts = [part for part in package.iterdir() if part.name not in _AFTERWARDS]
    return _hash(file for part in parts for file in _within(part, part.name, _SOURCES))


@cache
def prompt_hash() -> str:
    """A hash of all prompts."""
    return _hash(_within(files("sqljury") / "prompts", "prompts", (".md", ".py")))


def _within(part: Traversable, path: str, endings: tuple[str, ...]) -> Iterator[tuple[str, Traversable]]:
    if part.is_file():
        if part.name.endswith(endings):
            yield path, part
        return
    for child in part.iterdir():
        if child.name != "__pycache__":
            yield from _within(child, f"{path}/{child.name}", endings)


def _hash(sources: Iterator[tuple[str, Traversable]]) -> str:
    digest = hashlib.sha256()
    for path, file in sorted(sources, key=lambda item: item[0]):
        digest.update(f"{path}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]
