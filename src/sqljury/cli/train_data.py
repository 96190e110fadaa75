"""``sqljury train data``: training sets, from gold queries or from the candidates of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import grouped
from sqljury.cli.options import (
    ClusterOption,
    DatabasesOption,
    ProcessesOption,
    QuestionsOption,
    RecipeOption,
    SeedOption,
    SplitOption,
    WithoutDatabases,
    crew_on,
)

if TYPE_CHECKING:
    from sqljury.datasets.spider import Example
    from sqljury.llm.base import LanguageModel
    from sqljury.parallel.crew import Crew
    from sqljury.recipes import Recipe
    from sqljury.train.data import LeftOut, SetReport
    from sqljury.train.examples import TrainingExample
    from sqljury.train.replay import Replayed

UNCHECKED: Final = "no evaluation was named (--eval-data), so the set was not checked for leaks"


class Kind(StrEnum):
    """The kinds of training sets."""

    LINKER = "linker"
    GENERATOR = "generator"
    CRITIC = "critic"
    PAIRWISE = "pairwise"
    SELECTOR = "selector"


JUDGES: Final = (Kind.CRITIC, Kind.PAIRWISE)


class GoldUse(StrEnum):
    """When the gold query is an answer."""

    NEVER = "never"
    WHERE_NONE = "where-none"
    ALWAYS = "always"


class HeldOutBy(StrEnum):
    """What an evaluation holds out."""

    DATABASE = "database"
    QUESTION = "question"


class Shown(StrEnum):
    """The tables that a generator's prompts show."""

    WHOLE = "whole"
    LINKED = "linked"
    BOTH = "both"


EvalData = Annotated[
    Path | None,
    typer.Option(
        help="The evaluation, whose databases may not be trained on: a Spider folder (its dev split) or a file of "
        "questions; by default the dev split of --data."
    ),
]
HeldOutByOption = Annotated[
    HeldOutBy,
    typer.Option(
        help="What the evaluation holds out: its databases, which are refused, or its questions alone; equal and "
        "nearly equal ones on the same database are then left out."
    ),
]
DataFolder = Annotated[Path | None, typer.Option(help="Spider's folder; for runs, its new path if it has moved.")]

KindArgument = Annotated[
    Kind, typer.Argument(help="The part to make the set for; `train pairwise` also learns from sets for selector.")
]
Out = Annotated[Path, typer.Option(help="The JSONL file to write.")]
Questions = Annotated[Path | None, typer.Option(help="Your own questions with gold queries: JSON or JSONL.")]
DbDir = Annotated[Path | None, typer.Option(help="The databases of --questions, as <db_id>/<db_id>.sqlite.")]
Runs = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="RUN_DIR",
        help="A folder of `sqljury bench`, for critic, pairwise and selector, and for a generator that learns its "
        "own correct queries; repeatable: a question of several runs has the candidates of all.",
    ),
]
Gold = Annotated[
    GoldUse | None,
    typer.Option(
        help="When the gold query is used as an answer: if no candidate is correct (where-none, the default), "
        "never, or always (generator only)."
    ),
]
PerQuestion = Annotated[
    int | None,
    typer.Option(
        min=1, help="For generator: the largest number of the model's own answers to a question; by default 2."
    ),
]
Tables = Annotated[
    Shown | None,
    typer.Option(
        "--tables",
        help="For generator: the whole schema, the tables that the answer reads and some others (linked), or an "
        "example of each (both); by default linked for a recipe that links.",
    ),
]
ExtraTables = Annotated[
    list[float] | None,
    typer.Option(
        help="For linked: the weights of showing 0, 1, 2, ... tables that are not needed; by default 0.5 0.3 0.2."
    ),
]
KeepSuspects = Annotated[
    bool,
    typer.Option("--keep-suspects", help="For generator: keep questions whose gold query `sqljury audit` suspects."),
]
BothOrders = Annotated[
    bool,
    typer.Option("--both-orders", help="For critic, pairwise and selector: show queries or programs in both orders."),
]
Independent = Annotated[
    bool, typer.Option("--independent", help="For critic: show one query at a time, to be judged correct or not.")
]
Mistakes = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="PAIRS",
        help="For pairwise without runs: the number of pairs per question, each of its gold query and a mistake in it.",
    ),
]
Writer = Annotated[
    str | None,
    typer.Option(
        help="For critic and pairwise: the model that writes correct queries with gold as a hint. For "
        "selector: the model that writes programs."
    ),
]


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """What only some kinds of sets are made with."""

    questions: Questions = None
    db_dir: DbDir = None
    run: Runs = None
    limit: QuestionsOption = None
    gold: Gold = None
    per_question: PerQuestion = None
    tables: Tables = None
    extra_tables: ExtraTables = None
    keep_suspects: KeepSuspects = False
    both_orders: BothOrders = False
    independent: Independent = False
    mistakes: Mistakes = None
    model: Writer = None

    def given(self) -> dict[str, Any]:
        """The options that are given, by their names on the command line."""
        return {name.replace("_", "-"): value for name, value in vars(self).items() if value}

    def of_runs(self, kind: Kind) -> bool:
        """Whether such a set is made from the candidates of runs, not from gold queries."""
        judges = kind in (*JUDGES, Kind.SELECTOR) and not self.mistakes
        return judges or (kind is Kind.GENERATOR and bool(self.run))

    def check(self, kind: Kind) -> None:
        """Raise ``InputError`` for an option that sets of this kind do not have."""
        from sqljury.errors import InputError

        allowed, of_runs = _OPTIONS[kind], self.of_runs(kind)
        if of_runs and kind is Kind.GENERATOR:
            allowed = _WRITER | {"run", "gold"}
        elif kind is Kind.PAIRWISE and not of_runs:
            allowed = _GOLD | {"mistakes", "both-orders"}
        refused = [name for name in self.given() if name not in allowed]
        if self.gold is GoldUse.ALWAYS and kind is not Kind.GENERATOR and "gold" in allowed:
            refused.append("gold always")
        if refused:
            made = "from runs" if of_runs else "from gold queries"
            raise InputError(f"a set for {kind} {made} is not made with --{refused[0]}; leave it out")
        if self.independent and self.both_orders:
            raise InputError("--independent shows one query at a time, which has no order; leave out --both-orders")


