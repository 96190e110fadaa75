"""The training sets of the last two steps of `sqljury-writer`.

    python benchmarks/writer_set.py sixth gold.jsonl own.jsonl --data runs/gate --out sixth.jsonl
    python benchmarks/writer_set.py seventh gold.jsonl linked.jsonl own.jsonl --out seventh.jsonl

All are sets of `sqljury train data generator` (docs/training.md); ``own.jsonl`` has answers of the model itself, which
keep its style. The sixth has the gold queries of at most ``LONGEST`` characters, since a small model copies the form of
long ones and misses names; ``--data`` has their questions. The seventh shows the whole schema with ``WHOLE`` questions
of each database; of the others, ``LINKED`` of each that take more than one table show the tables of the answer alone,
as the second look of `default` does.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

from policy_set import first_of_each, write

from sqljury.datasets.spider import load
from sqljury.train.examples import TrainingExample, read

LONGEST = 220
OWN = 12
"""Own answers for each database."""
OWN_DATABASES = 14
WHOLE = 28
LINKED = 3


def main() -> None:
    """Write a set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    for step, files in (("sixth", ("gold", "own")), ("seventh", ("gold", "linked", "own"))):
        command = steps.add_parser(step)
        for file in files:
            command.add_argument(file, type=Path)
        command.add_argument("--out", type=Path, required=True)
    steps.choices["sixth"].add_argument("--data", type=Path, required=True, help="the folder of benchmarks/gate.py")
    options = parser.parse_args()
    gold, own = read(options.gold), read(options.own)
    parts = sixth(gold, own, options.data) if options.step == "sixth" else seventh(gold, read(options.linked), own)
    write([example for part in parts for example in part], options.out)
    print(f"{' + '.join(str(len(part)) for part in parts)} examples in {options.out}")


def sixth(gold: list[TrainingExample], own: list[TrainingExample], data: Path) -> list[list[TrainingExample]]:
    """Short gold queries, and own answers of every database."""
    length = {(asked.db_id, asked.question.text): len(asked.gold_sql) for asked in load(data, "dev")}
    short = [example for example in gold if length[example.database, example.question] <= LONGEST]
    random.Random(6).shuffle(own)  # a sample, not a secret
    return [short, sorted(first_of_each(own, OWN), key=lambda example: example.database)]


def seventh(
    gold: list[TrainingExample], linked: list[TrainingExample], own: list[TrainingExample]
) -> list[list[TrainingExample]]:
    """Gold with the whole schema, gold with the answer's tables, and own answers on some databases."""
    draw = random.Random(7)
    whole: list[TrainingExample] = []
    left: set[str] = set()
    for _, examples in sorted(_by_database(gold).items()):
        draw.shuffle(examples)
        whole += examples[:WHOLE]
        left |= {example.question for example in examples[WHOLE:]}
    joined = [
        example
        for example in linked
        if example.question in left and (" JOIN " in example.answer or example.answer.count("SELECT") > 1)
    ]
    joined.sort(key=lambda example: example.database)
    answers = _by_database(own)
    names = sorted(answers)
    draw.shuffle(names)
    drawn: list[TrainingExample] = []
    for name in sorted(names[:OWN_DATABASES]):
        draw.shuffle(answers[name])
        drawn += answers[name][:OWN]
    return [whole, list(first_of_each(joined, LINKED)), drawn]


def _by_database(examples: Iterable[TrainingExample]) -> dict[str, list[TrainingExample]]:
    found: dict[str, list[TrainingExample]] = {}
    for example in examples:
        found.setdefault(example.database, []).append(example)
    return found


if __name__ == "__main__":
    main()
