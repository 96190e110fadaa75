"""How long after its limit a runaway query ends, and whether the engine is free again: ``cancel.py URL...``.

For each engine: a query that never ends by itself, stopped by its limit and then by ``cancel``, several times. What
counts is the lateness, and how long a small query takes right afterwards.
"""

from __future__ import annotations

import argparse
import threading
import time

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.types import Limits

# mysql stops recursion after cte_max_recursion_depth rows, so there and everywhere a product of such rows follows.
ROWS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 900)"
PRODUCT = f"{ROWS} SELECT sum(a.x * b.x * c.x * d.x) FROM n a, n b, n c, n d"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
DEAF = {
    "duckdb": "SELECT array_to_string(range(100000000), ',')",
    "sqlite": "WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) "
    "SELECT length(trim(s, substr(replace(s, 'a', 'x'), 1, 85000) || 'a')) FROM g WHERE n = 19",
}
"""By dialect, one call of a function that takes long and does not look whether it was interrupted."""


def main() -> None:
    """Print a line for each engine and query."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("urls", nargs="+", metavar="URL", help="a database, as for sqljury --db")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds a query may take (default 1)")
    parser.add_argument("--times", type=int, default=5, help="how often each is stopped (default 5)")
    options = parser.parse_args()
    print(
        f"{'engine':<10} {'query':<12} {'stopped by':<10} {'late, median':>13} {'late, most':>11} {'then free in':>13}"
    )
    for url in options.urls:
        with connect(url) as db:
            for name, sql in (("product", PRODUCT), ("recursion", ENDLESS), ("one call", DEAF.get(db.dialect))):
                for how in ("limit", "cancel"):
                    if sql is not None:
                        report(db, name, sql, how, options.limit, options.times)


def report(db: Database, name: str, sql: str, how: str, limit: float, times: int) -> None:
    """Stop the query as often as asked and print how late that was."""
    late, free = [], []
    for _ in range(times):
        cancel = threading.Event()
        timer = threading.Timer(limit, cancel.set)
        start = time.monotonic()
        if how == "cancel":
            timer.start()
        result = db.execute(sql, Limits(seconds=limit if how == "limit" else limit * 60), cancel)
        late.append(time.monotonic() - start - limit)
        timer.cancel()
        if result.error_kind not in ("limit", "cancelled"):
            print(f"{db.dialect:<10} {name:<12} {how:<10} ended by itself: {result.error or 'it has an answer'}")
            return
        start = time.monotonic()
        if not db.execute("SELECT 1").ok:
            print(f"{db.dialect:<10} {name:<12} {how:<10} NOT FREE: {db.execute('SELECT 1').error}")
            return
        free.append(time.monotonic() - start)
    middle = sorted(late)[len(late) // 2]
    print(
        f"{db.dialect:<10} {name:<12} {how:<10} {middle:>11.3f} s {max(late):>9.3f} s {max(free):>11.3f} s", flush=True
    )


if __name__ == "__main__":
    main()
