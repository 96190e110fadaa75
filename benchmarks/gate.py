"""Questions unlike Spider's, which an adapter must not be worse on: a dataset in Spider's form, and its figures.

    python benchmarks/gate.py build --data ../shared/spider --out runs/gate
    sqljury bench spider --data runs/gate --split dev --recipe fast --out runs/gate_fast [--engine postgresql]
    python benchmarks/gate.py report runs/gate_fast [OTHER_RUN ...]

The database of a question names its source: ``fitness`` (12 tables without keys, flags and times in several forms),
``library`` (four CSV files, read as the product reads a folder), ``shop`` (the example database's own questions),
``freight`` and ``clinic`` (15 and 14 tables without keys, ``gate_data.py``), ``utility`` (16 tables without keys, short
names and codes, ``gate_utility.py``), ``booking`` (15 tables without keys, an object mapper's names,
``gate_booking.py``), ``warehouse`` (15 tables without keys, a star schema, ``gate_warehouse.py``), ``helpdesk`` (15
tables without keys, a web framework's names, ``gate_helpdesk.py``), ``farm`` (16 tables without keys, Unix times,
attributes as rows, ``gate_farm.py``), ``personnel`` (16 tables without keys, histories, ``gate_personnel.py``),
``festival`` and ``insurer`` (16 tables without keys each, ``gate_festival.py``, ``gate_insurer.py``), and ``words`` for
all others (questions of Spider's train split in other words, by ``gate/synonyms.tsv``).
``build`` fails where a gold query finds nothing; ``--databases`` limits ``words``, for an adapter that was trained on
the others.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from gate_booking import write_booking
from gate_data import Chance, insert, write_clinic, write_freight
from gate_farm import write_farm
from gate_festival import write_festival
from gate_helpdesk import write_helpdesk
from gate_insurer import write_insurer
from gate_personnel import write_personnel
from gate_utility import write_utility
from gate_warehouse import write_warehouse

from sqljury import connect
from sqljury.datasets.spider import Example, load
from sqljury.errors import DatasetError
from sqljury.evaluation.report import Share
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.schema.introspect import introspect

ROOT: Final = Path(__file__).resolve().parents[1]
HERE: Final = Path(__file__).with_suffix("")
SOURCES: Final = (
    "fitness",
    "library",
    "shop",
    "freight",
    "clinic",
    "utility",
    "booking",
    "warehouse",
    "helpdesk",
    "farm",
    "personnel",
    "festival",
    "insurer",
    "words",
)
WORDS: Final = 100
LEAST: Final = 2
"""Words of a question that must change for it to count as said in other words."""

_FIRST: Final = (
    "Ada",
    "Bo",
    "Carl",
    "Dina",
    "Eva",
    "Finn",
    "Gro",
    "Hans",
    "Ida",
    "Jon",
    "Kari",
    "Leif",
    "Mona",
    "Nils",
)
_LAST: Final = ("Aas", "Berg", "Dahl", "Eide", "Foss", "Haug", "Lie", "Moen", "Nes", "Ruud", "Solberg", "Vik")
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_QUOTED: Final = re.compile(r"""(\B'[^']*'\B|"[^"]*")""")

Row = tuple[Any, ...]


