from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.language import embed
from sqljury.sql.names.bind import MAX_UNKNOWN, bindings, rebindings
from sqljury.sql.preserve import losses
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


def test_rows_that_are_counted_are_counted_once() -> None:
    tables = (*SCHEMA.tables[:3], replace(SCHEMA.tables[3], primary_key=("shop_id",)), *SCHEMA.tables[4:])
    query = "SELECT COUNT(*) FROM shop WHERE quantity > 3"
    bound = (
        "SELECT COUNT(DISTINCT shop.shop_id) FROM shop JOIN stock ON shop.shop_id = stock.shop_id "
        "WHERE stock.quantity > 3"
    )
    schema = replace(SCHEMA, tables=tables)
    assert rebindings(query, schema)[:1] == [bound]
    assert losses(query, bound, schema) == ()
    assert losses(bound.replace("> 3", "= 3"), bound, schema)
    assert losses(query, bound.replace("shop.shop_id)", "stock.device_id)"), schema)
    assert rebindings(query, SCHEMA) == [], "without a key of the shops"
    assert rebindings("SELECT COUNT(*), SUM(shop_id) FROM shop WHERE quantity > 3", schema) == []


@given(st.text(alphabet="SELECT*FROMWHERE nameprsoi_.,()='1", max_size=60))
def test_any_text_is_taken(query: str) -> None:
    rebindings(query, SCHEMA)


