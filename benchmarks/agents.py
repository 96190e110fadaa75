"""How good the test cases of TS-SQL's agents are, without one of them (the paper's Table 4), and by voting (Figure 5).

    python benchmarks/agents.py --data ../shared/spider --out agents.jsonl --limit 40 --seed 5 [--arms program ...]

Questions of Spider's train split; the queries tested are gold and one neighbour of it that returns something else on
the question's own database. A case is right if gold passes it, and sharp if the neighbour fails it as well. A line a
question and arm goes to --out, what is there already is not done again; then each arm's counts are printed.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sqljury import Question, connect
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.llm.base import LanguageModel, derive_seed
from sqljury.llm.open import open_model
from sqljury.recipes.parts import TestsPart
from sqljury.sandbox import Warm
from sqljury.schema.introspect import introspect
from sqljury.sql.compare import TRIAL, same
from sqljury.sql.mutate import neighbours
from sqljury.sql.resolve import column_names
from sqljury.testing import TESTERS
from sqljury.types import Limits, Task
from sqljury.values import open_or_build

BASE: Final = TestsPart(kind="agents", codes=3, inspections=2, data="program")
ARMS: Final = {
    "program": BASE,
    "one code": replace(BASE, codes=1),
    "model": replace(BASE, data="model"),
    "no data agent": replace(BASE, data="real"),
    "no inspection": replace(BASE, inspections=0),
    "no code agent": replace(BASE, by="model"),
    "selection": replace(BASE, voting="selection"),
}


def main() -> None:
    """Do what is left, then print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--out", type=Path, required=True, help="lines of JSON, continued where it is there")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=["program", "model", "no inspection"])
    options = parser.parse_args()
    chosen = random.Random(options.seed).sample(json.loads((options.data / "train.json").read_text()), options.limit)
    lines = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(line["question"], line["arm"]) for line in lines}
    model, warm = open_model(None), Warm()
    with options.out.open("a", encoding="utf-8") as out:
        for number, one in enumerate(chosen):
            for arm in options.arms:
                if (one["question"], arm) in done:
                    continue
                with connect(options.data / "database" / one["db_id"] / f"{one['db_id']}.sqlite") as db:
                    line = {"number": number, "arm": arm, **measured(one, ARMS[arm], db, model, warm)}
                lines.append(line)
                print(json.dumps(line), file=out, flush=True)
                print(number, arm, line["how"], line["gold"], line["other"], flush=True)
    asked = {one["question"] for one in chosen}
    for arm in options.arms:
        report(arm, [line for line in lines if line["arm"] == arm and line["question"] in asked])


def measured(one: dict[str, str], part: TestsPart, db: Database, model: LanguageModel, warm: Warm) -> dict[str, Any]:
    """The case that the agents make for a question, and what gold and its neighbour do there."""
    schema = introspect(db)
    context = Context(
        db,
        model,
        Limits(),
        derive_seed(0, one["question"]),
        values=lambda: open_or_build(db, schema),
        sandbox=warm,
    )
    gold = db.execute(one["query"])
    others = (sql for sql in neighbours(one["query"], column_names(schema)) if differs(sql, gold, db))
    queries = [one["query"], *[sql for sql in [next(others, None)] if sql is not None]]
    tests = TESTERS["agents"](queries, Task(Question(one["question"]), schema, ""), part, context)
    test, cost = tests[0] if tests else None, context.budget.total()
    return {
        "question": one["question"],
        "queries": queries,
        "how": test.how if test else "",
        "gold": test.passed[0] if test else None,
        "other": test.passed[1] if test and len(queries) > 1 else None,
        "confidence": test.case.confidence if test and test.by else 0.0,
        "code": test.code if test else "",
        "calls": cost.calls,
        "tokens": cost.computed_tokens,
        "seconds": round(cost.seconds, 1),
    }


def differs(sql: str, gold: Any, db: Database) -> bool:
    """Whether a query runs and returns something else."""
    result = db.execute(sql)
    return result.ok and not same(gold, result, TRIAL)


def report(arm: str, lines: list[dict[str, Any]]) -> None:
    """One arm's counts."""
    if not lines:
        return
    said = [line for line in lines if line["gold"] is not None]
    right = [line for line in said if line["gold"]]
    sharp = [line for line in right if line["other"] is False]
    unsure = [line for line in said if line["confidence"] < 0.6]
    written = sum(line["how"] == "written" for line in lines)
    tokens = sum(line["tokens"] for line in lines) / len(lines)
    print(
        f"{arm}: {len(lines)} questions, {len(said)} with an expected result, {len(right)} right, {len(sharp)} sharp; "
        f"{sum(not line['gold'] for line in unsure)} of {len(said) - len(right)} wrong ones below confidence 0.6; "
        f"{written} with data of the model's; {tokens:.0f} tokens a question"
    )


if __name__ == "__main__":
    main()
