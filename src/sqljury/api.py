"""The front door: what a command can do, one call here can do.

A ``Session`` keeps a database and models open for many questions; ``ask`` and ``check`` open one for a single call.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.budget import UNLIMITED, Allowance, Budget
from sqljury.context import Kept, Options, Progress, State, by_arguments, silent
from sqljury.datasets.candidates import Votes
from sqljury.datasets.pool import Pool
from sqljury.datasets.pool import load as load_examples
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.db.connect import connect
from sqljury.db.contents import content
from sqljury.errors import InputError, ProjectError
from sqljury.language.orders import check_question
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import metered, open_model
from sqljury.llm.privacy import level
from sqljury.pipeline import Pipeline, compiled, run
from sqljury.project import Project
from sqljury.project import find as find_project
from sqljury.project import load as load_project
from sqljury.recipes.parts import Opinion, TestKind
from sqljury.resources import Closing
from sqljury.schema.describe import Description
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.schema.notes_files import load as load_notes
from sqljury.schema.retrieve import Indexes
from sqljury.stages.check import Checked, check_query, with_tests
from sqljury.stages.contrast import verified
from sqljury.stages.follow import FOLLOW, standalone
from sqljury.stages.prepare import known, value_index
from sqljury.stages.registry import choosing_recipe
from sqljury.types import Answer, Candidate, Limits, Privacy, Question, Result, Schema
from sqljury.types.candidate import equal_votes, of_systems
from sqljury.values.objects import Found
from sqljury.values.objects import search as search_objects

if TYPE_CHECKING:
    from sqljury.llm.ledger import Ledger, Price

Path = str | os.PathLike[str]


class Session(Closing):
    """A database, a recipe and its models, open for any number of questions; a context manager.

    ``database`` is a path, a URL, or what ``connect`` returned; ``schemas`` names those of a server to ask about, the
    default one first. ``recipe`` is the name of one of the package's, or the path of a TOML file. ``model`` is a model
    or its name, by default the embedded one; a model is used as it is, without the recipe's adapter, which is for those
    opened by name. The models that a recipe names are opened beside it. ``access`` says which tables and columns may
    be seen, ``privacy`` what models outside of this process may get of the content: nothing but the ``schema``,
    ``values`` of columns too, or whole ``rows``. ``notes`` on the database are those of
    ``schema.notes_files.load``, or paths of YAML files and ``database_description`` folders. ``examples`` are worked
    examples or the path of a file of them, for recipes that show some. ``limits`` hold for each query, ``allowance``
    for a question: once it is spent, the best of what there is then is the answer. ``cache`` keeps replies of models
    between sessions; ``ledger`` holds their calls to a budget for the whole session, counting dollars at ``price``.
    ``seed`` decides every random choice. ``progress`` is called with each step, and setting ``cancel`` stops a question
    with ``CancelledError``. An answer less sure than ``min_confidence`` has an ``abstention``, and so has one to a
    question that the schema cannot answer; none with 0. The embedded model answers questions of several threads in
    turn, or up to ``together`` at once, each more slowly and more of them an hour.

    What is given by name is opened here and closed with the session. Raises what ``connect``, ``guard``,
    ``open_model``, ``schema.notes_files.load`` and ``Pipeline.from_recipe`` raise.
    """

    def __init__(
        self,
        database: Database | Path,
        *,
        schemas: Sequence[str] = (),
        recipe: str = "default",
        model: LanguageModel | str | None = None,
        access: Access | None = None,
        privacy: Privacy = "rows",
        notes: Notes | Path | Sequence[Path] = NO_NOTES,
        examples: Pool | Path | None = None,
        limits: Limits = DEFAULT_LIMITS,
        allowance: Allowance = UNLIMITED,
        cache: bool = True,
        ledger: Ledger | None = None,
        price: Price | None = None,
        seed: int = 0,
        min_confidence: float | None = None,
        together: int = 1,
        progress: Callable[[Progress], None] = silent,
        cancel: threading.Event | None = None,
    ) -> None:
        if min_confidence is not None and not 0 <= min_confidence <= 1:
            raise InputError(f"min_confidence is a probability from 0 to 1, not {min_confidence}")
        self.seed, self._least, self._progress, self._cancel = seed, min_confidence, progress, cancel
        self.notes = _notes(notes)
        pool = load_examples(os.fspath(examples)) if isinstance(examples, str | os.PathLike) else examples
        with ExitStack() as stack:
            self.database = _opened(stack, database, schemas, access)
            base = model if isinstance(model, str) else None
            opened = partial(open_model, base=base, cache=cache, ledger=ledger, price=price, together=together)
            given = None if model is None or isinstance(model, str) else metered(model, ledger, price)
            pipeline = Pipeline.from_recipe(recipe, given, limits, opened)
            for language_model in pipeline.others() if given is not None else (pipeline.model, *pipeline.others()):
                stack.callback(_close, language_model)
            self.pipeline = replace(pipeline, allowance=allowance, pool=pool, privacy=level(privacy))
            self._open = stack.pop_all()

    @classmethod
    def from_project(cls, database: str = "", *, project: Project | Path | None = None, **session: Any) -> Session:
        """The session that a context folder describes for one of its databases, by default the default one.

        ``project`` is the folder or what ``project.load`` returned; by default the nearest one at or above the current
        folder. Further arguments are those of ``Session`` and override the folder's. Raises what ``Session`` and
        ``project.find`` raise, and ``ProjectError`` where there is no such folder or database.
        """
        return cls(**{**project_of(project).database(database).session(), **session})

    def close(self) -> None:
        """Close what the session has opened; closing twice is harmless."""
        self._open.close()

    def on(
        self,
        database: Database,
        access: Access | None = None,
        notes: Notes = NO_NOTES,
        examples: Pool | None = None,
        privacy: Privacy | None = None,
    ) -> Session:
        """A session with the same recipe and models on another database, or on this one behind access rules.

        ``examples`` and ``privacy`` take the place of this session's. What it learns of the database is its own. It
        holds nothing open: close this session after it, and ``database`` where it was opened. Raises what ``guard``
        raises.
        """
        session = copy.copy(self)
        session.database = guard(database, introspect(database), access) if access else database
        session.notes = notes
        pool = self.pipeline.pool if examples is None else examples
        shared = self.pipeline.privacy if privacy is None else privacy
        session.pipeline = replace(self.pipeline, indexes=Indexes(), kept=Kept(), pool=pool, privacy=shared)
        session._open = ExitStack()
        return session

    def following(self, progress: Callable[[Progress], None], cancel: threading.Event | None = None) -> Session:
        """The same session for one of several callers at once, with ``progress`` and ``cancel`` of its own."""
        session = copy.copy(self)
        session._progress, session._cancel, session._open = progress, cancel, ExitStack()
        return session

    def query(self, sql: str, rows: int | None = None) -> Result:
        """The result of a query of the caller's own, run read-only behind the access rules; nothing is raised.

        ``rows`` takes the place of the limit on rows.
        """
        limits = self.pipeline.limits if rows is None else replace(self.pipeline.limits, rows=rows)
        return self.database.execute(sql, limits, self._cancel)

    def ask(self, question: str, *, evidence: str = "", verify: bool = False, earlier: Sequence[str] = ()) -> Answer:
        """The answer to one question, with its evidence.

        The question may point back to ``earlier`` ones: that of the answer is as ``standalone`` writes it.
        ``evidence`` is what the database does not say: a formula, a meaning. With ``verify`` the answer shows some rows
        on which its query and the best other one differ, looked for without the model, for some seconds more. The
        allowance holds for the rest. Raises what ``Pipeline.answer`` raises.
        """
        text, budget = self._understood(question, earlier) if earlier else (question, None)
        asked = Question(text, evidence)
        context = self.pipeline.context(asked, self.database, budget=budget, **self._options())
        answer = self.pipeline.finish(State.of(asked), context)
        return self.verify(answer) if verify else answer

    def standalone(self, question: str, earlier: Sequence[str]) -> str:
        """The question as it is understood after ``earlier`` ones, the latest last, so that ``ask`` can answer it.

        The model is asked only where the question has marks of a follow-up. Raises ``QuestionError`` for a question
        that cannot be asked, and what the model raises.
        """
        return self._understood(question, earlier)[0]

    def _understood(self, question: str, earlier: Sequence[str]) -> tuple[str, Budget]:
        """The question that stands alone, and the budget that was charged for writing it."""
        context = self.pipeline.context(Question(question), self.database, follows=bool(earlier), **self._options())
        with context.step(FOLLOW):
            text = standalone(question, earlier, context)
        check_question(Question(text))
        return text, context.budget

    def verify(self, answer: Answer) -> Answer:
        """An answer of this session with some rows on which its query and the best other one differ."""
        self._progress(Progress("looking for rows that tell the answer from its rival", 0, 1))
        return verified(answer, self.database, seed=self.seed, cancel=self._cancel)

    def check(self, question: str, sql: str, *, evidence: str = "", tests: TestKind = "") -> Checked:
        """Whether ``sql`` answers the question, with the tests that say so.

        The recipe writes the queries that it is compared with; ``tests`` is the kind of test, by default the recipe's,
        and ``suite`` where it has none. Raises what ``stages.check.check_query`` and ``Pipeline.answer`` raise, but
        no ``NoAnswerError``.
        """
        pipeline = replace(self.pipeline, recipe=with_tests(self.pipeline.recipe, tests))
        return check_with(pipeline, Question(question, evidence), sql, self.database, **self._options())

    def choose(
        self,
        question: str,
        queries: Sequence[str | Candidate],
        *,
        evidence: str = "",
        selector: str = "",
        weights: str = "",
        votes: Votes = "systems",
        opinion: Opinion | Literal[""] = "",
    ) -> Answer:
        """The best of several queries for one question, those of the most trusted system first.

        They are run, and repaired as the recipe has it. Where they disagree, the model writes the recipe's queries too
        if its ``opinion``, or the one given here, is not ``none``: they vote as one more system, and with ``candidate``
        may be chosen as well; see ``SelectPart``. A ``Candidate`` may bring the name
        of its system as ``generator`` and its ``logprob``, which count if all have one. Those of one system share one
        vote, unless all ``votes`` are the ``queries``'; texts are of systems of their own. ``selector`` chooses in the
        place of the recipe's; ``weights`` is a file of `sqljury train light` for the selector ``light``. Raises what
        ``Pipeline.answer`` raises, and ``InputError`` for no queries.
        """
        asked = Question(question, evidence)
        if not queries:
            raise InputError("there are no queries to choose among; give at least one")
        candidates, systems = of_systems(queries)
        if votes == "systems":
            candidates = equal_votes(candidates)
        recipe = choosing_recipe(self.pipeline.recipe, systems, selector, self.pipeline.model, weights, opinion)
        pipeline = replace(self.pipeline, recipe=recipe, given=True)
        context = pipeline.context(asked, self.database, **self._options())
        return pipeline.finish(replace(State.of(asked), candidates=candidates), context)

    def prepare(self) -> Schema:
        """The schema as questions see it; makes what the first question would wait for.

        That is the keys that the database does not declare, the index of the schema, and the value index where the
        recipe uses one. Raises what ``known_schema`` and ``values.open_or_build`` raise, and ``CancelledError`` once
        ``cancel`` is set.
        """
        recipe, progress = self.pipeline.recipe, by_arguments(self._progress)
        now = content(self.database)
        schema, _ = known(self.database, NO_NOTES, progress, self._cancel, now)
        self.pipeline.indexes.of(schema)
        if recipe.schema.looks_up or recipe.fix.values:
            value_index(self.database, lambda: schema, progress, self._cancel, now)
        return schema

    def search(self, text: str, limit: int = 10) -> list[Found]:
        """Tables, columns and values that ``text`` may mean, at most ``limit`` of each, best first.

        Masked columns give no values. Raises what ``prepare`` raises.
        """
        progress = by_arguments(self._progress)
        now = content(self.database)
        schema, _ = known(self.database, self.notes, progress, self._cancel, now)
        values = value_index(self.database, lambda: schema, progress, self._cancel, now)
        return search_objects(text, self.pipeline.indexes.of(schema), values, limit)

    def describe(self) -> Description:
        """What questions see of the database; see ``describe``."""
        return _description(self.database, self.notes, self._progress, self._cancel)

    def _options(self) -> Options:
        shared: Options = {"seed": self.seed, "progress": self._progress, "cancel": self._cancel}
        return {**shared, "notes": self.notes, "least": self._least}


def ask(
    question: str, database: Database | Path, *, evidence: str = "", verify: bool = False, **session: Any
) -> Answer:
    """Answer one question on a database: a ``Session`` for a single call, which takes what ``Session`` takes.

    The embedded model is loaded for this call and freed after it: for many questions, keep a ``Session``. Raises what
    ``Session`` and ``Session.ask`` raise.
    """
    check_question(Question(question, evidence))
    with Session(database, **session) as opened:
        return opened.ask(question, evidence=evidence, verify=verify)


def check(
    question: str,
    database: Database | Path,
    sql: str,
    *,
    evidence: str = "",
    tests: TestKind = "",
    **session: Any,
) -> Checked:
    """Whether ``sql`` answers the question: a ``Session`` for a single call, which takes what ``Session`` takes.

    Raises what ``Session`` and ``Session.check`` raise.
    """
    with Session(database, **session) as opened:
        return opened.check(question, sql, evidence=evidence, tests=tests)


def choose(
    question: str,
    database: Database | Path,
    queries: Sequence[str | Candidate],
    *,
    evidence: str = "",
    selector: str = "",
    weights: str = "",
    votes: Votes = "systems",
    opinion: Opinion | Literal[""] = "",
    recipe: str = "choose",
    **session: Any,
) -> Answer:
    """The best of several queries for one question: a ``Session`` for a single call, which takes what that takes.

    A model that is named is asked for its ``opinion`` too, by default as the recipe has it. With ``model="none"`` no
    model is asked. For prediction files see ``sqljury.bench.given``. Raises what ``Session`` and ``Session.choose``
    raise.
    """
    if not opinion and session.get("model") is None:
        opinion = "none"
    chosen_by: dict[str, Any] = {"selector": selector, "weights": weights, "votes": votes, "opinion": opinion}
    with Session(database, recipe=recipe, **session) as opened:
        return opened.choose(question, queries, evidence=evidence, **chosen_by)


def describe(
    database: Database | Path,
    *,
    schemas: Sequence[str] = (),
    access: Access | None = None,
    notes: Notes | Path | Sequence[Path] = NO_NOTES,
    progress: Callable[[Progress], None] = silent,
    cancel: threading.Event | None = None,
) -> Description:
    """What questions see of a database: tables, keys declared and inferred, and what the values of columns show.

    Notes are part of it. The arguments are those of ``Session``; no model is opened. Raises what ``connect``, ``guard``
    and ``known_schema`` raise, ``NotesError`` for notes on what the database does not have, and ``CancelledError``.
    """
    with ExitStack() as stack:
        opened = _opened(stack, database, schemas, access)
        return _description(opened, _notes(notes), progress, cancel)


def check_with(
    pipeline: Pipeline, question: Question, sql: str, database: Database, **options: Unpack[Options]
) -> Checked:
    """Whether ``sql`` answers the question, by a pipeline whose recipe has tests."""
    context = pipeline.context(question, database, **options)
    stages = compiled(pipeline.recipe, last="group")
    return check_query(sql, context, lambda: run(stages, State.of(question), context))


def project_of(project: Project | Path | None = None) -> Project:
    """The given context folder, or the nearest one at or above the current folder; raises ``ProjectError``."""
    if project is None:
        nearest = find_project()
        if nearest is None:
            raise ProjectError("no sqljury.toml in this folder or above it; give the folder that has one")
        return nearest
    return project if isinstance(project, Project) else load_project(project)


def _opened(stack: ExitStack, database: Database | Path, schemas: Sequence[str], access: Access | None) -> Database:
    """The database behind its access rules; one given by name is closed with the stack."""
    if isinstance(database, str | os.PathLike):
        database = stack.enter_context(connect(database, schemas))
    return guard(database, introspect(database), access) if access else database


def _description(
    db: Database, notes: Notes, progress: Callable[[Progress], None], cancel: threading.Event | None
) -> Description:
    progress(Progress("reading the schema", 0, 1))
    schema, _ = known(db, notes, by_arguments(progress), cancel)
    progress(Progress("reading rows", 0, 1))
    return Description.of(db, schema, cancel)


def _notes(notes: Notes | Path | Sequence[Path]) -> Notes:
    if isinstance(notes, Notes):
        return notes
    paths = [notes] if isinstance(notes, str | os.PathLike) else notes
    return load_notes(*paths)


def _close(model: LanguageModel) -> None:
    """Free a model that can be freed; one of a service holds nothing."""
    if close := getattr(model, "close", None):
        close()
