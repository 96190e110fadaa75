"""Small SQLite queries a second: `python benchmarks/small_queries.py [--seconds 1] [--rounds 7]`.

On the example database in a temporary folder. A query is new each time, as those of a model are, or the same again,
which the parser need not read a second time. Median of the rounds, which take turns. Compares two versions of the
package by running it with one `PYTHONPATH` and then the other.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from sqljury.db.base import Database
from sqljury.db.connect import connect

ROOT = Path(__file__).resolve().parents[1]
JOIN = (
    "SELECT category.name, count(*) AS products FROM category JOIN product ON product.category_id = category.id "
    "WHERE product.id < {number} GROUP BY category.id ORDER BY products DESC LIMIT 5"
)


def main() -> None:
    """Print queries a second of each kind, and what opening the database takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each kind in a round (default 1)")
    parser.add_argument("--rounds", type=int, default=7, help="of which the median counts (default 7)")
    options = parser.parse_args()
    numbers = count(100)
    kinds: dict[str, Callable[[], str]] = {
        "a number, new each time": lambda: f"SELECT {next(numbers)}",
        "a join, new each time": lambda: JOIN.format(number=next(numbers)),
        "a number, the same": lambda: "SELECT 1",
        "a join, the same": lambda: JOIN.format(number=100),
    }
    figures: dict[str, list[float]] = {name: [] for name in kinds}
    opening: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "shop.db"
        subprocess.run([sys.executable, str(ROOT / "examples/shop/build.py"), str(file)], check=True)
        for _ in range(options.rounds):
            start = time.perf_counter()
            with connect(file) as db:
                opening.append(time.perf_counter() - start)
                for name, query in kinds.items():
                    figures[name].append(rate(db, query, options.seconds))
    for name, rates in figures.items():
        print(f"{name:26s} {statistics.median(rates):8.0f} a second ({min(rates):.0f} - {max(rates):.0f})")
    milliseconds = [seconds * 1000 for seconds in opening]
    print(f"{'opening the database':26s} {statistics.median(milliseconds):8.1f} ms ({min(milliseconds):.1f} - ", end="")
    print(f"{max(milliseconds):.1f})")


def rate(db: Database, query: Callable[[], str], seconds: float) -> float:
    """How many of these queries run in a second, one after another."""
    start = time.perf_counter()
    done = 0
    while time.perf_counter() - start < seconds:
        result = db.execute(query())
        assert result.ok, result.error
        done += 1
    return done / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
