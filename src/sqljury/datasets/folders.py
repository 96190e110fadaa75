"""Where a benchmark keeps its databases: ``<folder>/<db_id>/*.sqlite``, one file or a test suite of several."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sqljury.datasets.pairs import Gold
from sqljury.errors import DatasetError


def database_files(folder: str | Path, golds: Iterable[Gold], *, all_there: bool = True) -> dict[str, tuple[Path, ...]]:
    """From each database the queries name to its files, ``<db_id>.sqlite`` first and the rest by name.

    Raises ``DatasetError`` that names the first query on an unknown database. Unless ``all_there``, unknown ones are
    left out, as long as one is known.
    """
    found: dict[str, tuple[Path, ...]] = {}
    root = Path(folder)
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder; give the one that holds <db_id>/<db_id>.sqlite")
    missing: list[Gold] = []
    for gold in golds:
        if gold.db_id not in found:
            found[gold.db_id] = _files(root, gold.db_id)
            missing += [] if found[gold.db_id] else [gold]
    if missing and (all_there or len(missing) == len(found)):
        name = missing[0].db_id
        raise DatasetError(
            f"{missing[0].place}: there is no database {name!r} in {root} ({name}/{name}.sqlite); add it"
        )
    return {name: files for name, files in found.items() if files}


def _files(root: Path, name: str) -> tuple[Path, ...]:
    """The database's own file and those beside it; none where there is no such database."""
    # A name, not a path: what a file says does not choose which file outside the folder is opened.
    if Path(name).name == name and name != ".." and "\0" not in name:
        own = root / name / f"{name}.sqlite"
        if own.is_file():
            return own, *sorted(file for file in own.parent.glob("*.sqlite") if file != own)
    return ()
