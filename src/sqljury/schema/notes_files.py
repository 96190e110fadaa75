"""Reads notes on a database from files: YAML written by a user, and BIRD's ``database_description`` folders.

docs/schema.md describes both formats.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury.errors import NotesError
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.schema.notes import Item, Join, Notes

YAML_BYTES: Final = 2 * 1024 * 1024
YAML_DEPTH: Final = 8
CSV_BYTES: Final = 4 * 1024 * 1024
CSV_FILES: Final = 5_000

_NULLS: Final = ("", "~", "null", "Null", "NULL")
_PART: Final = r"(?:\"(?:[^\"]|\"\")+\"|`(?:[^`]|``)+`|\[[^\]]+\]|[^\s.\"`\[\]=]+)"
_END: Final = rf"({_PART}(?:\.{_PART})+)"
_EQUALS: Final = regex(rf"{_END}\s*=\s*{_END}")
_AND: Final = regex(r"\s+and\s+", re.IGNORECASE)
_SECTIONS: Final = ("tables", "glossary", "formulas", "rules", "joins", "not_joins")
_OF_A_TABLE: Final = ("description", "synonyms", "columns")
_OF_A_COLUMN: Final = ("description", "synonyms", "values")

_NAME: Final = "original_column_name"
_FIELDS: Final = (_NAME, "column_name", "column_description", "data_format", "value_description")
_CODE: Final = regex(r"[^\w+\-]*([\w+\-./]{1,30})[\"']?\s*[:=：]\s*(\S.*)")
_LABEL: Final = regex(r"\W*(commonsense|common sense)\s+(evidence|reasoning)\W*", re.IGNORECASE)
_NO_CODES: Final = frozenset(("note", "notes", "evidence", "http", "https", "e.g", "eg", "i.e", "example", "ps"))
_SWALLOWED: Final = 3
"""This many lines with a column's worth of commas inside one cell show that a stray quote has swallowed them."""


def load(*paths: str | os.PathLike[str]) -> Notes:
    """The notes of YAML files and BIRD folders; YAML overrides folders, and a later path an earlier one.

    Raises ``NotesError`` for a path that cannot be read.
    """
    folders = [path for path in paths if os.path.isdir(path)]
    notes = Notes()
    for path in folders:
        notes += read_bird(path)
    for path in paths:
        if path not in folders:
            notes += read_yaml(path)
    return notes


def read_yaml(path: str | os.PathLike[str]) -> Notes:
    """The notes in a YAML file.

    Raises ``NotesError``, which names the line, for a file that cannot be read, is larger than ``YAML_BYTES`` or
    nested deeper than ``YAML_DEPTH``, is not YAML of the documented form, or has aliases, tags or repeated keys.
    """
    return parse_yaml(_text_of(path), str(path))


def read_glossary(path: str | os.PathLike[str]) -> Notes:
    """The notes in a YAML file of terms and their meanings, ``term: meaning``; raises as ``read_yaml`` does."""
    return parse_glossary(_text_of(path), str(path))


def _text_of(path: str | os.PathLike[str]) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(YAML_BYTES + 1)
    except OSError as error:
        raise NotesError(f"notes {path}: cannot be read ({error.strerror}); check the path") from None
    if len(data) > YAML_BYTES:
        raise NotesError(f"notes {path}: is larger than {YAML_BYTES // 1024 // 1024} MiB; keep what questions need")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotesError(f"notes {path}: is not UTF-8 text; save it as UTF-8") from None


def parse_yaml(text: str, name: str = "notes.yaml") -> Notes:
    """The notes in a YAML text, called ``name`` in messages; raises ``NotesError`` as ``read_yaml`` does."""
    reader = _Reader(name)
    sections = reader.mapping(_tree(text, name), "the file", _SECTIONS)
    return Notes(
        items=tuple(reader.items(sections.get("tables"))),
        glossary=reader.pairs(sections.get("glossary"), "glossary"),
        formulas=reader.pairs(sections.get("formulas"), "formulas"),
        joins=reader.joins(sections.get("joins"), sections.get("not_joins")),
        rules=tuple(text for text, _ in reader.texts(sections.get("rules"), "rules")),
    )


