"""What repairs make of stored candidates: questions without an answer, calls and seconds of the model, what was right.

    python benchmarks/repairs.py runs/strip_before --data runs/strip --recipes fast --out runs/fix_after.jsonl
    python benchmarks/repairs.py runs/strip_before --data runs/strip --model none --out runs/program.jsonl
    python benchmarks/repairs.py runs/strip_before --data runs/strip --failed --out runs/failed.jsonl
    python benchmarks/repairs.py --data runs/strip --report runs/fix_before.jsonl runs/fix_after.jsonl

The candidates of a run are taken as they were first written, so that only repairs and the fallback ask the model.
`fast` has a question's first candidate alone, `default` all of them and votes. With `--model none` only the program
repairs; `--failed` takes the questions that the run left without an answer. A line a question goes to --out; the same
command continues. For figures before a change, the same command in a checkout of the commit before it. --report
prints a column for each file, with --losses every accepted repair that lost a restriction of its query.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from sqljury import FakeModel, connect
from sqljury.context import Context, State
from sqljury.evaluation.report import Share
from sqljury.evaluation.run_folder import forms_of
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.pipeline import Pipeline, compiled, run
from sqljury.schema.introspect import introspect
from sqljury.stages import repair as repairs
from sqljury.stages.select.consistency import choose, group
from sqljury.stages.write import fall_back, run_again
from sqljury.types import Candidate, Cost, Limits, Question

RECIPES = ("fast", "default")
NO_MODEL = "none"


def repaired(pipeline: Pipeline, record: dict[str, Any], file: Path, *, asks: bool) -> dict[str, Any]:
    """One question's stored candidates, run and repaired as the pipeline does it, and its answer judged."""
    first = pipeline.recipe.name == "fast"
    stored = [one for one in record["candidates"] if one["part"] == 0][:1] if first else record["candidates"]
    with connect(file) as db:
        question = Question(record["question"], id=record["id"])
        context = pipeline.context(question, db)
        state = run(compiled(pipeline.recipe, last="prepare"), State.of(question), context)
        written = tuple(Candidate(forms_of(one)[0], "direct", one["logprob"]) for one in stored)
        charge_writing(context, record, {one["part"] for one in stored})
        state = run_again(replace(state, candidates=written), context)
        before = context.budget.total()
        began = time.perf_counter()
        ran = state.candidates
        fixed = [repairs.all_by_program(candidate, state.task, context) for candidate in ran]
        state = replace(state, candidates=tuple(chain.from_iterable(fixed)))
        state = repairs.repair(state, context) if asks else state
        none_ran = not any(one.result.ok for one in state.candidates)
        fell = time.perf_counter()
        state = fall_back(state, context) if asks else state
        ended = time.perf_counter()
        grouped = group(state.candidates)
        index = choose(grouped)
        sql = "" if index is None else grouped[index].sql
        gold = run_gold(db, record["gold"])

        def right(query: str) -> bool:
            return bool(query) and judge(gold, db.execute(EX.prepare(query)), EX.ordered(record["gold"])).correct

        by_model = [one for one in grouped if any(fix.by == "model" for fix in one.fixes)]
        line = {
            "right": right(sql),
            "model_repairs": len(by_model),
            "model_repairs_right": sum(right(one.sql) for one in by_model),
        }
    total = context.budget.total()
    return {
        **{key: record[key] for key in ("id", "db_id", "gold")},
        **line,
        "sql": sql,
        "ran_as_written": sum(one.result.ok for one in ran),
        "ran_by_program": sum(readings[0].result.ok for readings in fixed),
        "written": len(ran),
        "none_ran": none_ran,
        "seconds": fell - began,
        "fallback_seconds": ended - fell,
        "calls": total.calls - before.calls,
        "queries": [one.sql for one in grouped],
        "errors": [str(one.result.error or "") for one in grouped],
        "fixes": [[{"by": fix.by, "before": fix.before, "reason": fix.reason} for fix in one.fixes] for one in grouped],
        "chosen": index,
    }


def charge_writing(context: Context, record: dict[str, Any], parts: set[int]) -> None:
    """Charge what the stored candidates took: repairs may take as long as writing did."""
    for step, cost in record["steps"].items():
        number, _, _ = step.partition(" ")
        if number.isdigit() and int(number) - 1 in parts:
            with context.step(step):
                context.budget.charge(Cost(seconds=cost["seconds"]))