def main() -> None:
    """Build the dataset, or report runs on it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    build_ = commands.add_parser("build")
    build_.add_argument("--data", type=Path, default=Path("../shared/spider"), help="Spider's folder")
    build_.add_argument("--out", type=Path, required=True)
    build_.add_argument("--databases", nargs="+", metavar="DB_ID", help="the databases that `words` may use")
    build_.add_argument("--seed", type=int, default=0)
    report_ = commands.add_parser("report")
    report_.add_argument("runs", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "report":
        report(options.runs)
    else:
        build(options.data, options.out, options.databases, options.seed)


def build(data: Path, out: Path, databases: Sequence[str] | None, seed: int) -> None:
    """Write ``dev.json`` and ``database/`` into ``out``."""
    folder = out / "database"
    for name, write in WRITERS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        file = folder / name / f"{name}.sqlite"
        file.unlink(missing_ok=True)
        write(file)
    entries = [json.loads(line) for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    shop = (ROOT / "examples/shop/questions.jsonl").read_text(encoding="utf-8").splitlines()
    entries += [{"db_id": "shop", "gold": line["sql"], **line} for line in map(json.loads, shop)]
    for example, question in reworded(data, databases, seed):
        target = folder / example.db_id / f"{example.db_id}.sqlite"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(example.database, target)
        entries.append({"db_id": example.db_id, "question": question, "gold": example.gold_sql})
    verify(entries, folder)
    listed = [{"db_id": one["db_id"], "question": one["question"], "query": one["gold"]} for one in entries]
    (out / "dev.json").write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_tables(folder, out / "tables.json")
    print(f"{len(entries)} questions on {len({one['db_id'] for one in entries})} databases in {out}")


def write_fitness(file: Path) -> None:
    """The fitness clubs, by seeded chance; Python promises the same ``random()`` on every version."""
    chance = Chance(7)
    cities = [
        ("BGO", "Bergen", "West"),
        ("OSL", "Oslo", "East"),
        ("TRD", "Trondheim", "Middle"),
        ("STV", "Stavanger", "West"),
    ]
    names = ("Fjellhall", "Harbour Gym", "Northside", "The Loft", "Old Mill", "Arena", "Riverbank", "Parkhuset")
    clubs = [
        (
            n,
            name,
            chance.pick(cities)[0],
            f"{2004 + 2 * n}{chance.between(1, 12):02}{chance.between(1, 28):02}",
            400 + 90 * n,
        )
        for n, name in enumerate(names, 1)
    ]
    people = [f"{first} {last}" for first in _FIRST for last in _LAST]
    start = datetime(2021, 1, 4, 8, tzinfo=UTC)
    members = [
        (
            *(100 + n, "Nora Lindqvist" if n == 3 else people[n * 7 % len(people)]),
            (date(1955, 1, 1) + timedelta(days=chance.between(0, 17000))).isoformat(),
            *(chance.between(1, 8), int((start + timedelta(hours=chance.between(0, 34000))).timestamp())),
            *(
                "Y" if chance.between(0, 9) > 2 else "N",
                100 + chance.pick((3, 3, 9, 12, 40)) if n > 50 and n % 3 else None,
            ),
        )
        for n in range(1, 161)
    ]
    plans = [("B", "Basic", 2990, 0), ("S", "Silver", 4490, 8), ("G", "Gold", 6990, None), ("ST", "Student", 2490, 4)]
    subscriptions: list[Row] = []
    payments: list[Row] = []
    for n in range(1, 231):
        began = date(2022, 1, 1) + timedelta(days=chance.between(0, 900))
        status = chance.pick(("active", "active", "active", "cancelled", "cancelled", "paused"))
        ended = (began + timedelta(days=chance.between(60, 400))).isoformat() if status == "cancelled" else None
        plan = chance.pick(plans)
        subscriptions.append(
            (n, 100 + (n if n <= 160 else chance.between(1, 160)), plan[0], began.isoformat(), ended, status)
        )
        for month in range(chance.between(0, 5)):
            paid = (began + timedelta(days=30 * month)).isoformat()
            method = chance.pick(("card", "card", "debit", "invoice"))
            payments.append((len(payments) + 1, n, plan[2], paid, method, int(chance.between(0, 19) == 0)))
    trainers = [
        (
            n,
            people[(n * 31 + 5) % len(people)],
            chance.between(1, 8),
            24 + chance.between(0, 30) / 2,
            chance.between(0, 1),
        )
        for n in range(1, 19)
    ]
    titles = (
        "Spin Basics",
        "Morning Yoga",
        "Power Yoga",
        "Boxing",
        "Core 30",
        "Dance",
        "Pilates",
        "Circuit",
        "Stretch",
    )
    classes = [
        (
            *(500 + n, titles[n % 9] if n < 9 else f"{titles[n % 9]} {n // 9 + 1}", chance.between(1, 18)),
            *(_DAYS[n % 7], chance.between(8, 30), chance.pick(("beginner", "all", "advanced"))),
        )
        for n in range(27)
    ]
    bookings = [
        (
            *(n, 100 + chance.between(1, 140), 500 + chance.between(0, 26) * chance.between(0, 1)),
            (date(2024, 1, 1) + timedelta(days=chance.between(0, 360))).isoformat(),
            chance.pick((1, 1, 1, 0, None)),
        )
        for n in range(1, 901)
    ]
    kinds = ("treadmill", "rower", "bike", "bench")
    equipment = [
        (
            n,
            chance.between(1, 8),
            chance.pick(kinds),
            f"20{chance.between(15, 24)}0{chance.between(1, 9)}15",
            900.0 + 10 * n,
            int(chance.between(0, 6) == 0),
        )
        for n in range(1, 91)
    ]
    visits = [
        (
            *(n, 100 + chance.between(1, 160), chance.between(1, 8)),
            int((datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.between(0, 500000))).timestamp()) * 1000,
            chance.between(15, 140),
        )
        for n in range(1, 1201)
    ]
    topics = ("cleanliness", "noise", "billing", "crowding")
    complaints = [
        (
            n,
            100 + chance.between(1, 160),
            chance.between(1, 7),
            chance.pick(topics),
            f"2024-0{chance.between(1, 9)}-1{chance.between(0, 9)}",
            chance.pick(("2024-11-02", "2024-12-20", None)),
        )
        for n in range(1, 61)
    ]
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((HERE / "fitness.sql").read_text(encoding="utf-8"))
        tables: dict[str, Sequence[Row]] = {
            "cities": cities,
            "clubs": clubs,
            "members": members,
            "plans": plans,
            "subscriptions": subscriptions,
            "trainers": trainers,
            "classes": classes,
            "bookings": bookings,
            "payments": payments,
            "equipment": equipment,
            "visits": visits,
            "complaints": complaints,
        }
        for table, rows in tables.items():
            insert(connection, table, rows)
        connection.commit()


def write_library(file: Path) -> None:
    """Four CSV files of a library, and the database that the product makes of their folder."""
    chance = Chance(11)
    authors = [f"{first} {last}" for first, last in zip(_FIRST, _LAST, strict=False)]
    words = ("Salt", "Iron", "Winter", "Harbour", "Glass", "Stone", "River", "Night", "Garden", "Paper")
    titles = ["Salt and Iron"] + [f"{a} and {b}" for a in words for b in words if a < b and (a, b) != ("Iron", "Salt")]
    books = [
        (
            f"978-{n:05}",
            title,
            chance.pick(authors),
            chance.between(1950, 2024),
            chance.pick(("adults", "adults", "children")),
        )
        for n, title in enumerate(titles, 1)
    ]
    towns = ("Ostby", "Vestby", "Nordby", "Sund")
    readers = [
        (f"R{n:04}", f"{chance.pick(_FIRST)} {chance.pick(_LAST)} {n}", chance.pick(towns)) for n in range(1, 61)
    ]
    branches = [(1, "Main"), (2, "Harbour"), (3, "School"), (4, "Hill")]
    loans = []
    for n in range(1, 301):
        lent = date(2024, 1, 1) + timedelta(days=chance.between(0, 330))
        back = (lent + timedelta(days=chance.between(3, 60))).isoformat() if chance.between(0, 6) else ""
        fine = chance.between(1, 40) / 4 if back and chance.between(0, 3) == 0 else 0
        book = chance.pick(books[:40])
        loans.append(
            (n, book[0], chance.pick(readers[:50])[0], chance.pick((1, 1, 2, 2, 2, 3, 4)), lent.isoformat(), back, fine)
        )
    tables: dict[str, tuple[Row, Sequence[Row]]] = {
        "books": (("isbn", "title", "author", "year", "audience"), books),
        "readers": (("card", "reader", "town"), readers),
        "branches": (("branch_no", "branch"), branches),
        "loans": (("loan_no", "isbn", "card", "branch_no", "lent", "returned", "fine"), loans),
    }
    with TemporaryDirectory() as folder, closing(sqlite3.connect(file)) as connection:
        for name, (header, rows) in tables.items():
            with (Path(folder) / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows([header, *rows])
        with connect(folder) as db:
            for table in introspect(db).tables:
                result = db.execute(f'SELECT * FROM "{table.name}"')
                columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
                connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
                insert(connection, table.name, [tuple(map(_stored, row)) for row in result.rows])
        connection.commit()


def write_shop(file: Path) -> None:
    """The example database."""
    subprocess.run([sys.executable, str(ROOT / "examples/shop/build.py"), str(file)], check=True)


def _stored(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, str | int | float | bytes) else str(cell)


def verify(entries: Iterable[dict[str, Any]], folder: Path) -> None:
    """Raise ``SystemExit`` with the questions whose gold query fails or finds nothing."""
    wrong = []
    for entry in entries:
        with connect(folder / entry["db_id"] / f"{entry['db_id']}.sqlite") as db:
            result = db.execute(entry["gold"])
        if result.error or not any(cell not in (None, 0) for row in result.rows for cell in row):
            wrong.append(f"{entry['db_id']}: {entry['question']}: {result.error or 'finds nothing'}")
    if wrong:
        raise SystemExit("\n".join(wrong))


WRITERS: Final[dict[str, Callable[[Path], None]]] = {
    "fitness": write_fitness,
    "library": write_library,
    "shop": write_shop,
    "freight": write_freight,
    "clinic": write_clinic,
    "utility": write_utility,
    "booking": write_booking,
    "warehouse": write_warehouse,
    "helpdesk": write_helpdesk,
    "farm": write_farm,
    "personnel": write_personnel,
    "festival": write_festival,
    "insurer": write_insurer,
}


def write_tables(folder: Path, file: Path) -> None:
    """Spider's ``tables.json`` has nothing that a run reads; its names are enough for the evaluation."""
    names = [{"db_id": path.name, "table_names_original": [], "column_names_original": []} for path in folder.iterdir()]
    file.write_text(json.dumps(names) + "\n", encoding="utf-8")


