"""Which tables linkers keep, against those that gold needs: retrieval, a greedy reply, several replies put together.

    python benchmarks/linker.py --data ../shared/spider --split train --limit 40 --seed 3 --out runs/linker.jsonl
    python benchmarks/linker.py --data ../shared/spider --split train --limit 400 --seed 3 --no-model

Needed are the tables that the gold query names (``schema.used``). The file has a line a question: what each reply
named, and by what it was ``made``; the same command goes on where it stopped, and a file that was made by another
model, of other questions or otherwise is refused. A larger ``--limit`` is the same command with more questions.
Then a line for each linker: questions that keep every needed table, needed tables kept, tables kept by needed ones,
and the mean of that ratio over questions. All are closed along foreign keys, as ``link`` does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from sqljury import Question, connect, recipes
from sqljury.context import Context
from sqljury.llm.base import derive_seed
from sqljury.llm.open import open_model
from sqljury.recipes.parts import LinkPart
from sqljury.schema.retrieve import Indexes
from sqljury.sql.resolve import used
from sqljury.stages.link import ask, keep, retrieved, scored
from sqljury.stages.prepare import Preparation
from sqljury.types import Limits, Task

SHARES = (0.9, 0.8, 0.7, 0.65, 0.6, 0.5)
Found = dict[str, list[tuple[int, int, int]]]
"""By linker, for each question the tables that are needed, those of them that it keeps, and all that it keeps."""


def main() -> None:
    """Ask what has not been asked, then print the figures; ends with a word on it where the file has other replies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="Spider's folder")
    parser.add_argument("--split", default="train")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--samples", type=int, default=3, help="replies put together; 0 for the greedy one alone")
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--out", type=Path, help="a line a question; needed with a model")
    parser.add_argument("--model", help="the linker's model; the embedded one by default")
    parser.add_argument("--no-model", action="store_true", help="retrieval alone")
    options = parser.parse_args()
    source = (options.data / f"{options.split}.json").read_bytes()
    listed = json.loads(source)
    drawn = random.Random(options.seed).sample(range(len(listed)), min(options.limit, len(listed)))
    model = None if options.no_model else open_model(options.model)
    if (model is None) != (options.out is None):
        parser.error("name the file of the replies with --out, or ask no model with --no-model; not both")
    settings = {name: getattr(options, name) for name in ("split", "seed", "samples", "temperature")}
    made = {"model": model and model.name, "questions": hashlib.sha256(source).hexdigest(), **settings}
    known = _known(options.out, made)
    found: Found = {}
    indexes, prepared = Indexes(), Preparation(recipes.load("default").schema)
    for number in sorted(drawn, key=lambda one: (listed[one]["db_id"], one)):
        entry = listed[number]
        path = options.data / "database" / entry["db_id"] / f"{entry['db_id']}.sqlite"
        with connect(path) as db:
            task = prepared.task(Question(entry["question"]), db)
            if model is not None and number not in known:
                context = Context(db, model, Limits(), derive_seed(options.seed, number))
                replies = _replies(task, context, options.samples, options.temperature)
                known[number] = {"number": number, "made": made, **replies}
                with options.out.open("a") as file:
                    file.write(json.dumps(known[number]) + "\n")
                print(entry["db_id"], known[number], flush=True)
        needed = {table.name for table in used(task.known, [entry["query"]]).tables}
        if needed:
            _count(found, task, needed, known.get(number, {}), indexes)
    report(found)


def _known(file: Path | None, made: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """By its number what each question's line says; ends the program where one was made by something else."""
    lines = file.read_text().splitlines() if file is not None and file.is_file() else []
    found = {line["number"]: line for line in map(json.loads, lines)}
    for line in found.values():
        before = line.get("made", {})
        if differ := sorted(key for key in made if before.get(key) != made[key]):
            raise SystemExit(f"{file}: holds replies made otherwise ({', '.join(differ)} differ); name another --out")
    return found


def _replies(task: Task, context: Context, samples: int, temperature: float) -> dict[str, Any]:
    """The places of the tables that the model names, greedily and in any of several replies; seconds of each call."""
    if len(task.known.tables) == 1:
        return {"greedy": [0], "union": [0], "seconds": []}
    parts = {"greedy": LinkPart("model", samples=1, temperature=0.0)}
    parts |= {"union": LinkPart("model", samples=samples, temperature=temperature)} if samples else {}
    replies = {}
    for kind, part in parts.items():
        with context.step(kind):
            replies[kind] = ask(task, part, context)
    seconds = [round(cost.seconds, 1) for _, cost in context.budget.steps]
    return {**{kind: sorted(places) for kind, places in replies.items()}, "seconds": seconds}


def _count(found: Found, task: Task, needed: set[str], line: Mapping[str, Sequence[int]], indexes: Indexes) -> None:
    """Add a question to the figures of every linker."""
    scores = scored(task, indexes)
    for name, picked in _linkers(scores, line):
        kept = {table.name for table in keep(task.known, picked, scores, indexes).tables}
        found.setdefault(name, []).append((len(needed), len(needed & kept), len(kept)))


def _linkers(scores: list[float], line: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, set[int]]]:
    yield "all tables", set(range(len(scores)))
    for share in SHARES:
        yield f"retrieval, share {share:g}", retrieved(scores, share)
    for kind in sorted(line.keys() & {"greedy", "union"}):
        yield kind, set(line[kind])
        for share in (1.0, *SHARES[:-1]):
            yield f"{kind} and retrieval, share {share:g}", set(line[kind]) | retrieved(scores, share)


def report(found: Found) -> None:
    """A line for each linker; those with a model have the questions that it was asked."""
    print(f"{'linker':34} questions  complete, %  recall, %  kept by needed  mean of that")
    for name, rows in found.items():
        needed, there, kept = (sum(row[at] for row in rows) for at in range(3))
        whole = 100 * mean(row[0] == row[1] for row in rows)
        ratio = mean(row[2] / row[0] for row in rows)
        print(f"{name:34} {len(rows):9} {whole:12.1f} {100 * there / needed:10.1f} {kept / needed:15.2f} {ratio:13.2f}")


if __name__ == "__main__":
    main()
