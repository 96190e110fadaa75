"""Reads files as text and JSON, with errors that name the file and the line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqljury.errors import DatasetError

GOLD_KEYS: Final = ("gold", "query", "SQL", "sql")
"""What gold queries are called in files of questions: by users, by Spider, by BIRD, and in stored answers."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's path and content, read once: a pipe can be read only once, and what is judged must be what is hashed.

    ``str`` of it is the path, for messages.
    """

    file: Path
    raw: bytes

    @classmethod
    def of(cls, file: str | Path | Document) -> Document:
        """The document at this path, or the given document; raises ``DatasetError`` if it cannot be read."""
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
        """The text with line ends ``\\n``; raises ``DatasetError`` if it is not UTF-8."""
        try:
            text = self.raw.decode("utf-8-sig")
            wrong = self.raw.find(b"\0")  # UTF-16 without its mark, or no text at all
        except UnicodeDecodeError as error:
            text, wrong = "", error.start
        if wrong >= 0:
            line = self.raw.count(b"\n", 0, wrong) + 1
            raise DatasetError(f"{self}, line {line}: is not UTF-8 text; convert the file")
        return text.replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        """The lines without their ends; only ``\\n`` ends a line."""
        lines = self.text.split("\n")
        return lines if lines[-1] else lines[:-1]


def json_of(text: str, location: str) -> Any:
    """The JSON value of a text; raises ``DatasetError``, also for a repeated key, of which JSON would keep one."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, location))
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) and "\n" in text else ""
        raise DatasetError(f"{location}{line}: is not JSON ({error}); write the file again") from None


def json_lines(document: Document) -> Iterator[tuple[dict[str, Any], str]]:
    """The JSON object on each line that is not blank, with its location; raises ``DatasetError`` for other lines."""
    for line, location in filled_lines(document):
        yield json_object(line, location), location


def filled_lines(document: Document) -> Iterator[tuple[str, str]]:
    """The lines that are not blank, with their locations."""
    for number, line in enumerate(document.lines, 1):
        if line.strip():
            yield line, f"{document}, line {number}"


def json_object(line: str, location: str) -> dict[str, Any]:
    """The JSON object that the text is; raises ``DatasetError`` for another value."""
    entry = json_of(line, location)
    if not isinstance(entry, dict):
        raise DatasetError(f"{location}: is not a JSON object; write the line again")
    return entry


def field(entry: Mapping[str, Any], names: Iterable[str], location: str, *, may_be_empty: bool = False) -> str:
    """The text under the first of these names that the entry has; null counts as empty.

    Raises ``DatasetError`` if there is none, for another type, and for an empty text unless it ``may_be_empty``.
    """
    for name in names:
        if name in entry:
            value = entry[name]
            if may_be_empty and value is None:
                return ""
            if not isinstance(value, str) or not (may_be_empty or value.strip()):
                raise DatasetError(f"{location}: {name!r} is not a text or is empty; write one")
            return value
    wanted = " or ".join(repr(name) for name in names)
    raise DatasetError(f"{location}: has no {wanted}; add it")


def entry_id(entry: Mapping[str, Any], number: int) -> str:
    """The id of a question in a file: its ``id`` or ``question_id``, else its ``number`` there."""
    return str(entry.get("id", entry.get("question_id", number)))


def some_text(entries: Iterable[Mapping[str, Any]], names: Sequence[str]) -> bool:
    """Whether any entry has text under one of these names; if so, an empty query is a single bad question."""
    return any(isinstance(entry.get(name), str) and entry[name].strip() for entry in entries for name in names)


def entries_of(items: Any, location: str) -> list[dict[str, Any]]:
    """``items`` as a list of objects; raises ``DatasetError``, which names the entry, counted from 0."""
    if not isinstance(items, list):
        raise DatasetError(f"{location}: is not a list of objects; give another format or file")
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise DatasetError(f"{location}, entry {number}: is not an object; write the file again")
    return items


def is_file_name(name: str) -> bool:
    """Whether a name from a file may become a part of a path: it must not lead out of the folder."""
    return Path(name).name == name and name != ".." and "\0" not in name


def _object(pairs: list[tuple[str, Any]], location: str) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise DatasetError(f"{location}: has the key {key!r} twice; keep one")
        entries[key] = value
    return entries