_GOLD: Final = frozenset({"questions", "db-dir", "limit"})
_WRITER: Final = frozenset({"per-question", "tables", "extra-tables", "keep-suspects"})
_PAIRS: Final = frozenset({"run", "model", "both-orders"})
_OPTIONS: Final = {
    Kind.LINKER: _GOLD,
    Kind.GENERATOR: _GOLD | _WRITER,
    Kind.CRITIC: _PAIRS | {"gold", "independent"},
    Kind.PAIRWISE: _PAIRS | {"gold"},
    Kind.SELECTOR: _PAIRS,
}
"""By kind the options of its sets; a generator's set from runs has others."""


@grouped
def data(
    kind: KindArgument,
    out: Out,
    options: SetOptions,
    data: DataFolder = None,
    split: SplitOption = "train",
    databases: DatabasesOption = "",
    without_databases: WithoutDatabases = "",
    eval_data: EvalData = None,
    held_out_by: HeldOutByOption = HeldOutBy.DATABASE,
    recipe: RecipeOption = "default",
    seed: SeedOption = 0,
    processes: ProcessesOption = 1,
    cluster: ClusterOption = None,
) -> None:
    """Write a training set: prompts as at inference, with the answers to learn."""
    from sqljury import recipes
    from sqljury.datasets import spider, subset
    from sqljury.evaluation import run_folder
    from sqljury.llm import adapters
    from sqljury.train import leaks
    from sqljury.train.data import LeftOut, write
    from sqljury.train.leaks import SetQuestion
    from sqljury.train.replay import replay_all

    options.check(kind)
    of_runs, runs = options.of_runs(kind), options.run or []
    chosen = recipes.load(recipe)
    subset.subset(databases, without_databases)  # before anything is read: it may be refused
    written_by = sorted({str(run_folder.described(folder)["model"]) for folder in runs})
    examples: list[Example] = []
    if of_runs:
        evaluation = _evaluation_of_runs(runs, data, eval_data)
        known = [SetQuestion.of_record(record) for folder in runs for record in run_folder.records(folder)]
    else:
        examples = _load(data, split, options.questions, options.db_dir)
        evaluation = leaks.evaluation_questions(eval_data, data)
        known = [SetQuestion.of(example) for example in examples]
    within = subset.checked({question.db_id for question in known}, databases, without_databases)
    used = [question for question in known if within(question.db_id)]
    held_out = leaks.held_out_questions(used, evaluation, held_out_by.value)
    left_out = [LeftOut(text, "held_out") for _, text in sorted(held_out)]
    model = _opened(options.model, runs, data) if options.model else None
    given = options.given() | {"data": data, "split": None if options.questions or of_runs else split}
    given |= {"recipe": recipe, "databases": databases, "without-databases": without_databases}
    given |= {"held-out-by": evaluation and held_out_by.value}
    sources = {name: _plain(value) for name, value in given.items() if value}
    sources |= {"models": written_by} if written_by else {}
    dropped = kind in JUDGES and options.gold is GoldUse.NEVER
    with crew_on(cluster, processes) as crew:
        asked: Iterable[Replayed] | Sequence[Example]
        if of_runs:
            replayed = replay_all(runs, data, (), crew, merge=True, within=within)
            asked = (replay for replay in replayed if (replay.db_id, replay.task.question.text) not in held_out)
        else:
            allowed = [
                example
                for example in examples
                if within(example.db_id) and (example.db_id, example.question.text) not in held_out
            ]
            asked = spider.sample(allowed, options.limit, seed)
        made = chain(_examples(kind, asked, chosen, seed, options, model, crew), left_out)
        report = write(made, out, kind.value, seed, evaluation, sources, gold=not dropped)
    _report(report, out)
    adapted = [name for name in written_by if adapters.parse(name)[1] not in ("", adapters.NONE)]
    if kind is Kind.GENERATOR and adapted:
        terminal.note(
            f"the model's own queries were written by {', '.join(adapted)}; give the adapter to "
            "`sqljury train generator` with --start, or the training loses what it has learned"
        )


