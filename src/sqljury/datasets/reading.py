"""What the readers of files share: text and JSON, with errors that name the file and the line.

Judgements by hand: a file that says of each pair whether the prediction is right.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqljury.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content, read once: a pipe, as of ``<(...)``, gives it only once, and what is judged is what is hashed.

    As text it is the path, for messages.
    """

    file: Path
    raw: bytes

    @classmethod
    def of(cls, file: str | Path | Document) -> Document:
        """The document at this path, or the one given; raises ``DatasetError`` where it cannot be read."""
        if isinstance(file, Document):
            return file
        path = Path(file)
        try:
            return cls(path, path.read_bytes())
        except OSError as error:
            message = f"{path}: cannot be read ({error.strerror}); check the path and its permissions"
            raise DatasetError(message) from None

    def __str__(self) -> str:
        return str(self.file)

    @property
    def text(self) -> str:
        """Line ends are ``\\n``; raises ``DatasetError`` where it is not UTF-8."""
        try:
            text = self.raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.raw.count(b"\n", 0, error.start) + 1
            raise DatasetError(f"{self}, line {line}: is not UTF-8 text; convert the file") from None
        return text.replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        """Without their ends; other characters that count as line ends elsewhere are left in the line."""
        lines = self.text.split("\n")
        return lines if lines[-1] else lines[:-1]


def json_of(text: str, place: str) -> Any:
    """What the text holds; a key that is given twice is refused, for JSON would keep one of them unasked."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, place))
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) and "\n" in text else ""
        raise DatasetError(f"{place}{line}: is no JSON ({error}); write the file again") from None


def field(entry: Mapping[str, Any], names: Iterable[str], place: str, *, may_be_empty: bool = False) -> str:
    """The text under the first of these names that is there; raises ``DatasetError`` for none, or one without text.

    Where it ``may_be_empty`` it may also be null.
    """
    for name in names:
        if name in entry:
            value = entry[name]
            if may_be_empty and value is None:
                return ""
            if not isinstance(value, str) or not (may_be_empty or value.strip()):
                raise DatasetError(f"{place}: {name!r} is no text; give it one")
            return value
    wanted = " or ".join(repr(name) for name in names)
    raise DatasetError(f"{place}: has no {wanted}; add it")


def some_text(entries: Iterable[Mapping[str, Any]], names: Sequence[str]) -> bool:
    """Whether any entry has text under one of these names: then a gold query that is empty is one bad question."""
    return any(isinstance(entry.get(name), str) and entry[name].strip() for entry in entries for name in names)


def entries_of(items: Any, place: str) -> list[dict[str, Any]]:
    """A list of objects as such; raises ``DatasetError`` that names the entry, counted from 0."""
    if not isinstance(items, list):
        raise DatasetError(f"{place}: holds no list of objects; give another format or file")
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise DatasetError(f"{place}, entry {number}: is no object; write the file again")
    return items


def _object(pairs: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DatasetError(f"{place}: has the key {key!r} twice; keep one")
        found[key] = value
    return found


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
