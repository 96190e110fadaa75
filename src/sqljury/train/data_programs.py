"""The program selector's training set: two programs for a question, of which one returns what gold returns.

TS-SQL, section 4.3.2 and appendix A.6: a fine-tuned model is shown the data frames, the question and two pandas
programs with their results, one correct and one not, and names the correct one. The paper does not say what it learned
from. Here a model writes programs for training questions on a small test database, made so that it tells the run's
candidates and the gold query apart; a program is correct if it returns there what the gold query does.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from sqljury.context import Context
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.db.connect import connect
from sqljury.llm.base import LETTERS, LanguageModel, derive_seed
from sqljury.recipes import Recipe
from sqljury.recipes.parts import TestsPart
from sqljury.sandbox import Warm
from sqljury.sql.compare import TRIAL
from sqljury.stages import prepare
from sqljury.testing.agents import Programs, run_programs
from sqljury.testing.agents.code import Ran
from sqljury.testing.agents.vote import choosing
from sqljury.testing.trial import finds, grouped
from sqljury.train.data import question_meta
from sqljury.train.examples import TrainingExample
from sqljury.train.replay import Replayed
from sqljury.types import Result

MAX_PAIRS: Final = 4
"""Pairs of one question, drawn by the seed."""
WRITTEN: Final = TestsPart(kind="agents", data="program", codes=5)
"""How programs are written where the recipe has no tests by agents: five on rows that are made by program."""


@dataclass(frozen=True, slots=True)
class ProgramWriter:
    """Who writes the programs, and by which recipe; ``sandbox`` runs them and is closed by its owner."""

    model: LanguageModel
    recipe: Recipe
    seed: int = 0
    both_orders: bool = False
    sandbox: Warm = field(default_factory=Warm)

    @property
    def tests(self) -> TestsPart:
        """The recipe's part, in which a choice among programs is left open: no program may stay uninspected."""
        part = self.recipe.tests if self.recipe.tests.kind == "agents" else WRITTEN
        return replace(part, by="code", voting="selection", models=())

    def context(self, question: Replayed, db: Database) -> Context:
        """What the agents work with on one question."""
        seed = derive_seed(self.seed, "programs", question.id)
        context = Context(db, self.model, DEFAULT_LIMITS, seed, recipe=self.recipe, sandbox=self.sandbox)
        return replace(context, values=prepare.values_of(context))


def selector_examples(questions: Iterable[Replayed], writer: ProgramWriter) -> Iterator[TrainingExample]:
    """Up to ``MAX_PAIRS`` pairs of a correct and a wrong program for each question; the answer is the correct letter.

    One program stands for all that return the same. Questions on whose test data gold finds nothing are passed over:
    there any failing program would be right. Raises what the model raises, ``SandboxError`` where programs cannot be
    isolated and ``MissingExtraError`` without the extra.
    """
    for question in questions:
        with connect(question.database) as db:
            context = writer.context(question, db)
            queries = tuple(
                dict.fromkeys(
                    [question.gold, *(candidate.sql for candidate in question.candidates if candidate.result.ok)]
                )
            )
            tested = run_programs(queries, question.task, writer.tests, context)
        if tested is None:
            continue
        [gold, *_], programs = tested
        yield from _pairs(question, gold, programs, writer)


def _pairs(question: Replayed, gold: Result, programs: Programs, writer: ProgramWriter) -> Iterator[TrainingExample]:
    right, wrong = _by_verdict(gold, programs)
    rng = random.Random(derive_seed(writer.seed, "program pairs", question.id))  # noqa: S311
    pairs = [(correct, incorrect) for correct in right for incorrect in wrong]
    meta = question_meta(question.id, question.db_id, question.task.question.text)
    for correct, incorrect in rng.sample(pairs, min(MAX_PAIRS, len(pairs))):
        first = rng.randrange(2)
        for index in (first, 1 - first) if writer.both_orders else (first,):
            messages = choosing(
                programs.asked, (correct, incorrect) if index == 0 else (incorrect, correct), programs.shown
            )
            yield TrainingExample(tuple(messages), LETTERS[index], {"kind": "pairwise", **meta, "programs": True})


def _by_verdict(gold: Result, programs: Programs) -> tuple[list[Ran], list[Ran]]:
    """A program for each result: those that return what gold does, at most one, and the others that ran."""
    if not gold.ok or gold.truncated or not finds(gold):
        return [], []
    groups = grouped([gold, *(program.result for program in programs.ran)], TRIAL)
    right = [programs.ran[group[1] - 1] for group in groups if group[0] == 0 and len(group) > 1]
    return right, [programs.ran[group[0] - 1] for group in groups if group[0] != 0]
