"""What telling the model values of the database is worth: greedy queries with and without, on the same questions.

    python benchmarks/value_hints.py --data ../shared/spider --limit 60 --seed 5 [--typos]

Questions of Spider's train split whose gold query compares with a text; greedy, names bound, no repairs by the model.
With --typos two neighbouring letters of each such text are swapped in the question, which must quote it.
A line a question as it goes: right without values, told beside the question, put into the finished query, both.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqljury import Pipeline, Question, connect, recipes
from sqljury.db.base import Database
from sqljury.errors import SqljuryError
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold

TEXT = re.compile(r"[\"']([^\"']*[A-Za-z][^\"']*)[\"']")


def main() -> None:
    """Print the questions and the two shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--values", type=int, default=6, help="values told at most")
    parser.add_argument("--typos", action="store_true", help="misspell the values in the questions")
    options = parser.parse_args()
    chosen = drawn(options.data, options.limit, options.seed, typos=options.typos)
    fast = recipes.load("fast")
    fast = replace(fast, fix=replace(fast.fix, attempts=0))
    told = replace(fast, schema=replace(fast.schema, values=options.values))
    bound = replace(fast, fix=replace(fast.fix, values=True))
    both = replace(told, fix=bound.fix)
    model = open_model(None)
    right = [0] * 4
    for number, one in enumerate(chosen, 1):
        with connect(options.data / "database" / one["db_id"] / f"{one['db_id']}.sqlite") as db:
            gold = run_gold(db, one["query"])
            verdicts = [
                judge(gold, db.execute(asked(Pipeline(recipe, model), one, db)), EX.ordered(one["query"])).correct
                for recipe in (fast, told, bound, both)
            ]
        right = [count + verdict for count, verdict in zip(right, verdicts, strict=True)]
        print(number, one["db_id"], *map(int, verdicts), one["question"], flush=True)
    print(
        f"{options.limit} questions; right without values {right[0]}, told beside the question {right[1]}, "
        f"put into finished queries {right[2]}, both {right[3]}"
    )


def drawn(data: Path, limit: int, seed: int, *, typos: bool) -> list[dict[str, Any]]:
    """So many questions of train whose gold compares with a text; with ``typos`` of those that can be misspelt, so."""
    listed = [one for one in json.loads((data / "train.json").read_text()) if TEXT.search(one["query"])]
    if typos:
        listed = [{**one, "question": text} for one in listed if (text := misspelt(one)) != one["question"]]
    return random.Random(seed).sample(listed, limit)


def misspelt(one: dict[str, str]) -> str:
    """The question with two letters in the middle of each value swapped; as it is where a value is not in it."""
    text = one["question"]
    for value in TEXT.findall(one["query"]):
        middle = len(value) // 2
        if len(value) < 5 or value not in text:
            return one["question"]
        text = text.replace(value, value[: middle - 1] + value[middle] + value[middle - 1] + value[middle + 1 :])
    return text


def asked(pipeline: Pipeline, one: dict[str, str], db: Database) -> str:
    """The query, empty where none runs."""
    try:
        return pipeline.answer(Question(one["question"]), db).sql
    except SqljuryError:
        return "SELECT 'no answer'"


if __name__ == "__main__":
    main()
