"""Questions an hour in training: the trainer here against plain ``trl``, on the same set, weights and machine.

    pip install -r benchmarks/requirements.txt
    python benchmarks/train_throughput.py generator.jsonl --base-model qwen2.5-coder-1.5b --steps 4 --plain-examples 4

Plain means ``trl``'s ``SFTTrainer`` with ``peft`` as their documentation has it: conversations (prompt and completion),
one example at a time, in the precision of --plain-precision. Rank, alpha and modules are the same on both sides. Ours
takes --steps steps of a training on the whole set, plain --plain-examples of the same examples, drawn by --seed; a
first step of each is not timed. Each side loads its weights anew in a process of its own, so peak memory is its own. A
line of JSON a side goes to --out: examples, tokens computed, seconds, examples an hour, tokens a second, peak memory.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sqljury.train import examples, gguf_base
from sqljury.train.examples import TrainingExample, encode
from sqljury.train.settings import MODULES, Settings

Options = argparse.Namespace


def ours(file: Path, options: Options) -> dict[str, Any]:
    """Figures of the trainer of ``sqljury train``."""
    from sqljury.train import memory
    from sqljury.train.loop import Loop
    from sqljury.train.lora import Sides, half, prepare

    memory.keep_freed_memory()
    base = gguf_base.load(options.base_model, half=half())
    settings = replace(settings_of(options), max_steps=options.steps + 1)
    encoded = [encode(base.tokenizer, example) for example in examples.read(file)]
    model, sets = prepare(base.model, Sides(encoded, []), settings, lambda text: print(text, flush=True))
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(model, sets, Path(folder), settings, lambda text: print(text, flush=True))
        loop.run()
    # The first step is not timed; a log entry has the seconds up to its end.
    steps = [entry for entry in loop.progress.log if "loss" in entry]
    trees = [sets.training[index] for step in loop.steps[1:] for index in step]
    seconds = steps[-1]["seconds"] - steps[0]["seconds"]
    return figures(sum(len(tree.answers) for tree in trees), sum(map(len, trees)), seconds)


def plain(file: Path, options: Options) -> dict[str, Any]:
    """Figures of ``trl``."""
    from peft import LoraConfig
    from transformers import TrainerCallback
    from trl import SFTConfig, SFTTrainer

    from datasets import Dataset

    class Clock(TrainerCallback):  # type: ignore[misc]  # of a library that need not be installed
        def __init__(self) -> None:
            self.times: list[float] = []

        def on_step_end(self, *_: Any, **__: Any) -> None:
            self.times.append(time.perf_counter())

    clock = Clock()
    base = gguf_base.load(options.base_model, half=options.plain_precision == "bfloat16")
    settings = settings_of(options)
    known = [one for one in examples.read(file) if len(encode(base.tokenizer, one).ids) <= settings.max_length]
    chosen = random.Random(options.seed).sample(known, min(len(known), options.plain_examples + 1))
    with tempfile.TemporaryDirectory() as folder:
        trainer = SFTTrainer(
            model=base.model,
            processing_class=base.tokenizer,
            args=SFTConfig(
                output_dir=folder,
                per_device_train_batch_size=1,
                max_steps=len(chosen),
                learning_rate=settings.learning_rate,
                max_length=settings.max_length,
                bf16=False,
                use_cpu=options.cpu,
                seed=settings.seed,
                logging_steps=1,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=Dataset.from_list([conversation(example) for example in chosen]),
            peft_config=LoraConfig(
                task_type="CAUSAL_LM",
                r=settings.lora_r,
                lora_alpha=settings.lora_alpha,
                lora_dropout=settings.lora_dropout,
                target_modules=list(MODULES[settings.target_modules]),
            ),
            callbacks=[clock],
        )
        trainer.train()
    tokens = sum(len(encode(base.tokenizer, one).ids) for one in chosen)
    return figures(
        len(clock.times) - 1, round(tokens * (len(clock.times) - 1) / len(chosen)), clock.times[-1] - clock.times[0]
    )


def figures(count: int, tokens: int, seconds: float) -> dict[str, Any]:
    """What a side reports of ``count`` examples."""
    import torch

    from sqljury.train import memory

    peak = memory.peak(torch.device("cuda" if torch.cuda.is_available() else "cpu")) / memory.GB
    return {
        "examples": count,
        "tokens": tokens,
        "seconds": round(seconds, 1),
        "examples_an_hour": round(3600 * count / seconds, 1),
        "tokens_per_second": round(tokens / seconds, 1),
        "peak_memory_gb": round(peak, 2),
    }


def conversation(example: TrainingExample) -> dict[str, Any]:
    """An example in the form that ``trl`` tokenises itself, with the loss on the completion."""
    prompt = [{"role": role, "content": content} for role, content in example.messages]
    return {"prompt": prompt, "completion": [{"role": "assistant", "content": example.answer}]}


def settings_of(options: Options) -> Settings:
    """The settings that both sides have."""
    return Settings(
        "generator",
        options.base_model,
        lora_r=options.lora_r,
        lora_alpha=2 * options.lora_r,
        batch_size=options.batch_size,
        max_length=options.max_length,
        memory_gb=options.memory_gb,
        held_out=0.0,
        checkpoint_minutes=1e6,
        seed=options.seed,
    )


def side(name: str, options: Options) -> dict[str, Any]:
    """The figures of one side, measured in a process of its own."""
    measure: Callable[[Path, Options], dict[str, Any]] = {"ours": ours, "plain": plain}[name]
    with get_context("spawn").Pool(1) as pool:
        return {"trainer": name, **pool.apply(measure, (options.set, options))}


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="a set of `sqljury train data`")
    parser.add_argument("--base-model", default="smollm2-135m")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--plain-examples", type=int, default=8)
    parser.add_argument("--plain-precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--lora-r", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=24)
    parser.add_argument("--max-length", type=int, default=4096)
    parser.add_argument("--memory-gb", type=float, default=12.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/train_throughput.jsonl"))
    options = parser.parse_args()
    options.cpu = not torch.cuda.is_available()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rates = {}
    for name in ("ours", "plain"):
        line = {**side(name, options), "base_model": options.base_model, "plain_precision": options.plain_precision}
        rates[name] = line["examples_an_hour"]
        print(json.dumps(line), flush=True)
        with options.out.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
    print(
        f"ours {rates['ours']:.0f}, plain {rates['plain']:.0f} examples an hour: {rates['ours'] / rates['plain']:.1f} x"
    )


if __name__ == "__main__":
    main()
