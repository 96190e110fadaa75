"""The value index against MinHash-LSH as CHESS (Talaei et al. 2024) builds it: time, memory, typos, meanings.

pip install -e '.[embed]' -r benchmarks/requirements.txt
python benchmarks/value_index.py [--databases ../shared/spider/database] [--only typos|large|meanings]

Real surnames come from the package names-dataset. Each index is built in a process of its own: seconds of the build
alone, and by how much the process grew at its peak beyond what it was with libraries and input loaded. Ours reads
from an SQLite file; the baseline is given a list. Typos: a random substitution, insertion, deletion or swap at a
random place. All draws are seeded.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import random
import sqlite3
import string
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
QUERIES = 1000
Search = Callable[[str], list[str]]


class Built(NamedTuple):
    """What building took, and the search over what was built."""

    seconds: float
    cpu_seconds: float
    grown_mb: float
    search: Search


class Meter:
    """Time and memory from its making on."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak, so that the next one is the build's
        self._before = _status("VmRSS")
        self._began, self._cpu = time.perf_counter(), time.process_time()

    def stop(self, search: Search) -> Built:
        """The figures until now."""
        seconds, cpu = time.perf_counter() - self._began, time.process_time() - self._cpu
        return Built(seconds, cpu, _status("VmHWM") - self._before, search)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--databases", type=Path, default=HERE.parent.parent / "shared/spider/database")
    parser.add_argument("--only", choices=("typos", "large", "meanings"))
    options = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SQLJURY_CACHE"] = folder
        if options.only in (None, "typos", "large"):
            names = surnames()
        if options.only in (None, "typos"):
            some = random.Random(1).sample(names, 100_000)
            show("100,000 surnames", some, {"MinHash-LSH": baseline, "sqljury": ours}, Path(folder))
        if options.only in (None, "large"):
            show(f"{len(names):,} surnames", names, {"sqljury": ours}, Path(folder))
        if options.only in (None, "meanings"):
            meanings(options.databases, Path(folder))


def surnames() -> list[str]:
    """Every surname of names-dataset, in a fixed order."""
    from names_dataset import NameDataset

    return sorted(name for name in NameDataset().last_names if name.strip())


def show(title: str, values: list[str], systems: dict[str, Any], folder: Path) -> None:
    """One column of figures for each system."""
    print(f"\n{title}\n{'':34s}" + "".join(f"{name:>14s}" for name in systems))
    source = folder / f"{len(values)}.json"
    source.write_text(json.dumps(values))
    found = [measured(system, source) for system in systems.values()]
    for name in found[0]:
        print(f"{name:34s}" + "".join(f"{one[name]:>14s}" for one in found), flush=True)


def measured(system: Callable[[list[str], Path], Built], source: Path) -> dict[str, str]:
    """Build and search in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_measure, args=(system, source, there))
    process.start()
    there.close()
    figures: dict[str, str] = here.recv()
    process.join()
    return figures


def _measure(system: Callable[[list[str], Path], Built], source: Path, out: Connection) -> None:
    values = json.loads(source.read_text())
    built = system(values, source)
    figures = {
        "build, s": f"{built.seconds:.2f}",
        "build, s of CPU": f"{built.cpu_seconds:.2f}",
        "build, MB": f"{built.grown_mb:.0f}",
    }
    for name, spoil in SPOILED.items():
        draw = random.Random(name)
        first = among = 0
        taken, busy = [], []
        for _ in range(QUERIES):
            value = draw.choice(values)
            text = spoil(value, draw)
            began, cpu = time.perf_counter(), time.process_time()
            found = built.search(text)
            taken.append(time.perf_counter() - began)
            busy.append(time.process_time() - cpu)
            first += found[:1] == [value]
            among += value in found[:5]
        figures[f"{name}: hit@1 / hit@5, %"] = f"{100 * first / QUERIES:.1f} / {100 * among / QUERIES:.1f}"
        if name == "one typo":
            figures["query, median / p95, ms"] = quantiles(taken)
            figures["query, the same of CPU"] = quantiles(busy)
    out.send(figures)


def quantiles(seconds: list[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    return f"{1e3 * ordered[len(ordered) // 2]:.1f} / {1e3 * ordered[len(ordered) * 95 // 100]:.1f}"


def baseline(values: list[str], _: Path) -> Built:
    """CHESS's: 100 permutations over the 3-grams of each value, LSH with threshold 0.01, best by estimated Jaccard."""
    from datasketch import MinHash, MinHashLSH

    def minhash(text: str) -> Any:
        made = MinHash(num_perm=100)
        for at in range(len(text) - 2):
            made.update(text[at : at + 3].encode())
        return made

    meter = Meter()
    lsh = MinHashLSH(threshold=0.01, num_perm=100)
    hashes = {}
    for number, value in enumerate(values):
        hashes[number] = minhash(value)
        lsh.insert(number, hashes[number])

    def search(text: str) -> list[str]:
        wanted = minhash(text)
        near = sorted(lsh.query(wanted), key=lambda number: -wanted.jaccard(hashes[number]))
        return [values[number] for number in near[:5]]

    return meter.stop(search)


