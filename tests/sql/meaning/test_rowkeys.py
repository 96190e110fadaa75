"""Keys of one row that are compared where the question names another one, on the customers of regions."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE region (code TEXT PRIMARY KEY, name TEXT, capital TEXT);
INSERT INTO region VALUES ('SC', 'Saltcoast', 'Brine'), ('MV', 'Middle Vale', 'Dell'), ('NV', 'North Vale', 'Tor'),
    ('VA', 'Vale', 'Rill'), ('FE', 'Fens', 'Reed'), ('T1', 'Twin', 'Oak'), ('T2', 'Twin', 'Elm'), ('IT', 'Ilt', 'Ash');
CREATE TABLE state (id INTEGER PRIMARY KEY, label TEXT);
INSERT INTO state VALUES (11, 'Delivered'), (12, 'Returned'), (13, 'Lost');
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, region_code TEXT REFERENCES region(code),
    birth_code TEXT REFERENCES region(code), state_id INTEGER REFERENCES state(id));
INSERT INTO customer VALUES (1, 'Ann', 'SC', 'MV', 11), (2, 'Ben', 'SC', 'MV', 12), (3, 'Cem', 'MV', 'SC', 11),
    (4, 'Dan', 'NV', 'FE', 13), (5, 'Saltcoast Ltd', 'VA', 'T1', 12), (6, 'Eva', 'FE', 'T2', 11),
    (7, 'Fay', 'T1', 'IT', 11), (8, 'Gus', 'SC', 'SC', 11);
"""
COUNT = "SELECT COUNT(*) FROM customer AS c WHERE c.region_code = '{}'"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("How many customers from Saltcoast are there?", COUNT.format("MV"), ((3,),)),
        ("how many customers are from saltcoast", COUNT.format("MV"), ((3,),)),
        ("How many customers are in the saltcoast region?", COUNT.format("MV"), ((3,),)),
        ("How many customers live in North Vale?", COUNT.format("SC"), ((1,),)),
        ("How many Saltcoast customers do we have?", COUNT.format("FE").replace("= 'FE'", "IN ('FE')"), ((3,),)),
        (
            "Customers in the region Fens",
            "SELECT c.name FROM customer AS c JOIN region AS r ON c.region_code = r.code WHERE r.code = 'SC'",
            (("Eva",),),
        ),
        ("How many customers have the state returned?", "SELECT COUNT(*) FROM customer WHERE state_id = 13", ((2,),)),
    ],
)
def test_the_key_of_the_named_row_is_compared(
    answered: Answered, question: str, sql: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    answer = answered(SCHEMA, question, sql)
    assert answer.rows == rows


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # The row that is compared with is said: its key, its name, a word of it, or another text of its row.
        ("How many customers of MV, not counted by Saltcoast?", COUNT.format("MV")),
        ("How many customers from the Middle Vale trade with Saltcoast?", COUNT.format("MV")),
        ("How many customers from the middle trade with Saltcoast?", COUNT.format("MV")),
        ("How many customers around Dell trade with Saltcoast?", COUNT.format("MV")),
        # The name is said as no name, in a longer one, or negated; or it is a short one, or that of two rows.
        ("Which delivered orders were sent back?", "SELECT name FROM customer WHERE state_id = 12"),
        ("How many orders were lost and then delivered?", "SELECT COUNT(*) FROM customer WHERE state_id = 12"),
        ("How many customers buy from Saltcoast Trading?", COUNT.format("MV")),
        ("How many customers buy from Old Saltcoast?", COUNT.format("MV")),
        ("How many customers are not from Saltcoast?", COUNT.format("MV")),
        ("How many customers are from Ilt?", COUNT.format("MV")),
        ("How many customers are from Twin?", COUNT.format("MV")),
        # Two other rows are said, or none.
        ("How many customers moved from Saltcoast to Fens?", COUNT.format("MV")),
        ("How many customers are from the hills?", COUNT.format("MV")),
        # The query has the other row elsewhere, or compares the column again, in OR, CASE or NOT.
        ("Who was born in the hills and lives in Saltcoast?", COUNT.format("SC") + " AND c.birth_code = 'MV'"),
        ("How many customers are called Saltcoast?", COUNT.format("VA") + " AND c.name LIKE '%Saltcoast%'"),
        ("How many customers are from Saltcoast?", COUNT.format("MV") + " OR c.region_code = 'FE'"),
        ("How many customers are from Saltcoast?", COUNT.format("MV") + " OR c.id = 1"),
        ("How many customers are from Saltcoast?", COUNT.format("MV") + " AND c.region_code <> 'FE'"),
        ("How many customers are from Saltcoast?", COUNT.format("MV").replace("=", "<>")),
        (
            "How many customers are from Saltcoast?",
            "SELECT COUNT(*) FROM customer AS c JOIN region AS r ON c.region_code = r.code WHERE c.birth_code = 'MV'"
            " AND r.name LIKE 'Salt%'",
        ),
        ("How many customers are from Saltcoast?", "SELECT SUM(CASE WHEN region_code = 'MV' THEN 1 END) FROM customer"),
    ],
)
def test_other_keys_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


