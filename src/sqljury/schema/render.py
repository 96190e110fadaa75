"""Writes a schema down for a model: the same bytes for the same schema and samples, always."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from sqljury.schema.names import quote_name, quote_table
from sqljury.types import Column, Result, Schema, Table

Form = Literal["ddl", "compact"]

CELL_CHARS: Final = 40
_NAME_CHARS: Final = 120
_VIEW_CHARS: Final = 1_000
_SMALLER: Final = ((20, None), (10, None), (10, 1), (0, 0))  # characters a cell, rows a table
_PLAIN_TYPE: Final = re.compile(r"\w[\w ]{0,38}(\([\w ,]{1,20}\))?(\[\])?")


def render(
    schema: Schema,
    samples: Mapping[str, Result] | None = None,
    *,
    form: Form = "ddl",
    cell_chars: int = CELL_CHARS,
    max_chars: int | None = None,
) -> str:
    """The schema as text; ``samples`` (of ``sample``) adds the rows of the tables it has.

    ``ddl`` is one CREATE TABLE a table with its rows in a comment, ``compact`` one line a table. A cell is cut
    to ``cell_chars``. Over ``max_chars`` cells are cut first, then rows, then the form becomes compact; what
    is still longer is returned as it is.
    """
    text = _render(schema, samples or {}, form, cell_chars, None)
    if max_chars is None or len(text) <= max_chars:
        return text
    for chars, rows in _SMALLER:
        text = _render(schema, samples or {}, form, min(chars, cell_chars), rows)
        if len(text) <= max_chars:
            return text
    return _render(schema, {}, "compact", 0, 0)


def _render(schema: Schema, samples: Mapping[str, Result], form: Form, cell_chars: int, rows: int | None) -> str:
    parts = []
    for table in schema.tables:
        lines = [_compact(table, schema.dialect)] if form == "compact" else _ddl(table, schema.dialect)
        sample = samples.get(table.name)
        if sample is not None and sample.rows and rows != 0:
            lines.extend(_sample(table, sample, cell_chars, rows))
        parts.append("\n".join(lines))
    return ("\n" if form == "compact" else "\n\n").join(parts) + "\n"


def _ddl(table: Table, dialect: str) -> list[str]:
    """CREATE TABLE as its author might have written it, one column or constraint a line."""
    body = [_column(column, table, dialect) for column in table.columns]
    if len(table.primary_key) > 1:
        body.append(f"PRIMARY KEY ({_names(table.primary_key, dialect)})")
    body.extend(f"UNIQUE ({_names(key, dialect)})" for key in table.unique_keys if len(key) > 1)
    for key in table.foreign_keys:
        target = f"{_table(key.ref_table, key.ref_schema, dialect)}({_names(key.ref_columns, dialect)})"
        body.append(f"FOREIGN KEY ({_names(key.columns, dialect)}) REFERENCES {target}")
    if table.kind == "view" and (query := _view_query(table, dialect)):
        columns = _names(tuple(column.name for column in table.columns), dialect)
        return [f"CREATE VIEW {_table(table.name, table.schema, dialect)} ({columns}) AS", f"{query};"]
    lines = [f"  {line}," for line in body]
    lines[-1] = lines[-1][:-1]
    return [f"CREATE {table.kind.upper()} {_table(table.name, table.schema, dialect)} (", *lines, ");"]


def _view_query(table: Table, dialect: str) -> str:
    """The query of a view, written anew without comments and on one line; empty when it is long or unreadable.

    It says what a name alone does not, such as which rows were left out. Comments in it may be made to address the
    model, as any content may.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if not table.definition or len(table.definition) > _VIEW_CHARS:
        return ""
    try:
        create = sqlglot.parse_one(table.definition, dialect=dialect)
    except (SqlglotError, RecursionError):
        return ""
    query = create.args.get("expression") if isinstance(create, exp.Create) else None
    text = query.sql(dialect=dialect, comments=False) if isinstance(query, exp.Query) else ""
    return _plain(text, _VIEW_CHARS)


def _column(column: Column, table: Table, dialect: str) -> str:
    words = [_name(column.name, dialect), _type(column.type)]
    if table.primary_key == (column.name,):
        words.append("PRIMARY KEY")
    else:
        words.extend(["NOT NULL"] * column.not_null)
        words.extend(["UNIQUE"] * column.unique)
    return " ".join(filter(None, words))


def _compact(table: Table, dialect: str) -> str:
    """``table(column type pk, column type -> other.column, ...)``."""
    targets = {
        column: f"-> {_table(key.ref_table, key.ref_schema, dialect)}.{_name(ref_column, dialect)}"
        for key in reversed(table.foreign_keys)
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    }
    columns = ", ".join(
        " ".join(
            filter(
                None,
                (
                    _name(column.name, dialect),
                    _type(column.type).lower(),
                    "pk" if column.name in table.primary_key else "",
                    targets.get(column.name, ""),
                ),
            )
        )
        for column in table.columns
    )
    return f"{_table(table.name, table.schema, dialect)}({columns})"


def _sample(table: Table, sample: Result, cell_chars: int, rows: int | None) -> Iterator[str]:
    """The rows in a comment, the table's own columns only: a linked schema may have fewer than the sample."""
    kept = [sample.columns.index(column.name) for column in table.columns if column.name in sample.columns]
    if not kept:
        return
    shown = sample.rows[:rows]
    yield "/*"
    yield f"{len(shown)} row{'s' * (len(shown) != 1)} of {_plain(table.name, _NAME_CHARS)}:"
    yield " | ".join(_plain(sample.columns[index], _NAME_CHARS) for index in kept)
    for row in shown:
        yield " | ".join(cell_text(row[index], cell_chars) for index in kept)
    yield "*/"


def cell_text(value: object, chars: int = CELL_CHARS) -> str:
    """A value on one line and no longer than ``chars``, unable to end the comment it stands in."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return _plain(str(value), chars)


def _plain(text: str, chars: int) -> str:
    """Printable, cut, without marks that open or close a comment.

    A database's content may be made to address the model: it must not get out of its line.
    """
    text = text[: chars * 4 + 1]
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("*/", "* /").replace("/*", "/ *")
    return text if len(text) <= chars else text[: max(chars - 1, 0)] + "…"


def _name(name: str, dialect: str) -> str:
    """A name for use in a query; one with unprintable characters loses them, and cannot be queried anyway."""
    return quote_name(_printable(name), dialect)


def _printable(name: str) -> str:
    return name if name.isprintable() and len(name) <= _NAME_CHARS else _plain(name, _NAME_CHARS)


def _table(name: str, schema: str, dialect: str) -> str:
    return quote_table(_printable(name), _printable(schema), dialect)


def _names(names: tuple[str, ...], dialect: str) -> str:
    return ", ".join(_name(name, dialect) for name in names)


def _type(declared: str) -> str:
    """The declared type where it looks like one: SQLite takes any text for a type, a message too."""
    match = _PLAIN_TYPE.match(" ".join(declared.split()))
    return match.group().strip() if match else ""
