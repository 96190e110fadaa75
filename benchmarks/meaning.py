"""What rewrites of meaning do to stored candidates: how often each rule fires, and execution accuracy before and after.

    python benchmarks/meaning.py runs/train_light --data ../shared/spider --out runs/meaning.jsonl
    python benchmarks/meaning.py --gold --data ../shared/spider --out runs/meaning_gold.jsonl
    python benchmarks/meaning.py --gold --data runs/business --out runs/meaning_business.jsonl
    python benchmarks/meaning.py --report runs/meaning.jsonl

The candidates of a run are taken as they were written and as they were repaired there, each different query once. No
model is asked. A line for every rewrite and every remark goes to --out; --report prints the counts by rule and the
queries whose verdict changes. With --gold the gold queries of the training split, or of questions.jsonl in --data, take
the place of candidates: each rewrite of one is a false alarm, or an error in gold.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqljury import connect
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.errors import DatasetError
from sqljury.evaluation.run_folder import forms_of
from sqljury.keys import known_schema
from sqljury.llm.fake import FakeModel
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.sql.meaning import FOR_ERRORS, RULES, Asked, Rewriter
from sqljury.stages.repair.meaning import Content, as_meant, doubts
from sqljury.types import Candidate, Limits, Question, Task
from sqljury.values.explained import explained


def lines(record: dict[str, Any], db: Database, known: Task, context: Context) -> Iterator[dict[str, Any]]:
    """A line for each different query of a question that is rewritten or remarked on, and one for the question."""
    task = replace(known, question=Question(record["question"], record.get("evidence", ""), record["id"]))
    gold, ordered = run_gold(db, record["gold"]), EX.ordered(record["gold"])

    def right(sql: str) -> bool:
        return judge(gold, db.execute(EX.prepare(sql)), ordered).correct

    written = [text for one in record["candidates"] for text in forms_of(one)]
    queries = list(dict.fromkeys(filter(None, written)))
    seconds, proposed = 0.0, Counter[str]()
    for sql in queries:
        candidate = Candidate(sql, "direct", result=db.execute(sql, context.limits))
        asked = Asked(task.question, task.known, Content(task, context), failed=not candidate.result.ok)
        for rule in RULES if candidate.result.ok else FOR_ERRORS:
            proposed[rule.__name__] += Rewriter(sql, asked).rewrite(rule) is not None
        began = time.perf_counter()
        meant = as_meant(candidate, task, context)
        remarks = doubts(meant, task, context)
        seconds += time.perf_counter() - began
        if meant is not candidate or remarks:
            yield {
                "id": record["id"],
                "db_id": record["db_id"],
                "question": record["question"],
                "gold": record["gold"],
                "before": sql,
                "after": meant.sql,
                "reasons": [fix.reason for fix in meant.fixes],
                "remarks": remarks,
                "chosen": sql == record["sql"],
                "right_before": right(sql),
                "right_after": right(meant.sql),
            }
    yield {"id": record["id"], "queries": len(queries), "seconds": seconds, "proposed": +proposed}


def report(out: Path) -> None:
    """Print, by reason, how many queries were rewritten and how many of them were right before and after."""
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    questions = [one for one in records if "queries" in one]
    rewritten = [one for one in records if one.get("reasons")]
    queries, seconds = sum(one["queries"] for one in questions), sum(one["seconds"] for one in questions)
    print(f"{len(questions)} questions, {queries} different queries, {1000 * seconds / queries:.1f} ms a query")
    proposed: Counter[str] = sum((Counter(one["proposed"]) for one in questions), Counter())
    print(f"proposed, before results are compared: {dict(proposed)}")
    for name, chosen in (
        ("all candidates", rewritten),
        ("chosen queries", [one for one in rewritten if one["chosen"]]),
    ):
        counts: Counter[str] = Counter(reason for one in chosen for reason in one["reasons"])
        print(f"{name}: {len(chosen)} rewritten")
        for reason, count in counts.most_common():
            these = [one for one in chosen if reason in one["reasons"]]
            before, after = (sum(one[f"right_{when}"] for one in these) for when in ("before", "after"))
            print(f"  {count:4} {reason}: right before {before}, after {after}")
    remarks: Counter[str] = Counter(remark for one in records for remark in one.get("remarks", ()))
    print(f"remarks: {sum(remarks.values())}")
    for one in rewritten:
        if one["right_before"] != one["right_after"]:
            print(f"{'lost' if one['right_before'] else 'won'} {one['id']} {one['db_id']}: {one['question']}")
            print(f"  gold   {one['gold']}\n  before {one['before']}\n  after  {one['after']}")


def of_run(run: Path) -> list[dict[str, Any]]:
    """The answers of a run."""
    return [json.loads(line) for line in (run / "answers.jsonl").read_text(encoding="utf-8").splitlines()]


def of_gold(data: Path) -> list[dict[str, Any]]:
    """The questions of a folder, each with its gold query as the only candidate."""
    own = data / "questions.jsonl"
    if own.is_file():
        lines = [json.loads(line) for line in own.read_text(encoding="utf-8").splitlines()]
        listed = [{**line, "query": line["sql"]} for line in lines]
    else:
        listed = json.loads((data / "train.json").read_text(encoding="utf-8"))
    return [
        {
            **one,
            "id": f"train-{number:04}",
            "gold": one["query"],
            "sql": one["query"],
            "candidates": [{"sql": one["query"], "fixes": ()}],
        }
        for number, one in enumerate(listed)
    ]


def main() -> None:
    """Replay what is left to replay, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--gold", action="store_true")
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if arguments.report:
        report(arguments.report)
        return
    records = of_gold(arguments.data) if arguments.gold else of_run(arguments.run)
    with arguments.out.open("w", encoding="utf-8") as stream:
        for name in sorted({record["db_id"] for record in records}):
            with connect(arguments.data / "database" / name / f"{name}.sqlite") as db:
                schema = known_schema(db)
                known = Task(Question(""), schema, "", codes=explained(db, schema).columns)
                context = Context(db, FakeModel(""), limits=Limits(seconds=10))
                for record in (one for one in records if one["db_id"] == name):
                    with contextlib.suppress(DatasetError):  # gold that does not run judges nothing
                        for line in lines(record, db, known, context):
                            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
