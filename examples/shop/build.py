"""Writes the example database of Larkfell Mail Order, an invented company; see README.md beside this file.

    python examples/shop/build.py [PATH]

Needs nothing but Python 3.11 or later. The content is the same on every version and machine: all chance comes
from `random.Random(int).random()`, whose sequence Python promises to keep, and money is counted in integers.
"""

import os
import random
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import vocabulary as world

HERE = Path(__file__).resolve().parent
SEED = 20220103
YEARS = (2022, 2023, 2024)
TODAY = date(2024, 12, 31)  # the database is as of this evening
COLLECTED = 3  # delivery code; such orders have no parcel

Row = tuple[Any, ...]
T = TypeVar("T")


class Dice:
    """Seeded chance, built on the one generator method that is stable across Python versions."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def below(self, n: int) -> int:
        return int(self._source.random() * n)

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, pairs: Sequence[tuple[T, int]]) -> T:
        """One of the first members of `pairs`, as often as the second says."""
        left = self.below(sum(weight for _, weight in pairs))
        for item, weight in pairs:
            left -= weight
            if left < 0:
                return item
        raise AssertionError("weights do not add up")


class Product(NamedTuple):
    id: int
    category: str
    cents: int
    popularity: int
    introduced_on: str
    discontinued_on: str | None

    def sold_on(self, day: str) -> bool:
        return self.introduced_on <= day and (self.discontinued_on is None or day < self.discontinued_on)


class Customer(NamedTuple):
    id: int
    group: str
    region: Row
    town: str


class Order(NamedTuple):
    id: int
    customer: Customer
    day: date
    delivery: int


class Shop:
    """The rows of every table, filled in the order of the calendar."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        self.rows: dict[str, list[Row]] = {}
        self.products: list[Product] = []
        self.past_buyers: list[Customer] = []  # one entry an order: who bought often buys again

    def add(self, table: str, *row: Any) -> None:
        self.rows.setdefault(table, []).append(row)

    def count(self, table: str) -> int:
        return len(self.rows.get(table, ()))


def add_fixed_tables(shop: Shop) -> None:
    for code, name, promised_days, *_ in world.REGIONS:
        shop.add("region", code, name, promised_days)
    for table, rows in (
        ("employee", world.EMPLOYEES),
        ("supplier", world.SUPPLIERS),
        ("order_status", world.STATUSES),
    ):
        for row in rows:
            shop.add(table, *row)


def add_catalogue(shop: Shop) -> None:
    for category_id, (category, (prefix, buyer_id, *_)) in enumerate(world.CATEGORIES.items(), 1):
        shop.add("category", category_id, category, buyer_id)
        for name, cents, grams, popularity, suppliers in world.PRODUCTS[category]:
            product_id = shop.count("product") + 1
            introduced = world.INTRODUCED.get(name, world.FIRST_CATALOGUE)
            discontinued = world.DISCONTINUED.get(name)
            sku = f"{prefix}-{product_id * 37 % 1000:04d}"
            life = (introduced, discontinued)
            shop.add("product", product_id, sku, name, category_id, cents / 100, grams, *life)
            shop.products.append(Product(product_id, category, cents, popularity, *life))
            for rank, supplier_id in enumerate(suppliers):
                item = f"{(product_id * 613 + supplier_id * 71) % 100000:06d}"
                shop.add("product_supplier", product_id, supplier_id, item, int(rank == 0))


def new_customer(shop: Shop, day: date) -> Customer:
    dice = shop.dice
    customer_id = shop.count("customer") + 1
    first, last = dice.pick(world.FIRST_NAMES), dice.pick(world.LAST_NAMES)
    group = dice.weighted(world.GROUPS)
    region = dice.weighted([(region, region[4]) for region in world.REGIONS])
    town, postcode = dice.pick(world.TOWNS[region[0]])
    letters_only = dice.chance(22) and group == "private"
    email = None if letters_only else f"{first}.{last}{customer_id}@{group}.example".lower()
    joined = day - timedelta(days=dice.below(10))
    home = (town, postcode, region[0])
    shop.add("customer", customer_id, first, last, group, email, *home, joined.isoformat())
    return Customer(customer_id, group, region, town)


def buyer(shop: Shop, day: date, newcomers: int) -> Customer:
    """A new customer in `newcomers` percent of cases; otherwise a past one, the frequent ones more often."""
    dice = shop.dice
    if dice.chance(6):
        new_customer(shop, day)  # asked for the catalogue, and that was all
    if shop.past_buyers and not dice.chance(newcomers):
        return dice.pick(shop.past_buyers)
    return new_customer(shop, day)


def add_order(shop: Shop, customer: Customer, day: date) -> None:
    dice = shop.dice
    shop.past_buyers.append(customer)
    channel = dice.weighted(world.CHANNELS[day.year])
    employee_id = None if channel == "web" else desk_clerk(dice, day.isoformat())
    order = Order(1001 + shop.count("orders"), customer, day, delivery_code(dice, customer))
    lines = add_lines(shop, order)
    status, received = send(shop, order, lines)
    if received:
        add_returns(shop, order, received)
    spelling = dice.weighted(world.CHANNEL_SPELLINGS[channel])
    how = (spelling, employee_id, status, order.delivery)
    shop.add("orders", order.id, customer.id, day.isoformat(), *how)