def parse_glossary(text: str, name: str = "glossary.yaml") -> Notes:
    """The notes in a YAML text of terms, called ``name`` in messages; raises ``NotesError`` as ``read_yaml`` does."""
    return Notes(glossary=_Reader(name).pairs(_tree(text, name), "the glossary"))


def glossary_lines(text: str, term: str) -> tuple[int, int]:
    """The first line of a term in a glossary that ``parse_glossary`` reads, from 0, and the line behind its last.

    Both are 0 for a term that it does not have.
    """
    scalars = [event for event in _events(text) if type(event).__name__ == "ScalarEvent"]
    for key, meaning in zip(scalars[::2], scalars[1::2], strict=False):
        if key.value == term:
            end = meaning.end_mark
            return key.start_mark.line, end.line + (end.column > 0)  # a folded text ends where the next line begins
    return 0, 0


class Node(NamedTuple):
    """A scalar's text, a list, or a mapping, with its first line, counted from 1.

    ``is_null`` is true for an empty value or an unquoted ``null``.
    """

    value: str | list[Node] | dict[str, Node]
    line: int
    is_null: bool = False


def _tree(text: str, name: str) -> Node:
    """The one document in the text; scalars stay text, so that a code ``no`` or ``01`` is not changed."""
    import yaml

    tree = _Tree(name)
    try:
        for event in _events(text):
            tree.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        if "nesting depth" in str(error.problem):  # some versions of the parser have a limit of their own
            raise tree.too_deep(line) from None
        raise NotesError(f"notes {name}: line {line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError:
        raise NotesError(f"notes {name}: not valid YAML: it has characters that are not allowed in text") from None
    return tree.root or Node({}, 1)


def _events(text: str) -> Iterator[Any]:
    import yaml

    return iter(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


class _Tree:
    """Builds the tree from the parser's events: without recursion, objects or aliases."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Node | None = None
        self._open: list[Node] = []
        self._keys: list[str | None] = []  # for each open node the key whose value comes next

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise self._error(line, "has an alias or anchor (& or *); write the text out, or in quotes")
        if getattr(event, "tag", None):
            raise self._error(line, "has a tag (!); write plain text, or in quotes")
        if kind == "ScalarEvent":
            bare = event.implicit[0] and event.value in _NULLS
            self._add(Node(event.value, line, is_null=bare))
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            if len(self._open) >= YAML_DEPTH:
                raise self.too_deep(line)
            node = Node({} if kind == "MappingStartEvent" else [], line)
            self._add(node)
            self._open.append(node)
            self._keys.append(None)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._keys.pop()
        elif kind == "DocumentStartEvent" and self.root is not None:
            raise self._error(line, "begins a second document; write one document")

    def _add(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1].value
        if isinstance(parent, list):
            parent.append(node)
        elif isinstance(parent, dict) and (key := self._keys[-1]) is not None:
            parent[key] = node
            self._keys[-1] = None
        elif isinstance(parent, dict):
            if not isinstance(node.value, str):
                raise self._error(node.line, "has a key that is not text; write one line of text before the colon")
            if node.value in parent:
                raise self._error(node.line, f"has the key {node.value[:80]!r} a second time; merge the two")
            self._keys[-1] = node.value

    def too_deep(self, line: int) -> NotesError:
        """The error for more levels than any notes have."""
        return self._error(line, f"is nested deeper than {YAML_DEPTH} levels; see docs/schema.md for the form")

    def _error(self, line: int, problem: str) -> NotesError:
        return NotesError(f"notes {self.name}: line {line}: {problem}")


class _Reader:
    """Converts nodes to notes; raises ``NotesError`` with the line of a node of the wrong kind."""

    def __init__(self, name: str) -> None:
        self._name = name

    def items(self, tables: Node | None) -> Iterator[Item]:
        for table, node in self.mapping(tables, "tables").items():
            fields = self._described(node, table, _OF_A_TABLE)
            yield self._item(fields, table, "", node.line)
            for column, inner in self.mapping(fields.get("columns"), f"columns of {table}").items():
                yield self._item(self._described(inner, f"{table}.{column}", _OF_A_COLUMN), table, column, inner.line)

    def mapping(self, node: Node | None, what: str, known: tuple[str, ...] = ()) -> dict[str, Node]:
        if node is None or node.is_null:
            return {}
        if not isinstance(node.value, dict):
            raise NotesError(f"{self._at(node.line)}: {what[:80]} must be names with a colon behind them")
        for key, value in node.value.items():
            if known and key not in known:
                raise NotesError(
                    f"{self._at(value.line)}: {what[:80]} has no field {key[:80]!r}; known are {', '.join(known)}"
                )
        return node.value

    def pairs(self, node: Node | None, what: str) -> tuple[tuple[str, str], ...]:
        pairs = ((key, self._text(value, f"{what}: {key}")) for key, value in self.mapping(node, what).items())
        return tuple((key, text) for key, text in pairs if text)

    def texts(self, node: Node | None, what: str) -> list[tuple[str, int]]:
        """A list of texts with their lines; a single text counts as a list of one."""
        if node is None or node.is_null:
            return []
        nodes = node.value if isinstance(node.value, list) else [node]
        return [(self._text(item, what), item.line) for item in nodes if not item.is_null]

    def joins(self, confirmed: Node | None, denied: Node | None) -> tuple[Join, ...]:
        """The joins of both lists; raises ``NotesError`` for one that is in both."""
        joins = [self.join(text, line) for text, line in self.texts(confirmed, "joins")]
        wrong = [replace(self.join(text, line), denied=True) for text, line in self.texts(denied, "not_joins")]
        known = {_folded(join): join for join in joins}
        for join in wrong:
            if _folded(join) in known:
                raise NotesError(f"{join.where}: the same join is listed under joins; remove one of the two")
        return (*joins, *wrong)

    def join(self, text: str, line: int) -> Join:
        pairs = []
        for part in _AND.split(text.strip()):
            match = _EQUALS.fullmatch(part.strip())
            if match is None:
                raise NotesError(
                    f"{self._at(line)}: {text[:80]!r} is not a join; write it as orders.customer_id = customer.id, "
                    "with quotes around names that have blanks or dots"
                )
            pairs.append((_end(match[1]), _end(match[2])))
        return Join(tuple(pairs), self._at(line))

    def _described(self, node: Node, name: str, known: tuple[str, ...]) -> dict[str, Node]:
        """The fields of a table or column; a plain text is its description."""
        if isinstance(node.value, str) and not node.is_null:
            return {"description": node}
        return self.mapping(node, name, known)

    def _item(self, fields: dict[str, Node], table: str, column: str, line: int) -> Item:
        name = f"{table}.{column}" if column else table
        description = fields.get("description")
        return Item(
            table=table,
            column=column,
            description=self._text(description, f"description of {name}") if description else "",
            synonyms=tuple(text for text, _ in self.texts(fields.get("synonyms"), f"synonyms of {name}")),
            values=self.pairs(fields.get("values"), f"values of {name}"),
            where=self._at(line),
        )

    def _text(self, node: Node, what: str) -> str:
        if not isinstance(node.value, str):
            raise NotesError(f"{self._at(node.line)}: {what[:80]} must be text; put it in quotes if it has punctuation")
        return "" if node.is_null else node.value.strip()

    def _at(self, line: int) -> str:
        return f"notes {self._name}: line {line}"


def _end(text: str) -> tuple[str, str]:
    """The names of a table, with its schema if given, and of a column."""
    *table, column = (_unquoted(part) for part in re.findall(_PART, text))
    return ".".join(table), column


def _folded(join: Join) -> frozenset[frozenset[tuple[str, str]]]:
    """The pairs of columns regardless of case, order and direction."""
    return frozenset(frozenset((table.casefold(), column.casefold()) for table, column in pair) for pair in join.pairs)


def _unquoted(part: str) -> str:
    if part[0] == "[":
        return part[1:-1]
    return part[1:-1].replace(part[0] * 2, part[0]) if part[0] in '"`' else part


def read_bird(folder: str | os.PathLike[str]) -> Notes:
    """The notes in a folder with one CSV file for each table and one row for each column.

    All items are optional, and ``unmatched`` lists files that could not be used: the files are of uneven quality, so
    any encoding, missing columns, stray quotes and blank rows are accepted. Raises ``NotesError`` for a folder without
    CSV files, or with more than ``CSV_FILES``.
    """
    paths = sorted(path for path in Path(folder).iterdir() if _is_csv(path))
    if not paths or len(paths) > CSV_FILES:
        problem = f"has {len(paths):,} CSV files" if paths else "has no CSV file"
        raise NotesError(f"notes {folder}: {problem}; give the database_description folder of one database")
    items: list[Item] = []
    unmatched = []
    for path in paths:
        try:
            items += _items(path)
        except (OSError, csv.Error, NotesError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            unmatched.append(f"notes {path.name}: left out: {reason}")
    return Notes(items=tuple(items), unmatched=tuple(unmatched))


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv" and not path.name.startswith(".") and path.is_file()


def _items(path: Path) -> Iterator[Item]:
    with path.open("rb") as file:
        data = file.read(CSV_BYTES + 1)
    if len(data) > CSV_BYTES:
        raise NotesError(f"is larger than {CSV_BYTES // 1024 // 1024} MiB")
    header, *rows = _rows(_decoded(data)) or [[]]
    positions = {re.sub(r"\W+", "_", name.strip().lower()).strip("_"): at for at, name in enumerate(header)}
    if _NAME not in positions and "column_name" not in positions:
        raise NotesError(f"its first line has no column called {_NAME}")
    for number, row in enumerate(rows, start=2):
        cells = {name: row[positions[name]].strip() for name in _FIELDS if positions.get(name, len(row)) < len(row)}
        if column := cells.get(_NAME) or cells.get("column_name", ""):
            yield _item(path, number, column, cells)


def _item(path: Path, number: int, column: str, cells: dict[str, str]) -> Item:
    full = cells.get("column_name", "")
    description = cells.get("column_description", "")
    if full and not set(words(full)) <= {*words(column), *words(description)}:
        description = f"{full}: {description}" if description else full
    return Item(
        table=path.stem.strip(),
        column=column,
        description=" ".join(description.split()),
        synonyms=(full,) if full and words(full) != words(column) else (),
        values=tuple(_values(cells.get("value_description", ""))),
        where=f"notes {path.name}: row {number}",
        optional=True,
    )


def _values(text: str) -> Iterator[tuple[str, str]]:
    """Lines such as ``F: female`` as code and meaning; the other lines joined as the meaning of the empty code."""
    uncoded = []
    for line in text.splitlines():
        line = _LABEL.sub(" ", line).strip(" \t-•")
        match = _CODE.fullmatch(line)
        if match and match[1].lower().rstrip(".") not in _NO_CODES:
            yield match[1], match[2].strip()
        elif line:
            uncoded.append(line)
    if uncoded:
        yield "", " ".join(" ".join(uncoded).split())


def _decoded(data: bytes) -> str:
    for encoding in ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _rows(text: str) -> list[list[str]]:
    text = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    if rows and any(_has_swallowed(cell, len(rows[0])) for row in rows for cell in row):
        lines = csv.reader(io.StringIO(text), quoting=csv.QUOTE_NONE)
        rows = [[cell.strip().strip('"') for cell in row] for row in lines if any(cell.strip() for cell in row)]
    return rows


def _has_swallowed(cell: str, width: int) -> bool:
    lines = cell.splitlines()[1:]
    return sum(line.count(",") >= max(width - 1, 1) for line in lines) >= _SWALLOWED
