"""Ways from table to table along foreign keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from sqljury.types import Schema, Table

MAX_HOPS = 2
"""Keys that one way may have: 2 crosses one bridge table."""


class Step(NamedTuple):
    """A foreign key walked to ``table``: equal ``here`` and ``there`` columns.

    ``many`` says that it is walked against its direction, so that a row here can meet several there.
    """

    table: Table
    here: tuple[str, ...]
    there: tuple[str, ...]
    many: bool


class Leg(NamedTuple):
    """A step, and the alias in the query of the table it starts from."""

    start: str
    step: Step


Route = list[Leg]


def find(schema: Schema, name: str) -> Table | None:
    """The table of that name in any case."""
    return next((table for table in schema.tables if table.name.lower() == name.lower()), None)


def steps(schema: Schema, table: Table) -> Iterator[Step]:
    """The foreign keys out of ``table``, then those into it."""
    for key in table.foreign_keys:
        if (other := find(schema, key.ref_table)) is not None:
            yield Step(other, key.columns, key.ref_columns, many=False)
    for other in schema.tables:
        for key in other.foreign_keys:
            if key.ref_table.lower() == table.name.lower():
                yield Step(other, key.ref_columns, key.columns, many=True)


def routes(schema: Schema, tables: Mapping[str, Table]) -> Iterator[Route]:
    """Ways from the ``tables`` of a query, by alias, to tables it does not have: of one key, then of two."""
    taken = {table.name.lower() for table in tables.values()}
    front: list[Route] = [[Leg(alias, step)] for alias, table in tables.items() for step in steps(schema, table)]
    for _ in range(MAX_HOPS):
        front = [route for route in front if end(route).name.lower() not in taken]
        yield from front
        taken |= {end(route).name.lower() for route in front}
        front = [[*route, Leg(end(route).name, step)] for route in front for step in steps(schema, end(route))]


def end(route: Route) -> Table:
    """The table a route leads to."""
    return route[-1].step.table


def only(found: list[Route], spoken: Collection[str]) -> Route | None:
    """The shortest route; of several the one whose first key's column is ``spoken`` of; None when that is not one."""
    shortest = min(map(len, found), default=0)
    found = [route for route in found if len(route) == shortest]
    if len(found) > 1:
        found = [route for route in found if any(name.lower() in spoken for name in route[0].step.here)]
    return found[0] if len(found) == 1 else None
