from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.errors import InputError
from sqljury.metrics.esm_plus import NUMBERS, PUBLISHED, STRICT, Facts, Options, deciding_rules, esm_plus
from sqljury.types import Column, ForeignKey, Schema, Table

KEY = Column("ID", "INTEGER", unique=True)
FACTS = Facts.of_schema(
    Schema(
        "pets",
        "sqlite",
        (
            Table(
                "Owner",
                (
                    KEY,
                    Column("Name", "TEXT", not_null=True),
                    Column("Email", "VARCHAR(40)", unique=True),
                    Column("City", "TEXT"),
                ),
                primary_key=("ID",),
            ),
            Table(
                "Pet",
                (
                    KEY,
                    Column("Kind", "TEXT", not_null=True),
                    Column("Age", "INT"),
                    Column("Owner_ID", "INTEGER", not_null=True),
                    Column("Vet_ID", "INTEGER"),
                ),
                primary_key=("ID",),
                foreign_keys=(ForeignKey(("Owner_ID",), "Owner", ("ID",)), ForeignKey(("Vet_ID",), "Vet", ("ID",))),
            ),
            Table("Vet", (KEY, Column("Name", "TEXT")), primary_key=("ID",)),
            Table(
                "Visit",
                (Column("Pet_ID", "INTEGER"), Column("Day", "DATE"), Column("Cost", "REAL")),
                primary_key=("Pet_ID", "Day"),
                foreign_keys=(ForeignKey(("Pet_ID",), "Pet", ("ID",)),),
            ),
            Table("Old_Pet", (Column("ID"),), kind="view"),
        ),
    )
)


def cases(name: str) -> list[tuple[str, ...]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [tuple(part.strip() for part in line.split(";")) for line in lines if line and not line.startswith("#")]


CASES = cases("esm_plus_cases.txt")
STRICT_CASES = cases("esm_plus_strict_cases.txt")


def test_an_alias_may_be_used_before_the_table_that_has_it() -> None:
    gold = "SELECT T3.kind FROM owner AS T1 JOIN visit AS T2 ON T1.id = T3.owner_id JOIN pet AS T3 ON T3.id = T2.pet_id"
    other = "SELECT pet.kind FROM visit JOIN pet ON pet.id = visit.pet_id JOIN owner ON owner.id = pet.owner_id"
    assert esm_plus(gold, gold, FACTS).matches
    assert esm_plus(gold, other, FACTS).matches
    assert "no column" in esm_plus(gold.replace("AS T", "T"), gold, FACTS).gold.error  # these hold where they stand
    assert not esm_plus(gold, gold.replace("T3.kind", "T2.kind"), FACTS).matches
    assert not esm_plus(gold, gold.replace("T1.id = T3.owner_id", "T1.id = T4.owner_id"), FACTS).matches


def test_conditions_of_a_nested_query_have_an_order_but_in_strict_mode() -> None:
    gold = "SELECT name FROM owner WHERE id NOT IN (SELECT owner_id FROM pet WHERE age = 1 AND kind = 'x')"
    turned = gold.replace("age = 1 AND kind = 'x'", "kind = 'x' AND age = 1")
    assert esm_plus(gold, gold, FACTS).matches
    assert not esm_plus(gold, turned, FACTS).matches
    assert esm_plus(gold, turned, FACTS, STRICT).matches
    joined = "SELECT city FROM owner WHERE id NOT IN (SELECT pet.owner_id FROM pet JOIN visit ON pet.id = visit.pet_id)"
    assert esm_plus(joined, joined.replace("pet JOIN visit", "visit JOIN pet"), FACTS).matches


@pytest.mark.parametrize(("gold", "predicted", "verdict", "rules"), [(*case, "")[:4] for case in CASES])
def test_pairs(gold: str, predicted: str, verdict: str, rules: str) -> None:
    match = esm_plus(gold, predicted, FACTS)
    assert match.matches is (verdict == "match"), match
    assert bool(match.differs or match.predicted.error) is not match.matches
    assert deciding_rules(gold, predicted, FACTS) == tuple(int(rule) for rule in rules.split(",") if rule)
    if match.matches:
        assert esm_plus(predicted, gold, FACTS).matches


@pytest.mark.parametrize(("gold", "predicted", "verdict"), STRICT_CASES)
def test_pairs_in_strict_mode(gold: str, predicted: str, verdict: str) -> None:
    match = esm_plus(gold, predicted, FACTS, STRICT)
    assert bool(match.gold.error) is (verdict == "unread")
    assert match.matches is (verdict == "match"), match
    assert esm_plus(predicted, gold, FACTS, STRICT).matches is match.matches


def test_every_rule_has_cases_that_rest_on_it_and_on_no_other() -> None:
    alone = {rules for _, _, verdict, rules in ((*case, "")[:4] for case in CASES) if verdict == "match"}
    assert {str(number) for number in NUMBERS} <= alone


@pytest.mark.parametrize("options", [PUBLISHED, STRICT], ids=["published", "strict"])
def test_every_query_matches_itself_whatever_rules_are_off(options: Options) -> None:
    readable = [sql for gold, predicted, *_ in CASES for sql in (gold, predicted) if esm_plus(sql, sql, FACTS).matches]
    assert len(readable) > 150
    chance = random.Random(5)
    for sql in readable:
        some = frozenset(chance.sample(sorted(NUMBERS - {14}), 6))
        for disabled in (frozenset[int](), NUMBERS - {14}, some):
            assert esm_plus(sql, sql, FACTS, replace(options, disabled=disabled)).matches


def test_rules_that_are_off_do_not_fire() -> None:
    for gold, predicted, *_ in CASES:
        match = esm_plus(gold, predicted, FACTS, Options(disabled=frozenset({7, 13, 14})))
        assert not {7, 13, 14} & set(match.rules)


def test_the_verdict_says_what_was_done_and_why() -> None:
    match = esm_plus(
        "SELECT kind FROM pet WHERE age = 1",
        "SELECT count(p.kind) FROM pet p JOIN owner o ON p.owner_id = o.id WHERE NOT p.age = '1'",
        FACTS,
    )
    assert match.differs == ("select", "where")
    assert match.gold.sql == "SELECT pet.kind FROM pet WHERE pet.age = 1"
    assert match.predicted.sql == "SELECT count(*) FROM pet WHERE pet.age != 1"
    assert match.rules == (7, 11, 13, 14, 20)
    assert [fired.assumptions for fired in match.predicted.fired if fired.rule in (7, 13)] == [
        ("pet.owner_id is a foreign key to owner.id", "pet.owner_id is never NULL"),
        ("pet.kind is never NULL",),
    ]


def test_rewritten_queries_are_sql_that_can_be_read() -> None:
    """Rules come in one order, so what a late one makes may be rewritten by an early one."""
    for gold, _, *_ in CASES:
        first = esm_plus(gold, gold, FACTS).gold
        if not first.error and " * " not in first.sql:  # arithmetic is written in parentheses, which it may not have
            assert esm_plus(first.sql, first.sql, FACTS).gold.error == ""


@pytest.mark.parametrize(
    ("gold", "predicted", "options"),
    [
        ("SELECT id FROM pet WHERE age = 1", "SELECT id FROM pet WHERE age = 2", Options(values=False)),
        ("SELECT id FROM pet WHERE age = 1", "SELECT id FROM pet WHERE age = 'x'", Options(values=False)),
        ("SELECT DISTINCT kind FROM pet", "SELECT kind FROM pet", Options(distinct=False)),
        ("SELECT count(DISTINCT kind) FROM pet", "SELECT count(kind) FROM pet", Options(distinct=False)),
        (
            "SELECT id FROM pet WHERE id IN (SELECT DISTINCT vet_id FROM pet WHERE age > 3)",
            "SELECT id FROM pet WHERE id IN (SELECT vet_id FROM pet WHERE age > 4)",
            Options(values=False, distinct=False),
        ),
    ],
)
def test_values_and_distinct_can_be_left_out(gold: str, predicted: str, options: Options) -> None:
    assert not esm_plus(gold, predicted, FACTS).matches
    assert esm_plus(gold, predicted, FACTS, options).matches


def test_a_query_that_cannot_be_judged_says_why() -> None:
    gold = "SELECT id FROM pet"
    assert "no table" in esm_plus(gold, "SELECT id FROM dog", FACTS).predicted.error
    assert "SQLite" in esm_plus(gold, "SELECT id FROM pet UNION SELECT id , kind FROM pet", FACTS).predicted.error
    assert "no FROM" in esm_plus("Sorry", gold, FACTS).gold.error
    assert "statements" in esm_plus(gold, "SELECT 1; SELECT 2", FACTS, STRICT).predicted.error


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InputError, match="no rule 0, 21"):
        Options(disabled=frozenset({0, 3, 21}))


def test_facts_are_what_the_schema_declares() -> None:
    assert FACTS.unique == {"owner.id", "owner.email", "pet.id", "vet.id"}
    assert FACTS.non_null == {"owner.id", "owner.name", "pet.id", "pet.kind", "pet.owner_id", "vet.id"}
    assert FACTS.references == {"pet.owner_id": "owner.id", "pet.vet_id": "vet.id", "visit.pet_id": "pet.id"}
    assert FACTS.is_single_key("pet.id")
    assert not FACTS.is_single_key("visit.pet_id")
    assert "old_pet" not in FACTS.names.tables


# Robustness

VOCABULARY = """
    select distinct count ( max ) * , from pet as p owner o join left on id kind age p.id o.id owner_id = != <> > <
    where and or not in like between is null exists union intersect except all group by having order desc limit 1 2
    'x' " ' ` ; -- /* . T1 + - case when then end offset with
"""
WORDS = VOCABULARY.split()
GOLD = (
    "SELECT T2.city , count(*) FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id WHERE T1.age IN (1, 2) "
    "OR T1.kind LIKE 'x' GROUP BY T2.city HAVING count(T1.id) > 2 ORDER BY T2.city DESC LIMIT 3"
)


@pytest.mark.parametrize("options", [PUBLISHED, STRICT], ids=["published", "strict"])
def test_ten_thousand_strings_neither_crash_nor_hang(options: Options) -> None:
    chance = random.Random(7)
    words = GOLD.split()
    for turn in range(10_000 if options is PUBLISHED else 3_000):
        if turn % 2:
            mutated = words.copy()
            for _ in range(chance.randint(1, 4)):
                mutated[chance.randrange(len(mutated))] = chance.choice(WORDS)
        else:
            mutated = ["SELECT", *chance.choices(WORDS, k=chance.randint(1, 30))]
        sql = " ".join(mutated)
        assert isinstance(esm_plus(GOLD, sql, FACTS, options).matches, bool)
        esm_plus(sql, sql, FACTS, options)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.booleans())
def test_any_text_gets_a_verdict(sql: str, strict: bool) -> None:
    assert not esm_plus(GOLD, sql, FACTS, Options(strict=strict)).matches


@pytest.mark.parametrize("options", [PUBLISHED, STRICT], ids=["published", "strict"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM pet WHERE " + "(" * 5_000,
        "SELECT " + "(" * 900 + "id" + ")" * 900 + " FROM pet",
        "SELECT id FROM pet WHERE age IN (" + ", ".join(["1"] * 5_000) + ")",
        "SELECT id FROM pet WHERE " + " AND ".join(["age = 1"] * 2_000),
        "SELECT id FROM pet WHERE " + " AND ".join(["NOT age = 1 OR age = 2"] * 300),
        "SELECT id FROM pet " + "UNION SELECT id FROM pet " * 200,
        "SELECT id FROM pet WHERE id IN (" * 100 + "1" + ")" * 100,
        "SELECT " + "max(" * 300 + "id" + ")" * 300 + " FROM pet",
        "SELECT " + " + ".join(["id"] * 3_000) + " FROM pet",
        "SELECT id FROM pet JOIN " + " JOIN ".join(["pet"] * 300),
        "SELECT id FROM pet " + ("JOIN pet " * 8 + "ON 1 = 1 ") * 8,
        "SELECT a.id FROM " + " JOIN ".join(f"pet AS {c} ON {c}.id = a.id" for c in "abcdefghijkl"),
        "SELECT id FROM pet" + " NOT" * 3_000,
        "SELECT id FROM pet WHERE age = 'x\x00y'",
        "SELECT id FROM pet LIMIT " + "9" * 10_000,
        "SELECT id FROM pet WHERE age = 1e999",
        "\ud800 SELECT id FROM pet",
        "SELECT '\ud800' FROM pet",
        "SELECT as FROM as as as JOIN as",
        "x" * 1_000_000,
    ],
    ids=range(20),
)
@pytest.mark.timeout(5)
def test_hostile_queries(sql: str, options: Options) -> None:
    assert not esm_plus(GOLD, sql, FACTS, options).matches
    esm_plus(sql, sql, FACTS, options)


def test_nothing_is_run_to_check_a_prediction(tmp_path: Path) -> None:
    target = tmp_path / "made.sqlite"
    for sql in (f"ATTACH '{target}' AS x", f"SELECT id FROM pet; ATTACH '{target}' AS x", "PRAGMA soft_heap_limit = 1"):
        assert not esm_plus("SELECT id FROM pet", sql, FACTS).matches
    assert not target.exists()
