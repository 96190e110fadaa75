"""``sqljury train``: training sets, the light judge, and what ``training`` adds."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sqljury.cli import terminal, training
from sqljury.cli.options import QuestionsOption, RecipeOption, SeedOption, SplitOption

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqljury.datasets.spider import Example
    from sqljury.recipes.parts import SchemaPart
    from sqljury.train.data import LeftOut, SetReport
    from sqljury.train.examples import TrainingExample
    from sqljury.train.replay import Replayed

UNCHECKED: Final = "the set was not checked against an evaluation; name one with --eval-data"

app = typer.Typer(help="Make training sets, and train the parts that learn.", no_args_is_help=True)


class Kind(StrEnum):
    """The kinds of training sets."""

    LINKER = "linker"
    GENERATOR = "generator"
    CRITIC = "critic"
    PAIRWISE = "pairwise"


EvalData = Annotated[
    Path | None,
    typer.Option(
        help="The evaluation, whose databases may not be trained on: a Spider folder (its dev split) or a file of "
        "questions; by default the dev split of --data."
    ),
]
Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of `sqljury bench` on a training split.")
]
DataFolder = Annotated[Path | None, typer.Option(help="Spider's folder; for runs, where it has moved to.")]


@app.command("data")
def data(
    kind: Annotated[Kind, typer.Argument(help="The part that the set is for.")],
    out: Annotated[Path, typer.Option(help="The JSONL file to write.")],
    data: DataFolder = None,
    split: SplitOption = "train",
    questions: Annotated[Path | None, typer.Option(help="Your own questions with gold queries: JSON or JSONL.")] = None,
    db_dir: Annotated[
        Path | None, typer.Option(help="The databases of --questions, as <db_id>/<db_id>.sqlite.")
    ] = None,
    run: Annotated[
        list[Path] | None, typer.Option(metavar="RUN_DIR", help="Folders of `sqljury bench`, for critic and pairwise.")
    ] = None,
    eval_data: EvalData = None,
    recipe: RecipeOption = "default",
    limit: QuestionsOption = None,
    seed: SeedOption = 0,
    extra_tables: Annotated[
        list[float] | None,
        typer.Option(help="Weights of showing 0, 1, 2, ... tables too many, for generator; by default 0.5 0.3 0.2."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The model that writes correct queries with gold as a hint, for critic and pairwise."),
    ] = None,
    no_gold: Annotated[
        bool, typer.Option("--no-gold", help="Leave out questions that need the gold query, for critic and pairwise.")
    ] = False,
) -> None:
    """Write a training set: prompts as at inference, with the answers to learn."""
    from sqljury import recipes
    from sqljury.datasets import spider
    from sqljury.train.data import write

    judged = kind in (Kind.CRITIC, Kind.PAIRWISE)
    of_gold = {"--questions": questions, "--db-dir": db_dir, "--limit": limit, "--extra-tables": extra_tables}
    _refuse(kind, of_gold if judged else {"--run": run, "--model": model, "--no-gold": no_gold})
    part = recipes.load(recipe).schema
    sources: dict[str, object] = {"recipe": recipe, "limit": limit}
    made: Iterator[TrainingExample | LeftOut]
    if judged:
        replayed, evaluation = _replayed(run or [], data, eval_data)
        made = _from_runs(kind, replayed, part, seed, model)
        sources |= {"runs": [str(one) for one in run or []], "hints": model, "gold": not no_gold}
    else:
        examples, evaluation = _gold_examples(data, split, questions, db_dir, eval_data)
        examples = spider.sample(examples, limit, seed)
        sources |= {"data": str(questions or data), "split": None if questions else split, "extra": extra_tables}
        made = _from_gold(kind, examples, part, seed, extra_tables)
    _report(write(made, out, kind.value, seed, evaluation, sources, gold=not no_gold), out, no_gold=no_gold)


def _refuse(kind: Kind, options: Mapping[str, object]) -> None:
    """Raise ``InputError`` for a given option that sets of this kind do not have."""
    from sqljury.errors import InputError

    for name, value in options.items():
        if value:
            raise InputError(f"a set for {kind} is not made with {name}; leave it out")


def _gold_examples(
    data: Path | None,
    split: str,
    questions: Path | None,
    db_dir: Path | None,
    eval_data: Path | None,
) -> tuple[list[Example], list[Example]]:
    """The questions to train on and those of the evaluation; raises ``InputError`` where databases are shared."""
    from sqljury.datasets import questions as own
    from sqljury.datasets import spider
    from sqljury.errors import InputError
    from sqljury.train import leaks

    if (questions is None) == (data is None) or (questions is not None and db_dir is None):
        raise InputError("give either --data with Spider's folder, or --questions and --db-dir with your own")
    if questions is not None and db_dir is not None:
        examples = own.load(questions, db_dir)
    else:
        assert data is not None
        examples = spider.load(data, split)
    evaluation = leaks.evaluation_questions(eval_data, data)
    leaks.refuse({example.db_id for example in examples}, evaluation)
    return examples, evaluation


def _from_gold(
    kind: Kind, examples: list[Example], part: SchemaPart, seed: int, extra_tables: list[float] | None
) -> Iterator[TrainingExample | LeftOut]:
    from sqljury.train.data import EXTRA_TABLES, generator_examples, linker_examples

    if kind is Kind.LINKER:
        return linker_examples(examples, part)
    return generator_examples(examples, part, seed, extra_tables or EXTRA_TABLES)


def _replayed(runs: list[Path], data: Path | None, eval_data: Path | None) -> tuple[Iterator[Replayed], list[Example]]:
    from sqljury.errors import InputError
    from sqljury.train.replay import evaluation_of_runs, replay_all

    if not runs:
        raise InputError(
            "a critic or a pairwise judge learns from candidates; name a run on a training split with --run"
        )
    evaluation = evaluation_of_runs(runs, data, eval_data)
    return replay_all(runs, data, evaluation), evaluation


def _from_runs(
    kind: Kind, replayed: Iterator[Replayed], part: SchemaPart, seed: int, model: str | None
) -> Iterator[TrainingExample]:
    from sqljury.llm.open import open_model
    from sqljury.train.data_judged import critic_examples, judged_questions, pairwise_examples

    judged = judged_questions(replayed, part, seed, open_model(model) if model else None)
    return (critic_examples if kind is Kind.CRITIC else pairwise_examples)(judged, seed)


def _report(report: SetReport, out: Path, *, no_gold: bool) -> None:
    terminal.note(
        f"{report.items} examples of {report.questions} questions on {report.databases} databases in {out}; left out: "
        f"{report.repeated} repeated, {report.contradicting} contradicting"
        + (f", {report.of_gold} questions that need the gold query" if no_gold else "")
        + (f", {report.cut} questions whose cut schema lacks what gold reads" if report.cut else "")
        + (f", {report.unread} questions whose gold query reads no table" if report.unread else "")
    )
    if report.checked is None:
        terminal.note(UNCHECKED)
    else:
        terminal.note(
            f"{len(report.near)} questions are near-duplicates of evaluation questions; {out}.card.json lists them"
        )


@app.command("light")
def light(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The JSON file to write: weights and their card.")],
    data: DataFolder = None,
    eval_data: EvalData = None,
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries.")] = 1,
    critic: Annotated[
        str, typer.Option(metavar="NAME", help="The critic's choices in the runs, to use its scores too.")
    ] = "",
) -> None:
    """Train the light judge on the candidates of runs; its card has figures on held-out databases."""
    import datetime

    from sqljury.train import light as training
    from sqljury.train.replay import evaluation_of_runs

    training.check_out(out)
    today = datetime.datetime.now(datetime.UTC).date()
    evaluation = evaluation_of_runs(runs, data, eval_data)
    weights = training.train_from_runs(runs, data, evaluation, seed, processes, today, critic)
    training.save(weights, out)
    card, held_out = weights.card, weights.card["held_out"]
    print(f"{card['questions']} questions on {card['databases']} databases, {card['decided']} of them decided")
    for name, label in (("ex", "light judge"), ("ex_votes", "votes"), ("ex_bound", "best choice")):
        print(f"{label:12} EX {held_out[name]['percent']:5.1f} %")
    mistakes = held_out["ex_bound"]["right"] - held_out["ex_votes"]["right"]
    print(
        f"against votes: {held_out['changed']} answers changed; {held_out['won']} of {mistakes} mistakes corrected, "
        f"{held_out['lost']} correct answers lost"
    )
    print(f"decided pairs: {held_out['pairs']['percent']:.1f} % ({held_out['pairs_votes']['percent']:.1f} % by votes)")
    print(f"expected calibration error: {held_out['ece']:.3f}")
    if held_out["won"] <= held_out["lost"]:
        terminal.note(
            f"on held-out {card['held_out_by']}s this judge is not better than votes; train on more questions"
        )
    if not evaluation:
        terminal.note(UNCHECKED)
    if card["held_out_by"] == "question":
        terminal.note("there are too few databases to hold any out: expect lower figures on other databases")
    terminal.note(f"weights in {out}; all figures are on {card['held_out_by']}s held out in turn, see its card")


for _part, _what in training.PARTS.items():
    app.command(_part, help=f"Train an adapter that {_what}.")(training.command(_part))
app.command("export")(training.export)
