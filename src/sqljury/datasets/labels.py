"""Judgements by hand: a file that says of each pair whether the prediction is right."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqljury.datasets.reading import Document
from sqljury.errors import DatasetError

_MEANINGS: Final = {"0": 0.0, "1": 1.0, "": None}


def read_labels(file: str | Path | Document, total: int) -> list[float | None]:
    """For each of ``total`` pairs 1 for right, 0 for wrong, None where nobody judged.

    The file is a TSV table with a header in which ``index`` (counted from 0) and ``right`` stand, in any order and
    beside any other columns, so that the table of ``sqljury eval --per-query`` can be filled in by hand. Raises
    ``DatasetError`` that names the line.
    """
    document = Document.of(file)
    header, *lines = [line.split("\t") for line in document.lines] or [[]]
    names = [name.strip().lower() for name in header]
    if not {"index", "right"} <= set(names):
        raise DatasetError(f"{file}: has no header with the columns index and right, tabs between; add one")
    index, right = names.index("index"), names.index("right")
    found: dict[int, float | None] = {}
    for number, cells in enumerate(lines, 2):
        if not any(cell.strip() for cell in cells):
            continue
        place = f"{file}, line {number}"
        if len(cells) <= index or not (text := cells[index].strip()).isdecimal() or int(text) >= total:
            raise DatasetError(f"{place}: names no pair; they are counted from 0 to {total - 1}")
        if int(text) in found:
            raise DatasetError(f"{place}: pair {text} was judged before; leave one of the lines out")
        judged = cells[right].strip() if len(cells) > right else ""
        if judged not in _MEANINGS:
            raise DatasetError(f"{place}: {judged[:20]!r} is no judgement; write 1 for right, 0 for wrong, or nothing")
        found[int(text)] = _MEANINGS[judged]
    if not any(label is not None for label in found.values()):
        raise DatasetError(f"{file}: judges no pair; write 1 or 0 into the column right")
    return [found.get(place) for place in range(total)]
