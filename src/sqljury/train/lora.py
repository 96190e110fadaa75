"""LoRA adapters on prefix trees: fast without a GPU, within a given memory.

What examples share is computed once (``tree``), in bfloat16 where the processor multiplies it fast; only learned tokens
get logits (``loss``), and the backward pass keeps little (``activations``).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqljury.errors import DatasetError
from sqljury.resources import locked_folder, sha256_of
from sqljury.train import card, examples, gguf_base, start
from sqljury.train.examples import Encoded, TrainingExample, encode
from sqljury.train.settings import ADAPTER, CHECKPOINT, MODULES, Settings, claim

if TYPE_CHECKING:
    import torch

    from sqljury.train.adapter import Adapter
    from sqljury.train.loop import Note, Sets
    from sqljury.train.tree_model import TreeModel

UNLIMITED: Final = 10**9


class Sides(NamedTuple):
    """Encoded examples to train on and to evaluate on."""

    training: Sequence[Encoded]
    held_out: Sequence[Encoded]


def train(data: Path, out: Path, settings: Settings, note: Note) -> Path:
    """Train on the examples in ``data`` and return the folder of the adapter.

    A training that was stopped in ``out`` continues from its last checkpoint; a finished one is not repeated. Raises
    ``DatasetError`` for a set that cannot be read or is for another part, and for a folder of another training;
    ``WeightsError`` and ``MissingExtraError`` as ``gguf_base.load``.
    """
    with locked_folder(out):
        known, facts = begun(data, out, settings, {})
        return finished_before(out, note) or _train(known, out, settings, facts, note)


def begun(
    data: Path, out: Path, settings: Settings, further: Mapping[str, Any]
) -> tuple[list[TrainingExample], dict[str, Any]]:
    """The examples in ``data``, and the facts of the training in the folder ``out``, which is claimed for it.

    ``further`` are settings beside the usual ones. Raises as ``train``.
    """
    gguf_base.require_libraries()
    known = examples.read(data)
    examples.check_kind(known, settings.part, data)
    facts = {
        **asdict(settings),
        **further,
        "data": str(data),
        "data_sha256": sha256_of(data),
        "base_sha256": gguf_base.digest(settings.base_model),
        "start_sha256": sha256_of(start.find(settings.start, settings.base_model)) if settings.start else "",
    }
    claim(out, facts)
    return known, facts


def finished_before(out: Path, note: Note) -> Path | None:
    """The folder of the adapter of a training that has finished; None where it has not."""
    if not (out / card.JSON).is_file():
        return None
    note(f"{out} has finished its training; its adapter is in {out / ADAPTER}")
    return out / ADAPTER


def finish(
    out: Path, facts: Mapping[str, Any], counts: Mapping[str, int], device: torch.device, log: card.Log, note: Note
) -> Path:
    """Write the card of a training that has ended, remove its checkpoint, and return the folder of the adapter."""
    card.write(out, facts, counts, device_name(device), log)
    if card.results(log).get(card.KEPT) == 0:
        note("no evaluation was better than the start: what is kept has learned nothing")
    (out / CHECKPOINT).unlink(missing_ok=True)
    return out / ADAPTER


def _train(known: Sequence[TrainingExample], out: Path, settings: Settings, facts: dict[str, Any], note: Note) -> Path:
    from sqljury.train import memory
    from sqljury.train.loop import Loop, checkpointed_length

    memory.keep_freed_memory()
    base = gguf_base.load(settings.base_model, half=half())
    training, held_out, by = examples.split(known, settings.held_out, settings.seed)
    if held_out and by == "question" and len({example.database for example in known}) > 1:
        note("questions are held out, not databases, which are too few or too uneven for it")
    if settings.max_examples:
        draw = random.Random(settings.seed)  # noqa: S311  # a sample, not a secret
        training = draw.sample(training, min(settings.max_examples, len(training)))
    encoded = Sides(*([encode(base.tokenizer, example) for example in side] for side in (training, held_out)))
    model, sets = prepare(base.model, encoded, settings, note, checkpointed_length(out))
    if not sets.training:
        raise DatasetError(f"{facts['data']}: every example is too long; raise --max-length or --memory")
    counts = _counts(encoded, sets)
    note(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()))
    loop = Loop(model, sets, out, settings, note)
    loop.run()
    return finish(out, {**facts, "held_out_by": by}, counts, model.device, loop.progress.log, note)


def prepare(model: Any, examples: Sides, settings: Settings, note: Note, length: int = 0) -> tuple[TreeModel, Sets]:
    """Adapt ``model`` and cut ``examples`` into sequences that fit the memory; those that are too long are left out.

    A ``length`` above 0 is that of the sequences of a training that goes on, whatever memory it has now.
    """
    from sqljury.train import memory
    from sqljury.train.loop import Sets
    from sqljury.train.tree import Forest
    from sqljury.train.tree_model import TreeModel

    updates = adapted(model, settings)
    costs = memory.costs(model, updates, memory.budget(device(), settings.memory_gb))
    sides = Sides(*(_up_to(settings.max_length, side) for side in examples))
    forest = Forest(sides.training, settings.batch_size, settings.seed)
    longest = max((len(tree) for tree in forest.sequences(UNLIMITED)), default=0)
    longest_example = max((len(example.ids) for side in sides for example in side), default=0)
    plan = memory.plan(costs, longest_example, max(longest, longest_example), forest.rows, length)
    if plan.length < longest_example:
        sides = Sides(*(_up_to(plan.length, side) for side in sides))
        forest = Forest(sides.training, settings.batch_size, settings.seed)
    held_out = Forest(sides.held_out, UNLIMITED, settings.seed)
    note(plan.text(costs.layers))
    return TreeModel(model, updates, plan.checkpointed), Sets(
        forest.sequences(plan.length), held_out.sequences(plan.length), plan.length
    )


def adapted(model: Any, settings: Settings) -> Adapter:
    """The adapter of ``model``, which goes to the GPU if there is one, as the training starts with it."""
    import torch

    from sqljury.train import adapter, memory

    torch.manual_seed(settings.seed)
    updates = adapter.attach(
        model.to(device()),
        MODULES[settings.target_modules],
        settings.lora_r,
        settings.lora_alpha,
        settings.lora_dropout,
    )
    if settings.start:
        start.start(updates, model.config, start.find(settings.start, settings.base_model))
    memory.trim()
    return updates


def device() -> torch.device:
    """The first GPU, or the processor."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def half() -> bool:
    """Whether bfloat16 is fast here: on a GPU, and on a processor that multiplies it (AMX or AVX512-BF16)."""
    import torch

    tests = (getattr(torch.cpu, name, None) for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"))
    return torch.cuda.is_available() or any(test() for test in tests if test)


def device_name(device: torch.device) -> str:
    """The GPU, or the processor's number of threads and the precision of the weights."""
    import torch

    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"CPU, {torch.get_num_threads()} threads, {'bfloat16' if half() else 'float32'}"


def _up_to(length: int, examples: Sequence[Encoded]) -> list[Encoded]:
    return [example for example in examples if len(example.ids) <= length]


def _counts(examples: Sides, sets: Sets) -> dict[str, int]:
    """Examples that are trained on, held out and too long; their tokens, and the rows that compute them."""
    from sqljury.train.tree import rows

    training, held_out = (sum(len(tree.answers) for tree in trees) for trees in sets[:2])
    longest = max(len(tree) for trees in sets[:2] for tree in trees)
    return {
        "examples": training,
        "held_out": held_out,
        "too_long": sum(map(len, examples)) - training - held_out,
        "tokens": sum(len(example.ids) for example in examples.training),
        "tokens_computed": rows(sets.training),
        "answer_tokens": round(sum(sum(tree.weights) for tree in sets.training)),
        "sequences": len(sets.training),
        "longest_sequence": longest,
    }
