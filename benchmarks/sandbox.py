"""How long a run in a warm sandbox takes: ``sandbox.py [--times N]``.

Typical programs on small tables, each with a process of its own; median and 95th percentile, and what starting costs.
"""

from __future__ import annotations

import argparse
import statistics
import time

import pyarrow as pa

from sqljury.sandbox import Sandbox

SALES = pa.table(
    {"shop": ["Bath", "York", "Bath"] * 5, "day": ["2024-01-31", "2024-02-29", "2024-03-01"] * 5, "n": range(15)}
)
SHOPS = pa.table({"shop": ["Bath", "York", "Ely"], "area": [1.5, 2.25, 3.0]})
PROGRAMS = {
    "nothing": "result = 1",
    "group by": "result = sales.groupby('shop', as_index=False)['n'].sum().sort_values('n', ascending=False)",
    "merge": "result = sales.merge(shops, on='shop').query('n > 3')[['shop', 'area']].drop_duplicates()",
    "pivot": "result = sales.pivot_table(index='shop', columns='day', values='n', aggfunc='sum')",
    "dates": "sales['d'] = pd.to_datetime(sales['day'])\n"
    "result = sales[sales['d'].dt.month == 2].groupby('d')['n'].max()",
}


def main() -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=50, help="how often each program runs (default 50)")
    times = parser.parse_args().times
    started = time.perf_counter()
    with Sandbox() as sandbox:
        print(f"warm after {time.perf_counter() - started:.2f} s, walls: {', '.join(sandbox.walls)}")
        for name, code in PROGRAMS.items():
            taken = []
            for _ in range(times):
                started = time.perf_counter()
                found = sandbox.run(code, {"sales": SALES, "shops": SHOPS})
                taken.append(1000 * (time.perf_counter() - started))
                if not found.ok:
                    raise SystemExit(f"{name}: {found.result.error}")
            p95 = statistics.quantiles(taken, n=20)[-1]
            print(
                f"{name:<10} median {statistics.median(taken):6.1f} ms   p95 {p95:6.1f} ms   most {max(taken):6.1f} ms"
            )


if __name__ == "__main__":
    main()
