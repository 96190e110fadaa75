"""Strict mode says "the same" only of queries that answer alike, tried on fuzzed databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from esm_rewriting import rewritten
from esm_trials import Trial, counterexample, pairs, trials
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqljury.db.connect import connect
from sqljury.metrics.esm_plus import STRICT, Facts, esm_plus
from sqljury.schema.introspect import introspect
from sqljury.types import Column, ForeignKey, Schema, Table

SHARED = Path(__file__).resolve().parents[4] / "shared"

KEY = Column("id", "INTEGER", unique=True)
SCHEMA = Schema(
    "pets",
    "sqlite",
    (
        Table(
            "owner",
            (KEY, Column("name", "TEXT", not_null=True), Column("email", "TEXT", unique=True), Column("city", "TEXT")),
            primary_key=("id",),
        ),
        Table("vet", (KEY, Column("name", "TEXT")), primary_key=("id",)),
        Table(
            "pet",
            (
                KEY,
                Column("kind", "TEXT", not_null=True),
                Column("age", "INTEGER"),
                Column("weight", "REAL"),
                Column("owner_id", "INTEGER", not_null=True),
                Column("vet_id", "INTEGER"),
            ),
            primary_key=("id",),
            foreign_keys=(ForeignKey(("owner_id",), "owner", ("id",)), ForeignKey(("vet_id",), "vet", ("id",))),
        ),
        Table(
            "visit",
            (Column("pet_id", "INTEGER"), Column("day", "TEXT"), Column("cost", "INTEGER")),
            primary_key=("pet_id", "day"),
            foreign_keys=(ForeignKey(("pet_id",), "pet", ("id",)),),
        ),
    ),
)
GOLDS = (
    "SELECT name FROM owner WHERE city = '1' AND email > 'b'",
    "SELECT id, kind FROM pet WHERE age > 2 OR weight < 5",
    "SELECT id FROM pet WHERE age BETWEEN 1 AND 3 AND kind = '7'",
    "SELECT * FROM pet",
    "SELECT count(*) FROM pet",
    "SELECT id FROM pet ORDER BY id DESC LIMIT 1",
    "SELECT age FROM pet WHERE kind = '01' ORDER BY age LIMIT 1",
    "SELECT kind, count(*), max(age) FROM pet GROUP BY kind HAVING count(*) > 1",
    "SELECT owner.name FROM pet JOIN owner ON pet.owner_id = owner.id WHERE owner.city = 'a'",
    "SELECT T1.id, T2.city FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id WHERE T1.age > 2",
    "SELECT T1.kind FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id",
    "SELECT T1.city, count(*) FROM owner AS T1 JOIN pet AS T2 ON T1.id = T2.owner_id GROUP BY T1.id",
    "SELECT T2.cost FROM pet AS T1 LEFT JOIN visit AS T2 ON T1.id = T2.pet_id WHERE T1.age > 1",
    "SELECT kind FROM pet WHERE owner_id IN (SELECT id FROM owner WHERE city = '1')",
    "SELECT kind FROM pet WHERE owner_id = (SELECT id FROM owner WHERE email = '1')",
    "SELECT id FROM vet WHERE id NOT IN (SELECT vet_id FROM pet)",
    "SELECT id FROM owner EXCEPT SELECT owner_id FROM pet",
    "SELECT id, age FROM pet WHERE age > 3 UNION SELECT id, age FROM pet WHERE kind = '2'",
    "SELECT city FROM owner INTERSECT SELECT kind FROM pet",
    "SELECT pet_id, day FROM visit WHERE cost IN (1, 2, 3)",
    "SELECT count(DISTINCT owner_id) FROM pet",
    "SELECT name FROM vet WHERE EXISTS (SELECT * FROM pet WHERE pet.vet_id = vet.id)",
)


@pytest.fixture(scope="module")
def databases() -> Iterator[list[Trial]]:
    with trials(SCHEMA, GOLDS, count=8, seed="strict") as found:
        yield found


FACTS = Facts.of_schema(SCHEMA)


@settings(
    max_examples=500, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(GOLDS), st.integers(0, 10**9), st.booleans())
def test_matches_answer_alike(databases: list[Trial], gold: str, seed: int, both: bool) -> None:
    own = rewritten(gold, SCHEMA, f"{seed}|gold") if both else gold
    other = rewritten(own or gold, SCHEMA, str(seed))
    if own and other and esm_plus(own, other, FACTS, STRICT).matches:
        assert counterexample(own, other, databases) is None, (own, other)


def test_rewriting_makes_pairs_that_match_and_pairs_that_should_not(databases: list[Trial]) -> None:
    """Else the test above would show nothing."""
    found = list(pairs(GOLDS, SCHEMA, 300, "0"))
    matches = [pair for pair in found if esm_plus(*pair, FACTS, STRICT).matches]
    rules = {rule for pair in matches for rule in esm_plus(*pair, FACTS, STRICT).rules}
    assert len(matches) > 30
    assert len(rules) > 8
    assert sum(counterexample(*pair, databases) is not None for pair in found) > 100
    published = [pair for pair in found if esm_plus(*pair, FACTS).matches]
    assert any(counterexample(*pair, databases) is not None for pair in published)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared")
@pytest.mark.parametrize("db_id", ["college_2", "flight_1", "hospital_1", "cre_Theme_park", "baseball_1"])
def test_matches_answer_alike_on_spider(db_id: str) -> None:
    train = json.loads((SHARED / "spider/train.json").read_text(encoding="utf-8"))
    golds = sorted({entry["query"] for entry in train if entry["db_id"] == db_id})
    with connect(SHARED / "spider/database" / db_id / f"{db_id}.sqlite") as own:
        schema = introspect(own)
        facts = Facts.of_schema(schema)
        with trials(schema, golds, own, count=4) as opened:
            for pair in pairs(golds, schema, 150, db_id):
                if esm_plus(*pair, facts, STRICT).matches:
                    assert counterexample(*pair, opened) is None, pair
