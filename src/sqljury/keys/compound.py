"""Keys of several columns: found where the first columns of a table are unique together only, and have the same names
in another table that holds their values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from operator import and_
from typing import Final

from sqljury.keys import names
from sqljury.keys.pairs import Profiles
from sqljury.keys.profile import Contained
from sqljury.sql.text import remark
from sqljury.types import ForeignKey, Schema, Table

_SURE: Final = 5
"""With fewer rows than this, equal rows may be chance."""

_SCORES: Final = (0.6, 0.9)
"""The score with few rows and with more; set by hand, since Spider's databases declare no such key as one."""

_LEAST: Final = 2


def compound_keys(
    schema: Schema, profiles: Profiles, contained: Contained, referring: Collection[tuple[str, str]]
) -> list[tuple[Table, ForeignKey]]:
    """Each table with a key of several columns that it does not declare.

    All values that are looked up have to be there. Where two tables refer to each other neither does, and where one
    refers to another through a third it does not do so itself. ``referring`` lists the columns, by table and name, that
    refer to a key alone: tables that share a year and a place are beside each other, none refers to the other.
    """
    foreign_keys: dict[tuple[str, str], tuple[Table, ForeignKey]] = {}
    for table, columns, target, key in _same_names(schema, profiles):
        identifiers = [names.is_identifier(name) for name in key]
        unreferring = [(target.name, name) not in referring for name in key]
        if all(identifiers) or any(map(and_, identifiers, unreferring)):
            counts = contained(table, columns, target, key)
            if counts is not None and _LEAST <= counts[0] == counts[1]:
                foreign_keys[table.name, target.name] = table, _foreign_key(table, columns, target, key, counts[0])
    mutual = {pair for pair in foreign_keys if pair[::-1] in foreign_keys}
    through = {(a, c) for a, b in foreign_keys for d, c in foreign_keys if b == d}
    return [made for pair, made in foreign_keys.items() if pair not in mutual | through]


def _same_names(schema: Schema, profiles: Profiles) -> Iterator[tuple[Table, tuple[str, ...], Table, tuple[str, ...]]]:
    """Tables with columns called like all columns of another table's compound key."""
    spelled: dict[str, dict[str, str]] = {}
    holders: dict[str, list[Table]] = defaultdict(list)
    for table in schema.tables:
        if not table.is_view and table.name in profiles:
            read = profiles[table.name].columns
            spelled[table.name] = {_joined(name): name for name in read}
            for name in spelled[table.name]:
                holders[name].append(table)
    for target in schema.tables:
        profile = profiles.get(target.name)
        if profile is None or not profile.compound or len(target.primary_key) == 1:
            continue
        wanted = [_joined(name) for name in profile.compound]
        for table in min((holders[name] for name in wanted), key=len):
            spellings = spelled[table.name]
            if table is not target and spellings.keys() >= set(wanted) and _covers_nothing(table, spellings, wanted):
                yield table, tuple(spellings[name] for name in wanted), target, profile.compound


def _covers_nothing(table: Table, spellings: dict[str, str], wanted: Sequence[str]) -> bool:
    declared = {name for key in table.foreign_keys for name in key.columns}
    return declared.isdisjoint(spellings[name] for name in wanted)


def _joined(name: str) -> str:
    return names.column_name(name).joined


def _foreign_key(table: Table, columns: tuple[str, ...], target: Table, key: tuple[str, ...], rows: int) -> ForeignKey:
    listed = ", ".join(key)
    lines = (
        f"{table.name} has the columns {listed} of {target.name}",
        f"each of {rows} combinations read of {table.name} is in {target.name}",
        f"({listed}) of {target.name} is unique in the rows read",
    )
    score = _SCORES[rows >= _SURE]
    evidence = tuple(remark(line) for line in lines)
    return ForeignKey(columns, target.name, key, target.schema, declared=False, score=score, evidence=evidence)
