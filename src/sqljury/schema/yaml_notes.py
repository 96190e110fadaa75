"""Notes on a database in a YAML file of the user's; docs/schema.md has the form."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from sqljury.errors import NotesError
from sqljury.schema.describe import Item, Join, Notes
from sqljury.schema.yaml_tree import Node, parse_yaml, read_yaml

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
