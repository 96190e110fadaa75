"""Pairs for a judge from gold queries alone: each against a mistake in it.

A run gives a pair only where a model erred; of a benchmark's easy questions that is every third. A mistake is a
neighbour of gold (``sql.mutate``) that returns something else. It teaches a judge to read the question against the
columns and conditions of a query, before it has seen a model's own mistakes. Both queries are written in one style, so
that the style does not tell which is gold.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from sqljury.datasets.spider import Example
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.errors import DatasetError
from sqljury.llm.base import derive_seed
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.parallel.crew import Crew
from sqljury.recipes.parts import Recipe
from sqljury.schema.introspect import introspect
from sqljury.sql.mutate import misreadings, neighbours
from sqljury.sql.resolve import column_names
from sqljury.sql.style import restyled
from sqljury.stages.prepare import Preparation
from sqljury.stages.select.features import NONE
from sqljury.train.data import LeftOut, made_on_databases
from sqljury.train.data_judged import JudgedQuestion, pairwise_examples
from sqljury.train.examples import TrainingExample
from sqljury.train.replay import Replayed
from sqljury.types import Candidate, Result

TRIED: Final = 12
"""Mistakes of a question that are run, at most; half of them misread a column."""
_TELLTALE: Final = ("!=", ">=", "<=", "LIMIT 0", "LEFT JOIN", "x'")
"""What mistakes made by rule have and queries seldom: where gold has none of it, it would tell which is wrong."""


def mistake_examples(
    examples: Sequence[Example],
    recipe: Recipe,
    seed: int,
    pairs: int,
    processes: int | Crew = 1,
    *,
    both_orders: bool = False,
) -> Iterator[TrainingExample | LeftOut]:
    """Up to ``pairs`` pairs of a question: its gold query and a query that returns other rows, but some.

    Left out are questions whose gold query fails, returns nothing or cannot be written in the one style, and those
    without such a mistake.
    """
    maker = partial(_Mistaken, recipe=recipe, seed=seed, pairs=pairs, both_orders=both_orders)
    return made_on_databases(examples, maker, processes)


class _Mistaken:
    """Makes the examples of one database."""

    def __init__(self, db: Database, recipe: Recipe, seed: int, pairs: int, *, both_orders: bool) -> None:
        self._db, self._recipe, self._seed, self._pairs, self._both = db, recipe, seed, pairs, both_orders
        self._preparation, self._schema = Preparation(recipe.schema), introspect(db)

    def examples(self, example: Example) -> Iterator[TrainingExample | LeftOut]:
        try:
            gold = run_gold(self._db, example.gold_sql)
        except DatasetError:
            yield LeftOut(example.id, "failed")
            return
        text = restyled(example.gold_sql, self._schema) or ""
        shown = self._db.execute(text, DEFAULT_LIMITS)
        same = bool(shown.rows) and judge(gold, shown, EX.ordered(example.gold_sql)).correct
        wrong = self._wrong(example, text, gold) if same else []
        if not wrong:
            yield LeftOut(example.id, "none")
            return
        correct = Candidate(text, "gold", result=shown)
        replayed = Replayed(
            id=example.id,
            db_id=example.db_id,
            database=Path(example.database),
            task=self._preparation.task(example.question, self._db),
            candidates=(correct, *wrong),
            correct=frozenset(),  # these candidates are not grouped
            right=frozenset([text]),
            gold=text,
            opinions=NONE,
            judged=self._recipe.select.schema,
        )
        question = JudgedQuestion(replayed, (correct,), tuple(wrong), "mistake")
        yield from pairwise_examples([question], self._seed, self._pairs, both_orders=self._both)

    def _wrong(self, example: Example, text: str, gold: Result) -> list[Candidate]:
        """Mistakes in the gold query, written as ``text``, that return rows, and others than gold does."""
        rng = random.Random(derive_seed(self._seed, "mistakes", example.id))  # noqa: S311
        kinds = [misreadings(text, self._schema), neighbours(text, column_names(self._schema), seed=self._seed)]
        wrong: list[Candidate] = []
        for texts in kinds:
            for changed in rng.sample(texts, min(TRIED // 2, len(texts))):
                mistake = restyled(changed, self._schema)
                if mistake is None or any(part in mistake and part not in text for part in _TELLTALE):
                    continue
                result = self._db.execute(mistake, DEFAULT_LIMITS)
                if result.ok and result.rows and not judge(gold, result, EX.ordered(example.gold_sql)).correct:
                    wrong.append(Candidate(mistake, "mistake", result=result))
        return wrong
