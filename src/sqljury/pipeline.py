"""The whole way from a question to an answer: generate, execute, repair, group, choose."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, NamedTuple

from sqljury import recipes
from sqljury.budget import UNLIMITED, Allowance, Clock
from sqljury.context import Work
from sqljury.db.base import DEFAULT_LIMITS, Database, error_kind
from sqljury.errors import ContextLengthError, NoAnswerError, RecipeError
from sqljury.language.orders import check_question
from sqljury.llm.base import LanguageModel, Sampling, derive_seed
from sqljury.llm.open import by_names, open_model
from sqljury.parallel.threads import map_threads
from sqljury.recipes import GeneratePart, Recipe
from sqljury.sandbox import Warm
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.schema.retrieve import Indexes
from sqljury.stages import repair as fix
from sqljury.stages.generate import GENERATORS
from sqljury.stages.generate.base import Given, Kept
from sqljury.stages.generate.direct import messages
from sqljury.stages.generate.grammar import grammar
from sqljury.stages.generate.pool import Pool
from sqljury.stages.link import link
from sqljury.stages.prepare import Preparation, by_model
from sqljury.stages.refine import Asking, by_tests, placed
from sqljury.stages.repair.hints import looser
from sqljury.stages.select import SELECTORS, TESTING, VOTES, selector
from sqljury.stages.select.base import groups, spokesman
from sqljury.stages.select.consistency import agreed, decided, group, joined, likelihood
from sqljury.stages.unanswered import none_ran, raise_unusable
from sqljury.testing import TESTERS
from sqljury.types import Answer, Candidate, Choice, Cost, Fix, Limits, Question, Result, Schema, Task, Tried

REPAIR_SECONDS: Final = 1.0
"""Repairs may take this long even if the queries were written faster, as replies from a cache are."""


class Progress(NamedTuple):
    """What the pipeline is at: a step, and ``done`` of ``total`` of its pieces."""

    step: str
    done: int
    total: int


class Ready(NamedTuple):
    """A question made ready for the steps of a recipe.

    ``shown`` is the task as one part of the recipe shows it, ``linked`` are the tables in it where the recipe links.
    """

    task: Task
    work: Work
    clock: Clock
    shown: Callable[[GeneratePart], Task]
    linked: tuple[str, ...] = ()


def _silent(_: Progress) -> None:
    pass


@dataclass(frozen=True)
class Pipeline:
    """A recipe on a model; answers any number of questions on any number of databases.

    ``limits`` hold for each query it runs, ``allowance`` for a whole question; ``pool`` holds examples for generators
    that show some, instead of those that come with the package. ``judge`` chooses among the answers where the recipe
    names one (``select.judge``), ``linker`` picks tables where it names one (``link.model``), and ``writers`` holds by
    their names the models of generators and tests that name some (``generate.model``, ``tests.models``,
    ``tests.chooser``); ``model`` does where it names none. Equal questions, databases, seeds and models give equal
    answers.
    """

    recipe: Recipe
    model: LanguageModel
    limits: Limits = DEFAULT_LIMITS
    allowance: Allowance = UNLIMITED
    pool: Pool | None = None
    judge: LanguageModel | None = None
    linker: LanguageModel | None = None
    writers: Mapping[str, LanguageModel] = field(default_factory=dict)
    indexes: Indexes = field(default_factory=Indexes, compare=False, repr=False)
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)
    sandbox: Warm = field(default_factory=Warm, compare=False, repr=False)

    def __post_init__(self) -> None:
        for part in self.recipe.generate:
            if part.generator not in GENERATORS:
                raise RecipeError(f"recipe {self.recipe.name}: unknown generator {part.generator!r}")
        if self.recipe.select.selector not in SELECTORS:
            raise RecipeError(f"recipe {self.recipe.name}: unknown selector {self.recipe.select.selector!r}")
        selector(self.recipe.select)  # what it reads is read before a question is asked
        for role, name, given in (
            ("judge", self.recipe.select.judge, self.judge),
            ("linker", self.recipe.link.model, self.linker),
            *(("writer", part.model, self.writers.get(part.model)) for part in self.recipe.generate),
            *(("writer", name, self.writers.get(name)) for name in sorted(self.recipe.tests.named)),
        ):
            if name and given is None:
                named = f"recipe {self.recipe.name} names the {role} {name!r}"
                raise RecipeError(f"{named}; give Pipeline that model as {role}, or use Pipeline.from_recipe")
        self._check_tests()

    def _check_tests(self) -> None:
        """Raise ``RecipeError`` for unknown tests, and for steps without the tests that they rest on."""
        named, kind = f"recipe {self.recipe.name}", self.recipe.tests.kind
        if kind not in ("", *TESTERS):
            raise RecipeError(f"{named}: unknown kind of tests {kind!r}")
        if self.recipe.select.selector in TESTING and not kind:
            named = f"{named}: the selector {self.recipe.select.selector} chooses by tests"
            raise RecipeError(f'{named}; add [tests] with kind = "suite" or "agents"')
        if self.recipe.refine.rounds and not kind:
            named = f"{named}: [refine] writes queries again that fail their tests"
            raise RecipeError(f'{named}; add [tests] with kind = "agents" or "suite"')

    @classmethod
    def from_recipe(
        cls,
        recipe: str,
        model: LanguageModel,
        limits: Limits = DEFAULT_LIMITS,
        opened: Callable[[str], LanguageModel] = open_model,
    ) -> Pipeline:
        """The pipeline of a recipe by name or TOML path; raises ``RecipeError``.

        ``opened`` opens the judge, the linker and the writers that the recipe names, if any, each model once; the
        embedded model loads no weights before it is first asked. Whoever is done with the pipeline closes its
        ``others()`` as they close ``model``.
        """
        found = recipes.load(recipe)
        written = {part.model for part in found.generate if part.model} | found.tests.named
        models = by_names({*written, found.select.judge, found.link.model} - {""}, model, opened)
        judge, linker = models.get(found.select.judge), models.get(found.link.model)
        return cls(found, model, limits, judge=judge, linker=linker, writers={name: models[name] for name in written})

    def others(self) -> list[LanguageModel]:
        """The models besides ``model`` that a recipe has named, each once."""
        named = (self.judge, self.linker, *self.writers.values())
        return list({id(one): one for one in named if one is not None and one is not self.model}.values())

    def answer(
        self,
        question: Question,
        db: Database,
        *,
        seed: int = 0,
        progress: Callable[[Progress], None] = _silent,
        cancel: threading.Event | None = None,
        notes: Notes = NO_NOTES,
    ) -> Answer:
        """The answer with its evidence; ``notes`` is what ``schema.notes_files.load`` read about this database.

        Raises ``QuestionError`` for a question that cannot be asked, ``EmptyDatabaseError`` for a database without
        tables, ``NotesError`` for notes on what it does not have, ``NoAnswerError`` when no candidate ran,
        ``CancelledError`` once ``cancel`` is set, what the model raises, and where the recipe has written code tested
        ``MissingExtraError`` without the extra and ``SandboxError`` where it cannot be isolated.
        """
        return self.finish(self.ready(question, db, seed=seed, progress=progress, cancel=cancel, notes=notes), progress)

    def finish(self, ready: Ready, progress: Callable[[Progress], None] = _silent) -> Answer:
        """The answer to a question that was made ready; ``ready.clock`` says what it took, if it raises too.

        Raises what ``answer`` raises once the question is ready.
        """
        grouped = self.candidates(ready, progress)
        progress(Progress("choosing", 0, 1))
        choice = self._select(grouped, ready)
        if choice.index is None:
            raise NoAnswerError(none_ran(grouped, ready.task.schema), grouped, ready.clock.total())
        grouped, choice = self._refine(grouped, choice, ready, progress)
        remarks = looser(grouped[choice.index or 0], ready.task.schema, ready.work)
        answer = self._answered(ready.task.question, grouped, choice, ready.clock.total(), tuple(ready.clock.steps))
        return replace(answer, linked=ready.linked, remarks=remarks, dialect=ready.task.schema.dialect)

    def ready(
        self,
        question: Question,
        db: Database,
        *,
        seed: int = 0,
        progress: Callable[[Progress], None] = _silent,
        cancel: threading.Event | None = None,
        notes: Notes = NO_NOTES,
    ) -> Ready:
        """What the steps of the recipe work with on this question; its clock runs from here on.

        Raises what ``answer`` raises before anything is written.
        """
        started = time.perf_counter()
        check_question(question)
        progress(Progress("reading the schema", 0, 1))
        keywords, asking = self._keywords(question, seed, cancel)
        prepared = Preparation(self.recipe.schema, self.indexes)
        task = prepared.task(question, db, notes, keywords, lambda *done: progress(Progress(*done)), cancel)
        clock = Clock(self.allowance, started)
        clock.spend("keywords", asking)
        work = self._work(question, db, seed, clock, cancel)
        if self.recipe.fix.values:
            work = replace(work, values=cache(lambda: prepared.index(db, introspect(db), cancel=cancel)))
        work = self._testing(task, work, progress)
        linked = prepared.narrowed(task, db, self._link(task, work, clock, progress))
        task = replace(task, schema_text=linked.schema_text)  # repairs may use what the linker left out
        names = tuple(one.name for one in linked.schema.tables) if self.recipe.link.kind else ()
        return Ready(task, work, clock, lambda part: prepared.reshown(linked, db, part.form, part.order), names)

    def candidates(self, ready: Ready, progress: Callable[[Progress], None] = _silent) -> tuple[Candidate, ...]:
        """The recipe's queries, run, repaired and grouped; raises what ``answer`` raises, but no ``NoAnswerError``.

        Where none of them runs, the parts of the recipe that are its ``fallback`` write more.
        """
        written = self._generate(ready, progress)
        raise_unusable(ready.task.question, written)
        repaired = self._fix(written, ready.task, ready.work, ready.clock, progress)
        if not any(candidate.result.ok for candidate in repaired):
            repaired += self._generate(ready, progress, repaired)
            raise_unusable(ready.task.question, repaired)
        return group(repaired)

    def choose(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        db: Database,
        *,
        seed: int = 0,
        cancel: threading.Event | None = None,
        notes: Notes = NO_NOTES,
    ) -> tuple[tuple[Candidate, ...], Choice]:
        """The recipe's choice among queries that were written before, and these, run again and grouped.

        Nothing is written nor repaired: it is the last step of ``answer`` alone. Raises what ``answer`` raises, but no
        ``NoAnswerError``.
        """
        ready = self.ready(question, db, seed=seed, cancel=cancel, notes=notes)
        ran = map_threads(lambda one: replace(one, result=self._run(one.sql, db, cancel)), candidates, cancel)
        grouped = group(ran)
        return grouped, self._select(grouped, ready)

    def asking(self, ready: Ready) -> Asking:
        """How this recipe's model is asked again for a query."""
        most = max(part.max_tokens for part in self.recipe.generate)
        return Asking(messages(ready.task), ready.task, ready.work, most)

    def _work(self, question: Question, db: Database, seed: int, clock: Clock, cancel: threading.Event | None) -> Work:
        own = derive_seed(seed, question.id or question.text)
        return Work(
            db,
            self.model,
            self.limits,
            own,
            cancel,
            over=clock.over,
            spent=clock.run,
            sandbox=self.sandbox,
            named=self.writers,
        )

    def _testing(self, task: Task, work: Work, progress: Callable[[Progress], None]) -> Work:
        """The work with the recipe's tests; what they expect is the judge's to say, if there is one."""
        part = self.recipe.tests
        if not part.kind:
            return work
        if part.kind == "agents" and (part.by == "code" or part.data == "model"):
            work.sandbox()  # where there can be none, it is said before the model has worked for nothing
        asked = replace(work, model=self.judge or self.model)

        def tests(queries: Sequence[str]) -> tuple[tuple[Tried, ...], Cost]:
            progress(Progress("testing the queries", 0, 1))
            return TESTERS[part.kind](queries, task, part, asked)

        return replace(work, tests=tests)

    def _run(self, sql: str, db: Database, cancel: threading.Event | None) -> Result:
        return db.execute(sql, self.limits, cancel) if sql else Result(error="the model wrote no query")

    def _keywords(
        self, question: Question, seed: int, cancel: threading.Event | None
    ) -> tuple[tuple[str, ...] | None, Cost]:
        """The model's keywords where the recipe wants them, else None."""
        part = self.recipe.schema
        if not part.values or part.keywords != "model":
            return None, Cost()
        return by_model(question, self.model, derive_seed(seed, question.id or question.text, "keywords"), cancel)

    def _link(self, task: Task, work: Work, clock: Clock, progress: Callable[[Progress], None]) -> Schema:
        """The tables that the model which writes is shown; all of them where the recipe links none."""
        part = self.recipe.link
        if part.kind:
            progress(Progress("picking tables", 0, 1))
        schema, cost = link(task, part, replace(work, model=self.linker or self.model), self.indexes)
        clock.spend("link", cost)
        return schema

    def _generate(
        self, ready: Ready, progress: Callable[[Progress], None], failed: Sequence[Candidate] = ()
    ) -> list[Candidate]:
        """Candidates, run and repaired without the model, part by part until they agree or the allowance is spent.

        A later part whose prompt is too long for its model is passed over; so the first cannot be. With ``failed``,
        candidates of which none runs, the fallback parts are asked, else all others.
        """
        task, work, clock, shown, _ = ready
        asked = [(number, part) for number, part in enumerate(self.recipe.generate) if part.fallback == bool(failed)]
        total = sum(part.samples for _, part in asked)
        stop = self.recipe.stop
        candidates: list[Candidate] = []
        for number, part in asked:
            if (candidates or failed) and (clock.over() or agreed(candidates, stop.share, stop.least)):
                break
            progress(Progress("writing queries", len(candidates), total))
            try:
                written = self._write(number, shown(part), work, [*failed, *candidates], clock)
            except ContextLengthError:
                if not candidates and not failed:
                    raise
                continue
            progress(Progress("running the queries", len(candidates), total))
            candidates += map_threads(lambda one: self._execute(one, task, work), written, work.cancel)
        return candidates

    def _write(self, number: int, task: Task, work: Work, before: Sequence[Candidate], clock: Clock) -> list[Candidate]:
        """What one part of the recipe writes, not yet run."""
        part = self.recipe.generate[number]
        work = work.of(part.model)
        seed = derive_seed(work.seed, "generate", number)
        ranked = sorted((one for one in before if one.sql), key=lambda one: not one.result.ok)
        given = Given(tuple(one.sql for one in ranked), part.examples, part.rounds, self.pool, seed, self.kept)
        request = GENERATORS[part.generator](task, work, given)
        sampling = Sampling(
            temperature=part.temperature,
            top_p=part.top_p,
            max_tokens=part.max_tokens,
            seed=seed,
            stop=request.stop,
            grammar=grammar(task.schema, reasons=request.reasons) if part.constrain else None,
        )
        reply = work.model.complete(request.messages, sampling, part.samples, cancel=work.cancel)
        [step] = self.recipe.steps([number])
        clock.spend(step, request.cost + reply.cost)
        return [
            Candidate(
                request.read(completion.text),
                part.generator,
                completion.logprob,
                part=number,
                tokens=len(completion.tokens) or None,
            )
            for completion in reply.completions
        ]

    def _execute(self, candidate: Candidate, task: Task, work: Work) -> Candidate:
        ran = replace(candidate, result=self._run(candidate.sql, work.db, work.cancel))
        part = self.recipe.fix
        return fix.repair(ran, task, work, names=part.names, dialect=part.dialect)

    def _fix(
        self, candidates: list[Candidate], task: Task, work: Work, clock: Clock, progress: Callable[[Progress], None]
    ) -> list[Candidate]:
        """Repair what failed, likeliest first; where votes choose, as long as one more could still change the outcome.

        Equal queries are repaired once, and an error that the model could not repair once is not put to it again for
        another candidate. Repairs end once they have taken as long as writing did.
        """
        work = self._repairing(work, clock)
        attempts, by_votes = self.recipe.fix.attempts, self.recipe.select.selector == VOTES
        broken = [index for index, candidate in enumerate(candidates) if fix.needs_fixing(candidate)]
        broken.sort(key=lambda index: likelihood(candidates[index]), reverse=True)
        known: dict[str, tuple[Candidate, tuple[Fix, ...]]] = {}
        tried = {candidates[index].sql for index in broken}
        hopeless: set[str] = set()
        for done, index in enumerate(broken):
            if not attempts or work.over() or (by_votes and decided(group(candidates), broken[done:])):
                break
            progress(Progress("repairing queries", done, len(broken)))
            candidate = candidates[index]
            if candidate.sql not in known:
                if candidate.result.error in hopeless:
                    continue
                repaired, spent = self._ask_again(candidate, task, work, tried)
                known[candidate.sql] = repaired, repaired.fixes[len(candidate.fixes) :]
                clock.spend("fix", spent)
                if repaired.sql == candidate.sql and candidate.result.error is not None:
                    hopeless.add(candidate.result.error)
            repaired, fixes = known[candidate.sql]
            candidates[index] = replace(
                candidate, sql=repaired.sql, result=repaired.result, fixes=(*candidate.fixes, *fixes)
            )
        return candidates

    def _repairing(self, work: Work, clock: Clock) -> Work:
        """The work with a deadline of its own: the seconds that writing took, from now."""
        writers = self.recipe.steps(range(len(self.recipe.generate)))
        written = sum(cost.seconds for step, cost in clock.steps if step in writers)
        deadline = time.perf_counter() + max(written, REPAIR_SECONDS)
        return replace(work, over=lambda: clock.over() or time.perf_counter() >= deadline)

    def _ask_again(self, candidate: Candidate, task: Task, work: Work, tried: set[str]) -> tuple[Candidate, Cost]:
        attempts = self.recipe.fix.attempts
        if error_kind(candidate.result) == "limit":
            attempts = 1  # each try may take as long again
        most = max(part.max_tokens for part in self.recipe.generate)
        return fix.ask_again(
            candidate,
            messages(task),
            task,
            work,
            attempts=attempts,
            max_tokens=most,
            tried=tried,
            hinted=self.recipe.fix.hints,
        )

    def _select(self, grouped: tuple[Candidate, ...], ready: Ready) -> Choice:
        judging = replace(ready.work, model=self.judge or self.model)
        choice = selector(self.recipe.select)(grouped, ready.task, judging)
        ready.clock.spend("tests" if choice.tests else "select", choice.cost)
        return choice

    def _refine(
        self, grouped: tuple[Candidate, ...], choice: Choice, ready: Ready, progress: Callable[[Progress], None]
    ) -> tuple[tuple[Candidate, ...], Choice]:
        """The chosen query put to its tests, and written again where it fails them; then it is one candidate more."""
        if not self.recipe.refine.rounds or choice.index is None or ready.clock.over():
            return grouped, choice
        tests, best = choice.tests, grouped[choice.index]
        if not tests and ready.work.tests is not None:
            tests, spent = ready.work.tests([grouped[spokesman(grouped, one)].sql for one in groups(grouped)])
            ready.clock.spend("tests", spent)
        progress(Progress("refining the query", 0, 1))
        refined = by_tests(best, tests, self.asking(ready), self.recipe.refine)
        ready.clock.spend("refine", refined.cost)
        if refined.candidate is best:
            return grouped, replace(choice, tests=tests)
        more = joined(grouped, refined.candidate)
        own = more[-1].group
        assert own is not None  # only what runs takes the place of another
        return more, replace(choice, index=len(grouped), tests=placed(tests, refined, own))

    def _answered(
        self,
        question: Question,
        candidates: tuple[Candidate, ...],
        choice: Choice,
        cost: Cost,
        steps: tuple[tuple[str, Cost], ...],
    ) -> Answer:
        assert choice.index is not None
        best = candidates[choice.index]
        votes = sum(candidate.group == best.group for candidate in candidates)
        return Answer(
            question=question,
            sql=best.sql,
            columns=best.result.columns,
            rows=best.result.rows,
            truncated=best.result.truncated,
            confidence=votes / len(candidates) if len(candidates) > 1 else None,
            candidates=candidates,
            cost=cost,
            model=self.model.name,
            recipe=self.recipe.name,
            choice=choice,
            steps=steps,
        )
