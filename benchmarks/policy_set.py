"""The training set of the policy step of `sqljury-writer`: businesses, and some questions of each database of Spider.

    python benchmarks/policy_set.py business.jsonl spider.jsonl --out policy.jsonl

Both are sets of `sqljury train data generator` (docs/training.md). Left out are questions of Spider on the databases
`1/4`, which are kept for measuring, and on one whose name a business has too; of each other database 28 are drawn.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from sqljury.datasets import subset

HELD_OUT = "1/4"
OF_A_DATABASE = 28
SEED = 7


def main() -> None:
    """Write the set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("business", type=Path)
    parser.add_argument("spider", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    business, spider = (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in (options.business, options.spider)
    )
    held_out, taken = subset.within(HELD_OUT), {example["meta"]["db_id"] for example in business}
    shuffled = [one for one in spider if not held_out(one["meta"]["db_id"]) and one["meta"]["db_id"] not in taken]
    draw = random.Random(SEED)  # a sample, not a secret
    draw.shuffle(shuffled)
    drawn: list[dict[str, object]] = []
    count: Counter[str] = Counter()
    for example in shuffled:
        name = example["meta"]["db_id"]
        if count[name] < OF_A_DATABASE:
            count[name] += 1
            drawn.append(example)
    chosen = business + drawn
    draw.shuffle(chosen)
    options.out.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in chosen), encoding="utf-8")
    print(f"{len(chosen)} examples, {len(drawn)} of them of Spider, in {options.out}")


if __name__ == "__main__":
    main()
