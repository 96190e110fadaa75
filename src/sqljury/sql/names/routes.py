"""Routes from table to table over keys, each with a score: how likely it is the join that a query needs.

Declared keys and those of notes are certain, inferred ones have a score of their own. Where no key leads to a table,
equal names may (``city_code`` in two tables, ``paper_id`` and the ``id`` of ``papers``), as the last resort.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from sqljury.language.words import words
from sqljury.sql.affinity import affinity
from sqljury.types import Schema, Table

MAX_HOPS: Final = 2
"""Keys that a route may have: 2 crosses one bridge table."""
CERTAIN_HOPS: Final = 3
"""Keys that a route may have where nothing shorter leads there, and each is certain, or likely and in one direction."""
_LIKELY: Final = 0.9
"""The least score of a likely key on a long route."""
HOP: Final = 0.5
"""What each key after the first multiplies the score by: a likely key is better than two certain ones."""
FORK: Final = 0.7
"""The same for two tables that refer to a third one: rows that share a department are seldom related."""
_MOST: Final = 2_000
"""Most routes that are searched for one query."""
_GUESSED_COLUMNS: Final = 20_000
"""A schema with more columns is not searched for equal names."""
_OWNERS: Final = 3
"""A name that is the key of more tables is ignored."""

_LEAST: Final = 0.05
"""Guessed routes with a lower score are left out."""
_SAME: Final = 0.4
_ENDING: Final = 0.3
_TABLE: Final = 0.25
_UNRELATED: Final = 0.15
_SAME_ROWS: Final = 0.1
_PEOPLE: Final = frozenset(("people", "person", "employee", "staff", "user", "member", "customer", "participant"))
_BARE: Final = frozenset(
    (
        *("id", "code", "key", "name", "number", "num", "no", "nr", "type", "status", "date", "year", "title"),
        *("description", "rank", "position", "time", "count", "value"),
    )
)
_IDENTIFYING: Final = frozenset(
    ("id", "code", "key", "number", "num", "no", "nr", "uid", "guid", "uuid", "ref", "identifier")
)


class Step(NamedTuple):
    """A key walked to ``table``: equal ``here`` and ``there`` columns.

    ``many``: it is walked against its direction, so that a row here can match several there.
    """

    table: Table
    here: tuple[str, ...]
    there: tuple[str, ...]
    many: bool
    score: float = 1.0


class Leg(NamedTuple):
    """A step, and what it starts from: an alias of the query for the first step of a route, then a table's name."""

    start: str
    step: Step


Route = list[Leg]


def end(route: Route) -> Table:
    """The table a route leads to."""
    return route[-1].step.table


def score(route: Route) -> float:
    """The product of its keys' scores, less for each key after the first, and where two keys meet at a third table."""
    product = HOP ** (len(route) - 1)
    for leg in route:
        product *= leg.step.score
    forks = sum(step.many and not before.many for (_, before), (_, step) in pairwise(route))
    return float(product * FORK**forks)


class Routes:
    """The keys of a schema as a graph, in both directions."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def between(self, table: Table, other: Table, column: str) -> list[Step]:
        """The keys of one column from ``table`` to that column of the ``other``, in either direction."""
        steps = self._steps(table, guess=True)
        return [step for step in steps if step.table is other and [n.lower() for n in step.there] == [column.lower()]]

    def keys_of(self, table: Table) -> list[Step]:
        """The keys of one column that a table has."""
        return [step for step in self._steps(table, guess=False) if len(step.here) == 1 and not step.many]

    def to(self, tables: Mapping[str, Table], wanted: Callable[[Table], bool], *, guess: bool = False) -> list[Route]:
        """Routes from the ``tables`` of a query, by alias, to tables that it lacks and that are ``wanted``, best first.

        With ``guess``, where no key leads to any, by equal names.
        """
        routes = [route for route in self.over(tables) if wanted(end(route))]
        if not routes and guess and any(map(wanted, self._schema.tables)):
            routes = [route for route in self.over(tables, guess=True) if wanted(end(route)) and score(route) >= _LEAST]
        return sorted(routes, key=score, reverse=True)

    def over(self, tables: Mapping[str, Table], *, guess: bool = False) -> Iterator[Route]:
        """Every route from the ``tables`` of a query, the shorter ones first; of certain keys, one key longer ones.

        So are those of likely keys in one direction: from a bin over its round to the depot, or back.
        """
        taken = {table.name for table in tables.values()}
        front: list[Route] = [
            [Leg(alias, step)]
            for alias, table in tables.items()
            for step in self._steps(table, guess)
            if step.table.name not in taken
        ]
        reached: set[str] = set()
        routes_left = _MOST
        for hop in range(CERTAIN_HOPS):
            if hop >= MAX_HOPS:
                front = [route for route in front if _may_be_long(route) and end(route).name not in reached]
            front = front[:routes_left]
            routes_left -= len(front)
            yield from front
            reached |= {end(route).name for route in front}
            front = [longer for route in front for longer in self._longer(route, taken, guess)][: routes_left + 1]

    def _longer(self, route: Route, taken: set[str], guess: bool) -> Iterator[Route]:
        passed = taken | {leg.step.table.name for leg in route}
        last = end(route)
        for step in self._steps(last, guess):
            if step.table.name not in passed:
                yield [*route, Leg(last.name, step)]

    def _steps(self, table: Table, guess: bool) -> list[Step]:
        """The keys out of ``table``, then those into it; with ``guess`` the equal names too."""
        return [*self._keys.get(table.name, ()), *(self._namesakes.get(table.name, ()) if guess else ())]

    @cached_property
    def _keys(self) -> Mapping[str, list[Step]]:
        tables = {table.name.lower(): table for table in self._schema.tables}
        out: dict[str, list[Step]] = defaultdict(list)
        into: dict[str, list[Step]] = defaultdict(list)
        for table in self._schema.tables:
            for key in table.foreign_keys:
                if (other := tables.get(key.ref_table.lower())) is not None:
                    out[table.name].append(Step(other, key.columns, key.ref_columns, many=False, score=key.score))
                    into[other.name].append(Step(table, key.ref_columns, key.columns, many=True, score=key.score))
        return {name: [*out.get(name, ()), *into.get(name, ())] for name in (*out, *into)}

    @cached_property
    def _namesakes(self) -> Mapping[str, list[Step]]:
        steps: dict[str, list[Step]] = defaultdict(list)
        if sum(len(table.columns) for table in self._schema.tables) > _GUESSED_COLUMNS:
            return steps
        for table, column, other, key, likely in _namesakes(self._schema):
            steps[table.name].append(Step(other, (column,), (key,), many=False, score=likely))
            if likely > _SAME_ROWS:  # people of one role are people, and few people are of that role
                steps[other.name].append(Step(table, (key,), (column,), many=True, score=likely))
        return steps


def _may_be_long(route: Route) -> bool:
    steps = [leg.step for leg in route]
    one_way = len({step.many for step in steps}) == 1
    return all(step.score == 1 for step in steps) or (one_way and all(step.score >= _LIKELY for step in steps))


def identifying_column(table: Table) -> str | None:
    """The column that identifies the table's rows: its key, else the first column that is named like one."""
    for key in (table.primary_key, *table.candidate_keys[:1]):
        if key:
            return key[0] if len(key) == 1 else None
    first = table.columns[0].name if table.columns else ""
    return first if _identifies(first, table) else None


