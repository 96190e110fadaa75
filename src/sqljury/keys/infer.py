"""Which columns are keys, and which refer to keys of other tables: the choice among the pairs that were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from sqljury.keys import names
from sqljury.keys.compound import compound_keys
from sqljury.keys.pairs import Finder, Key, Pair, Profiles
from sqljury.keys.profile import Contained, TableProfile
from sqljury.keys.score import WEIGHTS, evidence, probability
from sqljury.types import Column, ForeignKey, Schema, Table

LEAST: Final = 0.45
"""A less likely key is not shown."""

LEAST_BESIDE: Final = 0.9
"""The same for a database that declares its keys: what it does not declare is rarely one."""

_UNREAD: Final = TableProfile()
_ORDER: Final = (*names.RELATIONS, "")


Chosen = dict[tuple[str, str], tuple[float, Pair]]
"""By table and column the key that it refers to, after its probability."""


class Inferred(NamedTuple):
    """What was inferred about one table."""

    candidate_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()


def declares(schema: Schema) -> bool:
    """Whether the database declares its keys: two for each identifier that names a table and is not declared.

    A database that was built over years may declare half of its keys only, and the other half are as good.
    """
    declared = sum(len(key.columns) for table in schema.tables for key in table.foreign_keys)
    if not declared:
        return False
    undeclared = (column for column in _undeclared(schema, identifiers=True))
    return next(islice(undeclared, declared // 2, None), None) is None


def worth_reading(schema: Schema) -> list[Table]:
    """The tables whose rows may show a key that is not declared; views show rows of tables and are left out."""
    tables = [table for table in schema.tables if not table.is_view]
    if not declares(schema):
        return tables
    wanted = {table.name for table in tables if not table.primary_key}
    for table, keys in _undeclared(schema):
        wanted |= {table.name, *(key.table.name for key in keys)}
    return [table for table in tables if table.name in wanted]


def _undeclared(schema: Schema, *, identifiers: bool = False) -> Iterator[tuple[Table, list[Key]]]:
    """The columns without a declared key whose names refer to a key: for each its table, and the keys it may mean."""
    finder = Finder(schema, {})
    for table in schema.tables:
        for column in () if table.is_view else _free(table):
            if not identifiers or names.is_identifier(column.name):
                keys = finder.named(table, column)
                if keys:
                    yield table, keys


def infer(
    schema: Schema,
    profiles: Profiles,
    contained: Contained,
    weights: Sequence[float] = WEIGHTS,
    has_time: Callable[[], bool] = lambda: True,
) -> dict[str, Inferred]:
    """For each table the keys that it does not declare, as far as they are likely.

    ``has_time`` is asked before each table; once it says no, the tables that remain are left out of the result.
    """
    finder, beside = Finder(schema, profiles, contained), declares(schema)
    chosen: Chosen = {}
    compared = []
    for table in schema.tables:
        if not has_time():
            break
        compared.append(table)
        if not table.is_view:
            for column in _free(table):
                best = _best(finder.of(table, column), weights)
                if best is not None and (best[0] >= LEAST_BESIDE and best[1].relation if beside else best[0] >= LEAST):
                    chosen[table.name, column.name] = best
    for name in _reversed(schema, chosen):
        del chosen[name]
    together = {} if beside else _together(schema, profiles, contained, chosen)
    inferred = {}
    for table in compared:
        alone = [chosen[table.name, column.name] for column in table.columns if (table.name, column.name) in chosen]
        keys = (*(_foreign_key(*pair, profiles) for pair in alone), *together.get(table.name, ()))
        candidates = () if beside else _candidates(finder, table, profiles.get(table.name, _UNREAD))
        inferred[table.name] = Inferred(candidates, keys)
    return inferred


def _together(schema: Schema, profiles: Profiles, contained: Contained, chosen: Chosen) -> dict[str, list[ForeignKey]]:
    """The keys of several columns by table; keys of one column to the same table are taken out of ``chosen``.

    Those to other tables stay: claims on a policy's cover refer to the cover, and to the policy.
    """
    by_table: dict[str, list[ForeignKey]] = defaultdict(list)
    for table, key in compound_keys(schema, profiles, contained, chosen.keys()):
        by_table[table.name].append(key)
        for column in key.columns:
            if (table.name, column) in chosen and chosen[table.name, column][1].key.table.name == key.ref_table:
                del chosen[table.name, column]
    return by_table


def merged(schema: Schema, inferred: dict[str, Inferred]) -> Schema:
    """The schema with what was inferred, after what is declared."""
    if not any(any(result) for result in inferred.values()):
        return schema
    tables = []
    for table in schema.tables:
        result = inferred.get(table.name, Inferred())
        keys = (*table.foreign_keys, *result.foreign_keys)
        tables.append(replace(table, candidate_keys=result.candidate_keys, foreign_keys=keys))
    return replace(schema, tables=tuple(tables))


def _free(table: Table) -> list[Column]:
    """The columns of a table that no declared key has."""
    covered = {name for key in table.foreign_keys for name in key.columns}
    return [column for column in table.columns if column.name not in covered]


def with_best_name(pairs: Sequence[Pair]) -> list[tuple[Pair, bool]]:
    """The pairs of one column, each with whether no other relates better by name."""
    ranks = [(_ORDER.index(pair.relation), -pair.key.ownership) for pair in pairs]
    return [(pair, rank == min(ranks)) for pair, rank in zip(pairs, ranks, strict=True)]


def _best(pairs: Sequence[Pair], weights: Sequence[float]) -> tuple[float, Pair] | None:
    """The most likely pair of a column, with its probability; of equal ones that to a table with names or titles."""
    scored = [(probability(pair, best, weights), pair) for pair, best in with_best_name(_likeliest_persons(pairs))]
    return max(scored, key=lambda item: (item[0], _has_title(item[1].key.table)), default=None)


def _likeliest_persons(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs without those of persons among whom the column's would be found by chance.

    ``approved_by`` may be one of 40 employees or of 300 customers by name, and the numbers 3, 17 and 38 are of both:
    three of 300 customers are hardly all among the first 40. So of the tables of persons that hold all values the
    smallest is meant.
    """
    complete = [pair.key.seen.count for pair in pairs if _is_of_persons(pair)]
    if not complete:
        return list(pairs)
    fewest = min(complete)
    return [
        pair for pair in pairs if pair.relation != "person" or (_is_of_persons(pair) and pair.key.seen.count == fewest)
    ]


