"""Writes a table for a prompt: as DDL, on one line, as M-Schema's list of columns, or as columns with a value each.

``contents`` finds what the values of a column show and its declared type does not, such as dates stored as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from sqljury.schema.meanings import meanings, phrase
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.text import NAME_CHARS, cell_text, name, names, plain, remark, table_name, type_text
from sqljury.types import Column, ForeignKey, Result, Schema, Table


def contents(table: Table, sample: Result) -> dict[str, str]:
    """For each column what its sampled values show and its type does not, such as ``text that holds numbers``."""
    columns = {column.name: column for column in table.columns}
    return {name: phrase(meaning, columns[name]) for name, meaning in meanings(table, sample).items()}


_VIEW_CHARS: Final = 1_000


class Remarks(NamedTuple):
    """Text beside a table: ``about`` it, ``columns`` and ``examples`` by column, the number of columns ``left_out``."""

    about: str = ""
    columns: Mapping[str, str] = {}
    examples: Mapping[str, str] = {}
    left_out: int = 0

    def beside(self, column: str) -> str:
        """The remark and the examples of a column."""
        examples = self.examples.get(column)
        return _joined(self.columns.get(column, ""), f"such as {examples}" if examples else "")


def ddl(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """CREATE TABLE with one column or constraint on each line and remarks as comments, such as ``likely``."""
    about = [f"-- {remarks.about}"] if remarks.about else []
    if table.is_view and (query := _view_query(table.definition, dialect)):
        columns = names(tuple(column.name for column in table.columns), dialect)
        return [*about, f"CREATE {table.kind.upper()} {_table(table, dialect)} ({columns}) AS", f"{query};"]
    likely = {table.likely_key[0]: "likely key"} if len(table.likely_key) == 1 else {}
    body = [
        (_column(column, table, dialect), _joined(likely.get(column.name, ""), remarks.beside(column.name)))
        for column in table.columns
    ]
    body += _constraints(table, dialect)
    last = len(body) - 1
    lines = [
        f"  {line}{',' if number < last else ''}{f' -- {beside}' if beside else ''}"
        for number, (line, beside) in enumerate(body)
    ]
    kind = table.kind.removeprefix("partitioned ").upper()
    divided = f" PARTITION BY {remark(table.partition_by)}" if table.partition_by else ""
    return [*about, f"CREATE {kind} {_table(table, dialect)} (", *lines, f"){divided};"]


def compact(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """``table(column type pk, column type -> other.column, ...)``; ``likely`` precedes ``pk`` or ``->`` if inferred."""
    targets = {
        column: f"{'' if key.certain else 'likely '}-> "
        f"{table_name(key.ref_table, key.ref_schema, dialect)}.{name(ref_column, dialect)}"
        for key in reversed(table.foreign_keys)
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    }
    columns = [
        _words(
            name(column.name, dialect),
            type_text(column.type).lower(),
            "pk" if column.name in table.primary_key else "likely pk" if column.name in table.likely_key else "",
            targets.get(column.name, ""),
            f"/* {beside} */" if (beside := remarks.beside(column.name)) else "",
        )
        for column in table.columns
    ]
    if remarks.left_out:
        columns.append(f"… {remarks.left_out} more")
    about = f" /* {remarks.about} */" if remarks.about else ""
    return [f"{_table(table, dialect)}({', '.join(columns)}){about}"]


def mschema(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """``# Table: name, remark``, then ``(column: TYPE, remark, Primary Key, examples: [...])`` for each column."""
    lines = []
    for column in table.columns:
        kind = type_text(column.type)
        examples = remarks.examples.get(column.name)
        parts = [
            name(column.name, dialect) + (f": {kind}" if kind else ""),
            remarks.columns.get(column.name, ""),
            "Primary Key" if column.name in table.primary_key else "",
            "Likely Primary Key" if column.name in table.likely_key else "",
            "NOT NULL" if column.not_null and column.name not in table.primary_key else "",
            "UNIQUE" if column.unique and table.primary_key != (column.name,) else "",
            f"examples: [{examples}]" if examples else "",
        ]
        lines.append(f"({', '.join(filter(None, parts))}),")
    divided = f"by {remark(table.partition_by)}" if table.partition_by else ""
    title = f"# {table.kind.capitalize()}: {_table(table, dialect)}"
    head = ", ".join(filter(None, (title, divided, remarks.about)))
    query = _view_query(table.definition, dialect) if table.is_view else ""
    return [head, *([f"as {query}"] if query else []), "[", *lines, "]"]


