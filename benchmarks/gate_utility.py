"""A database of `gate.py` that no rule was made for: a town's utility company, with short names and codes, no keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_CODES: Final[Sequence[Row]] = (
    ("CUST_TYP", "P", "private household"),
    ("CUST_TYP", "B", "business"),
    ("CUST_TYP", "M", "municipality"),
    ("UTIL", "E", "electricity"),
    ("UTIL", "G", "gas"),
    ("UTIL", "W", "water"),
    ("PREM_TYP", "F", "flat"),
    ("PREM_TYP", "H", "house"),
    ("PREM_TYP", "S", "shop"),
    ("PREM_TYP", "O", "office"),
    ("RDG_TYP", "R", "read on site"),
    ("RDG_TYP", "E", "estimated"),
    ("RDG_TYP", "C", "reported by customer"),
    ("PAY_MTH", "DD", "direct debit"),
    ("PAY_MTH", "TR", "bank transfer"),
    ("PAY_MTH", "CA", "cash"),
    ("INV_STS", "O", "open"),
    ("INV_STS", "PP", "partly paid"),
    ("INV_STS", "P", "paid"),
    ("INV_STS", "X", "cancelled"),
    ("LN_TYP", "B", "base fee"),
    ("LN_TYP", "U", "usage"),
    ("LN_TYP", "D", "discount"),
    ("LN_TYP", "S", "service charge"),
    ("CAUSE", "ST", "storm"),
    ("CAUSE", "DG", "digging works"),
    ("CAUSE", "AG", "ageing equipment"),
    ("CAUSE", "OV", "overload"),
    ("WO_TYP", "RP", "repair"),
    ("WO_TYP", "MX", "meter exchange"),
    ("WO_TYP", "IN", "inspection"),
    ("WO_TYP", "NC", "new connection"),
    ("WO_STS", "N", "new"),
    ("WO_STS", "S", "scheduled"),
    ("WO_STS", "D", "done"),
    ("WO_STS", "X", "cancelled"),
)
_DISTRICTS: Final[Sequence[Row]] = (
    ("NO", "Nordstadt"),
    ("AL", "Altstadt"),
    ("HF", "Hafen"),
    ("WE", "Westend"),
    ("LI", "Lindenhof"),
    ("RO", "Rosental"),
)
_TARIFFS: Final[Sequence[Row]] = (
    ("E1", "Home Power", "E", 895, 31.5, date(2020, 1, 1), None),
    ("E2", "Home Power Night", "E", 1050, 27.25, date(2020, 1, 1), None),
    ("E3", "Business Power", "E", 2490, 24.75, date(2021, 7, 1), None),
    ("E9", "Power Classic", "E", 750, 33.0, date(2012, 1, 1), date(2021, 6, 30)),
    ("G1", "Home Gas", "G", 1195, 11.25, date(2020, 1, 1), None),
    ("G2", "Business Gas", "G", 2795, 9.5, date(2020, 1, 1), None),
    ("G5", "Bio Gas Plus", "G", 1495, 14.75, date(2023, 4, 1), None),
    ("W1", "Fresh Water", "W", 650, 210.0, date(2018, 1, 1), None),
    ("W2", "Garden Water", "W", 325, 165.0, date(2022, 3, 1), None),
)
_LAST: Final = ("Albers", "Bremer", "Clasen", "Drews", "Ehlers", "Feddersen", "Goos", "Harms", "Iversen", "Jepsen")
_FIRST: Final = ("Antje", "Bernd", "Carsten", "Dörte", "Enno", "Frauke", "Gesche", "Heiko", "Imke", "Jörn", "Kerstin")
_COMPANIES: Final = (
    "Bakery Harms",
    "Old Town Bakery",
    "Harbour Fish Trade",
    "Bremer Print",
    "Clasen Tools",
    "Northern Logistics",
    "Bakery Lindenhof",
    "Studio Ehlers",
    "Sailmaker Goos",
    "Westend Dental Practice",
)
_TOWN_OFFICES: Final = ("Town Hall", "Public Library", "School Board", "Swimming Pool")
_STREETS: Final = ("Mill Lane", "Church Street", "Harbour Road", "Old Mill Road", "Garden Street", "Station Road")
_MAKERS: Final = ("Elster", "Landis", "Itron", "Kamstrup")


def write_utility(file: Path) -> None:
    """The utility company, by seeded chance."""
    chance = Chance(41)
    premises = _premises(chance)
    meters, readings = _meters(chance, premises)
    contracts = _contracts(chance, meters)
    invoices, lines, payments, reminders = _invoices(chance, contracts)
    outages = _outages(chance)
    technicians = _technicians(chance)
    orders, assigned = _work_orders(chance, outages)
    write(
        file,
        HERE / "utility.sql",
        {
            "cd_txt": _CODES,
            "dist_mst": _DISTRICTS,
            "cust_mst": _customers(chance),
            "prem_mst": premises,
            "mtr_mst": meters,
            "mtr_rdg": readings,
            "trf_hdr": _TARIFFS,
            "ctr_mst": contracts,
            "inv_hdr": invoices,
            "inv_ln": lines,
            "pmt": payments,
            "dun_hist": reminders,
            "out_log": outages,
            "tech_mst": technicians,
            "wrk_ord": orders,
            "wo_asg": assigned,
        },
    )


def _customers(chance: Chance) -> list[Row]:
    """Households have a last name in nm1 and a first name in nm2, others their whole name in nm1."""
    rows: list[Row] = []
    for n in range(1, 71):
        since = chance.day(date(1998, 1, 1), 9400)
        inactive = "Y" if chance.between(0, 8) == 0 else "N"
        if n % 5:
            last, first = _LAST[n % 10], _FIRST[n % 11]
            email = f"{first}.{last}@mail.example".lower() if chance.between(0, 3) else None
            born = chance.day(date(1938, 1, 1), 22000) if chance.between(0, 9) else None
            rows.append((10000 + n, "P", last, first, born, email, since, inactive))
        else:
            name = (*_COMPANIES, *_TOWN_OFFICES)[n // 5 - 1]
            email = f"office{n}@firm.example" if chance.between(0, 5) else None
            rows.append((10000 + n, "B" if n <= 50 else "M", name, None, None, email, since, inactive))
    return rows


def _premises(chance: Chance) -> list[Row]:
    return [
        (
            *(2000 + n, chance.pick(_DISTRICTS)[0], chance.pick(_STREETS)),
            f"{chance.between(1, 140)}{chance.pick(('', '', '', 'a', 'b'))}",
            kind := chance.pick("FFFHHSO"),
            chance.between(34, 120) if kind == "F" else chance.between(70, 420),
        )
        for n in range(1, 81)
    ]


def _meters(chance: Chance, premises: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Most premises have an electricity meter, fewer water and gas; a smart meter may have replaced an older one."""
    meters: list[Row] = []
    readings: list[Row] = []
    for prem in premises[:74]:
        for util, odds in (("E", 9), ("W", 7), ("G", 5)):
            if chance.between(1, 10) > odds:
                continue
            installed = chance.day(date(2006, 1, 1), 5000)
            replaced = chance.day(date(2022, 1, 1), 900) if chance.between(0, 7) == 0 else None
            smart = "Y" if chance.between(0, 4) == 0 and not replaced else "N"
            periods = [(installed, replaced, smart)] + ([(replaced, None, "Y")] if replaced else [])
            for start, end, flag in periods:
                number = f"{util}{100000 + 137 * (len(meters) + 1)}"
                meters.append((number, prem[0], util, chance.pick(_MAKERS), start, end, flag))
                readings += _readings(chance, number, start, end, len(readings))
    return meters, readings


