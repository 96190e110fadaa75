"""``sqljury train data``: training sets, from gold queries or from the candidates of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from sqljury.cli import terminal
from sqljury.cli.options import (
    DatabasesOption,
    QuestionsOption,
    RecipeOption,
    SeedOption,
    SplitOption,
    WithoutDatabases,
)

if TYPE_CHECKING:
    from sqljury.datasets.spider import Example
    from sqljury.recipes import Recipe
    from sqljury.train.data import LeftOut, SetReport
    from sqljury.train.data_judged import JudgedQuestion
    from sqljury.train.examples import TrainingExample
    from sqljury.train.replay import Replayed

UNCHECKED: Final = "the set was not checked against an evaluation; name one with --eval-data"


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
DataFolder = Annotated[Path | None, typer.Option(help="Spider's folder; for runs, where it has moved to.")]

KindArgument = Annotated[
    Kind, typer.Argument(help="The part that the set is for; train pairwise learns from that of selector.")
]
Out = Annotated[Path, typer.Option(help="The JSONL file to write.")]
Questions = Annotated[Path | None, typer.Option(help="Your own questions with gold queries: JSON or JSONL.")]
DbDir = Annotated[Path | None, typer.Option(help="The databases of --questions, as <db_id>/<db_id>.sqlite.")]
Runs = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="RUN_DIR",
        help="A folder of `sqljury bench`, for critic, pairwise and selector, and for a generator that learns its "
        "own correct queries; repeatable.",
    ),
]
Gold = Annotated[
    GoldUse | None,
    typer.Option(
        help="Whether the gold query is an answer where no candidate is correct (where-none, the default), never, "
        "or always (generator only)."
    ),
]
PerQuestion = Annotated[
    int | None, typer.Option(min=1, help="The largest number of own answers to a question, for generator; 2.")
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
    typer.Option(help="Weights of showing 0, 1, 2, ... tables too many, for linked; by default 0.5 0.3 0.2."),
]
KeepSuspects = Annotated[
    bool,
    typer.Option("--keep-suspects", help="Keep questions whose gold query `sqljury audit` suspects, for generator."),
]
BothOrders = Annotated[
    bool,
    typer.Option("--both-orders", help="Show queries or programs in both orders, for critic, pairwise and selector."),
]
Independent = Annotated[
    bool, typer.Option("--independent", help="Show one query at a time, correct or not, for critic.")
]
Writer = Annotated[
    str | None,
    typer.Option(
        help="The model that writes correct queries with gold as a hint, for critic and pairwise; the programs, "
        "for selector."
    ),
]


def data(
    kind: KindArgument,
    out: Out,
    data: DataFolder = None,
    split: SplitOption = "train",
    databases: DatabasesOption = "",
    without_databases: WithoutDatabases = "",
    questions: Questions = None,
    db_dir: DbDir = None,
    run: Runs = None,
    eval_data: EvalData = None,
    recipe: RecipeOption = "default",
    limit: QuestionsOption = None,
    seed: SeedOption = 0,
    gold: Gold = None,
    per_question: PerQuestion = None,
    shown: Tables = None,
    extra_tables: ExtraTables = None,
    keep_suspects: KeepSuspects = False,
    both_orders: BothOrders = False,
    independent: Independent = False,
    model: Writer = None,
) -> None:
    """Write a training set: prompts as at inference, with the answers to learn."""
    from sqljury import recipes
    from sqljury.datasets import spider, subset
    from sqljury.train.data import write

    of_runs = kind in (*JUDGES, Kind.SELECTOR) or (kind is Kind.GENERATOR and bool(run))
    given: dict[str, Any] = {"--questions": questions, "--db-dir": db_dir, "--limit": limit, "--run": run}
    given |= {"--gold": gold, "--gold always": gold is GoldUse.ALWAYS, "--per-question": per_question, "--model": model}
    given |= {"--tables": shown, "--extra-tables": extra_tables, "--keep-suspects": keep_suspects}
    given |= {"--both-orders": both_orders, "--independent": independent}
    _check_options(kind, given, of_runs=of_runs)
    chosen = recipes.load(recipe)
    within = subset.subset(databases, without_databases)  # before anything is read: it may be refused
    asked: Iterable[Replayed] | Sequence[Example]
    if of_runs:
        replayed, evaluation = _replayed(run or [], data, eval_data)
        asked = (question for question in replayed if within(question.db_id))
    else:
        loaded = subset.of_databases(_load(data, split, questions, db_dir), databases, without_databases)
        evaluation = _evaluation(loaded, data, eval_data)
        asked = spider.sample(loaded, limit, seed)
    made = _examples(kind, asked, chosen, seed, given)
    given |= {"--data": data, "--split": None if questions or of_runs else split, "--recipe": recipe}
    given |= {"--databases": databases, "--without-databases": without_databases}
    sources = {name.strip("-"): _plain(value) for name, value in given.items() if value}
    dropped = kind in JUDGES and gold is GoldUse.NEVER
    _report(write(made, out, kind.value, seed, evaluation, sources, gold=not dropped), out)


def _examples(
    kind: Kind,
    asked: Iterable[Replayed] | Sequence[Example],
    recipe: Recipe,
    seed: int,
    given: Mapping[str, Any],
) -> Iterator[TrainingExample | LeftOut]:
    """The examples of a kind of set; ``given`` holds the options by their names."""
    if kind is Kind.LINKER:
        return _linked(cast("Sequence[Example]", asked), recipe)
    if kind is Kind.GENERATOR:
        return _written(asked, recipe, seed, given)
    replayed = cast("Iterable[Replayed]", asked)
    if kind is Kind.SELECTOR:
        return _programs(replayed, recipe, seed, given["--model"], both_orders=given["--both-orders"])
    judged = _judged(replayed, recipe, seed, given["--model"])
    orders, independent = given["--both-orders"], given["--independent"]
    return _judge_examples(kind, judged, seed, both_orders=orders, independent=independent)


_GOLD: Final = frozenset({"--questions", "--db-dir", "--limit"})
_WRITER: Final = frozenset({"--per-question", "--tables", "--extra-tables", "--keep-suspects"})
_PAIRS: Final = frozenset({"--run", "--model", "--both-orders"})
_OPTIONS: Final = {
    Kind.LINKER: _GOLD,
    Kind.GENERATOR: _GOLD | _WRITER,
    Kind.CRITIC: _PAIRS | {"--gold", "--independent"},
    Kind.PAIRWISE: _PAIRS | {"--gold"},
    Kind.SELECTOR: _PAIRS,
}
"""By kind the options of its sets; a generator's set from runs has others."""


