"""YAML as text with line numbers: no object is made, no alias followed, and what is too large or deep is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury.errors import NotesError

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
