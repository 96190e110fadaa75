"""A database of `gate.py` that no rule was made for: a retailer's data warehouse, a star schema without keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HOLIDAYS: Final = ((1, 1), (5, 27), (7, 4), (9, 2), (11, 28), (12, 24), (12, 25), (12, 26))
_CATEGORIES: Final[Sequence[Row]] = (
    (1, "Kitchen", "Home"),
    (2, "Bedding", "Home"),
    (3, "Lighting", "Home"),
    (4, "Storage", "Home"),
    (5, "Camping", "Outdoor"),
    (6, "Cycling", "Outdoor"),
    (7, "Garden", "Outdoor"),
    (8, "Audio", "Electronics"),
    (9, "Computing", "Electronics"),
    (10, "Footwear", "Apparel"),
    (11, "Outerwear", "Apparel"),
    (12, "Accessories", "Apparel"),
    (13, "Pet Supplies", "Home"),
)
_GOODS: Final = (
    ("Kettle", "Frying Pan", "Knife Set", "Mixing Bowl"),
    ("Duvet", "Pillow", "Sheet Set"),
    ("Desk Lamp", "Floor Lamp", "Lantern"),
    ("Basket", "Shelf Unit", "Storage Box"),
    ("Tent", "Sleeping Bag", "Camp Stove", "Cooler"),
    ("Helmet", "Bike Light", "Pannier"),
    ("Watering Can", "Hedge Trimmer", "Planter"),
    ("Headphones", "Speaker", "Turntable"),
    ("Keyboard", "Monitor", "Webcam", "Mouse"),
    ("Hiking Boots", "Sneakers", "Sandals"),
    ("Rain Jacket", "Parka", "Fleece"),
    ("Scarf", "Belt", "Backpack"),
)
_LINES: Final = ("Classic", "Nordic", "Compact", "Premium", "Eco", "Urban", "Alpine", "Studio", "Everyday", "Heritage")
_BRANDS: Final = ("Alderwood", "Brightside", "Cobalt", "Dunmore", "Everline", "Foxglove", "Granite Peak", "Holloway")
_SUPPLIERS: Final[Sequence[Row]] = (
    (1, "Anvil Manufacturing", "USA", 4),
    (2, "Baltic Textiles", "Poland", 3),
    (3, "Canton Electric", "China", 5),
    (4, "Delta Plastics", "USA", 2),
    (5, "Emerald Imports", "Ireland", 4),
    (6, "Fjord Outdoor", "Norway", 5),
    (7, "Gujarat Cotton Mills", "India", 3),
    (8, "Hanoi Footwear", "Vietnam", 4),
    (9, "Iberia Home", "Spain", None),
    (10, "Jade Lighting", "China", 3),
    (11, "Kansas Tool Works", "USA", 5),
    (12, "Lombardia Design", "Italy", 4),
    (13, "Mekong Weavers", "Vietnam", 2),
    (14, "Northgate Wholesale", "Canada", 3),
    (15, "Orient Audio", "China", 4),
    (16, "Pacific Rim Trading", "USA", None),
)
_STORES: Final[Sequence[Row]] = (
    (1, "PDX1", "Portland Downtown", "Portland", "West", "Flagship", 2400, date(2009, 4, 18), None),
    (2, "PDX2", "Portland Airport Outlet", "Portland", "West", "Outlet", 850, date(2016, 9, 2), None),
    (3, "SEA1", "Seattle Pike Street", "Seattle", "West", "Standard", 1500, date(2011, 6, 11), None),
    (4, "DEN1", "Denver Union", "Denver", "Central", "Standard", 1320, date(2013, 3, 23), None),
    (5, "CHI1", "Chicago Loop", "Chicago", "Central", "Flagship", 2750, date(2007, 10, 6), None),
    (6, "CHI2", "Chicago Lakeview", "Chicago", "Central", "Standard", 1180, date(2018, 5, 12), date(2024, 6, 30)),
    (7, "ATL1", "Atlanta Midtown", "Atlanta", "South", "Standard", 1410, date(2014, 8, 9), None),
    (8, "DAL1", "Dallas Galleria", "Dallas", "South", "Standard", 1620, date(2015, 2, 28), None),
    (9, "DAL2", "Dallas Outlet Park", "Dallas", "South", "Outlet", 960, date(2019, 11, 15), None),
    (10, "BOS1", "Boston Back Bay", "Boston", "East", "Standard", 1250, date(2012, 9, 29), None),
    (11, "NYC1", "New York Fifth Avenue", "New York", "East", "Flagship", 3100, date(2010, 11, 20), None),
    (12, "WEB1", "Web Shop", None, "Online", "Online", None, date(2012, 1, 16), None),
    (13, "PHL1", "Philadelphia Center", "Philadelphia", "East", "Standard", 1370, date(2024, 12, 28), None),
    (14, "PHX1", "Phoenix Desert Ridge", "Phoenix", "West", "Outlet", 780, date(2017, 7, 1), date(2022, 8, 31)),
)
_PROMOTIONS: Final[Sequence[Row]] = (
    (0, "No Promotion", None, 0, None, None),
    (1, "New Year Clearance 2023", "Clearance", 30, 20230102, 20230122),
    (2, "Spring Refresh 2023", "Seasonal", 15, 20230315, 20230416),
    (3, "Members Week May 2023", "Loyalty", 10, 20230508, 20230521),
    (4, "Summer Camp 2023", "Seasonal", 20, 20230615, 20230731),
    (5, "Back to School 2023", "Seasonal", 15, 20230815, 20230910),
    (6, "Black Friday 2023", "Event", 25, 20231120, 20231127),
    (7, "Holiday Gifts 2023", "Seasonal", 10, 20231204, 20231224),
    (8, "New Year Clearance 2024", "Clearance", 35, 20240102, 20240121),
    (9, "Spring Refresh 2024", "Seasonal", 15, 20240318, 20240421),
    (10, "Members Week May 2024", "Loyalty", 10, 20240506, 20240519),
    (11, "Summer Camp 2024", "Seasonal", 20, 20240610, 20240728),
    (12, "Back to School 2024", "Seasonal", 10, 20240812, 20240908),
    (13, "Black Friday 2024", "Event", 30, 20241125, 20241202),
    (14, "Holiday Gifts 2024", "Seasonal", 15, 20241205, 20241224),
    (15, "Spring Preview 2025", "Seasonal", 20, 20250310, 20250330),
    (16, "Loyalty Double Day", "Loyalty", 5, 20240930, 20240930),
)
_PAYMENTS: Final[Sequence[Row]] = (
    (1, "Cash"),
    (2, "Credit Card"),
    (3, "Debit Card"),
    (4, "Gift Card"),
    (5, "Invoice"),
    (6, "Cheque"),
)
_REASONS: Final[Sequence[Row]] = (
    (1, "Defective"),
    (2, "Wrong size"),
    (3, "Changed mind"),
    (4, "Damaged in transit"),
    (5, "Not as described"),
    (6, "Recalled"),
)
_FIRST: Final = (
    *("Alice", "Benjamin", "Carmen", "Derek", "Eleanor", "Frank", "Gloria", "Hector", "Ingrid", "Julian", "Keisha"),
    *("Leon", "Monica", "Nathan", "Olivia", "Patrick", "Quinn", "Rosa", "Samuel", "Teresa"),
)
_LAST: Final = (
    *("Abbott", "Barnes", "Castillo", "Donovan", "Ellis", "Fleming", "Grant", "Hughes", "Ibarra", "Jensen", "Kim"),
    *("Larsen", "Mendoza", "Nguyen", "Ortega", "Pierce", "Reyes", "Schultz", "Turner"),
)
_CITIES: Final = ("Portland", "Seattle", "Denver", "Chicago", "Atlanta", "Dallas", "Boston", "New York", "Austin")
_SNAPSHOTS: Final = (20230331, 20230630, 20230930, 20231231, 20240331, 20240630, 20240930, 20241231)


def write_warehouse(file: Path) -> None:
    """The retailer's warehouse, by seeded chance."""
    chance = Chance(53)
    products = _products(chance)
    employees = _employees(chance)
    customers = _customers(chance)
    sales = _sales(chance, products, employees, customers)
    managers = {row[3]: row[0] for row in employees if row[2] == "Store Manager" and not row[6]}
    write(
        file,
        HERE / "warehouse.sql",
        {
            "dim_date": _dates(),
            "dim_category": _CATEGORIES,
            "dim_product": products,
            "dim_supplier": _SUPPLIERS,
            "bridge_product_supplier": _supplies(chance, products),
            "dim_store": [(*row, managers.get(row[0])) for row in _STORES],
            "dim_employee": employees,
            "dim_customer": customers,
            "dim_promotion": _PROMOTIONS,
            "dim_payment": _PAYMENTS,
            "dim_return_reason": _REASONS,
            "fact_sales": sales,
            "fact_returns": _returns(chance, sales),
            "fact_inventory": _inventory(chance, products),
            "fact_budget": _budgets(chance, sales),
        },
    )


