"""What an import has found, the part of it that fits a database, and the YAML file of that part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import errors, exp

from sqljury.schema.notes import Item
from sqljury.sql.parse import parse_one
from sqljury.types import Schema, Table

End = tuple[str, str]
"""A table and a column."""

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnusableError(Exception):
    """A metric or a field that no formula stands for, with the reason."""


@dataclass(slots=True)
class Imported:
    """Notes before they are compared with a database; ``where`` of an item is what it is called in its file.

    ``formulas`` have a name, an expression and the tables that it reads; ``left_out`` says what was not understood.
    """

    items: list[Item] = field(default_factory=list)
    glossary: list[tuple[str, str]] = field(default_factory=list)
    formulas: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    joins: list[tuple[tuple[End, End], ...]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, other: Imported) -> None:
        """Append what another file says."""
        for name in ("items", "glossary", "formulas", "joins", "left_out"):
            getattr(self, name).extend(getattr(other, name))


def fitted(imported: Imported, schema: Schema) -> Imported:
    """The part whose tables and columns the database has, spelled as there; the rest is listed in ``left_out``."""
    tables = {table.name.casefold(): table for table in schema.tables}
    for table in schema.tables:  # without the name of the schema, where it is clear
        tables.setdefault(table.name.rpartition(".")[2].casefold(), table)
    fitting = Imported(glossary=list(imported.glossary), left_out=list(imported.left_out))
    for item in imported.items:
        end = _end((item.table, item.column), tables)
        if end is None:
            fitting.left_out.append(f"{item.where}: the database has no {item.name}")
        elif item.description or item.synonyms:
            fitting.items.append(replace(item, table=end[0], column=end[1]))
    kept: dict[str, str] = {}
    for name, expression, used in imported.formulas:
        if (before := kept.get(name.casefold())) is not None:
            if before != expression:
                fitting.left_out.append(f"metric {name}: another one has this name; the first is kept")
            continue
        try:
            missing = _missing(expression, used, tables, schema.dialect)
        except UnusableError as problem:
            fitting.left_out.append(f"metric {name}: {problem}")
            continue
        if missing:
            fitting.left_out.append(f"metric {name}: the database has no {', '.join(missing)}")
        else:
            kept[name.casefold()] = expression
            fitting.formulas.append((name, expression, used))
    for pairs in imported.joins:
        known = [(_end(left, tables), _end(right, tables)) for left, right in pairs]
        ends = tuple((left, right) for left, right in known if left and right and left != right)
        if len(ends) == len(pairs):
            fitting.joins.append(ends)
        else:
            fitting.left_out.append(f"join {_join(pairs)}: the database does not have both columns")
    return fitting


def written(imported: Imported) -> str:
    """The notes as YAML of the form in docs/schema.md."""
    lines = [
        *_section("tables", _tables(imported.items)),
        *_section("glossary", (f"  {_text(term)}: {_text(meaning)}" for term, meaning in _meanings(imported.glossary))),
        *_section("formulas", (f"  {_text(name)}: {_text(sql)}" for name, sql, _ in imported.formulas)),
        *_section("joins", dict.fromkeys(f"  - {_text(_join(pairs))}" for pairs in imported.joins)),
    ]
    return "\n".join(lines) + "\n" if lines else ""


def text_of(value: Any) -> str:
    """A text on one line; empty for anything else."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def listed(value: Any) -> list[dict[str, Any]]:
    """The objects in a list, or the values of an object; none for anything else."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [entry for entry in values if isinstance(entry, dict)]


def part(value: Any) -> dict[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def expression_of(text: str, dialect: str) -> exp.Expr:
    """The one expression of a text; raises ``UnusableError`` for anything else, such as a second statement."""
    try:
        tree = parse_one(f"SELECT {text}", dialect)
    except (errors.SqlglotError, RecursionError):
        raise UnusableError(f"its expression cannot be read: {text[:80]!r}") from None
    if (
        not isinstance(tree, exp.Select)
        or len(tree.expressions) != 1
        or tree.args.get("from_")
        or tree.args.get("from")
    ):
        raise UnusableError(f"is not one expression: {text[:80]!r}")
    only: exp.Expr = tree.expressions[0]
    return only


def _missing(expression: str, used: Iterable[str], tables: Mapping[str, Table], dialect: str) -> list[str]:
    """Tables that a formula reads, and columns that it names, which the database lacks."""
    used_tables = [table for name in used if (table := tables.get(name.casefold())) is not None]
    missing = {name: None for name in used if name.casefold() not in tables}
    for column in expression_of(expression, dialect).find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        if column.table:
            known = _end((column.table, column.name), tables)
        else:  # of one of the formula's tables
            known = next(filter(None, (_end((table.name, column.name), tables) for table in used_tables)), None)
        if known is None and not {column.table} & set(missing):
            missing[f"{column.table}.{column.name}" if column.table else column.name] = None
    return list(missing)


def _end(end: End, tables: Mapping[str, Table]) -> End | None:
    table = tables.get(end[0].casefold())
    if table is None:
        return None
    if not end[1]:
        return table.name, ""
    named = [column.name for column in table.columns if column.name.casefold() == end[1].casefold()]
    return (table.name, named[0]) if named else None


def _meanings(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each term once, with all that is said of it."""
    by_term: dict[str, tuple[str, dict[str, None]]] = {}
    for term, meaning in pairs:
        if term and meaning:
            by_term.setdefault(term.casefold(), (term, {}))[1][meaning] = None
    return ((term, "; ".join(meanings)) for term, meanings in by_term.values())


def _section(name: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return [f"{name}:", *body] if body else []


def _tables(items: list[Item]) -> Iterator[str]:
    tables: dict[str, dict[str, Item]] = {}
    for item in items:
        columns = tables.setdefault(item.table, {})
        before = columns.get(item.column)
        columns[item.column] = item if before is None else _joined(before, item)
    for name, columns in tables.items():
        yield f"  {_text(name)}:"
        if "" in columns:
            yield from _fields(columns.pop(""), "    ")
        if columns:
            yield "    columns:"
        for column, item in columns.items():
            yield f"      {_text(column)}:"
            yield from _fields(item, "        ")


def _joined(first: Item, second: Item) -> Item:
    """What two places of a file say of the same column."""
    descriptions = dict.fromkeys(filter(None, (first.description, second.description)))
    return replace(
        first, description="; ".join(descriptions), synonyms=tuple(dict.fromkeys(first.synonyms + second.synonyms))
    )


def _fields(item: Item, indent: str) -> Iterator[str]:
    if item.description:
        yield f"{indent}description: {_text(item.description)}"
    if item.synonyms:
        yield f"{indent}synonyms: [{', '.join(map(_text, item.synonyms))}]"


def _join(pairs: Iterable[tuple[End, End]]) -> str:
    return " AND ".join(f"{_quoted(*left)} = {_quoted(*right)}" for left, right in pairs)


def _quoted(table: str, column: str) -> str:
    parts = [part for part in (*table.split("."), column) if part]
    return ".".join(part if _WORD.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts)


def _text(text: str) -> str:
    """A text in double quotes: JSON's are YAML's, but for characters that YAML refuses even there."""
    return json.dumps("".join(c if c.isprintable() else " " for c in text), ensure_ascii=False)
