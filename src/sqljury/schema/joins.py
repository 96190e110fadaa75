"""The graph of tables and foreign keys, and shortest paths through it."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqljury.types import ForeignKey, Schema

_LEAST: Final = 1e-6  # the least probability of a key that a path may still use


@dataclass(frozen=True, slots=True)
class Joins:
    """Tables are given by position in the schema: ``near`` lists neighbours, ``keys`` the keys by (from, to).

    ``doubts`` has the negative log-probability of the best key between two tables, in both directions, unless it is
    certain.
    """

    near: tuple[tuple[int, ...], ...]
    keys: Mapping[tuple[int, int], tuple[ForeignKey, ...]]
    doubts: Mapping[tuple[int, int], float] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema) -> Joins:
        """The graph of a schema, without keys to tables or columns that it does not have."""
        positions = {table.name: index for index, table in enumerate(schema.tables)}
        columns = [{column.name for column in table.columns} for table in schema.tables]
        keys: dict[tuple[int, int], list[ForeignKey]] = {}
        near: list[set[int]] = [set() for _ in schema.tables]
        for index, table in enumerate(schema.tables):
            for key in table.foreign_keys:
                other = positions.get(key.ref_table, index)
                if other == index or not columns[index].issuperset(key.columns):
                    continue
                if columns[other].issuperset(key.ref_columns):
                    keys.setdefault((index, other), []).append(key)
                    near[index].add(other)
                    near[other].add(index)
        return cls(
            tuple(tuple(sorted(others)) for others in near),
            {pair: tuple(between) for pair, between in keys.items()},
            _doubts(keys),
        )

    def between(self, first: int, second: int) -> list[tuple[int, ForeignKey, int]]:
        """The keys between two tables, in either direction, as (from, key, to)."""
        forth = [(first, key, second) for key in self.keys.get((first, second), ())]
        return forth + [(second, key, first) for key in self.keys.get((second, first), ())]

    def path(
        self, start: int, goals: Collection[int], scores: Sequence[float], longest: int | None = None
    ) -> list[int]:
        """The tables after ``start`` on the shortest path to one of ``goals``, the goal last.

        Ties are broken in favour of keys that are certain or more probable, then of tables with higher scores. Empty if
        there is no path of at most ``longest`` keys.
        """
        best = max(scores, default=0.0) or 1.0
        nothing = _Cost(0, 0.0, 0.0)
        front = [(nothing, start)]
        came: dict[int, int] = {}
        costs = {start: nothing}
        while front:
            cost, table = heapq.heappop(front)
            if costs[table] < cost:
                continue
            if table in goals:
                return _walk(came, start, table)
            if cost.hops == longest:
                continue
            for neighbour in self.near[table]:
                doubt = cost.doubt + self.doubts.get((table, neighbour), 0.0)
                reached = _Cost(cost.hops + 1, doubt, cost.dullness + 1 - scores[neighbour] / best)
                if neighbour not in costs or reached < costs[neighbour]:
                    costs[neighbour] = reached
                    came[neighbour] = table
                    heapq.heappush(front, (reached, neighbour))
        return []

    def components(self) -> list[int]:
        """For each table the number of its connected component."""
        part = [-1] * len(self.near)
        for start in range(len(self.near)):
            if part[start] >= 0:
                continue
            part[start] = start
            stack = [start]
            while stack:
                for neighbour in self.near[stack.pop()]:
                    if part[neighbour] < 0:
                        part[neighbour] = start
                        stack.append(neighbour)
        return part

    def closed(self, chosen: Collection[int], scores: Sequence[float]) -> set[int]:
        """The chosen tables, and those on the shortest path from each to a better one in its component."""
        part, closed = self.components(), set[int]()
        for table in sorted(chosen, key=lambda table: (-scores[table], table)):
            goals = {other for other in closed if part[other] == part[table]}
            if table not in closed:
                closed.update([table, *(self.path(table, goals, scores) if goals else ())])
        return closed


class _Cost(NamedTuple):
    """The cost of a path: its number of keys, then their doubt, then how little its tables matter."""

    hops: int
    doubt: float
    dullness: float


def _doubts(keys: Mapping[tuple[int, int], Sequence[ForeignKey]]) -> dict[tuple[int, int], float]:
    doubts = {}
    for start, end in keys:
        between = (*keys[start, end], *keys.get((end, start), ()))
        if not any(key.certain for key in between):
            best = max(key.score for key in between)
            doubts[start, end] = doubts[end, start] = -math.log(max(best, _LEAST))
    return doubts


def _walk(came: Mapping[int, int], start: int, end: int) -> list[int]:
    way = [end]
    while came[way[-1]] != start:
        way.append(came[way[-1]])
    return way[::-1]
