"""Seconds until the first token of `fast`: a new database, a known one, and a known one in a new process.

    .venv/bin/python benchmarks/first_token.py [--runs 5]

Builds the example database in a temporary folder; wall time, from the question to the first piece of text.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sqljury import Question, connect
from sqljury.llm.base import Sampling
from sqljury.llm.local import LocalModel
from sqljury.llm.replies import STOP
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
from sqljury.schema.samples import sample
from sqljury.stages.generate.direct import messages
from sqljury.types import Task

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    "How many customers are there?",
    "What is the most expensive product?",
    "Which suppliers are in the same town as a customer?",
    "How many orders were placed in March 2023?",
    "List the job titles of all employees.",
    "What did the last order cost?",
)


def first_token(model: LocalModel, question: str, database: Path) -> float:
    """Seconds from reading the schema to the first text of one greedy query."""
    started = time.perf_counter()
    arrived: list[float] = []
    with connect(database) as db:
        schema = introspect(db)
        task = Task(Question(question), schema, render(schema, sample(db, schema, 3)))
        model.complete(
            messages(task),
            Sampling(max_tokens=60, stop=STOP),
            on_text=lambda *_: arrived.append(time.perf_counter() - started),
        )
    return arrived[0]


def main() -> None:
    """Print the table, or with ``--child`` the seconds of one question with what the parent left behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--child", nargs=2, metavar=("DATABASE", "STATES"))
    options = parser.parse_args()
    if options.child:
        database, states = map(Path, options.child)
        started = time.perf_counter()
        model = LocalModel(states=states)
        model.count_tokens("")  # loads the weights
        loaded = time.perf_counter() - started
        print(loaded, first_token(model, QUESTIONS[0], database))
        return
    with tempfile.TemporaryDirectory() as folder:
        database, states = Path(folder) / "shop.db", Path(folder) / "states"
        subprocess.run([sys.executable, str(ROOT / "examples/shop/build.py"), str(database)], check=True)
        model = LocalModel(states=states)
        model.count_tokens("")
        new = first_token(model, QUESTIONS[0], database)
        known = [first_token(model, QUESTIONS[1 + run % 5], database) for run in range(options.runs)]
        model.close()
        command = [sys.executable, __file__, "--child", str(database), str(states)]
        children = [
            [float(figure) for figure in subprocess.check_output(command, text=True).split()]
            for _ in range(options.runs)
        ]
    print("first token, `fast`, example database     seconds (median, min - max)")
    show("new database", [new])
    show("known database, second question", known)
    show("known database, new process, loaded", [seconds for _, seconds in children])
    show("  loading the weights, in addition", [seconds for seconds, _ in children])


def show(name: str, seconds: list[float]) -> None:
    """One line of the table."""
    print(f"{name:40s}  {statistics.median(seconds):6.2f} ({min(seconds):.2f} - {max(seconds):.2f})")


if __name__ == "__main__":
    main()
