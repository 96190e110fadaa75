"""One style for queries: the same text for queries that differ in case, blanks, quotes and aliases only.

The style is that of the embedded model's own candidates (600 questions of Spider's train split, 3,448 queries as it
wrote them, ``benchmarks/candidates``): one line without a semicolon; keywords and functions in capitals; texts in
single quotes (95 % of the queries with texts); ``!=`` (47 of 54) and ``x NOT IN`` (211 of 212); tables of a join with
the aliases T1, T2, ... (82 %) before every column, a table alone without an alias; names as the schema writes them.
JOIN and INNER JOIN, of which it writes either as often, stay as they are.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.parse import errors, exp, quiet, read_query, write
from sqljury.sql.resolve import (
    Sources,
    bare_name,
    column_names,
    find_table,
    from_items,
    quoted_texts,
    read_sources,
)
from sqljury.sql.text import quote_name
from sqljury.types import Schema

_RESPELT: Final = {"<>": "!=", "EXISTS(": "EXISTS ("}
_PIECE: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|<>|\bEXISTS\(""")


@quiet()
def restyled(sql: str, schema: Schema) -> str | None:
    """The query in the one style; None where it cannot be parsed as a single query or written again.

    Names of output columns may change; whether it returns the same rows, only running both can tell.
    """
    tree = read_query(sql, schema.dialect)
    if tree is None:
        return None
    try:
        for column in quoted_texts(tree, column_names(schema)):
            column.replace(exp.Literal.string(column.name))
        sources = read_sources(tree, schema)
        follows_outer = any(_refers_out(source) for source in sources)
        for source in sources:
            _spell(source)
        for source in sources:
            if not follows_outer and (select := _plain_select(source)) is not None:
                _alias(source, select)
        for name in tree.find_all(exp.Identifier):
            name.set("quoted", name.quoted and quote_name(name.name, schema.dialect) != name.name)
        for node in list(tree.find_all(exp.Not)):
            _negate(node, schema.dialect)
        text = write(tree, schema.dialect, comments=False)
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return None  # a parser's own bug on odd text too
    return _PIECE.sub(lambda match: _RESPELT.get(match.group(), match.group()), text)


def _refers_out(sources: Sources) -> bool:
    """Whether a SELECT may name a column of the query around it: then its aliases must stay distinct from those."""
    for column in sources.scope.find_all(exp.Column):
        known = {alias.lower() for alias in (*sources.tables, *sources.others)}
        if column.table:
            if column.table.lower() not in known:
                return True
        elif not sources.owners(column.name) and sources.around is not None and sources.holders(column.name, ""):
            return True
    return False


def _spell(sources: Sources) -> None:
    """Write the names of tables and columns as the schema does."""
    for column in sources.scope.find_all(exp.Column):
        names = {name for _, held in sources.holders(column.name, column.table) for name in held}
        if len(names) == 1 and isinstance(column.this, exp.Identifier):
            column.this.set("this", names.pop())
    for item in from_items(sources.scope.expression) if isinstance(sources.scope.expression, exp.Select) else ():
        table = find_table(sources.schema, item) if isinstance(item, exp.Table) else None
        if table is not None and isinstance(item.this, exp.Identifier):
            item.this.set("this", bare_name(table))


def _plain_select(sources: Sources) -> exp.Select | None:
    """A SELECT of tables of the schema alone, tied by conditions rather than by common names; None for others."""
    select = sources.scope.expression
    if not isinstance(select, exp.Select) or sources.others or not sources.tables:
        return None
    joins = select.args.get("joins") or ()
    by_name = any(join.args.get("using") or join.method == "NATURAL" for join in joins)
    return None if by_name or len(sources.tables) != len(from_items(select)) else select


def _alias(sources: Sources, select: exp.Select) -> None:
    """T1, T2, ... for the tables of a join and before their columns; no alias for a table alone."""
    items = from_items(select)
    alone = len(items) == 1
    names = {item.alias_or_name.lower(): "" if alone else f"T{at}" for at, item in enumerate(items, 1)}
    outputs = {item.alias.lower() for item in select.selects if item.alias}
    for column in sources.scope.find_all(exp.Column):
        qualifier = column.table.lower()
        if not qualifier and not alone:
            owners = sources.owners(column.name)
            qualifier = owners[0].lower() if len(owners) == 1 and column.name.lower() not in outputs else ""
        if qualifier in names:
            column.set("table", exp.to_identifier(names[qualifier]) if names[qualifier] else None)
    for item in items:
        alias = names[item.alias_or_name.lower()]
        item.set("alias", exp.TableAlias(this=exp.to_identifier(alias)) if alias else None)


def _negate(node: exp.Not, dialect: str) -> None:
    """``x NOT IN (...)`` and ``x IS NOT NULL`` for ``NOT x IN (...)`` and ``NOT x IS NULL``."""
    inner = node.this
    if isinstance(inner, exp.In | exp.Between | exp.Like | exp.Glob):
        inner.set("this", exp.Var(this=f"{write(inner.this, dialect)} NOT"))
    elif isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        inner.set("expression", exp.Var(this="NOT NULL"))
    else:
        return
    node.replace(inner)
