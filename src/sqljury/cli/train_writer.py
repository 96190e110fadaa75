"""``sqljury train writer``: from a file of questions to an adapter and what it gained, in one command."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sqljury.cli import terminal, train_gain
from sqljury.cli.answering import answer_all
from sqljury.cli.options import RecipeOption, SeedOption
from sqljury.cli.train_data import HeldOutBy
from sqljury.cli.training import Epochs, LearningRate, LoraR, Memory, Minutes, gigabytes

Questions = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="Your questions with gold queries: a JSON list or JSONL.")
]
DbDir = Annotated[Path, typer.Option(help="Their databases, as <db_id>/<db_id>.sqlite.")]
Out = Annotated[Path, typer.Option(help="The folder of all steps; the same command continues where it stopped.")]
Model = Annotated[str, typer.Option(help="The local model to adapt; by default the embedded model.")]
Start = Annotated[
    str,
    typer.Option(
        metavar="ADAPTER",
        help="The adapter to start from and to measure against: a name or a .gguf file, or none for the model "
        "alone; by default that of the recipe.",
    ),
]
HeldOut = Annotated[float, typer.Option(min=0.01, max=0.9, help="The share of the questions to measure on.")]
HeldOutByOption = Annotated[
    HeldOutBy,
    typer.Option(help="What is held out: single questions that resemble no trained question, or whole databases."),
]


def writer(
    questions: Questions,
    db_dir: DbDir,
    out: Out,
    minutes: Minutes = 60.0,
    held_out: HeldOut = 0.2,
    held_out_by: HeldOutByOption = HeldOutBy.QUESTION,
    recipe: RecipeOption = "default",
    model: Model = "",
    start: Start = "",
    lora_r: LoraR = None,
    epochs: Epochs = None,
    learning_rate: LearningRate = 5e-5,
    memory: Memory = "",
    seed: SeedOption = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes that judge the queries.")] = 1,
) -> None:
    """Train the model on your questions, and measure it before and after on questions that it has not seen."""
    from sqljury.llm import models
    from sqljury.train import card
    from sqljury.train.settings import Settings
    from sqljury.train.writer import STEPS_AT_LEAST, Plan, train_writer

    given = {"lora_r": lora_r, "epochs": epochs}
    settings = Settings(
        part="generator",
        base_model=model or models.DEFAULT,
        start=start,
        minutes=minutes,
        learning_rate=learning_rate,
        memory_gb=gigabytes(memory),
        seed=seed,
        least_steps=0 if epochs else STEPS_AT_LEAST,
        **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]
    )
    plan = Plan(questions, db_dir, out, recipe, held_out, held_out_by.value, settings, processes)
    with terminal.interruptible() as cancel:
        made = train_writer(plan, terminal.note, partial(answer_all, cancel=cancel))
    comparisons = train_gain.print_gains(made.before, made.after, seed=seed, processes=processes)
    if not card.has_learned(out / "training"):
        terminal.note("the training learned nothing; keep the adapter that you had, and give more questions")
        return
    chosen = comparisons["chosen"]
    if len(chosen.wins) <= len(chosen.losses):
        terminal.note(
            "on the held-out questions the answers are not better with this adapter; keep the one that you had"
        )
    terminal.show("", f"sqljury ask QUESTION --db DATABASE --recipe {recipe} --adapter {made.adapter}")
    terminal.note(f"to use it by a name: sqljury train export {out / 'training'} --name NAME")
