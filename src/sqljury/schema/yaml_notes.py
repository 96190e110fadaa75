"""YAML as text with line numbers: no object is made, no alias followed, and what is too large or deep is refused.

Notes on a database in a YAML file of the user's; docs/schema.md has the form.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury.errors import NotesError
from sqljury.schema.describe import Item, Join, Notes

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_DEPTH: Final = 8
_NOTHING: Final = ("", "~", "null", "Null", "NULL")


class Node(NamedTuple):
    """A scalar's text, a list, or a mapping, with the line where it begins, counted from 1.

    ``is_null`` tells nothing, or a bare ``null``, from the text.
    """

    value: str | list[Node] | dict[str, Node]
    line: int
    is_null: bool = False


def read_yaml(path: str | os.PathLike[str]) -> Node:
    """The one document in the file; scalars stay the text they are, so that a code ``no`` or ``01`` is not changed.

    Raises ``NotesError`` for a file that cannot be read, is larger than ``MAX_BYTES`` or deeper than ``MAX_DEPTH``,
    is no YAML, or has aliases, tags, a key twice or a key that is no scalar.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotesError(f"notes {path}: cannot be read ({error.strerror}); check the path") from None
    if len(data) > MAX_BYTES:
        raise NotesError(f"notes {path}: is larger than {MAX_BYTES // 1024 // 1024} MiB; keep what questions need")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotesError(f"notes {path}: is no UTF-8 text; save it as UTF-8") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> Node:
    """See ``read_yaml``; ``name`` stands in messages."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tree = _Tree(name)
    try:
        for event in yaml.parse(text, Loader=loader):
            tree.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise NotesError(f"notes {name}: line {line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError:
        raise NotesError(f"notes {name}: not valid YAML: it holds characters that no text has") from None
    return tree.root or Node({}, 1)


class _Tree:
    """Builds the tree from the parser's events, without recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Node | None = None
        self._open: list[Node] = []
        self._keys: list[str | None] = []  # by open node, the key whose value comes next

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise self._error(line, "has an alias or anchor (& or *); write the text out, or in quotes")
        if getattr(event, "tag", None):
            raise self._error(line, "has a tag (!); write plain text, or in quotes")
        if kind == "ScalarEvent":
            bare = event.implicit[0] and event.value in _NOTHING
            self._add(Node(event.value, line, is_null=bare))
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            if len(self._open) >= MAX_DEPTH:
                raise self._error(line, f"is nested deeper than {MAX_DEPTH} levels; see docs/schema.md for the form")
            node = Node({} if kind == "MappingStartEvent" else [], line)
            self._add(node)
            self._open.append(node)
            self._keys.append(None)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._keys.pop()
        elif kind == "DocumentStartEvent" and self.root is not None:
            raise self._error(line, "begins a second document; write one")

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
                raise self._error(node.line, "has a key that is no text; write one line of text before the colon")
            if node.value in parent:
                raise self._error(node.line, f"has the key {node.value[:80]!r} a second time; put both together")
            self._keys[-1] = node.value

    def _error(self, line: int, problem: str) -> NotesError:
        return NotesError(f"notes {self.name}: line {line}: {problem}")


_PART: Final = r"(?:\"(?:[^\"]|\"\")+\"|`(?:[^`]|``)+`|\[[^\]]+\]|[^\s.\"`\[\]=]+)"
_END: Final = rf"({_PART}(?:\.{_PART})+)"
_EQUALS: Final = re.compile(rf"{_END}\s*=\s*{_END}")
_AND: Final = re.compile(r"\s+and\s+", re.IGNORECASE)
_SECTIONS: Final = ("tables", "glossary", "formulas", "joins")
_OF_A_TABLE: Final = ("description", "synonyms", "columns")
_OF_A_COLUMN: Final = ("description", "synonyms", "values")


def read(path: str | os.PathLike[str]) -> Notes:
    """The notes in the file; raises ``NotesError``, which names the line, for what is not of the form."""
    return _notes(read_yaml(path), str(path))


def parse(text: str, name: str = "notes.yaml") -> Notes:
    """The notes in a text; see ``read``."""
    return _notes(parse_yaml(text, name), name)


def _notes(root: Node, name: str) -> Notes:
    reader = _Reader(name)
    sections = reader.mapping(root, "the file", _SECTIONS)
    return Notes(
        items=tuple(reader.items(sections.get("tables"))),
        glossary=reader.pairs(sections.get("glossary"), "glossary"),
        formulas=reader.pairs(sections.get("formulas"), "formulas"),
        joins=tuple(reader.join(text, line) for text, line in reader.texts(sections.get("joins"), "joins")),
    )


class _Reader:
    """Takes nodes for what they should be, and says where they are not."""

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
        found = ((key, self._text(value, f"{what}: {key}")) for key, value in self.mapping(node, what).items())
        return tuple((key, text) for key, text in found if text)

    def texts(self, node: Node | None, what: str) -> list[tuple[str, int]]:
        """A list of texts with their lines; one text alone will do."""
        if node is None or node.is_null:
            return []
        nodes = node.value if isinstance(node.value, list) else [node]
        return [(self._text(one, what), one.line) for one in nodes if not one.is_null]

    def join(self, text: str, line: int) -> Join:
        pairs = []
        for part in _AND.split(text.strip()):
            match = _EQUALS.fullmatch(part.strip())
            if match is None:
                raise NotesError(
                    f"{self._at(line)}: {text[:80]!r} is no join; write it as orders.customer_id = customer.id, names "
                    "with blanks or dots in quotes"
                )
            pairs.append((_end(match[1]), _end(match[2])))
        return Join(tuple(pairs), self._at(line))

    def _described(self, node: Node, name: str, known: tuple[str, ...]) -> dict[str, Node]:
        """The fields of a table or column; a text alone is its description."""
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
            raise NotesError(f"{self._at(node.line)}: {what[:80]} must be one text; put it in quotes if it has marks")
        return "" if node.is_null else node.value.strip()

    def _at(self, line: int) -> str:
        return f"notes {self._name}: line {line}"


def _end(text: str) -> tuple[str, str]:
    """A table's name, with its schema if it has one, and a column's."""
    *table, column = (_unquoted(part) for part in re.findall(_PART, text))
    return ".".join(table), column


def _unquoted(part: str) -> str:
    if part[0] == "[":
        return part[1:-1]
    return part[1:-1].replace(part[0] * 2, part[0]) if part[0] in '"`' else part
