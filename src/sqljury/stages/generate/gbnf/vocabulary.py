"""Names that a query may use: those of the schema, and those that it may make up."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from sqljury.sql.text import quote_name, quote_table
from sqljury.stages.generate.gbnf import Names
from sqljury.types import Column, Schema, Table

_UNREADABLE: Final = re.compile("```|;\n|\x00|[\ud800-\udfff]")
"""In a name, what would end a reply or its fence, or that no query may hold: such a name cannot be written."""

_WORD: Final = re.compile(r"[A-Z]?[a-z]{2,24}|[A-Z]{2,24}")
_MEASURES: Final = "average avg cnt count diff max min n num number rank ratio rn share sum total"
_TITLES: Final = "counts derived result sub subquery temp tmp totals"


def name_rules(schema: Schema) -> dict[str, str]:
    """The rules for names, see ``sql.txt``."""
    tables = [table for table in schema.tables if _readable(table.name)]
    columns = [column for table in tables for column in table.columns]
    rules, rule_names = _own_columns(schema, tables)
    refs, stars, sources = Names(), Names(), Names()
    _add_columns(refs, schema, columns)
    for table, rule in zip(tables, rule_names, strict=True):
        for name, fold in _table_spellings(schema, table, whole=False):
            refs.add(name, f'"." {rule}', fold=fold)
            stars.add(name, fold=fold)
        for name, fold in _table_spellings(schema, table, whole=True):
            sources.add(name, fold=fold)
    short = _short(schema, tables)
    for alias in short:
        refs.add(alias, '"." column')
        stars.add(alias)
    return rules | {
        "column": _columns(schema, columns),
        "table": sources.write(),
        "refp": refs.write(),
        "star": f'({stars.write()}) ".*"',
        "short": _trie(short),
        "title": _trie([*short, *_TITLES.split()]),
        "measure": _measures(schema),
        "refd": 'refp | measure | title "." (column | measure)',
    }


def _own_columns(schema: Schema, tables: list[Table]) -> tuple[dict[str, str], list[str]]:
    """A rule for the columns of each table, one for tables with the same, and the rule's name for each table."""
    known: dict[str, str] = {}
    rule_names = [known.setdefault(_columns(schema, table.columns), f"columns-{at}") for at, table in enumerate(tables)]
    return {name: body for body, name in known.items()}, rule_names


def _columns(schema: Schema, columns: list[Column] | tuple[Column, ...]) -> str:
    names = Names()
    _add_columns(names, schema, columns)
    return names.write()


def _add_columns(names: Names, schema: Schema, columns: list[Column] | tuple[Column, ...]) -> None:
    for name in dict.fromkeys(column.name for column in columns if _readable(column.name)):
        for spelling, fold in _spellings(name, schema.dialect):
            names.add(spelling, fold=fold)


def _spellings(name: str, dialect: str) -> Iterator[tuple[str, bool]]:
    """A name bare, where that works, and in quotes, each with whether its case may differ."""
    spelt = quote_name(name, dialect)
    if spelt == name:
        yield name, True
    folds = dialect != "postgres"
    for mark in {"mysql": "`", "sqlite": '"`'}.get(dialect, '"'):
        yield mark + name.replace(mark, mark * 2) + mark, folds


def _table_spellings(schema: Schema, table: Table, *, whole: bool) -> Iterator[tuple[str, bool]]:
    """A table's name as FROM has it, and (not ``whole``) also without its schema, as it may stand before a column."""
    case = schema.dialect != "mysql"  # there a table may be a file, and its name has one case
    if table.schema:
        yield quote_table(table.name, table.schema, schema.dialect), False
    if not table.schema or not whole:
        name = table.name.removeprefix(table.schema + ".") if table.schema else table.name
        yield from ((spelling, fold and case) for spelling, fold in _spellings(name, schema.dialect))


def _short(schema: Schema, tables: list[Table]) -> list[str]:
    """Aliases of tables: t1 to t9, a letter or its double, a letter and a number, and initials of the tables."""
    aliases = [*(f"t{number}" for number in range(1, 10)), *string.ascii_lowercase]
    aliases += ["".join(pair) for pair in product(string.ascii_lowercase, "12")]
    aliases += ["".join(part[0] for part in _WORD.findall(table.name)).lower()[:4] for table in tables]
    aliases += [
        word.lower()[:length] for table in tables for word in _WORD.findall(table.name)[:1] for length in (2, 3)
    ]
    return [alias for alias in dict.fromkeys(aliases) if alias and quote_name(alias, schema.dialect) == alias]


def _measures(schema: Schema) -> str:
    """What a subquery in FROM may call its results: SELECT has to use the names before it gives them."""
    return _trie(word for word in _MEASURES.split() if quote_name(word, schema.dialect) == word)


def _trie(words: Iterable[str]) -> str:
    names = Names()
    for word in words:
        names.add(word)
    return names.write()


def _readable(name: str) -> bool:
    return _UNREADABLE.search(name) is None
