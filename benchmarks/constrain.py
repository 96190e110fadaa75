"""What a grammar is worth: queries of the embedded model with and without one, on the same questions.

    python benchmarks/constrain.py --data ../shared/spider --limit 30 --seed 5

Questions of Spider's train split; of each one greedy query and four samples (temperature 0.8, top_p 0.95), free and
held to the grammar. Per way and kind: how many run and how many are right as written, the same once their names are
bound to the schema (the repair that needs no model), questions with a right one among the samples, and tokens.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from sqljury import Question, connect, recipes
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.llm.base import LanguageModel, Sampling, derive_seed
from sqljury.llm.open import open_model
from sqljury.llm.replies import STOP, extract_sql
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.stages import repair as fix
from sqljury.stages.generate.direct import messages
from sqljury.stages.generate.grammar import grammar
from sqljury.stages.prepare import Preparation
from sqljury.types import Candidate, Limits, QueryFailure, Result, Task

KINDS = {"greedy": (0.0, 1.0, 1), "samples": (0.8, 0.95, 4)}
LIMITS = Limits(seconds=20.0)


def main() -> None:
    """Print each question with its queries, and the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--ways", default="free,held")
    options = parser.parse_args()
    chosen = random.Random(options.seed).sample(json.loads((options.data / "train.json").read_text()), options.limit)
    model = open_model(None, cache=False)
    counts: Counter[str] = Counter()
    for number, one in enumerate(chosen, 1):
        with connect(options.data / "database" / one["db_id"] / f"{one['db_id']}.sqlite") as db:
            task = Preparation(recipes.load("fast").schema).task(Question(one["question"]), db)
            gold = run_gold(db, one["query"])
            print(f"{number} {one['db_id']}: {one['question']} | {one['query']}")
            for way in options.ways.split(","):
                for kind in KINDS:
                    name = f"{way} {kind}"
                    counts.update(judged(name, written(model, task, name, counts), gold, one["query"], task, db, model))
        if number % 5 == 0:
            report(counts)


def written(model: LanguageModel, task: Task, name: str, counts: Counter[str]) -> list[str]:
    """The queries as the model writes them; adds what they cost to ``counts``."""
    way, kind = name.split()
    temperature, top_p, n = KINDS[kind]
    sampling = Sampling(
        temperature=temperature,
        top_p=top_p,
        max_tokens=300,
        seed=derive_seed(task.question.text, kind),
        stop=STOP,
        grammar=grammar(task.known) if way == "held" else None,
    )
    reply = model.complete(messages(task), sampling, n)
    counts[f"{name}: tokens"] += reply.cost.completion_tokens
    counts[f"{name}: cut off"] += sum(one.finish_reason == "length" for one in reply.completions)
    return [extract_sql(one.text) for one in reply.completions]


def judged(
    name: str, queries: list[str], gold: Result, gold_sql: str, task: Task, db: Database, model: LanguageModel
) -> Counter[str]:
    """How many of the queries run and are right, before and after their names were bound."""
    found: Counter[str] = Counter()
    for sql in queries:
        raw = Candidate(
            sql, "direct", result=db.execute(sql, LIMITS) if sql else Result(error=QueryFailure("missing", "no query"))
        )
        bound = fix.bind_names(raw, task, Context(db, model, LIMITS, 0))
        right = judge(gold, raw.result, EX.ordered(gold_sql)).correct
        found[f"{name}: queries"] += 1
        found[f"{name}: run"] += raw.result.ok
        found[f"{name}: right"] += right
        found[f"{name}: run, bound"] += bound.result.ok
        found[f"{name}: right, bound"] += judge(gold, bound.result, EX.ordered(gold_sql)).correct
        print(f"   {name} {'right' if right else raw.result.error or 'wrong'} | {' '.join(sql.split())}")
    found[f"{name}: questions with a right one"] = found[f"{name}: right, bound"] > 0
    return found


def report(counts: Counter[str]) -> None:
    """What was counted, a line for each."""
    for key, value in sorted(counts.items()):
        print(f"{key} {value}", flush=True)


if __name__ == "__main__":
    main()
