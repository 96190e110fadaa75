"""Relevant linking: what of a database a question and the queries for it bring into play (TS-SQL, section 3.1.1).

Keywords are those of the rules, columns are ranked by ``schema.index``, values are found by ``schema.values`` and
descriptions by word embeddings where these are installed; no model is asked. Of the content of the database only the
values that were found go on. Why thresholds differ from the paper's is in docs/recipes/tssql.md, with figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.context import Context
from sqljury.language import embed
from sqljury.language.keywords import by_rules
from sqljury.schema.index import Hit, Index
from sqljury.schema.joins import Joins
from sqljury.sql.resolve import used
from sqljury.sql.text import remark
from sqljury.sql.translate import in_sqlite
from sqljury.sql.tree import column_names, facts_of, tree_of
from sqljury.types import Cell, Schema, Table, Task
from sqljury.types.schema import subset
from sqljury.values.hints import Meant, meant

VALUES: Final = 6
"""Values of the database that a question may mean, the surest."""

ALIKE: Final = 0.4
"""The cosine of a keyword and a column's description from which on one is held to speak of the other."""

_TABLE_SHARE, _TABLE_SHARE_ALONE, _COLUMN_SHARE = 0.9, 0.75, 0.4
"""Of the best score, what a table (with queries, and without any) or a column must have to be in play unused."""

_EXTRA, _EXTRA_ALONE = 1, 3
"""Such tables at most, with queries and without any: a small model joins whatever it is shown."""

NARROW: Final = 6
"""Columns up to which all of a table are in play: what every query overlooks must be there for a program to see."""

Place = tuple[str, str]
"""A table and a column."""


@dataclass(frozen=True, slots=True)
class Linked:
    """What is in play: tables with columns and keys, queries in SQLite's words, values that test data must have.

    ``queries`` has None for one that cannot be said in SQLite's words. ``found`` are the values that stand in the
    database and that the question seems to mean; ``values`` has these and what the queries compare columns with.
    ``notes`` are lines on what of this database is in play.
    """

    schema: Schema
    queries: tuple[str | None, ...]
    found: Mapping[Place, tuple[str, ...]]
    values: Mapping[Place, tuple[Cell, ...]]
    notes: tuple[str, ...] = ()


def link(queries: Sequence[str], task: Task, context: Context) -> Linked:
    """What the question of ``task`` and these queries bring into play; views are left out.

    Values are looked up where ``context`` has a value index. Raises what opening that index raises.
    """
    text = f"{task.question.text} {task.question.evidence}"
    keywords = by_rules(text)
    tables = tuple(table for table in task.known.tables if table.kind == "table")
    schema = subset(task.known, {table.name: _names(table) for table in tables})
    held = {table.name: set(_names(table)) for table in used(schema, queries).tables}
    values = _values(keywords, held, context)
    columns = _columns(schema, held, text, values)
    for table, column in _described(schema, keywords):
        if table in columns:
            columns[table].add(column)
    part = _keyed(schema, columns)
    said = tuple(in_sqlite(sql, schema) for sql in queries)
    inside = [one.match for one in values if one.match.table in columns]
    found = _by_place((one.table, one.column, one.value) for one in inside)
    return Linked(part, said, found, _with_constants(part, said, found), _told(task, part))


def _told(task: Task, part: Schema) -> tuple[str, ...]:
    """The notes but those on tables that are not in play: a program would look for them among its frames."""
    inside = {table.name for table in part.tables}
    left_out = [table for table in task.known.tables if table.name not in inside]
    beginnings = tuple(f"{one.name}." for one in left_out)
    return tuple(note for note in task.notes if not note.startswith(beginnings))


def _values(keywords: Sequence[str], held: Mapping[str, set[str]], context: Context) -> list[Meant]:
    """Values that the keywords may mean; those in tables that queries use alone, where a keyword has some there."""
    if context.values is None:
        return []
    found = meant(context.values(), keywords, VALUES)
    inside = {one.keyword for one in found if one.match.table in held}
    return [one for one in found if one.match.table in held or one.keyword not in inside]


