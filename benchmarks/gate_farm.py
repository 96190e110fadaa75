"""A database of `gate.py` that no rule was made for: an agronomy company's four sites, as its own team grew it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_END: Final = date(2024, 11, 30)
_MARCH: Final = 1709251200  # 2024-03-01 00:00 UTC
_SITES: Final = ("Oakridge", "Brookend", "Marlow Fen", "Highcote")
_HEADS: Final = ("Upper", "Lower", "Far", "Mill", "Church", "Stony")
_TAILS: Final = ("Acre", "Bottom", "Piece", "Ley", "Croft", "Meadow")
# crop: tonnes per hectare, price per tonne (0: never sold as grain), month of sowing, month of harvest, cultivars
_CROPS: Final = {
    "winter wheat": (8.5, 205, 10, 8, ("Skyfall", "Extase", "Graham")),
    "spring barley": (6.5, 185, 3, 8, ("Planet", "Laureate")),
    "oilseed rape": (3.5, 430, 8, 7, ("Aurelia", "Campus")),
    "field beans": (4.0, 240, 3, 9, ("Lynx", "Tundra")),
    "maize": (10.0, 190, 5, 10, ("Pinnacle", "Saludo")),
    "sugar beet": (70.0, 0, 4, 11, ("Kortessa", "Button")),
}
# type, make, callsign, year of purchase, fuel, power in kW, telematics; empty: nobody entered it
_MACHINES: Final = (
    *("tractor/Fendt/Big Bertha/2019/diesel/243/yes", "tractor/John Deere/Old Green/2012/diesel/92/"),
    *("tractor/Fendt/Thunder/2021/hvo/176/no", "tractor/Claas/Pickle/2016/diesel/118/no"),
    *("tractor/Case IH/Red Baron/2018/diesel/136/", "tractor/New Holland/Blue Moon/2023/methane/129/yes"),
    *("tractor/Fendt/Sparky/2023/electric/55/yes", "tractor/John Deere/Goliath/2022/diesel/301/yes"),
    *("combine/Claas/Hungry Joe/2017/diesel/230/no", "combine/New Holland/Duchess/2020/diesel/290/yes"),
    *("combine/John Deere/Dusty/2014/diesel/202/", "sprayer/Bateman/Spider/2018/diesel/129/yes"),
    *("sprayer/Horsch/Dragonfly/2021/hvo/161/yes", "sprayer/Amazone/Drizzle/2015///no"),
    *("drill/Vaderstad/Woodpecker/2019///", "drill/Horsch/Needle/2022///yes", "quad/Honda/Flea/2020/petrol/26/no"),
    *("quad/Polaris/Cricket/2023/electric/22/",),
)
# trade name, active ingredient, class, unit, maximum dose, price
_PRODUCTS: Final = (
    *("Grassout/pinoxaden/herbicide/l/1.5/34.5", "Broadclear/fluroxypyr/herbicide/l/2.0/18.0"),
    *("Cropguard Plus/prothioconazole/fungicide/l/1.25/46.5", "Bravolith/chlorothalonil/fungicide/l/3.0/9.5"),
    *("Rustaway/tebuconazole/fungicide/l/1.0/21.0", "Spectra/azoxystrobin/fungicide/l/0.75/52.0"),
    *("Aphistop/flonicamid/insecticide/kg/0.5/148.0", "Weevilex/lambda-cyhalothrin/insecticide/l/0.75/27.5"),
    *("Cyperkill/cypermethrin/insecticide/l/1.0/11.0", "Nitram 34/ammonium nitrate/fertiliser/kg/250.0/0.5"),
    *("Polysul/polyhalite/fertiliser/kg/180.0/0.25", "Shortstraw/chlormequat/growth regulator/l/2.25/4.5"),
    *("Clearfallow/glyphosate/herbicide/l/4.0/7.5", "Bloomset/boron/fertiliser/l/3.0/6.5"),
)
_NAMES: Final = (
    *("Margaret Thorne", "Stephen Ashby", "Ewa Lindqvist", "Colin Mabey", "Rosalind Pike", "Arthur Nkemelu"),
    *("Bronwyn Hale", "Cezary Wilk", "Dilys Morgan", "Edmund Farrow", "Freya Stubbs", "Gareth Loomis"),
    *("Hester Quayle", "Ivo Brankov", "Jemima Sallow", "Kieran Oduya", "Lorna Tweed", "Matteo Riva"),
    *("Nell Harker", "Owen Prosser", "Paula Reyes", "Ralph Dunmore", "Sorina Balan", "Tobias Crake"),
)
_JOBS: Final = ("sprayer operator", "tractor driver", "agronomist", "field hand", "mechanic")
_TASKS: Final = ("crop scouting", "ditch clearing", "fence repair", "hedge cutting", "stone picking", "pipe laying")
_BUYERS: Final = (
    *("Harrow Mills/mill/United Kingdom", "Van Deelen Granen/exporter/Netherlands"),
    *("Tyne Maltings/maltster/United Kingdom", "Moulins Sarre/mill/France"),
    *("Eastern Feeds/feed merchant/United Kingdom", "Castlebar Agri/feed merchant/Ireland"),
    *("Greenway Co-op/co-operative/United Kingdom", "Oelhof Bremen/crusher/Germany"),
    *("Stourbank Flour/mill/United Kingdom", "Loire Export/exporter/France"),
    *("Heather Distillers/maltster/United Kingdom",),
)


def write_farm(file: Path) -> None:
    """The agronomy company, by seeded chance."""
    chance = Chance(71)
    tables = _land(chance) | _probes(chance) | _machinery(chance) | _people(chance) | _weather(chance) | _trade(chance)
    write(file, HERE / "farm.sql", tables)


def _step(value: float) -> float:
    """To a quarter: sums of such numbers are exact in every engine."""
    return round(value * 4) / 4


def _land(chance: Chance) -> dict[str, Sequence[Row]]:
    """A field may lie fallow or its crop fail; a contractor lifts the beet; every fifth field has no water."""
    soils = ("clay loam", "loam", "sandy loam", "silt loam", "clay")
    tenures = ("owned", "owned", "leased", "leased", "share-farmed")
    names = [f"{_HEADS[n % 6]} {_TAILS[(n + n // 6) % 6]}" for n in range(1, 37)]
    fields: list[Row] = [
        (n, name, chance.pick(_SITES), chance.between(13, 170) / 4, chance.pick(soils), chance.pick(tenures))
        for n, name in enumerate(names, 1)
    ]
    rotation: list[Row] = []
    harvests: list[Row] = []
    for n in range(36 * 4):
        field, season, crop = fields[n // 4], 2021 + n % 4, chance.pick(("winter wheat", "winter wheat", *_CROPS))
        tonnes, _, sowing, ripe, cultivars = _CROPS[crop]
        sown = date(season - (sowing > 7), sowing, chance.between(1, 28))
        if chance.between(0, 13) == 0:
            continue
        rotation.append((len(rotation) + 1, field[0], season, crop, chance.pick(cultivars), sown))
        total = tonnes * field[3] * chance.between(75, 125) / 100
        for part in chance.pick(((1.0,), (1.0,), (1.0,), (0.7, 0.3), (0.6, 0.4), ())):
            day, moist = date(season, ripe, chance.between(1, 28)), chance.between(48, 80) / 4
            machine = None if crop == "sugar beet" else f"C-{chance.pick((9, 9, 10, 11)):02}"
            harvests.append((len(harvests) + 1, field[0], season, day, _step(total * part), moist, machine))
    runs: list[Row] = []
    days = sorted(chance.pick((chance.between(-300, -170), *[chance.between(40, 200)] * 2)) for _ in range(198))
    for n, since in enumerate((*days, 274, 274), 1):
        start = _MARCH + since * 86400 + chance.between(0, 1439) * 60
        source = chance.pick(("borehole", "borehole", "river", "reservoir"))
        end = start + chance.between(8, 60) * 900 if n < 199 else None
        water = _step((end - start) / 3600 * chance.between(28, 42) * (1 + (source == "river"))) if end else None
        runs.append((n, 5 * chance.between(0, 6) + chance.between(1, 4), start, end, water, source))
    tables: dict[str, Sequence[Row]] = {"field": fields, "rotation": rotation, "harvests": harvests}
    return tables | {"irrigation_events": runs, "soil_samples": _samples(chance)} | _sprays(chance, fields)


def _samples(chance: Chance) -> list[Row]:
    """None of the 17th and the 30th field; the lab did not always burn off the organic matter."""
    rows: list[Row] = []
    for n, day in enumerate(sorted(chance.day(date(2020, 9, 1), 1520) for _ in range(120)), 5001):
        field = chance.pick([f for f in range(1, 37) if f not in (17, 30)])
        organic = chance.between(6, 22) / 4 if chance.between(0, 4) else None
        ph, phosphorus, potassium = chance.between(21, 31) / 4, chance.between(8, 60), chance.between(60, 320)
        rows.append((n, field, day, ph, phosphorus, potassium, organic))
    return rows


def _sprays(chance: Chance, fields: Sequence[Row]) -> dict[str, Sequence[Row]]:
    """Two products were given up after 2023, one is new in 2024; the 36th field is farmed without any."""
    texts = [product.split("/") for product in _PRODUCTS]
    products: list[Row] = [(n, *text[:4], float(text[4]), float(text[5])) for n, text in enumerate(texts, 1)]
    rows: list[Row] = []
    for n in range(1, 341):
        day, field = chance.day(date(2022, 2, 10), 960), chance.pick(fields[:35])
        no, *_, most, _ = chance.pick([p for p in products if p[0] not in ((4, 9) if day.year > 2023 else (6,))])
        dose = max(0.25, min(most, _step(most * chance.between(50, 120) / 100)))
        dose += max(0.25, most // 9) if chance.between(0, 24) == 0 else 0
        area = field[3] if chance.between(0, 2) else _step(field[3] * chance.between(30, 90) / 100)
        rows.append((n, field[0], no, day, dose, area, chance.pick((6, 7, 9, 11, 14, 16, 19, 21))))
    return {"products": products, "treatments": rows}


def _probes(chance: Chance) -> dict[str, Sequence[Row]]:
    """Readings from March 2024 on; every sixth sensor fell silent in August, and two never sent a thing."""
    sensors: list[Row] = []
    readings: list[Row] = []
    ranges = {"soil_moist_pct": (40, 160), "soil_temp_c": (16, 100), "batt_v": (12, 17)}
    for n in range(28):
        pulled = chance.day(date(2024, 6, 10), 170) if chance.between(0, 4) == 0 else None
        depth, installed = chance.pick((15, 30, 60)), chance.day(date(2021, 3, 1), 1090)
        sensors.append((f"SM-{101 + n}", chance.between(1, 36), depth, installed, pulled))
        days = min(((pulled or _END) - date(2024, 3, 1)).days, 160 if n % 6 == 0 else 274)
        for _ in range(chance.between(10, 18) if n not in (7, 19) else 0):
            metric = chance.pick(("soil_moist_pct", "soil_moist_pct", *ranges))
            moment = _MARCH + chance.between(0, days * 86400 - 1)
            readings.append((f"SM-{101 + n}", metric, chance.between(*ranges[metric]) / 4, moment))
    return {"sensors": sensors, "readings": sorted(readings, key=lambda row: (row[3], row[0]))}


def _machinery(chance: Chance) -> dict[str, Sequence[Row]]:
    equipment: list[Row] = []
    attributes: list[Row] = []
    for n, machine in enumerate(_MACHINES, 1):
        kind, make, callsign, year, fuel, power, telematics = machine.split("/")
        code = f"{kind[0].upper()}-{n:02}"
        equipment.append((code, kind, make, callsign, chance.day(date(int(year), 1, 8), 350), chance.pick(_SITES)))
        pairs = {"fuel_type": fuel, "engine_kw": power, "telematics": telematics}
        pairs["last_service"] = chance.day(date(2023, 11, 1), 380).isoformat()
        if kind == "sprayer":
            pairs |= {"tank_l": chance.pick(("3000", "4000", "5000")), "boom_m": chance.pick(("24", "30", "36"))}
        attributes += [(code, name, value) for name, value in pairs.items() if value]
    return {"equipment": equipment, "equip_attr": attributes}


def _people(chance: Chance) -> dict[str, Sequence[Row]]:
    """A director, four site managers and their people; some orders concern no field, some nobody took."""
    workers: list[Row] = [(1, _NAMES[0], "director", None, "Oakridge", date(2006, 5, 2), None, 42.5)]
    for n, name in enumerate(_NAMES[1:], 2):
        boss, job = (1, "site manager") if n < 6 else (chance.between(2, 5), _JOBS[(n * 3) % 5])
        hired, pay = chance.day(date(2008, 1, 7), 5000), chance.between(54, 90) / 4 + (12 if n < 6 else 0)
        left = chance.day(date(2023, 1, 1), 600) if n in (10, 17, 20, 24) else None
        workers.append((n, name, job, boss, _SITES[(n if n < 6 else boss) - 2], hired, left, pay))
    orders: list[Row] = []
    for n, raised in enumerate(sorted(chance.day(date(2023, 3, 1), 638) for _ in range(230)), 1):
        recent = ("open", "open", "in_prog", "on_hold", "void", "done")
        status = chance.pick(recent if raised > date(2024, 8, 15) else (*["done"] * 11, "void", "on_hold", "open"))
        due = raised + timedelta(days=chance.between(3, 45))
        closed = min(raised + timedelta(days=chance.between(0, 55)), _END) if status == "done" else None
        started = status in ("done", "in_prog")
        worker = chance.between(6, 24) if started or chance.between(0, 2) else None
        field, hours = chance.between(1, 36) if chance.between(0, 7) else None, chance.between(2, 70) / 4
        orders.append((n, field, chance.pick(_TASKS), worker, status, raised, due, closed, hours if started else None))
    return {"workers": workers, "work_orders": orders}


def _weather(chance: Chance) -> dict[str, Sequence[Row]]:
    rows: list[Row] = []
    for n in range(99 * 4):
        low = chance.between(-8, 26) / 4 + n / 40 - n % 4
        high = low + chance.between(24, 56) / 4
        rain = chance.between(1, 70) / 4 if chance.between(0, 9) > 5 + n % 4 // 2 else 0
        day = date(2024, 4, 1) + timedelta(days=n // 4)
        rows.append((_SITES[n % 4], day.isoformat(), _step(low), _step(high), rain, _step(high / 6)))
    return {"weather_daily": rows}


def _trade(chance: Chance) -> dict[str, Sequence[Row]]:
    """The last buyer never bought; two more bought nothing of the latest harvest."""
    rows: list[Row] = []
    for n in range(1, 161):
        crop, year = chance.pick(list(_CROPS)[:5]), chance.pick((2021, 2022, 2023, 2024))
        sold = chance.day(date(year, 9, 1), 85 if year == 2024 else 240)
        buyer = chance.pick([b for b in range(1, 11) if year < 2024 or b not in (4, 6)])
        price = _CROPS[crop][1] + chance.between(-60, 60) / 2 + (30 if year == 2022 else 0)
        paid = sold + timedelta(days=chance.between(7, 60))
        settled = paid if chance.between(0, 8) and paid <= _END else None
        rows.append((n, buyer, crop, year, sold, chance.between(20, 240) / 2, price, settled))
    return {"buyers": [(n, *buyer.split("/")) for n, buyer in enumerate(_BUYERS, 1)], "grain_sales": rows}
