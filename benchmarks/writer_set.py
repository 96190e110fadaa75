"""The training set of the last step of `sqljury-writer`: short gold queries, and some of the model's own.

    python benchmarks/writer_set.py gold.jsonl own.jsonl --data runs/gate --out sixth.jsonl

Both are sets of `sqljury train data generator` (docs/training.md), the first of questions of ``--data``. Gold queries
of more than ``LONGEST`` characters are left out: a small model copies their form and misses names. Of its own answers
``OF_A_DATABASE`` are drawn for each database, which keep its style.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from policy_set import first_of_each, write

from sqljury.datasets.spider import load
from sqljury.train.examples import read

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
    gold, own = read(options.gold), read(options.own)
    length = {(asked.db_id, asked.question.text): len(asked.gold_sql) for asked in load(options.data, "dev")}
    short = [example for example in gold if length[example.database, example.question] <= LONGEST]
    random.Random(SEED).shuffle(own)  # a sample, not a secret
    drawn = sorted(first_of_each(own, OF_A_DATABASE), key=lambda example: example.database)
    write([*short, *drawn], options.out)
    print(f"{len(short)} gold queries of {len(gold)} and {len(drawn)} of the model's own in {options.out}")


if __name__ == "__main__":
    main()
