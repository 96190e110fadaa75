"""Comments in the text of a CREATE TABLE, which SQLite keeps as it was typed: often all the documentation there is.

The schema of an SQLite database, from its PRAGMA functions.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.errors import QueryError
from sqljury.types import Column, ForeignKey, Row, Table

MAX_CHARS: Final = 1_000_000
"""A longer definition is not searched."""

_TOKEN: Final = re.compile(
    r"(?P<line>--[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<text>'(?:[^']|'')*(?:'|\Z))"
    r"|(?P<name>\"(?:[^\"]|\"\")*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|[\w$]+)"
    r"|(?P<space>\s+)|(?P<mark>.)",
    re.DOTALL,
)  # what is opened and never closed goes on to the end, so that no character is looked at twice
_CONSTRAINTS: Final = frozenset(("constraint", "primary", "unique", "check", "foreign"))
_TABLE: Final = ""


class Comments(NamedTuple):
    """The table's comment, and those of columns by their names in small letters."""

    table: str
    columns: dict[str, str]


class _Token(NamedTuple):
    kind: str
    text: str
    column: int
    """How far from the beginning of its line it begins."""
    opens_line: bool
    """Nothing but white space stands before it on its line."""


def read_comments(definition: str) -> Comments:
    """The comments of a CREATE TABLE, each with the column it speaks of.

    A comment behind something on its line speaks of that; one alone on its line continues the one above if it
    begins below it, and else speaks of what follows. Before the first and after the last column it is the table's.
    Comments made of marks alone say nothing and are left out.
    """
    if len(definition) > MAX_CHARS or ("--" not in definition and "/*" not in definition):
        return Comments("", {})
    found: dict[str, list[str]] = defaultdict(list)
    for owner, text in _owned(list(_tokens(definition))):
        if said := _said(text):
            found[owner].append(said)
    joined = {owner: " ".join(texts) for owner, texts in found.items()}
    return Comments(joined.pop(_TABLE, ""), joined)


def _tokens(definition: str) -> Iterator[_Token]:
    opens_line, line_start = True, 0
    for match in _TOKEN.finditer(definition):
        kind, text = str(match.lastgroup), match.group()
        if kind == "space":
            opens_line = opens_line or "\n" in text
        else:
            yield _Token(kind, text, match.start() - line_start, opens_line)
            opens_line = False
        if "\n" in text:
            line_start = match.start() + text.rindex("\n") + 1


def _owned(tokens: Sequence[_Token]) -> Iterator[tuple[str, str]]:
    """Each comment with its owner: a column's name in small letters, or ``""`` for the table."""
    owners = _owners(tokens)
    previous: tuple[str, int] | None = None
    for number, token in enumerate(tokens):
        if token.kind not in ("line", "block"):
            if token.opens_line:
                previous = None
            continue
        if not token.opens_line:
            follows = number + 1 < len(tokens) and not tokens[number + 1].opens_line
            after_comma = tokens[number - 1].text == ","
            owner = owners[number][1 if token.kind == "block" and follows and after_comma else 0]
        elif previous is not None and previous[1] == token.column:
            owner = previous[0]
        else:
            owner = owners[number][1]
            yield owner, token.text
            continue
        previous = owner, token.column
        yield owner, token.text


def _owners(tokens: Sequence[_Token]) -> list[tuple[str, str]]:
    """For the place of each token, the item that was last under way and the one that is, or comes next."""
    depth, behind, items = 0, False, [_TABLE]
    place: list[int] = []  # by token, the item under way or, behind a comma, the next one
    commas: list[bool] = []
    for token in tokens:
        place.append(len(items) if behind else len(items) - 1)
        commas.append(behind)
        if token.kind in ("line", "block"):
            continue
        if behind and depth == 1 and token.text not in (",", ")"):
            items.append(_column(token))
            behind = False
        depth += (token.text == "(") - (token.text == ")")
        if (token.text == "(" and depth == 1 and len(items) == 1) or (token.text == "," and depth == 1):
            behind = True
        elif token.text == ")" and depth == 0:
            items.append(_TABLE)
            behind = False
    items.append(_TABLE)
    return [
        (items[min(at, len(items) - 1) - comma], items[min(at, len(items) - 1)])
        for at, comma in zip(place, commas, strict=True)
    ]


def _column(token: _Token) -> str:
    """The column that an item defines, ``""`` for a constraint, whose comments are the table's."""
    text = token.text
    if text[:1] in '"`[':
        inner = text[1:-1]
        return (inner if text[0] == "[" else inner.replace(text[0] * 2, text[0])).lower()
    return _TABLE if text.lower() in _CONSTRAINTS else text.lower()


def _said(comment: str) -> str:
    body = comment[2:] if comment.startswith("--") else comment[2:].removesuffix("*/")
    lines = (line.strip().strip("*-=#").strip() for line in body.splitlines())
    text = " ".join(" ".join(lines).split())
    return text if any(c.isalnum() for c in text) else ""


