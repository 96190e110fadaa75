"""A test suite on disk: ``<folder>/<db_id>/<name>.sqlite``, and a manifest with seeds and hashes."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

from sqljury.errors import DatabaseError, DatasetError
from sqljury.resources import must_write, write_whole
from sqljury.testing.cells import quoted
from sqljury.types import Row, Schema, Table

MANIFEST: Final = "suite.json"
VERSION: Final = 2
_MEMBER: Final = re.compile(r"fuzz_\d{3,}\.sqlite")
_UNFINISHED: Final = re.compile(r"\.(suite\.json|fuzz_\d{3,}\.sqlite)\.\w+\.part")
"""What a build leaves that is killed while it writes; see ``resources.write_whole``."""


@dataclass(frozen=True, slots=True)
class Member:
    """One database of a suite; ``unsettled`` are hashes of the gold queries whose answer there is a matter of luck.

    ``kills`` counts the neighbours that it tells from gold and no member before it does.
    """

    file: str
    seed: str
    sha256: str
    kills: int
    unsettled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """The suite of one database; ``inputs`` is a hash of all it was built from.

    Of the ``neighbours`` that run, the suite tells ``killed`` from gold; some of the others mean what gold means.
    ``queries`` are hashes of the gold queries: of any other nobody knows whether its answer is a matter of luck.
    """

    inputs: str
    neighbours: int
    killed: int
    queries: tuple[str, ...]
    members: tuple[Member, ...]


def write_database(file: Path, schema: Schema, rows: Mapping[str, Sequence[Row]], *, plain: bool = False) -> None:
    """Write a new database; ``plain`` leaves keys out and turns the order of the rows round.

    Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    try:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("BEGIN")
            for table in (table for table in schema.tables if not table.is_view):
                connection.execute(create_table(table, plain=plain))
                marks = ", ".join("?" * len(table.columns))
                listed = list(rows[table.name])
                insert = f"INSERT INTO {quoted(table.name)} VALUES ({marks})"  # noqa: S608 - a quoted name
                connection.executemany(insert, listed[::-1] if plain else listed)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise DatabaseError(f"{schema.name}: its schema cannot be written to a new database ({error})") from None


def create_table(table: Table, *, plain: bool = False, checks: Sequence[str] = ()) -> str:
    """The statement that makes this table anew; ``plain`` leaves keys and ``checks``, conditions on a row, out."""
    lines = []
    for column in table.columns:
        # INT has the affinity of INTEGER, but as a primary key does not decide the order of the rows.
        declared = "INT" if plain and column.type.upper() == "INTEGER" else column.type
        type_ = quoted(declared) if declared else ""
        lines.append(f"{quoted(column.name)} {type_}" + (" NOT NULL" if column.not_null and not plain else ""))
        if table.primary_key == (column.name,) and column.type.upper() == "INTEGER" and not plain:
            lines[-1] = f"{quoted(column.name)} INTEGER PRIMARY KEY"
    if not plain:
        lines += [*_keys(table), *(f"CHECK ({check})" for check in checks)]
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(lines)})"


def _keys(table: Table) -> list[str]:
    def names(columns: Sequence[str]) -> str:
        return ", ".join(quoted(column) for column in columns)

    types = {column.name: column.type.upper() for column in table.columns}
    lines = []
    for key in unique_keys(table):
        if key != table.primary_key:
            lines.append(f"UNIQUE ({names(key)})")
        elif len(key) > 1 or types[key[0]] != "INTEGER":
            lines.append(f"PRIMARY KEY ({names(key)})")
    return lines + [
        f"FOREIGN KEY ({names(key.columns)}) REFERENCES {quoted(key.ref_table)} ({names(key.ref_columns)})"
        for key in table.foreign_keys
    ]


def unique_keys(table: Table) -> tuple[tuple[str, ...], ...]:
    """The columns that identify a row, where there are some, and those of each unique key."""
    single = [(column.name,) for column in table.columns if column.unique]
    return tuple(dict.fromkeys(key for key in (table.row_key, *table.unique_keys, *single) if key))


