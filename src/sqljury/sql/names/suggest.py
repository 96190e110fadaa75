"""Lines for a prompt: the unknown names of a failed query, each with the nearest known ones.

They come from the parsed query and the schema, not from the engine's message, which each engine words differently and
which names only one of them. Every name in a line is quoted as a query needs it and cannot leave its line.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Final

from sqljury.language.alike import nearest
from sqljury.sql import text
from sqljury.sql.names.routes import Route, Routes
from sqljury.sql.parse import errors, exp, parse_one, quiet, tokenize
from sqljury.sql.resolve import Sources, read_sources, table_named
from sqljury.types import DIALECT_NAMES, Schema, Table

LINES: Final = 4
"""Most lines for one query: each costs tokens, and small models follow the first line best."""
_NAMES: Final = 3
_ALL: Final = 12
_ROW_IDS: Final = frozenset({"rowid", "oid", "_rowid_", "ctid"})
_WORD: Final = re.compile(r"\w+")
_BARE: Final = re.compile(r"[^\W\d]\w{0,40}")


@quiet()
def unknown(sql: str, schema: Schema) -> list[str]:
    """Unknown tables, unknown and ambiguous columns of a query, each with the nearest there is; at most ``LINES``.

    Empty for a query that cannot be parsed, or whose names are all there.
    """
    try:
        selects = read_sources(parse_one(sql, schema.dialect), schema)
        return _first(line for sources in selects for line in _Reader(sources).lines())
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return []  # a parser's own bug on odd text too


def _first(candidates: Iterable[str]) -> list[str]:
    """Different lines, ``LINES`` at most; the rest is not even looked for."""
    lines: dict[str, None] = {}
    for line in candidates:
        lines[line] = None
        if len(lines) == LINES:
            break
    return list(lines)


@quiet()
def unknown_functions(sql: str, dialect: str, known: Collection[str], error: str) -> list[str]:
    """Functions of a query that the engine's ``error`` names and that are not among ``known``, with the nearest."""
    mentioned = {word.lower() for word in _WORD.findall(error)}
    try:
        tokens = tokenize(sql, dialect)
    except (errors.SqlglotError, RecursionError):
        return []
    called = {token.text for token, following in pairwise(tokens) if following.token_type.name == "L_PAREN"}
    return _first(
        _function_line(name, dialect, known)
        for name in sorted(called)
        if name.lower() in mentioned and name.lower() not in known and _WORD.fullmatch(name)
    )


