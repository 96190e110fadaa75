"""A shop with secrets: the same tables on SQLite and DuckDB, every denied cell with a mark that must never be seen."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqljury.access.rules import Access

CANARY = "CANARY"
CODE = 987654321

TABLES = f"""
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT, ssn TEXT, "Credit Card" TEXT);
CREATE TABLE account (code INTEGER PRIMARY KEY, owner TEXT, balance REAL);
CREATE TABLE secret (val TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customer (id), total REAL, note TEXT);
CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, ssn INT);
CREATE VIEW open_view AS SELECT name, city FROM customer;
CREATE VIEW leaky AS SELECT * FROM customer;
CREATE VIEW renamed AS SELECT ssn AS x FROM customer;
CREATE VIEW nested AS SELECT name FROM leaky;
CREATE VIEW counted_secret AS SELECT name FROM customer WHERE (SELECT count(*) FROM secret) > 0;
CREATE VIEW allowed_view AS SELECT name, length(ssn) AS letters FROM customer;
INSERT INTO customer VALUES (1, 'Ann', 'Riga', '{CANARY}-1', '{CANARY}-a'), (2, 'Bo', 'Oslo', '{CANARY}-2', NULL),
    (3, 'Cem', NULL, '{CANARY}-3', '{CANARY}-c');
INSERT INTO account VALUES ({CODE}, 'Ann', 12.5), ({CODE} + 1, 'Bo', 3);
INSERT INTO secret VALUES ('{CANARY}-1'), ('{CANARY}-9');
INSERT INTO orders VALUES (1, 1, 9.5, 'x'), (2, 1, 20, NULL), (3, 2, 7, 'y');
INSERT INTO pet VALUES (1, 'Ann', 5), (2, 'Rex', 6);
"""
FULL_TEXT = f"""
CREATE INDEX hidden_index ON customer (ssn);
CREATE VIRTUAL TABLE docs USING fts5 (title, body);
CREATE VIRTUAL TABLE old USING fts4 (title, body);
INSERT INTO docs VALUES ('hello', '{CANARY} words');
INSERT INTO old VALUES ('hello', '{CANARY} words');
"""
ALLOWED = ("customer", "account", "secret", "orders", "pet", "*view", "leak*", "rename*", "nest*", "counted*")
DENIED = ("customer.ssn", 'customer."Credit Card"', "secret", "account.code")
SQLITE_ACCESS = Access((*ALLOWED, "allowed_view", "docs", "old"), (*DENIED, "docs.body", "old.body"))
DUCKDB_ACCESS = Access((*ALLOWED, "allowed_view"), DENIED)
DENIED_READS = {
    *(("customer", "ssn"), ("customer", "credit card"), ("secret", "val"), ("secret", ""), ("account", "code")),
    *(("docs", "body"), ("old", "body")),
}


def build(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(TABLES + FULL_TEXT)
    connection.close()
    return path


def leaks(text: object) -> bool:
    """Whether a denied value shows in this, whole or as a number next to one."""
    return CANARY in str(text).upper() or any(str(CODE + more) in str(text) for more in (0, 1))
