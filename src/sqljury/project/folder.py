"""A context folder: what a team knows of its databases, in files that git keeps and every way of asking reads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqljury.access.rules import Access
from sqljury.datasets.benchmarks import Benchmark
from sqljury.datasets.pool import Pool, Shot, default, shot_of
from sqljury.datasets.reading import Document, json_lines
from sqljury.datasets.spider import Example
from sqljury.errors import ProjectError
from sqljury.project.settings import NAME, DatabasePart, Settings, expanded, read
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.schema.notes_files import read_bird, read_glossary, read_yaml
from sqljury.types import Privacy, Question
from sqljury.types.question import LEVELS

SETTINGS: Final = "sqljury.toml"
NOTES: Final = "notes.yaml"
GLOSSARY: Final = "glossary.yaml"
IMPORTS: Final = "notes"
EXAMPLES: Final = "examples.jsonl"
FEEDBACK: Final = "feedback.jsonl"

_SQLITE: Final = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Approved:
    """An approved question with its query, the database that it is for, and its file and line."""

    question: str
    sql: str
    database: str
    place: str


@dataclass(frozen=True, slots=True)
class Known:
    """What the folder says of one database; ``url`` may hold a secret and is not shown."""

    name: str
    url: str = field(repr=False)
    schemas: tuple[str, ...]
    recipe: str
    model: str
    privacy: Privacy
    access: Access
    notes: Notes = field(repr=False)
    approved: tuple[Approved, ...] = field(repr=False)

    def session(self, *, examples: bool = True) -> dict[str, Any]:
        """The arguments of ``api.Session`` for this database.

        Approved pairs are worked examples beside those of the package; without ``examples`` none is shown.
        """
        shots = tuple(Shot(pair.question, pair.sql, self.name) for pair in self.approved)
        return {
            "database": self.url,
            "schemas": self.schemas,
            "recipe": self.recipe,
            "model": self.model or None,
            "privacy": self.privacy,
            "access": self.access or None,
            "notes": self.notes,
            "examples": Pool((*shots, *default().shots)) if shots and examples else None,
        }


@dataclass(frozen=True, slots=True)
class Project:
    """A context folder with its settings; the other files are read for the database that is asked."""

    folder: Path
    settings: Settings

    @property
    def names(self) -> tuple[str, ...]:
        """The databases, in the order of the file."""
        return tuple(self.settings.databases)

    @property
    def default(self) -> str:
        """The database that is asked where none is named: the one so marked, or the only one; else empty."""
        return self.settings.default or (self.names[0] if len(self.names) == 1 else "")

    @property
    def privacy(self) -> Privacy:
        """The strictest privacy of the databases: that of a run over all of them."""
        levels = (part.privacy or self.settings.privacy for part in self.settings.databases.values())
        return min(levels, key=LEVELS.index, default=self.settings.privacy)

    def database(self, name: str = "") -> Known:
        """What is known of a database, by default the default one.

        Raises ``ProjectError`` for an unknown name and an environment variable that is not set, ``NotesError`` and
        ``DatasetError`` for files that cannot be read, all with the file and the line or key.
        """
        name = name or self.default
        file = self.folder / SETTINGS
        if not name:
            raise ProjectError(f"{file}: has {len(self.names)} databases and no default; name one with --db")
        if name not in self.settings.databases:
            raise ProjectError(f"{file}: there is no database {name[:80]!r}; known are {', '.join(self.names)}")
        part = self.settings.databases[name]
        recipe = part.recipe or self.settings.recipe
        return Known(
            name,
            self._url(part, f"{file}: databases.{name}.url"),
            part.schemas,
            str(self.folder / recipe) if recipe.endswith(".toml") else recipe,
            part.model or self.settings.model,
            part.privacy or self.settings.privacy,
            Access(part.access.allow, part.access.deny, part.access.mask, part.access.rows),
            self._notes(name, part),
            tuple(pair for pair in self._pairs(part) if pair.database == name),
        )

    def benchmark(self) -> tuple[Benchmark, dict[str, Notes]]:
        """The approved pairs as a dataset, and the notes by database; no pair is shown to a model.

        Raises what ``database`` raises, and ``ProjectError`` where there are no pairs, and for pairs on a database that
        is not a SQLite file or has access rules: runs do not apply these, ``sqljury test`` does.
        """
        examples: list[Example] = []
        notes: dict[str, Notes] = {}
        for name in self.names:
            known = self.database(name)
            if not known.approved:
                continue
            if known.access or not self.is_sqlite(name):
                why = "has access rules" if known.access else "is no SQLite file"
                raise ProjectError(f"{self.folder / SETTINGS}: {name} {why}, so it cannot be run; use sqljury test")
            notes[name] = known.notes
            for number, pair in enumerate(known.approved):
                id_ = f"{name}-{number:04d}"
                asked = Question(pair.question, id=id_)
                examples.append(Example(id_, asked, pair.sql, name, Path(known.url)))
        if not examples:
            raise ProjectError(f"{self.folder}: has no approved examples; add some to {EXAMPLES}")
        content = [(example.id, example.question.text, example.gold_sql) for example in examples], sorted(notes.items())
        digest = hashlib.sha256(repr(content).encode()).hexdigest()[:16]
        dataset = Benchmark("project", self.folder.name, self.folder, ".", tuple(examples), digest, {}, self.privacy)
        return dataset, notes

    def is_sqlite(self, name: str) -> bool:
        """Whether a database is a file of SQLite."""
        try:
            with open(self.database(name).url, "rb") as file:
                return file.read(len(_SQLITE)) == _SQLITE
        except OSError:
            return False

    def notes_file(self, name: str) -> Path:
        """The file that a proposed note on this database belongs in."""
        return self.folder / (next(iter(self.settings.databases[name].notes), NOTES))

    def glossary_file(self, name: str) -> Path:
        """The file that a proposed term of this database belongs in."""
        return self.folder / (self.settings.databases[name].glossary or GLOSSARY)

    def examples_file(self, name: str) -> Path:
        """The file that an approved pair of this database belongs in."""
        return self.folder / (self.settings.databases[name].examples or EXAMPLES)

    def _url(self, part: DatabasePart, location: str) -> str:
        """The URL with its secrets; a path is one in the folder."""
        url = expanded(part.url, location)
        return url if "://" in url else os.path.join(self.folder, os.path.expanduser(url))

    def imports_folder(self, name: str) -> Path:
        """The folder whose YAML files are notes on this database, besides those of its own file."""
        return self.folder / IMPORTS / name if len(self.names) > 1 else self.folder / IMPORTS

    def _notes(self, name: str, part: DatabasePart) -> Notes:
        """The glossary, then the notes; later ones override."""
        notes = NO_NOTES
        glossary = self.folder / (part.glossary or GLOSSARY)
        if part.glossary or glossary.exists():
            notes += read_glossary(glossary)
        paths = [self.folder / given for given in part.notes] or [
            *sorted(self.imports_folder(name).glob("*.yaml")),
            *([self.folder / NOTES] if (self.folder / NOTES).exists() else []),
        ]
        for path in paths:
            notes += read_bird(path) if path.is_dir() else read_yaml(path)
        return notes

    def _pairs(self, part: DatabasePart) -> Iterator[Approved]:
        path = self.folder / (part.examples or EXAMPLES)
        if not (part.examples or path.exists()):
            return
        for entry, location in json_lines(Document.of(path)):
            shot = shot_of(entry, location)
            database = shot.database or self.default
            if database not in self.settings.databases:
                known = ", ".join(self.names)
                problem = f"there is no database {database!r}" if database else "'db_id' is missing"
                raise ProjectError(f"{location}: {problem}; write one of {known} under 'db_id'")
            yield Approved(shot.question, shot.sql, database, location)


def find(start: str | os.PathLike[str] = ".") -> Project | None:
    """The project of the nearest folder at or above ``start`` that has a ``sqljury.toml``; None if there is none.

    Raises what ``load`` raises, and ``ProjectError`` for a file of another user: it chooses the server that gets the
    caller's environment variables.
    """
    here = Path(start).resolve()
    for folder in (here, *here.parents):
        file = folder / SETTINGS
        try:
            owner = file.stat().st_uid if file.is_file() else None
        except OSError:  # a folder that may not be searched
            continue
        if owner is None:
            continue
        if hasattr(os, "getuid") and owner not in (os.getuid(), 0):
            raise ProjectError(f"{file}: belongs to another user; if you trust it, give --project {folder}")
        return load(folder)
    return None


def load(folder: str | os.PathLike[str]) -> Project:
    """The project in this folder; raises ``ProjectError`` if it has no valid ``sqljury.toml``."""
    file = Path(folder) / SETTINGS
    if not file.is_file():
        raise ProjectError(f"{file}: no such file; name the folder that has it, or make one with sqljury init")
    return Project(Path(folder).resolve(), read(file))


def is_name(text: str) -> bool:
    """Whether this may be the name of a database in a folder: it is neither a path with a suffix nor a URL."""
    return NAME.fullmatch(text) is not None