def listed(table: Table, dialect: str, remarks: Remarks) -> list[str]:
    """``# table (key* [value], column [value] UNIQUE)``, then a line for each foreign key (ESM+ paper, Figure 6)."""
    columns = []
    for column in table.columns:
        keyed = column.name in table.primary_key or column.name in table.likely_key
        value = remarks.examples.get(column.name)
        columns.append(
            _words(
                f"{name(column.name, dialect)}{'*' * keyed}",
                f"[{value}]" if value else "",
                "NOT NULL" if column.not_null and not keyed else "",
                "UNIQUE" if column.unique and not keyed else "",
                f"/* {about} */" if (about := remarks.columns.get(column.name, "")) else "",
            )
        )
    about = f" /* {remarks.about} */" if remarks.about else ""
    keys = [
        f"{'Foreign' if key.certain else 'Likely foreign'} key {names(key.columns, dialect)} references "
        f"{table_name(key.ref_table, key.ref_schema, dialect)}({names(key.ref_columns, dialect)})"
        for key in table.foreign_keys
    ]
    return [f"# {_table(table, dialect)} ({', '.join(columns)}){about}", *keys]


def mschema_keys(schema: Schema) -> list[str]:
    """The foreign keys of all tables, which end an M-Schema, the inferred ones under a heading of their own."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for table in schema.tables:
        for key in table.foreign_keys:
            lines[key.certain].append(_equated(table, key, schema.dialect))
    headed = (("# Foreign keys", lines[True]), ("# Likely foreign keys", lines[False]))
    return [line for heading, keys in headed if keys for line in (heading, *keys)]


def _equated(table: Table, key: ForeignKey, dialect: str) -> str:
    return " AND ".join(
        f"{_table(table, dialect)}.{name(column, dialect)} = "
        f"{table_name(key.ref_table, key.ref_schema, dialect)}.{name(ref_column, dialect)}"
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    )


def sample_lines(table: Table, sample: Result, cell_chars: int, rows: int | None) -> Iterator[str]:
    """The rows in a comment, with the table's columns only: a linked schema may have fewer than the sample."""
    kept = [sample.columns.index(column.name) for column in table.columns if column.name in sample.columns]
    if not kept:
        return
    shown = sample.rows[:rows]
    yield "/*"
    yield f"{len(shown)} row{'s' * (len(shown) != 1)} of {plain(table.name, NAME_CHARS)}:"
    yield " | ".join(plain(sample.columns[index], NAME_CHARS) for index in kept)
    for row in shown:
        yield " | ".join(cell_text(row[index], cell_chars) for index in kept)
    yield "*/"


def _column(column: Column, table: Table, dialect: str) -> str:
    if (column.name,) in (table.primary_key, table.likely_key):
        return _words(name(column.name, dialect), type_text(column.type), "PRIMARY KEY")
    return _words(
        name(column.name, dialect),
        type_text(column.type),
        "NOT NULL" if column.not_null else "",
        "UNIQUE" if column.unique else "",
    )


def _constraints(table: Table, dialect: str) -> Iterator[tuple[str, str]]:
    """The constraints that have a line of their own, each with a remark."""
    for primary, beside in ((table.primary_key, ""), (table.likely_key, "likely")):
        if len(primary) > 1:
            yield f"PRIMARY KEY ({names(primary, dialect)})", beside
    for unique in table.unique_keys:
        if len(unique) > 1:
            yield f"UNIQUE ({names(unique, dialect)})", ""
    for key in table.foreign_keys:
        target = f"{table_name(key.ref_table, key.ref_schema, dialect)}({names(key.ref_columns, dialect)})"
        yield f"FOREIGN KEY ({names(key.columns, dialect)}) REFERENCES {target}", "" if key.certain else "likely"


@lru_cache(maxsize=256)
@quiet()
def _view_query(definition: str, dialect: str) -> str:
    """The query of a view on one line, empty if it is long or cannot be parsed.

    It shows what the name does not, such as which rows are excluded. Comments are removed, since they may contain
    instructions to the model.
    """
    if not definition or len(definition) > _VIEW_CHARS:
        return ""
    try:
        create = parse_one(definition, dialect)
        query = create.args.get("expression") if isinstance(create, exp.Create) else None
        text = query.sql(dialect=dialect, comments=False) if isinstance(query, exp.Query) else ""
    except (errors.SqlglotError, RecursionError, ValueError):
        return ""  # ValueError: the generator cannot write everything that the parser accepts
    return plain(text, _VIEW_CHARS)


def _table(table: Table, dialect: str) -> str:
    return table_name(table.name, table.schema, dialect)


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _words(*words: str) -> str:
    return " ".join(filter(None, words))
