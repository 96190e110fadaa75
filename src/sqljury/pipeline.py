"""The whole way from a question to an answer: a recipe is compiled to stages, and these are run one after another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from sqljury import recipes
from sqljury.budget import UNLIMITED, Allowance, Budget
from sqljury.context import Context, Kept, Progress, State, silent
from sqljury.datasets.pool import Pool
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.errors import NoAnswerError, RecipeError
from sqljury.language.orders import check_question
from sqljury.llm.base import LanguageModel, derive_seed
from sqljury.llm.open import by_names, open_model
from sqljury.recipes import Recipe
from sqljury.sandbox import Warm
from sqljury.schema.describe import NO_NOTES, Notes
from sqljury.schema.introspect import introspect
from sqljury.schema.retrieve import Indexes
from sqljury.stages import link, prepare, refine, repair, select, write
from sqljury.stages.check_recipe import check_recipe
from sqljury.stages.repair.hints import looser
from sqljury.stages.unanswered import none_ran
from sqljury.types import Answer, Limits, Question


class Stage(NamedTuple):
    """One step of a recipe; calls of a model in it are charged to ``name``."""

    name: str
    run: Callable[[State, Context], State]


def compiled(recipe: Recipe, *, stored: bool = False) -> tuple[Stage, ...]:
    """The stages of a recipe, in order; those that it does not use are left out.

    Where the state brings ``stored`` candidates, they are run, and none is written or repaired.
    """
    by_model = recipe.schema.values > 0 and recipe.schema.keywords == "model"
    writing = (
        *([Stage("link", link.narrow)] if recipe.link.kind else []),
        Stage("write", write.write),
        Stage("fix", repair.repair),
        Stage("fallback", write.fall_back),
    )
    return (
        *([Stage("keywords", prepare.find_keywords)] if by_model else []),
        Stage("prepare", prepare.prepare),
        *((Stage("run", write.run_again),) if stored else writing),
        Stage("group", write.group_results),
        Stage("select", select.choose),
        *([Stage("refine", refine.refine)] if recipe.refine.rounds else []),
    )


def until(name: str, stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages up to the one of that name, which is the last."""
    names = [stage.name for stage in stages]
    return tuple(stages[: names.index(name) + 1])


def run(stages: Iterable[Stage], state: State, context: Context) -> State:
    """The state after these stages; raises what they raise."""
    for stage in stages:
        with context.step(stage.name):
            state = stage.run(state, context)
    return state


