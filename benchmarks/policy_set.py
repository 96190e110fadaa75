"""The training set of the policy step of `sqljury-writer`: businesses, and some questions of each database of Spider.

    python benchmarks/policy_set.py business.jsonl spider.jsonl --out policy.jsonl

Both are sets of `sqljury train data generator` (docs/training.md). Left out are questions of Spider on the databases
`1/4`, which are kept for measuring, and on one whose name a business has too; of each other database 28 are drawn.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqljury.datasets import subset
from sqljury.train.examples import TrainingExample, read

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
    business, spider = read(options.business), read(options.spider)
    held_out, taken = subset.within(HELD_OUT), {example.database for example in business}
    free = [example for example in spider if not held_out(example.database) and example.database not in taken]
    draw = random.Random(SEED)  # a sample, not a secret
    draw.shuffle(free)
    drawn = list(first_of_each(free, OF_A_DATABASE))
    chosen = business + drawn
    draw.shuffle(chosen)
    write(chosen, options.out)
    print(f"{len(chosen)} examples, {len(drawn)} of them of Spider, in {options.out}")


def first_of_each(examples: Iterable[TrainingExample], most: int) -> Iterator[TrainingExample]:
    """Of the examples on each database the first ones, at most so many."""
    counts: Counter[str] = Counter()
    for example in examples:
        counts[example.database] += 1
        if counts[example.database] <= most:
            yield example


def write(examples: Iterable[TrainingExample], file: Path) -> None:
    """Write a set as `sqljury train` reads it."""
    file.write_text("".join(example.to_line() for example in examples), encoding="utf-8")


if __name__ == "__main__":
    main()
