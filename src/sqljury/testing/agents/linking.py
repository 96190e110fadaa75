"""Relevant linking: what of a database a question and the queries for it bring into play (TS-SQL, section 3.1.1).

Keywords are those of the rules, columns are ranked by ``schema.index``, values are found by the value index and
descriptions by word embeddings where these are installed; no model is asked. Of the database's content only the linked
values are passed on. docs/recipes/tssql.md says, with figures, why thresholds differ from the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.context import Context
from sqljury.language import embed
from sqljury.language.keywords import by_rules
from sqljury.schema.index import Hit, Index
from sqljury.schema.joins import Joins
from sqljury.sql.resolve import column_names, used
from sqljury.sql.text import remark
from sqljury.sql.translate import in_sqlite
from sqljury.sql.tree import facts_of, tree_of
from sqljury.testing.cells import ColumnKey
from sqljury.types import Cell, Schema, Table, Task
from sqljury.types.schema import subset
from sqljury.values.hints import Meant, meant

VALUES: Final = 6
"""Values of the database that a question may mean, those of the highest scores."""

ALIKE: Final = 0.4
"""The least cosine of a keyword and a column's description that links them."""

_TABLE_SHARE, _TABLE_SHARE_ALONE, _COLUMN_SHARE = 0.9, 0.75, 0.4
"""The share of the best score that brings a table (with queries, and without any) or a column into play unused."""

_EXTRA, _EXTRA_ALONE = 1, 3
"""Such tables at most, with queries and without any: a small model joins whatever it is shown."""

NARROW: Final = 6
"""Columns up to which all of a table are in play: a program needs to see what every query overlooks."""


@dataclass(frozen=True, slots=True)
class Linked:
    """What is in play: tables with columns and keys, queries in SQLite's dialect, values that test data must have.

    ``queries`` has None for one that cannot be translated to SQLite. ``named_values`` are the values of the database
    that the question seems to mean; ``values`` has these and what the queries compare columns with. ``notes`` are those
    of the task on what is in play.
    """

    schema: Schema
    queries: tuple[str | None, ...]
    named_values: Mapping[ColumnKey, tuple[str, ...]]
    values: Mapping[ColumnKey, tuple[Cell, ...]]
    notes: tuple[str, ...] = ()


def link(queries: Sequence[str], task: Task, context: Context) -> Linked:
    """What the question of ``task`` and these queries bring into play; views are left out.

    Values are looked up where ``context`` has a value index. Raises what opening that index raises.
    """
    text = f"{task.question.text} {task.question.evidence}"
    keywords = by_rules(text)
    tables = tuple(table for table in task.known.tables if not table.is_view)
    schema = subset(task.known, {table.name: _names(table) for table in tables})
    held = {table.name: set(_names(table)) for table in used(schema, queries).tables}
    values = _values(keywords, held, context)
    columns = _columns(schema, held, text, values)
    for table, column in _described(schema, keywords):
        if table in columns:
            columns[table].add(column)
    part = _keyed(schema, columns)
    texts = tuple(in_sqlite(sql, schema) for sql in queries)
    matched: dict[ColumnKey, tuple[str, ...]] = {}
    for match in (value.match for value in values if value.match.table in columns):
        key = match.table, match.column
        matched[key] = (*matched.get(key, ()), match.value)
    return Linked(part, texts, matched, _with_constants(part, texts, matched), _notes(task, part))


def _notes(task: Task, part: Schema) -> tuple[str, ...]:
    """The notes without those on tables that are not in play: a program would look for them among its frames."""
    inside = {table.name for table in part.tables}
    left_out = tuple(f"{table.name}." for table in task.known.tables if table.name not in inside)
    return tuple(note for note in task.notes if not note.startswith(left_out))


def _values(keywords: Sequence[str], held: Mapping[str, set[str]], context: Context) -> list[Meant]:
    """Values that the keywords may mean; where a keyword has some in tables that queries use, only those."""
    if context.values is None:
        return []
    values = meant(context.values(), keywords, VALUES)
    inside = {value.keyword for value in values if value.match.table in held}
    return [value for value in values if value.match.table in held or value.keyword not in inside]


