"""The databases of a benchmark on the engine of a run: the files as they are, or copies, made when they are needed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import is_file_name
from sqljury.datasets.spider import database_file
from sqljury.engines.gold import views_of
from sqljury.engines.homes import DIALECTS, ENGINES, SERVED, Files, home
from sqljury.engines.source import Source, read
from sqljury.errors import DatasetError
from sqljury.project.folder import load as load_project
from sqljury.resources import Closing, write_whole
from sqljury.types import Privacy

SERVER: Final = "SQLJURY_BENCH_SERVER"
"""The environment variable with the URL of a server to copy databases to; without it one is started."""

WITHIN: Final = "database"
"""Within Spider's folder, where its databases are."""

FOLDER: Final = "databases"
"""Within a run's folder, where copied files are."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine of a run's databases, and whether their keys are left out."""

    name: str = "sqlite"
    strip_keys: bool = False

    @classmethod
    def of(cls, dataset: Mapping[str, Any]) -> Engine:
        """From the settings of a run's dataset; raises ``DatasetError`` for an unknown engine."""
        name, strip = dataset.get("engine", "sqlite"), dataset.get("strip_keys", False)
        if name not in ENGINES or not isinstance(strip, bool):
            raise DatasetError(f"there is no engine {name!r}; known are {', '.join(ENGINES)}")
        return cls(name, strip)

    @property
    def settings(self) -> dict[str, Any]:
        """The entries for a run's settings; none where files are used as they are."""
        named: dict[str, Any] = {"engine": self.name} if self.name != "sqlite" else {}
        return named | ({"strip_keys": True} if self.strip_keys else {})

    @property
    def copies(self) -> bool:
        """Whether databases are copied at all."""
        return bool(self.settings)

    @property
    def dialect(self) -> str:
        """The dialect of its queries."""
        return DIALECTS[self.name]


FILES: Final = Engine()
"""SQLite files as they are."""


class Databases(Closing):
    """The databases under ``data`` on an engine; ``folder`` keeps files that are made, ``server`` is a given one's URL.

    Each is copied when it is first needed, and servers are started then. ``sources`` are the copied ones, without rows.
    ``within`` is the folder of ``data`` that holds ``<db_id>/<db_id>.sqlite``; files elsewhere are ``named``.
    """

    def __init__(
        self,
        data: Path,
        engine: Engine = FILES,
        folder: Path | None = None,
        server: str = "",
        within: str = WITHIN,
        named: Mapping[str, Path] | None = None,
    ) -> None:
        self.data, self.engine, self.files = data, engine, data / within
        self._named = named or {}
        self.sources: dict[str, Source] = {}
        self._targets: dict[str, str] = {}
        self._home = home(self.engine.name, folder or data, server) if self.engine.copies else None

    def file(self, db_id: str) -> Path:
        """The SQLite file of the dataset, whether it is there or not."""
        return self._named.get(db_id, self.files / db_id / f"{db_id}.sqlite")

    def lazy(self, db_id: str) -> os.PathLike[str]:
        """What ``connect`` opens; a copy is made when it is opened."""
        return _Lazy(self, db_id) if self._home is not None else self.file(db_id)

    def target(self, db_id: str) -> str | Path:
        """A path or URL, of a copy that is there; raises ``DatabaseError`` where it cannot be made."""
        if self._home is None:
            return self.file(db_id)
        if db_id not in self._targets:
            database_file(self.files, db_id, "the run")  # before its name is part of a path
            if not self._is_made(db_id):
                self._make(db_id)
        return self._targets[db_id]

    def source(self, db_id: str) -> Source:
        """The database as it is copied, without rows."""
        if db_id not in self.sources:
            database_file(self.files, db_id, "the run")
            self.sources[db_id] = _without_rows(read(self.file(db_id)))
        return self.sources[db_id]

    def close(self) -> None:
        """Remove copies on servers; files stay."""
        if self._home is not None:
            self._home.close()
        self._targets.clear()

    def _is_made(self, db_id: str) -> bool:
        """Whether a file was made by an earlier command, from the file of the dataset as it is now."""
        if not isinstance(self._home, Files):
            return False
        made = self._home.path(db_id)
        try:
            stamp = json.loads(made.with_suffix(".json").read_bytes())
            is_current = made.is_file() and stamp["of"] == _stamp(self.file(db_id), self.engine)
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if is_current:
            self._targets[db_id] = str(made)
        return is_current

    def _make(self, db_id: str) -> None:
        assert self._home is not None
        stamp = _stamp(self.file(db_id), self.engine)
        source = read(self.file(db_id), typed=self.engine.name != "sqlite")
        source = source.without_keys() if self.engine.strip_keys else source
        self._targets[db_id] = self._home.make(db_id, source, views_of(source, self.engine.dialect))
        if isinstance(self._home, Files):
            write_whole(self._home.path(db_id).with_suffix(".json"), json.dumps({"of": stamp}) + "\n")
        if self.engine.name != "sqlite":
            self.sources[db_id] = _without_rows(source)


def of_run(described: Mapping[str, Any], data: Path, folder: Path) -> Databases:
    """The databases of a run in ``folder`` with these settings; close them.

    On a server they are copied to the one that the environment variable ``SQLJURY_BENCH_SERVER`` names, else to one
    that is started.
    """
    dataset = described["dataset"]
    engine, within = Engine.of(dataset), dataset.get("folder", WITHIN)
    if dataset.get("name") == "project":
        project = load_project(data)
        return Databases(data, named={name: Path(project.database(name).url) for name in project.names})
    if "predictions" in dataset:  # a run of `choose` calls the folder so, others their choice of databases
        within = dataset.get("databases", within)
    if not isinstance(within, str) or not is_file_name(within):
        raise DatasetError(f"{folder}: {within!r} is not the name of a folder of databases; run the command again")
    return Databases(data, engine, folder / FOLDER, usual_server(engine), within)


def privacy_of(described: Mapping[str, Any], data: Path) -> Privacy:
    """The most of the databases' content that services may get on a run with these settings: what the folder says."""
    return load_project(data).privacy if described["dataset"].get("name") == "project" else "rows"


def usual_server(engine: Engine) -> str:
    """The URL in the environment variable, for engines that have servers; else empty."""
    return os.environ.get(SERVER, "") if engine.name in SERVED else ""


class _Lazy(os.PathLike[str]):
    """A database that is copied as soon as its path or URL is asked for."""

    def __init__(self, databases: Databases, db_id: str) -> None:
        self._databases, self._db_id = databases, db_id

    def __fspath__(self) -> str:
        return os.fspath(self._databases.target(self._db_id))


def _without_rows(source: Source) -> Source:
    return replace(source, tables=tuple(replace(table, rows=()) for table in source.tables))


def _stamp(file: Path, engine: Engine) -> list[Any]:
    """What a copy depends on."""
    from importlib.metadata import version

    try:
        status = file.stat()
    except OSError:
        return []
    return [version("sqljury"), engine.name, engine.strip_keys, status.st_size, status.st_mtime_ns]