_HIDDEN: Final = 1  # a column that a virtual table keeps to itself
_GENERATED: Final = (2, 3)


def tables(db: Database) -> tuple[Table, ...]:
    """User tables and views that work, in the order they were created."""
    listed = db.catalog(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    shadows = _shadows(db)
    found = []
    for name, kind, sql in listed:
        if name in shadows:
            continue
        # A view on a dropped table, or a virtual table of a module that is not here, cannot be asked about.
        with contextlib.suppress(QueryError):
            table = _table(db, str(name), str(sql or ""), is_view=kind == "view")
            if table.columns:
                found.append(table)
    return _with_resolved_keys(found)


def _shadows(db: Database) -> frozenset[str]:
    """Tables in which virtual tables keep their index."""
    try:
        return frozenset(
            str(name)
            for (name,) in db.catalog("SELECT name FROM pragma_table_list WHERE type = 'shadow' AND schema = 'main'")
        )
    except QueryError:  # before SQLite 3.37
        return frozenset()


def _table(db: Database, name: str, definition: str, *, is_view: bool) -> Table:
    """The table or view of that name, with the comments that stand in a table's ``definition``."""
    comments = read_comments("" if is_view else definition)
    rows = db.catalog('SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)', (name,))
    rows = [row for row in rows if row[4] != _HIDDEN]
    unique_keys = () if is_view else _unique_keys(db, name)
    primary_key = tuple(str(row[0]) for row in sorted(rows, key=lambda row: int(row[3])) if row[3])
    alone = {keys[0] for keys in (primary_key, *unique_keys) if len(keys) == 1}
    columns = tuple(
        Column(
            name=str(row[0]),
            type=str(row[1] or ""),
            not_null=bool(row[2]),
            unique=row[0] in alone,
            comment=comments.columns.get(str(row[0]).lower(), ""),
            generated=row[4] in _GENERATED,
        )
        for row in rows
    )
    return Table(
        name=name,
        columns=columns,
        primary_key=primary_key,
        foreign_keys=() if is_view else _foreign_keys(db, name),
        unique_keys=unique_keys,
        kind="view" if is_view else "table",
        definition=definition if is_view else "",
        comment=comments.table,
    )


def _unique_keys(db: Database, table: str) -> tuple[tuple[str, ...], ...]:
    """UNIQUE constraints and unique indexes of whole columns and all rows, in the order they were created."""
    indexes = db.catalog(
        "SELECT name FROM pragma_index_list(?) "
        "WHERE \"unique\" AND NOT partial AND origin IN ('u', 'c') ORDER BY seq DESC",
        (table,),
    )
    keys: list[tuple[str, ...]] = []
    for (index,) in indexes:
        columns = db.catalog("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (str(index),))
        key = tuple(str(column) for (column,) in columns if column is not None)
        if len(key) == len(columns) and key not in keys:  # an expression has no name
            keys.append(key)
    return tuple(keys)


def _foreign_keys(db: Database, table: str) -> tuple[ForeignKey, ...]:
    """Foreign keys as declared, with no ``ref_columns`` where the primary key is meant."""
    rows = db.catalog(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (table,)
    )
    grouped: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[int(row[0])].append(row)
    return tuple(
        ForeignKey(
            columns=tuple(str(row[2]) for row in group),
            ref_table=str(group[0][1]),
            ref_columns=tuple(str(row[3]) for row in group if row[3] is not None),
        )
        for group in grouped.values()
    )


def _with_resolved_keys(found: list[Table]) -> tuple[Table, ...]:
    """The same tables, their foreign keys spelled as the referenced table spells itself.

    SQLite neither checks nor corrects what a foreign key refers to; one that leads nowhere is left out, since
    no query can join along it.
    """
    by_name = {table.name.lower(): table for table in found}
    resolved = []
    for table in found:
        keys = [_resolve(key, table, by_name.get(key.ref_table.lower())) for key in table.foreign_keys]
        unique = dict.fromkeys(key for key in keys if key is not None)
        resolved.append(replace(table, foreign_keys=tuple(unique)))
    return tuple(resolved)


def _resolve(key: ForeignKey, table: Table, target: Table | None) -> ForeignKey | None:
    if target is None:
        return None
    columns = _spelled(key.columns, table)
    ref_columns = _spelled(key.ref_columns or target.primary_key, target)
    if columns is None or ref_columns is None or len(columns) != len(ref_columns):
        return None
    return ForeignKey(columns, target.name, ref_columns)


def _spelled(names: tuple[str, ...], table: Table) -> tuple[str, ...] | None:
    """The names in the table's own case, None when one is no column of it."""
    own = {column.name.lower(): column.name for column in table.columns}
    spelled = tuple(own[name.lower()] for name in names if name.lower() in own)
    return spelled if len(spelled) == len(names) else None