def reworded(data: Path, databases: Sequence[str] | None, seed: int) -> Iterable[tuple[Example, str]]:
    """Questions of Spider's train split in other words, at most ``WORDS``, at most three of a database."""
    pairs = [line.split("\t") for line in (HERE / "synonyms.tsv").read_text(encoding="utf-8").splitlines()]
    other = dict(pairs)
    pattern = re.compile(rf"\b({'|'.join(sorted(map(re.escape, other), key=len, reverse=True))})\b", re.IGNORECASE)
    examples = [one for one in load(data, "train") if not databases or one.db_id in databases]
    random.Random(seed).shuffle(examples)
    taken: dict[str, int] = {}
    for example in examples:
        changed: list[str] = []

        def put(match: re.Match[str], changed: list[str] = changed) -> str:
            changed.append(match[0])
            word = other[match[0].lower()]
            return word.capitalize() if match[0][0].isupper() else word

        parts = _QUOTED.split(example.question.text)  # what is quoted is a value, and stays
        question = "".join(part if number % 2 else pattern.sub(put, part) for number, part in enumerate(parts))
        most = 3 if not databases else WORDS // len(databases) + 1
        if len(changed) < LEAST or taken.get(example.db_id, 0) >= most or not _found(example):
            continue
        taken[example.db_id] = taken.get(example.db_id, 0) + 1
        yield example, question
        if sum(taken.values()) == WORDS:
            return


