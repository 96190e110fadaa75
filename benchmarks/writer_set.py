"""The training set of the last step of `sqljury-writer`: short gold queries, and some of the model's own.

    python benchmarks/writer_set.py gold.jsonl own.jsonl --data runs/gate --out sixth.jsonl

Both are sets of `sqljury train data generator` (docs/training.md), the first of questions of ``--data``. Gold queries
of more than ``LONGEST`` characters are left out: a small model copies their form and misses names. Of its own answers
``OF_A_DATABASE`` are drawn for each database, which keep its style.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

from sqljury.datasets.spider import load

LONGEST = 220
OF_A_DATABASE = 12
SEED = 6


def main() -> None:
    """Write the set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("gold", type=Path)
    parser.add_argument("own", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="the folder of benchmarks/gate.py")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    gold, own = (file.read_text(encoding="utf-8").splitlines() for file in (options.gold, options.own))
    length = {(one.db_id, one.question.text): len(one.gold_sql) for one in load(options.data, "dev")}
    metas = (json.loads(line)["meta"] for line in gold)
    short = [line for line, meta in zip(gold, metas, strict=True) if length[meta["db_id"], meta["question"]] <= LONGEST]
    random.Random(SEED).shuffle(own)  # a sample, not a secret
    by_database: defaultdict[str, list[str]] = defaultdict(list)
    for line in own:
        by_database[json.loads(line)["meta"]["db_id"]].append(line)
    drawn = [line for name in sorted(by_database) for line in by_database[name][:OF_A_DATABASE]]
    options.out.write_text("".join(f"{line}\n" for line in (*short, *drawn)), encoding="utf-8")
    print(f"{len(short)} gold queries of {len(gold)} and {len(drawn)} of the model's own in {options.out}")


if __name__ == "__main__":
    main()