def report(files: Sequence[Path], data: Path, *, losses: bool) -> None:
    """Print a column of figures for each file, by recipe, over the questions that all files have."""
    read = [[json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files]
    shared = set.intersection(*({(line["recipe"], line["id"]) for line in lines} for lines in read))
    for recipe in RECIPES:
        columns = [
            [one for one in lines if one["recipe"] == recipe and (recipe, one["id"]) in shared] for lines in read
        ]
        if not columns[0]:
            continue
        tables = [figures(column) for column in columns]
        print(f"\n{recipe}, {len(columns[0])} questions".ljust(48), *(f"{file.stem:>24}" for file in files))
        for name in tables[0]:
            print(name.ljust(47), *(f"{table[name]:>24}" for table in tables))
        if losses:
            for lines in columns:
                print_losses(lines, data)


def figures(lines: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The figures of one recipe and file, as text."""
    count = len(lines)

    def mean(key: str) -> str:
        return f"{sum(line[key] for line in lines) / count:.2f}, most {max(line[key] for line in lines):.1f}"

    def share(part: int, whole: int) -> str:
        low, high = Share(part, whole).interval()
        return f"{part}/{whole} {part / max(whole, 1):.1%} ({low:.0f}-{high:.0f})"

    written = sum(line["written"] for line in lines)
    return {
        "EX": share(sum(line["right"] for line in lines), count),
        "queries that run as written": share(sum(line["ran_as_written"] for line in lines), written),
        "queries that run, repaired without the model": share(sum(line["ran_by_program"] for line in lines), written),
        "questions where none runs before the fallback": share(sum(line["none_ran"] for line in lines), count),
        "questions without an answer": share(sum(not line["sql"] for line in lines), count),
        "calls a question": mean("calls"),
        "seconds of repairs a question": mean("seconds"),
        "seconds of the fallback a question": mean("fallback_seconds"),
        "repairs of the model that were accepted": str(sum(line["model_repairs"] for line in lines)),
        "of these right": str(sum(line["model_repairs_right"] for line in lines)),
    }


def print_losses(lines: Sequence[dict[str, Any]], data: Path) -> None:
    """Print every accepted repair that lost something of its query."""
    from sqljury.sql.preserve import losses

    for line in lines:
        with connect(file_of(line, data)) as db:
            schema = introspect(db)
        for sql, fixes in zip(line["queries"], line["fixes"], strict=True):
            texts = [fix["before"] for fix in fixes] + [sql]
            for fix, before, after in zip(fixes, texts, texts[1:], strict=False):
                if gone := losses(before, after, schema, _texts(before)):
                    print(f"  {line['id']} {fix['by']}: {', '.join(gone)}\n    {before}\n    {after}")


def _texts(sql: str) -> list[str]:
    """The texts of a query: for a report each of them may have been one that its column lacks."""
    import sqlglot
    from sqlglot import exp

    try:
        return [one.name for one in sqlglot.parse_one(sql, dialect="sqlite").find_all(exp.Literal) if one.is_string]
    except sqlglot.errors.SqlglotError:
        return []


def file_of(record: dict[str, Any], data: Path) -> Path:
    """The SQLite file of a record's database."""
    return data / "database" / record["db_id"] / f"{record['db_id']}.sqlite"


def chosen(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The records to repair, a database's questions together."""
    lines = (options.run / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if record["candidates"]]
    if options.failed:
        records = [record for record in records if not record["sql"]]
    records.sort(key=lambda one: one["db_id"])
    yield from records[:: max(1, len(records) // options.limit)] if options.limit else records


def main() -> None:
    """Repair what is left to repair, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"))
    parser.add_argument("--limit", type=int, default=200, help="questions, evenly drawn; 0 for all")
    parser.add_argument("--failed", action="store_true", help="only questions that the run left without an answer")
    parser.add_argument("--recipes", default=",".join(RECIPES), help="of fast and default, with commas between")
    parser.add_argument(
        "--model", default="qwen2.5-coder-1.5b", help=f"as for sqljury; {NO_MODEL}: program repairs only"
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path, nargs="+")
    parser.add_argument("--losses", action="store_true")
    options = parser.parse_args()
    if options.report:
        report(options.report, options.data, losses=options.losses)
        return
    done = set()
    if options.out.exists():
        done = {(one["id"], one["recipe"]) for one in map(json.loads, options.out.read_text().splitlines())}
    asks = options.model != NO_MODEL
    opened = closing(open_model(options.model, cache=False)) if asks else nullcontext(FakeModel("SELECT 1"))
    with opened as model, options.out.open("a", encoding="utf-8") as stream:
        for record in chosen(options):
            for name in options.recipes.split(","):
                if (record["id"], name) in done:
                    continue
                by_name = partial(open_model, base=options.model, cache=False)
                made = Pipeline.from_recipe(name, None if asks else model, Limits(seconds=30), by_name)
                line = repaired(made, record, file_of(record, options.data), asks=asks)
                stream.write(json.dumps({"recipe": name, **line}, ensure_ascii=False) + "\n")
                stream.flush()


if __name__ == "__main__":
    main()