def test_names_of_many_rows_are_not_read(answered: Answered) -> None:
    more = "".join(f"INSERT INTO region VALUES ('X{number}', 'Place {number}', NULL);" for number in range(200))
    question, sql = "How many customers from Saltcoast are there?", COUNT.format("MV")
    assert answered(SCHEMA + more, question, sql).sql == sql


ORDERS = """
CREATE TABLE order_status (status INTEGER PRIMARY KEY, label TEXT);
CREATE TABLE kind (code TEXT PRIMARY KEY, name TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, status INTEGER REFERENCES order_status(status),
    kind TEXT REFERENCES kind(code), requested_day TEXT);
INSERT INTO order_status VALUES (1, 'requested'), (2, 'in progress'), (3, 'delivered'), (4, 'cancelled');
INSERT INTO kind VALUES ('FUL', 'Refuelling'), ('CLN', 'Cleaning'), ('BAG', 'Baggage handling');
INSERT INTO orders VALUES (1, 'Ulm', 4, 'FUL', 'Monday'), (2, 'Ulm', 3, 'CLN', 'Tuesday'),
    (3, 'Bonn', 4, 'BAG', 'Friday'), (4, 'Bonn', 1, 'FUL', 'Sunday');
"""


@pytest.mark.parametrize(
    ("question", "sql", "found"),
    [
        ("Which orders were cancelled?", "SELECT id FROM orders WHERE status = 3", {1, 3}),
        ("Which orders were cancelled?", "SELECT id FROM orders WHERE status = 9", {1, 3}),
        ("Cancelled orders from Bonn", "SELECT id FROM orders WHERE city = 'Bonn' AND status = 2", {3}),
        ("Which orders are of the kind baggage handling?", "SELECT id FROM orders WHERE kind = 'CLN'", {3}),
        ("Which orders were refuelled?", "SELECT id FROM orders WHERE kind = 'REF'", {1, 4}),
        ("How many orders were delivered?", "SELECT COUNT(*) FROM orders WHERE status = 4", {1}),
        # No row has the key: what the question says need not be explained otherwise.
        ("How many parcels for friends are in progress?", "SELECT COUNT(*) FROM orders WHERE status = 0", {0}),
        # "Requested" is a part of the name of a column.
        (
            "Requested day of the cancelled orders",
            "SELECT requested_day FROM orders WHERE status = 3",
            {"Monday", "Friday"},
        ),
    ],
)
def test_codes_of_the_text_that_is_said(answered: Answered, question: str, sql: str, found: set[int]) -> None:
    answer = answered(ORDERS, question, sql)
    assert {row[0] for row in answer.rows} == found, answer.sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which orders are not cancelled?", "SELECT id FROM orders WHERE status = 3"),
        ("Which orders are delivered or cancelled?", "SELECT id FROM orders WHERE status = 3"),
        ("Which cancelled orders have been shipped?", "SELECT id FROM orders WHERE status = 3"),
        ("Which orders have status 3 and were once cancelled?", "SELECT id FROM orders WHERE status = 3"),
        ("Which orders were delivered, that is not cancelled?", "SELECT id FROM orders WHERE status = 3"),
        ("What kind of cleaning was requested?", "SELECT kind FROM orders WHERE status = 3"),
        ("Orders that are done", "SELECT id FROM orders WHERE status = 3"),
        ("Which orders of the status 9 were cancelled?", "SELECT id FROM orders WHERE status = 9"),
        ("How many orders were not refuelled?", "SELECT COUNT(*) FROM orders WHERE kind = 'REF'"),
    ],
)
def test_codes_of_other_words_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(ORDERS, question, sql).sql == sql


def test_the_only_text_of_a_small_table_names_its_rows(answered: Answered) -> None:
    script = """
    CREATE TABLE lift_state (st_cd INTEGER PRIMARY KEY, descr TEXT);
    INSERT INTO lift_state VALUES (1, 'in service'), (2, 'out of service');
    CREATE TABLE lift (id INTEGER PRIMARY KEY, st INTEGER REFERENCES lift_state(st_cd));
    INSERT INTO lift VALUES (1, 1), (2, 2), (3, 2);
    """
    found = answered(script, "How many lifts are out of service at present?", "SELECT COUNT(*) FROM lift WHERE st = 0")
    assert found.rows == ((2,),)


def test_another_text_is_no_name_of_a_row(answered: Answered) -> None:
    script = """
    CREATE TABLE warehouse (id INTEGER PRIMARY KEY, city TEXT);
    INSERT INTO warehouse VALUES (1, 'Ulm'), (2, 'Berlin');
    CREATE TABLE parcel (id INTEGER PRIMARY KEY, warehouse_id INTEGER REFERENCES warehouse(id), dest TEXT);
    INSERT INTO parcel VALUES (1, 1, 'BER'), (2, 2, 'ULM');
    """
    sql = "SELECT COUNT(*) FROM parcel WHERE warehouse_id = 1 AND dest = 'BER'"
    assert answered(script, "How many parcels go from the main warehouse to Berlin?", sql).sql == sql
