"""The generator's training set: its own right answers, and gold queries where it has none.

Rejection sampling: of the candidates that a model wrote for training questions, those that return what gold returns
are learned. They are likely under the model already, so that it keeps its own manner; gold queries alone teach it the
manner of a benchmark's authors. All answers are written in one style (``sql.style``), and each is run before it is
learned. Without candidates this is the set of MSc-SQL (section 3.2): a schema with the tables that the answer reads
and some extra ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from os import PathLike
from typing import Any, Final, Literal, NamedTuple

from sqljury.audit import LIKELY, Data, Subject, audit
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.errors import DatasetError, InputError
from sqljury.keys import known_schema
from sqljury.llm.base import derive_seed
from sqljury.metrics.execution import EX, LIMITS, judge, run_gold
from sqljury.parallel.crew import Crew
from sqljury.prompts import unmarked
from sqljury.recipes.parts import Recipe, SchemaPart
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.sql.resolve import used
from sqljury.sql.style import restyled
from sqljury.stages.generate.direct import messages
from sqljury.stages.prepare import Preparation
from sqljury.train.data import LeftOut, made_on_databases, question_meta, shows
from sqljury.train.examples import TrainingExample
from sqljury.train.replay import Replayed
from sqljury.types import Candidate, Limits, Question, Result, Schema, Task
from sqljury.types.schema import only_tables

EXTRA_TABLES: Final = (0.5, 0.3, 0.2)
"""Default probabilities of 0, 1 and 2 extra tables; MSc-SQL does not give its own."""

AUDIT_LIMITS: Final = Limits(seconds=10.0, rows=100_000)
"""Of one query of the audit; a check that needs more says nothing."""

GoldUse = Literal["never", "where-none", "always"]
Shown = Literal["whole", "linked", "both"]


@dataclass(frozen=True, slots=True)
class GeneratorSet:
    """How a generator's set is made.

    ``part`` is how the recipe shows schemas. ``gold``: whether gold queries are answers. ``shown``: the whole schema,
    the tables that the answer reads with extra ones, whose number is drawn by the weights ``extra_tables``, or an
    example of each. ``per_question`` is the largest number of the model's own answers to a question. With ``audited``
    questions are left out in whose gold query the audit suspects an error. Raises ``InputError`` for weights that are
    negative, infinite or all 0, and for less than one answer a question.
    """

    part: SchemaPart
    seed: int = 0
    gold: GoldUse = "where-none"
    shown: Shown = "whole"
    extra_tables: Sequence[float] = EXTRA_TABLES
    per_question: int = 2
    audited: bool = True

    def __post_init__(self) -> None:
        weights = self.extra_tables
        if not weights or min(weights) < 0 or not 0 < sum(weights) < inf:
            raise InputError(
                "the weights of extra tables must be finite numbers >= 0, not all 0; give such as 0.5 0.3 0.2"
            )
        if self.per_question < 1:
            raise InputError(f"{self.per_question} answers a question; give at least 1")


def shown_by(recipe: Recipe) -> Shown:
    """What the generator of a recipe is shown: of one that links tables those of the answer and some others."""
    return "linked" if recipe.link.kind else "whole"


class AnsweredQuestion(NamedTuple):
    """A question with its gold query, and a model's candidates, of which the texts in ``right`` are correct.

    ``notes`` are those on its database.
    """

    id: str
    db_id: str
    database: str | PathLike[str]
    question: Question
    gold: str
    candidates: Sequence[Candidate] = ()
    right: frozenset[str] = frozenset()
    notes: Notes = NO_NOTES

    @classmethod
    def of(cls, source: Example | Replayed) -> AnsweredQuestion:
        """A benchmark's question, which has no candidates, or one of a run."""
        if isinstance(source, Example):
            return cls(source.id, source.db_id, source.database, source.question, source.gold_sql)
        candidates = [replace(candidate, result=Result()) for candidate in source.candidates]  # rows take memory
        right, notes = source.right, source.notes
        return cls(source.id, source.db_id, source.database, source.question, source.gold, candidates, right, notes)


class WrittenAnswer(NamedTuple):
    """A query to learn, its source, ``own`` or ``gold``, and how many candidates are this query."""

    sql: str
    source: Literal["own", "gold"]
    votes: int = 0


def generator_examples(
    questions: Iterable[Example | Replayed], options: GeneratorSet, processes: int | Crew = 1
) -> Iterator[TrainingExample | LeftOut]:
    """Question and schema to a correct query: the model's own, the most voted first, or gold as the options say.

    An own answer counts only where gold returns rows: of two empty results, equality says little. Left out are
    questions whose gold query reads no table, fails or is suspect, those without an answer, and those whose cut schema
    would lack tables or columns of every answer.
    """
    asked = [AnsweredQuestion.of(question) for question in questions]
    return made_on_databases(asked, partial(_Writer, options=options), processes)


