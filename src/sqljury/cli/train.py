"""``sqljury train``: training sets, the light judge, LoRA adapters and their export."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from sqljury.cli import terminal, train_data, train_gain
from sqljury.cli.options import SeedOption
from sqljury.cli.train_data import UNCHECKED, DataFolder, EvalData

PARTS: Final = {
    "linker": "picks the tables of a question",
    "generator": "writes queries",
    "critic": "chooses among all candidates at once",
    "pairwise": "chooses between two candidates",
}

app = typer.Typer(help="Make training sets, and train the parts that learn.", no_args_is_help=True)


class TargetModules(StrEnum):
    """The matrices that an adapter changes."""

    ALL_LINEAR = "all-linear"
    ATTENTION = "attention"


class Precision(StrEnum):
    """The number format of an exported adapter."""

    F32 = "f32"
    F16 = "f16"
    Q8_0 = "q8_0"


Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of `sqljury bench` on a training split.")
]
Set = Annotated[Path, typer.Argument(metavar="SET", help="A training set made by `sqljury train data`.")]
Out = Annotated[Path, typer.Option(help="The folder of the training; an unfinished training there is continued.")]
BaseModel = Annotated[
    str,
    typer.Option(
        help="The model to adapt: a local model, a .gguf file or a Hugging Face folder; by default the embedded model."
    ),
]
LoraR = Annotated[int, typer.Option(min=1, help="The rank of the adapter's matrices.")]
LoraAlpha = Annotated[int, typer.Option(min=1, help="The scale of the adapter: it is added alpha / r times.")]
LoraDropout = Annotated[float, typer.Option(min=0, max=0.9, help="The dropout probability of the adapter's input.")]
Modules = Annotated[TargetModules, typer.Option(help="The matrices to adapt; attention gives a third of the size.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Examples in memory at a time.")]
AccumulationSteps = Annotated[int, typer.Option(min=1, help="Batches whose gradients are added up to one step.")]
Epochs = Annotated[float, typer.Option(min=0.01, help="Passes over the training examples.")]
MaxSteps = Annotated[int, typer.Option(min=-1, help="The number of steps instead of --epochs; -1 for --epochs.")]
LearningRate = Annotated[float, typer.Option(min=0, help="The highest learning rate; it decays along a cosine.")]
WarmupRatio = Annotated[float, typer.Option(min=0, max=1, help="The share of steps in which the learning rate rises.")]
MaxLength = Annotated[int, typer.Option(min=16, help="Tokens of the longest example; longer ones are left out.")]
HeldOut = Annotated[
    float,
    typer.Option(min=0, max=0.9, help="The share of databases held out for evaluation; of questions on one database."),
]
EvalSteps = Annotated[
    float,
    typer.Option(min=0.001, help="Steps between evaluations, each with a checkpoint; below 1, a share of all steps."),
]
Packing = Annotated[bool, typer.Option("--packing", help="Fill each sequence with several examples.")]
LoadIn4Bit = Annotated[
    bool, typer.Option("--load-in-4bit", help="Train by QLoRA; needs a CUDA device, bitsandbytes and a folder as base.")
]
GradientCheckpointing = Annotated[
    bool, typer.Option("--gradient-checkpointing", help="Recompute activations: less memory, a third more time.")
]


app.command("data")(train_data.data)
app.command("gain")(train_gain.gain)


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


def _command(part: str) -> Callable[..., None]:
    def train(
        data: Set,
        out: Out,
        base_model: BaseModel = "",
        lora_r: LoraR = 32,
        lora_alpha: LoraAlpha = 128,
        lora_dropout: LoraDropout = 0.05,
        target_modules: Modules = TargetModules.ALL_LINEAR,
        batch_size: BatchSize = 4,
        gradient_accumulation_steps: AccumulationSteps = 3,
        epochs: Epochs = 2.0,
        max_steps: MaxSteps = -1,
        learning_rate: LearningRate = 2e-4,
        warmup_ratio: WarmupRatio = 0.03,
        max_length: MaxLength = 4096,
        held_out: HeldOut = 0.05,
        eval_steps: EvalSteps = 0.1,
        packing: Packing = False,
        load_in_4bit: LoadIn4Bit = False,
        gradient_checkpointing: GradientCheckpointing = False,
        seed: SeedOption = 0,
    ) -> None:
        from sqljury.llm import models
        from sqljury.train import lora

        settings = lora.Settings(
            part=part,
            base_model=base_model or models.DEFAULT,
            lora_r=lora_r,
            lora_alpha=lora_alpha,
            lora_dropout=lora_dropout,
            target_modules=target_modules.value,
            batch_size=batch_size,
            gradient_accumulation_steps=gradient_accumulation_steps,
            epochs=epochs,
            max_steps=max_steps,
            learning_rate=learning_rate,
            warmup_ratio=warmup_ratio,
            max_length=max_length,
            held_out=held_out,
            eval_steps=eval_steps,
            packing=packing,
            load_in_4bit=load_in_4bit,
            gradient_checkpointing=gradient_checkpointing,
            seed=seed,
        )
        lora.train(data, out, settings, terminal.note)
        terminal.note(f"the card is in {out}; now run: sqljury train export {out} --name {part}")

    return train


for _part, _what in PARTS.items():
    app.command(_part, help=f"Train an adapter that {_what}.")(_command(_part))


@app.command("export")
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished training.")],
    name: Annotated[str | None, typer.Option(help="The name to keep it under, for --adapter NAME.")] = None,
    out: Annotated[Path | None, typer.Option(help="The .gguf file to write, instead of --name.")] = None,
    precision: Annotated[
        Precision, typer.Option(help="The number format; q8_0 is half as large as f16.")
    ] = Precision.F16,
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
        )
    )