@functools.cache
def _equivalents() -> dict[tuple[str, str], str]:
    """By dialect and function of another dialect, what stands for it, from ``equivalents.tsv``."""
    lines = files("sqljury.sql.names").joinpath("equivalents.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {(dialect, name): written for dialect, names, written in rows for name in names.split()}


def _function_line(name: str, dialect: str, known: Collection[str]) -> str:
    if (written := _equivalents().get((dialect, name.lower()))) is not None:
        return f"{DIALECT_NAMES[dialect]} has no function {text.plain(name, 40)}; it has {written}"
    near = difflib.get_close_matches(name.lower(), sorted(function.lower() for function in known), _NAMES)
    instead = f"; nearest: {', '.join(near)}" if near else ""
    return f"{DIALECT_NAMES.get(dialect, dialect)} has no function {text.plain(name, 40)}{instead}"


class _Reader:
    """Reads one SELECT. ``_outputs`` has the columns of what stands in FROM, by alias; None where they are unknown."""

    def __init__(self, sources: Sources) -> None:
        self._sources, self._schema, self._tables = sources, sources.schema, sources.tables
        self._outputs: dict[str, Sequence[str] | None] = {}
        self._missing: list[str] = []
        self._routes = Routes(self._schema)
        for alias, (_, source) in sources.scope.selected_sources.items():
            self._outputs[alias] = sources.outputs(alias)
            if alias not in self._tables and isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                self._missing.append(source.name)

    def lines(self) -> Iterator[str]:
        yield from map(self._table_line, self._missing)
        if self._missing or not self._outputs:
            return
        columns = self._sources.scope.find_all(exp.Column)
        named = [column for column in columns if isinstance(column.this, exp.Identifier)]
        for column in {(node.table, node.name, node.this.quoted): node for node in named}.values():
            if line := self._line(column):
                yield line[: text.COMMENT_CHARS * 2]

    def _line(self, column: exp.Column) -> str | None:
        """What is wrong with a column, None where nothing is known to be."""
        if column.name.lower() in _ROW_IDS:
            return None
        if column.table:
            return self._qualified(column)
        owners = self._owners(column)
        if len(owners) > 1:
            return None if self._merged(column) or self._is_output(column) else self._ambiguous(column, owners)
        literal = column.this.quoted and self._schema.dialect in ("sqlite", "mysql")  # there it is read as text
        if owners or literal or None in self._outputs.values() or self._is_output(column) or self._outside(column):
            return None
        alone = len(self._outputs) == 1 and "" not in self._outputs  # a subquery may have no name
        lacks = f"{self._called(*self._outputs)} has no" if alone else "no table of this query has a"
        return self._lacking(column, f"{lacks} column {self._quoted(column.name)}", self._outputs)

    def _qualified(self, column: exp.Column) -> str | None:
        alias = next((known for known in self._outputs if known.lower() == column.table.lower()), None)
        if alias is None:
            outputs = self._outputs.values()
            is_field = any(names is None or _among(column.table, names) for names in outputs)
            if (
                column.table.lower() in self._outer_names() or is_field
            ):  # of a query around this one, or a field of a column
                return None
            fault = f"{self._quoted(column.table)} is no table or alias of this query, which has {self._aliases()}"
            return self._lacking(column, fault, self._outputs)
        names = self._outputs[alias]
        if names is None or self._has(names, column):
            return None
        return self._lacking(column, f"{self._called(alias)} has no column {self._quoted(column.name)}", [alias])

    def _lacking(self, column: exp.Column, fault: str, meant: Collection[str]) -> str:
        """``fault``, with where the column is, or else the nearest of the sources ``meant`` and of other tables."""
        here = self._owners(column)
        if here:
            return f"{fault}; {self._qualify(here[0], column.name)} is there"
        holders = [table for table in self._schema.tables if self._has(_column_names(table), column)]
        named = [table for table in holders if table.name.lower() == column.table.lower()]  # that FROM lacks
        references = [self._elsewhere(table, column.name) for table in (named or holders)[:_ALL]]
        elsewhere = sorted(references, key=_distance)[: _NAMES - 1]
        joined = [reference for reference in elsewhere if _distance(reference)[1]]
        if joined:
            return "; ".join((fault, *joined))
        near = [near_name for alias in meant for near_name in self._near(column.name, alias)][:_NAMES]
        if near or elsewhere:
            nearest_here = [f"nearest: {', '.join(near)}"] if near else []
            return "; ".join((fault, *nearest_here, *elsewhere))
        names = dict.fromkeys(name for table in self._schema.tables for name in _column_names(table))
        for guess in nearest(column.name, list(names), 1):
            tables = [table for table in self._schema.tables if guess in _column_names(table)]
            return f"{fault}; nearest: {' or '.join(self._elsewhere(table, guess) for table in tables[:2])}"
        only = [name for alias in meant for name in self._outputs[alias] or ()]
        return f"{fault}, only {', '.join(map(self._quoted, only))}" if len(only) <= _ALL and len(meant) == 1 else fault

    def _near(self, name: str, alias: str) -> list[str]:
        return [self._qualify(alias, near) for near in nearest(name, self._outputs[alias] or ())]

    def _elsewhere(self, table: Table, column: str) -> str:
        """A column of a table that the query does not have, with the join that brings it in."""
        name = next(known.name for known in table.columns if known.name.lower() == column.lower())
        ways = self._routes.to(self._tables, lambda other: other is table, guess=True)
        route = ways[0] if ways else None
        qualified = f"{self._table(table)}.{self._quoted(name)}"
        return qualified if route is None else f"{qualified} ({self._joins(route)})"

    def _joins(self, route: Route) -> str:
        joins = []
        for start, step in route:
            alias = self._alias(start)
            if start not in self._tables:
                alias = self._table(table_named(self._schema, start) or step.table)
            pairs = zip(step.here, step.there, strict=True)
            on = [f"{alias}.{self._quoted(h)} = {self._table(step.table)}.{self._quoted(t)}" for h, t in pairs]
            joins.append(f"JOIN {self._table(step.table)} ON {' AND '.join(on)}")
        return " ".join(joins)

    def _ambiguous(self, column: exp.Column, owners: Sequence[str]) -> str:
        return (
            f"{self._quoted(column.name)} may be {' or '.join(self._qualify(alias, column.name) for alias in owners)}"
        )

    def _table_line(self, name: str) -> str:
        tables = {table.name: table for table in self._schema.tables}
        near = [self._table(tables[near_name]) for near_name in nearest(name, list(tables))]
        if not near and (holder := self._holder(name)) is not None:
            return f"there is no table {self._quoted(name)}; {self._table(holder)} has the columns that the query names"
        every = [self._table(table) for table in self._schema.tables]
        hint = f"nearest: {', '.join(near)}" if near else f"there are {', '.join(every[:_ALL])}"
        return f"there is no table {self._quoted(name)}; {hint}"

    def _holder(self, missing: str) -> Table | None:
        """The one table that has all columns which the query looks for in a table that is not there."""
        aliases = {missing.lower()} | {
            alias.lower() for alias, node in self._sources.others.items() if getattr(node, "name", "") == missing
        }
        columns = list(self._sources.scope.find_all(exp.Column))
        wanted = [column for column in columns if column.table.lower() in aliases]
        if len(self._outputs) == 1:
            wanted += [column for column in columns if not column.table]
        names = {column.name.lower() for column in wanted if isinstance(column.this, exp.Identifier)}
        holders = [
            table
            for table in self._schema.tables
            if len(names) > 1 and names <= {name.lower() for name in _column_names(table)}
        ]
        return holders[0] if len(holders) == 1 else None

    def _owners(self, column: exp.Column) -> list[str]:
        return [alias for alias, names in self._outputs.items() if names is not None and self._has(names, column)]

    def _has(self, names: Sequence[str], column: exp.Column) -> bool:
        """PostgreSQL folds a bare name to lower case and takes a quoted one as it is; the others ignore case."""
        if self._schema.dialect == "postgres":
            return (column.name if column.this.quoted else column.name.lower()) in names
        return _among(column.name, names)

    def _merged(self, column: exp.Column) -> bool:
        """Whether NATURAL or USING make one column of several."""
        joins = self._sources.scope.expression.args.get("joins") or ()
        using = [name.name for join in joins for name in join.args.get("using") or ()]
        return _among(column.name, using) or any(join.method == "NATURAL" for join in joins)

    def _is_output(self, column: exp.Column) -> bool:
        """Whether the SELECT names one of its outputs so; where such a name may stand differs by engine."""
        selects = getattr(self._sources.scope.expression, "selects", ())
        return _among(column.name, [item.alias for item in selects if item.alias])

    def _outside(self, column: exp.Column) -> bool:
        """Whether a query around this one may have the column."""
        sources = self._sources.around
        while sources is not None:
            around = _Reader(sources)
            if None in around._outputs.values() or around._owners(column):
                return True
            sources = sources.around
        return False

    def _outer_names(self) -> set[str]:
        names: set[str] = set()
        sources: Sources | None = self._sources
        while sources is not None:
            names |= {alias.lower() for alias in sources.scope.sources}
            sources = sources.around
        return names

    def _aliases(self) -> str:
        return ", ".join(self._called(alias) for alias in list(self._outputs)[:_ALL])

    def _called(self, alias: str) -> str:
        """An alias with its table; the table alone where it has no other name."""
        table = self._tables.get(alias)
        if table is None or table.name.lower() == alias.lower():
            return self._alias(alias)
        return f"{self._alias(alias)} ({self._table(table)})"

    def _alias(self, alias: str) -> str:
        """A table's name as it must be quoted; any other alias as the query wrote it, where that is a word."""
        table = self._tables.get(alias)
        return alias if (table is None or table.name != alias) and _BARE.fullmatch(alias) else self._quoted(alias)

    def _qualify(self, alias: str, name: str) -> str:
        names = self._outputs[alias] or ()
        known = next((known for known in names if known.lower() == name.lower()), name)
        return f"{self._alias(alias)}.{self._quoted(known)}"

    def _quoted(self, name: str) -> str:
        return text.name(name, self._schema.dialect)

    def _table(self, table: Table) -> str:
        return text.table_name(table.name, table.schema, self._schema.dialect)


def _distance(reference: str) -> tuple[bool, int]:
    """Sort key: columns that joins lead to, the fewest joins first, then the others."""
    joins = reference.count("JOIN ")
    return joins == 0, joins


def _column_names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _among(name: str, names: Collection[str]) -> bool:
    return any(other.lower() == name.lower() for other in names)