def _check_options(kind: Kind, given: Mapping[str, object], *, of_runs: bool) -> None:
    """Raise ``InputError`` for a given option that such sets do not have."""
    from sqljury.errors import InputError

    allowed = _WRITER | {"--run", "--gold", "--gold always"} if of_runs and kind is Kind.GENERATOR else _OPTIONS[kind]
    for name, value in given.items():
        if value and name not in allowed:
            made = "from runs" if of_runs else "from gold queries"
            raise InputError(f"a set for {kind} {made} is not made with {name}; leave it out")
    if given["--independent"] and given["--both-orders"]:
        raise InputError("--independent shows one query at a time, which has no order; leave out --both-orders")


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


def _evaluation(examples: Sequence[Example], data: Path | None, eval_data: Path | None) -> list[Example]:
    """The evaluation questions; raises ``InputError`` where an example is on one of their databases."""
    from sqljury.train import leaks

    evaluation = leaks.evaluation_questions(eval_data, data)
    leaks.refuse({example.db_id for example in examples}, evaluation)
    return evaluation


def _replayed(runs: list[Path], data: Path | None, eval_data: Path | None) -> tuple[Iterator[Replayed], list[Example]]:
    from sqljury.errors import InputError
    from sqljury.train.replay import evaluation_of_runs, replay_all

    if not runs:
        raise InputError("a judge learns from candidates; name a run on a training split with --run")
    evaluation = evaluation_of_runs(runs, data, eval_data)
    return replay_all(runs, data, evaluation), evaluation


def _linked(examples: Sequence[Example], recipe: Recipe) -> Iterator[TrainingExample | LeftOut]:
    from sqljury.train.data import linker_examples

    return linker_examples(examples, recipe.schema)


def _written(
    asked: Iterable[Replayed | Example], recipe: Recipe, seed: int, given: Mapping[str, Any]
) -> Iterator[TrainingExample | LeftOut]:
    from sqljury.train.data_writer import GeneratorSet, generator_examples

    shown: Shown = given["--tables"] or (Shown.LINKED if recipe.link.kind else Shown.WHOLE)
    gold = given["--gold"]
    named = {"gold": gold and gold.value, "extra_tables": given["--extra-tables"]}
    named["per_question"] = given["--per-question"]
    options = {name: value for name, value in named.items() if value is not None}
    audited = not given["--keep-suspects"]
    return generator_examples(asked, GeneratorSet(recipe.schema, seed, shown=shown.value, audited=audited, **options))


def _judged(replayed: Iterable[Replayed], recipe: Recipe, seed: int, model: str | None) -> Iterator[JudgedQuestion]:
    from sqljury.llm.open import open_model
    from sqljury.train.data_judged import judged_questions

    return judged_questions(replayed, recipe.schema, seed, open_model(model) if model else None)


def _judge_examples(
    kind: Kind, judged: Iterator[JudgedQuestion], seed: int, *, both_orders: bool, independent: bool
) -> Iterator[TrainingExample]:
    from sqljury.train.data_judged import critic_examples, independent_examples, pairwise_examples

    if independent:
        return independent_examples(judged, seed)
    return (critic_examples if kind is Kind.CRITIC else pairwise_examples)(judged, seed, both_orders=both_orders)


def _programs(
    replayed: Iterable[Replayed], recipe: Recipe, seed: int, model: str | None, *, both_orders: bool
) -> Iterator[TrainingExample]:
    from sqljury.errors import InputError
    from sqljury.llm.open import open_model
    from sqljury.train.data_programs import ProgramWriter, selector_examples

    if not model:
        raise InputError("a set for selector needs programs; name the model that writes them with --model")
    return selector_examples(replayed, ProgramWriter(open_model(model), recipe, seed, both_orders=both_orders))


_LEFT_OUT: Final = {
    "repeated": "{} repeated",
    "contradicting": "{} contradicting",
    "of_gold": "{} questions that need the gold query",
    "none": "{} questions without a correct query",
    "cut": "{} questions whose cut schema lacks what gold reads",
    "unread": "{} questions whose gold query reads no table",
    "failed": "{} questions whose gold query fails",
    "suspect": "{} questions whose gold query is suspect (see `sqljury audit`)",
}
"""By count of the card, how the command says it."""


def _report(report: SetReport, out: Path) -> None:
    left_out = [text.format(count) for name, text in _LEFT_OUT.items() if (count := getattr(report, name))]
    answers = ", ".join(f"{count} {source}" for source, count in sorted(report.answers.items()))
    terminal.note(
        f"{report.items} examples{f' ({answers})' if answers else ''} of {report.questions} questions on "
        f"{report.databases} databases in {out}; left out: {', '.join(left_out) or 'none'}"
    )
    if report.checked is None:
        terminal.note(UNCHECKED)
    else:
        terminal.note(
            f"{len(report.near)} questions are near-duplicates of evaluation questions; {out}.card.json lists them"
        )
