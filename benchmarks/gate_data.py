"""Two databases of `gate.py` that no rule or adapter was made for: a road carrier and a hospital, without keys."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent / "gate"

Row = tuple[Any, ...]

_GIVEN: Final = ("Anna", "Bruno", "Clara", "David", "Elena", "Felix", "Greta", "Hugo", "Iris", "Jonas", "Klara", "Luca")
_SURNAMES: Final = ("Brandt", "Costa", "Duval", "Egger", "Fischer", "Gruber", "Huber", "Jansen", "Keller", "Lang")


class Chance:
    """Seeded chance from ``random.random()`` alone, which Python keeps the same on every version."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self._source.random() * (high - low + 1))

    def pick(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[self.between(0, len(items) - 1)]

    def day(self, first: date, days: int) -> date:
        """A day of the ``days`` from the first one on."""
        return first + timedelta(days=self.between(0, days))

    def moment(self, first: date, days: int) -> datetime:
        """A minute of these days."""
        start = datetime(first.year, first.month, first.day)
        return start + timedelta(minutes=self.between(0, days * 1440))


def insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    """Insert rows with a value for every column."""
    marks = ", ".join("?" * len(rows[0]))
    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)


def write(file: Path, script: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """A database of the script's tables with these rows; dates and times are stored as ISO 8601 texts."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script.read_text(encoding="utf-8"))
        for table, rows in tables.items():
            insert(connection, table, [tuple(map(_stored, row)) for row in rows])
        connection.commit()


def _stored(cell: Any) -> Any:
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, date) else cell


def write_freight(file: Path) -> None:
    """The road carrier, by seeded chance."""
    chance = Chance(23)
    towns = (
        ("HH1", "Hamburg", "Germany", 14),
        ("HH2", "Hamburg", "Germany", 6),
        ("MUC", "Munich", "Germany", 11),
        ("CGN", "Cologne", "Germany", 9),
        ("LYS", "Lyon", "France", 8),
        ("LIL", "Lille", "France", 5),
        ("RTM", "Rotterdam", "Netherlands", 20),
        ("VIE", "Vienna", "Austria", 7),
        ("GRZ", "Graz", "Austria", 3),
    )
    depots = [(*town, chance.day(date(1994, 1, 1), 9000)) for town in towns]
    codes = [town[0] for town in towns]
    types = [(1, "Van", 1200, 2), (2, "Box truck", 7500, 2), (3, "Semi-trailer", 24000, 5), (4, "Tanker", 22000, 5)]
    vehicles = [
        (
            f"{chance.pick('BKMRTW')}{chance.pick('ADFX')}-{chance.between(100, 999)}{n:02}",
            chance.pick(codes[:8]),
            chance.pick((1, 1, 2, 2, 3, 3, 4)),
            chance.day(date(2009, 1, 1), 5400),
            chance.between(4, 900) * 1000,
            chance.between(0, 8) == 0,
        )
        for n in range(1, 61)
    ]
    drivers = [
        (
            3000 + n,
            _GIVEN[n % 12],
            _SURNAMES[n * 3 % 10],
            chance.pick(codes),
            hired := chance.day(date(2008, 1, 1), 5600),
            hired + timedelta(days=chance.between(90, 1500)) if chance.between(0, 6) == 0 else None,
            17 + chance.between(0, 36) / 4,
        )
        for n in range(1, 71)
    ]
    licences = [
        (driver[0], category, chance.day(date(2022, 6, 1), 2400))
        for driver in drivers
        for category in ("B", "C", "CE", "ADR")
        if category == "B" or chance.between(0, 9) > 3
    ]
    agents = [
        (1, "Petra Olsen", "North"),
        (2, "Marc Dubois", "West"),
        (3, "Ines Hofer", "South"),
        (4, "Tom Vries", "West"),
    ]
    sectors = ("Retail", "Chemicals", "Food", "Machinery", "Paper")
    countries = ("Germany", "Germany", "France", "Austria", "Netherlands", "Belgium")
    heads = ("Alpin", "Nordsee", "Delta", "Orion", "Linden", "Rhein", "Sankt", "Kobalt")
    customers = [
        (
            n,
            f"{heads[n % 8]} {chance.pick(('Werke', 'Handel', 'Foods', 'Papier', 'Chemie'))} {n}",
            chance.pick(sectors),
            chance.pick(countries),
            chance.between(2, 60) * 2500.0,
            chance.between(1, 3) if n % 9 else None,
        )
        for n in range(1, 56)
    ]
    shipments: list[Row] = []
    invoices: list[Row] = []
    parcels: list[Row] = []
    for n in range(1, 421):
        booked = chance.moment(date(2023, 1, 1), 700)
        start, end = chance.pick(codes), chance.pick(codes)
        due = booked.date() + timedelta(days=chance.between(2, 9))
        state = chance.pick(("DLV", "DLV", "DLV", "DLV", "TRN", "BKD", "CAN"))
        delivered = booked + timedelta(hours=chance.between(20, 260)) if state == "DLV" else None
        shipments.append((70000 + n, chance.between(1, 50), start, end, booked, due, delivered, state))
        for _ in range(chance.between(1, 4)):
            weight = chance.between(4, 9000) / 10
            parcels.append((len(parcels) + 1, 70000 + n, weight, chance.between(20, 400), chance.between(0, 4) == 0))
        if state == "DLV":
            issued = delivered.date() + timedelta(days=chance.between(1, 10))  # type: ignore[union-attr]
            paid = issued + timedelta(days=chance.between(3, 70)) if chance.between(0, 4) else None
            invoices.append((len(invoices) + 9001, 70000 + n, issued, chance.between(90, 4000) / 2, 0.19, paid))
    trips: list[Row] = []
    stops: list[Row] = []
    loads: list[Row] = []
    for n in range(1, 261):
        left = chance.moment(date(2023, 1, 5), 690)
        arrived = left + timedelta(minutes=chance.between(90, 1500)) if chance.between(0, 15) else None
        trips.append(
            (n, chance.pick(vehicles)[0], chance.pick(drivers[:60])[0], left, arrived, chance.between(40, 1300))
        )
        stops += [(n, place, chance.pick(codes), chance.between(0, 95)) for place in range(1, chance.between(2, 5))]
        loads += [(n, ship) for ship in sorted({70000 + chance.between(1, 420) for _ in range(chance.between(1, 3))})]
    stations = ("Shell", "Aral", "Total", "OMV")
    fuelings = [
        (
            n,
            chance.pick(vehicles[:52])[0],
            chance.day(date(2023, 1, 1), 700),
            chance.between(250, 6000) / 10,
            1.4 + chance.between(0, 500) / 1000,
            chance.pick(stations),
        )
        for n in range(1, 381)
    ]
    kinds = ("puncture", "collision", "theft", "delay", "breakdown")
    incidents = [
        (n, chance.between(1, 260), chance.pick(kinds), chance.between(0, 9000) / 2, chance.day(date(2023, 2, 1), 680))
        for n in range(1, 46)
    ]
    write(
        file,
        HERE / "freight.sql",
        {
            "depots": depots,
            "vehicle_types": types,
            "vehicles": vehicles,
            "drivers": drivers,
            "licences": licences,
            "agents": agents,
            "customers": customers,
            "shipments": shipments,
            "parcels": parcels,
            "trips": trips,
            "trip_stops": stops,
            "trip_loads": loads,
            "invoices": invoices,
            "fuelings": fuelings,
            "incidents": incidents,
        },
    )


def write_clinic(file: Path) -> None:
    """The hospital, by seeded chance."""
    chance = Chance(29)
    names = ("Surgery", "Cardiology", "Maternity", "Paediatrics", "Neurology", "Intensive Care", "Geriatrics")
    wards = [(n, name, 1 + n // 2, chance.between(8, 40)) for n, name in enumerate(names, 1)]
    specialties = ("surgeon", "cardiologist", "gynaecologist", "paediatrician", "neurologist", "anaesthetist")
    physicians = [
        (
            10 + n,
            _SURNAMES[n * 7 % 10],
            _GIVEN[n * 5 % 12],
            chance.pick(specialties),
            chance.between(1, 6),
            chance.between(5, 9),
            chance.day(date(2001, 1, 1), 8000),
        )
        for n in range(1, 31)
    ]
    nurses = [
        (
            n,
            f"{_GIVEN[n * 7 % 12]} {_SURNAMES[n % 10]}",
            chance.between(1, 7),
            chance.pick(("day", "day", "night", "late")),
            chance.between(0, 3) == 0,
        )
        for n in range(1, 61)
    ]
    insurers = [
        ("TKK", "Techniker", "public"),
        ("AOK", "Allgemeine", "public"),
        ("BRM", "Barmer", "public"),
        ("DKV", "Deutsche Kranken", "private"),
        ("ALZ", "Allianz Health", "private"),
    ]
    towns = ("Mainz", "Mainz", "Bingen", "Worms", "Alzey", "Ingelheim")
    allergies = ("penicillin", "latex", "nuts", "aspirin")
    patients = [
        (
            5000 + n,
            _SURNAMES[chance.between(0, 9)],
            _GIVEN[chance.between(0, 11)],
            chance.pick("FM"),
            chance.day(date(1932, 1, 1), 33000),
            chance.pick(towns),
            chance.pick(insurers[:4])[0] if n % 13 else None,
            chance.pick(allergies) if chance.between(0, 4) == 0 else None,
        )
        for n in range(1, 181)
    ]
    codes = [
        ("I21", "Acute myocardial infarction", "Circulatory"),
        ("I10", "Essential hypertension", "Circulatory"),
        ("J18", "Pneumonia", "Respiratory"),
        ("J45", "Asthma", "Respiratory"),
        ("S72", "Fracture of femur", "Injury"),
        ("K35", "Acute appendicitis", "Digestive"),
        ("G40", "Epilepsy", "Nervous"),
        ("E11", "Type 2 diabetes", "Endocrine"),
    ]
    admissions: list[Row] = []
    diagnoses: list[Row] = []
    bills: list[Row] = []
    for n in range(1, 261):
        came = chance.day(date(2022, 1, 1), 1000)
        left = came + timedelta(days=chance.between(0, 24)) if chance.between(0, 9) else None
        reason = chance.pick(("emergency", "emergency", "planned", "transfer"))
        admissions.append((n, 5000 + chance.between(1, 150), chance.between(1, 6), came, left, reason))
        for rank, code in enumerate({chance.pick(codes)[0]: 0 for _ in range(chance.between(1, 3))}):
            diagnoses.append((n, code, rank == 0))
        if left:
            bills.append(
                (n + 800, n, chance.between(200, 30000) / 2, left + timedelta(days=7), chance.between(0, 3) > 0)
            )
    medications = [
        (1, "Ibuprofen", "Bayer", 0.2, False),
        (2, "Metformin", "Merck", 0.35, True),
        (3, "Salbutamol", "GSK", 4.1, True),
        (4, "Amoxicillin", "Sandoz", 0.9, True),
        (5, "Paracetamol", "Bayer", 0.15, False),
        (6, "Atorvastatin", "Pfizer", 1.25, True),
        (7, "Insulin", "Novo Nordisk", 12.5, True),
        (8, "Cetirizine", "Sandoz", 0.3, False),
    ]
    prescriptions = [
        (
            n,
            5000 + chance.between(1, 160),
            10 + chance.between(1, 28),
            chance.between(1, 7),
            chance.day(date(2022, 1, 1), 1000),
            chance.between(3, 90),
            chance.between(1, 8) / 2,
        )
        for n in range(1, 351)
    ]
    tests = [
        ("GLU", "Glucose", 70, 100, "mg/dl"),
        ("HGB", "Haemoglobin", 12, 17.5, "g/dl"),
        ("CRP", "C-reactive protein", 0, 5, "mg/l"),
        ("POT", "Potassium", 3.5, 5.1, "mmol/l"),
        ("TSH", "Thyrotropin", 0.4, 4, "mU/l"),
    ]
    results = [
        (
            n,
            5000 + chance.between(1, 170),
            (test := chance.pick(tests[:4]))[0],
            chance.moment(date(2022, 1, 1), 1000),
            round(test[2] * 0.8 + chance.between(0, 100) / 100 * (test[3] * 1.3 - test[2] * 0.8), 2),
        )
        for n in range(1, 421)
    ]
    appointments = [
        (
            n,
            5000 + chance.between(1, 180),
            10 + chance.between(1, 26),
            chance.moment(date(2023, 1, 1), 640),
            chance.pick((10, 15, 20, 30, 45)),
            chance.between(0, 7) > 0,
        )
        for n in range(1, 401)
    ]
    write(
        file,
        HERE / "clinic.sql",
        {
            "wards": wards,
            "physicians": physicians,
            "nurses": nurses,
            "insurers": insurers,
            "patients": patients,
            "admissions": admissions,
            "icd": codes,
            "diagnoses": diagnoses,
            "medications": medications,
            "prescriptions": prescriptions,
            "lab_tests": tests,
            "lab_results": results,
            "appointments": appointments,
            "bills": bills,
        },
    )
