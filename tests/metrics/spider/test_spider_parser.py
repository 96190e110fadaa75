from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.errors import InputError
from sqljury.metrics.hardness import LEVELS, hardness
from sqljury.metrics.spider import Names, Query, parse, parse_or_empty
from sqljury.metrics.spider.structure import ColUnit, Condition, SelectUnit, ValUnit

NAMES = Names.of([("Pet", ["id", "kind", "age", "owner_id"]), ("Owner", ["id", "name", "city"])])


def column(name: str, aggregate: str = "none", distinct: bool = False) -> ColUnit:
    return ColUnit(aggregate, name, distinct)


def unit(name: str, aggregate: str = "none") -> ValUnit:
    return ValUnit("none", column(name, aggregate), None)


def test_every_clause() -> None:
    query = parse(
        "SELECT DISTINCT T1.kind, count(*), max(T1.age - T1.id) FROM Pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id "
        "WHERE T2.city = 'Rome' OR T1.age BETWEEN 1 AND 3 GROUP BY T1.kind HAVING count(DISTINCT T1.id) > 2 "
        "ORDER BY count(*) DESC LIMIT 5;",
        NAMES,
    )
    assert query == Query(
        distinct=True,
        select=(
            SelectUnit("none", unit("pet.kind")),
            SelectUnit("count", unit("*")),
            SelectUnit("max", ValUnit("-", column("pet.age"), column("pet.id"))),
        ),
        tables=("pet", "owner"),
        join=(Condition(False, "=", unit("pet.owner_id"), column("owner.id"), None),),
        where=(
            Condition(False, "=", unit("owner.city"), '"Rome"', None),
            "or",
            Condition(False, "between", unit("pet.age"), 1.0, 3.0),
        ),
        group_by=(column("pet.kind"),),
        having=(Condition(False, ">", ValUnit("none", column("pet.id", "count", True), None), 2.0, None),),
        order="desc",
        order_by=(unit("*", "count"),),
        limit=1,  # as every one
    )


def test_nested_queries_in_conditions_and_set_operators() -> None:
    query = parse(
        "SELECT id FROM pet WHERE age > (SELECT avg(age) FROM pet) AND kind NOT IN (SELECT name FROM owner) "
        "EXCEPT SELECT id FROM owner",
        NAMES,
    )
    assert [condition.negated for condition in query.conditions] == [False, True]
    assert query.set_operator == "except"
    assert query.nested == (
        parse("SELECT avg(age) FROM pet", NAMES),
        parse("SELECT name FROM owner", NAMES),
        parse("SELECT id FROM owner", NAMES),
    )


