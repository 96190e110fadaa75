"""Tables in FROM that no condition ties to the others, so that each row of one stands beside all rows of the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, read_sources

_PAIRS: Final = re.compile(r"\b(?:pairs?|combin\w*|every possible|cross\w*)\b", re.IGNORECASE)


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
