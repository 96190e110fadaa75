"""Outputs beside those that the question lists, on the stock of a veterinary practice and a car rental."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.listed import listed

SCHEMA = """
CREATE TABLE Medicine (MedicineID INTEGER PRIMARY KEY, MedicineName TEXT, Form TEXT, Strength TEXT, StockQty INTEGER,
    ReorderLevel INTEGER);
CREATE TABLE vehicle (id INTEGER PRIMARY KEY, license_plate TEXT, make TEXT, model TEXT, model_year INTEGER,
    km INTEGER);
CREATE TABLE Programme (ProgrammeId INTEGER PRIMARY KEY, ProgrammeName TEXT);
CREATE TABLE GrantAward (GrantId INTEGER PRIMARY KEY, ProgrammeId INTEGER REFERENCES Programme, GrantNo TEXT,
    ApprovedAmount INTEGER, Status TEXT);
CREATE TABLE Instalment (InstalmentId INTEGER PRIMARY KEY, GrantId INTEGER REFERENCES GrantAward, PaidAmount INTEGER);
INSERT INTO Programme VALUES (1, 'Arts'), (2, 'Sports');
INSERT INTO GrantAward VALUES (1, 1, 'G1', 900, 'active'), (2, 1, 'G2', 500, 'closed'), (3, 2, 'G3', 70, 'active');
INSERT INTO Instalment VALUES (1, 1, 300), (2, 1, 200), (3, 3, 50);
INSERT INTO Medicine VALUES (1, 'Metacam', 'Tablet', '1.5mg', 33, 50), (2, 'Synulox', 'Tablet', '250mg', 90, 50);
INSERT INTO vehicle VALUES (1, 'A1', 'Fiat', 'Panda', 2019, 10), (2, 'B2', 'Opel', 'Corsa', 2021, 90);
"""
REMAINDER = (
    "SELECT T1.GrantNo, T1.ApprovedAmount, SUM(T2.PaidAmount), T1.ApprovedAmount - SUM(T2.PaidAmount) "
    "FROM GrantAward AS T1 JOIN Instalment AS T2 ON T2.GrantId = T1.GrantId WHERE T1.Status = 'active' "
    "GROUP BY T1.GrantId, T1.GrantNo, T1.ApprovedAmount"
)
SHARE = "100.0 * SUM(CASE WHEN T1.Status = 'active' THEN 1 ELSE 0 END) / COUNT(*)"
BY_PROGRAMME = (
    "FROM GrantAward AS T1 JOIN Programme AS T2 ON T2.ProgrammeId = T1.ProgrammeId "
    "GROUP BY T2.ProgrammeId, T2.ProgrammeName"
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("low medicines - name, strength, quantity and reorder level", "name|strength|quantity|reorder level"),
        ("All cars: plate, make, model and status, ordered by plate.", "plate|make|model|status"),
        ("Which cars cost most? Plate, model and total cost", "plate|model|total cost"),
        ("Which suppliers do we no longer use? Are there many, and where?", ""),
        ("Which cars cost most? Show plate, model and the total cost, most expensive first.", "plate|model|total cost"),
        ("Who left? Give first name, last name and the reason.", "first name|last name|reason"),
        ("Show the name of each shop and its city", ""),
        ("Old limits: parameter, limit and its last day, latest last day first.", "parameter|limit|last day"),
        ("Fill rate: code, places, and students divided by places.", "code|place|student divided by place"),
        ("Note: cars and vans that were sold", ""),
        ("Grants? Number, paid (0 if nothing), rest - only where some remains.", "number|paid|rest"),
        ("Cars: plate, owner (first and last name), km", ""),
        ("Rates (old or new): programme, rate, best first", "programme|rate"),
        ("Rates: programme, rate, ranked by rate", "programme|rate"),
        ("Rates: programme, rate, worst last", "programme|rate"),
        ("Cars: plate, model; total cost", ""),
        ("Cars: plate, model; sorted by plate", "plate|model"),
        ("How many cars are there?", ""),
    ],
)
def test_lists_are_read(question: str, expected: str) -> None:
    assert "|".join(map(" ".join, listed(question))) == expected


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "medicines whose stock is below the reorder level - name, strength, quantity in stock and reorder level",
            "SELECT MedicineName, Form, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
            "SELECT MedicineName, Strength, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
        ),
        (
            "medicines that run low - name, strength, stock and reorder level",
            "SELECT MedicineName, Form, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
            "SELECT MedicineName, Strength, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
        ),
        (
            "Cars and how far they went: plate, model and total distance",
            "SELECT license_plate, model, model_year, SUM(km) FROM vehicle GROUP BY license_plate, model, model_year",
            "SELECT license_plate, model, SUM(km) FROM vehicle GROUP BY license_plate, model, model_year",
        ),
        # An order by its number still means the same output.
        (
            "Cars and how far they went: plate, model and km, largest km first",
            "SELECT license_plate, model, model_year, km FROM vehicle ORDER BY 4 DESC",
            "SELECT license_plate, model, km FROM vehicle ORDER BY km DESC",
        ),
        # "best first" is an order, for which the rate was shown again.
        (
            "Share of active grants in percent for each programme with a grant (active or not): programme, share, "
            "best first",
            f"SELECT T2.ProgrammeName, {SHARE} AS share, {SHARE} AS best {BY_PROGRAMME} ORDER BY share DESC",
            f"SELECT T2.ProgrammeName, {SHARE} AS share {BY_PROGRAMME} ORDER BY share DESC",
        ),
        (
            "Share of active grants in percent: programme, share, best first",
            f"SELECT T2.ProgrammeName, {SHARE} AS share, {SHARE} AS best {BY_PROGRAMME} ORDER BY best DESC",
            f"SELECT T2.ProgrammeName, {SHARE} AS share {BY_PROGRAMME} ORDER BY {SHARE} DESC",
        ),
    ],
)
def test_what_is_listed_is_shown(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # The question says a word of the column, or nothing that is shown is like its place.
        ("Show name, strength and form of all medicines", "SELECT MedicineName, Form, Strength FROM Medicine"),
        ("Show name, potency of all medicines", "SELECT MedicineName, Form FROM Medicine"),
        # All words are said.
        ("Cars: plate, model and model year", "SELECT license_plate, model, model_year, km FROM vehicle"),
        # The list has a short name of the column itself.
        (
            "For grants that are active: how much of the approved money is still to be paid out? Grant number, "
            "approved, paid so far (0 if nothing), remainder - only where something remains.",
            REMAINDER,
        ),
        ("Grants that are active: number, approved, remainder", REMAINDER),
        (
            "Active grants of each programme: programme, grants",
            f"SELECT T2.ProgrammeName, COUNT(*), SUM(T1.ApprovedAmount) {BY_PROGRAMME}",
        ),
        ("Cars: plate, model (as painted), km and status", "SELECT license_plate, model, model_year, km FROM vehicle"),
        # Not a list alone.
        ("Show plate and model of cars by year", "SELECT license_plate, model, model_year FROM vehicle"),
    ],
)
def test_other_outputs_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql
