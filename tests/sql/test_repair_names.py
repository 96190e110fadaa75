from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.sql.repair_names import MAX_UNKNOWN, rebindings
from sqljury.types import Column, ForeignKey, Schema, Table


def table(name: str, columns: str, *keys: tuple[str, str]) -> Table:
    foreign = tuple(ForeignKey((column,), target.split(".")[0], (target.split(".")[1],)) for column, target in keys)
    return Table(name, tuple(Column(column) for column in columns.split()), foreign_keys=foreign)


SCHEMA = Schema(
    "firm",
    "sqlite",
    (
        table("person", "person_id name height"),
        table("athlete", "athlete_id person_id total", ("person_id", "person.person_id")),
        table("stock", "shop_id device_id quantity", ("shop_id", "shop.shop_id"), ("device_id", "device.device_id")),
        table("shop", "shop_id shop_name open_date"),
        table("device", "device_id carrier software"),
        table("city", "city_id name"),
    ),
)


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        (  # the column's table is missing: it is joined in, and the rest qualified
            "SELECT height FROM athlete WHERE total < 3",
            "SELECT person.height FROM athlete JOIN person ON athlete.person_id = person.person_id "
            "WHERE athlete.total < 3",
        ),
        (  # the wrong alias, and the right one is in the query
            "SELECT a.height, p.total FROM athlete AS a JOIN person AS p ON a.person_id = p.person_id",
            "SELECT p.height, a.total FROM athlete AS a JOIN person AS p ON a.person_id = p.person_id",
        ),
        (  # two foreign keys away, over the bridge table
            "SELECT shop_name, carrier FROM shop",
            "SELECT shop.shop_name, device.carrier FROM shop JOIN stock ON shop.shop_id = stock.shop_id "
            "JOIN device ON stock.device_id = device.device_id",
        ),
        ("SELECT shop_nmae FROM shop", "SELECT shop.shop_name FROM shop"),
        ("SELECT shop_name FROM shops", "SELECT shop_name FROM shop AS shops"),
        (  # a name that both tables have
            "SELECT person_id FROM athlete JOIN person ON athlete.person_id = person.person_id",
            "SELECT athlete.person_id FROM athlete JOIN person ON athlete.person_id = person.person_id",
        ),
        (  # each side of a set operation has its own tables
            "SELECT name FROM athlete UNION SELECT shop_nam FROM shop",
            "SELECT person.name FROM athlete JOIN person ON athlete.person_id = person.person_id "
            "UNION SELECT shop.shop_name FROM shop",
        ),
        (  # a subquery is bound by its own tables, and may name those around it
            "SELECT count(*) FROM athlete AS a WHERE EXISTS(SELECT 1 FROM person AS p "
            "WHERE p.person_id = a.person_id AND p.heigth > 2)",
            "SELECT COUNT(*) FROM athlete AS a WHERE EXISTS(SELECT 1 FROM person AS p "
            "WHERE p.person_id = a.person_id AND p.height > 2)",
        ),
    ],
)
def test_names_are_bound(query: str, bound: str) -> None:
    assert rebindings(query, SCHEMA)[0] == bound


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name FROM person",
        "SELECT name AS n FROM person ORDER BY n",
        'SELECT name FROM person WHERE name = "Bob"',  # text, as SQLite reads it
        "SELECT x.n FROM (SELECT name AS n FROM person) AS x",
        "WITH x AS (SELECT name AS n FROM person) SELECT n FROM x",
        "SELECT nothing_like_it FROM person",
        "SELECT carrier FROM person",  # no foreign key leads there
        "SELECT name FROM athlete, city WHERE quantity > 3",  # a real name out of reach is no misspelling
        "SELECT s.open_date FROM shop AS s JOIN city AS c ON c.open_date = s.open_date",  # no key joins these two
        "SELECT FROM WHERE",
        "not sql at all (",
        "",
    ],
)
def test_what_cannot_be_bound_is_left(query: str) -> None:
    assert rebindings(query, SCHEMA) == []


@given(st.text(alphabet="SELECT*FROMWHERE nameprsoi_.,()='1", max_size=60))
def test_any_text_is_taken(query: str) -> None:
    rebindings(query, SCHEMA)


