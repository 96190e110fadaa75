"""``sqljury train linker|generator|critic|pairwise`` and ``train export``: adapters for the local model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sqljury.cli import terminal
from sqljury.cli.options import SeedOption

if TYPE_CHECKING:
    from sqljury.train.examples import Example

PARTS: Final = {
    "linker": "picks the tables of a question",
    "generator": "writes queries",
    "critic": "chooses among all candidates at once",
    "pairwise": "chooses between two candidates",
}

Set = Annotated[Path, typer.Argument(metavar="SET", help="A training set; see `sqljury train data`.")]
Out = Annotated[Path, typer.Option(help="The folder of this training; an unfinished one there is continued.")]
Base = Annotated[str, typer.Option(help="The weights to adapt: a local model, a .gguf file, or a Hugging Face folder.")]
Rank = Annotated[int, typer.Option(min=1, help="The rank of the adapter's matrices.")]
Alpha = Annotated[int, typer.Option(min=1, help="The adapter is added alpha / rank times.")]
Dropout = Annotated[float, typer.Option(min=0, max=0.9, help="How much of the adapter's input is dropped.")]
Batch = Annotated[int, typer.Option(min=1, help="Examples a step.")]
Micro = Annotated[int, typer.Option(min=1, help="Examples in memory at a time; a divisor of --batch.")]
Epochs = Annotated[float, typer.Option(min=0.01, help="How often each example is seen.")]
Steps = Annotated[int, typer.Option(min=0, help="End after that many steps instead; 0 for --epochs.")]
Rate = Annotated[float, typer.Option(min=0, help="The highest learning rate.")]
Longest = Annotated[int, typer.Option(min=16, help="Examples of more tokens are left out.")]
HeldOut = Annotated[
    float, typer.Option(min=0, max=0.9, help="The share of databases to evaluate on; of one, of questions.")
]
Looks = Annotated[int, typer.Option(min=1, help="How often to evaluate and to keep a checkpoint.")]
Attention = Annotated[bool, typer.Option("--attention", help="Adapt the attention alone: a smaller file.")]
Packed = Annotated[bool, typer.Option("--packed", help="Fill each sequence with several examples.")]
FourBits = Annotated[bool, typer.Option("--four-bits", help="QLoRA: needs a CUDA device, bitsandbytes, a folder.")]
Frugal = Annotated[bool, typer.Option("--frugal", help="Less memory, a third more time.")]


class Precision(StrEnum):
    """How exact the numbers of an exported adapter are."""

    F32 = "f32"
    F16 = "f16"
    Q8_0 = "q8_0"


def register(app: typer.Typer) -> None:
    """Add the commands of this file to ``sqljury train``."""
    for part, what in PARTS.items():
        app.command(part, help=f"Train an adapter that {what}.")(_command(part))
    app.command("export")(export)


def _command(part: str) -> Callable[..., None]:
    def train(
        data: Set,
        out: Out,
        base: Base = "",
        rank: Rank = 32,
        alpha: Alpha = 128,
        dropout: Dropout = 0.05,
        batch: Batch = 12,
        micro: Micro = 4,
        epochs: Epochs = 2.0,
        steps: Steps = 0,
        rate: Rate = 2e-4,
        longest: Longest = 4096,
        held_out: HeldOut = 0.05,
        looks: Looks = 10,
        attention: Attention = False,
        packed: Packed = False,
        four_bits: FourBits = False,
        frugal: Frugal = False,
        seed: SeedOption = 0,
    ) -> None:
        from sqljury.llm import models
        from sqljury.train import lora

        settings = lora.Settings(
            part=part,
            base=base or models.DEFAULT,
            rank=rank,
            alpha=alpha,
            dropout=dropout,
            batch=batch,
            micro=micro,
            epochs=epochs,
            steps=steps,
            rate=rate,
            longest=longest,
            held_out=held_out,
            looks=looks,
            attention=attention,
            packed=packed,
            four_bits=four_bits,
            frugal=frugal,
            seed=seed,
        )
        lora.train(data, out, settings, terminal.note)
        terminal.note(f"the card is in {out}; now run: sqljury train export {out} --name {part}")

    return train


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished training.")],
    name: Annotated[str | None, typer.Option(help="Keep it among your adapters, for --adapter NAME.")] = None,
    out: Annotated[Path | None, typer.Option(help="Or the .gguf file to write.")] = None,
    precision: Annotated[Precision, typer.Option(help="q8_0 is half as large as f16.")] = Precision.F16,
    check: Annotated[int, typer.Option(min=0, help="Compare both runtimes on that many prompts.")] = 8,
    data: Annotated[Path | None, typer.Option(help="Take those prompts from here, if the set has moved.")] = None,
    served: Annotated[str, typer.Option(help="The local model it is for, if it was trained on a folder.")] = "",
) -> None:
    """Write a trained adapter as a GGUF file, once llama.cpp is seen to say with it what was trained."""
    from sqljury.errors import InputError
    from sqljury.llm import adapters
    from sqljury.train.export import export as write

    if (name is None) == (out is None):
        raise InputError("give either --name, to use the adapter by it, or --out, the file to write")
    file = out or adapters.named(name or "")
    prompts = _prompts(run, data, check) if check else []  # before the work, where the set has moved
    write(run, file, precision.value, lambda written: _check(run, written, prompts, served), served)
    print(file)


def _prompts(run: Path, data: Path | None, count: int) -> list[Example]:
    """So many examples that the training took, spread over its set; raises ``InputError`` where there are none now."""
    from sqljury.errors import InputError
    from sqljury.train import compare, examples, lora

    settings = lora.asked(run)
    place = data or Path(settings["data"])
    if data is None and not place.is_file():
        raise InputError(f"the training set {place} has moved; name it with --data, or leave it at --check 0")
    found = compare.chosen(run, examples.read(place), count)
    if not found:
        raise InputError(
            f"{place}: no example has {settings['longest']} tokens or less, as those of the training; name its own set "
            "with --data, or leave it at --check 0"
        )
    return found


def _check(run: Path, written: Path, some: Sequence[Example], served: str) -> None:
    """Say how far the runtimes agree on ``some`` examples; raises ``ModelError`` where they do not."""
    from sqljury.errors import ModelError
    from sqljury.train.compare import SHARE, compare

    if not some:
        return
    terminal.note(f"comparing llama.cpp with the trained model on {len(some)} prompts")
    agreed = compare(run, written, some, served=served)
    terminal.note(
        f"equal answers {agreed.equal} of {agreed.prompts}, {agreed.apart} differ where the trained model was sure; "
        f"log-probabilities of {agreed.tokens} tokens differ by {agreed.mean:.4f} (mean), {agreed.high:.4f} (95 %), "
        f"{agreed.most:.4f} (most) nats"
    )
    answers = f", and one answer in {round(1 / (1 - SHARE))} may part from the trained model's where that was sure"
    if not agreed.same:
        terminal.note("the served weights are not those that were trained on: only the mean decides")
        answers = ""
    if not agreed.ok:
        raise ModelError(
            f"the exported adapter does not say what was trained, and was not kept: log-probabilities may differ by "
            f"{agreed.bound} nats in the mean{answers}; check that --served is the model it was trained on"
        )
