"""Reads the schema of an SQLite database from its PRAGMA functions, and comments from its CREATE TABLE statements.

SQLite stores those statements as they were typed; their comments are often the only documentation.
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
"""Longer definitions are not searched for comments."""

_TOKEN: Final = re.compile(
    r"(?P<line>--[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<text>'(?:[^']|'')*(?:'|\Z))"
    r"|(?P<name>\"(?:[^\"]|\"\")*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|[\w$]+)"
    r"|(?P<space>\s+)|(?P<mark>.)",
    re.DOTALL,
)  # an unclosed text, name or comment extends to the end, so that the time is linear
_CONSTRAINTS: Final = frozenset(("constraint", "primary", "unique", "check", "foreign"))
_TABLE: Final = ""


class Comments(NamedTuple):
    """The table's comment, and those of columns by their names in lower case."""

    table: str
    columns: dict[str, str]


class _Token(NamedTuple):
    kind: str
    text: str
    column: int
    """Characters before it on its line."""
    opens_line: bool
    """Whether only white space is before it on its line."""


def read_comments(definition: str) -> Comments:
    """The comments of a CREATE TABLE, each assigned to the table or one of its columns.

    A comment after something on its line belongs to that. One on a line of its own continues the comment above if it
    is indented equally, and otherwise belongs to what follows. Before the first and after the last column it belongs
    to the table. Comments of punctuation only are left out.
    """
    if len(definition) > MAX_CHARS or ("--" not in definition and "/*" not in definition):
        return Comments("", {})
    by_owner: dict[str, list[str]] = defaultdict(list)
    for owner, comment in _owned(list(_tokens(definition))):
        if text := _text(comment):
            by_owner[owner].append(text)
    joined = {owner: " ".join(texts) for owner, texts in by_owner.items()}
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
    """Each comment with its owner: a column's name in lower case, or ``""`` for the table."""
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
    """For each token the previous item of the definition and the current one, which after a comma is the next."""
    depth, after_comma, items = 0, False, [_TABLE]
    current: list[int] = []  # by token, the index of its item
    commas: list[bool] = []
    for token in tokens:
        current.append(len(items) if after_comma else len(items) - 1)
        commas.append(after_comma)
        if token.kind in ("line", "block"):
            continue
        if after_comma and depth == 1 and token.text not in (",", ")"):
            items.append(_column(token))
            after_comma = False
        depth += (token.text == "(") - (token.text == ")")
        if (token.text == "(" and depth == 1 and len(items) == 1) or (token.text == "," and depth == 1):
            after_comma = True
        elif token.text == ")" and depth == 0:
            items.append(_TABLE)
            after_comma = False
    items.append(_TABLE)
    return [
        (items[min(at, len(items) - 1) - comma], items[min(at, len(items) - 1)])
        for at, comma in zip(current, commas, strict=True)
    ]


def _column(token: _Token) -> str:
    """The column that an item defines, ``""`` for a constraint, whose comments belong to the table."""
    text = token.text
    if text[:1] in '"`[':
        inner = text[1:-1]
        return (inner if text[0] == "[" else inner.replace(text[0] * 2, text[0])).lower()
    return _TABLE if text.lower() in _CONSTRAINTS else text.lower()


def _text(comment: str) -> str:
    body = comment[2:] if comment.startswith("--") else comment[2:].removesuffix("*/")
    lines = (line.strip().strip("*-=#").strip() for line in body.splitlines())
    text = " ".join(" ".join(lines).split())
    return text if any(c.isalnum() for c in text) else ""


_HIDDEN: Final = 1  # an internal column of a virtual table
_GENERATED: Final = (2, 3)


def tables(db: Database) -> tuple[Table, ...]:
    """User tables and working views, in the order they were created."""
    listed = db.catalog(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    shadows = _shadows(db)
    read = []
    for name, kind, sql in listed:
        if name in shadows:
            continue
        # A view on a dropped table, or a virtual table of a missing module, cannot be queried.
        with contextlib.suppress(QueryError):
            table = _table(db, str(name), str(sql or ""), is_view=kind == "view")
            if table.columns:
                read.append(table)
    return _with_resolved_keys(read)


def _shadows(db: Database) -> frozenset[str]:
    """Tables in which virtual tables store their data."""
    try:
        return frozenset(
            str(name)
            for (name,) in db.catalog("SELECT name FROM pragma_table_list WHERE type = 'shadow' AND schema = 'main'")
        )
    except QueryError:  # before SQLite 3.37
        return frozenset()


def _table(db: Database, name: str, definition: str, *, is_view: bool) -> Table:
    """The table or view of that name, with the comments in a table's ``definition``."""
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
    """Foreign keys as declared; no ``ref_columns`` means the primary key."""
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


def _with_resolved_keys(tables: list[Table]) -> tuple[Table, ...]:
    """The tables with foreign keys spelled as in the referenced tables.

    SQLite does not check what a foreign key refers to; a key to nothing is dropped, since no query can join on it.
    """
    by_name = {table.name.lower(): table for table in tables}
    resolved = []
    for table in tables:
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
    """The names as the table spells them, None if one is not a column of it."""
    columns = {column.name.lower(): column.name for column in table.columns}
    spelled = tuple(columns[name.lower()] for name in names if name.lower() in columns)
    return spelled if len(spelled) == len(names) else None
