"""``sqljury train``: training sets, and the training of the learned parts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sqljury.cli import terminal, train_lora
from sqljury.cli.options import QuestionsOption, RecipeOption, SeedOption, SplitOption

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqljury.datasets.spider import Example
    from sqljury.llm.base import LanguageModel
    from sqljury.recipes.parts import SchemaPart
    from sqljury.train.data import Item, LeftOut
    from sqljury.train.replay import Replayed

UNCHECKED: Final = "nothing was checked against an evaluation; name one with --against"

app = typer.Typer(help="Make training sets, and train the parts that learn.", no_args_is_help=True)


class Kind(StrEnum):
    """What a set is for."""

    LINKER = "linker"
    GENERATOR = "generator"
    CRITIC = "critic"
    PAIRWISE = "pairwise"


Against = Annotated[
    Path | None,
    typer.Option(help="The evaluation: Spider's folder, of which dev is meant, or a file of questions."),
]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of `sqljury bench`, on train.")]
DataFolder = Annotated[Path | None, typer.Option(help="Spider's folder; for runs, if it has moved since.")]


train_lora.register(app)


@app.callback()
def _train() -> None:
    pass


@app.command("data")
def data(
    kind: Annotated[Kind, typer.Argument(help="What the set is for.")],
    out: Annotated[Path, typer.Option(help="The file of lines of JSON; it is whole or not there.")],
    data: DataFolder = None,
    split: SplitOption = "train",
    questions: Annotated[Path | None, typer.Option(help="Your own questions with gold queries: JSON or JSONL.")] = None,
    db_dir: Annotated[Path | None, typer.Option(help="For --questions: holds <db_id>/<db_id>.sqlite.")] = None,
    run: Annotated[list[Path] | None, typer.Option(metavar="RUN_DIR", help="For critic and pairwise.")] = None,
    against: Against = None,
    recipe: RecipeOption = "default",
    limit: QuestionsOption = None,
    seed: SeedOption = 0,
    extra: Annotated[
        list[float] | None, typer.Option(help="For generator: the weights of 0, 1, 2, ... tables too many.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="For critic and pairwise: writes right queries with gold as a hint.")
    ] = None,
    no_gold: Annotated[
        bool, typer.Option("--no-gold", help="For critic and pairwise: drop questions that gold itself must help in.")
    ] = False,
) -> None:
    """Write a training set: prompts as at inference, the answer apart, nothing of the evaluation in it."""
    from sqljury import recipes
    from sqljury.llm.open import open_model
    from sqljury.train import data as sets
    from sqljury.train.data import EXTRA

    judged = kind in (Kind.CRITIC, Kind.PAIRWISE)
    given = {"--questions": questions, "--db-dir": db_dir, "--limit": limit, "--extra": extra}
    _refuse(kind, given if judged else {"--run": run, "--model": model, "--no-gold": no_gold})
    part = recipes.load(recipe).schema
    sources: dict[str, object] = {"recipe": recipe, "limit": limit}
    if not judged:
        examples, evaluation = _examples(data, split, questions, db_dir, against, limit, seed)
        sources |= {"data": str(questions or data), "split": None if questions else split, "extra": extra}
        items: Iterator[Item | LeftOut] = _of_gold(kind, examples, part, seed, extra or EXTRA)
    else:
        found, evaluation = _replayed(run or [], data, against)
        sources |= {"runs": [str(one) for one in run or []], "hints": model, "gold": not no_gold}
        items = _of_runs(kind, found, part, seed, open_model(model) if model else None)
    report = sets.write(items, out, kind.value, seed, evaluation, sources, gold=not no_gold)
    terminal.note(
        f"{report.items} examples of {report.questions} questions on {report.databases} databases in {out}; left out: "
        f"{report.repeated} repeated, {report.contradicting} contradicting"
        + (f", {report.of_gold} questions that gold itself must help in" if no_gold else "")
        + (f", {report.cut} questions that a long schema is shown for without what gold names" if report.cut else "")
        + (f", {report.unread} questions whose gold reads no table" if report.unread else "")
    )
    if evaluation:
        terminal.note(f"{len(report.near)} questions are much like one of the evaluation; {out}.card.json lists them")
    else:
        terminal.note(UNCHECKED)


@app.command("light")
def light(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The JSON file of weights with their card.")],
    data: DataFolder = None,
    against: Against = None,
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="How many judge the queries.")] = 1,
    critic: Annotated[
        str, typer.Option(metavar="NAME", help="Hear the critic too: its choices in the runs, such as critic.")
    ] = "",
) -> None:
    """Train the light judge on the candidates of runs; the card says what it is worth on databases it has not seen."""
    import datetime

    from sqljury.train import light as training
    from sqljury.train import replay
    from sqljury.train.light_runs import from_runs

    training.check_out(out)
    today = datetime.datetime.now(datetime.UTC).date()
    measured = replay.measured(runs, data, against)
    weights = from_runs(runs, data, measured, seed, processes, today, critic)
    training.save(weights, out)
    card, held_out = weights.card, weights.card["held_out"]
    print(f"{card['questions']} questions on {card['databases']} databases, {card['decided']} of them decided")
    for name, label in (("ex", "light judge"), ("ex_votes", "votes"), ("ex_bound", "best choice")):
        print(f"{label:12} EX {held_out[name]['percent']:5.1f} %")
    mistaken = held_out["ex_bound"]["right"] - held_out["ex_votes"]["right"]
    print(
        f"against votes: {held_out['changed']} answers changed; {held_out['won']} of {mistaken} mistakes put right, "
        f"{held_out['lost']} right answers lost"
    )
    print(f"decided pairs: {held_out['pairs']['percent']:.1f} % ({held_out['pairs_votes']['percent']:.1f} % by votes)")
    print(f"mean distance of said and observed probability: {held_out['ece']:.3f}")
    if held_out["won"] <= held_out["lost"]:
        terminal.note(
            f"on {card['held_out_by']}s left out this judge is no better than votes; train on more questions before "
            "using it"
        )
    if not measured:
        terminal.note(UNCHECKED)
    if card["held_out_by"] == "question":
        terminal.note("too few databases to leave any out: on others than these, expect less")
    terminal.note(f"weights in {out}; all figures are on {card['held_out_by']}s left out in turn, see its card")


def _refuse(kind: Kind, options: Mapping[str, object]) -> None:
    """Raise ``InputError`` for an option that was given and that sets of this kind do not have."""
    from sqljury.errors import InputError

    for name, value in options.items():
        if value:
            raise InputError(f"a set for {kind} is not made with {name}; leave it out")


def _examples(
    data: Path | None,
    split: str,
    questions: Path | None,
    db_dir: Path | None,
    against: Path | None,
    limit: int | None,
    seed: int,
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
    evaluation = leaks.evaluation(against, data)
    leaks.refuse({one.db_id for one in examples}, evaluation)
    return spider.sample(examples, limit, seed), evaluation


def _of_gold(
    kind: Kind, examples: Sequence[Example], part: SchemaPart, seed: int, extra: Sequence[float]
) -> Iterator[Item | LeftOut]:
    from sqljury.train import data as data_gold

    if kind is Kind.LINKER:
        return data_gold.linker(examples, part)
    return data_gold.generator(examples, part, seed, extra)


def _replayed(runs: list[Path], data: Path | None, against: Path | None) -> tuple[Iterator[Replayed], list[Example]]:
    from sqljury.errors import InputError
    from sqljury.train.replay import measured, replay_all

    if not runs:
        raise InputError("a critic or a judge of pairs learns from candidates; name a run on train with --run")
    evaluation = measured(runs, data, against)
    return replay_all(runs, data, evaluation), evaluation


def _of_runs(
    kind: Kind, found: Iterator[Replayed], part: SchemaPart, seed: int, model: LanguageModel | None
) -> Iterator[Item]:
    from sqljury.train import data_judged

    judged = data_judged.sides(found, part, seed, model)
    return (data_judged.critic if kind is Kind.CRITIC else data_judged.pairwise)(judged, seed)
