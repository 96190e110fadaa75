"""The whole way from a question to an answer: a recipe is compiled to stages, and these are run one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple, Unpack

from sqljury import recipes, traces
from sqljury.budget import UNLIMITED, Allowance, Budget
from sqljury.context import Context, Kept, Options, State
from sqljury.datasets.pool import Pool
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.errors import RecipeError
from sqljury.language.orders import check_question
from sqljury.llm import adapters
from sqljury.llm.base import LanguageModel, derive_seed
from sqljury.llm.open import by_names, open_model
from sqljury.llm.privacy import guarded, is_local
from sqljury.recipes import BudgetPart, Recipe
from sqljury.sandbox import Warm
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.schema.retrieve import Indexes
from sqljury.stages import instructions, link, prepare, refine, repair, select, write
from sqljury.stages.conclude import answer_of
from sqljury.stages.registry import check_recipe
from sqljury.types import Answer, Limits, Privacy, Question


class Stage(NamedTuple):
    """One step of a recipe; calls of a model in it are charged to ``name``."""

    name: str
    run: Callable[[State, Context], State]


def compiled(recipe: Recipe, *, stored: bool = False, given: bool = False, last: str = "") -> tuple[Stage, ...]:
    """The stages of a recipe, in order, up to the ``last`` one if it is named; those that it does not use are left out.

    Where the state brings ``stored`` candidates, they are run, and none is written or repaired. ``given`` ones, of
    other systems, are run and repaired; the recipe's ``opinion`` on them is written where they disagree.
    """
    by_model = recipe.schema.looks_up and recipe.schema.keywords == "model"
    writing: tuple[Stage, ...] = (
        *([Stage("link", link.narrow)] if recipe.link.kind else []),
        Stage("write", write.write),
        Stage("fix", repair.repair),
        Stage("fallback", write.fall_back),
        Stage("instructions", instructions.follow),
    )
    if stored:
        judged = recipe.select.schema == "linked" and bool(recipe.link.kind)
        writing = (*([Stage("link", link.restore)] if judged else []), Stage("run", write.run_again))
    elif given:
        asked = recipe.select.opinion != "none"
        opinion = (Stage("opinion", write.add_opinion), Stage("fallback", write.fall_back)) if asked else ()
        writing = (Stage("run", write.run_given), Stage("fix", repair.repair), *opinion)
    stages = (
        *([Stage("keywords", prepare.find_keywords)] if by_model else []),
        Stage("prepare", prepare.prepare),
        *writing,
        Stage("group", write.group_results),
        Stage("select", select.choose),
        *([Stage("refine", refine.refine)] if recipe.refine.rounds else []),
    )
    return stages[: [stage.name for stage in stages].index(last) + 1] if last else stages


def run(stages: Iterable[Stage], state: State, context: Context) -> State:
    """The state after these stages; raises what they raise."""
    for stage in stages:
        with context.step(stage.name):
            state = stage.run(state, context)
    return state


@dataclass(frozen=True)
class Pipeline:
    """A recipe on a model; answers any number of questions on any number of databases.

    ``limits`` hold for each query, ``allowance`` for a whole question; ``pool`` holds worked examples in place of the
    package's. ``models`` holds the models that the recipe names, by these names; ``model`` does what is left to no
    other. With ``stored`` or ``given`` candidates are there, see ``compiled``, and the models that write need not be.
    ``notes`` are those on databases, by URL, where a question is asked without. ``privacy`` is the most of a database's
    content that models outside of this process get; where there is one, no prompt of the question holds more, since a
    local model may pass on what it was shown. ``questions`` are in flight at once: on a model that reads its prompts on
    this machine's cores each has as many times the recipe's seconds. Equal questions, databases, seeds and models give
    equal answers. Raises ``RecipeError`` for a recipe that cannot be run.
    """

    recipe: Recipe
    model: LanguageModel
    limits: Limits = DEFAULT_LIMITS
    allowance: Allowance = UNLIMITED
    pool: Pool | None = None
    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    stored: bool = False
    given: bool = False
    notes: Mapping[str, Notes] = field(default_factory=dict, repr=False)
    privacy: Privacy = "rows"
    questions: int = 1
    indexes: Indexes = field(default_factory=Indexes, compare=False, repr=False)
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)
    sandbox: Warm = field(default_factory=Warm, compare=False, repr=False)

    def __post_init__(self) -> None:
        writes = not self.stored
        check_recipe(self.recipe, writes=writes, given=self.given)
        for name in sorted((self.recipe.models if writes else self.recipe.judges) - self.models.keys()):
            named = f"recipe {self.recipe.name} names the model {name!r}"
            raise RecipeError(f"{named}; give Pipeline that model in models, or use Pipeline.from_recipe")
        around = {id(model): guarded(model, self.privacy) for model in (self.model, *self.models.values())}
        object.__setattr__(self, "models", {name: around[id(model)] for name, model in self.models.items()})
        object.__setattr__(self, "model", around[id(self.model)])

    @classmethod
    def from_recipe(
        cls,
        recipe: str,
        model: LanguageModel | None = None,
        limits: Limits = DEFAULT_LIMITS,
        opened: Callable[..., LanguageModel] = open_model,
    ) -> Pipeline:
        """The pipeline of a recipe by name or TOML path; raises ``RecipeError``, and what ``opened`` raises.

        A given ``model`` is used as it is. Without one it is what ``opened`` opens without a name, with the recipe's
        adapter where that is for it: close it after use. ``opened`` opens the models that the recipe names too, each
        once; close them, the ``others()``, as well.
        """
        return cls.of(recipes.load(recipe), model, limits, opened)

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        model: LanguageModel | None = None,
        limits: Limits = DEFAULT_LIMITS,
        opened: Callable[..., LanguageModel] = open_model,
        *,
        given: bool = False,
    ) -> Pipeline:
        """The same for a recipe that was loaded; with ``given`` for one of ``registry.choosing_recipe``."""
        if model is None:  # a given one may have another context, or a cache around it, which a name does not tell
            model = opened()
            plain = model.name
            if recipe.adapter and adapters.suits(recipe.adapter, plain):
                model = opened(f"{plain}+{recipe.adapter}")
            if (worn := recipe.select.adapter) and adapters.suits(worn, plain):
                recipe = replace(recipe, select=replace(recipe.select, judge=f"{plain}+{worn}", adapter=""))
        return cls(recipe, model, limits, models=by_names(set(recipe.models), model, opened), given=given)

    def others(self) -> list[LanguageModel]:
        """The models besides ``model`` that a recipe has named, each once."""
        return list({id(model): model for model in self.models.values() if model is not self.model}.values())

    @property
    def shares(self) -> Privacy | None:
        """The most of a database's content that models outside of this process get; None where all are in it."""
        return None if all(map(is_local, (self.model, *self.models.values()))) else self.privacy

    def context(
        self,
        question: Question,
        db: Database,
        *,
        follows: bool = False,
        budget: Budget | None = None,
        **options: Unpack[Options],
    ) -> Context:
        """What the stages share on this question; its budget counts from here on, or is one that counts already.

        One that ``follows`` others may change what they asked for, see ``check_question``. Raises ``QuestionError`` for
        a question that cannot be asked; where the recipe has code written that is run, ``MissingExtraError`` without
        the extra ``sandbox`` and ``SandboxError`` if it cannot be isolated.
        """
        recipe = _for(self.model, self.recipe, self.questions)
        budget = budget or Budget(self.allowance, recipe.budget.seconds or inf)
        check_question(question, follows=follows)
        if self.recipe.tests.runs_code:
            self.sandbox()  # where there can be none, it is said before the model has worked for nothing
        seed = derive_seed(options.get("seed", 0), question.id or question.text)
        notes = self.notes.get(db.url, NO_NOTES)
        shared = {"notes": notes, **{name: value for name, value in options.items() if name != "seed"}}
        context = Context(
            db,
            self.model,
            self.limits,
            seed,
            recipe=recipe,
            named=self.models,
            budget=budget,
            pool=self.pool,
            indexes=self.indexes,
            kept=self.kept,
            sandbox=self.sandbox,
            shows=self.shares or "rows",
            **shared,  # type: ignore[arg-type]
        )
        return replace(context, values=prepare.values_of(context))

    def answer(self, question: Question, db: Database, **options: Unpack[Options]) -> Answer:
        """The answer with its evidence.

        Raises what ``context`` and the model raise, ``EmptyDatabaseError`` for a database without tables,
        ``NotesError`` for notes on what it does not have, ``NoAnswerError`` if no candidate ran, ``CancelledError``
        once ``cancel`` is set.
        """
        return self.finish(State.of(question), self.context(question, db, **options))

    def finish(self, state: State, context: Context) -> Answer:
        """The answer to the question of a state; ``context.budget`` says what it took, if it raises too."""
        stages = compiled(self.recipe, stored=self.stored, given=self.given)
        with traces.question(state.task.question, self.recipe.name, context.db.dialect) as answered:
            answer = replace(answer_of(run(stages, state, context), context), privacy=self.shares)
            answered(answer)
        return answer


def _for(model: LanguageModel, recipe: Recipe, questions: int) -> Recipe:
    """The recipe for this model: a smaller schema and a budget are only for one that takes seconds to read a prompt.

    One on this machine's cores writes on schemas that it has read before: none is shuffled for a single query. Its
    ``questions`` in flight share the machine, so that each has as many times the seconds.
    """
    if getattr(model, "on_cpu", False):
        if any(part.reorder for part in recipe.generate):
            recipe = replace(recipe, generate=tuple(replace(part, reorder=False) for part in recipe.generate))
        return replace(recipe, budget=replace(recipe.budget, seconds=recipe.budget.seconds * questions))
    if not recipe.schema.tokens and recipe.budget == BudgetPart():
        return recipe
    return replace(recipe, schema=replace(recipe.schema, tokens=0), budget=BudgetPart())