@pytest.mark.parametrize("unknown", ["SELECT {} FROM shop", "SELECT 1 FROM shop WHERE shop.{} = 1", "SELECT 1 FROM {}"])
def test_a_few_unknown_names_are_searched_for(unknown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    monkeypatch.setattr("sqljury.language.alike.similar", lambda one, other: bool(searched.append((one, other))))
    separator = " = 1 AND shop." if "WHERE" in unknown else ", "
    for number in (10, 100, 900):
        searched.clear()
        sql = unknown.format(separator.join(f"zz{at}" for at in range(number)))
        assert rebindings(sql, SCHEMA) == []
        assert 0 < len(searched) <= MAX_UNKNOWN * len(SCHEMA.tables)


def test_a_query_with_very_many_names_is_left() -> None:
    query = "SELECT shop_nmae{} FROM shop"
    assert rebindings(query.format(", shop_id" * 500), SCHEMA)
    assert rebindings(query.format(", shop_id" * 2000), SCHEMA) == []
    # One table after the other for each column: no name is unknown, and the work was the product of both numbers.
    tables = ", ".join(f"shop AS s{at}" for at in range(1000))
    assert rebindings(f"SELECT {', '.join(['shop_id'] * 1000)} FROM {tables}", SCHEMA) == []


def test_deep_nesting_is_given_up() -> None:
    assert rebindings("SELECT " + "(" * 3000 + "1" + ")" * 3000, SCHEMA) == []


TWICE = Schema(
    "debates",
    "sqlite",
    (
        table("person", "person_id name"),
        table("debate", "debate_id pro contra", ("pro", "person.person_id"), ("contra", "person.person_id")),
        table("policy", "policy_id person_id", ("person_id", "person.person_id")),
        table("claim", "claim_id policy_id amount", ("policy_id", "policy.policy_id")),
    ),
)


def test_of_two_keys_to_one_table_the_one_the_query_speaks_of() -> None:
    assert rebindings("SELECT name, count(pro) FROM debate GROUP BY name", TWICE)[0] == (
        "SELECT person.name, COUNT(debate.pro) FROM debate JOIN person ON debate.pro = person.person_id "
        "GROUP BY person.name"
    )
    assert rebindings("SELECT name FROM debate", TWICE) == []
    assert rebindings("SELECT name FROM debate WHERE pro <> contra", TWICE) == []


def test_a_join_on_a_column_that_one_side_lacks_goes_over_the_bridge() -> None:
    query = "SELECT p.name FROM person AS p JOIN claim AS c ON p.person_id = c.person_id ORDER BY c.amount"
    assert rebindings(query, TWICE)[0] == (
        "SELECT p.name FROM person AS p JOIN policy ON p.person_id = policy.person_id "
        "JOIN claim AS c ON policy.policy_id = c.policy_id ORDER BY c.amount"
    )


AIR = Schema(
    "air",
    "sqlite",
    (
        table("airline", "uid airline country"),
        table("airport", "code city Order", ("city", "town.name")),
        table("flight", "flight_no airline src dst", ("src", "airport.code"), ("dst", "airport.code")),
        table("town", "name people"),
        table("owner", "owner_id first_name"),
        table("dog", "dog_id owner_id", ("owner_id", "owner.owner_id")),
        table("treatment", "treatment_id dog_id cost", ("dog_id", "dog.dog_id")),
    ),
)


@pytest.mark.parametrize(
    "query",
    [
        # the qualifier is a table of the schema that no key reaches: another table's column will not do
        "SELECT town.name FROM owner",
        "SELECT e.first_name, s.name FROM owner AS e JOIN town AS t ON e.owner_id = t.people",
        # an outer join keeps rows that an inner one behind it would take away
        "SELECT o.first_name FROM owner AS o LEFT JOIN treatment AS t ON o.owner_id = t.owner_id WHERE t.cost IS NULL",
        "SELECT cost FROM owner AS o LEFT JOIN dog AS d ON o.owner_id = d.owner_id",
        # counting over a key walked backwards counts rows several times
        "SELECT count(*) FROM owner WHERE cost > 3",
        # a constant says nothing about which of two keys is meant
        "SELECT city FROM flight WHERE src = 'APG'",
        # a column of a condition cannot bring in a table to be joined by that condition
        "SELECT f.src FROM flight AS f JOIN airline AS a ON f.airline = people",
        # most letters agree, and the words mean the opposite
        "SELECT last_name FROM owner",
        # what * meant is not known for two tables
        "SELECT * FROM dog AS d JOIN owner AS o ON d.owner_id = o.owner_id WHERE cost > 3",
    ],
)
def test_no_repair_that_changes_the_meaning(query: str) -> None:
    assert rebindings(query, AIR) == []


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        (  # its own table's similar name comes before other tables' names
            "SELECT a.uid FROM flight AS f JOIN airline AS a ON f.airline = a.airlines",
            "SELECT a.uid FROM flight AS f JOIN airline AS a ON f.airline = a.airline",
        ),
        (  # in ORDER BY an output column is meant, whatever it is called
            "SELECT count(*) AS cost, o.first_nmae FROM owner AS o JOIN dog AS d ON o.owner_id = d.owner_id "
            "JOIN treatment AS t ON d.dog_id = t.dog_id GROUP BY o.first_name ORDER BY cost DESC",
            "SELECT COUNT(*) AS cost, o.first_name FROM owner AS o JOIN dog AS d ON o.owner_id = d.owner_id "
            "JOIN treatment AS t ON d.dog_id = t.dog_id GROUP BY o.first_name ORDER BY cost DESC",
        ),
        (  # * goes on to mean the table it meant
            "SELECT * FROM dog WHERE first_name = 'Bo'",
            "SELECT dog.* FROM dog JOIN owner ON dog.owner_id = owner.owner_id WHERE owner.first_name = 'Bo'",
        ),
        (  # a table that the query names without having it
            "SELECT owner.first_name FROM dog",
            "SELECT owner.first_name FROM dog JOIN owner ON dog.owner_id = owner.owner_id",
        ),
        ("SELECT T2.first_name FROM owner AS T1", "SELECT T1.first_name FROM owner AS T1"),
        ("SELECT ordre FROM airport", 'SELECT airport."Order" FROM airport'),
        ("SELECT firstname FROM owner", "SELECT owner.first_name FROM owner"),
    ],
)
def test_the_nearest_reading(query: str, bound: str) -> None:
    assert rebindings(query, AIR)[0] == bound
