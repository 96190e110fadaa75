"""``sqljury train policy``: an adapter that learns from the results of the queries that it writes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import grouped
from sqljury.cli.options import SeedOption
from sqljury.cli.training import (
    BaseModel,
    CheckpointMinutes,
    EvalSteps,
    HeldOut,
    MaxSteps,
    Memory,
    Minutes,
    Modules,
    Out,
    Patience,
    Set,
    Start,
    TargetModules,
    WarmupRatio,
    settings_of,
)

if TYPE_CHECKING:
    from sqljury.train.settings import SamplingOptions, Settings

DatabaseFolders = Annotated[
    list[Path],
    typer.Option(
        "--db-dir",
        metavar="DIR",
        help="A folder with the SQLite databases that the set names, DIR/NAME/NAME.sqlite; repeatable.",
    ),
]
LearningRate = Annotated[float, typer.Option(min=0, help="The highest learning rate; it decays along a cosine.")]


@dataclass(frozen=True, kw_only=True)
class PolicyOptions:
    """The settings of a training from rewards."""

    base_model: BaseModel = ""
    start: Start = ""
    lora_r: Annotated[int, typer.Option(min=1, help="The rank of the adapter's matrices.")] = 16
    lora_alpha: Annotated[int, typer.Option(min=1, help="The scale of the adapter: it is added alpha / r times.")] = 32
    target_modules: Modules = TargetModules.ALL_LINEAR
    questions: Annotated[int, typer.Option(min=1, help="Questions per step.")] = 16
    samples: Annotated[int, typer.Option(min=2, help="Queries that are written for each question of a step.")] = 8
    temperature: Annotated[
        float, typer.Option(min=0.01, max=2, help="The temperature that they are written at, and learned from.")
    ] = 1.0
    answer_tokens: Annotated[int, typer.Option(min=8, help="Tokens of the longest query; longer ones are wrong.")] = 160
    epochs: Annotated[float, typer.Option(min=0.01, help="Passes over the questions.")] = 1.0
    max_steps: MaxSteps = -1
    minutes: Minutes = 0.0
    learning_rate: LearningRate = 5e-5
    warmup_ratio: WarmupRatio = 0.03
    max_length: Annotated[
        int, typer.Option(min=16, help="Tokens of the longest prompt with its query; longer prompts are left out.")
    ] = 2048
    held_out: HeldOut = 0.05
    eval_steps: EvalSteps = 0.2
    patience: Patience = 0
    memory: Memory = ""
    checkpoint_minutes: CheckpointMinutes = 10.0
    seed: SeedOption = 0

    def settings(self) -> tuple[Settings, SamplingOptions]:
        """The settings of the training and of its sampling; raises ``InputError`` for a size of memory that is none."""
        from sqljury.train.settings import SamplingOptions

        given = asdict(self)
        sampled = SamplingOptions(given.pop("samples"), given.pop("temperature"), given.pop("answer_tokens"))
        given["batch_size"] = given.pop("questions")
        return settings_of("generator", given), sampled


@grouped
def policy(data: Set, db_dir: DatabaseFolders, out: Out, options: PolicyOptions) -> None:
    """Train a generator by the results of its own queries: those that return what gold returns become likelier."""
    from sqljury.train import card
    from sqljury.train import policy as trained

    settings, sampled = options.settings()
    trained.train(data, db_dir, out, settings, sampled, terminal.note)
    if card.has_learned(out):
        terminal.note(f"the card is in {out}; to use the adapter: sqljury train export {out} --name my-writer")
    else:
        terminal.note(f"the card is in {out}; no evaluation was better than the start, so there is nothing to export")
