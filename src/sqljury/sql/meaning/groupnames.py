"""Names of what a query groups by, where it shows the name of another table's row beside the key of the group."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import TITLES, Asked, Change, held
from sqljury.sql.names.from_clause import FromClause
from sqljury.sql.names.routes import Step
from sqljury.sql.parse import exp
from sqljury.sql.resolve import referred_table, sources_of
from sqljury.sql.terms import group_keys
from sqljury.types import Column, Table

_EACH: Final = regex(r"\b(?:each|every|per|by)(?: the)? ([\w-]+)", re.IGNORECASE)
_OTHERS: Final = regex(
    r"\b(?:who|whose|which|persons?|people|everybody|everyone|ids?|numbers? and|codes?|no\.?|identifiers?)\b"
    r"|\w+ (?:id|number)\b",
    re.IGNORECASE,
)


def name_of_group(tree: exp.Query, asked: Asked) -> Change | None:
    """Show the name of the row that the key of the group leads to: of the genre, where titles are grouped by genre.

    ``SELECT t.name, AVG(stars) ... GROUP BY t.genre_id, t.name`` has a group for each title. Only where the table that
    the key leads to has a column of that name too, and the question has words for that table and none for the other.
    """
    sources = sources_of(tree, asked.schema) if isinstance(tree, exp.Select) else None
    keys, kinds = group_keys(tree) if isinstance(tree, exp.Select) else ([], ())
    if not isinstance(tree, exp.Select) or sources is None or kinds or len(keys) != 2:
        return None
    for key, shown in (keys, keys[::-1]):
        one, other = held(key, asked.schema), held(shown, asked.schema)
        if one is None or other is None or one.table is not other.table:
            continue
        led_to = [each for each in one.table.foreign_keys if each.columns == (one.column.name,)]
        table = referred_table(asked.schema, led_to[0]) if len(led_to) == 1 else None
        named = _title(other.column, table) if table is not None and table is not one.table else None
        outputs = [item for item in tree.selects if item.unalias() == shown]
        if named is None or table is None or not outputs or table in sources.tables.values():
            continue
        if not _is_of(asked.question.whole, table) or mentions(asked.question.whole, words(one.table.name)):
            continue
        start = sources.alias(key.table) if isinstance(key, exp.Column) and key.table else None
        start = start or next((alias for alias, each in sources.tables.items() if each is one.table), None)
        clause = FromClause(sources)
        if start is None or clause.outer():
            continue
        for column in tree.find_all(exp.Column):
            if not column.table and (owners := sources.owners(column.name)):
                sources.assign(column, owners[0])
        step = Step(table, led_to[0].columns, led_to[0].ref_columns, many=False)
        name = sources.column(clause.add(table, on=(start, step)), named.name)
        for column in [node for node in tree.find_all(exp.Column) if node.name == shown.name and node.table == start]:
            column.replace(name.copy())
        return Change(f"the groups are of {table.name}, and the query had names of {one.table.name}")
    return None


def _title(column: Column, table: Table) -> Column | None:
    """The column of a table that has the same name as one of another table, if that is for the name of a row."""
    if words(column.name)[-1:] not in {(title,) for title in TITLES}:
        return None
    return next((each for each in table.columns if each.name.lower() == column.name.lower()), None)


def _is_of(question: str, table: Table) -> bool:
    """Whether the question is about each row of the table, and of nothing else, and not about the numbers of these."""
    nouns = [match[1] for match in _EACH.finditer(question)]
    return bool(nouns) and all(mentions(noun, words(table.name)) for noun in nouns) and not _OTHERS.search(question)
