"""What examples are worth: greedy queries without any, with the package's own, and with Spider's of other databases.

    python benchmarks/fewshot.py --data ../shared/spider --limit 40 --seed 5 [--examples 5] [--arms direct own others]

Questions of Spider's train split; greedy, names bound, no repairs by the model. An arm with +draft first asks without
examples and takes what comes back for the draft that examples are chosen by.
A line a question as it goes: right by each arm; then each arm's share and seconds a question.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

from sqljury import Pipeline, Question, connect, recipes
from sqljury.datasets.pool import Pool, load
from sqljury.db.base import Database
from sqljury.errors import NoAnswerError
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.recipes import GeneratePart, Recipe

ARMS = ("direct", "own", "own+draft", "others", "others+draft")


def main() -> None:
    """Print the questions and the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--show", action="store_true", help="print the queries too")
    options = parser.parse_args()
    chosen = random.Random(options.seed).sample(json.loads((options.data / "train.json").read_text()), options.limit)
    model = open_model(None)
    right, seconds = dict.fromkeys(options.arms, 0), dict.fromkeys(options.arms, 0.0)
    for number, one in enumerate(chosen, 1):
        with connect(options.data / "database" / one["db_id"] / f"{one['db_id']}.sqlite") as db:
            gold = run_gold(db, one["query"])
            for arm in options.arms:
                began = time.perf_counter()
                sql = asked(pipeline(arm, options.examples, options.data / "train.json", one["db_id"], model), one, db)
                seconds[arm] += time.perf_counter() - began
                verdict = judge(gold, db.execute(sql), EX.ordered(one["query"])).correct
                right[arm] += verdict
                print(number if arm == options.arms[0] else "", arm, int(verdict), sql if options.show else "", end=" ")
                print(end="\n" if options.show else "", flush=True)
        print("", one["db_id"], one["question"], "|", one["query"] if options.show else "", flush=True)
    for arm in options.arms:
        print(f"{arm}: {right[arm]} of {options.limit} right, {seconds[arm] / options.limit:.1f} s a question")


def pipeline(arm: str, examples: int, train: Path, database: str, model: LanguageModel) -> Pipeline:
    """The pipeline of an arm for questions on one database."""
    fast = recipes.load("fast")
    shown = GeneratePart("fewshot", examples=examples)
    parts = (GeneratePart(),) if arm == "direct" else (GeneratePart(), shown) if "+" in arm else (shown,)
    recipe: Recipe = replace(fast, generate=parts, fix=replace(fast.fix, attempts=0))
    return Pipeline(recipe, model, pool=others(train, database) if arm.startswith("others") else None)


@cache
def others(train: Path, database: str) -> Pool:
    """Spider's training questions but for those on this database."""
    return Pool(tuple(shot for shot in load(train).shots if shot.database != database))


def asked(pipeline: Pipeline, one: dict[str, str], db: Database) -> str:
    """What the last part of the recipe wrote, as repaired without the model."""
    try:
        candidates = pipeline.answer(Question(one["question"]), db).candidates
    except NoAnswerError as error:
        candidates = error.candidates
    return candidates[-1].sql or "SELECT 'no answer'"


if __name__ == "__main__":
    main()