def query_hash(sql: str) -> str:
    """What a manifest calls a query."""
    return sha256(sql.encode()).hexdigest()[:16]


def file_hash(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def claim(folder: str | Path, databases: str | Path) -> None:
    """Make the folder of a suite, or see that it is one and holds nothing else; ``databases`` is the user's folder.

    Raises ``DatasetError`` for a folder in or around the user's databases, one with other files, or one that cannot
    be written: files of a suite replace what has their names, and beside a database they count as its test suite.
    """
    root, user_folder = Path(folder), Path(databases).resolve()
    if root.resolve().is_relative_to(user_folder) or user_folder.is_relative_to(root.resolve()):
        raise DatasetError(
            f"{root}: is the folder of the databases, or in or around it; name a new folder for the suite"
        )
    with must_write(root, DatasetError, "name another folder"):
        root.mkdir(parents=True, exist_ok=True)
        foreign = _foreign(root)
        if foreign is not None:
            raise DatasetError(f"{root}: holds {foreign.name!r}, which is no part of a suite; name a new folder")
        save(root, load(root))


def _foreign(root: Path) -> Path | None:
    """Something there that no build wrote; without a manifest, anything."""
    files = list(root.iterdir())
    if not (root / MANIFEST).is_file():
        return min(files, default=None)
    for file in sorted(files):
        if file.is_symlink() or (file.is_file() and file.name != MANIFEST and not _UNFINISHED.fullmatch(file.name)):
            return file
        for inner in sorted(file.iterdir()) if file.is_dir() else ():
            known = _MEMBER.fullmatch(inner.name) or _UNFINISHED.fullmatch(inner.name)
            if not known or inner.is_symlink() or not inner.is_file():
                return inner
    return None


def load(folder: str | Path) -> dict[str, Entry]:
    """The manifest's entries by database, none where there is no manifest; raises ``DatasetError`` for a broken one."""
    file = Path(folder) / MANIFEST
    if not file.is_file():
        return {}
    try:
        listed: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if listed["version"] != VERSION:
            raise DatasetError(
                f"{file}: is of version {listed['version']}, not {VERSION}; build the suite anew, in a new folder"
            )
        return {name: _entry(fields) for name, fields in listed["databases"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DatasetError(f"{file}: is no manifest of a suite ({error}); build the suite anew") from None


def _entry(fields: dict[str, Any]) -> Entry:
    members = tuple(Member(**{**member, "unsettled": tuple(member["unsettled"])}) for member in fields["members"])
    return Entry(**{**fields, "queries": tuple(fields["queries"]), "members": members})


def save(folder: str | Path, entries: Mapping[str, Entry]) -> None:
    """Write the manifest; one that is there is replaced at once or not at all."""
    root = Path(folder)
    text = json.dumps({"version": VERSION, "databases": {k: asdict(v) for k, v in sorted(entries.items())}}, indent=1)
    write_whole(root / MANIFEST, text + "\n")


def intact(folder: str | Path, db_id: str, entry: Entry) -> bool:
    """Whether every file of the entry is there as it was written."""
    files = list(_files(folder, db_id, entry))
    return all(file.is_file() and file_hash(file) == member.sha256 for file, member in files)


def _files(folder: str | Path, db_id: str, entry: Entry) -> Iterator[tuple[Path, Member]]:
    for member in entry.members:
        yield Path(folder) / db_id / member.file, member


def databases(folder: str | Path, db_id: str, entry: Entry) -> list[tuple[Path, Member]]:
    """The entry's files and what is known of each; raises ``DatasetError`` for one that is gone or was changed."""
    files = list(_files(folder, db_id, entry))
    for file, member in files:
        if Path(member.file).name != member.file or not file.is_file() or file_hash(file) != member.sha256:
            raise DatasetError(f"{file}: is gone or not as the suite was built; build the suite anew")
    return files