def _columns(schema: Schema, held: Mapping[str, set[str]], text: str, values: Sequence[Meant]) -> dict[str, set[str]]:
    """By table, the columns that the queries use, that hold a value, or that the question's words speak of.

    ``held`` are those of the queries. Other tables come in if a value stands there, or if they score about as well.
    Without queries, or where it is ``NARROW``, a table comes with all its columns.
    """
    scores = Index.of(schema).scores(text, [Hit(one.match.table, one.match.column, one.match.score) for one in values])
    chosen: dict[str, set[str]] = {name: set(names) for name, names in held.items()}
    ranked = sorted(range(len(schema.tables)), key=lambda at: -scores.tables[at])
    least = (_TABLE_SHARE if held else _TABLE_SHARE_ALONE) * max(scores.tables, default=0.0)
    good = [schema.tables[at].name for at in ranked if scores.tables[at] >= least > 0]
    extra = dict.fromkeys(name for name in [*(one.match.table for one in values), *good] if name not in held)
    for name in list(extra)[: _EXTRA if held else _EXTRA_ALONE]:
        chosen[name] = set()
    if not chosen and ranked:
        chosen[schema.tables[ranked[0]].name] = set()
    for one in values:
        if one.match.table in chosen:
            chosen[one.match.table].add(one.match.column)
    best = max((score for row in scores.columns for score in row), default=0.0)
    for table, row in zip(schema.tables, scores.columns, strict=True):
        if table.name in chosen:
            pairs = zip(table.columns, row, strict=True)
            whole = not held or len(table.columns) <= NARROW
            chosen[table.name] |= {one.name for one, score in pairs if whole or score >= _COLUMN_SHARE * best > 0}
    return chosen


def _described(schema: Schema, keywords: Sequence[str]) -> list[Place]:
    """For each keyword the column whose description is nearest to it, if it is near."""
    described = [(table.name, one.name, one.comment) for table in schema.tables for one in table.columns if one.comment]
    if not described or not keywords or not embed.available():
        return []
    alike = embed.vectors([remark(comment) for *_, comment in described]) @ embed.vectors(keywords).T
    best = alike.argmax(axis=0).tolist()
    return [described[at][:2] for number, at in enumerate(best) if alike[at, number] >= ALIKE]


def _keyed(schema: Schema, columns: dict[str, set[str]]) -> Schema:
    """The part with these columns, the tables on the way between them, and all their keys."""
    joins = Joins.of(schema)
    place = {table.name: at for at, table in enumerate(schema.tables)}
    inside = [place[name] for name in columns if name in place]
    for at in inside[1:]:
        for between in joins.path(at, [inside[0]], [0.0] * len(place)):
            columns.setdefault(schema.tables[between].name, set())
    for table in schema.tables:
        if table.name in columns:
            columns[table.name] |= set(table.primary_key) or set(_names(table)[:1])
            for key in table.foreign_keys:
                if key.ref_table in columns:
                    columns[table.name] |= set(key.columns)
                    columns[key.ref_table] |= set(key.ref_columns)
    return subset(schema, columns)


def _with_constants(
    part: Schema, queries: Sequence[str | None], found: Mapping[Place, tuple[str, ...]]
) -> dict[Place, tuple[Cell, ...]]:
    """The values, and the texts that queries compare a column with; numbers are bounds more often than values."""
    names = column_names(part)
    facts = facts_of([tree for sql in queries if sql and (tree := tree_of(sql, names)) is not None])
    every: dict[Place, tuple[Cell, ...]] = {}
    for table in part.tables:
        for column in table.columns:
            place = table.name, column.name
            texts = [
                value for value in facts.constants.get(column.name.lower(), ()) if isinstance(value, str) and value
            ]
            if both := tuple(dict.fromkeys((*found.get(place, ()), *texts))):
                every[place] = both
    return every


def _by_place(values: Iterable[tuple[str, str, str]]) -> dict[Place, tuple[str, ...]]:
    found: dict[Place, tuple[str, ...]] = {}
    for table, column, value in values:
        found[table, column] = (*found.get((table, column), ()), value)
    return found


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]
