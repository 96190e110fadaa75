"""The golden run: what the project answers and judges, recorded, to show that a change of structure changes nothing.

    tar -xJf benchmarks/golden.tar.xz -C runs           # recorded on 2026-11-22 at 6d7a4c0
    python benchmarks/golden.py record --out runs/golden --shared ../shared  # asks the model; the same continues
    python benchmarks/golden.py check --out runs/golden --shared ../shared   # asks nothing; prints what differs

Questions of Spider's train split are answered by several recipes, fewer by the slow ones, and every reply of the model
is kept in `replies.sqlite`. A check answers them again from these replies and compares queries, groups, repairs,
choices and scores; a changed prompt is named, since its reply is not there. It also judges the three prediction files
of ../shared by all metrics, audits gold, and builds and runs suites, which needs no model. Seconds, tokens and dollars
are left out. Repairs are not ended by the clock here: kept replies take no time.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqljury import connect
from sqljury.datasets import spider
from sqljury.errors import SqljuryError
from sqljury.llm.cache import Cached
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.stages import repair
from sqljury.types import Answer

RECIPES = {"fast": 60, "default": 60, "light": 40, "mscsql": 12, "rerank": 10, "chase-small": 4}
"""How many of the questions each recipe answers, the first ones."""
SEED = 16
PREDICTIONS = ("DAIL", "DIN", "C3")


class MissingReplyError(Exception):
    """A prompt whose reply was not recorded."""


class Unasked:
    """Stands for the model within a cache: whatever is asked of it has changed."""

    def __init__(self, model: Any) -> None:
        self.name, self.identity, self.count_tokens = model.name, model.identity, model.count_tokens

    def complete(self, messages: Any, *_: Any, **__: Any) -> Any:
        raise MissingReplyError(messages[-1].content[-300:])


def kept(answer: Answer) -> dict[str, Any]:
    """What must stay as it is of an answer."""
    record = answer.to_dict()
    choice = record["choice"]
    return {
        "sql": record["sql"],
        "rows": len(record["rows"]),
        "confidence": record["confidence"],
        "remarks": record["remarks"],
        "linked": record["linked"],
        "candidates": [
            [c["sql"], c["result_group"], c["error"], [f["by"] for f in c["fixes"]]] for c in record["candidates"]
        ],
        "chosen": [
            choice["candidate"],
            choice["scores"],
            [c["first_wins"] for c in choice["comparisons"]],
            choice["note"],
        ],
        "tests": [[test["passed"], test["classes"]] for test in choice["tests"]],
    }


def answers(shared: Path, model: Any, known: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """A line for each recipe and question that is not ``known``."""
    examples = spider.load(shared / "spider", "train")
    drawn = random.Random(SEED).sample(examples, max(RECIPES.values()))
    for recipe, count in RECIPES.items():
        answering = Pipeline.from_recipe(recipe, model, opened=lambda _: model)
        unhurried = replace(answering.recipe.fix, seconds=3600.0)
        answering = replace(answering, recipe=replace(answering.recipe, fix=unhurried))
        for example in drawn[:count]:
            if (recipe, example.id) in known:
                continue
            line: dict[str, Any] = {"recipe": recipe, "id": example.id, "question": example.question.text}
            try:
                with connect(example.database) as db:
                    line["answer"] = kept(answering.answer(example.question, db, seed=SEED))
            except SqljuryError as error:
                line["error"] = f"{type(error).__name__}: {error}"
            except MissingReplyError as error:
                line["error"] = f"another prompt, which ends: {error}"
            yield line


def judged(shared: Path) -> Iterator[tuple[str, str]]:
    """The name and the output of each command that needs no model."""
    data, files = shared / "spider", shared / "predictions" / "spider_dev"
    gold = ["--gold", str(files / "gold.txt"), "--db-dir", str(data / "database")]
    with tempfile.TemporaryDirectory() as folder:
        metrics = ["--metrics", "ex,exe,esm,esm+", "--agreement", "--partial", "--output", "json"]
        for name in PREDICTIONS:
            lines = ["--per-query", f"{folder}/{name}.tsv", "--tables", str(data / "tables.json")]
            yield f"eval-{name}.json", run("eval", *gold, "--pred", str(files / f"{name}.txt"), *metrics, *lines)
            yield f"eval-{name}.tsv", Path(f"{folder}/{name}.tsv").read_text(encoding="utf-8")
        audit = ["--data", str(data), "--out", f"{folder}/audit.jsonl", "--limit", "200", "--seed", str(SEED)]
        yield "audit.json", run("audit", "spider", *audit, "--output", "json")
        few = Path(folder, "gold.txt")
        few.write_text("".join((files / "gold.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:100]))
        run("suite", "build", "--gold", str(few), *gold[2:], "--out", f"{folder}/suite", "--seed", str(SEED))
        for name in PREDICTIONS:
            first = Path(folder, f"{name}.txt")
            first.write_text(
                "".join((files / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:100])
            )
            suite = ["--suite", f"{folder}/suite", "--metrics", "suite", "--output", "json"]
            yield f"suite-{name}.json", run("eval", "--gold", str(few), *gold[2:], "--pred", str(first), *suite)


def run(*arguments: str) -> str:
    """What a command of sqljury prints, paths and times of this run left out."""
    command = [sys.executable, "-m", "sqljury", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr}"
    return "\n".join(
        line for line in done.stdout.splitlines() if "seconds" not in line and tempfile.gettempdir() not in line
    )


def record(out: Path, shared: Path) -> None:
    """Answer what is not answered yet, keeping replies; then run the commands without a model."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "answers.jsonl"
    known = {(line["recipe"], line["id"]) for line in read(file)}
    with closing(Cached(open_model(cache=False), out / "replies.sqlite")) as model, file.open("a") as stream:
        for line in answers(shared, model, known):
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            stream.flush()
    for name, text in judged(shared):
        (out / name).write_text(text, encoding="utf-8")


def check(out: Path, shared: Path) -> int:
    """Print every difference to what was recorded; the number of them."""
    before = {(line["recipe"], line["id"]): line for line in read(out / "answers.jsonl")}
    differing = compared = 0
    with closing(Cached(Unasked(open_model(cache=False)), out / "replies.sqlite", max_age=None)) as model:
        for line in answers(shared, model, set()):
            old = before.get((line["recipe"], line["id"]))
            if old is None:
                continue
            compared += 1
            if line != old:
                differing += 1
                print(f"{line['recipe']} {line['id']}: {line['question']}")
                pair = (json.dumps(one.get("answer", one.get("error")), indent=1).splitlines() for one in (old, line))
                print("\n".join(difflib.unified_diff(*pair, "recorded", "now", lineterm="", n=0)))
    for name, text in judged(shared):
        compared += 1
        recorded = (out / name).read_text(encoding="utf-8") if (out / name).exists() else ""
        if recorded != text:
            differing += 1
            lines = difflib.unified_diff(recorded.splitlines(), text.splitlines(), name, "now", lineterm="", n=0)
            print("\n".join(list(lines)[:20]))
    print(f"{compared - differing} of {compared} the same")
    return differing


def read(file: Path) -> list[dict[str, Any]]:
    """The lines of a file, none where it is not there."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def main() -> int:
    """Record or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "check"))
    parser.add_argument("--out", type=Path, default=Path("runs/golden"))
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    arguments = parser.parse_args()
    repair.SECONDS = float("inf")  # type: ignore[misc]
    if arguments.what == "record":
        record(arguments.out, arguments.shared)
        return 0
    return int(check(arguments.out, arguments.shared) > 0)


if __name__ == "__main__":
    sys.exit(main())
