"""Joins of columns that no key relates, where keys lead from one table to the other, or to another table.

Small models join tables that are two keys apart as if they were one: ``cities.code = members.home_club``, and look for
a supervisor among the customers, who have names too. Such a query runs, and finds nothing, or rows that belong together
by chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import takewhile
from typing import Final

from sqljury.language.alike import mentions, pieces
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, held
from sqljury.sql.names.from_clause import FromClause
from sqljury.sql.names.readings import table_node
from sqljury.sql.names.routes import Route, Routes, score
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, identifier, read_sources, referred_table
from sqljury.types import Row, Schema, Table

LIKELY: Final = 0.2
"""The least score of a route that takes the place of such a join; two certain keys have 0.5."""

_ALIKE: Final = 0.9
"""Routes of this share of the best score are about as good."""

Place = tuple[str, str]


def along_keys(tree: exp.Query, asked: Asked) -> Change | None:
    """Join along keys where two columns are compared that no key, no name and no text that both hold relates.

    Where the key of one leads to another table, which has all columns that the query reads, that table is joined.
    """
    changed = False
    related = Related(asked)
    for sources in read_sources(tree, asked.schema):
        for join, left, right in _joins(sources):
            if not related(left, right):
                changed |= _replace(join, left, right, sources, asked) or _reroute(join, sources, asked.schema)
    return Change("a join of columns that no key relates") if changed else None


def _joins(sources: Sources) -> Iterator[tuple[exp.Join, Held, Held]]:
    """The inner joins on one equality of columns of two tables."""
    select = sources.scope.expression
    if not isinstance(select, exp.Select):
        return
    for join in list(select.args.get("joins") or ()):
        on = join.args.get("on")
        condition = on.unnest() if isinstance(on, exp.Expr) else None
        if join.side or not isinstance(join.this, exp.Table) or not isinstance(condition, exp.EQ):
            continue
        left, right = (held(side, sources.schema) for side in (condition.this, condition.expression))
        if left is not None and right is not None and left.table is not right.table:
            yield join, left, right


def _replace(join: exp.Join, left: Held, right: Held, sources: Sources, asked: Asked) -> bool:
    """Join the table that the key of a column leads to in the place of one that the question does not name."""
    joined = sources.alias(join.this.alias_or_name)
    if joined is None or not join.this.alias:
        return False
    table = sources.tables[joined]
    mine, other = (left, right) if left.table is table else (right, left)
    keys = [key for key in other.table.foreign_keys if tuple(key.columns) == (other.column.name,)]
    if len(keys) != 1 or mine.table is not table or table.primary_key != (mine.column.name,):
        return False
    [key] = keys
    meant = referred_table(asked.schema, key)
    if meant is None or meant is table or mentions(asked.question.whole, pieces(table.name)):
        return False
    names = {column.name.lower() for column in meant.columns}
    read = [node for node in sources.scope.expression.find_all(exp.Column) if node.table.lower() == joined.lower()]
    if not all(node.name.lower() in names for node in read if node.name != mine.column.name):
        return False
    for node in read:
        if node.name == mine.column.name:
            node.set("this", identifier(key.ref_columns[0], asked.dialect))
    replacing = table_node(meant, asked.dialect)
    replacing.set("alias", join.this.args["alias"].copy())
    join.set("this", replacing)
    return True


def _reroute(join: exp.Join, sources: Sources, schema: Schema) -> bool:
    """Join by the likeliest keys from the tables before it; False where none lead there."""
    select = sources.scope.expression
    joined = sources.alias(join.this.alias_or_name)
    if joined is None:
        return False
    target = sources.tables[joined]
    earlier = takewhile(lambda other: other is not join, select.args["joins"])
    before = [select.args["from_"].this, *(item.this for item in earlier)]
    aliases = [alias for node in before if (alias := sources.alias(node.alias_or_name)) is not None]
    tables = {alias: sources.tables[alias] for alias in aliases}
    if sum(table is target for table in sources.tables.values()) > 1:
        return False  # a table joined with itself: which of both is meant is not known
    later = {table.name for alias, table in sources.tables.items() if alias not in tables}
    routes = [
        route
        for route in Routes(schema).to(tables, lambda table: table is target)
        if not any(leg.step.table.name in later for leg in route[:-1])  # it would be joined before it is named
    ]
    route = _likeliest(routes, {column.name.lower() for column in join.args["on"].find_all(exp.Column)})
    if route is None:
        return False
    FromClause(sources).reroute(join, joined, route)
    return True


def _likeliest(routes: Sequence[Route], written: Set[str]) -> Route | None:
    """The best route; of several about as good the one whose ends are more of the columns that the query has."""
    if not routes or score(routes[0]) < LIKELY:
        return None
    alike = [route for route in routes if score(route) >= _ALIKE * score(routes[0])]
    ends = [len({name.lower() for name in (*route[0].step.here, *route[-1].step.there)} & written) for route in alike]
    if ends.count(max(ends)) == 1:
        return alike[ends.index(max(ends))]
    return None if len(routes) > 1 and score(routes[1]) == score(routes[0]) else routes[0]


class Related:
    """Whether two columns may well be joined."""

    def __init__(self, asked: Asked) -> None:
        self._data, self._tables, self._dialect = asked.data, asked.schema.tables, asked.dialect

    def __call__(self, left: Held, right: Held) -> bool:
        if self.by_keys(left, right):
            return True
        elsewhere = _leads_by_name(left, right.table) or _leads_by_name(right, left.table)
        return (not elsewhere and _by_name(left, right)) or self._by_values(left, right)

    def by_keys(self, left: Held, right: Held) -> bool:
        """A key leads from one to the other, or from both to the same column."""
        here, there = _place(left.table, left.column.name), _place(right.table, right.column.name)
        ours, theirs = self._reached(here), self._reached(there)
        return bool(ours & theirs)

    @cached_property
    def _declared(self) -> bool:
        """Whether the schema has a declared key."""
        return any(key.declared for table in self._tables for key in table.foreign_keys)

    @cached_property
    def _keys(self) -> Mapping[Place, set[Place]]:
        """By column, the columns that its keys lead to."""
        keys: dict[Place, set[Place]] = defaultdict(set)
        for table in self._tables:
            for key in table.foreign_keys:
                for here, there in zip(key.columns, key.ref_columns, strict=False):
                    keys[_place(table, here)].add((key.ref_table.lower(), there.lower()))
        return keys

    def _reached(self, start: Place) -> set[Place]:
        reached, front = {start}, [start]
        while front:
            front = [target for column in front for target in self._keys.get(column, ()) if target not in reached]
            reached.update(front)
        return reached

    def _refers(self, known: Held) -> bool:
        """A key leads from the column to another table, which is not the one that it is joined with."""
        return len(self._reached(_place(known.table, known.column.name))) > 1

    def _surely_refers(self, known: Held) -> bool:
        """As ``_refers``, by a key that is declared or leads to a table after which the column is called."""
        keys = [key for key in known.table.foreign_keys if key.columns == (known.column.name,)]
        named = words(known.column.name)
        return any(key.declared or _starts_or_ends(named, words(key.ref_table)) for key in keys)

    def _by_values(self, left: Held, right: Held) -> bool:
        """They have a value in common.

        The database is asked where there is none among those read, which may be of other years. Equal numbers say
        nothing where a column surely refers to another table, or where two tables with numbered rows are joined on
        these. Other inferred keys may be wrong: a column that refers to another table, or is compared with the key of
        one, counts as related where one of both has all numbers of the other.
        """
        ours, theirs = (set(map(str, self._data.values(side.table, side.column.name))) for side in (left, right))
        both = ours & theirs or (self._in_common(left, right) if ours and theirs else set())
        if not self._declared and not (ours and theirs):
            return True  # not known, and a key may have been overlooked
        if any(map(_telling, both)):
            return True
        if not both or self._surely_refers(left) or self._surely_refers(right):
            return False
        refers, keys = self._refers(left) or self._refers(right), [is_row_key(left), is_row_key(right)]
        if all(keys):
            return not (self._declared or refers)
        return not (refers or any(keys)) or self.contains(left, right) or self.contains(right, left)

    def _in_common(self, left: Held, right: Held) -> set[str]:
        """A value that both columns have; none where the database does not tell."""
        rows = self._joined(left, right, "") or ()
        return {str(row[0]) for row in rows if row[0] is not None}

    def contains(self, left: Held, right: Held) -> bool:
        """The right column has every value of the left one, or the database does not tell."""
        return not self._joined(left, right, "left")

    def _joined(self, left: Held, right: Held, side: str) -> Sequence[Row] | None:
        """A row of the first column joined with the second; for ``left`` one that has no equal there."""
        sides = (("a", left), ("b", right))
        left_node, right_node = (
            exp.column(identifier(known.column.name, self._dialect), table=alias) for alias, known in sides
        )
        first, second = (
            exp.alias_(table_node(known.table, self._dialect), alias, table=True) for alias, known in sides
        )
        probe = exp.select(left_node).from_(first)
        probe = probe.join(second, on=exp.EQ(this=left_node.copy(), expression=right_node), join_type=side).limit(1)
        if side:
            probe = probe.where(right_node.is_(exp.null()), left_node.is_(exp.null()).not_())
        return self._data.rows(probe.sql(dialect=self._dialect))


def _place(table: Table, column: str) -> Place:
    return table.name.lower(), column.lower()


def is_row_key(one: Held) -> bool:
    """Whether a column is the primary key of its table."""
    return one.table.primary_key == (one.column.name,)


def _telling(value: str) -> bool:
    return not value.strip().lstrip("-").replace(".", "", 1).isdecimal()


def _by_name(left: Held, right: Held) -> bool:
    """Equal names; or one is called like the other's table, as ``manufacturer`` of ``manufacturers.code``."""
    ours, theirs = words(left.column.name), words(right.column.name)
    if left.column.name.lower() == right.column.name.lower() and len(set(ours) - {"id"}):
        return True
    return _called_after(ours, right.table) or _called_after(theirs, left.table)


def _leads_by_name(known: Held, target: Table) -> bool:
    """Whether a key leads to a table after which the column is called in more words: ``plan_price_id``, to prices."""
    named = words(known.column.name)
    led_to = [words(key.ref_table) for key in known.table.foreign_keys if key.columns == (known.column.name,)]
    return any(len(table) > len(words(target.name)) and table == named[: len(table)] for table in led_to)


def _called_after(column: tuple[str, ...], table: Table) -> bool:
    return _starts_or_ends(column, words(table.name))


def _starts_or_ends(column: tuple[str, ...], named: tuple[str, ...]) -> bool:
    return bool(named) and named in (column[-len(named) :], column[: len(named)])
