"""What repairs make of stored candidates: how many are right, what was repaired, and how long it took.

    python benchmarks/repairs.py runs/train_light --data ../shared/spider --limit 200 --out runs/repairs.jsonl
    python benchmarks/repairs.py --report runs/repairs.jsonl

The candidates of a run are taken as they were first written, so that only repairs ask the model. Each question is
repaired twice: `fast` has its first candidate alone, `default` all of them and votes. A line a question goes to --out;
the same command continues. --report prints the shares, and every accepted repair that lost a restriction of its query.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqljury import connect
from sqljury.context import State
from sqljury.evaluation.report import Share
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.pipeline import Pipeline, compiled, run
from sqljury.schema.introspect import introspect
from sqljury.stages.repair import by_program, repair
from sqljury.stages.select.consistency import choose, group
from sqljury.stages.write import fall_back, run_again
from sqljury.types import Candidate, Cost, Limits, Question

RECIPES = ("fast", "default")


def repaired(pipeline: Pipeline, record: dict[str, Any], file: Path, samples: int | None) -> dict[str, Any]:
    """One question's stored candidates, run and repaired as the pipeline does it, and its answer judged."""
    stored = record["candidates"][:samples]
    with connect(file) as db:
        question = Question(record["question"], id=record["id"])
        context = pipeline.context(question, db)
        state = run(compiled(pipeline.recipe, last="prepare"), State.of(question), context)
        for step, cost in record["steps"].items():
            with context.step(step):
                context.budget.charge(Cost(seconds=cost["seconds"]))  # repairs may take as long as writing did
        written = [
            Candidate(one["fixes"][0]["before"] if one["fixes"] else one["sql"], "direct", one["logprob"])
            for one in stored
        ]
        began = time.perf_counter()
        state = run_again(replace(state, candidates=tuple(written)), context)
        part, ran = pipeline.recipe.fix, state.candidates
        fixed = [by_program(one, state.task, context, names=part.names, dialect=part.dialect) for one in ran]
        state = repair(replace(state, candidates=tuple(fixed)), context)
        seconds = time.perf_counter() - began
        none_ran = not any(one.result.ok for one in state.candidates)
        grouped = group(fall_back(state, context).candidates)
        index = choose(grouped)
        sql = "" if index is None else grouped[index].sql
        gold = run_gold(db, record["gold"])
        right = bool(sql) and judge(gold, db.execute(EX.prepare(sql)), EX.ordered(record["gold"])).correct
    fixes = [[{"by": fix.by, "before": fix.before, "reason": fix.reason} for fix in one.fixes] for one in grouped]
    return {
        "id": record["id"],
        "db_id": record["db_id"],
        "gold": record["gold"],
        "sql": sql,
        "right": right,
        "none_ran": none_ran,
        "seconds": seconds,
        "queries": [one.sql for one in grouped],
        "fixes": fixes,
        "chosen": index,
    }


def report(out: Path, data: Path) -> None:
    """Print accuracy by recipe, and the accepted repairs of the model that lost something."""
    from sqljury.sql.preserve import losses

    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for recipe in RECIPES:
        mine = [line for line in lines if line["recipe"] == recipe]
        right = sum(line["right"] for line in mine)
        low, high = Share(right, len(mine)).interval()
        seconds = sum(line["seconds"] for line in mine)
        silent = sum(not line["sql"] for line in mine)
        print(
            f"{recipe}: EX {right / len(mine):.1%} ({low:.0f} - {high:.0f}) of {len(mine)}; no answer {silent}; ",
            end="",
        )
        print(f"repairs {seconds / len(mine):.1f} s a question, at most {max(line['seconds'] for line in mine):.0f} s")
        count = lost = 0
        for line in mine:
            with connect(data / "database" / line["db_id"] / f"{line['db_id']}.sqlite") as db:
                schema = introspect(db)
            for sql, fixes in zip(line["queries"], line["fixes"], strict=True):
                texts = [fix["before"] for fix in fixes] + [sql]
                for fix, before, after in zip(fixes, texts, texts[1:], strict=False):
                    count += fix["by"] == "model"
                    gone = losses(before, after, schema, _texts(before))
                    if gone:
                        lost += 1
                        print(f"  {line['id']} {fix['by']}: {', '.join(gone)}\n    {before}\n    {after}")
        print(f"  repairs by the model {count}, repairs that lost something {lost}")


def _texts(sql: str) -> list[str]:
    """The texts of a query: for a report each of them may have been one that its column lacks."""
    import sqlglot
    from sqlglot import exp

    try:
        return [one.name for one in sqlglot.parse_one(sql, dialect="sqlite").find_all(exp.Literal) if one.is_string]
    except sqlglot.errors.SqlglotError:
        return []


def main() -> None:
    """Repair what is left to repair, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"))
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if arguments.report:
        report(arguments.report, arguments.data)
        return
    records = [json.loads(line) for line in (arguments.run / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    done = set()
    if arguments.out.exists():
        done = {(one["id"], one["recipe"]) for one in map(json.loads, arguments.out.read_text().splitlines())}
    with closing(open_model("qwen2.5-coder-1.5b", cache=False)) as model, arguments.out.open("a") as stream:
        pipelines = {name: replace(Pipeline.from_recipe(name, model), limits=Limits(seconds=30)) for name in RECIPES}
        for record in sorted(records, key=lambda one: one["db_id"])[:: max(1, len(records) // arguments.limit)]:
            file = arguments.data / "database" / record["db_id"] / f"{record['db_id']}.sqlite"
            for name in RECIPES:
                if (record["id"], name) not in done:
                    line = repaired(pipelines[name], record, file, 1 if name == "fast" else None)
                    stream.write(json.dumps({"recipe": name, **line}, ensure_ascii=False) + "\n")
                    stream.flush()


if __name__ == "__main__":
    main()
