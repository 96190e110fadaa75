from __future__ import annotations

import pytest

from sqljury.metrics.esm import ForeignKeys
from sqljury.metrics.partial import CLAUSES, Part, Shares, partial_match, table
from sqljury.metrics.spider import Names, parse_or_empty

NAMES = Names.of([("pet", ("id", "kind", "age")), ("owner", ("id", "name", "pet_id"))])
NO_KEYS = ForeignKeys({})


def parts(gold: str, predicted: str, keys: ForeignKeys = NO_KEYS) -> dict[str, Part]:
    return partial_match(parse_or_empty(gold, NAMES), parse_or_empty(predicted, NAMES), keys)


def wrong(gold: str, predicted: str) -> set[str]:
    return {name for name, part in parts(gold, predicted).items() if not part.right}


@pytest.mark.parametrize(
    ("gold", "predicted", "clauses"),
    [
        ("SELECT kind , age FROM pet", "SELECT age , kind FROM pet", set()),
        ("SELECT max(age) FROM pet", "SELECT min(age) FROM pet", {"select"}),
        ("SELECT age FROM pet", "SELECT kind FROM pet", {"select", "select(no AGG)"}),
        ("SELECT id FROM pet WHERE age > 1", "SELECT id FROM pet WHERE age > 2", set()),
        ("SELECT id FROM pet WHERE age > 1", "SELECT id FROM pet WHERE age < 1", {"where"}),
        ("SELECT id FROM pet WHERE age > 1", "SELECT id FROM pet", {"where", "where(no OP)", "keywords"}),
        (
            "SELECT id FROM pet WHERE age > 1 AND kind = 'a'",
            "SELECT id FROM pet WHERE age > 1 OR kind = 'a'",
            {"and/or", "keywords"},
        ),
        (
            "SELECT kind FROM pet GROUP BY kind HAVING count(*) > 1",
            "SELECT kind FROM pet GROUP BY kind",
            {"group", "keywords"},
        ),
        ("SELECT id FROM pet GROUP BY kind", "SELECT id FROM pet GROUP BY age", {"group", "group(no Having)"}),
        ("SELECT id FROM pet ORDER BY age", "SELECT id FROM pet ORDER BY age DESC", {"order", "keywords"}),
        ("SELECT id FROM pet ORDER BY age LIMIT 1", "SELECT id FROM pet ORDER BY age LIMIT 2", set()),
        ("SELECT id FROM pet ORDER BY age LIMIT 1", "SELECT id FROM pet ORDER BY age", {"order", "keywords"}),
        (
            "SELECT id FROM pet UNION SELECT id FROM owner",
            "SELECT id FROM pet UNION SELECT pet_id FROM owner",
            {"IUEN"},
        ),
        (
            "SELECT id FROM pet UNION SELECT id FROM owner",
            "SELECT id FROM pet EXCEPT SELECT id FROM owner",
            {"IUEN", "keywords"},
        ),
    ],
)
def test_clauses_that_differ(gold: str, predicted: str, clauses: set[str]) -> None:
    assert wrong(gold, predicted) == clauses
    assert wrong(predicted, gold) == clauses


def test_foreign_keys_are_taken_for_what_they_refer_to() -> None:
    keys = ForeignKeys({"owner.pet_id": "pet.id"})
    gold = "SELECT T1.id FROM pet AS T1 JOIN owner AS T2 ON T1.id = T2.pet_id"
    predicted = gold.replace("SELECT T1.id", "SELECT T2.pet_id")
    assert parts(gold, predicted, keys)["select"].right
    assert not parts(gold, predicted)["select"].right


def test_a_disagreement_on_and_or_is_counted_on_the_other_side() -> None:
    gold, predicted = "SELECT id FROM pet WHERE age > 1 AND age < 9", "SELECT id FROM pet WHERE age > 1"
    assert parts(gold, predicted)["and/or"] == Part(gold=0, predicted=1, agreeing=0)


def test_shares_by_level() -> None:
    right = parts("SELECT id FROM pet WHERE age > 1", "SELECT id FROM pet WHERE age > 1")
    missing = parts("SELECT id FROM pet WHERE age > 1", "SELECT id FROM pet")
    extra = parts("SELECT id FROM pet", "SELECT id FROM pet WHERE age > 1")
    found = table([("easy", right), ("easy", missing), ("hard", extra)], ("easy", "medium", "hard"))
    assert set(found) == set(CLAUSES)
    assert found["where"]["easy"] == Shares(1.0, 0.5, pytest.approx(2 / 3))
    assert found["where"]["hard"] == Shares(0.0, 0.0, 1.0)
    assert found["where"]["all"] == Shares(0.5, 0.5, 0.5)
    assert found["order"]["all"] == Shares(0.0, 0.0, 1.0)
    assert "medium" not in found["where"]


def test_a_prediction_that_cannot_be_read_has_no_clause() -> None:
    assert parts("SELECT id FROM pet", "no query")["select"] == Part(1, 0, 0)
