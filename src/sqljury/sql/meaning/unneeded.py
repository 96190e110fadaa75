"""A join that nothing in the query or the question needs, and that repeats rows.

Small models join a table of events where the question is about things alone: ``field JOIN rotation`` for the leased
fields. Each field then comes once for each of its rows there, and those without any do not come at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqljury.language.alike import likeness, question_words
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner, tables_of
from sqljury.types import Table

NAMED: Final = 0.7
"""The least likeness of a word of the question and one of a table's names at which it may mean the table."""


def unneeded_join(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out a table that only its join names, whose rows refer to another one, and that no word means.

    A query that counts rows in HAVING or ORDER BY may count those of the join, and stays.
    """
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1 or tree.find(exp.Star):
        return None
    joins: list[exp.Join] = tree.args.get("joins") or []
    tables = tables_of(tree, asked.schema)
    if len(tables) != len(joins) + 1 or any(join.side or join.kind not in ("", "INNER") for join in joins):
        return None
    if any(part.find(exp.Count) for key in ("having", "order") if (part := tree.args.get(key)) is not None):
        return None
    for join in joins:
        left = _unneeded(tree, join, tables, asked)
        if left is None:
            continue
        if tree.args["from_"].this.alias_or_name.lower() == left:
            tree.args["from_"].set("this", join.this.copy())
        tree.set("joins", [other for other in joins if other is not join])
        reason = f"nothing is asked of {tables[left].name}, whose join repeats rows"
        return Change(reason, without=("join", "conditions"))
    return None


def _unneeded(tree: exp.Select, join: exp.Join, tables: Mapping[str, Table], asked: Asked) -> str | None:
    """The alias of the one of the two joined tables that can be left out with the join; None where neither can."""
    within = {id(node) for node in join.args["on"].walk()} if join.args.get("on") else set()
    used = [owner(node, asked.schema) for node in tree.find_all(exp.Column) if id(node) not in within]
    aliases = {one[0] for one in used if one is not None}
    ends = None if None in used else _ends(join, asked)
    first, joined = (node.alias_or_name.lower() for node in (tree.args["from_"].this, join.this))
    removable = (joined, first) if len(tables) == 2 else (joined,)
    for left, kept in (ends, ends[::-1]) if ends is not None else ():
        others = [table for alias, table in tables.items() if alias != left]
        if left in removable and left not in aliases and _refers(tables[left], tables[kept]):
            return None if _is_meant(tables[left], others, asked) else left
    return None


def _ends(join: exp.Join, asked: Asked) -> tuple[str, str] | None:
    """The aliases of the two tables of which a join compares a column each; None for any other join."""
    condition = join.args.get("on")
    if not isinstance(condition, exp.EQ):
        return None
    sides = [owner(side, asked.schema) for side in (condition.this, condition.expression) if _is_column(side)]
    aliases = [side[0] for side in sides if side is not None]
    return (aliases[0], aliases[1]) if len({*aliases}) == 2 else None


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not isinstance(node.this, exp.Star)


def _refers(left: Table, kept: Table) -> bool:
    return left is not kept and any(key.ref_table.lower() == kept.name.lower() for key in left.foreign_keys)


def _is_meant(left: Table, others: Sequence[Table], asked: Asked) -> bool:
    """Whether a word of the question is like one of the table's own names, which no other table has."""
    named = {*words(left.name)} - {word for other in others for word in words(other.name)}
    own = named | (_words(left) - {word for other in others for word in _words(other)})
    return any(likeness(word, piece) >= NAMED for word in question_words(asked.question.whole) for piece in own)


def _words(table: Table) -> set[str]:
    return {word for name in (table.name, *(column.name for column in table.columns)) for word in words(name)}
