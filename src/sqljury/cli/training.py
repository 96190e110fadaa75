"""``sqljury train PART`` and ``sqljury train export``: LoRA adapters and their export."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sqljury.cli import terminal
from sqljury.cli.groups import grouped
from sqljury.cli.options import SeedOption

if TYPE_CHECKING:
    from sqljury.train.settings import Settings

PARTS: Final = {
    "linker": "picks the tables of a question",
    "generator": "writes queries",
    "critic": "chooses among all candidates at once",
    "pairwise": "chooses between two candidates",
}


class TargetModules(StrEnum):
    """The matrices that an adapter changes."""

    ALL_LINEAR = "all-linear"
    ATTENTION = "attention"


class Precision(StrEnum):
    """The number format of an exported adapter."""

    F32 = "f32"
    F16 = "f16"
    Q8_0 = "q8_0"


class Preset(StrEnum):
    """Settings of a paper."""

    CHASE = "chase"
    MSC = "msc"


Set = Annotated[Path, typer.Argument(metavar="SET", help="A training set made by `sqljury train data`.")]
Out = Annotated[Path, typer.Option(help="The folder of the training; an unfinished training there is continued.")]
BaseModel = Annotated[
    str,
    typer.Option(
        help="The model to adapt: a local model, a .gguf file or a Hugging Face folder; by default the embedded model."
    ),
]
Start = Annotated[
    str,
    typer.Option(
        metavar="ADAPTER", help="Start from this adapter: a name, a .gguf file or the folder of a finished training."
    ),
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        help="Settings of a paper, for options that are not given: chase (CHASE-SQL: rank 16, up to 10 epochs,"
        " 3,800 examples; for pairwise) or msc (MSc-SQL: rank 32, alpha 128, dropout 0.05, 12 examples a "
        "step)."
    ),
]
LoraR = Annotated[int | None, typer.Option(min=1, show_default="16", help="The rank of the adapter's matrices.")]
LoraAlpha = Annotated[
    int | None, typer.Option(min=1, show_default="32", help="The scale of the adapter: it is added alpha / r times.")
]
LoraDropout = Annotated[
    float | None,
    typer.Option(min=0, max=0.9, show_default="0", help="The dropout probability of the adapter's input."),
]
Modules = Annotated[TargetModules, typer.Option(help="The matrices to adapt; attention gives a third of the size.")]
BatchSize = Annotated[
    int | None,
    typer.Option(min=1, show_default="24", help="Examples per step, and the largest number in one sequence."),
]
MaxExamples = Annotated[
    int | None, typer.Option(min=0, show_default="0", help="Train on a random sample of this many examples; 0 for all.")
]
Epochs = Annotated[float | None, typer.Option(min=0.01, show_default="2", help="Passes over the training examples.")]
MaxSteps = Annotated[int, typer.Option(min=-1, help="The number of steps instead of --epochs; -1 for --epochs.")]
Minutes = Annotated[float, typer.Option(min=0, help="The time after which the training ends; 0 for no limit.")]
LearningRate = Annotated[float, typer.Option(min=0, help="The highest learning rate; it decays along a cosine.")]
WarmupRatio = Annotated[float, typer.Option(min=0, max=1, help="The share of steps in which the learning rate rises.")]
Pull = Annotated[
    float,
    typer.Option(min=0, help="The weight in the loss of the divergence from the base model; 0 for none."),
]
MaxLength = Annotated[int, typer.Option(min=16, help="Tokens of the longest example; longer ones are left out.")]
HeldOut = Annotated[
    float,
    typer.Option(
        min=0, max=0.9, help="The share of databases held out for evaluation; with few databases, of questions."
    ),
]
EvalSteps = Annotated[float, typer.Option(min=0.001, help="Steps between evaluations; below 1, a share of all steps.")]
Patience = Annotated[
    int,
    typer.Option(min=0, help="Evaluations without a lower held-out loss after which the training ends; 0 for never."),
]
Memory = Annotated[
    str, typer.Option(metavar="SIZE", help="The memory to use, such as 12GB; by default up to 12GB of the machine's.")
]
CheckpointMinutes = Annotated[float, typer.Option(min=0, help="Minutes between checkpoints.")]


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """The settings of a training; None stands for that of the preset, or the usual one."""

    base_model: BaseModel = ""
    start: Start = ""
    preset: PresetOption = None
    lora_r: LoraR = None
    lora_alpha: LoraAlpha = None
    lora_dropout: LoraDropout = None
    target_modules: Modules = TargetModules.ALL_LINEAR
    batch_size: BatchSize = None
    max_examples: MaxExamples = None
    epochs: Epochs = None
    max_steps: MaxSteps = -1
    minutes: Minutes = 0.0
    learning_rate: LearningRate = 5e-5
    warmup_ratio: WarmupRatio = 0.03
    pull: Pull = 0.0
    max_length: MaxLength = 4096
    held_out: HeldOut = 0.05
    eval_steps: EvalSteps = 0.1
    patience: Patience = 3
    memory: Memory = ""
    checkpoint_minutes: CheckpointMinutes = 10.0
    seed: SeedOption = 0

    def settings(self, part: str) -> Settings:
        """The settings to train ``part`` with; raises ``InputError`` for a size of memory that is none."""
        from sqljury.train.settings import PRESETS

        preset = PRESETS[self.preset.value] if self.preset else {}
        given = {name: value for name, value in asdict(self).items() if value is not None}
        given.pop("preset", None)
        return settings_of(part, {**preset, **given})


def settings_of(part: str, given: Mapping[str, Any]) -> Settings:
    """The settings to train ``part`` with, of options by their names; raises ``InputError`` as ``gigabytes``."""
    from sqljury.llm import models
    from sqljury.train.settings import Settings

    read = {"base_model": given["base_model"] or models.DEFAULT, "target_modules": given["target_modules"].value}
    others = {name: value for name, value in given.items() if name not in (*read, "memory")}
    return Settings(part=part, memory_gb=gigabytes(given["memory"]), **read, **others)


def command(part: str) -> Callable[..., None]:
    """The command that trains ``part``."""

    @grouped
    def train(data: Set, out: Out, options: TrainingOptions) -> None:
        from sqljury.train import card, lora

        lora.train(data, out, options.settings(part), terminal.note)
        if card.has_learned(out):
            terminal.note(f"the card is in {out}; to use the adapter: sqljury train export {out} --name {part}")
        else:
            terminal.note(
                f"the card is in {out}; nothing was learned, so there is nothing to export: train on more examples, or "
                "with a lower --learning-rate"
            )

    return train


def gigabytes(size: str) -> float:
    """A size such as ``12GB``, ``800 MB`` or ``12`` in 10^9 bytes, 0 for none; raises ``InputError``."""
    from sqljury.errors import InputError

    if not size:
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(G|M)?B?", size.strip(), re.IGNORECASE)
    if not match or not float(match[1]):
        raise InputError(f"{size!r} is not a size of memory; write it as 12GB or 800MB")
    return float(match[1]) / (1000 if (match[2] or "G").upper() == "M" else 1)


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished training.")],
    name: Annotated[str | None, typer.Option(help="The name to keep it under, for --adapter NAME.")] = None,
    out: Annotated[Path | None, typer.Option(help="The .gguf file to write, instead of --name.")] = None,
    precision: Annotated[
        Precision, typer.Option(help="The number format; q8_0 is half as large as f16.")
    ] = Precision.F16,
    rank: Annotated[
        int,
        typer.Option(min=0, help="A lower rank than that of the training, for a smaller file; 0 for the same rank."),
    ] = 0,
    scale: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=1,
            help="The factor by which the trained change of the weights is scaled; below 1 is often better on data"
            " unlike the training set.",
        ),
    ] = 1.0,
    check: Annotated[int, typer.Option(min=0, help="Prompts on which both runtimes are compared; 0 for none.")] = 8,
    data: Annotated[Path | None, typer.Option(help="The training set, if it has moved.")] = None,
    served_model: Annotated[
        str, typer.Option(help="The local model to use it with, if it was trained on a Hugging Face folder.")
    ] = "",
) -> None:
    """Write a trained adapter as a GGUF file, after checking that llama.cpp reproduces the trained model's outputs."""
    from sqljury.errors import InputError
    from sqljury.llm import adapters
    from sqljury.train.compare import export_checked

    if (name is None) == (out is None):
        raise InputError("give either --name, to use the adapter by it, or --out, the file to write")
    print(
        export_checked(
            run,
            out or adapters.named(name or ""),
            terminal.note,
            precision=precision.value,
            prompts=check,
            data=data,
            served_model=served_model,
            rank=rank,
            scale=scale,
        )
    )
