"""Numbers of tables that are in FROM more than once, which strict mode tells apart as ``t``, ``t:2``, ..."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, permutations, product

from sqljury.metrics.match.plus.structure import Query, columns, renamed, table_of


def renumbered(query: Query) -> Iterator[Query]:
    """The query with those numbers given out in every other order."""
    uses: dict[str, list[str]] = defaultdict(list)
    for table in query.tables:
        if isinstance(table, str):
            uses[table.partition(":")[0]].append(table)
    several = [places for places in uses.values() if 1 < len(places) <= 4]
    used = set(columns(query))
    for orders in product(*map(permutations, several)):
        places = dict(zip(chain(*several), chain(*orders), strict=True))
        if all(old == new for old, new in places.items()):
            continue
        names = {name: places[table] + name[len(table) :] for name in used if (table := table_of(name)) in places}
        tables = tuple(places.get(table, table) if isinstance(table, str) else table for table in query.tables)
        yield replace(renamed(query, names), tables=tables)
