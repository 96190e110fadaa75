"""Binds unknown names of a query to the schema: repairs without a model.

Small models often name the right column and the wrong table: they qualify it with the wrong alias, or leave out the
join to its table. The schema shows both. A few possible readings are ranked by the keys that lead to the column and by
the question's words; with many readings, or if a join would change the meaning of the rest of the query, the query is
left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from sqljury.sql.grouping import group_outputs
from sqljury.sql.names.columns import Binder
from sqljury.sql.names.imagined import left_out
from sqljury.sql.names.near import near_tables
from sqljury.sql.names.readings import MAX_UNKNOWN, PLAUSIBLE, READINGS, Option, Reading
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.resolve import Sources, bare_name, find_table, identifier, read_sources
from sqljury.types import Schema, Table

__all__ = ["MAX_NAMES", "MAX_UNKNOWN", "Binding", "bindings", "rebindings"]

MAX_NAMES: Final = 1000
"""Most references to tables and columns in a query; a longer one is left as it is."""
_TRIES: Final = 4
_OTHER_SCHEMA: Final = 0.9


class Binding(NamedTuple):
    """A query with its names bound, how likely this reading of it is, and the kinds of repairs in it."""

    sql: str
    score: float
    kinds: tuple[str, ...]


def rebindings(sql: str, schema: Schema, question: str = "") -> list[str]:
    """The texts of ``bindings``."""
    return [binding.sql for binding in bindings(sql, schema, question)]


@quiet()
def bindings(sql: str, schema: Schema, question: str = "") -> list[Binding]:
    """The readings of a query whose unknown names are bound to the schema, likeliest first; at most ``READINGS``.

    A column that its table does not have is, in this order: a misspelt one of that table; one of another table of the
    query; one of a table that keys lead to, which is joined in; a near name of the tables that the query has. Two
    tables joined on a column that one of them lacks are joined along keys. Tables that do not exist take the most
    similar table's name; one that is a column it was joined on is left out. Columns that two tables share are
    qualified, names quoted where the engine needs it, and a query that is ordered by an aggregate grouped. Empty where
    nothing could be bound. The results are parsed, not run: whether they answer is for the caller to see.
    """
    try:
        first = _bound(sql, schema, question, {})
        if first is None:
            return []
        best, reading = first
        others: list[Binding] = []
        for picks in _other_picks(reading)[:_TRIES]:
            other = _bound(sql, schema, question, picks)
            if other is not None and other[0].sql not in {best.sql, *(binding.sql for binding in others)}:
                others.append(other[0])
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return []  # a parser's own bug on odd text too
    return [best, *others][:READINGS]


def _bound(sql: str, schema: Schema, question: str, picks: Mapping[int, int]) -> tuple[Binding, Reading] | None:
    tree = parse_one(sql, schema.dialect)
    if sum(1 for _ in tree.find_all(exp.Table, exp.Column)) > MAX_NAMES:
        return None
    reading = Reading(schema, question, picks)
    changed = _rename_tables(tree, reading)
    for sources in read_sources(tree, schema):
        changed |= Binder(sources, reading).bind()
    for sources in read_sources(tree, schema):
        changed |= _spell(sources, reading) | _grouped(sources, reading)
    if not changed or _vacuous(tree):
        return None
    return Binding(tree.sql(dialect=schema.dialect), reading.score, tuple(reading.kinds)), reading


def _other_picks(reading: Reading) -> list[dict[int, int]]:
    """Readings that differ in one decision, the likeliest first."""
    others = [
        (scores[number] / scores[0], {decision: number})
        for decision, scores in enumerate(reading.decisions)
        for number in range(1, len(scores))
    ]
    return [picks for share, picks in sorted(others, key=lambda item: -item[0]) if share >= PLAUSIBLE]


def _vacuous(tree: exp.Expr) -> bool:
    """Whether a condition compares a column with itself, so that the repair made a join meaningless."""
    return any(
        isinstance(node.this, exp.Column) and node.this.sql().lower() == node.expression.sql().lower()
        for node in tree.find_all(exp.EQ)
    )


def _rename_tables(tree: exp.Expr, reading: Reading) -> bool:
    """Rename tables that the schema does not have to ones that it has; True if any was renamed."""
    schema = reading.schema
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    changed = False
    for node in list(tree.find_all(exp.Table)):
        known = find_table(schema, node)
        if not isinstance(node.this, exp.Identifier) or (not node.db and node.name.lower() in ctes):
            continue
        if known is not None and known.schema.lower() in ("", node.db.lower()):
            if node.db and not known.schema and node.db.lower() != schema.default.lower():
                changed |= _elsewhere(node, known, reading)
            continue
        reading.search()
        bare = [table for table in schema.tables if bare_name(table).lower() == node.name.lower()]
        names = set() if bare else set(near_tables(node.name, schema))
        if not bare and left_out(node, schema, like_others=bool(names)):
            reading.kinds["table that is a column"] = None
            changed = True
            continue
        tables = bare or [table for table in schema.tables if table.name in names]
        options = [
            Option(
                (_OTHER_SCHEMA if bare else 1.0) * reading.asks_for(table),
                "schema of a table" if bare else "table name",
                lambda node=node, table=table: _name_table(node, table, schema.dialect),  # type: ignore[misc]
            )
            for table in tables
        ]
        changed |= reading.choose(options)
    return changed


def _elsewhere(node: exp.Table, known: Table, reading: Reading) -> bool:
    """Drop a schema's name from a table that stands in the default schema."""
    schemas = {table.schema.lower() for table in reading.schema.tables}
    if node.db.lower() not in schemas and node.db.lower() in ("public", "main", "dbo", ""):
        return False
    reading.kinds["schema of a table"] = None
    _name_table(node, known, reading.schema.dialect)
    return True