def _identifies(column: str, table: Table) -> bool:
    pieces = words(column)
    return bool(pieces) and (pieces[-1] in _IDENTIFYING or column.lower().endswith("id") or _related(column, table))


def _related(column: str, table: Table) -> bool:
    """Whether a column's name begins like the table's: ``StuID`` of ``Student``, ``aid`` of ``aircraft``."""
    ours, theirs = words(column), words(table.name)
    if not ours or not theirs:
        return False
    if ours[-1] == "id" and len(ours) == 1:
        return True
    stem = ours[0].removesuffix("id") or ours[0]
    return any(word.startswith(stem[:3]) for word in theirs) if len(stem) < 4 else stem[:4] in {w[:4] for w in theirs}


def _namesakes(schema: Schema) -> Iterator[tuple[Table, str, Table, str, float]]:
    """Columns that may mean the key of another table by their names: table, column, other table, its key, score."""
    names = _key_names(schema)
    people = [(table, key) for table in schema.tables if (key := _key_of_people(table)) is not None][:_OWNERS]
    for table in schema.tables:
        if (key := identifying_column(table)) is not None:
            yield from (
                (table, key, person, person_key, _SAME_ROWS) for person, person_key in people if person is not table
            )
        for column in table.columns:
            pieces = words(column.name)
            for start in range(len(pieces)):
                owners = names.get(pieces[start:], ())
                if 0 < len(owners) <= _OWNERS:
                    for other, key, likely in owners:
                        if other is not table and _same_kind(table, column.name, other, key):
                            yield table, column.name, other, key, likely if not start else min(likely, _ENDING)
                    break


def _key_names(schema: Schema) -> dict[tuple[str, ...], list[tuple[Table, str, float]]]:
    """What a column may be called that refers to a table: by its words the tables, their keys, and how likely."""
    names: dict[tuple[str, ...], list[tuple[Table, str, float]]] = defaultdict(list)
    for table in schema.tables:
        key, named = identifying_column(table), words(table.name)
        if key is None:
            continue
        pieces = words(key)
        bare = len(pieces) == 1 and pieces[0] in _BARE
        if not bare:
            names[pieces].append((table, key, _SAME if _related(key, table) else _UNRELATED))
        if bare or pieces[: len(named)] != named:
            names[(*named, *pieces)].append((table, key, _SAME))
        if named:
            namesake = next((column.name for column in table.columns if words(column.name) == named), key)
            names[named].append((table, namesake, _TABLE))
    for pieces, owners in names.items():
        if any(likely >= _TABLE for *_, likely in owners):  # of several the one that it is named after
            names[pieces] = [owner for owner in owners if owner[2] >= _TABLE]
    return names


def _key_of_people(table: Table) -> str | None:
    """The key of a table of people, which those of their roles often share: ``gymnast_id`` is a ``people_id``."""
    named = words(table.name)
    return identifying_column(table) if len(named) == 1 and named[0] in _PEOPLE else None


def _same_kind(table: Table, column: str, other: Table, key: str) -> bool:
    """Whether both columns hold texts, or neither does, as far as their types tell."""
    kinds = [
        affinity(known.type) == "TEXT"
        for owner, name in ((table, column), (other, key))
        for known in owner.columns
        if known.name == name and known.type
    ]
    return len(set(kinds)) < 2
