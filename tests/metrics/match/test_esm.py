from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sqljury.errors import DatasetError
from sqljury.metrics.esm import PUBLISHED, ComparedParts, ForeignKeys, differing_clauses
from sqljury.metrics.esm_plus import Facts
from sqljury.metrics.spider import Names, Query, parse, parse_or_empty
from sqljury.types import Column, ForeignKey, Schema, Table

ENTRY = {
    "db_id": "pets",
    "table_names_original": ["Owner", "Pet"],
    "column_names_original": [[-1, "*"], [0, "ID"], [0, "City"], [1, "ID"], [1, "Kind"], [1, "Age"], [1, "Owner_ID"]],
    "foreign_keys": [[6, 1]],
}
NAMES = Names.of_entry(ENTRY)
KEYS = ForeignKeys.of_entry(ENTRY)
STRICT = ComparedParts(values=True, distinct=True)
JOINED = "FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id"


def match(gold: str, predicted: str, compared: ComparedParts = PUBLISHED) -> bool:
    return not differing_clauses(parse(gold, NAMES), parse_or_empty(predicted, NAMES), KEYS, compared)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("SELECT kind , age FROM pet", "SELECT age , kind FROM pet"),
        ("SELECT id FROM pet WHERE age = 1 AND kind = 'x'", "SELECT id FROM pet WHERE kind = 'y' AND age = 2"),
        (f"SELECT T1.kind {JOINED}", "SELECT A.kind FROM owner AS B JOIN pet AS A ON A.id = B.id"),
        (f"SELECT T1.owner_id {JOINED}", f"SELECT T2.id {JOINED}"),
        ("SELECT DISTINCT kind FROM pet", "SELECT kind FROM pet"),
        ("SELECT count(DISTINCT kind) FROM pet", "SELECT count(kind) FROM pet"),
        ("SELECT id FROM pet ORDER BY age LIMIT 1", "SELECT id FROM pet ORDER BY age ASC LIMIT 9"),
        ("SELECT id FROM pet LIMIT 1", "SELECT id FROM pet LIMIT 2"),
        ("SELECT id FROM pet UNION SELECT id FROM owner", "SELECT pet.id FROM pet UNION SELECT owner.id FROM owner"),
    ],
)
def test_matches(gold: str, predicted: str) -> None:
    assert match(gold, predicted)
    assert match(predicted, gold)


@pytest.mark.parametrize(
    ("gold", "predicted", "clause"),
    [
        ("SELECT kind FROM pet", "SELECT age FROM pet", "select"),
        ("SELECT max(age) FROM pet", "SELECT min(age) FROM pet", "select"),
        ("SELECT owner_id FROM pet", "SELECT id FROM owner", "from"),
        ("SELECT id FROM pet WHERE age = 1", "SELECT id FROM pet WHERE age > 1", "where"),
        ("SELECT id FROM pet WHERE age = 1 AND id = 1", "SELECT id FROM pet WHERE age = 1 OR id = 1", "and/or"),
        ("SELECT kind FROM pet GROUP BY kind", "SELECT kind FROM pet", "group by"),
        ("SELECT kind FROM pet GROUP BY kind , age", "SELECT kind FROM pet GROUP BY age , kind", "group by"),
        ("SELECT id FROM pet ORDER BY age", "SELECT id FROM pet ORDER BY age DESC", "order by"),
        ("SELECT id FROM pet ORDER BY age LIMIT 1", "SELECT id FROM pet ORDER BY age", "order by"),
        ("SELECT id FROM pet LIMIT 1", "SELECT id FROM pet", "keywords"),
        (
            "SELECT id FROM pet UNION SELECT id FROM owner",
            "SELECT id FROM pet EXCEPT SELECT id FROM owner",
            "set operator",
        ),
        ("SELECT id FROM pet UNION SELECT id FROM owner", "SELECT id FROM pet", "set operator"),
        ("SELECT id FROM pet", "Sorry", "select"),
    ],
)
def test_mismatches_name_the_clause(gold: str, predicted: str, clause: str) -> None:
    assert not match(gold, predicted)
    assert not match(gold, predicted, STRICT)
    assert clause in differing_clauses(parse(gold, NAMES), parse_or_empty(predicted, NAMES), KEYS)