def _readings(chance: Chance, number: str, start: date, end: date | None, before: int) -> list[Row]:
    """One reading each half-year from 2022 to 2024, while the meter is in place."""
    value = chance.between(200, 60000) / 2
    rows: list[Row] = []
    if chance.between(0, 14) == 0:
        return rows
    for half in range(6):
        day = date(2022 + half // 2, 6 * (half % 2) + 1, 1) + timedelta(days=chance.between(0, 40))
        value += chance.between(40, 4400) / 2
        if start < day < (end or date(2025, 1, 1)):
            rows.append((before + len(rows) + 1, number, day, value, chance.pick("RRRCCE")))
    return rows


def _contracts(chance: Chance, meters: Sequence[Row]) -> list[Row]:
    """One customer for each premise and a contract for most meters in place; some had another customer before."""
    rows: list[Row] = []
    tenant: dict[int, tuple[int, date, str]] = {}
    for _, prem, util, _, _, removed, _ in meters:
        if removed or prem % 9 == 0:
            continue
        if prem not in tenant:
            start = chance.day(date(2019, 1, 1), 1500)
            tenant[prem] = (10000 + chance.between(1, 62), start, chance.pick(("DD", "DD", "TR", "TR", "CA")))
        cust, start, method = tenant[prem]
        firm = cust % 5 == 0
        tariff = {"E": "E3" if firm else chance.pick(("E1", "E1", "E2")), "G": "G2" if firm else "G1", "W": "W1"}[util]
        if chance.between(0, 6) == 0:
            earlier = start - timedelta(days=chance.between(200, 1400))
            other = "E9" if util == "E" else tariff
            end = start - timedelta(days=1)
            rows.append((50001 + len(rows), 10000 + chance.between(1, 62), prem, other, earlier, end, method))
        ended = start + timedelta(days=chance.between(300, 700)) if chance.between(0, 9) == 0 else None
        rows.append((50001 + len(rows), cust, prem, tariff, start, ended, method))
    return rows


def _invoices(chance: Chance, contracts: Sequence[Row]) -> tuple[list[Row], list[Row], list[Row], list[Row]]:
    invoices: list[Row] = []
    lines: list[Row] = []
    payments: list[Row] = []
    reminders: list[Row] = []
    for contract in contracts:
        first = max(contract[4] + timedelta(days=30), date(2023, 1, 10))
        last = min(contract[5] or date(2024, 12, 10), date(2024, 12, 10))
        for _ in range(chance.pick((0, 1, 1, 2, 2, 3)) if first < last else 0):
            number = 700001 + len(invoices)
            issued = chance.day(first, (last - first).days)
            due = issued + timedelta(days=chance.pick((14, 14, 30)))
            parts = [("B", chance.between(40, 160) / 4), ("U", chance.between(120, 3200) / 4)]
            if chance.between(0, 5) == 0:
                parts.append(("D", -chance.between(10, 80) / 4))
            if chance.between(0, 7) == 0:
                parts.append(("S", chance.between(40, 260) / 4))
            lines += [(number, place, *part) for place, part in enumerate(parts, 1)]
            total = sum(amount for _, amount in parts)
            status = chance.pick(("P", "P", "P", "P", "P", "P", "PP", "O", "O", "X"))
            invoices.append((number, contract[0], issued, due, total, status))
            if status in ("P", "PP"):
                payments += _payments(chance, number, due, round(total * 100), status, contract[6], len(payments))
            late = chance.between(1, 3) if status in ("O", "PP") else int(chance.between(0, 6) == 0)
            for level in range(1, (late if status != "X" else 0) + 1):
                sent = due + timedelta(days=14 * level + chance.between(0, 6))
                reminders.append((len(reminders) + 1, number, level, sent, (0, 250, 750)[level - 1]))
    for n in range(9):
        day = chance.day(date(2023, 3, 1), 650)
        payments.append((len(payments) + 1, None, day, chance.between(40, 900) * 25, "TR" if n % 4 else "CA"))
    return invoices, lines, payments, reminders


def _payments(chance: Chance, invoice: int, due: date, cents: int, status: str, method: str, before: int) -> list[Row]:
    """The whole amount at once or in two parts; of a partly paid invoice only the first part."""
    first = cents if status == "P" and chance.between(0, 5) else cents // 75 * 25
    day = due + timedelta(days=chance.between(-12, 20))
    rows: list[Row] = [(before + 1, invoice, day, first, method)]
    if status == "P" and first < cents:
        rows.append((before + 2, invoice, day + timedelta(days=chance.between(10, 40)), cents - first, "TR"))
    return rows


def _outages(chance: Chance) -> list[Row]:
    rows: list[Row] = []
    for n in range(1, 46):
        start = chance.moment(date(2023, 1, 1), 720)
        end = start + timedelta(minutes=chance.between(12, 900)) if n not in (39, 44) else None
        cause = chance.pick(("ST", "DG", "AG", "AG", "OV", None))
        rows.append(
            (n, chance.pick(_DISTRICTS[:5])[0], chance.pick("EEEEWWG"), start, end, cause, chance.between(3, 640))
        )
    return rows


def _technicians(chance: Chance) -> list[Row]:
    names: tuple[str, ...] = (
        "Ole Petersen",
        "Wiebke Thomsen",
        "Lars Nissen",
        "Silke Asmus",
        "Timo Wulf",
        "Birte Voss",
        "Uwe Rohde",
    )
    names += ("Malte Sievers", "Heike Lorenz", "Nils Kruse", "Tanja Behn", "Sönke Paulsen", "Maren Jahn", "Piet Ott")
    chiefs = (None, 901, 901, 902, 902, 902, 903, 903, 903, 903, 902, 903, 904, 904)
    return [
        (
            *(901 + n, name, chiefs[n], chance.pick(_DISTRICTS)[0] if n > 2 else None),
            *(chance.day(date(2001, 1, 1), 8300), chance.between(0, 2) == 0),
        )
        for n, name in enumerate(names)
    ]


def _work_orders(chance: Chance, outages: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Repairs after outages, and other work at premises; up to three technicians each."""
    orders: list[Row] = []
    assigned: list[Row] = []
    for n in range(1, 121):
        outage = outages[n // 2 - 1] if n % 2 == 0 and n <= 80 else None
        delay = timedelta(minutes=chance.between(5, 90))
        created = outage[3] + delay if outage else chance.moment(date(2023, 1, 1), 700)
        kind = "RP" if outage else chance.pick(("MX", "MX", "IN", "IN", "NC", "RP"))
        status = chance.pick(("D", "D", "D", "D", "D", "S", "N", "X"))
        done = created + timedelta(minutes=chance.between(40, 9000)) if status == "D" else None
        prem = None if outage else 2000 + chance.between(1, 80)
        place = outage[0] if outage else None
        orders.append((3000 + n, kind, prem, place, chance.between(1, 3), status, created, done))
        if status in ("D", "S"):
            crew = sorted({901 + chance.between(2, 12) for _ in range(chance.between(1, 3))})
            assigned += [(3000 + n, tech, chance.between(1, 30) / 4 if status == "D" else None) for tech in crew]
    return orders, assigned