@dataclass(frozen=True)
class Pipeline:
    """A recipe on a model; answers any number of questions on any number of databases.

    ``limits`` hold for each query that it runs, ``allowance`` for a whole question; ``pool`` holds worked examples for
    generators that show some, instead of those of the package. ``models`` holds the models that the recipe names, by
    these names; ``model`` does what is left to no other. ``stored`` says that candidates are given, not written: then
    the models that write need not be there. Equal questions, databases, seeds and models give equal
    answers. Raises ``RecipeError`` for a recipe that cannot be run.
    """

    recipe: Recipe
    model: LanguageModel
    limits: Limits = DEFAULT_LIMITS
    allowance: Allowance = UNLIMITED
    pool: Pool | None = None
    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    stored: bool = False
    indexes: Indexes = field(default_factory=Indexes, compare=False, repr=False)
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)
    sandbox: Warm = field(default_factory=Warm, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_recipe(self.recipe)
        needed = self.recipe.judges if self.stored else self.recipe.models
        for name in sorted(needed - self.models.keys()):
            named = f"recipe {self.recipe.name} names the model {name!r}"
            raise RecipeError(f"{named}; give Pipeline that model in models, or use Pipeline.from_recipe")

    @classmethod
    def from_recipe(
        cls,
        recipe: str,
        model: LanguageModel,
        limits: Limits = DEFAULT_LIMITS,
        opened: Callable[[str], LanguageModel] = open_model,
    ) -> Pipeline:
        """The pipeline of a recipe by name or TOML path; raises ``RecipeError``.

        ``opened`` opens the models that the recipe names, each once; the embedded model loads no weights before it is
        first asked. Whoever is done with the pipeline closes its ``others()`` as they close ``model``.
        """
        loaded = recipes.load(recipe)
        return cls(loaded, model, limits, models=by_names(set(loaded.models), model, opened))

    def others(self) -> list[LanguageModel]:
        """The models besides ``model`` that a recipe has named, each once."""
        return list({id(model): model for model in self.models.values() if model is not self.model}.values())

    def context(
        self,
        question: Question,
        db: Database,
        *,
        seed: int = 0,
        progress: Callable[[Progress], None] = silent,
        cancel: threading.Event | None = None,
        notes: Notes = NO_NOTES,
    ) -> Context:
        """What the stages share on this question; its budget counts from here on.

        Raises ``QuestionError`` for a question that cannot be asked, ``SandboxError`` where code is to be tested and
        cannot be isolated.
        """
        budget = Budget(self.allowance)
        check_question(question)
        tests, values = self.recipe.tests, None
        if tests.kind == "agents" and (tests.by == "code" or tests.data == "model"):
            self.sandbox()  # where there can be none, it is said before the model has worked for nothing
        if self.recipe.fix.values:
            prepared = prepare.Preparation(self.recipe.schema, self.indexes)
            values = cache(lambda: prepared.index(db, introspect(db), cancel=cancel))
        return Context(
            db,
            self.model,
            self.limits,
            derive_seed(seed, question.id or question.text),
            cancel,
            recipe=self.recipe,
            named=self.models,
            budget=budget,
            notes=notes,
            pool=self.pool,
            values=values,
            progress=progress,
            indexes=self.indexes,
            kept=self.kept,
            sandbox=self.sandbox,
        )

    def answer(
        self,
        question: Question,
        db: Database,
        *,
        seed: int = 0,
        progress: Callable[[Progress], None] = silent,
        cancel: threading.Event | None = None,
        notes: Notes = NO_NOTES,
    ) -> Answer:
        """The answer with its evidence; ``notes`` is what ``schema.describe.load`` read about this database.

        Raises ``QuestionError`` for a question that cannot be asked, ``EmptyDatabaseError`` for a database without
        tables, ``NotesError`` for notes on what it does not have, ``NoAnswerError`` when no candidate ran,
        ``CancelledError`` once ``cancel`` is set, what the model raises, and where the recipe has written code tested
        ``MissingExtraError`` without the extra and ``SandboxError`` where it cannot be isolated.
        """
        context = self.context(question, db, seed=seed, progress=progress, cancel=cancel, notes=notes)
        return self.finish(State.of(question), context)

    def finish(self, state: State, context: Context) -> Answer:
        """The answer to the question of a state; ``context.budget`` says what it took, if it raises too."""
        return answer_of(run(compiled(self.recipe, stored=self.stored), state, context), context)


def answer_of(state: State, context: Context) -> Answer:
    """The chosen candidate with its evidence; raises ``NoAnswerError`` where none was chosen."""
    candidates, choice, task = state.candidates, state.choice, state.task
    if choice is None or choice.index is None:
        raise NoAnswerError(none_ran(candidates, task.known), candidates, context.budget.total())
    best = candidates[choice.index]
    votes = sum(candidate.group == best.group for candidate in candidates)
    return Answer(
        question=task.question,
        sql=best.sql,
        columns=best.result.columns,
        rows=best.result.rows,
        truncated=best.result.truncated,
        confidence=votes / len(candidates) if len(candidates) > 1 else None,
        candidates=candidates,
        remarks=looser(best, task.known, context),
        cost=context.budget.total(),
        steps=context.budget.steps,
        choice=choice,
        linked=tuple(table.name for table in task.shown.tables) if context.recipe.link.kind else (),
        dialect=task.known.dialect,
        model=context.model.name,
        recipe=context.recipe.name,
    )