def test_a_nested_query_is_compared_as_it_is_written_but_for_its_values() -> None:
    gold = "SELECT id FROM pet WHERE age > (SELECT avg(age) FROM pet WHERE kind = 'x' AND id = 1)"
    assert match(gold, gold.replace("'x'", "'y'"))
    assert not match(gold, gold.replace("kind = 'x' AND id = 1", "id = 1 AND kind = 'x'"))
    assert not match(gold, gold.replace("SELECT avg", "SELECT DISTINCT avg"))
    nested = "SELECT id FROM pet WHERE age IN (SELECT age FROM pet ORDER BY id LIMIT 3)"
    assert match(nested, nested.replace("LIMIT 3", "LIMIT 7"))
    assert not match(nested, nested.replace(" LIMIT 3", ""))


def test_values_and_distinct_count_where_the_rules_say() -> None:
    values = "SELECT id FROM pet WHERE age = 1", "SELECT id FROM pet WHERE age = 2"
    distinct = "SELECT count(DISTINCT kind) FROM pet", "SELECT count(kind) FROM pet"
    assert match(*values, ComparedParts(distinct=True))
    assert not match(*values, ComparedParts(values=True))
    assert match(*distinct, ComparedParts(values=True))
    assert not match(*distinct, ComparedParts(distinct=True))


def test_every_query_matches_itself_and_the_empty_one_matches_no_query() -> None:
    queries = [
        "SELECT kind , count(*) FROM pet GROUP BY kind HAVING count(*) > 2 ORDER BY count(*) DESC LIMIT 3",
        f"SELECT T2.city {JOINED} WHERE T1.age BETWEEN 1 AND 3 INTERSECT SELECT city FROM owner",
        "SELECT count(*) FROM (SELECT id FROM pet)",
    ]
    for sql in queries:
        assert match(sql, sql, STRICT)
        assert differing_clauses(parse(sql, NAMES), Query(), KEYS)
        assert differing_clauses(Query(), parse(sql, NAMES), KEYS)


def test_ten_thousand_mutated_pairs_neither_crash_nor_hang() -> None:
    chance = random.Random(11)
    gold = f"SELECT T2.city , count(*) {JOINED} WHERE T1.age > 2 OR T1.kind LIKE 'x' GROUP BY T2.city ORDER BY T2.city"
    words = gold.split()
    for _ in range(10_000):
        mutated = words.copy()
        for _ in range(chance.randint(1, 3)):
            mutated[chance.randrange(len(mutated))] = chance.choice(words)
        assert match(gold, " ".join(mutated), STRICT) <= match(gold, " ".join(mutated))


def test_keys_of_a_schema_are_those_of_tables_json() -> None:
    schema = Schema(
        "pets",
        "sqlite",
        (
            Table("Owner", (Column("ID"), Column("City"))),
            Table(
                "Pet",
                (Column("ID"), Column("Kind"), Column("Age"), Column("Owner_ID")),
                foreign_keys=(ForeignKey(("Owner_ID",), "owner", ("id",)), ForeignKey(("Age",), "gone", ("x",))),
            ),
        ),
    )
    assert ForeignKeys.of_schema(schema) == KEYS
    guess = ForeignKey(("Kind",), "owner", ("city",), declared=False, score=0.9)
    owner, pet = schema.tables
    inferred = replace(schema, tables=(owner, replace(pet, foreign_keys=(*pet.foreign_keys, guess))))
    assert ForeignKeys.of_schema(inferred) == KEYS  # published metrics know declared keys only
    assert Facts.of_schema(inferred) == Facts.of_schema(schema)
    assert KEYS.stands_for == {"pet.owner_id": "owner.id", "owner.id": "owner.id"}


@pytest.mark.parametrize("keys", [None, [[1, 99]], [[1]], [5]])
def test_a_malformed_entry_is_named(keys: object) -> None:
    with pytest.raises(DatasetError, match="'pets'"):
        ForeignKeys.of_entry({**ENTRY, "foreign_keys": keys})
