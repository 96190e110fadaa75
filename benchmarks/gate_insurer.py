"""A database of `gate.py` that no rule or adapter was made for: a regional insurer, without keys."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_TODAY: Final = date(2025, 6, 30)
_GIVEN: Final = [
    "Alice",
    "Andrew",
    "Beth",
    "Brian",
    "Carol",
    "Callum",
    "Daniel",
    "Diane",
    "Edward",
    "Ellen",
    "Fiona",
    "Frank",
    "Gareth",
    "Grace",
    "Harry",
    "Helen",
    "Isla",
    "James",
    "Joanna",
    "Keith",
    "Laura",
    "Liam",
    "Megan",
    "Martin",
    "Nadia",
    "Oliver",
    "Priya",
    "Peter",
    "Rachel",
    "Rhys",
    "Sarah",
    "Simon",
    "Tanya",
    "Thomas",
    "Zoe",
]
_SURNAMES: Final = [
    "Ahmed",
    "Bevan",
    "Carter",
    "Davies",
    "Ellis",
    "Griffiths",
    "Hughes",
    "Kaur",
    "Lloyd",
    "Morgan",
    "Nash",
    "Preece",
    "Shaw",
    "Webb",
]
_TOWNS: Final = [
    "Worcester WR1",
    "Hereford HR1",
    "Shrewsbury SY1",
    "Gloucester GL1",
    "Cheltenham GL50",
    "Telford TF3",
    "Kidderminster DY10",
    "Ludlow SY8",
    "Malvern WR14",
    "Leominster HR6",
    "Bridgnorth WV16",
    "Evesham WR11",
    "Tewkesbury GL20",
    "Ledbury HR8",
]
_STREETS: Final = ("High Street", "Church Lane", "Mill Road", "Station Road", "Orchard Close", "Priory Road")
_BROKERS: Final = [
    "Severnside Insurance Brokers",
    "Teme Valley Brokers",
    "Marches Risk Partners",
    "Cotswold Cover",
    "Wye Brokerage",
    "Abbey Risk",
    "Pargeter and Sons",
    "Three Counties Brokers",
    "Wrekin Insurance Services",
    "Clee Hill Brokers",
    "Beacon Commercial Insurance",
]
_LINES: Final = {"MOT": "motor", "HOM": "home", "TRA": "travel", "BUS": "commercial"}
_PRODUCTS: Final = (  # code, name, base premium, year of launch, covers
    ("MOT-TP", "Third Party Motor", 310, 2009, (1, 5)), ("MOT-COM", "Comprehensive Car", 520, 2009, (1, 2, 3, 4, 5, 6)),
    ("MOT-CLA", "Classic Car", 240, 2014, (1, 2, 3, 5)), ("MOT-VAN", "Van and Pickup", 690, 2011, (1, 2, 3, 4, 5)),
    ("HOM-BLD", "Buildings Only", 230, 2009, (7, 9, 10, 11)), ("HOM-CON", "Contents Only", 145, 2009, (8, 9, 12)),
    ("HOM-CMB", "Home Combined", 420, 2012, (7, 8, 9, 10, 11, 12)), ("HOM-LET", "Landlord", 410, 2016, (7, 9, 10, 11)),
    ("TRA-YR", "Annual Travel", 165, 2017, (13, 14, 15)), ("BUS-SHP", "Shop and Office", 880, 2010, (16, 7, 17, 18)),
    ("BUS-TRD", "Tradesman Liability", 460, 2013, (16, 17, 18)), ("BUS-FRM", "Farm", 1350, 2015, (16, 7, 17, 18)),
    ("HOM-HOL", "Holiday Cottage", 390, 2025, (7, 8, 9)),
)  # fmt: skip
_BOUGHT: Final = {"private": (0, 1, 1, 1, 2, 4, 5, 6, 6, 6, 7, 8, 8), "business": (3, 3, 7, 9, 9, 10, 10, 11)}
_COVERS: Final = (  # name, lowest and highest loss, causes
    ("Third party liability", 400, 18000, "collision"), ("Own vehicle damage", 350, 9000, "collision,vandalism,animal"),
    ("Fire and theft", 900, 15000, "theft,fire"), ("Windscreen", 90, 650, "glass damage"),
    ("Breakdown assistance", 60, 380, "breakdown"), ("Driver injury", 500, 9000, "collision"),
    ("Buildings", 400, 38000, "storm,storm,fire,subsidence"), ("Contents", 150, 8500, "theft,fire,accidental damage"),
    ("Escape of water", 400, 16000, "burst pipe"), ("Flood", 900, 60000, "flood"),
    ("Home emergency", 80, 700, "burst pipe,heating failure"), ("Garden and sheds", 120, 2600, "storm,vandalism"),
    ("Medical expenses", 60, 6000, "illness,injury"), ("Trip cancellation", 90, 1900, "illness,cancelled flight"),
    ("Lost baggage", 40, 900, "theft,lost luggage"), ("Public liability", 500, 28000, "injury,accidental damage"),
    ("Employers liability", 900, 35000, "injury"), ("Stock and equipment", 400, 14000, "theft,fire,flood"),
)  # fmt: skip
_CARS: Final = "Ford Fiesta,Ford Focus,Vauxhall Corsa,Vauxhall Astra,Nissan Leaf,Volkswagen Golf,Toyota Yaris"
_CLASSICS: Final = "MG Midget,Triumph Spitfire,Morris Minor,Jaguar Mark 2"
_VANS: Final = "Ford Transit,Vauxhall Vivaro,Toyota Hilux,Volkswagen Transporter"
_SUPPLIERS: Final = (  # trade, the covers it works for, firms
    ("body shop", (2, 3), "Dinmore Body Repairs,Ironbridge Autofix,Cathedral Coachworks,Bromyard Bodyworks"),
    ("glazier", (4,), "ClearView Glass,Marches Windscreens"), ("recovery", (5,), "Wyeside Recovery,Roadwatch Rescue"),
    ("builder", (7, 10), "Lacon Builders,Teme Restoration,Orleton Building Services"),
    ("plumber", (9, 11), "Pershore Plumbing,Drip Stop Plumbers,Hafren Heating"), ("roofer", (12,), "Clun Roofing"),
    ("solicitor", (1, 16, 17), "Beddoes and Hall,Mansell Legal"), ("loss assessor", (8, 18), "Bredon Adjusters"),
)  # fmt: skip


class _Insurer(Chance):
    """Chance with the rows it made, by table."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.tables: dict[str, list[Row]] = {}
        self.names = [f"{given} {surname}" for given in _GIVEN for surname in _SURNAMES]

    def add(self, table: str, *row: object) -> None:
        self.tables.setdefault(table, []).append(row)

    def new(self, table: str, first: int, *row: object) -> int:
        number = first + len(self.tables.get(table, ()))
        self.add(table, number, *row)
        return number

    def maybe(self, percent: int) -> bool:
        return self.between(1, 100) <= percent

    def money(self, low: float, high: float) -> float:
        return self.between(int(low * 4), int(high * 4)) / 4

    def name(self) -> str:
        return self.names.pop(self.between(0, len(self.names) - 1))

    def address(self) -> tuple[str, str, str]:
        town, area = self.pick(_TOWNS).split()
        postcode = f"{area} {self.between(1, 9)}{self.pick('ABDEFHJLN')}{self.pick('PQRSTUW')}"
        return f"{self.between(1, 140)} {self.pick(_STREETS)}", town, postcode

    def company(self) -> None:
        self.new("employees", 101, self.name(), "Managing Director", 1, None, date(2009, 1, 5), None, 118000)
        pays = {"Branch Manager": 52000, "Underwriter": 47000, "Claims Handler": 33000}
        for branch, (town, _) in enumerate(map(str.split, _TOWNS[:9]), 1):
            opened, shut, boss = self.day(date(2009, 6, 1), 4300), date(2023, 12, 29) if branch == 9 else None, 101
            title, phone = f"{town} {'Branch' if branch > 1 else 'Office'}", f"01{branch * 71 + 300} {branch * 104729}"
            self.add("branches", branch, title, town, None if shut else phone, opened, shut)
            jobs = ["Branch Manager", "Sales Agent", "Sales Agent", "Underwriter", "Service Clerk"] * (shut is None)
            for job in jobs + ["Claims Handler"] * {1: 5, 2: 1, 3: 1}.get(branch, 0):
                hired = opened if job == "Branch Manager" else self.day(opened, min(3000, (_TODAY - opened).days - 200))
                left = self.day(date(2024, 1, 1), 500) if job != "Branch Manager" and self.maybe(18) else None
                pay = pays.get(job, 28000) + 250 * self.between(0, 28)
                number = self.new("employees", 101, self.name(), job, branch, boss, hired, left, pay)
                boss = number if job == "Branch Manager" else boss
        for code, name, base, year, _ in _PRODUCTS:
            withdrawn = date(2024, 3, 31) if code == "HOM-CON" else None
            self.add("product", code, name, _LINES[code[:3]], base, date(year, self.between(1, 5), 1), withdrawn)
        for cover, (name, *_) in enumerate(_COVERS, 1):
            line = "motor" if cover < 7 else "home" if cover < 13 else "travel" if cover < 16 else "commercial"
            self.add("cover_types", cover, name, line, "yes" if cover in (1, 7, 13, 16, 17) else "no")
        for broker, firm in enumerate(_BROKERS, 1):
            status = {4: "ended", 9: "suspended", 10: "ended"}.get(broker, "active")
            until = self.day(date(2023, 6, 1), 500) if status == "ended" else None
            email = None if broker in (5, 9) else f"office@{firm.lower().replace(' ', '')}.example"
            self.add("broker", broker, firm, self.address()[1], email, self.day(date(2012, 1, 1), 3600), until, status)
            for number, (code, *_) in enumerate(_PRODUCTS[:12], 1):
                if number in (broker, broker + 1) or self.maybe(50):
                    self.add("broker_products", broker, code, self.between(12, 36) / 2)
        for trade, _, firms in _SUPPLIERS:
            for firm in firms.split(","):
                since = self.day(date(2013, 1, 1), 4200) if self.maybe(85) else None
                rating = self.between(4, 10) / 2 if self.maybe(80) else None
                self.new("suppliers", 1, firm, trade, self.address()[1], since, self.money(34, 98), rating)

    def customer(self) -> None:
        (first, last), address, since = self.name().split(), self.address(), self.day(date(2015, 1, 10), 3700)
        firm = f"{first[0]} {last} {self.pick(('Joinery', 'Bakery', 'Garage', 'Stores'))} Ltd" * self.maybe(22) or None
        birth = None if firm or self.maybe(5) else self.day(date(1941, 1, 1), 22000)
        email = f"{first}.{last}@mail.example".lower() if self.maybe(80) else None
        phone = f"07{self.between(700, 989)} {self.between(100000, 999999)}" if self.maybe(85) else None
        branch = next((b[0] for b in self.tables["branches"] if b[2] == address[1] and not b[5]), self.between(1, 8))
        row = (first, last, firm, birth, *address, email, phone, since, branch if self.maybe(93) else None)
        number = self.new("customers", 1001, kind := "business" if firm else "private", *row)
        for count in range(self.pick((1, 1, 1, 1, 1, 2, 2, 2, 3)) if self.maybe(94) else 0):
            start = self.day(since, 20 if count == 0 else (date(2025, 7, 20) - since).days)
            self.policy(number, self.pick(_BOUGHT[kind]), start, branch, address)

    def policy(self, owner: int, product: int, start: date, branch: int, home: tuple[str, str, str]) -> None:
        code, _, base, year, covers = _PRODUCTS[6 if product == 5 and start.year > 2023 else product]
        start = max(start, date(year, 6, 1))
        staff = [e for e in self.tables["employees"] if e[2] == "Sales Agent" and e[4] and e[5] <= start]
        agents = [e[0] for e in staff if e[3] == branch and (e[6] is None or e[6] > start)] or [None]
        brokers = [b[0] for b in self.tables["broker_products"] if b[1] == code]
        sold, days, end, reason = self.between(1, 100), (_TODAY - start).days, None, None
        status = "active" if days >= 0 else "pending"
        if days > 250 and self.maybe(27):
            end, status = self.day(start + timedelta(200), days - 210), self.pick(("cancelled", "lapsed"))
            reason = self.pick(("price", "price", "moved away", "item sold", None)) if status == "cancelled" else None
        premium, (interval, parts) = base * self.between(70, 190) // 100, self.pick((("yearly", 1), ("quarterly", 4)))
        number, step = f"{code[:3]}{100191 + 7 * len(self.tables.get('policy', ()))}", 365 // parts
        sellers = (self.pick(agents) if sold <= 50 else None, self.pick(brokers) if sold > 72 else None)
        self.add("policy", number, owner, code, *sellers, start, end, status, reason, premium, interval)
        taken = [cover for cover in covers if cover == covers[0] or self.maybe(55)]
        for cover in taken:
            insured = 1000 * self.between(_COVERS[cover - 1][2] // 800 + 1, _COVERS[cover - 1][2] // 150 + 3)
            excess, extra = self.pick((0, 50, 100, 150, 250, 250, 350, 500)), self.money(6, 58)
            self.add("policy_cover", number, cover, insured, excess, None if cover == covers[0] else extra)
        cars, houses = self.vehicles(number, code) or [None], self.houses(number, code, home) or [None]
        first, last = max(start, date(2021, 1, 1)), end or _TODAY
        for _ in range(self.pick((0, 0, 0, 0, 0, 1, 1, 1, 2, 3)) if first < last else 0):
            lost = self.day(first, (last - first).days)
            self.claim(owner, number, self.pick(taken), lost, self.pick(cars), self.pick(houses))
        for due in (start + timedelta(step * turn) for turn in range(45)):
            if date(2024, 1, 1) <= due <= min(date(2025, 7, 31), end or date(2026, 1, 1)):
                state = "open" if due > date(2025, 6, 10) else self.pick(("paid",) * 23 + ("overdue", "written off"))
                paid = due + timedelta(self.between(-6, 18)) if state == "paid" else None
                reminders = 0 if state == "open" else int(paid > due + timedelta(14)) if paid else self.between(1, 3)
                self.new("premium_invoice", 50001, number, due, premium / parts, paid, state, reminders)

    def vehicles(self, policy: str, code: str) -> list[int | None]:
        keys: list[int | None] = []
        for _ in range(self.pick((1, 1, 2, 3)) if code == "MOT-VAN" else int(code[:3] == "MOT")):
            models, old = {"MOT-CLA": _CLASSICS, "MOT-VAN": _VANS}.get(code, _CARS).split(","), code == "MOT-CLA"
            make, model = self.pick(models).split(" ", 1)
            year = self.between(1961, 1978) if old else self.between(2008, 2024)
            fuel = "electric" if model == "Leaf" else "petrol" if old else self.pick(("petrol", "diesel", "hybrid"))
            letters = "".join(self.pick("ABCDEFGHJKLMNPRSTVWXY") for _ in range(5))
            plate = f"{letters[:3]} {year * 7 % 1000}K" if old else f"{letters[:2]}{year % 100:02d} {letters[2:]}"
            value = 250 * self.between(10, 160 if old else 14 + 5 * (year - 2007))
            miles = None if self.maybe(12) else 100 * self.between(30, 55 if old else 240)
            keys.append(self.new("vehicle", 4001, policy, plate, make, model, fuel, year, value, miles))
        return keys

    def houses(self, policy: str, code: str, home: tuple[str, str, str]) -> list[int | None]:
        keys: list[int | None] = []
        kinds = "terraced,semi-detached,detached,flat,cottage" if code[:3] == "HOM" else ""
        kinds = {"BUS-SHP": "shop,office", "BUS-FRM": "farmhouse,barn"}.get(code, kinds)
        for place in range(self.pick({"HOM-LET": (1, 2, 3), "BUS-FRM": (2, 3)}.get(code, (1,))) if kinds else 0):
            address = self.address() if place or code == "HOM-LET" else home
            year, area = None if self.maybe(9) else self.between(1790, 2022), self.between(42, 310)
            row = (self.pick(("low", "low", "low", "medium", "medium", "high")), area * 25 * self.between(64, 110))
            keys.append(self.new("properties", 7001, policy, *address, self.pick(kinds.split(",")), year, area, *row))
        return keys

    def claim(self, owner: int, policy: str, cover: int, lost: date, car: int | None, house: int | None) -> None:
        _, low, high, causes = _COVERS[cover - 1]
        reported = min(self.day(lost, 4 if self.maybe(70) else 45), _TODAY)
        closed, status = self.day(reported, 190), self.pick(("settled",) * 8 + ("rejected", "rejected", "withdrawn"))
        done, end = closed if closed <= _TODAY else None, min(closed, _TODAY)
        status = status if done else self.pick(("open", "under review"))
        staff = [e for e in self.tables["employees"] if e[2][:6] == "Claims" and e[5] < reported < (e[6] or date.max)]
        handler = None if status == "open" and self.maybe(40) else self.pick(staff)[0]
        loss = self.money(low, low + (high - low) * self.pick((0.04, 0.08, 0.15, 0.5)))
        estimate, cause = None if status == "open" and self.maybe(35) else loss, self.pick(causes.split(","))
        claim = (policy, cover, car, house, handler, lost, reported, done, cause, status, estimate)
        parts = {"settled": self.pick((1, 1, 1, 2, 3)), "under review": int(self.maybe(35))}.get(status, 0)
        trades = [trade for trade, covers, _ in _SUPPLIERS if cover in covers]
        number, firms = self.new("claims", 30001, *claim), [s[0] for s in self.tables["suppliers"] if s[2] in trades]
        for part in range(parts):
            amount = self.money(loss * 0.7 / parts, loss * 1.05 / parts)
            paid = self.day(reported, (end - reported).days) if part else end
            payee = self.pick(("policyholder", "policyholder", "third party") + ("supplier",) * 3 * bool(firms))
            firm, method = self.pick(firms) if payee == "supplier" else None, self.pick(("bank transfer", "cheque"))
            self.new("claim_payments", 80001, number, paid, amount, payee, firm, method)
        if self.maybe(24 if status == "rejected" else 15):
            about = "delay" if not done else "claim decision" if status == "rejected" else "payout amount"
            topic = self.pick((about, about, "staff conduct", "premium increase"))
            received, channel = self.day(reported, (_TODAY - reported).days), self.pick(("phone", "email", "letter"))
            solved, outcome = self.day(received, 70), self.pick(("upheld", "partly upheld", "not upheld", "not upheld"))
            amends = None if outcome == "not upheld" or self.maybe(25) else 25 * self.between(1, 14)
            row = (received, channel, topic, *((solved, outcome, amends) if solved <= _TODAY else (None, None, None)))
            self.new("complaints", 901, owner, number if topic != "premium increase" else None, *row)


def write_insurer(file: Path) -> None:
    """The insurer, as it stood on 30 June 2025."""
    insurer = _Insurer(4711)
    insurer.company()
    for _ in range(320):
        insurer.customer()
    write(file, HERE / "insurer.sql", insurer.tables)
