"""Reads Spider (Yu et al. 2018), or another benchmark in its layout, from a folder.

The folder holds ``dev.json``, ``train.json`` or its two parts as downloaded, and ``database/<db_id>/<db_id>.sqlite``.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from sqljury.datasets.reading import is_file_name
from sqljury.errors import DatasetError, InputError
from sqljury.types import Candidate, Question

T = TypeVar("T")

SPLITS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "dev": (("dev.json",),),
    "train": (("train.json",), ("train_spider.json", "train_others.json")),
}
"""By split, the sets of files that make it up; the first complete set is read."""

_KEYS: Final = ("question", "query", "db_id")


@dataclass(frozen=True, slots=True)
class Example:
    """One question of a benchmark; ``id``, also that of ``question``, is split and position, such as ``dev-0017``.

    Asked of a copy on another engine, ``gold_sql`` is in its dialect, ``source_gold`` what the file has, and
    ``hardness`` that query's level. ``candidates`` are queries of other systems, which are given, not written.
    ``interaction`` numbers the dialogue of which the question is a turn, None outside of dialogues.
    """

    id: str
    question: Question
    gold_sql: str
    db_id: str
    database: os.PathLike[str]
    source_gold: str = ""
    hardness: str = ""
    candidates: tuple[Candidate, ...] = ()
    interaction: int | None = None


def load(directory: str | Path, split: str, *, databases: bool = True) -> list[Example]:
    """All examples of a split in the order of its files, numbered across files.

    Entries are objects with the texts ``question``, ``query`` and ``db_id``, and optionally ``evidence``, as in BIRD.
    Without ``databases`` the database files are not required. Raises ``DatasetError``, which names file and entry
    (counted from 0), for an unknown split, a missing or malformed file, and a missing database.
    """
    folder = Path(directory)
    examples: list[Example] = []
    for file in files(folder, split):
        for number, entry in enumerate(_read(file)):
            location = f"{file}, entry {number}"
            examples.append(_example(entry, location, folder, f"{split}-{len(examples):04d}", databases))
    return examples


def database_file(folder: Path, db_id: str, place: str, *, there: bool = True) -> Path:
    """``<db_id>/<db_id>.sqlite`` in a folder; if it must be ``there``, raises ``DatasetError`` when it is not."""
    file = folder / db_id / f"{db_id}.sqlite"
    if not is_file_name(db_id) or (there and not file.is_file()):
        raise DatasetError(f"{place}: there is no database {db_id!r} ({file}); add the file or remove the entry")
    return file


def sample(items: Sequence[T], limit: int | None, seed: int) -> list[T]:
    """``limit`` of the items, chosen by ``seed``, in their order; all items if ``limit`` is None or not smaller.

    Their positions are ``random.Random(seed).sample(range(len(items)), limit)``, sorted. Raises ``InputError`` for a
    limit below 1.
    """
    if limit is not None and limit < 1:
        raise InputError(f"the limit is {limit}; give at least 1, or none for all")
    if limit is None or limit >= len(items):
        return list(items)
    chosen = random.Random(seed).sample(range(len(items)), limit)  # noqa: S311
    return [items[position] for position in sorted(chosen)]


def files(folder: Path, split: str) -> list[Path]:
    """The files of a split; raises ``DatasetError`` for an unknown split and for files that are not there."""
    if split not in SPLITS:
        raise DatasetError(f"Spider has no split {split!r}; give one of {', '.join(SPLITS)}")
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder; give the one that Spider was unpacked into")
    for names in SPLITS[split]:
        paths = [folder / name for name in names]
        if all(file.is_file() for file in paths):
            return paths
    wanted = ", or ".join(" and ".join(names) for names in SPLITS[split])
    raise DatasetError(f"{folder}: there is no {wanted}; give the folder that Spider was unpacked into")


def _read(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_bytes())
    except OSError as error:
        raise DatasetError(f"{file}: cannot be read ({error.strerror}); check its permissions") from None
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{file}: is not JSON ({error}); download Spider again") from None
    if not isinstance(entries, list):
        raise DatasetError(f"{file}: is not a list of questions; use Spider's original file")
    return entries


def _example(entry: Any, location: str, folder: Path, name: str, databases: bool) -> Example:
    if not isinstance(entry, dict):
        raise DatasetError(f"{location}: is not an object; use Spider's original file")
    for key in _KEYS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise DatasetError(f"{location}: has no text for {key!r}; add it or remove the entry")
    evidence = entry.get("evidence", "")
    if not isinstance(evidence, str):
        raise DatasetError(f"{location}: 'evidence' is not text; write a text or leave it out")
    database = database_file(folder / "database", entry["db_id"], location, there=databases)
    return Example(name, Question(entry["question"], evidence, name), entry["query"], entry["db_id"], database)