def _name_table(node: exp.Table, table: Table, dialect: str) -> None:
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
    if node.alias.lower() == bare_name(table).lower():
        node.set("alias", None)
    node.set("this", identifier(bare_name(table), dialect))
    node.set("db", identifier(table.schema, dialect) if table.schema else None)
    node.set("catalog", None)


def _spell(sources: Sources, reading: Reading) -> bool:
    """Names in the case that the engine needs: PostgreSQL folds bare ones, MySQL tells tables apart by case."""
    dialect = sources.schema.dialect
    if dialect not in ("postgres", "mysql"):
        return False
    pairs = [*_table_names(sources), *(_column_names(sources) if dialect == "postgres" else ())]
    wrong = [(node, name) for node, name in pairs if _folded(node, dialect) != name]
    for node, name in wrong:
        node.replace(identifier(name, dialect))
    if wrong:
        reading.kinds["case of a name"] = None
    return bool(wrong)


def _folded(node: exp.Identifier, dialect: str) -> str:
    return node.name if node.quoted or dialect != "postgres" else node.name.lower()


def _table_names(sources: Sources) -> Iterator[tuple[exp.Identifier, str]]:
    for alias, table in sources.tables.items():
        node = sources.scope.selected_sources[alias][0]
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            yield node.this, bare_name(table)


def _column_names(sources: Sources) -> Iterator[tuple[exp.Identifier, str]]:
    """The names of columns with those of the schema, and the qualifiers of tables that have no alias."""
    for column in sources.scope.find_all(exp.Column):
        qualifier = column.args.get("table")
        alias = sources.alias(column.table) if column.table else next(iter(sources.owners(column.name)), None)
        if alias is None or not isinstance(column.this, exp.Identifier | exp.Star):
            continue
        table = sources.tables[alias]
        names = [known.name for known in table.columns if known.name.lower() == column.name.lower()]
        if isinstance(column.this, exp.Identifier) and len(names) == 1:
            yield column.this, names[0]
        if qualifier is not None and not sources.scope.selected_sources[alias][0].alias:
            yield qualifier, bare_name(table)


def _grouped(sources: Sources, reading: Reading) -> bool:
    if not group_outputs(sources):
        return False
    reading.kinds["groups"] = None
    return True