class _Writer:
    """Makes the examples of one database."""

    def __init__(self, db: Database, options: GeneratorSet) -> None:
        self._db, self._options = db, options
        self._preparation = Preparation(options.part)
        self._schema = introspect(db)
        self._whole = known_schema(db)
        self._data = Data(db, AUDIT_LIMITS)

    def examples(self, asked: AnsweredQuestion) -> Iterator[TrainingExample | LeftOut]:
        if not used(self._whole, [asked.gold]).tables:
            yield LeftOut(asked.id, "unread")
            return
        try:
            gold = run_gold(self._db, asked.gold)
        except DatasetError:
            yield LeftOut(asked.id, "failed")
            return
        if self._options.audited and self._is_suspect(asked):
            yield LeftOut(asked.id, "suspect")
            return
        answers = self._answers(asked, gold)
        task = self._preparation.task(asked.question, self._db, asked.notes)
        needed = [(answer, used(self._whole, [answer.sql])) for answer in answers]
        shown = [(answer, reads) for answer, reads in needed if shows(task.known, reads)]
        if not shown:
            yield LeftOut(asked.id, "cut" if answers else "none")
        for answer, reads in shown:
            yield from self._shown(asked, answer, task, reads)

    def _is_suspect(self, asked: AnsweredQuestion) -> bool:
        findings = audit(Subject(asked.question.text, asked.gold, self._schema, self._data))
        return any(finding.confidence >= LIKELY for finding in findings)

    def _answers(self, asked: AnsweredQuestion, gold: Result) -> list[WrittenAnswer]:
        ordered = EX.ordered(asked.gold)
        answers = self._own(asked, gold, ordered) if gold.rows else []
        use = self._options.gold
        if use == "always" or (use == "where-none" and not answers):
            text = self._styled(asked.gold, gold, ordered) or asked.gold.strip()
            if text not in [answer.sql for answer in answers]:
                answers.append(WrittenAnswer(text, "gold"))
        return [answer for answer in answers if unmarked(answer.sql) == answer.sql]

    def _own(self, asked: AnsweredQuestion, gold: Result, ordered: bool) -> list[WrittenAnswer]:
        """The correct candidates, one for each text in the one style: the most voted first, then the likeliest."""
        texts: dict[str, list[Candidate]] = {}
        for candidate in asked.candidates:
            if candidate.sql in asked.right:
                texts.setdefault(restyled(candidate.sql, self._schema) or candidate.sql.strip(), []).append(candidate)
        ranked = sorted(texts, key=lambda text: (-len(texts[text]), -max(map(_logprob, texts[text]))))
        answers: list[WrittenAnswer] = []
        for text in ranked[: self._options.per_question]:
            checked = text if self._returns(text, gold, ordered) else texts[text][0].sql.strip()
            answers.append(WrittenAnswer(checked, "own", len(texts[text])))
        return answers

    def _styled(self, sql: str, gold: Result, ordered: bool) -> str | None:
        """The query in the one style, None where that would return something else."""
        text = restyled(sql, self._schema)
        return text if text is not None and self._returns(text, gold, ordered) else None

    def _returns(self, sql: str, gold: Result, ordered: bool) -> bool:
        return judge(gold, self._db.execute(sql, LIMITS), ordered).correct

    def _shown(
        self, asked: AnsweredQuestion, answer: WrittenAnswer, task: Task, reads: Schema
    ) -> Iterator[TrainingExample]:
        question = question_meta(asked.id, asked.db_id, asked.question.text)
        meta: dict[str, Any] = {"kind": "generator", **question, "source": answer.source, "votes": answer.votes}
        if self._options.shown != "linked":
            yield TrainingExample(tuple(messages(task)), answer.sql, {**meta, "shown": "whole"})
        if self._options.shown != "whole":
            linked = self._with_extra_tables(asked.id, task, {table.name for table in reads.tables})
            extra = len(linked.tables) - len(reads.tables)
            narrowed = self._preparation.narrowed(task, self._db, linked)
            meta |= {"shown": "linked", "extra_tables": extra}
            yield TrainingExample(tuple(messages(narrowed)), answer.sql, meta)

    def _with_extra_tables(self, name: str, task: Task, tables: set[str]) -> Schema:
        rng = random.Random(derive_seed(self._options.seed, "extra tables", name))  # noqa: S311
        others = [table.name for table in task.known.tables if table.name not in tables]
        weights = self._options.extra_tables
        [count] = rng.choices(range(len(weights)), weights=weights)
        return only_tables(task.known, {*tables, *rng.sample(others, min(count, len(others)))})


def _logprob(candidate: Candidate) -> float:
    return -inf if candidate.logprob is None else candidate.logprob