def _is_of_persons(pair: Pair) -> bool:
    """Whether a role of persons leads to a table that holds all its values."""
    return pair.relation == "person" and pair.found == pair.looked_up > 0


def _has_title(table: Table) -> bool:
    """Whether a table has a column that names its rows: tables of things have one, tables of events have none."""
    return any(names.is_title(column.name) for column in table.columns)


def _reversed(schema: Schema, chosen: Chosen) -> Iterable[tuple[str, str]]:
    """Of two columns that refer to each other, the one that does so less likely; a declared key is certain."""
    declared = {
        (table.name, column, key.ref_table, ref_column)
        for table in schema.tables
        for key in table.foreign_keys
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    }
    dropped = []
    for (table, column), (score, pair) in chosen.items():
        target = pair.key.table.name, pair.key.column
        back = chosen.get(target)
        if (*target, table, column) in declared or (
            back is not None
            and (back[1].key.table.name, back[1].key.column) == (table, column)
            and _strength(score, pair) < _strength(*back)
        ):
            dropped.append((table, column))
    return dropped


def _strength(score: float, pair: Pair) -> tuple[float, int, bool, str]:
    """What decides between two columns that refer to each other."""
    return score, pair.key.ownership, _has_title(pair.key.table), pair.key.table.name


def _candidates(finder: Finder, table: Table, profile: TableProfile) -> tuple[tuple[str, ...], ...]:
    """The keys of a table that declares no primary key: columns whose values are unique and not NULL.

    A date or a measure may be unique too; only what is called like a key or a name, or comes first, is one.
    """
    if table.primary_key or profile.rows < 2:
        return ()
    first = table.columns[0].name
    return tuple(
        (key.column,)
        for key in finder.keys[table.name]
        if key.seen.unique
        and not key.seen.nulls
        and (key.ownership or key.column == first or names.column_name(key.column).end)
    )


def _foreign_key(score: float, pair: Pair, profiles: Profiles) -> ForeignKey:
    key = pair.key
    why = evidence(pair, profiles.get(pair.table.name, _UNREAD), profiles.get(key.table.name, _UNREAD))
    return ForeignKey(
        (pair.column.name,), key.table.name, (key.column,), key.table.schema, declared=False, score=score, evidence=why
    )
