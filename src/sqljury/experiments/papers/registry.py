"""The tables and figures of the five papers: what each shows, and what of it can be had here.

One TOML file of this folder for each paper, with an ``[[entry]]`` for every table and figure in the paper's order. The
figures in an entry are the paper's, and those that were measured here with the date and the command.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, get_args

from sqljury.errors import InputError

PAPERS: Final = ("rerank", "tssql", "mscsql", "esm+", "chase")
"""The papers by the names of their recipes; ESM+ is a metric."""

Status = Literal["reproduced", "in kind", "not here", "illustration"]

STATUSES: Final[dict[Status, str]] = {
    "reproduced": "the same quantity on the same questions and predictions",
    "in kind": "the same quantity on other data, with another model or a smaller sample",
    "not here": "needs data or models that are not at hand",
    "illustration": "an example, a prompt or a diagram; nothing to measure",
}
"""What each status means."""

PLACEHOLDERS: Final = {
    "data": "SPIDER_DIR",
    "pred": "PRED_DIR",
    "run": "RUN_DIR",
    "expected": "FILE",
    "gold": "GOLD_FILE",
    "suite": "SUITE_DIR",
    "verdicts": "VERDICT_DIR",
}
"""The inputs of ``sqljury reproduce`` by option, with what stands for them in commands."""


class Figure(NamedTuple):
    """A figure with its 95 % interval, where there is one; counts are whole numbers."""

    value: float
    low: float | None = None
    high: float | None = None


Row = tuple[Figure | None, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Figures by row and column, None where there is none; ``notes`` say what they are of."""

    columns: tuple[str, ...]
    rows: Mapping[str, Row]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """Figures that were measured here: when, and by what."""

    date: str
    by: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class Entry:
    """A table or figure of a paper, or several illustrations in a row.

    ``method`` names what computes it here (``reproduce.METHODS``), empty where nothing does. It ``needs`` some inputs
    and can use ``also`` others, both options of ``sqljury reproduce``; ``makes`` are the commands that make them.
    ``why`` says why it cannot be had, or where to look; ``differs`` what in the method is not as in the paper, and
    ``measured`` what of the figures that are kept: their model, sample or dataset.
    """

    paper: str
    name: str
    place: str
    shows: str
    status: Status
    printed: Grid
    method: str = ""
    needs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    why: str = ""
    differs: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def id(self) -> str:
        """As ``sqljury reproduce`` takes it, such as ``esm+/table2``."""
        return f"{self.paper}/{self.name}"

    @property
    def command(self) -> str:
        """The command that computes it, empty where none does."""
        if not self.method:
            return ""
        return " ".join(
            ["sqljury reproduce", self.id, *(f"--{option} {PLACEHOLDERS[option]}" for option in self.needs)]
        )

    @property
    def makes_run(self) -> bool:
        """Whether the commands of ``makes`` make the one run that it is computed from, from the dataset on."""
        making = [command for command in self.makes if "--out RUN_DIR" in command]
        whole = len(making) == 1 and making[0].startswith("sqljury bench spider ")
        return "run" in (*self.needs, *self.also) and whole and all("RUN_DIR" in command for command in self.makes)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with its entries in order."""

    name: str
    title: str
    docs: str
    entries: tuple[Entry, ...]


@cache
def papers() -> tuple[Paper, ...]:
    """The five papers."""
    return tuple(_paper(name) for name in PAPERS)


def entries() -> Iterator[Entry]:
    """The entries of all papers."""
    for paper in papers():
        yield from paper.entries


def find(name: str) -> Entry:
    """The entry with this id; raises ``InputError`` that names those of its paper, or the papers."""
    known = {entry.id: entry for entry in entries()}
    if name in known:
        return known[name]
    paper = name.partition("/")[0]
    listed = [key for key, entry in known.items() if entry.paper == paper and entry.method]
    names = ", ".join(listed) if listed else "those of " + ", ".join(PAPERS)
    raise InputError(f"there is no table {name!r}; known are {names}; `sqljury reproduce` lists all")


def figure(value: float | str | list[float] | None) -> Figure | None:
    """A figure of a file: a number, one with its interval, or an empty text for none."""
    if value is None or isinstance(value, str):
        return None
    return Figure(*value) if isinstance(value, list) else Figure(value)


def _paper(name: str) -> Paper:
    file = files(__package__).joinpath(f"{name.replace('+', '_plus')}.toml")
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    return Paper(name, read["title"], read["docs"], tuple(_entry(name, entry) for entry in read["entry"]))


def _entry(paper: str, read: dict[str, Any]) -> Entry:
    printed, kept = _grid(read.pop("paper", {})), tuple(map(_kept, read.pop("here", [])))
    values = dict(read)
    for key in ("needs", "also", "makes", "differs", "measured"):
        values[key] = tuple(read.get(key, ()))
    entry = Entry(paper=paper, printed=printed, kept=kept, **values)
    if entry.status not in get_args(Status):
        raise ValueError(f"{entry.id}: unknown status {entry.status!r}")
    return entry


def _kept(read: dict[str, Any]) -> Kept:
    return Kept(read.pop("date"), read.pop("by"), _grid(read))


def _grid(read: Mapping[str, Any]) -> Grid:
    rows = {label: tuple(map(figure, cells)) for label, cells in read.get("rows", {}).items()}
    return Grid(tuple(read.get("columns", ())), rows, tuple(read.get("notes", ())))
