"""The rows of SQLite's EXPLAIN QUERY PLAN as a value: which tables the engine goes through, in which order and how."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_TABLE: Final = re.compile(
    r"(?:SCAN|SEARCH) (?:TABLE |SUBQUERY )?(?P<name>.+?)(?: AS (?P<alias>\S+))?"
    r"(?P<rest>(?: USING .+?| VIRTUAL TABLE.*?| \d+ CONSTANT.*?)?)(?: (?:LEFT|RIGHT|FULL)-JOIN)?(?: \(~.*\))?"
)
_INDEX: Final = re.compile(r" USING (?P<kind>.*?)INDEX (?P<name>[^(]*?) ?(?:\((?P<terms>.*)\))?")
_TERM: Final = re.compile(r"(\w+)\s*(?:=|>|<|IN\b|IS\b)", re.IGNORECASE)
_SORTS: Final = re.compile(r"USE TEMP B-TREE FOR (.+)")


@dataclass(frozen=True, slots=True)
class Access:
    """How the engine comes to the rows of one table: ``name`` is the table's, or its alias in the query."""

    name: str
    how: str


@dataclass(frozen=True, slots=True)
class Block:
    """What the engine does for one SELECT: its tables in the engine's order, and what it sorts beside (lower case)."""

    tables: tuple[Access, ...] = ()
    sorts: frozenset[str] = field(default_factory=frozenset)

    @property
    def names(self) -> frozenset[str]:
        """The tables' names or aliases, in lower case."""
        return frozenset(table.name.lower() for table in self.tables)


def ask(connection: sqlite3.Connection, sql: str) -> list[tuple[int, int, str]]:
    """The engine's steps for one query: number, number of the step it belongs to, what is done.

    The query is prepared, not run. Raises ``sqlite3.Error`` for one that cannot be prepared. The connection is the
    caller's, and so are its walls: this is for queries of the caller's own or that have passed ``db.readonly``.
    """
    return [(number, parent, detail) for number, parent, _, detail in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]


def blocks(rows: Iterable[Sequence[Any]]) -> tuple[Block, ...]:
    """The steps put together by SELECT, in the engine's order; ``rows`` are what ``ask`` returns.

    Rows that this reader does not know leave no trace, so that a newer engine's plan is read as far as it goes.
    """
    through: dict[int, int] = {}
    tables: dict[int, list[Access]] = {}
    sorts: dict[int, set[str]] = {}
    for number, parent, detail in rows:
        home = through.get(parent, parent)
        tables.setdefault(home, [])
        if detail.startswith("MULTI-INDEX OR") or re.match(r"INDEX \d+$", detail):
            through[number] = home  # its children are ways to one table of the SELECT above it
        if found := _TABLE.fullmatch(detail):
            _add(tables[home], Access(found["alias"] or found["name"], _how(detail, found["rest"])))
        elif found := _SORTS.fullmatch(detail):
            sorts.setdefault(home, set()).add(found[1].lower())
    return tuple(Block(tuple(found), frozenset(sorts.get(home, ()))) for home, found in tables.items() if found)


def _add(tables: list[Access], access: Access) -> None:
    """A table once: what comes again under one SELECT are several indexes for one condition with OR."""
    for place, known in enumerate(tables):
        if known.name == access.name:
            tables[place] = Access(known.name, "looked up in several indexes")
            return
    tables.append(access)


def _how(detail: str, rest: str) -> str:
    """The way to the rows in words."""
    if "VIRTUAL TABLE" in rest:
        return "asked of the virtual table"
    if "CONSTANT" in rest:
        return "written in the query"
    if "INTEGER PRIMARY KEY" in rest:
        return "looked up by primary key" if detail.startswith("SEARCH") else "every row is read, by primary key"
    found = _INDEX.fullmatch(rest)
    if not found:
        return "every row is read"
    columns = ", ".join(_TERM.findall(found["terms"] or ""))
    if "AUTOMATIC" in found["kind"]:
        return f"looked up by {columns} in an index made for this query"
    if detail.startswith("SCAN"):
        whole = "every entry of the index is read" if "COVERING" in found["kind"] else "every row is read"
        return f"{whole}, in the order of {found['name']}"
    named = "of a unique key" if found["name"].startswith("sqlite_autoindex_") else found["name"]
    return f"looked up by {columns} in the index {named}"
