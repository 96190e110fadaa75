"""How often a model states what gold returns on a small database (Li & Xie 2024, Tables 1 to 3).

Computed from the files of ``benchmarks/expect.py``, each with a line a question and its settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import Document, json_lines
from sqljury.errors import DatasetError
from sqljury.evaluation.report import share_of
from sqljury.evaluation.run_folder import misshapen
from sqljury.experiments.papers.inputs import Inputs, share
from sqljury.experiments.papers.registry import Figure, Grid, Row

Line = Mapping[str, Any]

BASE: Final[Mapping[str, Any]] = {"rows": 5, "form": "csv", "shots": 5, "numbers": False, "draw": "selection"}
"""The paper's base (section 4.2.1): at most five rows a table, drawn from the real ones, CSV, five examples."""

VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Base": {},
    "10 MTS": {"rows": 10},
    "15 MTS": {"rows": 15},
    "Fuzzing": {"draw": "fuzzing"},
    "SQLite Format": {"form": "sqlite"},
    "7-shot": {"shots": 7},
    "9-shot": {"shots": 9},
}
"""The columns of Table 1: what each changes of the base."""

_LINE: Final[dict[str, type | tuple[type, ...]]] = {"gold": str, "exact": bool, "settings": dict}


def by_setting(inputs: Inputs) -> Grid:
    """Table 1: right results in percent by setting, without the number constraint."""
    rows: dict[str, dict[str, Figure]] = {}
    notes = []
    for file, lines in _files(inputs):
        settings = lines[0]["settings"]
        column = _variant(settings)
        if column is None or settings.get("numbers"):
            notes.append(f"{file.name}: settings of no column of this table")
            continue
        rows.setdefault(_model(settings), {})[column] = _share(lines)
        notes.append(f"{file.name}: {len(lines)} questions")
    columns = tuple(VARIANTS)
    return Grid(
        columns, {label: tuple(cells.get(column) for column in columns) for label, cells in rows.items()}, tuple(notes)
    )


def by_clause(inputs: Inputs) -> Grid:
    """Table 2: the same by ORDER BY and GROUP BY in gold, numbers as they are."""
    heads = ("Order by: have", "Order by: not have", "Group by: have", "Group by: not have")
    return _by_clause(inputs, numbers=False, heads=heads)


def constrained(inputs: Inputs) -> Grid:
    """Table 3: the same with the number constraint."""
    return _by_clause(inputs, numbers=True, heads=("Order by", "Group by"))


def _by_clause(inputs: Inputs, *, numbers: bool, heads: Sequence[str]) -> Grid:
    rows: dict[str, Row] = {}
    notes = []
    for file, lines in _files(inputs):
        settings = lines[0]["settings"]
        if bool(settings.get("numbers")) is not numbers:
            notes.append(f"{file.name}: {'with' if settings.get('numbers') else 'without'} the number constraint")
            continue
        shares = []
        for word in ("order", "group"):
            with_it = [line for line in lines if has(line["gold"], word)]
            without = [line for line in lines if not has(line["gold"], word)]
            shares += [_share(with_it)] if numbers else [_share(with_it), _share(without)]
        label = _model(settings)
        rows[f"{label}, {file.name}" if label in rows else label] = tuple(shares)
        notes.append(f"{file.name}: {len(lines)} questions")
    return Grid(tuple(heads), rows, tuple(notes))


def has(sql: str, word: str) -> bool:
    """Whether ORDER BY (``order``) or GROUP BY (``group``) stands anywhere in a query."""
    return re.search(rf"\b{word}\s+by\b", sql, re.IGNORECASE) is not None


def _files(inputs: Inputs) -> Iterator[tuple[Path, list[Line]]]:
    """The lines of each file; raises ``DatasetError`` for one that is none of ``benchmarks/expect.py``."""
    for file in inputs.expected:
        lines: list[Line] = []
        for line, location in json_lines(Document.of(file)):
            if fault := misshapen(line, _LINE):
                raise DatasetError(f"{location}: {fault}; give a file of benchmarks/expect.py")
            lines.append(line)
        if not lines:
            raise DatasetError(f"{file}: has no lines; give a file of benchmarks/expect.py")
        yield file, lines


def _variant(settings: Mapping[str, Any]) -> str | None:
    """The column of Table 1 that has these settings."""
    for name, change in VARIANTS.items():
        if {"draw": "selection", **settings}.items() >= {**BASE, **change}.items():
            return name
    return None


def _model(settings: Mapping[str, Any]) -> str:
    return str(settings.get("model") or "embedded model")


def _share(lines: Sequence[Line]) -> Figure:
    return share(share_of(bool(line["exact"]) for line in lines).figures())
