"""Spider on other engines: how many gold queries hold there, and two runs compared on the questions of both.

    python benchmarks/engines.py gold --data SPIDER_DIR --split dev --engine postgresql
    python benchmarks/engines.py compare RUN OTHER_RUN

``gold`` copies every database of the split, translates its gold queries and runs both; it prints the outcomes with the
usual reasons, what was repaired, and what in the copies is not as in the files; no model is asked. ``compare`` judges
two runs, say of SQLite and of PostgreSQL or of stripped keys, and prints EX on the questions that both can be judged
on.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sqljury.datasets import spider
from sqljury.engines.checked import OUTCOMES, Checked, counts, prepared, read
from sqljury.engines.databases import Databases, Engine, of_run, usual_server
from sqljury.engines.gold import REPAIRS
from sqljury.evaluation import report, run_folder

SHOWN = 12


def main() -> int:
    """What the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    gold = commands.add_parser("gold", help="how many gold queries hold on an engine")
    gold.add_argument("--data", type=Path, required=True)
    gold.add_argument("--split", choices=list(spider.SPLITS), default="dev")
    gold.add_argument("--limit", type=int)
    gold.add_argument("--seed", type=int, default=0)
    gold.add_argument("--engine", choices=["duckdb", "postgresql", "mysql"], required=True)
    gold.add_argument("--out", type=Path, help="a folder that keeps gold.jsonl, and files of DuckDB")
    gold.set_defaults(command=print_gold)
    compare = commands.add_parser("compare", help="EX of two runs on the questions of both")
    compare.add_argument("run", type=Path)
    compare.add_argument("other", type=Path)
    compare.add_argument("--data", type=Path)
    compare.set_defaults(command=print_comparison)
    arguments = parser.parse_args()
    return int(arguments.command(arguments))


def print_gold(arguments: argparse.Namespace) -> int:
    """Check all gold queries of a split on an engine."""
    examples = spider.sample(spider.load(arguments.data, arguments.split), arguments.limit, arguments.seed)
    engine = Engine(arguments.engine)
    started = time.monotonic()

    def say(done: int, total: int, _: Checked | None) -> None:
        if done % 100 == 0:
            print(f"{done}/{total} {time.monotonic() - started:.0f} s", file=sys.stderr)

    with tempfile.TemporaryDirectory() as scratch:
        out = arguments.out or Path(scratch)
        with Databases(arguments.data, engine, out / "databases", usual_server(engine)) as databases:
            kept = prepared(examples, databases, out, say)
            all_checked = read(out)
            changes: Counter[str] = sum((one.changes for one in databases.sources.values()), Counter())
            made = len(databases.sources)
    print(f"{arguments.split} on {arguments.engine}: {len(examples)} gold queries, {len(kept)} kept, {made} databases")
    found = counts(all_checked)
    for outcome, meaning in OUTCOMES.items():
        print(f"  {found[outcome]:5d}  {outcome}: {meaning}")
    for outcome in OUTCOMES:
        reasons = Counter(_general(one.reason) for one in all_checked if one.outcome == outcome and one.reason)
        for reason, count in reasons.most_common(SHOWN):
            print(f"  {outcome} {count:5d}  {reason}")
    repairs = Counter(name for one in all_checked if one.kept for name in one.repairs)
    for name, count in repairs.most_common():
        print(f"  repaired {count:5d}  {name}: {REPAIRS[name]}")
    for change, count in changes.most_common():
        print(f"  copies {count:5d}  {change}")
    return 0


def _general(reason: str) -> str:
    """A reason without names and numbers, so that equal ones are counted together."""
    return re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\d+", "#", reason)[:110]


def print_comparison(arguments: argparse.Namespace) -> int:
    """EX of two runs on their shared questions."""
    right: list[dict[str, bool]] = []
    for run in (arguments.run, arguments.other):
        described = run_folder.described(run)
        with of_run(described, arguments.data or run_folder.data_of(run), run) as databases:
            verdicts = report.judge_run(run_folder.records(run), databases)
        right.append({one.id: one.right for one in verdicts if not one.fault})
    first, second = right
    shared = sorted(first.keys() & second.keys())
    for run, found in zip((arguments.run, arguments.other), right, strict=True):
        share = report.share_of(found[name] for name in shared)
        low, high = share.interval()
        alone = report.share_of(found.values())
        print(
            f"{run}: EX {share.percent:.1f} % ({share.right} of {share.total} shared, {low:.1f} - {high:.1f});"
            f" of all {alone.total}: {alone.percent:.1f} %"
        )
    only = [sum(one[name] and not other[name] for name in shared) for one, other in (right, right[::-1])]
    print(f"right in the first alone: {only[0]}, in the second alone: {only[1]}")
    print("questions where they differ: " + ", ".join(name for name in shared if first[name] != second[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