def _key(day: date) -> int:
    return day.year * 10000 + day.month * 100 + day.day


def _dates() -> list[Row]:
    """Each day of 2023 and 2024; the fiscal year is named by the year in which it ends, on 30 June."""
    rows: list[Row] = []
    for n in range(731):
        day = date(2023, 1, 1) + timedelta(days=n)
        rows.append(
            (
                *(_key(day), day, _DAYS[day.weekday()], day.month, _MONTHS[day.month - 1], (day.month + 2) // 3),
                *(day.year, day.year + (day.month > 6), int(day.weekday() > 4)),
                "Y" if (day.month, day.day) in _HOLIDAYS else "N",
            )
        )
    return rows


def _products(chance: Chance) -> list[Row]:
    """Own-label products have no brand; a product's name is its line and what it is."""
    rows: list[Row] = []
    for place, goods in enumerate(_GOODS):
        for n in range(chance.between(8, 13)):
            name = f"{_LINES[(3 * n + place) % 10]} {goods[n % len(goods)]}"
            price = chance.between(24, 640 if place in (4, 7, 8, 10) else 320) / 4
            rows.append(
                (
                    *(501 + len(rows), f"{_CATEGORIES[place][1][:3].upper()}-{2001 + 7 * len(rows)}", name),
                    *(chance.pick((*_BRANDS, *_BRANDS, None)), place + 1),
                    *(price, round(price * chance.between(42, 78) / 25) / 4),
                    *(_key(chance.day(date(2019, 1, 1), 1450)), "Y" if chance.between(0, 8) == 0 else "N"),
                )
            )
    return rows


def _supplies(chance: Chance, products: Sequence[Row]) -> list[Row]:
    """One to three suppliers of a product, the first of them marked as the main one; the last two supply nothing."""
    rows: list[Row] = []
    for product in products:
        count = chance.pick((1, 1, 2, 2, 3))
        chosen: list[int] = []
        while len(chosen) < count:
            supplier = chance.between(1, 14)
            if supplier not in chosen:
                chosen.append(supplier)
        rows += [
            (product[0], supplier, None if place else "X", chance.between(4, 60))
            for place, supplier in enumerate(chosen)
        ]
    return rows


def _employees(chance: Chance) -> list[Row]:
    """Two regional heads without a store, a manager of each store, and the store's staff; some have left."""
    rows: list[Row] = [
        (1001, "Margaret Shaw", "Regional Head", None, None, date(2008, 2, 4), None),
        (1002, "Victor Lindqvist", "Regional Head", None, None, date(2011, 9, 19), None),
    ]
    for store in _STORES[:13]:
        boss = 1003 + len(rows) - 2
        titles = ["Store Manager"] + [chance.pick(("Sales Associate", "Sales Associate", "Cashier")) for _ in range(6)]
        if store[5] == "Online":
            titles = ["Store Manager", "Stock Clerk", "Stock Clerk"]
        for title in titles:
            n = len(rows)
            hired = max(chance.day(date(2010, 1, 1), 4900), store[7])
            left = None
            if title != "Store Manager" and hired < date(2022, 6, 1) and chance.between(0, 4) == 0:
                left = chance.day(date(2023, 2, 1), 650)
            chief = boss if title != "Store Manager" else 1001 + (store[0] > 6)
            name = f"{_FIRST[n * 7 % 20]} {_LAST[(n * 5 + 3) % 19]}"
            rows.append((1001 + n, name, title, store[0], chief, hired, left))
    return rows


def _customers(chance: Chance) -> list[Row]:
    """A customer's rows follow one another in time; city, segment or loyalty tier differ from row to row."""
    rows: list[Row] = []
    tiers = (None, "Silver", "Gold", "Platinum")
    for n in range(170):
        name = f"{_FIRST[n % 20]} {_LAST[(n * 3 + n // 20) % 19]}"
        segment = chance.pick(("Consumer", "Consumer", "Consumer", "Small Business", "Corporate"))
        city, tier, optin = chance.pick(_CITIES), chance.between(0, 2), chance.between(0, 2) > 0
        start = chance.day(date(2021, 3, 1), 600)
        versions = chance.pick((1, 1, 1, 2, 2, 3))
        for place in range(1, versions + 1):
            end = start + timedelta(days=chance.between(150, 480)) if place < versions else None
            end = min(end, date(2024, 10, 1) + timedelta(days=place)) if end else None
            rows.append(
                (
                    *(3001 + len(rows), f"C{10010 + 3 * n}", name, segment, city, tiers[tier], optin),
                    *(start, end, int(end is None)),
                )
            )
            if end is None:
                break
            start = end + timedelta(days=1)
            change = chance.between(0, 4)
            if change < 2:
                city = _CITIES[(_CITIES.index(city) + chance.between(1, 8)) % 9]
            elif change < 4:
                tier = tier + 1 if tier < 3 and chance.between(0, 3) else max(tier - 1, 0) if tier else 1
            else:
                segment = "Small Business" if segment != "Small Business" else "Corporate"
    return rows


def _sales(chance: Chance, products: Sequence[Row], employees: Sequence[Row], customers: Sequence[Row]) -> list[Row]:
    """Orders of one to four lines; a sale has the customer's row of its day, or none where nobody gave a name."""
    rows: list[Row] = []
    sold = [row for row in products if row[0] % 14]
    known = sorted({row[1] for row in customers})[:148]
    versions: dict[str, list[Row]] = defaultdict(list)
    for row in customers:
        versions[row[1]].append(row)
    for number in range(80001, 80831):
        day = chance.day(date(2023, 1, 1), 730)
        if chance.between(0, 3) == 0:
            day = date(chance.pick((2023, 2024, 2024)), chance.pick((6, 11, 11, 12)), chance.between(1, 30))
        store = chance.pick((1, 1, 1, 2, 3, 3, 4, 5, 5, 5, 6, 7, 7, 8, 8, 9, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12))
        if store == 6 and day > date(2024, 6, 30):
            store = 5
        holder = chance.between(0, 147) * chance.between(60, 100) // 100
        fits = [row for row in versions[known[holder]] if row[7] <= day and day <= (row[8] or day)]
        customer = fits[0] if fits and (store == 12 or chance.between(0, 4)) else None
        staff = [row[0] for row in employees if row[3] == store and row[5] <= day <= (row[6] or day) and store != 12]
        clerk = chance.pick(staff) if staff else None
        running = [row[0] for row in _PROMOTIONS[1:16] if row[4] <= _key(day) <= row[5]]
        firm = bool(customer and customer[3] != "Consumer")
        means = (2, 3, 4, 2) if store == 12 else (1, 1, 2, 2, 3, 4)
        payment = 5 if firm and chance.between(0, 1) else chance.pick(means)
        chosen: list[int] = []
        for line in range(1, chance.pick((1, 1, 2, 2, 3, 4)) + 2):
            place = chance.between(0, len(sold) - 1) * chance.between(20, 100) // 100
            product = sold[place * 37 % len(sold)]
            if product[0] in chosen or product[7] > _key(day):
                continue
            chosen.append(product[0])
            promo = running[0] if running and chance.between(0, 2) else 0
            qty = chance.pick((1, 1, 1, 2, 2, 3, 4)) * (chance.between(1, 3) if firm else 1)
            cents = round(qty * product[5] * _PROMOTIONS[promo][3] / 25) * 25
            line_total = qty * product[5] - cents / 100
            rows.append(
                (
                    *(number, len(chosen), _key(day), store, customer[0] if customer else None, clerk, product[0]),
                    *(promo, payment, qty, product[5], product[6], cents / 100, line_total),
                )
            )
            if line == 4:
                break
    return rows


def _returns(chance: Chance, sales: Sequence[Row]) -> list[Row]:
    """About a ninth of the sold lines come back, some to another store; goods of the web shop more often."""
    rows: list[Row] = []
    for sale in sales:
        if chance.between(0, 4 if sale[3] == 12 else 9):
            continue
        day = date(sale[2] // 10000, sale[2] // 100 % 100, sale[2] % 100) + timedelta(days=chance.between(1, 45))
        if day > date(2024, 12, 31):
            continue
        qty = chance.between(1, sale[9])
        store = chance.pick((1, 5, 11)) if sale[3] != 12 and chance.between(0, 7) == 0 else sale[3]
        if store == 6 and day > date(2024, 6, 30):
            store = 5
        reason = chance.pick((1, 1, 2, 3, 3, 4 if sale[3] == 12 else 3, 5, None))
        refund = round(sale[13] * qty / sale[9] * 4) / 4
        restocked = "F" if reason in (1, 4) or chance.between(0, 3) == 0 else "T"
        number = 9001 + len(rows)
        rows.append((number, _key(day), sale[0], sale[1], store, sale[6], reason, qty, refund, restocked))
    return rows


def _inventory(chance: Chance, products: Sequence[Row]) -> list[Row]:
    """What each store had of its range of goods at the end of a quarter."""
    ranges = {
        store: sorted({chance.pick(products)[0] for _ in range(24)})
        for store in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    }
    rows: list[Row] = []
    for day in _SNAPSHOTS:
        for store, goods in ranges.items():
            if store == 6 and day > 20240630:
                continue
            for product in goods:
                point = 4 * (1 + product % 5)
                stock = max(chance.between(-6, 70), 0)
                order = chance.between(10, 60) if stock < point and chance.between(0, 3) else 0
                rows.append((day, store, product, stock, order, point))
    return rows


def _budgets(chance: Chance, sales: Sequence[Row]) -> list[Row]:
    """Monthly sales budgets, planned near what was sold; two stores have none for 2023."""
    totals: dict[tuple[int, int, int], float] = defaultdict(float)
    for sale in sales:
        totals[sale[2] // 10000, sale[2] // 100 % 100, sale[3]] += sale[13]
    rows: list[Row] = []
    for year in (2023, 2024):
        for month in range(1, 13):
            for store in range(1, 13):
                if (year == 2023 and store in (2, 9)) or (store == 6 and (year, month) > (2024, 6)):
                    continue
                sold = totals[year, month, store]
                rows.append((year, month, store, (int(sold * chance.between(60, 135) / 5000) + 6) * 50))
    return rows
