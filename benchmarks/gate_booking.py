"""A database of `gate.py` that no rule was made for: a group of hotels, with an object mapper's names, no keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_COUNTRIES: Final[Sequence[Row]] = (
    ("PT", "Portugal"),
    ("ES", "Spain"),
    ("IT", "Italy"),
    ("GR", "Greece"),
    ("FR", "France"),
    ("GB", "United Kingdom"),
    ("NL", "Netherlands"),
    ("US", "United States"),
    ("JP", "Japan"),
)
_HOTELS: Final[Sequence[Row]] = (
    (1, "Casa do Rio", "Lisbon", "PT", 4, date(2009, 5, 1)),
    (2, "Miradouro Palace", "Lisbon", "PT", 5, date(1998, 9, 15)),
    (3, "Ribeira Rooms", "Porto", "PT", 3, date(2016, 3, 20)),
    (4, "Hotel Sagrera", "Barcelona", "ES", 4, date(2012, 6, 1)),
    (5, "Plaza Mayor Suites", "Madrid", "ES", 5, date(2004, 11, 10)),
    (6, "Villa Aurelia", "Rome", "IT", 5, date(2001, 4, 2)),
    (7, "Albergo del Ponte", "Venice", "IT", 3, date(2018, 2, 14)),
    (8, "Aegean Bay Resort", "Heraklion", "GR", 4, date(2014, 5, 30)),
    (9, "Plaka House", "Athens", "GR", 3, date(2024, 10, 1)),
)
_ROOM_TYPES: Final[Sequence[Row]] = (
    (1, "SGL", "Single", 1),
    (2, "DBL", "Double", 2),
    (3, "TWN", "Twin", 2),
    (4, "FAM", "Family Room", 4),
    (5, "STE", "Suite", 3),
)
_RATES: Final = (72, 110, 104, 150, 260)
_TIERS: Final[Sequence[Row]] = (("BLU", "Blue", 0), ("SIL", "Silver", 5), ("GLD", "Gold", 10), ("PLT", "Platinum", 15))
_PLANS: Final[Sequence[Row]] = (
    (1, "FLEX", "Flexible", True, False),
    (2, "FLEXB", "Flexible with Breakfast", True, True),
    (3, "SAVER", "Saver", False, False),
    (4, "EARLY", "Early Bird with Breakfast", False, True),
    (5, "CORP", "Corporate", True, True),
)
_STATUSES: Final[Sequence[Row]] = (
    ("CNF", "Confirmed"),
    ("INH", "In house"),
    ("OUT", "Checked out"),
    ("CXL", "Cancelled"),
    ("NSH", "No-show"),
)
_SERVICES: Final[Sequence[Row]] = (
    (1, "Airport Transfer", 45.0),
    (2, "Spa Package", 89.5),
    (3, "Parking", 18.0),
    (4, "Late Check-out", 30.0),
    (5, "Baby Cot", 12.5),
    (6, "Wine Tasting", 55.0),
    (7, "Helicopter Tour", 390.0),
)
_FIRST: Final = ("Amelia", "Bruno", "Chiara", "Diogo", "Eleni", "Farah", "George", "Hana", "Inês", "Jack", "Kenji")
_LAST: Final = ("Almeida", "Bianchi", "Carter", "Dupont", "Evans", "Ferreira", "Garcia", "Hughes", "Ito", "Jansen")
_COMMENTS: Final = (
    "Wonderful stay, friendly staff.",
    "The room was noisy at night.",
    "Great breakfast but a noisy street.",
    "Clean and quiet, would come again.",
    "Check-in took too long.",
    "Beautiful view from the terrace.",
    None,
)
_CHANNELS: Final = ("website", "website", "app", "app", "phone", "phone", "travel agency", "travel agency")
_STAFF: Final[Sequence[tuple[str, str, int | None, str, int | None]]] = (
    ("Teresa", "Vaz", None, "Chief Executive", None),
    ("Marco", "Conti", None, "Regional Director", 1),
    ("Helena", "Pires", None, "Regional Director", 1),
    ("Rui", "Matos", 1, "Hotel Manager", 3),
    ("Carla", "Nunes", 2, "Hotel Manager", 3),
    ("Tiago", "Lopes", 3, "Hotel Manager", 3),
    ("Pau", "Soler", 4, "Hotel Manager", 3),
    ("Lucía", "Ortega", 5, "Hotel Manager", 3),
    ("Paolo", "Greco", 6, "Hotel Manager", 2),
    ("Elisa", "Moretti", 7, "Hotel Manager", 2),
    ("Nikos", "Pappas", 8, "Hotel Manager", 2),
    ("Joana", "Reis", 1, "Receptionist", 4),
    ("Vera", "Sousa", 1, "Receptionist", 4),
    ("André", "Melo", 1, "Concierge", 4),
    ("Sara", "Gomes", 2, "Receptionist", 5),
    ("Luis", "Pinto", 2, "Chef", 5),
    ("Rita", "Cunha", 2, "Housekeeper", 5),
    ("Hugo", "Faria", 2, "Concierge", 5),
    ("Marta", "Vidal", 4, "Receptionist", 7),
    ("Jordi", "Puig", 4, "Chef", 7),
    ("Irene", "Campos", 5, "Receptionist", 8),
    ("Luca", "Ferri", 6, "Chef", 9),
    ("Giulia", "Sala", 6, "Receptionist", 9),
    ("Dario", "Testa", 7, "Receptionist", 10),
    ("Maria", "Kosta", 8, "Housekeeper", 11),
    ("Petros", "Vlachos", 8, "Receptionist", 11),
)


def write_booking(file: Path) -> None:
    """The hotels, by seeded chance."""
    chance = Chance(53)
    rooms = _rooms(chance)
    guests = _guests(chance)
    reservations, booked = _reservations(chance, rooms)
    write(
        file,
        HERE / "booking.sql",
        {
            "Countries": _COUNTRIES,
            "Hotels": _HOTELS,
            "RoomTypes": _ROOM_TYPES,
            "Rooms": rooms,
            "LoyaltyTiers": _TIERS,
            "Guests": guests,
            "RatePlans": _PLANS,
            "ReservationStatuses": _STATUSES,
            "Reservations": reservations,
            "ReservationRooms": booked,
            "ExtraServices": _SERVICES,
            "ReservationServices": _ordered(chance, reservations),
            "Payments": _payments(chance, reservations, booked),
            "Reviews": _reviews(chance, reservations),
            "Employees": _employees(chance),
        },
    )


def _rooms(chance: Chance) -> list[Row]:
    """Rooms on two to four floors; hotels with three stars have no suites, the newest hotel has no rooms yet."""
    rows: list[Row] = []
    for hotel in _HOTELS[:8]:
        plain = hotel[4] == 3
        kinds = (1, 2, 2, 3, 3, 4) if plain else (1, 2, 2, 3, 4, 5)
        for floor in range(1, chance.between(2, 4) + 1):
            for door in range(1, chance.between(3, 5) + 1):
                kind = 5 if door == 1 and floor == 2 and not plain else chance.pick(kinds)
                closed = chance.between(0, 9) == 0
                rows.append((100 + len(rows), hotel[0], kind, f"{floor}{door:02}", floor, closed))
    return rows


def _guests(chance: Chance) -> list[Row]:
    """Accounts with names that occur once; the last eight were deleted before any reservation."""
    rows: list[Row] = []
    for n in range(1, 91):
        first, last = _FIRST[n % 11], _LAST[n % 10]
        joined = chance.moment(date(2021, 1, 1), 1000)
        email = f"{first}.{last}@{chance.pick(('postbox.example', 'webmail.example', 'corp.example'))}".lower()
        rows.append(
            (
                *(n, first, last, email if chance.between(0, 7) else None),
                *(chance.pick(_COUNTRIES)[0] if chance.between(0, 14) else None,),
                chance.day(date(1946, 1, 1), 20500) if chance.between(0, 5) else None,
                chance.pick(("BLU", "BLU", "BLU", "SIL", "SIL", "GLD", "PLT")) if chance.between(0, 2) else None,
                *(joined, joined + timedelta(days=chance.between(20, 300)) if n > 82 else None),
            )
        )
    return rows


def _reservations(chance: Chance, rooms: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Stays of 2023 to the start of 2025; a fifth have several rooms."""
    rows: list[Row] = []
    booked: list[Row] = []
    for n in range(1, 281):
        hotel = chance.pick((1, 1, 2, 2, 3, 4, 4, 4, 5, 6, 6, 7, 8, 8))
        arrival = chance.day(date(2023, 2, 1), 730)
        ahead = 0 if chance.between(0, 11) == 0 else chance.between(1, 120)
        made = datetime(arrival.year, arrival.month, arrival.day) - timedelta(days=ahead)
        made += timedelta(minutes=chance.between(400, 1380))
        leaving = arrival + timedelta(days=chance.pick((1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 10)))
        status = chance.pick(("OUT", "OUT", "OUT", "OUT", "OUT", "OUT", "OUT", "CXL", "CXL", "NSH"))
        if arrival > date(2024, 12, 27) and status != "CXL":
            status = "INH" if arrival < date(2025, 1, 4) else "CNF"
        cancelled = None
        if status == "CXL":
            cancelled = made + timedelta(minutes=chance.between(20, 1000 + ahead * 1300))
        guest = chance.between(1, 40) if chance.between(0, 1) else chance.between(1, 76)
        channel = chance.pick(_CHANNELS)
        if ahead == 0:
            channel = chance.pick(("walk-in", "app"))
        rows.append((n, guest, hotel, chance.between(1, 4), status, channel, made, arrival, leaving, cancelled))
        mine = [room for room in rooms if room[1] == hotel]
        count = 1 if chance.between(0, 4) else chance.between(2, 3)
        for room in sorted({chance.pick(mine[:-1]) for _ in range(count)}):
            most = _ROOM_TYPES[room[2] - 1][3]
            adults = chance.between(1, most)
            rate = _RATES[room[2] - 1] * (2 + _HOTELS[hotel - 1][4]) / 6 // 1 + chance.between(0, 60) / 2
            children = chance.between(0, most - adults) if chance.between(0, 2) else 0
            booked.append((len(booked) + 1, n, room[0], adults, children, rate))
    return rows, booked