def test_a_query_in_from() -> None:
    query = parse("SELECT count(*) FROM (SELECT id FROM pet)", NAMES)
    assert query.tables == (parse("SELECT id FROM pet", NAMES),)
    assert query.nested == ()


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT",
        "SELECT 1",
        "SELECT a FROM",
        "SELECT kind FROM cat",
        "SELECT breed FROM pet",
        "SELECT name FROM pet",
        "SELECT p.kind FROM pet p",
        "SELECT kind FROM pet, owner",
        "SELECT kind FROM pet LEFT JOIN owner ON pet.owner_id = owner.id",
        "SELECT kind FROM pet WHERE (age = 1 OR age = 2) AND kind = 'x'",
        "SELECT kind FROM pet WHERE age IN (1, 2)",
        "SELECT kind FROM pet WHERE age IS NOT NULL",
        "SELECT kind FROM pet WHERE age <> 1",
        "SELECT kind FROM pet WHERE age=1",
        "SELECT kind FROM pet WHERE age = (id)",
        "SELECT kind FROM pet WHERE age",
        "SELECT kind FROM pet WHERE age = 1 HAVING count(*) > 1",
        "SELECT kind FROM pet GROUP kind",
        "SELECT kind FROM pet LIMIT",
        "SELECT upper(kind) FROM pet",
        "SELECT kind FROM pet AS owner",
        "SELECT kind FROM pet AS",
        "SELECT pet.kind.x FROM pet",
        "SELECT kind FROM pet WHERE kind = 'x",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "Sorry, I cannot answer from this.",
    ],
)
def test_what_the_benchmark_cannot_read(sql: str) -> None:
    with pytest.raises(InputError, match="Spider's grammar"):
        parse(sql, NAMES)
    assert parse_or_empty(sql, NAMES) == Query()


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        # A comparison of columns swallows the OR behind it.
        ("SELECT id FROM pet WHERE age = id OR kind = 'x'", "SELECT id FROM pet WHERE age = id"),
        # The direction of a later key is the direction of all.
        ("SELECT id FROM pet ORDER BY age, id DESC", "SELECT id FROM pet ORDER BY age DESC, id DESC"),
        # What stands behind a query, and a column's alias, is not looked at.
        ("SELECT id FROM pet LIMIT 1 OFFSET 7", "SELECT id FROM pet LIMIT 1"),
        ("SELECT id FROM pet LIMIT many", "SELECT id FROM pet LIMIT 3"),
        ("SELECT id FROM pet ) nonsense", "SELECT id FROM pet"),
        # An alias holds in the whole query, though it was given in the inner one.
        (
            "SELECT T9.id FROM pet WHERE id IN (SELECT T9.id FROM pet AS T9)",
            "SELECT pet.id FROM pet WHERE id IN (SELECT pet.id FROM pet)",
        ),
        ("SELECT (id) FROM pet", "SELECT id FROM pet"),
    ],
)
def test_oddities_of_the_benchmark(odd: str, plain: str) -> None:
    assert parse(odd, NAMES) == parse(plain, NAMES)


def test_queries_inside_queries_are_read_to_a_depth() -> None:
    def nested(depth: int) -> str:
        return "SELECT id FROM pet WHERE id IN (" * depth + "SELECT id FROM pet" + ")" * depth

    assert parse(nested(50), NAMES).nested
    with pytest.raises(InputError, match="inside each other"):
        parse(nested(5000), NAMES)


VOCABULARY = """
    select from where group by having order limit and or not in like is between join on as union except intersect
    distinct count max ( ( ) ) , ; * + - = > < >= ! = 1 2.5 'x' " ' pet owner t1 t1.id pet.kind id kind age asc desc
    null exists nan . : ` -- é
"""
WORDS = VOCABULARY.split()
READABLE = (
    "SELECT kind , count(*) FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id GROUP BY kind LIMIT 3",
    "SELECT id FROM pet WHERE age > (SELECT avg(age) FROM pet) OR kind LIKE '%x%' UNION SELECT id FROM owner",
)


def check(sql: str) -> bool:
    query = parse_or_empty(sql, NAMES)
    hash(query)
    return hardness(query) in LEVELS


@given(st.text(max_size=200) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_any_text_is_read_or_refused(sql: str) -> None:
    assert check(sql)


def test_ten_thousand_mutated_queries_neither_crash_nor_hang() -> None:
    chance = random.Random(7)
    for _ in range(10_000):
        words = chance.choice(READABLE).split(" ")
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(words))
            words[at : at + chance.randint(0, 3)] = chance.choices(WORDS, k=chance.randint(0, 3))
            words = words or [""]
        assert check(" ".join(words))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " * 20_000,
        "(" * 50_000,
        "from " * 20_000,
        "select from ( " * 10_000,
        "select id from pet where id in ( " * 10_000,
        "select id from pet union " * 10_000,
        "select " + "id , " * 20_000 + "id from pet",
        "a as b " * 20_000,
        "'" * 100_000,
        "." * 100_000,
        "," * 100_000,
        "a. " * 30_000,
    ],
    ids=lambda sql: sql[:20],
)
def test_long_hostile_text_is_quick(sql: str) -> None:
    start = time.monotonic()
    parse_or_empty(sql, NAMES)
    assert time.monotonic() - start < 5
