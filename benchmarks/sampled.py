"""Candidates for questions of Spider's train split, sampled once: what fixer.py and judge.py are measured on.

Replies are kept in the reply cache, so that a second run with the same options asks the model nothing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqljury import Question, connect, recipes
from sqljury.context import Context
from sqljury.llm.base import LanguageModel, Sampling, derive_seed
from sqljury.llm.replies import STOP, extract_sql
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.schema.introspect import introspect
from sqljury.stages.generate.direct import messages
from sqljury.stages.prepare import Preparation, value_index
from sqljury.stages.repair import by_program
from sqljury.stages.select.consistency import group
from sqljury.types import Candidate, Limits, Task

TEMPERATURE = 1.0
LIMITS = Limits(seconds=10)


@dataclass(frozen=True)
class Sampled:
    """One question: its candidates, grouped and repaired without the model, and which of them are right."""

    entry: dict[str, str]
    task: Task
    context: Context
    candidates: tuple[Candidate, ...]

    def right(self, sql: str) -> bool:
        """Whether the query returns what gold returns."""
        gold = run_gold(self.context.db, self.entry["query"])
        return bool(sql) and judge(gold, self.context.db.execute(sql), EX.ordered(self.entry["query"])).correct


def chosen(data: Path, limit: int, seed: int) -> list[dict[str, Any]]:
    """The first ``limit`` questions of a shuffled train split: a larger limit goes on from there."""
    listed = json.loads((data / "train.json").read_text())
    random.Random(seed).shuffle(listed)
    return listed[:limit]


@contextmanager
def sampled(data: Path, entry: dict[str, str], model: LanguageModel, samples: int, seed: int) -> Iterator[Sampled]:
    """The question's candidates, with its database open."""
    prepared = Preparation(replace(recipes.load("default").schema, values=0))
    with connect(data / "database" / entry["db_id"] / f"{entry['db_id']}.sqlite") as db:
        task = prepared.task(Question(entry["question"]), db)
        own = derive_seed(seed, entry["question"])
        values = cache(partial(value_index, db, partial(introspect, db)))
        context = Context(db, model, LIMITS, own, values=values)
        sampling = Sampling(temperature=TEMPERATURE, top_p=0.95, max_tokens=300, seed=own, stop=STOP)
        replies = model.complete(messages(task), sampling, samples).completions if samples else ()
        written = [extract_sql(one.text) for one in replies]
        candidates = [Candidate(sql, "direct", result=db.execute(sql, LIMITS)) for sql in written if sql]
        repaired = [by_program(one, task, context) for one in candidates]
        yield Sampled(entry, task, context, group(repaired))
