"""Tables and subqueries that no condition ties to the rest of the query, so that each row stands beside all others.

Small models write ``id NOT IN (SELECT id FROM loan)`` of readers who never borrowed. Where the table of the subquery
lacks the column, SQL takes it from the query around it, and each row is compared with itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.meaning.joins import LIKELY, Related, is_row_key
from sqljury.sql.names.routes import Routes, Step
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, identifier, owner, read_sources, tables_of
from sqljury.types import Schema, Table

_PAIRS: Final = re.compile(r"\b(?:pairs?|combin\w*|every possible|cross\w*)\b", re.IGNORECASE)
_ALIKE: Final = 0.9
"""A second key of this share of the best score may be meant as well."""


def tied(tree: exp.Query, asked: Asked) -> Change | None:
    """Tie two groups of tables by the one key that leads from one to the other.

    Not where the query says CROSS JOIN or lists the tables, or the question wants pairs or combinations.
    """
    if _PAIRS.search(asked.question.text):
        return None
    changed = False
    for sources in read_sources(tree, asked.schema):
        select = sources.scope.expression
        groups = _groups(sources)
        if not isinstance(select, exp.Select) or len(groups) != 2 or not _is_plain(select, sources):
            continue
        keys = [*_keys(sources, *groups), *_keys(sources, *reversed(groups))]
        if len(keys) == 1:
            select.where(keys[0], copy=False)
            changed = True
    return Change("no condition ties two of the tables") if changed else None


def _is_plain(select: exp.Select, sources: Sources) -> bool:
    """Whether FROM has tables alone, with inner joins that name their conditions."""
    joins = select.args.get("joins") or ()
    named = any(join.side or join.kind == "CROSS" or join.method or join.args.get("using") for join in joins)
    return not (sources.others or named or select.args.get("laterals"))


def _groups(sources: Sources) -> list[set[str]]:
    """The aliases of the tables, those together that some condition compares with each other."""
    groups = [{alias} for alias in sources.tables]
    select = sources.scope.expression
    for condition in select.find_all(exp.Predicate):
        named = {alias for column in condition.find_all(exp.Column) for alias in _aliases(column, sources)}
        touched = [group for group in groups if group & named]
        if len(touched) > 1:
            groups = [group for group in groups if not group & named]
            groups.append(set().union(*touched))
    return groups


def _aliases(column: exp.Column, sources: Sources) -> list[str]:
    """The tables that a column may be of: all that have such a column where it names none."""
    if not column.table:
        return sources.owners(column.name)
    alias = sources.alias(column.table)
    return [alias] if alias is not None else []


def _keys(sources: Sources, here: set[str], there: set[str]) -> Iterator[exp.Condition]:
    """The conditions for keys of tables here that lead to tables there."""
    for alias in sorted(here):
        for key in sources.tables[alias].foreign_keys:
            for other in sorted(there):
                table = sources.tables[other]
                if len(key.columns) == 1 and key.leads_to(table):
                    yield sources.equal(alias, key.columns, other, key.ref_columns)


def members_by_key(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare the columns of the one key that leads from the subquery to the table around it."""
    related, changed = Related(asked), False
    for outer, inner, select in list(_pairs(tree)):
        around, within = owner(outer, asked.schema), owner(inner, asked.schema)
        here, there = held(outer, asked.schema), held(inner, asked.schema)
        tables = tables_of(select, asked.schema)
        if around is None or within is None or here is None or there is None or around[0] in tables:
            continue
        if within[0] in tables:
            is_meant = here.table is there.table or related.by_keys(here, there)
            both_rows = is_row_key(here) and is_row_key(there) and not (here.is_text or there.is_text)
            # Numbers of rows are equal by chance; those of a part of the same things are all among the others.
            is_meant = is_meant or (related.contains(there, here) if both_rows else related(here, there))
            tables = {within[0]: within[1]}
        else:  # with its table before it, it is meant to be of the query around
            is_meant = bool(inner.table) or within[0] != around[0]
        key = None if is_meant else _key(tables, around[1], asked.schema)
        if key is None:
            continue
        alias, step = key
        outer.set("this", identifier(step.there[0], asked.dialect))
        inner.set("this", identifier(step.here[0], asked.dialect))
        inner.set("table", identifier(alias, asked.dialect) if inner.table or len(tables) > 1 else None)
        changed = True
    return Change("a subquery of columns that no key relates", may_empty=True, may_equal=True) if changed else None


def _pairs(tree: exp.Query) -> Iterator[tuple[exp.Column, exp.Column, exp.Select]]:
    """The columns before IN and within its subquery."""
    for node in tree.find_all(exp.In):
        query = node.args.get("query")
        select = query.this if isinstance(query, exp.Subquery) else query
        if not isinstance(node.this, exp.Column) or not isinstance(select, exp.Select) or len(select.selects) != 1:
            continue
        inner = select.selects[0].unalias()
        if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star) and not select.args.get("group"):
            yield node.this, inner, select


def _key(tables: Mapping[str, Table], around: Table, schema: Schema) -> tuple[str, Step] | None:
    """The alias and the key by which one of the tables refers to the one around; None where several may be meant."""
    routes = Routes(schema)
    keys = [(alias, step) for alias, table in tables.items() for step in routes.keys_of(table) if step.table is around]
    best = max((step.score for _, step in keys), default=0.0)
    alike = [(alias, step) for alias, step in keys if step.score >= _ALIKE * best]
    return alike[0] if len(alike) == 1 and best >= LIKELY else None