def ours(values: list[str], source: Path) -> Built:
    """The product's: from an SQLite file with one column to an opened index."""
    import numpy  # noqa: F401 - neither side pays for the libraries it loads
    import rapidfuzz.process  # noqa: F401

    from sqljury import connect
    from sqljury.schema.introspect import introspect
    from sqljury.values import build

    path = source.with_suffix(".sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE person (surname TEXT)")
        connection.executemany("INSERT INTO person VALUES (?)", ((value,) for value in values))
    connection.close()
    with connect(path) as db:
        schema = introspect(db)
        meter = Meter()
        index = build(db, schema)
        return meter.stop(lambda text: [match.value for match in index.search(text)])


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def typo(value: str, draw: random.Random) -> str:
    """One random edit; never the value itself, never blank."""
    while True:
        at = draw.randrange(len(value))
        letter = draw.choice(string.ascii_lowercase if value.isascii() else value)
        edited = draw.choice(
            (
                value[:at] + letter + value[at + 1 :],
                value[:at] + letter + value[at:],
                value[:at] + value[at + 1 :],
                value[:at] + value[at + 1 : at + 2] + value[at] + value[at + 2 :],
            )
        )
        if edited != value and edited.strip():
            return edited


def swap(value: str, draw: random.Random) -> str:
    """Two neighbours swapped; where all letters are the same, the value as it is."""
    places = [at for at in range(len(value) - 1) if value[at] != value[at + 1]]
    if not places:
        return value
    at = draw.choice(places)
    return value[:at] + value[at + 1] + value[at] + value[at + 2 :]


def accent(value: str, draw: random.Random) -> str:
    """Accents on some of the vowels."""
    return "".join(c + draw.choice("\u0301\u0300\u0302\u0308") if c in "aeiouAEIOU" else c for c in value)


SPOILED: dict[str, Callable[[str, random.Random], str]] = {
    "one typo": typo,
    "two typos": lambda value, draw: typo(typo(value, draw), draw),
    "swap": swap,
    "accents": accent,
    "case": lambda value, _: value.swapcase(),
    "two typos, swap, accents or case": lambda value, draw: draw.choice(
        (lambda v, d: typo(typo(v, d), d), swap, accent, lambda v, _: v.swapcase())
    )(value, draw),
}


def meanings(databases: Path, folder: Path) -> None:
    """How many pairs of each list are found in the top 5, among the values of all of Spider's databases."""
    from sqljury import connect
    from sqljury.schema.introspect import introspect
    from sqljury.values import build

    for name in ("semantic_pairs.tsv", "semantic_pairs_2.tsv"):
        if not (HERE / name).is_file():
            continue
        with open(HERE / name, encoding="utf-8") as file:
            pairs = list(csv.DictReader(file, delimiter="\t"))
        path = folder / f"{name}.sqlite"
        crowd = write_crowd(path, databases, pairs)
        with connect(path) as db:
            index = build(db, introspect(db))
        ranks = [rank(index.search(pair["query"], 5), pair["value"]) for pair in pairs]
        found = sum(1 for at in ranks if at)
        first = ranks.count(1)
        kept = sum(index.columns.values())
        print(f"\n{name}: {found} of {len(pairs)} in the top 5, {first} first, among {kept:,} of {crowd:,} values")
        for pair, at in zip(pairs, ranks, strict=True):
            if not at:
                best = ", ".join(
                    {m.value.casefold(): f"{m.value!r} ({m.how})" for m in index.search(pair["query"])}.values()
                )
                print(f"  missed: {pair['query']!r} for {pair['value']!r}; found {best}")


def rank(found: Sequence[Any], value: str) -> int:
    """Where the value stands among the first five found that differ in more than case, from 1; 0 if it does not."""
    different = list(dict.fromkeys(match.value.casefold() for match in found))[:5]
    return different.index(value.casefold()) + 1 if value.casefold() in different else 0


def write_crowd(path: Path, databases: Path, pairs: Sequence[dict[str, str]]) -> int:
    """A database of all text columns of these databases and the pairs' values; how many it holds.

    Left out are values that are a pair's query or value but for case: the query is to be met by the pair's value.
    """
    taken = {pair[side].casefold() for pair in pairs for side in ("query", "value")}
    total = len(pairs)
    with sqlite3.connect(path) as connection:
        for kind in dict.fromkeys(pair["kind"] for pair in pairs):
            _column(connection, f"own_{kind}", [pair["value"] for pair in pairs if pair["kind"] == kind])
        for number, values in enumerate(text_values(databases)):
            kept = [value for value in values if value.strip().casefold() not in taken]
            _column(connection, f"crowd_{number}", kept)
            total += len(kept)
    connection.close()
    return total


def _column(connection: sqlite3.Connection, table: str, values: Sequence[str]) -> None:
    connection.execute(f"CREATE TABLE {table} (value TEXT)")
    connection.executemany(f"INSERT INTO {table} VALUES (?)", ((value,) for value in values))


def text_values(databases: Path) -> Iterator[list[str]]:
    """The different texts of every column of every database in the folder."""
    for path in sorted(databases.glob("*/*.sqlite")):
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        for (table,) in tables.fetchall():
            for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall():
                rows = connection.execute(f'SELECT DISTINCT "{column}" FROM "{table}"')
                if values := sorted(value for (value,) in rows if isinstance(value, str)):
                    yield values
        connection.close()


if __name__ == "__main__":
    main()