def _examples(
    kind: Kind,
    asked: Iterable[Replayed] | Sequence[Example],
    recipe: Recipe,
    seed: int,
    options: SetOptions,
    model: LanguageModel | None,
    crew: int | Crew,
) -> Iterator[TrainingExample | LeftOut]:
    """The examples of a kind of set; ``model`` writes queries or programs for it."""
    if kind is Kind.LINKER:
        from sqljury.train.data import linker_examples

        return linker_examples(cast("Sequence[Example]", asked), recipe.schema, crew)
    if kind is Kind.GENERATOR:
        return _written(asked, recipe, seed, options, crew)
    if options.mistakes:
        from sqljury.train.data_mistakes import mistake_examples

        examples, pairs = cast("Sequence[Example]", asked), options.mistakes
        return mistake_examples(examples, recipe, seed, pairs, crew, both_orders=options.both_orders)
    replayed = cast("Iterable[Replayed]", asked)
    if kind is Kind.SELECTOR:
        from sqljury.errors import InputError
        from sqljury.train.data_programs import ProgramWriter, selector_examples

        if model is None:
            raise InputError("a set for selector needs programs; name the model that writes them with --model")
        writer = ProgramWriter(model, recipe, seed, both_orders=options.both_orders)
        return selector_examples(replayed, writer)
    from sqljury.train import data_judged as judges

    judged = judges.judged_questions(replayed, recipe.schema, seed, model)
    if options.independent:
        return judges.independent_examples(judged, seed)
    made = judges.critic_examples if kind is Kind.CRITIC else judges.pairwise_examples
    return made(judged, seed, both_orders=options.both_orders)


def _plain(value: object) -> object:
    """An option's value for the card."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _load(data: Path | None, split: str, questions: Path | None, db_dir: Path | None) -> list[Example]:
    from sqljury.datasets import questions as own
    from sqljury.datasets import spider
    from sqljury.errors import InputError

    if (questions is None) == (data is None) or (questions is not None and db_dir is None):
        raise InputError("give either --data with Spider's folder, or --questions and --db-dir with your own")
    if questions is not None and db_dir is not None:
        return own.load(questions, db_dir)
    assert data is not None
    return spider.load(data, split)


def _evaluation_of_runs(runs: list[Path], data: Path | None, eval_data: Path | None) -> list[Example]:
    from sqljury.errors import InputError
    from sqljury.train.replay import evaluation_of_runs

    if not runs:
        raise InputError("a judge learns from candidates; name a run on a training split with --run")
    return evaluation_of_runs(runs, data, eval_data)


def _written(
    asked: Iterable[Replayed | Example], recipe: Recipe, seed: int, options: SetOptions, crew: int | Crew
) -> Iterator[TrainingExample | LeftOut]:
    from sqljury.train.data_writer import GeneratorSet, generator_examples, shown_by

    shown = Shown(options.tables or shown_by(recipe))
    given = {
        "gold": options.gold and options.gold.value,
        "extra_tables": options.extra_tables,
        "per_question": options.per_question,
    }
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    made = GeneratorSet(recipe.schema, seed, shown=shown.value, audited=not options.keep_suspects, **chosen)
    return generator_examples(asked, made, crew)


def _opened(model: str, runs: Sequence[Path], data: Path | None) -> LanguageModel:
    """The model that writes for a set; a service gets no more than the context folders of the runs allow."""
    from sqljury.engines.databases import privacy_of
    from sqljury.evaluation import run_folder
    from sqljury.llm.open import open_model
    from sqljury.llm.privacy import guarded
    from sqljury.types import LEVELS

    allowed = (privacy_of(run_folder.described(run), data or run_folder.data_of(run)) for run in runs)
    return guarded(open_model(model), min(allowed, key=LEVELS.index, default="rows"))


def _report(report: SetReport, out: Path) -> None:
    answers = ", ".join(f"{count} {source}" for source, count in sorted(report.answers.items()))
    terminal.note(
        f"{report.items} examples{f' ({answers})' if answers else ''} of {report.questions} questions on "
        f"{report.databases} databases in {out}; left out: {', '.join(report.left_out()) or 'none'}"
    )
    if report.checked is None:
        terminal.note(UNCHECKED)
    else:
        terminal.note(
            f"{len(report.near)} questions are near-duplicates of evaluation questions; {out}.card.json lists them"
        )