def _columns(schema: Schema, held: Mapping[str, set[str]], text: str, values: Sequence[Meant]) -> dict[str, set[str]]:
    """By table, the columns that the queries use, that hold a value, or that match the question's words.

    ``held`` are those of the queries. Other tables are added if they hold a value, or score about as well. Without
    queries, and up to ``NARROW`` columns, a table comes with all its columns.
    """
    matches = [value.match for value in values]
    scores = Index.of(schema).scores(text, [Hit(match.table, match.column, match.score) for match in matches])
    chosen: dict[str, set[str]] = {name: set(names) for name, names in held.items()}
    ranked = sorted(range(len(schema.tables)), key=lambda index: -scores.tables[index])
    least = (_TABLE_SHARE if held else _TABLE_SHARE_ALONE) * max(scores.tables, default=0.0)
    good = [schema.tables[index].name for index in ranked if scores.tables[index] >= least > 0]
    extra = dict.fromkeys(name for name in [*(match.table for match in matches), *good] if name not in held)
    for name in list(extra)[: _EXTRA if held else _EXTRA_ALONE]:
        chosen[name] = set()
    if not chosen and ranked:
        chosen[schema.tables[ranked[0]].name] = set()
    for match in matches:
        if match.table in chosen:
            chosen[match.table].add(match.column)
    best = max((score for row in scores.columns for score in row), default=0.0)
    for table, row in zip(schema.tables, scores.columns, strict=True):
        if table.name in chosen:
            pairs = zip(table.columns, row, strict=True)
            whole = not held or len(table.columns) <= NARROW
            chosen[table.name] |= {column.name for column, score in pairs if whole or score >= _COLUMN_SHARE * best > 0}
    return chosen


def _described(schema: Schema, keywords: Sequence[str]) -> list[ColumnKey]:
    """For each keyword the column whose description is nearest to it, if their cosine is ``ALIKE``."""
    described = [(table.name, c.name, c.comment) for table in schema.tables for c in table.columns if c.comment]
    if not described or not keywords or not embed.available():
        return []
    alike = embed.vectors([remark(comment) for *_, comment in described]) @ embed.vectors(keywords).T
    best = alike.argmax(axis=0).tolist()
    return [described[index][:2] for number, index in enumerate(best) if alike[index, number] >= ALIKE]


def _keyed(schema: Schema, columns: dict[str, set[str]]) -> Schema:
    """The part with these columns, the tables on the way between them, and all their keys."""
    joins = Joins.of(schema)
    index_of = {table.name: index for index, table in enumerate(schema.tables)}
    inside = [index_of[name] for name in columns if name in index_of]
    for index in inside[1:]:
        for between in joins.path(index, [inside[0]], [0.0] * len(index_of)):
            columns.setdefault(schema.tables[between].name, set())
    for table in schema.tables:
        if table.name in columns:
            columns[table.name] |= set(table.row_key) or set(_names(table)[:1])
            for key in table.foreign_keys:
                if key.ref_table in columns:
                    columns[table.name] |= set(key.columns)
                    columns[key.ref_table] |= set(key.ref_columns)
    return subset(schema, columns)


def _with_constants(
    part: Schema, queries: Sequence[str | None], matched: Mapping[ColumnKey, tuple[str, ...]]
) -> dict[ColumnKey, tuple[Cell, ...]]:
    """``matched``, and the texts that queries compare a column with; numbers are bounds more often than values."""
    names = column_names(part)
    facts = facts_of([tree for sql in queries if sql and (tree := tree_of(sql, names)) is not None])
    values: dict[ColumnKey, tuple[Cell, ...]] = {}
    for table in part.tables:
        for column in table.columns:
            key, constants = (table.name, column.name), facts.constants.get(column.name.lower(), ())
            texts = [value for value in constants if isinstance(value, str) and value]
            if both := tuple(dict.fromkeys((*matched.get(key, ()), *texts))):
                values[key] = both
    return values


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]