def desk_clerk(dice: Dice, day: str) -> int:
    at_work: list[int] = [
        employee[0]
        for employee in world.EMPLOYEES
        if employee[3].startswith(("Order Desk", "Desk")) and employee[6] <= day <= (employee[7] or day)
    ]
    return dice.pick(at_work)


def delivery_code(dice: Dice, customer: Customer) -> int:
    if customer.town == "Larkfell":
        return dice.weighted(((1, 50), (COLLECTED, 50)))
    return dice.weighted(((1, 84), (2, 16)))


def add_lines(shop: Shop, order: Order) -> int:
    """Adds the lines of an order, each product once; returns their number."""
    dice, day = shop.dice, order.day
    month = day.month - 1
    shelf = [
        (product, product.popularity * world.CATEGORIES[product.category][3][month])
        for product in shop.products
        if product.sold_on(day.isoformat())
    ]
    wanted = dice.weighted(((1, 30), (2, 28), (3, 20), (4, 12), (5, 7), (6, 3)))
    basket = list(dict.fromkeys(dice.weighted(shelf) for _ in range(wanted)))
    for line_no, product in enumerate(basket, 1):
        quantity = dice.between(1, world.CATEGORIES[product.category][2])
        if order.customer.group != "private" and product.cents < 5000:
            quantity *= dice.between(2, 5)
        shop.add("order_line", order.id, line_no, product.id, quantity, unit_cents(product, order))
    return len(basket)


def unit_cents(product: Product, order: Order) -> int:
    """The price on the day, to 5 cents; trade pays a tenth less. Vouchers cost what is printed on them."""
    if product.cents % 2500 == 0 and product.category == "Paper and Gifts":
        return product.cents
    percent = world.PRICE_LEVEL[order.day.year]
    if order.customer.group == "trade":
        percent = percent * 9 // 10
    return (product.cents * percent + 250) // 500 * 5


def send(shop: Shop, order: Order, lines: int) -> tuple[str, date | None]:
    """Adds the parcels of an order; returns its status and, if all of it has arrived, the day of that."""
    dice = shop.dice
    if dice.chance(3):
        return "X", None
    sent = order.day + timedelta(days=dice.between(1, 3))
    if sent > TODAY:
        return ("N" if order.day == TODAY else "P"), None
    if order.delivery == COLLECTED:
        return "D", sent
    lost = dice.below(1000) < 8
    arrivals: list[date | None] = []
    for parcel_no in range(1, 3 if lines >= 3 and dice.chance(20) else 2):
        arrived = None if lost else sent + timedelta(days=days_on_the_road(dice, order, sent))
        known = arrived if arrived and arrived <= TODAY else None
        report = known.strftime("%d.%m.%Y") if known else None
        shop.add("shipment", order.id, parcel_no, order.customer.region[3], sent.isoformat(), report)
        arrivals.append(known)
        sent = min(TODAY, sent + timedelta(days=dice.between(2, 9)))
    reached = [day for day in arrivals if day]
    if len(reached) == len(arrivals):
        return "D", max(reached)
    return ("L" if lost and sent < TODAY - timedelta(days=21) else "S"), None


def days_on_the_road(dice: Dice, order: Order, sent: date) -> int:
    promised: int = order.customer.region[2]
    if order.delivery == 2:
        return dice.between(1, 2)
    late = 6 + 10 * (sent.month in (1, 2, 12)) + 14 * (order.customer.region[0] == "OI")
    if dice.chance(late):
        return promised + dice.between(1, 9)
    return dice.between(max(1, promised - 2), promised)


def add_returns(shop: Shop, order: Order, received: date) -> None:
    dice = shop.dice
    for order_id, line_no, _, quantity, _ in reversed(shop.rows["order_line"]):
        if order_id != order.id:
            return
        day = received + timedelta(days=dice.between(2, 25))
        if dice.chance(6) and day <= TODAY:
            reason = dice.weighted(world.RETURN_REASONS)
            pieces = dice.between(1, quantity)
            number = shop.count("return_line") + 1
            shop.add("return_line", number, order_id, line_no, pieces, day.isoformat(), reason)


def trade(shop: Shop) -> None:
    """Three years of orders, day by day: growing from month to month, with the seasons."""
    months = [(year, month) for year in YEARS for month in range(1, 13)]
    for elapsed, (year, month) in enumerate(months):
        first = date(year, month, 1)
        length = ((first + timedelta(days=31)).replace(day=1) - first).days
        orders = (2300 + 70 * elapsed) * world.SEASON[month - 1] // 10000
        newcomers = max(20, 85 - 3 * elapsed)
        for day in sorted(first + timedelta(days=shop.dice.below(length)) for _ in range(orders)):
            add_order(shop, buyer(shop, day, newcomers), day)


def tables() -> dict[str, list[Row]]:
    """The rows of all tables, by table; the same at every call."""
    shop = Shop(SEED)
    add_fixed_tables(shop)
    add_catalogue(shop)
    trade(shop)
    return shop.rows


def build(path: Path) -> None:
    """Writes the database to `path`; a file that is there stays whole until the new one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    draft.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(draft)) as connection:
            connection.executescript((HERE / "schema.sql").read_text(encoding="utf-8"))
            for table, rows in tables().items():
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.commit()
            if broken := connection.execute("PRAGMA foreign_key_check").fetchall():
                raise ValueError(f"foreign keys without a target: {broken[:5]}")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    target = Path(sys.argv[1]) if len(sys.argv) == 2 else HERE / "shop.db"
    build(target)
    print(f"wrote {target}")