def _ordered(chance: Chance, reservations: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for reservation in reservations:
        wanted = sorted({chance.pick((1, 1, 2, 3, 3, 3, 4, 5, 6)) for _ in range(chance.pick((0, 0, 0, 1, 1, 2)))})
        for service in wanted if reservation[4] in ("OUT", "INH") else ():
            price = _SERVICES[service - 1][2] - chance.pick((0, 0, 0, 2.5, 5))
            rows.append((reservation[0], service, chance.between(1, 4), price))
    return rows


def _payments(chance: Chance, reservations: Sequence[Row], booked: Sequence[Row]) -> list[Row]:
    """The price of the rooms when the guest leaves, or a deposit and the rest; most cancelled stays get it back."""
    rows: list[Row] = []
    methods = ("credit card", "credit card", "bank transfer", "PayPal", "cash")
    for number, _, _, _, status, _, made, arrival, leaving, cancelled in reservations:
        price = sum(room[5] for room in booked if room[1] == number) * (leaving - arrival).days
        deposit = price // 4 if chance.between(0, 2) == 0 else 0
        left = datetime(leaving.year, leaving.month, leaving.day, 7) + timedelta(minutes=chance.between(0, 300))
        if deposit:
            paid = made + timedelta(minutes=chance.between(1, 50))
            rows.append((len(rows) + 1, number, deposit, chance.pick(methods[:4]), paid, False))
        if status == "OUT" and chance.between(0, 19):
            rows.append((len(rows) + 1, number, price - deposit, chance.pick(methods), left, False))
        if cancelled and deposit and chance.between(0, 3):
            back = cancelled + timedelta(days=chance.between(1, 9))
            rows.append((len(rows) + 1, number, deposit, rows[-1][3], back, True))
    return rows


def _reviews(chance: Chance, reservations: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for reservation in reservations:
        if reservation[4] != "OUT" or chance.between(0, 2) == 0:
            continue
        written = chance.moment(reservation[8] + timedelta(days=1), 20)
        rating = chance.pick((1, 2, 3, 3, 4, 4, 4, 5, 5, 5))
        rows.append((len(rows) + 1, reservation[0], rating, chance.pick(_COMMENTS), written, chance.between(0, 8) == 0))
    return rows


def _employees(chance: Chance) -> list[Row]:
    rows: list[Row] = []
    for number, person in enumerate(_STAFF, 1):
        first_year = 2003 if number <= 3 else 2007 if number <= 11 else 2010
        hired = chance.day(date(first_year, 1, 1), 4000)
        left = hired + timedelta(days=chance.between(200, 900)) if number > 11 and chance.between(0, 4) == 0 else None
        first, last, hotel, title, manager = person
        rows.append((number, first, last, hotel, title, manager, hired, left))
    return rows