@pytest.mark.parametrize("unknown", ["SELECT {} FROM shop", "SELECT 1 FROM shop WHERE shop.{} = 1", "SELECT 1 FROM {}"])
def test_a_few_unknown_names_are_searched_for(unknown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    monkeypatch.setattr("sqljury.language.alike.similar", lambda one, other: bool(searched.append((one, other))))
    separator = " = 1 AND shop." if "WHERE" in unknown else ", "
    for number in (10, 100, 600):
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
    # A constant or a comparison of both says nothing about which is meant: either may be.
    both = [
        f"SELECT person.name FROM debate JOIN person ON debate.{key} = person.person_id" for key in ("pro", "contra")
    ]
    assert rebindings("SELECT name FROM debate", TWICE) == both
    assert rebindings("SELECT name FROM debate", TWICE, "Who is the contra of each debate?") == both[::-1]
    wanted = [f"{sql} WHERE debate.pro <> debate.contra" for sql in both]
    assert rebindings("SELECT name FROM debate WHERE pro <> contra", TWICE) == wanted


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
        # an outer join keeps rows that an inner one behind it would take away
        "SELECT o.first_name FROM owner AS o LEFT JOIN treatment AS t ON o.owner_id = t.owner_id WHERE t.cost IS NULL",
        "SELECT cost FROM owner AS o RIGHT JOIN dog AS d ON o.owner_id = d.owner_id",
        # counting over a key walked backwards counts rows several times
        "SELECT count(*) FROM owner WHERE cost > 3",
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


def school(dialect: str, score: float) -> Schema:
    """Its keys declared for a score of 1, inferred below that, and unknown for 0."""

    def known(name: str, columns: str, *keys: tuple[str, str]) -> Table:
        made = table(name, columns, *keys)
        inferred = tuple(replace(key, declared=score == 1, score=score) for key in made.foreign_keys if score)
        return replace(made, foreign_keys=inferred)

    ends = (("start_city_code", "city.city_code"), ("end_city_code", "city.city_code"))
    enrols = (("student_id", "student.student_id"), ("course_id", "course.course_id"))
    tables = (
        known("student", "student_id name age city_code"),
        known("city", "city_code city_name country"),
        known("course", "course_id title teacher_id", ("teacher_id", "teacher.teacher_id")),
        known("teacher", "teacher_id last_name has_final_project"),
        known("enrolment", "student_id course_id grade", *enrols),
        known("trip", "trip_id start_city_code end_city_code cost clear_grading", *ends),
    )
    return Schema("school", dialect, tables)


SHOP = Schema(
    "shop",
    "postgres",
    (
        table("Users", "userId fullName age"),
        table("orders", "order_id user_id amount placed_at", ("user_id", "Users.userId")),
        replace(table("sales.deals", "deal_id amount month order_id", ("order_id", "orders.order_id")), schema="sales"),
        table("airlines", "id name"),
        table("flights", "flight_no airline_id", ("airline_id", "airlines.id")),
    ),
)
SCHEMAS = {
    "declared": school("sqlite", 1.0),
    "likely": school("sqlite", 0.8),
    "bare": school("sqlite", 0.0),
    "postgres": SHOP,
}


def blocks() -> list[list[str]]:
    """A schema and a query on it, ``? `` and the question where there is one, and the query's readings, best first."""
    text = (Path(__file__).parent / "bound.txt").read_text(encoding="utf-8")
    return [block.split("\n") for block in text.strip().split("\n\n")]


@pytest.mark.parametrize("lines", blocks(), ids=lambda lines: lines[0])
def test_readings(lines: list[str]) -> None:
    name, _, query = lines[0].partition(": ")
    question = lines[1][2:] if lines[1:] and lines[1].startswith("? ") else ""
    readings = lines[2:] if question else lines[1:]
    assert rebindings(query, SCHEMAS[name], question) == readings
    assert all(losses(query, reading, SCHEMAS[name]) == () for reading in readings)


def test_tables_joined_within_brackets_break_nothing() -> None:
    schema = SCHEMAS["declared"]
    for sql in (
        "SELECT title FROM student, (course JOIN teacher ON course.zz = teacher.teacher_id)",
        "SELECT 1 FROM student JOIN (course JOIN teacher ON course.last_name = teacher.last_name) ON 1 = 1",
    ):
        assert all(losses(sql, reading, schema) == () for reading in rebindings(sql, schema))


def test_the_likelier_key_comes_first_and_an_unlikely_one_is_no_reading() -> None:
    def order(ship: float, pay: float) -> Schema:
        keys = tuple(
            ForeignKey((c,), "town", ("code",), declared=False, score=s) for c, s in (("ship", ship), ("pay", pay))
        )
        return Schema(
            "x", "sqlite", (replace(table("orders", "no ship pay"), foreign_keys=keys), table("town", "code mayor"))
        )

    joins = [f"SELECT town.mayor FROM orders JOIN town ON orders.{key} = town.code" for key in ("ship", "pay")]
    assert rebindings("SELECT mayor FROM orders", order(0.6, 0.9)) == joins[::-1]
    assert rebindings("SELECT mayor FROM orders", order(0.9, 0.2)) == joins[:1]


def test_more_equal_readings_than_can_be_tried_are_none() -> None:
    def schema(bridges: int) -> Schema:
        made = [table(f"bridge_{n}", "film actor", ("film", "films.f"), ("actor", "actors.a")) for n in range(bridges)]
        return Schema("x", "sqlite", (table("films", "f title"), table("actors", "a born"), *made))

    assert len(rebindings("SELECT born FROM films", schema(3))) == 3
    assert rebindings("SELECT born FROM films", schema(4)) == []


def test_three_keys_are_walked_if_they_are_certain_or_lead_in_one_direction() -> None:
    def chain(score: float) -> Schema:
        names = "abcd"
        tables = []
        for name, other in zip(names, [*names[1:], ""], strict=True):
            keys = (
                (ForeignKey((f"{other}x",), other, (f"{other}x",), declared=score == 1, score=score),) if other else ()
            )
            tables.append(replace(table(name, f"{name}x {other}x only_{name}"), foreign_keys=keys))
        return Schema("x", "sqlite", tuple(tables))

    assert rebindings("SELECT only_d FROM a", chain(1.0)) == [
        "SELECT d.only_d FROM a JOIN b ON a.bx = b.bx JOIN c ON b.cx = c.cx JOIN d ON c.dx = d.dx"
    ]
    assert rebindings("SELECT only_d FROM a", chain(0.9)) == rebindings("SELECT only_d FROM a", chain(1.0))
    assert rebindings("SELECT only_d FROM a", chain(0.8)) == []
    assert rebindings("SELECT only_a FROM d", chain(1.0)) != []
    assert rebindings("SELECT only_a FROM d", chain(0.9)) == rebindings("SELECT only_a FROM d", chain(1.0))


@pytest.mark.skipif(not embed.available(), reason="needs the extra embed")
def test_a_name_that_means_nearly_the_same() -> None:
    [bound] = bindings("SELECT clarity_score FROM trip", SCHEMAS["declared"])
    assert (bound.sql, bound.kinds) == ("SELECT trip.clear_grading FROM trip", ("meaning",))


@pytest.mark.parametrize("keys", [True, False])
def test_ten_thousand_tables_take_no_long_time(keys: bool) -> None:
    made = [
        table(f"t{n}", f"id t{n // 2}_id note_{n}", *[(f"t{n // 2}_id", f"t{n // 2}.id")] * keys) for n in range(10_000)
    ]
    hub = [table(f"h{n}", "id t0_id", *[("t0_id", "t0.id")] * keys) for n in range(1_000)]
    began = time.perf_counter()
    rebindings("SELECT note_9999, note_17, nothing_known FROM t0", Schema("x", "sqlite", (*made, *hub)))
    assert time.perf_counter() - began < 10


def test_a_key_to_a_single_row_comes_before_one_to_many_rows() -> None:
    sales = Schema(
        "sales",
        "sqlite",
        (
            table("fact_sales", "date_key store_key net", ("date_key", "dim_date.date_key"), ("store_key", "store.id")),
            table("store", "id name"),
            table("dim_date", "date_key month"),
            table("budget", "store_key month amount", ("store_key", "store.id")),
        ),
    )
    query = "SELECT s.month, SUM(s.net) FROM fact_sales AS s JOIN store AS t ON s.store_key = t.id GROUP BY s.month"
    assert "JOIN dim_date ON s.date_key = dim_date.date_key" in rebindings(query, sales)[0]


def test_a_day_of_another_table_is_the_day_of_this_one() -> None:
    invoice = table("invoice", "id no issued_on")
    movement = table("movement", "id invoice_id amount created_on moved_on", ("invoice_id", "invoice.id"))
    trust = Schema("trust", "sqlite", (invoice, movement))
    query = "SELECT SUM(amount) FROM movement WHERE issued_on >= '2024-01-01'"
    readings = rebindings(query, trust, "What was moved in 2024?")
    assert "invoice.issued_on" in readings[0]
    assert readings[1] == query.replace("issued_on", "movement.moved_on")
    for question in ("What was moved for invoices of 2024?", "What was moved that was issued in 2024?"):
        assert "invoice.issued_on" in rebindings(query, trust, question)[0]
    assert "invoice.no" in rebindings(query.replace("issued_on", "no"), trust, "What was moved?")[0]


def test_a_day_that_a_key_leads_to_comes_before_the_day_of_the_table() -> None:
    patient, visit = (
        table("patient", "id birth_date"),
        table("visit", "id patient_id visit_date", ("patient_id", "patient.id")),
    )
    found = rebindings(
        "SELECT COUNT(*) FROM visit WHERE birth_date < '1980-01-01'", Schema("x", "sqlite", (patient, visit))
    )
    assert "patient.birth_date" in found[0]


def typed(name: str, columns: str, key: str = "", *keys: tuple[str, str]) -> Table:
    """A table of columns as ``name:type``."""
    made = tuple(Column(*column.split(":")) for column in columns.split())
    foreign = tuple(ForeignKey((column,), target.split(".")[0], (target.split(".")[1],)) for column, target in keys)
    return Table(name, made, (key,) if key else (), foreign_keys=foreign)


CARS = Schema(
    "cars",
    "sqlite",
    (
        typed("customer", "id:bigint name:text points:integer", "id"),
        typed(
            "rental",
            "id:bigint rental_number:text customer_id:bigint created_at:timestamp picked_up_at:timestamp"
            " returned_at:timestamp",
            "id",
            ("customer_id", "customer.id"),
        ),
        typed("branch", "id:bigint name:text country_code:text", "id"),
        typed("payment", "id:bigint method:text amount:numeric", "id"),
    ),
)


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        (  # the table's own key, not that of a table that refers to it
            "SELECT customer_id FROM customer ORDER BY points DESC LIMIT 1",
            "SELECT customer.id FROM customer ORDER BY points DESC LIMIT 1",
        ),
        (
            "SELECT c.customer_id FROM customer AS c WHERE c.points > 5",
            "SELECT c.id FROM customer AS c WHERE c.points > 5",
        ),
        (  # a day called after the table
            "SELECT COUNT(*) FROM rental WHERE rental_date >= '2024-01-01'",
            "SELECT COUNT(*) FROM rental WHERE rental.picked_up_at >= '2024-01-01'",
        ),
        (  # a table that is a column with "code" behind its name
            "SELECT T2.name, COUNT(*) FROM branch AS T1 JOIN country AS T2 ON T2.id = T1.country_code "
            "GROUP BY T2.id, T2.name",
            "SELECT T1.country_code, COUNT(*) FROM branch AS T1 GROUP BY T1.country_code",
        ),
        (  # a table that is a column of another one
            "SELECT m.name, SUM(p.amount) FROM payment AS p JOIN payment_method AS m ON m.id = p.method "
            "GROUP BY m.name",
            "SELECT p.method, SUM(p.amount) FROM payment AS p GROUP BY p.method",
        ),
    ],
)
def test_names_of_keys_days_and_lists(query: str, bound: str) -> None:
    assert rebindings(query, CARS)[0] == bound


def test_another_day_is_another_reading() -> None:
    bound = rebindings("SELECT id FROM rental WHERE rental_date > '2024-01-01'", CARS)
    assert ["picked_up_at" in bound[0], "returned_at" in bound[1]] == [True, True]
    returned = rebindings(
        "SELECT id FROM rental WHERE rental_date > '2024-01-01'", CARS, "Which were returned in 2024?"
    )
    assert returned
    assert rebindings("SELECT id FROM rental WHERE invoice_date > '2024-01-01'", CARS) == []
