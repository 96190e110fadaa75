"""The pairs of a column and a key that it may refer to, with the evidence for and against each.

Pairs are found by their names and by their values. A column called ``customer_id`` is compared with tables of customers
only; one whose name has no such relation is compared with keys that hold its values.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

from sqljury.keys import names
from sqljury.keys.profile import ColumnProfile, Contained, TableProfile
from sqljury.types import Column, Schema, Table

_NOTHING: Final = ColumnProfile()
_KEYS: Final = 4
"""Keys of one table that others may refer to."""

_MOST_PAIRS: Final = 24
"""Keys that one column is compared with, those with the best names first."""

_LOOKED_UP: Final = 4
"""Of these the keys that are looked up in the database, since they were not read whole."""

_HOLDERS: Final = 40
"""A value that more keys hold than this is not evidence."""

_SHARING: Final = 60
"""Where more keys share a word, it is not looked for; whole names of tables are."""

_PROBES: Final = 3
_ABBREVIATED: Final = 1_000
"""In schemas with more tables abbreviations are not looked for, since each has hundreds of readings."""

_CONTAINED: Final = 0.9
"""The share of values that must be there for a pair whose names do not relate."""


class Key(NamedTuple):
    """A column that others may refer to; ``main``: it is the likeliest key of its table."""

    table: Table
    column: str
    main: bool
    seen: ColumnProfile
    whole: bool
    """Whether all values are known."""
    ownership: int
    """``names.ownership``, 0 where another table owns the name more."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A column that may refer to a key.

    ``relation`` is one of ``names.RELATIONS`` or empty. Of ``looked_up`` distinct values ``found`` are values of the
    key; none looked up means that nothing is known. ``chance`` is the logarithm of the probability that the values are
    there by chance, 0 where that is certain.
    """

    table: Table
    column: Column
    seen: ColumnProfile
    key: Key
    relation: str
    looked_up: int = 0
    found: int = 0
    chance: float = 0.0
    is_main: bool = False
    """Whether the column itself is the main key of its table."""
    ownership: int = 0
    """How much the column is called like the key of its own table."""

    @property
    def contained(self) -> float:
        """The share of the values that were found, 0 where none was looked up."""
        return self.found / self.looked_up if self.looked_up else 0.0


Profiles = Mapping[str, TableProfile]


class Owners:
    """Which columns are called like the key of their own table, and of no other table more."""

    def __init__(self, schema: Schema) -> None:
        self.entities = names.entities(schema)
        """What tables are compared by, by table."""
        self._most: dict[str, int] = defaultdict(int)
        for table in schema.tables:
            entity = self.entities[table.name].words
            for column in table.columns:
                stem = _stem(column.name)
                self._most[stem] = max(self._most[stem], names.ownership(entity, column.name))
            self._most["".join(entity)] = names.OWN

    def of(self, table: str, column: str) -> int:
        """``names.ownership``; 0 where another table owns the name more."""
        ownership = names.ownership(self.entities[table].words, column)
        stem = _stem(column)
        return ownership if not stem or ownership == self._most[stem] else 0


def _stem(column: str) -> str:
    name = names.column_name(column)
    return "".join(name.stem) + name.glued


def keys_of(table: Table, profile: TableProfile, owners: Owners) -> list[Key]:
    """The single columns that others may refer to, the most likely one first.

    Those are declared as unique, or unique in the rows that were read, or, where there are none, called like keys.
    """
    declared = {*table.primary_key} if len(table.primary_key) == 1 else set()
    declared |= {column.name for column in table.columns if column.unique}
    chosen = []
    for at, column in enumerate(table.columns):
        seen = profile.columns.get(column.name, _NOTHING)
        ownership, identifier = owners.of(table.name, column.name), names.is_identifier(column.name)
        if column.name in declared or (seen.unique and not seen.nulls):
            pass
        elif seen.unique is False or seen.nulls or not (ownership and (identifier or at == 0)):
            continue
        title, number = names.is_title(column.name), seen.low is not None
        rank = ((column.name,) != table.primary_key, title, -ownership, at > 0, not identifier, not number, at)
        chosen.append((rank, column.name, seen, ownership))
    chosen.sort(key=lambda item: item[0])
    return [
        Key(table, name, at == 0, seen, profile.whole and profile.rows > 0, ownership)
        for at, (_, name, seen, ownership) in enumerate(chosen[:_KEYS])
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Finder:
    """Finds the pairs of a schema; ``contained`` looks values up in tables that were not read whole."""

    schema: Schema
    profiles: Profiles
    contained: Contained = lambda *_: None
    owners: Owners = field(init=False)
    keys: dict[str, list[Key]] = field(init=False, default_factory=dict)
    _by_column: dict[str, list[Key]] = field(init=False, default_factory=lambda: defaultdict(list))
    _by_word: dict[str, list[Key]] = field(init=False, default_factory=lambda: defaultdict(list))
    _by_entity: dict[str, list[Key]] = field(init=False, default_factory=lambda: defaultdict(list))
    _by_value: dict[int, list[Key]] = field(init=False, default_factory=lambda: defaultdict(list))
    _related: dict[names.Tokens, list[Key]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "owners", Owners(self.schema))
        for table in self.schema.tables:
            profile = self.profiles.get(table.name, TableProfile())
            self.keys[table.name] = keys_of(table, profile, self.owners)
            for key in self.keys[table.name]:
                self._index(key)

    def _index(self, key: Key) -> None:
        name, entity = names.column_name(key.column), self.owners.entities[key.table.name].words
        self._by_column[name.joined].append(key)
        self._by_entity["".join(entity)].append(key)
        for word in {*entity[-1:], *entity[:1], *name.stem[-1:], name.glued} - {""}:
            self._by_word[word].append(key)
        if key.whole:
            for value in key.seen.values:
                self._by_value[value].append(key)

    def of(self, table: Table, column: Column) -> list[Pair]:
        """The pairs of one column, those with the best names first."""
        profile = self.profiles.get(table.name, TableProfile())
        if column.name not in profile.columns and profile.columns:
            return []
        seen = profile.columns.get(column.name, _NOTHING)
        remaining = _LOOKED_UP
        pairs: list[Pair] = []
        for named in self._pairs(table, column, seen):
            pair = named
            if pair.key.whole:
                pair = self._looked_up(pair)
            elif remaining and not any(_better(other, pair) for other in pairs):
                pair, remaining = self._looked_up(pair), remaining - 1
            if _may_be(pair):
                pairs.append(pair)
        return pairs

    def named(self, table: Table, column: Column) -> list[Key]:
        """The keys that a column refers to by its name, whatever its values are."""
        return [pair.key for pair in self._pairs(table, column, _NOTHING) if pair.relation in _BY_NAME]

    def _pairs(self, table: Table, column: Column, seen: ColumnProfile) -> Iterator[Pair]:
        """The column with each key that its name or values may mean, before values are compared."""
        is_main = any(key.main and key.column == column.name for key in self.keys[table.name])
        ownership = self.owners.of(table.name, column.name)
        for key, relation in self._candidates(table, column, seen):
            pair = Pair(table, column, seen, key, relation, is_main=is_main, ownership=ownership)
            if not _is_own_key(pair):
                yield pair

    def _candidates(self, table: Table, column: Column, seen: ColumnProfile) -> list[tuple[Key, str]]:
        name = names.column_name(column.name)
        near = [*_few(self._by_column.get(name.joined, ()))]
        for word in {*name.tokens, name.glued} - {""}:
            near += _few(self._by_word.get(word, ()))
        for part in _parts((*name.stem, name.glued) if name.glued else name.stem):
            near += _few(self._by_entity.get(part, ()))
        near += self._abbreviated(column.name) if len(self.schema.tables) <= _ABBREVIATED else ()
        near += self.keys[table.name][:1]  # another row of the same table: ``parent_id``
        related: dict[tuple[str, str], tuple[Key, str]] = {}
        for key in near:
            if key.table is table and key.column == column.name:
                continue
            how = names.relation(
                column.name,
                self.owners.entities[key.table.name],
                key.column,
                within=self.owners.entities[table.name],
                identifies=key.main or key.whole or key.ownership > 0,
            )
            if how:
                related[key.table.name, key.column] = key, how
        for key in self._holders(seen):
            if key.table is not table or key.column != column.name:
                related.setdefault((key.table.name, key.column), (key, ""))
        order = (*names.RELATIONS, "")
        ranked = sorted(related.values(), key=lambda item: order.index(item[1]))
        return [item for item in ranked if _comparable(seen, item[0])][:_MOST_PAIRS]

    def _abbreviated(self, column: str) -> list[Key]:
        """Keys that the name of a column may abbreviate or that persons have; found once for each name."""
        tokens = names.column_name(column).tokens
        if tokens not in self._related:
            entities = self.owners.entities
            self._related[tokens] = [
                key
                for keys in self.keys.values()
                for key in keys
                if key.main and names.relation(column, entities[key.table.name], key.column, identifies=True)
            ]
        return self._related[tokens]

    def _holders(self, seen: ColumnProfile) -> Iterator[Key]:
        """Main keys that hold some of the values."""
        met = set()
        for value in islice(sorted(seen.values), _PROBES):
            holders = self._by_value.get(value, ())
            if len(holders) <= _HOLDERS:
                for key in holders:
                    if key.main and (key.table.name, key.column) not in met:
                        met.add((key.table.name, key.column))
                        yield key

    def _looked_up(self, pair: Pair) -> Pair:
        """The pair with what its values show."""
        seen, key = pair.seen, pair.key
        if not seen.values or not (key.seen.count or key.seen.values):
            return pair
        if key.whole:
            looked_up, included = len(seen.values), len(seen.values & key.seen.values)
        elif pair.relation:
            counts = self.contained(pair.table, (pair.column.name,), key.table, (key.column,))
            if counts is None:
                return pair
            looked_up, included = counts
        else:
            return pair
        return replace(pair, looked_up=looked_up, found=included, chance=_chance(seen, key, included))


_BY_NAME_ALONE: Final = frozenset(("owner", "role", "same"))
"""Relations that say enough where there are no values."""

_BY_NAME: Final = _BY_NAME_ALONE | {"part", "parent", "person"}
"""Relations that make it worth looking at the values."""


def _is_own_key(pair: Pair) -> bool:
    """Whether the column is its own table's key and not called like another's: numbers from 1 are in every key."""
    return pair.is_main and pair.ownership > 0 and pair.relation not in ("owner", "same", "parent")


def _better(pair: Pair, other: Pair) -> bool:
    """Whether the values fit a key that relates better by name, so that the other need not be looked up."""
    order = (*names.RELATIONS, "")
    return pair.looked_up == pair.found > 1 and order.index(pair.relation) < order.index(other.relation)


def _may_be(pair: Pair) -> bool:
    """Whether there is enough evidence: a weak relation needs values, and no relation needs nearly all of them."""
    if pair.relation in _BY_NAME_ALONE:
        return True
    return pair.found > 1 and (bool(pair.relation) or pair.contained >= _CONTAINED)


def _few(keys: Sequence[Key]) -> Sequence[Key]:
    """The keys; none if too many tables share the word or the column for it to distinguish them."""
    return keys if len(keys) <= _SHARING else ()


def _parts(stem: names.Tokens) -> Iterator[str]:
    """The stem and its ends and beginnings, each in one word."""
    for at in range(len(stem)):
        yield "".join(stem[at:])
        if at:
            yield "".join(stem[:at])


def _comparable(seen: ColumnProfile, key: Key) -> bool:
    """Whether the values may be equal: not numbers and texts."""
    if not seen.values or not key.seen.values:
        return True
    return (seen.low is None) == (key.seen.low is None)


def _chance(seen: ColumnProfile, key: Key, included: int) -> float:
    """The logarithm of the probability that so many values are among the key's by chance.

    Numbers are compared with the part of the key's range that the key fills: 1 to 12 are among any 1 to 12. Of texts
    each counts as a toss of a coin.
    """
    if seen.low is None or key.seen.low is None or key.seen.high is None:
        return -included * math.log(2)
    span = key.seen.high - key.seen.low + 1
    filled = min(max(key.seen.count, 1) / span, 1.0)
    # Small numbers, such as 1 to 100, are chosen before others: ranges from 1 say little even with gaps.
    small = max(1.0, math.log10(max(abs(key.seen.high), abs(key.seen.low), 10)))
    return included * math.log(filled) * min(small / 4, 1.0) if filled < 1 else 0.0