def _found(example: Example) -> bool:
    with connect(example.database) as db:
        try:
            return any(cell not in (None, 0) for row in run_gold(db, example.gold_sql).rows for cell in row)
        except DatasetError:
            return False


def report(runs: Sequence[Path]) -> None:
    """Print EX by source for each run, and for every later run what changed against the first."""
    first: dict[str, bool] = {}
    for run in runs:
        right = verdicts(run)
        for source in (*SOURCES, "all"):
            mine = [key for key in right if source in ("all", source_of(key))]
            if not mine:
                continue
            share = Share(sum(right[key] for key in mine), len(mine))
            low, high = share.interval()
            line = f"{run.name:24s} {source:8s} {share.right}/{share.total} = {share.percent:.1f} %"
            line += f" ({low:.0f} - {high:.0f})"
            shared = [key for key in mine if key in first]
            if shared:
                better = sum(right[key] and not first[key] for key in shared)
                worse = sum(first[key] and not right[key] for key in shared)
                line += f"; against {runs[0].name}: {better} better, {worse} worse"
            print(line)
        first = first or right


def source_of(key: str) -> str:
    """The source of a question, by its database."""
    db_id = key.partition("\t")[0]
    return db_id if db_id in SOURCES else "words"


def verdicts(run: Path) -> dict[str, bool]:
    """Whether each answer of a run is right, by database and question."""
    settings = json.loads((run / "run.json").read_text(encoding="utf-8"))
    folder = Path(settings["dataset"]["data"]) / "database"
    right = {}
    for line in (run / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        key = f"{answer['db_id']}\t{answer['question']}"
        with connect(folder / answer["db_id"] / f"{answer['db_id']}.sqlite") as db:
            gold = run_gold(db, answer["gold"])
            predicted = db.execute(EX.prepare(answer["sql"])) if answer["sql"] else None
        right[key] = predicted is not None and judge(gold, predicted, EX.ordered(answer["gold"])).correct
    return right


if __name__ == "__main__":
    main()
